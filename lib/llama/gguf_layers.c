/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each layer keeps of earlier tokens: a KV cache of the whole context or of a window, a recurrent state, or
 * nothing. A GGUF file says some of it; the rest llama.cpp derives from the architecture's name, and so does the table
 * here (llama.cpp v0.5.0: src/models, llama_model::create_memory, llama_hparams).
 */
#include "llama/gguf_reader.h"

#include <string.h>

enum { NUMBER_MAX = INT32_MAX };

enum trait {
    WINDOW = 1,          /* all but every `period`-th layer attend to a window alone */
    WINDOW_DENSE = 2,    /* the same, the first of a period being the one that does not */
    WINDOW_ALL = 4,      /* every layer with attention */
    RECURRENT = 8,       /* state, no attention */
    HYBRID_HEADS = 16,   /* layers without KV heads have a state */
    HYBRID_PERIOD = 32,  /* all but every full_attention_interval-th, or as attention.recurrent_layers lists */
    HYBRID_BOTH = 64,    /* attention and state in every layer */
    NO_MEMORY = 128,     /* encoders and diffusion: nothing is kept */
    WINDOW_GIVEN = 256,  /* `window` holds where the file says none */
    WINDOW_FORCED = 512, /* `window` holds where the file has the key, whatever it says */
    KV_FIRST_20 = 1024,  /* later layers use the cache of an earlier one */
    STATE_SQUARE = 2048, /* the state is a square of a head's keys */
    ROUGH = 4096         /* it keeps more than is counted here */
};

static const struct architecture {
    const char *name;
    int32_t traits, period, window;
} architectures[] = {
    {"afmoe", WINDOW, 4, 0},
    {"arwkv7", RECURRENT, 0, 0},
    {"bailingmoe3", HYBRID_HEADS, 0, 0},
    {"bert", NO_MEMORY, 0, 0},
    {"cohere2", WINDOW, 4, 0},
    {"cohere2moe", WINDOW_DENSE, 4, 0},
    {"deepseek4", WINDOW_ALL | ROUGH, 0, 0},
    {"dream", NO_MEMORY, 0, 0},
    {"eurobert", NO_MEMORY, 0, 0},
    {"exaone-moe", WINDOW | WINDOW_GIVEN, 4, 128},
    {"exaone4", WINDOW, 4, 0},
    {"falcon-h1", HYBRID_BOTH, 0, 0},
    {"gemma-embedding", NO_MEMORY, 0, 0},
    {"gemma2", WINDOW | WINDOW_GIVEN, 2, 4096},
    {"gemma3", WINDOW, 6, 0},
    {"gemma3n", WINDOW | KV_FIRST_20, 5, 0},
    {"gpt-oss", WINDOW, 2, 0},
    {"granitehybrid", HYBRID_HEADS, 0, 0},
    {"jamba", HYBRID_HEADS, 0, 0},
    {"jina-bert-v2", NO_MEMORY, 0, 0},
    {"jina-bert-v3", NO_MEMORY, 0, 0},
    {"kimi-k3", HYBRID_HEADS, 0, 0},
    {"kimi-linear", HYBRID_HEADS, 0, 0},
    {"laguna", WINDOW_DENSE, 4, 0},
    {"lfm2", HYBRID_HEADS | WINDOW_ALL, 0, 0},
    {"lfm2moe", HYBRID_HEADS, 0, 0},
    {"llada", NO_MEMORY, 0, 0},
    {"llada-moe", NO_MEMORY, 0, 0},
    {"llama4", WINDOW | WINDOW_GIVEN | WINDOW_FORCED, 4, 8192},
    {"mamba", RECURRENT, 0, 0},
    {"mamba2", RECURRENT, 0, 0},
    {"mellum", WINDOW, 4, 0},
    {"minimax-01", HYBRID_PERIOD | STATE_SQUARE, 0, 0},
    {"modern-bert", NO_MEMORY, 0, 0},
    {"muse-glimmer", WINDOW, 4, 0},
    {"nemotron_h", HYBRID_HEADS, 0, 0},
    {"nemotron_h_moe", HYBRID_HEADS, 0, 0},
    {"neo-bert", NO_MEMORY, 0, 0},
    {"nomic-bert", NO_MEMORY, 0, 0},
    {"nomic-bert-moe", NO_MEMORY, 0, 0},
    {"olmo2", WINDOW, 4, 0},
    {"plamo2", HYBRID_HEADS, 0, 0},
    {"plamo3", WINDOW, 8, 0},
    {"qwen35", HYBRID_PERIOD, 0, 0},
    {"qwen35moe", HYBRID_PERIOD, 0, 0},
    {"qwen3next", HYBRID_PERIOD, 0, 0},
    {"qwen4exp", HYBRID_PERIOD | ROUGH, 0, 0},
    {"rnd1", NO_MEMORY, 0, 0},
    {"rwkv6", RECURRENT, 0, 0},
    {"rwkv6qwen2", RECURRENT, 0, 0},
    {"rwkv7", RECURRENT, 0, 0},
    {"smallthinker", WINDOW_DENSE | WINDOW_FORCED, 4, 4096},
    {"wavtokenizer-dec", NO_MEMORY, 0, 0},
};

/* Like llama: they keep KV of every layer and the whole context, or have their windows in the file's pattern. */
static const char *const ordinary[] = {
    "apertus",        "arcee",       "arctic",       "baichuan",  "bailingmoe", "bailingmoe2",
    "bitnet",         "bloom",       "chameleon",    "chatglm",   "codeshell",  "cogvlm",
    "command-r",      "dbrx",        "deci",         "deepseek",  "deepseek2",  "deepseek2-ocr",
    "dots1",          "ernie4_5",    "ernie4_5-moe", "exaone",    "falcon",     "gemma",
    "gemma4",         "glm4",        "glm4moe",      "gpt2",      "gptj",       "gptneox",
    "granite",        "granite_swa", "granitemoe",   "grok",      "grovemoe",   "hrm_text",
    "hunyuan-dense",  "hunyuan-moe", "hunyuan_vl",   "hy_v3",     "internlm2",  "jais",
    "jais2",          "llama",       "llama-embed",  "maincoder", "maple",      "mimo2",
    "minicpm",        "minicpm3",    "minimax-m2",   "mistral3",  "mistral4",   "mpt",
    "nemotron",       "olmo",        "olmoe",        "openelm",   "orion",      "paddleocr",
    "pangu-embedded", "phi2",        "phi3",         "phimoe",    "plamo",      "plm",
    "qwen",           "qwen2",       "qwen2moe",     "qwen2vl",   "qwen3",      "qwen3moe",
    "qwen3vl",        "qwen3vlmoe",  "refact",       "seed_oss",  "smollm3",    "spark2_5",
    "stablelm",       "starcoder",   "starcoder2",   "step35",    "talkie",     "xverse",
};

static const struct architecture *architecture_of(const char *name, int32_t *ret_is_listed) {
    static const struct architecture like_llama = {"", 0, 0, 0};
    *ret_is_listed = 1;
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (strcmp(architectures[i].name, name) == 0) {
            *ret_is_listed = !(architectures[i].traits & ROUGH);
            return &architectures[i];
        }
    for (size_t i = 0; i < sizeof ordinary / sizeof *ordinary; i++)
        if (strcmp(ordinary[i], name) == 0) return &like_llama;
    *ret_is_listed = 0;
    return &like_llama;
}

struct reading {
    struct gguf_cursor *cursor;
    const struct gguf_pairs *pairs;
    const struct architecture *architecture;
    struct kerf_gguf *gguf;
};

static int64_t number(const struct reading *r, const char *key, int64_t missing) {
    return gguf_number(r->cursor, r->pairs, key, NUMBER_MAX, missing);
}
static int64_t of_layer(const struct reading *r, const char *key, int64_t layer, int64_t missing) {
    return gguf_layer_number(r->cursor, r->pairs, key, layer, NUMBER_MAX, missing);
}

/* ---- Windows ---------------------------------------------------------------------------------------------- */

static int64_t window_of_model(const struct reading *r) {
    const struct architecture *a = r->architecture;
    const struct gguf_pair *key = gguf_pair_find(r->pairs, ".attention.sliding_window");
    int64_t said = number(r, ".attention.sliding_window", 0);
    if (key == NULL) return a->traits & WINDOW_GIVEN ? a->window : 0;
    return a->traits & WINDOW_FORCED && said > 0 ? a->window : said;
}

static int has_window(const struct reading *r, int64_t layer) {
    static const char pattern_key[] = ".attention.sliding_window_pattern";
    const struct architecture *a = r->architecture;
    const struct gguf_pair *pattern = gguf_pair_find(r->pairs, pattern_key);
    if (pattern && pattern->count) return of_layer(r, pattern_key, layer, 0) != 0;
    if (a->traits & WINDOW_ALL) return 1;
    if (!(a->traits & (WINDOW | WINDOW_DENSE))) return 0;
    int64_t period = number(r, pattern_key, a->period);
    if (period == 0) return 1;
    return a->traits & WINDOW_DENSE ? layer % period != 0 : layer % period < period - 1;
}

/* ---- States ----------------------------------------------------------------------------------------------- */

static int has_state(const struct reading *r, int64_t layer, const struct kerf_gguf_layer *sizes) {
    int32_t traits = r->architecture->traits;
    if (traits & (RECURRENT | HYBRID_BOTH)) return 1;
    if (traits & HYBRID_HEADS) /* Nemotron's layers have attention, a state or a feed-forward part */
        return sizes->head_count_kv == 0 &&
               (strncmp(r->architecture->name, "nemotron", 8) != 0 || sizes->feed_forward_length == 0);
    if (!(traits & HYBRID_PERIOD)) return 0;
    if (gguf_pair_find(r->pairs, ".attention.recurrent_layers"))
        return of_layer(r, ".attention.recurrent_layers", layer, 0) != 0;
    int64_t interval = number(r, ".full_attention_interval", 4);
    return interval == 0 || (layer + 1) % interval != 0;
}

/* llama_hparams::n_embd_r and n_embd_s: the inputs that a convolution still needs, and the state itself. */
static int64_t state_values(const struct reading *r) {
    const struct kerf_gguf *g = r->gguf;
    int64_t conv = number(r, ".ssm.conv_kernel", 0), inner = number(r, ".ssm.inner_size", 0);
    int64_t state = number(r, ".ssm.state_size", 0), groups = number(r, ".ssm.group_count", 0);
    int64_t wkv = number(r, ".wkv.head_size", 0), short_conv = number(r, ".shortconv.l_cache", 0);
    int64_t kda = number(r, ".kda.head_dim", 0), taps = conv > 0 ? conv - 1 : 0;
    int64_t square = r->architecture->traits & STATE_SQUARE ? number(r, ".attention.key_length", 0) : 0;
    double values; /* sizes up to 2^31 each: no product of them overflows a double */
    if (wkv > 0)
        values = (double)g->embedding_length * (double)(number(r, ".token_shift_count", 2) + wkv);
    else if (short_conv > 0)
        values = (double)g->embedding_length * (double)(short_conv - 1);
    else if (kda > 0)
        values = (double)g->head_count * (double)kda * (3.0 * (conv > 0 ? (double)taps : 3.0) + (double)kda);
    else if (square > 0)
        values = (double)g->head_count * (double)square * (double)square;
    else
        values = (double)taps * ((double)inner + 2.0 * (double)groups * (double)state) + (double)state * (double)inner;
    return values < 0x1p62 ? (int64_t)values : INT64_MAX / 2;
}

/* ---- Layers ----------------------------------------------------------------------------------------------- */

/* Layers from this one on have no cache of their own. Layers that predict further tokens are not run. */
static int64_t first_without_kv(const struct reading *r) {
    int64_t blocks = r->gguf->block_count, next = number(r, ".nextn_predict_layers", 0);
    int64_t first = next < blocks ? blocks - next : blocks;
    int64_t shared = number(r, ".attention.shared_kv_layers", 0);
    if (r->architecture->traits & KV_FIRST_20 && first > 20) first = 20;
    return shared < first ? first - shared : first;
}

static void read_layer(const struct reading *r, int64_t i, int64_t first_without, struct kerf_gguf_layer *layer) {
    const struct kerf_gguf *g = r->gguf;
    int32_t traits = r->architecture->traits;
    layer->feed_forward_length = of_layer(r, ".feed_forward_length", i, 0);
    layer->head_count = (int32_t)of_layer(r, ".attention.head_count", i, 0);
    layer->head_count_kv = (int32_t)of_layer(r, ".attention.head_count_kv", i, layer->head_count);
    int64_t head = g->head_count > 0 ? g->embedding_length / g->head_count : 0;
    int64_t window = g->sliding_window > 0 && has_window(r, i) ? g->sliding_window : 0;
    layer->key_length = (int32_t)number(r, ".attention.key_length", head);
    layer->value_length = (int32_t)number(r, ".attention.value_length", head);
    if (window > 0) {
        layer->key_length = (int32_t)number(r, ".attention.key_length_swa", layer->key_length);
        layer->value_length = (int32_t)number(r, ".attention.value_length_swa", layer->value_length);
    }
    layer->window = (int32_t)window;
    layer->keeps_state = has_state(r, i, layer);
    layer->keeps_kv = i < first_without && !(traits & (NO_MEMORY | RECURRENT)) && layer->head_count_kv > 0 &&
                      (!layer->keeps_state || traits & HYBRID_BOTH);
}

static int64_t vocabulary(const struct reading *r) {
    const struct gguf_pair *tokens = gguf_pair_find(r->pairs, "tokenizer.ggml.tokens");
    return tokens && tokens->count > 0 ? tokens->count : number(r, ".vocab_size", 0);
}

/* The largest of a list, or the number itself. */
static int64_t largest_of(const struct reading *r, const char *key) {
    const struct gguf_pair *pair = gguf_pair_find(r->pairs, key);
    int64_t most = 0;
    for (int64_t i = 0; pair && i < (pair->count ? r->gguf->block_count : 1) && r->cursor->code == KERF_OK; i++) {
        int64_t one = of_layer(r, key, i, 0);
        if (one > most) most = one;
    }
    return most;
}

void gguf_sizes_read(struct gguf_cursor *cursor, struct arena *arena, const struct gguf_pairs *pairs,
                     struct kerf_gguf *g, struct kerf_gguf_layer **ret_layers) {
    struct reading r = {.cursor = cursor, .pairs = pairs, .gguf = g};
    r.architecture = architecture_of(pairs->architecture, &g->is_listed);
    g->block_count = gguf_number(cursor, pairs, ".block_count", GGUF_LAYERS_MAX, 0);
    g->embedding_length = number(&r, ".embedding_length", 0);
    g->context_length = number(&r, ".context_length", 0);
    g->vocab_size = vocabulary(&r);
    g->feed_forward_length = largest_of(&r, ".feed_forward_length");
    g->head_count = largest_of(&r, ".attention.head_count");
    g->head_count_kv =
        gguf_pair_find(pairs, ".attention.head_count_kv") ? largest_of(&r, ".attention.head_count_kv") : g->head_count;
    g->expert_count = number(&r, ".expert_count", 0);
    g->expert_used_count = largest_of(&r, ".expert_used_count");
    g->expert_feed_forward_length = largest_of(&r, ".expert_feed_forward_length");
    g->is_mla = number(&r, ".attention.key_length_mla", 0) > 0 && number(&r, ".attention.value_length_mla", 0) > 0;
    g->sliding_window = window_of_model(&r);
    g->state_values = state_values(&r);
    struct kerf_gguf_layer *layers = arena_alloc(arena, (size_t)g->block_count + 1, sizeof *layers);
    if (layers == NULL) return gguf_fail(cursor, -1, KERF_ENOMEM, "not enough memory");
    int64_t first_without = first_without_kv(&r);
    for (int64_t i = 0; i < g->block_count && cursor->code == KERF_OK; i++)
        read_layer(&r, i, first_without, &layers[i]);
    *ret_layers = layers;
}
