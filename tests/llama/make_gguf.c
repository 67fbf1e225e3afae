/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a GGUF file with random weights, which llama.cpp loads as any other: timings and memory are those of a real
 * model of that shape, the text is not. The same options and seed make the same bytes.
 *
 *     make_gguf tiny.gguf                                   2 layers of 64, 512 tokens, F16: 232 kB
 *     make_gguf big.gguf --layers 24 --embd 1024 --ff 2816 --heads 16 --kv-heads 4 --vocab 32000 --type q8_0
 *
 * The file (format of ggml's gguf.h): magic, version, how many tensors and key-value pairs, the pairs, each tensor's
 * name, shape, type and offset, then their data from a multiple of 32 on, each at a multiple of 32. ne[0] is the row.
 * Weights are uniform with a standard deviation of 1 / sqrt(row): activations stay near 1 through every layer.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/option.h"

enum { ALIGNMENT = 32, BLOCK = 32, LEVELS = 1024, NAME_MAX_BYTES = 64 };
enum gguf_value { VALUE_U32 = 4, VALUE_I32 = 5, VALUE_F32 = 6, VALUE_STRING = 8, VALUE_ARRAY = 9 };
enum ggml { GGML_F32 = 0, GGML_F16 = 1, GGML_Q4_0 = 2, GGML_Q8_0 = 8 };

/* What of llama's tensors an architecture has more. */
static const struct architecture {
    const char *name;
    int qk_norms, post_norms, window;
} architectures[] = {{"llama", 0, 0, 0}, {"qwen2", 0, 0, 0}, {"qwen3", 1, 0, 0}, {"gemma2", 0, 1, 1}};

struct options {
    struct string_list words;
    const char *architecture, *type, *tokenizer;
    int64_t layers, embd, heads, kv_heads, ff, experts, vocab, context, window, seed;
};

#define AT(field) .offset = offsetof(struct options, field)
#define SIZE(option, field, most, what)                                                                                \
    { .name = option, .type = OPTION_INTEGER, AT(field), .value = "N", .minimum = 1, .maximum = most, .help = what }
static const struct option table_options[] = {
    {.name = "architecture",
     .type = OPTION_CHOICE,
     AT(architecture),
     .value = "NAME",
     .choices = "llama,qwen2,qwen3,gemma2",
     .help = "The architecture (default: llama)."},
    {.name = "type",
     .type = OPTION_CHOICE,
     AT(type),
     .value = "TYPE",
     .choices = "f32,f16,q8_0,q4_0",
     .help = "Of the matrices (default: f16); norms are F32."},
    {.name = "tokenizer",
     .type = OPTION_CHOICE,
     AT(tokenizer),
     .value = "NAME",
     .choices = "none,spm",
     .help = "none: ids alone; spm: words, so that text can be tokenized (default: none)."},
    SIZE("layers", layers, 512, "Layers (default: 2)."),
    SIZE("embd", embd, 65536, "Embedding, a multiple of 32 and of the heads (default: 64)."),
    SIZE("heads", heads, 1024, "Attention heads (default: 4)."),
    SIZE("kv-heads", kv_heads, 1024, "Heads of keys and values (default: as many as heads)."),
    SIZE("ff", ff, 1 << 20, "Feed-forward width, a multiple of 32 (default: 128)."),
    {.name = "experts",
     .type = OPTION_INTEGER,
     AT(experts),
     .value = "N",
     .minimum = 0,
     .maximum = 64,
     .help = "Experts of llama, two of them used (default: none)."},
    SIZE("vocab", vocab, 1 << 20, "Tokens (default: 512)."),
    SIZE("context", context, 1 << 24, "Context that the model says it was trained with (default: 4096)."),
    SIZE("window", window, 1 << 24, "Sliding window of gemma2 (default: 512)."),
    {.name = "seed",
     .type = OPTION_INTEGER,
     AT(seed),
     .value = "N",
     .minimum = 0,
     .maximum = 0x1p53,
     .help = "Of the weights (default: 0)."},
    {.name = NULL},
};
static const struct command table = {.name = "make_gguf",
                                     .summary = "a GGUF file with random weights",
                                     .arguments = "FILE",
                                     .options = table_options,
                                     .arguments_offset = offsetof(struct options, words)};

struct tensor {
    char name[NAME_MAX_BYTES];
    int64_t ne[3];
    int32_t dims, type;
    uint64_t offset;
};

struct maker {
    FILE *file;
    const struct options *options;
    const struct architecture *architecture;
    struct pcg64 rng;
    struct tensor *tensors;
    size_t num_tensors, room;
    int32_t type;
    uint64_t data_bytes;
    uint64_t pairs; /* counted while writing, put into the header at the end */
};

/* ---- Bytes ------------------------------------------------------------------------------------------------ */

/* The format is little endian, as every machine is that this is built for. */
static void put(struct maker *m, const void *bytes, size_t size) { fwrite(bytes, 1, size, m->file); }
static void put_u32(struct maker *m, uint32_t value) { put(m, &value, sizeof value); }
static void put_u64(struct maker *m, uint64_t value) { put(m, &value, sizeof value); }
static void put_string(struct maker *m, const char *text) {
    put_u64(m, strlen(text));
    put(m, text, strlen(text));
}

/* ---- Key-value pairs -------------------------------------------------------------------------------------- */

static void key(struct maker *m, const char *name, uint32_t kind) {
    char full[128];
    snprintf(full, sizeof full, "%s%s", name[0] == '.' ? m->architecture->name : "", name);
    put_string(m, full);
    put_u32(m, kind);
    m->pairs++;
}
static void pair_u32(struct maker *m, const char *name, int64_t value) {
    key(m, name, VALUE_U32);
    put_u32(m, (uint32_t)value);
}
static void pair_f32(struct maker *m, const char *name, float value) {
    key(m, name, VALUE_F32);
    put(m, &value, sizeof value);
}
static void pair_string(struct maker *m, const char *name, const char *value) {
    key(m, name, VALUE_STRING);
    put_string(m, value);
}
static void array(struct maker *m, const char *name, uint32_t kind, int64_t count) {
    key(m, name, VALUE_ARRAY);
    put_u32(m, kind);
    put_u64(m, (uint64_t)count);
}

/* <unk> <s> </s>, a token for every byte, the space, a..z, and fillers, which must differ from each other. */
static void token(int64_t id, char text[32]) {
    static const char *const first[] = {"<unk>", "<s>", "</s>"};
    if (id < 3)
        snprintf(text, 32, "%s", first[id]);
    else if (id < 3 + 256)
        snprintf(text, 32, "<0x%02X>", (unsigned)(id - 3));
    else if (id == 3 + 256)
        snprintf(text, 32, "\xE2\x96\x81");
    else if (id < 3 + 256 + 1 + 26)
        snprintf(text, 32, "%c", (char)('a' + (id - 260)));
    else
        snprintf(text, 32, "w%lld", (long long)id);
}

static void put_tokenizer(struct maker *m) {
    int64_t vocab = m->options->vocab;
    if (strcmp(m->options->tokenizer, "none") == 0) {
        pair_string(m, "tokenizer.ggml.model", "none");
        return;
    }
    pair_string(m, "tokenizer.ggml.model", "llama");
    array(m, "tokenizer.ggml.tokens", VALUE_STRING, vocab);
    for (int64_t id = 0; id < vocab; id++) {
        char text[32];
        token(id, text);
        put_string(m, text);
    }
    array(m, "tokenizer.ggml.scores", VALUE_F32, vocab);
    for (int64_t id = 0; id < vocab; id++) put(m, &(float){-(float)id}, sizeof(float));
    array(m, "tokenizer.ggml.token_type", VALUE_I32, vocab);
    for (int64_t id = 0; id < vocab; id++) put_u32(m, id == 0 ? 2 : id < 3 ? 3 : id < 259 ? 6 : 1);
}

static void put_pairs(struct maker *m) {
    const struct options *o = m->options;
    static const struct {
        const char *word;
        uint32_t file_type;
    } types[] = {{"f32", 0}, {"f16", 1}, {"q4_0", 2}, {"q8_0", 7}};
    pair_string(m, "general.architecture", m->architecture->name);
    pair_string(m, "general.name", "random weights");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].word, o->type) == 0) pair_u32(m, "general.file_type", types[i].file_type);
    pair_u32(m, ".context_length", o->context);
    pair_u32(m, ".embedding_length", o->embd);
    pair_u32(m, ".block_count", o->layers);
    pair_u32(m, ".feed_forward_length", o->ff);
    pair_u32(m, ".attention.head_count", o->heads);
    pair_u32(m, ".attention.head_count_kv", o->kv_heads);
    pair_f32(m, ".attention.layer_norm_rms_epsilon", 1e-5F);
    pair_u32(m, ".rope.dimension_count", o->embd / o->heads);
    pair_u32(m, ".vocab_size", o->vocab);
    if (m->architecture->window) pair_u32(m, ".attention.sliding_window", o->window);
    if (o->experts > 0) {
        pair_u32(m, ".expert_count", o->experts);
        pair_u32(m, ".expert_used_count", o->experts < 2 ? o->experts : 2);
    }
    put_tokenizer(m);
}

/* ---- Tensors ---------------------------------------------------------------------------------------------- */

static uint64_t tensor_bytes(const struct tensor *t) {
    uint64_t n = (uint64_t)(t->ne[0] * t->ne[1] * t->ne[2]);
    switch (t->type) {
    case GGML_F32: return 4 * n;
    case GGML_F16: return 2 * n;
    case GGML_Q4_0: return n / BLOCK * 18;
    default: return n / BLOCK * 34;
    }
}

static uint64_t aligned(uint64_t n) { return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* layer -1: none */
static void tensor(struct maker *m, int64_t layer, const char *name, int64_t row, int64_t rows, int64_t matrices) {
    if (m->num_tensors == m->room) {
        m->room = m->room ? 2 * m->room : 256;
        m->tensors = realloc(m->tensors, m->room * sizeof *m->tensors);
        if (m->tensors == NULL) abort();
    }
    struct tensor *t = &m->tensors[m->num_tensors++];
    *t = (struct tensor){.ne = {row, rows, matrices}, .dims = matrices > 1 ? 3 : rows > 1 ? 2 : 1};
    if (layer < 0)
        snprintf(t->name, sizeof t->name, "%s.weight", name);
    else
        snprintf(t->name, sizeof t->name, "blk.%lld.%s.weight", (long long)layer, name);
    t->type = t->dims == 1 || strcmp(name, "ffn_gate_inp") == 0 ? GGML_F32 : m->type;
    t->offset = m->data_bytes;
    m->data_bytes += aligned(tensor_bytes(t));
}

static void list_tensors(struct maker *m) {
    const struct options *o = m->options;
    int64_t head = o->embd / o->heads, kv = head * o->kv_heads;
    tensor(m, -1, "token_embd", o->embd, o->vocab, 1);
    for (int64_t i = 0; i < o->layers; i++) {
        tensor(m, i, "attn_norm", o->embd, 1, 1);
        tensor(m, i, "attn_q", o->embd, o->embd, 1);
        tensor(m, i, "attn_k", o->embd, kv, 1);
        tensor(m, i, "attn_v", o->embd, kv, 1);
        tensor(m, i, "attn_output", o->embd, o->embd, 1);
        if (m->architecture->qk_norms) {
            tensor(m, i, "attn_q_norm", head, 1, 1);
            tensor(m, i, "attn_k_norm", head, 1, 1);
        }
        if (m->architecture->post_norms) tensor(m, i, "post_attention_norm", o->embd, 1, 1);
        tensor(m, i, "ffn_norm", o->embd, 1, 1);
        if (o->experts > 0) {
            tensor(m, i, "ffn_gate_inp", o->embd, o->experts, 1);
            tensor(m, i, "ffn_gate_exps", o->embd, o->ff, o->experts);
            tensor(m, i, "ffn_up_exps", o->embd, o->ff, o->experts);
            tensor(m, i, "ffn_down_exps", o->ff, o->embd, o->experts);
        } else {
            tensor(m, i, "ffn_gate", o->embd, o->ff, 1);
            tensor(m, i, "ffn_up", o->embd, o->ff, 1);
            tensor(m, i, "ffn_down", o->ff, o->embd, 1);
        }
        if (m->architecture->post_norms) tensor(m, i, "post_ffw_norm", o->embd, 1, 1);
    }
    tensor(m, -1, "output_norm", o->embd, 1, 1);
}

/* A float as the nearest half, of normal halves. */
static uint16_t half(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest < 0x38800000) return (uint16_t)sign; /* below the normal ones */
    return (uint16_t)(sign | ((rest - 0x38000000 + 0x0fff + (rest >> 13 & 1)) >> 13));
}

/* One of LEVELS equidistant values a weight, six of them from a draw of 64 bits. */
static void put_floats(struct maker *m, const struct tensor *t, float most) {
    float floats[LEVELS];
    uint16_t halves[LEVELS], half_row[1024];
    float row[1024];
    for (int i = 0; i < LEVELS; i++) {
        floats[i] = most * ((float)(2 * i + 1) / LEVELS - 1);
        halves[i] = half(floats[i]);
    }
    int64_t left = t->ne[0] * t->ne[1] * t->ne[2];
    uint64_t bits = 0;
    int in_bits = 0;
    while (left > 0) {
        int64_t n = left < 1024 ? left : 1024;
        for (int64_t i = 0; i < n; i++) {
            if (in_bits == 0) bits = random_bits(&m->rng), in_bits = 6;
            row[i] = floats[bits % LEVELS];
            half_row[i] = halves[bits % LEVELS];
            bits /= LEVELS, in_bits--;
        }
        if (t->type == GGML_F16)
            put(m, half_row, (size_t)n * sizeof *half_row);
        else
            put(m, row, (size_t)n * sizeof *row);
        left -= n;
    }
}

/* Blocks of 32: a scale, and random bytes for what it scales (-128..127, or nibbles of -8..7). */
static void put_blocks(struct maker *m, const struct tensor *t, float most) {
    size_t bytes = t->type == GGML_Q8_0 ? BLOCK : BLOCK / 2;
    uint16_t scale = half(most / (t->type == GGML_Q8_0 ? 128 : 8));
    unsigned char block[2 + BLOCK];
    memcpy(block, &scale, sizeof scale);
    for (int64_t i = 0; i < t->ne[0] * t->ne[1] * t->ne[2] / BLOCK; i++) {
        for (size_t b = 0; b < bytes; b += 8) {
            uint64_t bits = random_bits(&m->rng);
            memcpy(block + 2 + b, &bits, sizeof bits);
        }
        put(m, block, 2 + bytes);
    }
}

static void put_data(struct maker *m, const struct tensor *t) {
    static const char zeros[ALIGNMENT];
    float most = sqrtf(3.0F / (float)t->ne[0]);
    if (t->dims == 1)
        for (int64_t i = 0; i < t->ne[0]; i++) put(m, &(float){1}, sizeof(float)); /* norms */
    else if (t->type == GGML_F32 || t->type == GGML_F16)
        put_floats(m, t, most);
    else
        put_blocks(m, t, most);
    uint64_t size = tensor_bytes(t);
    put(m, zeros, (size_t)(aligned(size) - size));
}

static void put_file(struct maker *m) {
    static const char zeros[ALIGNMENT];
    put(m, "GGUF", 4);
    put_u32(m, 3);
    list_tensors(m);
    put_u64(m, m->num_tensors);
    put_u64(m, 0);
    put_pairs(m);
    for (size_t i = 0; i < m->num_tensors; i++) {
        const struct tensor *t = &m->tensors[i];
        put_string(m, t->name);
        put_u32(m, (uint32_t)t->dims);
        for (int32_t d = 0; d < t->dims; d++) put_u64(m, (uint64_t)t->ne[d]);
        put_u32(m, (uint32_t)t->type);
        put_u64(m, t->offset);
    }
    uint64_t now = (uint64_t)ftell(m->file);
    put(m, zeros, (size_t)(aligned(now) - now));
    for (size_t i = 0; i < m->num_tensors; i++) put_data(m, &m->tensors[i]);
    fseek(m->file, 16, SEEK_SET);
    put_u64(m, m->pairs);
}

/* ---- The program ------------------------------------------------------------------------------------------ */

static int refuse(const char *why) {
    fprintf(stderr, "make_gguf: %s\n", why);
    return 2;
}

static const char *fault(const struct options *o) {
    if (o->words.count != 1) return "one FILE to write is needed";
    if (o->embd % o->heads || o->embd % BLOCK || o->ff % BLOCK) return "embd: a multiple of 32 and of heads; ff: of 32";
    if (o->embd / o->heads % 2 || o->heads % o->kv_heads)
        return "embd / heads must be even, heads a multiple of kv-heads";
    if (strcmp(o->tokenizer, "spm") == 0 && o->vocab < 300) return "the words of spm are 300 or more";
    if (o->experts > 0 && strcmp(o->architecture, "llama") != 0) return "experts are llama's alone";
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = {.architecture = "llama",
                              .type = "f16",
                              .tokenizer = "none",
                              .layers = 2,
                              .embd = 64,
                              .heads = 4,
                              .ff = 128,
                              .vocab = 512,
                              .context = 4096,
                              .window = 512};
    struct kerf_error err = {0};
    int32_t help = 0;
    if (options_parse(&table, argc - 1, argv + 1, &options, &help, &err) != KERF_OK) return refuse(err.message);
    if (help) {
        struct kerf_text text = {0};
        command_help(&text, &table, 0, 0);
        fputs(text.data, stdout);
        kerf_text_free(&text);
        return 0;
    }
    if (options.kv_heads == 0) options.kv_heads = options.heads;
    const char *why = fault(&options);
    if (why) return refuse(why);

    struct maker maker = {.options = &options, .rng = random_seed((uint64_t)options.seed)};
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (strcmp(architectures[i].name, options.architecture) == 0) maker.architecture = &architectures[i];
    maker.type = strcmp(options.type, "f32") == 0    ? GGML_F32
                 : strcmp(options.type, "q8_0") == 0 ? GGML_Q8_0
                 : strcmp(options.type, "q4_0") == 0 ? GGML_Q4_0
                                                     : GGML_F16;
    maker.file = fopen(options.words.items[0], "wb");
    if (maker.file == NULL) return refuse("the file cannot be written");
    put_file(&maker);
    int failed = ferror(maker.file);
    failed |= fclose(maker.file) != 0;
    free(maker.tensors);
    options_free(&table, &options);
    return failed ? refuse("the file could not be written to its end") : 0;
}
