/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model from a family's row and a config: sizes, then the layer with all that any layer has, then which layers have
 * what of it, as runs.
 */
#include "spec/families/family.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static config_names hidden_names = {"hidden_size", "n_embd", "n_embed", "d_model"};
static config_names width_names = {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"};
static config_names layer_names = {"num_hidden_layers", "n_layer", "num_layers", "n_layers"};
static config_names head_names = {"num_attention_heads", "n_head", "n_heads"};
static config_names kv_names = {"num_key_value_heads", "num_kv_heads", "n_head_kv"};
static config_names head_size_names = {"head_dim", "kv_channels"};
static config_names vocabulary_names = {"vocab_size", "padded_vocab_size"};
static config_names position_names = {"max_position_embeddings", "n_positions", "n_ctx"};
static config_names length_names = {"seq_length", "max_seq_len", "max_sequence_length"};
static config_names expert_names = {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"};
static config_names top_k_names = {"num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_top_k",
                                   "moe_k"};

static int32_t read_flag(struct config *config, struct family_flag flag) {
    return flag.key ? config_boolean(config, flag.key, flag.fallback) : flag.fallback;
}

/* ---- Sizes -------------------------------------------------------------------------------------------- */

/* A size that every model has; a text_config may leave it to its family. */
static int64_t read_size(struct reading *reading, config_names names, int64_t most, int64_t fallback, int64_t text) {
    const char *key;
    struct config *config = reading->config;
    int is_text = config->object != config->root;
    int64_t value = config_named(config, names, 1, most, fallback, &key);
    if (key || fallback) return value;
    if (is_text && text) {
        reading->model->assumed |= KERF_ASSUMED_SIZES;
        return text;
    }
    config_fail(config, NULL, KERF_EINVALID,
                "\"%s\" is missing; a model needs hidden_size, intermediate_size, num_hidden_layers and "
                "num_attention_heads",
                names[0]);
    return 1;
}

static void read_sizes(struct reading *reading) {
    const struct family *family = reading->family;
    struct config *config = reading->config;
    struct kerf_model *model = reading->model;
    model->hidden_size = read_size(reading, hidden_names, HIDDEN_MAX, 0, family->text.hidden_size);
    /* GPT-2's descendants say n_embd and leave n_inner null */
    int is_wide = family->is_wide || config_has(config, "n_embd") || config_has(config, "n_embed");
    model->intermediate_size = read_size(reading, width_names, WIDTH_MAX, is_wide ? 4 * model->hidden_size : 0,
                                         family->text.intermediate_size);
    model->num_hidden_layers = read_size(reading, layer_names, LAYERS_MAX, 0, family->text.layers);
    model->num_attention_heads = read_size(reading, head_names, HEADS_MAX, 0, family->text.heads);

    const char *key;
    model->max_position_embeddings = config_named(config, position_names, 1, KERF_COUNT_MAX, 0, &key);
    for (int i = 0; key == NULL && length_names[i]; i++)
        if (config_has(config, length_names[i])) {
            key = length_names[i];
            model->max_position_embeddings = config_integer(config, key, 1, KERF_COUNT_MAX, 0);
        }
    int64_t vocabulary = config->object != config->root ? family->text.vocabulary : 0;
    model->vocab_size = config_named(config, vocabulary_names, 0, KERF_COUNT_MAX, vocabulary, &key);
    if (key == NULL) model->assumed |= KERF_ASSUMED_VOCABULARY;
}

/* ---- One layer ---------------------------------------------------------------------------------------- */

static void read_latent_attention(struct reading *reading) {
    static const char *const keys[] = {"kv_lora_rank", "qk_rope_head_dim", "v_head_dim", "qk_nope_head_dim"};
    const struct family_latent *latent = &reading->family->latent;
    struct config *config = reading->config;
    struct kerf_layer_kind *layer = &reading->layer;
    const json_t *q_rank = json_object_get(config->object->json, "q_lora_rank"); /* null: queries have none */
    if (q_rank == NULL) reading->model->assumed |= KERF_ASSUMED_HEADS;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!config_has(config, keys[i])) reading->model->assumed |= KERF_ASSUMED_HEADS;
    layer->attention.q_rank = config_integer(config, "q_lora_rank", 1, WIDTH_MAX, q_rank ? 0 : latent->q_rank);
    layer->attention.kv_rank = config_integer(config, "kv_lora_rank", 1, WIDTH_MAX, latent->kv_rank);
    layer->attention.rope_size = config_integer(config, "qk_rope_head_dim", 0, WIDTH_MAX, latent->rope_size);
    layer->attention.v_size =
        config_integer(config, "v_head_dim", 1, WIDTH_MAX,
                       latent->v_size ? latent->v_size : reading->model->hidden_size / layer->attention.heads);
    layer->attention.qk_size = config_integer(config, "qk_nope_head_dim", 1, WIDTH_MAX, latent->nope_size);
    layer->attention.qk_size += layer->attention.rope_size;
    layer->attention.kv_heads = layer->attention.heads;
    config_has(config, "head_dim"); /* those above say it, and num_key_value_heads means nothing here */
    config_has(config, "qk_head_dim");
    config_has(config, "num_key_value_heads");
}

static void read_attention(struct reading *reading) {
    const struct family *family = reading->family;
    struct config *config = reading->config;
    struct kerf_model *model = reading->model;
    struct kerf_layer_kind *layer = &reading->layer;
    int64_t heads = model->num_attention_heads, own = model->hidden_size / heads;
    layer->attention.heads = heads;
    layer->attention.qkv_bias = read_flag(config, family->qkv_bias);
    layer->attention.output_bias = read_flag(config, family->output_bias);
    if (read_flag(config, family->qk_norm)) {
        layer->attention.qk_norm = (int32_t)family->qk_norm_kind;
        layer->attention.qk_norm_bias = family->qk_norm_bias;
    }
    if (family->latent.kv_rank > 0) {
        read_latent_attention(reading);
        return;
    }
    int says_null = json_is_null(json_object_get(config->object->json, "num_key_value_heads"));
    int64_t kv_heads = says_null                                                 ? heads
                       : config->object != config->root && family->text.kv_heads ? family->text.kv_heads
                       : family->kv_heads                                        ? family->kv_heads
                                                                                 : heads;
    const char *key;
    layer->attention.kv_heads = config_named(config, kv_names, 1, HEADS_MAX, kv_heads, &key);
    if (key == NULL && kv_heads != heads) model->assumed |= KERF_ASSUMED_HEADS;
    layer->attention.qk_size =
        config_named(config, head_size_names, 1, WIDTH_MAX, family->head_size ? family->head_size : own, &key);
    layer->attention.v_size = layer->attention.qk_size;
    if (key == NULL && family->head_size != 0 && family->head_size != own) model->assumed |= KERF_ASSUMED_HEADS;
    if (key == NULL && family->head_size == 0 && own * heads != model->hidden_size)
        config_fail(config, config_has(config, "n_head") ? "n_head" : "num_attention_heads", KERF_EINVALID,
                    "%lld heads do not divide hidden_size %lld", (long long)heads, (long long)model->hidden_size);
}

/* A key that only a mixture of experts has, with a value above 0; NULL: none. */
static const char *expert_key(const struct reading *reading) {
    const struct family_experts *experts = &reading->family->experts;
    const char *const keys[] = {experts->shared_count, experts->shared_width, experts->dense_first,
                                "num_experts_per_tok", "moe_intermediate_size"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = keys[i] ? json_object_get(reading->config->object->json, keys[i]) : NULL;
        if (json_number_value(value) > 0) return keys[i];
    }
    return NULL;
}

/* A file says that there are no experts by a number of 0 or null, and one of an optional mixture by silence. */
static void check_dense(struct reading *reading) {
    for (int i = 0; expert_names[i]; i++)
        if (json_object_get(reading->config->object->json, expert_names[i])) return;
    const char *key = expert_key(reading);
    if (key == NULL && reading->family->experts.are != EXPERTS_REQUIRED) return;
    config_fail(reading->config, key, KERF_EINVALID,
                "%s%s%s is a mixture of experts, but their number is missing (num_experts, num_local_experts or "
                "n_routed_experts; 0: none)",
                key ? "a model with \"" : "", key ? key : reading->family->types[0], key ? "\"" : "");
}

/* A number that only a mixture has; null: 0. The family's default is told: it decides many parameters. */
static int64_t read_number(struct reading *reading, const char *key, int64_t most, int64_t fallback,
                           enum kerf_assumed assumed) {
    int is_missing = json_object_get(reading->config->object->json, key) == NULL;
    if (is_missing && reading->layer.mlp.experts > 0) reading->model->assumed |= (uint32_t)assumed;
    return config_integer(reading->config, key, 0, most, is_missing ? fallback : 0);
}

static void read_shared_experts(struct reading *reading) {
    const struct family_experts *experts = &reading->family->experts;
    struct kerf_layer_kind *layer = &reading->layer;
    if (experts->shared_count)
        layer->mlp.shared_width = layer->mlp.expert_width * read_number(reading, experts->shared_count, EXPERTS_MAX,
                                                                        experts->shared, KERF_ASSUMED_SHARED);
    if (experts->shared_width && experts->shared)
        layer->mlp.shared_width =
            read_number(reading, experts->shared_width, WIDTH_MAX, experts->shared, KERF_ASSUMED_SHARED);
    else if (experts->shared_width) /* few files of the family have it */
        layer->mlp.shared_width = config_integer(reading->config, experts->shared_width, 0, WIDTH_MAX, 0);
    layer->mlp.shared_gate = experts->shared_gate && layer->mlp.shared_width > 0;
}

/* Which layers are mixtures; where the file lists them, nothing of it is assumed. */
static void read_places(struct reading *reading) {
    const struct family_experts *experts = &reading->family->experts;
    struct config *config = reading->config;
    int has_flags = experts->every && json_is_array(json_object_get(config->object->json, experts->every));
    int is_listed = has_flags || config_has(config, "moe_layers") || config_has(config, "mlp_layer_types");
    if (experts->dense_first && is_listed)
        reading->dense_first = config_integer(config, experts->dense_first, 0, LAYERS_MAX, 0);
    else if (experts->dense_first)
        reading->dense_first =
            read_number(reading, experts->dense_first, LAYERS_MAX, experts->dense, KERF_ASSUMED_DENSE);
    if (experts->every && !has_flags) reading->every = config_integer(config, experts->every, 1, LAYERS_MAX, 1);
    reading->phase = experts->is_last ? reading->every - 1 : 0;
}

static void read_experts(struct reading *reading) {
    const struct family_experts *experts = &reading->family->experts;
    struct config *config = reading->config;
    struct kerf_layer_kind *layer = &reading->layer;
    const char *key;
    layer->mlp.experts = config_named(config, expert_names, 0, EXPERTS_MAX, 0, NULL);
    if (layer->mlp.experts == 0) check_dense(reading);
    layer->mlp.top_k = config_named(config, top_k_names, 1, EXPERTS_MAX, 0, &key);
    layer->mlp.expert_width =
        experts->width ? config_integer(config, experts->width, 1, WIDTH_MAX, 0) : layer->mlp.width;
    read_shared_experts(reading);
    layer->mlp.router_bias = read_flag(config, experts->score_bias) + experts->output_bias;
    layer->mlp.expert_bias = experts->bias;
    read_places(reading);
    if (layer->mlp.experts == 0 || config->code != KERF_OK) return;
    if (layer->mlp.expert_width == 0)
        config_fail(config, NULL, KERF_EINVALID, "\"%s\" is missing: how wide is an expert?", experts->width);
    if (layer->mlp.top_k == 0)
        config_fail(config, NULL, KERF_EINVALID,
                    "\"num_experts_per_tok\" is missing: how many experts does a token visit?");
    if (layer->mlp.top_k > layer->mlp.experts)
        config_fail(config, key, KERF_EINVALID, "a token cannot visit %lld of %lld experts",
                    (long long)layer->mlp.top_k, (long long)layer->mlp.experts);
}

static void read_layer(struct reading *reading) {
    const struct family *family = reading->family;
    struct kerf_layer_kind *layer = &reading->layer;
    layer->norms = family->norms ? family->norms : 2;
    layer->is_parallel = family->is_parallel;
    layer->mlp.width = reading->model->intermediate_size;
    layer->mlp.is_gated = !family->is_plain;
    layer->mlp.bias = read_flag(reading->config, family->mlp_bias);
    read_attention(reading);
    reading->every = 1;
    if (family->experts.are != EXPERTS_NONE) read_experts(reading);
}

static void read_windows(struct reading *reading) {
    const struct family *family = reading->family;
    struct config *config = reading->config;
    reading->windows = family->windows;
    if (family->windows == WINDOW_NONE) return;
    int says_null = json_is_null(json_object_get(config->object->json, "sliding_window"));
    reading->window = config_integer(config, "sliding_window", 1, KERF_COUNT_MAX, says_null ? 0 : family->window);
    if (family->windows == WINDOW_PATTERN) {
        const char *key =
            config_has(config, "_sliding_window_pattern") ? "_sliding_window_pattern" : "sliding_window_pattern";
        if (config_has(config, key) && json_is_string(json_object_get(config->object->json, key)))
            reading->period = (int64_t)strlen(config_string(config, key, "")); /* "LLLG": three local, one global */
        else
            reading->period = config_integer(config, key, 1, LAYERS_MAX, family->period);
    }
    if (family->windows == WINDOW_UPPER) {
        reading->window_from = config_integer(config, "max_window_layers", 0, LAYERS_MAX, family->window_from);
        if (!config_boolean(config, "use_sliding_window", 0)) reading->window = 0;
    }
}

/* ---- All layers --------------------------------------------------------------------------------------- */

static int has_window(const struct reading *reading, int64_t i) {
    if (reading->windowed) return json_number_value(json_array_get(reading->windowed, (size_t)i)) != 0;
    switch (reading->windows) {
    case WINDOW_NONE: return 0;
    case WINDOW_ALL: return 1;
    case WINDOW_PATTERN: return reading->period > 0 && (i + 1) % reading->period != 0;
    case WINDOW_UPPER: return i >= reading->window_from;
    }
    return 0;
}

/* The layer's kind of attention as the file lists it: 1 with a window, 0 without. */
static int typed_window(struct reading *reading, const json_t *types, int64_t i) {
    const char *type = json_string_value(json_array_get(types, (size_t)i));
    int is_chunked = type && strcmp(type, "chunked_attention") == 0;
    if (type && strcmp(type, "full_attention") == 0) return 0;
    if (is_chunked || (type && strcmp(type, "sliding_attention") == 0)) {
        reading->layer.attention.is_chunked |= is_chunked;
        if (reading->window == 0)
            config_fail(reading->config, "layer_types", KERF_EINVALID,
                        "\"layer_types\" has %s, and the file does not say how many tokens its layers see", type);
        return 1;
    }
    config_fail(reading->config, "layer_types", KERF_EUNKNOWN,
                "layers of the type \"%.40s\" cannot be priced; kerf knows full_attention, sliding_attention and "
                "chunked_attention",
                type ? type : "?");
    return 0;
}

static int lists(const json_t *indices, int64_t i) {
    const json_t *index;
    size_t k;
    json_array_foreach(indices, k, index) {
        if (json_number_value(index) == (double)i) return 1;
    }
    return 0;
}

/* A mixture where the file lists the mixtures or the dense layers, one number or word a layer or by their indices. */
struct mixture_lists {
    const json_t *mixtures, *dense, *each, *types;
};

/* A word for each layer, "dense" or "sparse"; NULL: there are none. */
static const json_t *mixture_types(struct reading *reading) {
    const json_t *types = config_array(reading->config, "mlp_layer_types"), *type;
    const int64_t layers = reading->model->num_hidden_layers;
    size_t i;
    if (types && (int64_t)json_array_size(types) != layers)
        config_fail(reading->config, "mlp_layer_types", KERF_EINVALID,
                    "\"mlp_layer_types\" has %zu entries for %lld layers", json_array_size(types), (long long)layers);
    json_array_foreach(types, i, type) {
        const char *word = json_string_value(type);
        if (word == NULL || (strcmp(word, "dense") != 0 && strcmp(word, "sparse") != 0))
            config_fail(reading->config, "mlp_layer_types", KERF_EUNKNOWN,
                        "\"mlp_layer_types\" knows dense and sparse, not \"%.40s\"", word ? word : "?");
    }
    return types;
}

static int is_mixture(const struct reading *reading, const struct mixture_lists *listed, int64_t i) {
    if (reading->layer.mlp.experts == 0) return 0;
    if (listed->types) return strcmp(json_string_value(json_array_get(listed->types, (size_t)i)), "sparse") == 0;
    if (listed->mixtures) return lists(listed->mixtures, i);
    if (listed->dense && lists(listed->dense, i)) return 0;
    if (listed->each) return json_number_value(json_array_get(listed->each, (size_t)i)) != 0;
    return i >= reading->dense_first && i % reading->every == reading->phase;
}

static int32_t add_kind(struct reading *reading, int mixture, int windowed) {
    struct kerf_model *model = reading->model;
    struct kerf_layer_kind kind = reading->layer;
    if (mixture) {
        kind.mlp.width = 0;
        kind.mlp.bias = 0;
    } else {
        kind.mlp.experts = kind.mlp.top_k = kind.mlp.expert_width = kind.mlp.shared_width = 0;
        kind.mlp.router_bias = kind.mlp.shared_gate = kind.mlp.expert_bias = 0;
    }
    kind.attention.window = windowed ? reading->window : 0;
    kind.attention.is_chunked &= windowed;
    assert(model->num_kinds < KERF_KINDS_MAX);
    model->kinds[model->num_kinds] = kind;
    return model->num_kinds++;
}

static void add_layers(struct reading *reading) {
    struct config *config = reading->config;
    struct kerf_model *model = reading->model;
    const json_t *types = config_array(config, "layer_types");
    struct mixture_lists listed = {.types = NULL};
    int32_t kinds[2][2] = {{-1, -1}, {-1, -1}}; /* [a mixture][with a window] */
    if (reading->layer.mlp.experts > 0) {
        listed.dense = config_integers(config, "mlp_only_layers", 0);
        listed.mixtures = config_integers(config, "moe_layers", 0);
        listed.types = mixture_types(reading);
        const char *every = reading->family->experts.every;
        if (every && json_is_array(json_object_get(config->object->json, every)))
            listed.each = config_integers(config, every, model->num_hidden_layers);
    }
    if (types && (int64_t)json_array_size(types) != model->num_hidden_layers)
        config_fail(config, "layer_types", KERF_EINVALID, "\"layer_types\" has %zu entries for %lld layers",
                    json_array_size(types), (long long)model->num_hidden_layers);
    if (types && reading->windows == WINDOW_NONE)
        reading->window = config_integer(config, "sliding_window", 1, KERF_COUNT_MAX, 0);
    for (int64_t i = 0; i < model->num_hidden_layers && config->code == KERF_OK; i++) {
        int windowed = types ? typed_window(reading, types, i) : has_window(reading, i);
        int mixture = is_mixture(reading, &listed, i);
        windowed = windowed && reading->window > 0;
        int32_t *kind = &kinds[mixture][windowed];
        if (*kind < 0) *kind = add_kind(reading, mixture, windowed);
        struct kerf_layer_run *last = model->num_runs > 0 ? &model->runs[model->num_runs - 1] : NULL;
        if (last && last->kind == *kind) {
            last->count++;
        } else if (model->num_runs < KERF_RUNS_MAX) {
            model->runs[model->num_runs++] = (struct kerf_layer_run){.count = 1, .kind = *kind};
        } else {
            config_fail(config, NULL, KERF_EINVALID, "the layers change kind more than %d times", KERF_RUNS_MAX - 1);
        }
    }
}

static void check_heads(struct reading *reading) {
    for (int32_t i = 0; i < reading->model->num_kinds; i++) {
        const struct kerf_layer_kind *kind = &reading->model->kinds[i];
        if (kind->attention.heads % kind->attention.kv_heads != 0)
            config_fail(reading->config, "num_key_value_heads", KERF_EINVALID,
                        "%lld key-value heads do not divide %lld heads", (long long)kind->attention.kv_heads,
                        (long long)kind->attention.heads);
    }
}

void family_read(const struct family *family, struct config *config, struct kerf_model *ret_model) {
    struct reading reading = {.config = config, .family = family, .model = ret_model};
    snprintf(ret_model->family, sizeof ret_model->family, "%s", family->types[0]);
    ret_model->norm = (int32_t)family->norm;
    ret_model->is_causal = 1;
    ret_model->final_norm = 1;
    ret_model->embedding_norm = family->embedding_norm;
    read_sizes(&reading);
    if (config->code != KERF_OK) return;
    read_layer(&reading);
    read_windows(&reading);
    ret_model->embedding_size = ret_model->hidden_size;
    ret_model->position_rows = family->has_positions ? ret_model->max_position_embeddings : 0;
    ret_model->head_bias = read_flag(config, family->head_bias);
    ret_model->is_tied = family->is_tied;
    if (config->object != config->root) {
        struct config root = {.object = config->root, .root = config->root, .err = config->err};
        ret_model->is_tied = config_boolean(&root, "tie_word_embeddings", ret_model->is_tied);
        config_join(config, &root);
    }
    ret_model->is_tied = config_boolean(config, "tie_word_embeddings", ret_model->is_tied);
    if (family->mtp_key) ret_model->mtp_layers = config_integer(config, family->mtp_key, 0, LAYERS_MAX, 0);
    if (family->adjust && config->code == KERF_OK) family->adjust(&reading);
    if (config->code == KERF_OK) add_layers(&reading);
    if (config->code == KERF_OK) check_heads(&reading);
    int has_mixture = 0;
    for (int32_t i = 0; i < ret_model->num_kinds; i++) has_mixture |= ret_model->kinds[i].mlp.experts > 0;
    if (!has_mixture) ret_model->assumed &= ~(uint32_t)KERF_ASSUMED_SHARED; /* no layer has what was assumed */
}
