/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of llama.cpp: weights, KV caches, compute buffers, logits. The rules are those of its v0.5.0, in llama_context
 * (rounding of sizes, output buffer), llama_kv_cache and llama_kv_cache_iswa (caches), load_tensors (which layers are
 * on devices) and build_attn_mha (scores and masks).
 *
 * A compute buffer is as large as the graph is at its widest place. With e = embedding, f = feed-forward width (of an
 * expert times experts used), v = vocabulary, h = heads, k = n_ctx, u = n_ubatch, in floats a token of a ubatch:
 *     attention      5 e + 2 kv + h k (scores, without flash attention) + masks
 *     feed-forward   3 f + 4 e + masks (5 e without flash attention)
 *     output         v + 2 e, of the tokens whose logits are asked for
 * A mask has k values, of 4 bytes, with flash attention of 2; layers with a window have another one.
 */
#include "kerf/llama.h"

#include <string.h>

enum { CONTEXT_STEP = 256, STATE_BYTES = 4, SIZE_MAX_TOKENS = 1 << 30 };

void kerf_llama_setting_defaults(struct kerf_llama_setting *ret_setting) {
    *ret_setting = (struct kerf_llama_setting){.gpu_layers = -2, .mmap = -1};
}

struct question {
    const struct kerf_gguf *gguf;
    int64_t context, sequence_context, batch, ubatch, sequences, outputs;
    int64_t first_on_device; /* layer; block_count is the output */
    int32_t flash;
    const struct kerf_gguf_type *type_k, *type_v;
    double widest_value; /* values a token of the layer that has most of them */
};

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }
static int64_t padded(int64_t n) { return (n + CONTEXT_STEP - 1) / CONTEXT_STEP * CONTEXT_STEP; }

/* A file may say sizes up to 2^31: sums are doubles, and cut here. */
static int64_t whole(double bytes) { return bytes < 0x1p62 ? (int64_t)bytes : INT64_MAX / 2; }

/* ---- The question ----------------------------------------------------------------------------------------- */

static int32_t size_of(const char *name, int64_t given, int64_t missing, int64_t *ret_size, struct kerf_error *err) {
    int64_t size = given == 0 ? missing : given;
    if (size < 1 || size > SIZE_MAX_TOKENS)
        return kerf_error_set(err, KERF_EINVALID, "%s is %lld; it must be between 1 and %d", name, (long long)size,
                              SIZE_MAX_TOKENS);
    *ret_size = size;
    return KERF_OK;
}

static int32_t cache_type(const char *name, const struct kerf_gguf_type **ret_type, struct kerf_error *err) {
    *ret_type = kerf_gguf_type_find(name ? name : "f16");
    if (*ret_type == NULL) return kerf_error_set(err, KERF_EINVALID, "'%.40s' is not a type of KV cache", name);
    return KERF_OK;
}

static int32_t check_model(const struct kerf_gguf *g, struct kerf_error *err) {
    const char *missing = NULL;
    if (g->block_count < 1)
        missing = "block_count";
    else if (g->embedding_length < 1)
        missing = "embedding_length";
    else if (g->vocab_size < 1)
        missing = "vocabulary";
    for (int64_t i = 0; i < g->block_count && !missing; i++)
        if (g->layers[i].keeps_kv && (g->layers[i].head_count < 1 || g->layers[i].key_length < 1))
            missing = "attention.head_count";
    if (missing)
        return kerf_error_set(err, KERF_EINVALID, "the model (%s) does not say its %s", g->architecture, missing);
    return KERF_OK;
}

/* Rounds the sizes as llama_context does. */
static int32_t ask(const struct kerf_gguf *g, const struct kerf_llama_setting *s, struct question *q,
                   struct kerf_error *err) {
    int32_t code = check_model(g, err);
    *q = (struct question){.gguf = g, .flash = s->flash_attention != KERF_LLAMA_ATTENTION_OFF};
    if (code == KERF_OK) code = size_of("context", s->context, g->context_length, &q->context, err);
    if (code == KERF_OK) code = size_of("batch", s->batch, 2048, &q->batch, err);
    if (code == KERF_OK) code = size_of("ubatch", s->ubatch, 512, &q->ubatch, err);
    if (code == KERF_OK) code = size_of("sequences", s->sequences, 1, &q->sequences, err);
    if (code == KERF_OK) code = cache_type(s->kv_type_k, &q->type_k, err);
    if (code == KERF_OK) code = cache_type(s->kv_type_v, &q->type_v, err);
    if (code != KERF_OK) return code;
    q->batch = smaller(q->batch, q->context);
    q->ubatch = smaller(q->ubatch, q->batch);
    q->context = padded(q->context);
    q->sequence_context = padded(q->context / q->sequences);
    q->context = q->sequence_context * q->sequences;
    q->outputs = s->outputs > 0 ? smaller(s->outputs, q->batch) : q->batch;
    int64_t on_device = s->gpu_layers == -2 ? 0 : s->gpu_layers == -1 ? g->block_count + 1 : s->gpu_layers;
    if (on_device < 0) return kerf_error_set(err, KERF_EINVALID, "gpu_layers must be -1 or more");
    if (s->outputs < 0) return kerf_error_set(err, KERF_EINVALID, "outputs must be 1 or more, or 0 for all");
    for (int64_t i = 0; i < g->block_count; i++)
        q->widest_value = larger(q->widest_value, (double)g->layers[i].head_count_kv * g->layers[i].value_length);
    q->first_on_device = on_device > g->block_count ? 0 : g->block_count + 1 - on_device;
    return KERF_OK;
}

/* ---- Weights ---------------------------------------------------------------------------------------------- */

static void add_weights(const struct question *q, struct kerf_llama_memory *memory) {
    const struct kerf_gguf *g = q->gguf;
    int64_t device = 0;
    for (int64_t i = q->first_on_device; i < g->block_count; i++) device += g->layers[i].bytes;
    if (q->first_on_device > g->block_count) { /* no layer is on a device */
        memory->weights_host = g->tensor_bytes;
        return;
    }
    int64_t copied = g->tied ? g->embedding_bytes : 0; /* the input layer stays on the host */
    memory->weights_device = device + g->output_bytes + copied;
    memory->weights_host = g->tensor_bytes - device - g->output_bytes;
}

/* ---- KV caches -------------------------------------------------------------------------------------------- */

static double row_bytes(const struct kerf_gguf_type *type, double values) {
    return values / type->block * type->block_bytes;
}

/* Without flash attention values are stored transposed, and as wide in every layer as in the widest. */
static double cache_bytes(const struct question *q, const struct kerf_gguf_layer *layer) {
    double cells = (double)q->sequence_context;
    if (layer->window > 0) cells = (double)padded(smaller(q->sequence_context, layer->window + q->ubatch));
    double key = (double)layer->head_count_kv * layer->key_length;
    double value = q->flash ? (double)layer->head_count_kv * layer->value_length : q->widest_value;
    double bytes = row_bytes(q->type_k, key) + (q->gguf->is_mla ? 0 : row_bytes(q->type_v, value));
    return bytes * cells * (double)q->sequences;
}

static void add_caches(const struct question *q, struct kerf_llama_memory *memory) {
    double host = 0, device = 0;
    for (int64_t i = 0; i < q->gguf->block_count; i++) {
        const struct kerf_gguf_layer *layer = &q->gguf->layers[i];
        double bytes = layer->keeps_kv ? cache_bytes(q, layer) : 0;
        if (layer->keeps_state) bytes += (double)q->gguf->state_values * STATE_BYTES * (double)q->sequences;
        if (i < q->first_on_device)
            host += bytes;
        else
            device += bytes;
    }
    memory->kv_host = whole(host);
    memory->kv_device = whole(device);
}

/* ---- Compute buffers -------------------------------------------------------------------------------------- */

static double mask_values(const struct question *q) {
    double values = 0, window = 0;
    for (int64_t i = 0; i < q->gguf->block_count; i++) {
        const struct kerf_gguf_layer *layer = &q->gguf->layers[i];
        if (!layer->keeps_kv) continue;
        if (layer->window > 0)
            window = (double)padded(smaller(q->sequence_context, layer->window + q->ubatch));
        else
            values = (double)q->sequence_context;
    }
    return values + window;
}

/* Floats a token of a ubatch at the widest place of one layer. */
static double layer_values(const struct question *q, const struct kerf_gguf_layer *layer, double masks) {
    const struct kerf_gguf *g = q->gguf;
    double e = (double)g->embedding_length, f = (double)layer->feed_forward_length, attention = 0;
    if (g->expert_count > 0) {
        double expert =
            (double)(g->expert_feed_forward_length ? g->expert_feed_forward_length : layer->feed_forward_length);
        double experts = expert * (double)(g->expert_used_count > 0 ? g->expert_used_count : 1);
        f = g->expert_feed_forward_length ? larger(f, experts) : experts;
    }
    if (layer->keeps_kv) {
        double heads = (double)layer->head_count, kv = (double)layer->head_count_kv * layer->key_length;
        double cells = (double)q->sequence_context;
        if (layer->window > 0) cells = (double)padded(smaller(q->sequence_context, layer->window + q->ubatch));
        attention = 3 * e + 2 * larger(e, heads * layer->key_length) + 2 * kv + (q->flash ? 0 : heads * cells) + masks;
    }
    return larger(attention, 3 * f + (q->flash ? 4 : 5) * e + masks);
}

static void add_compute(const struct question *q, struct kerf_llama_memory *memory) {
    const struct kerf_gguf *g = q->gguf;
    double e = (double)g->embedding_length, masks = mask_values(q) * (q->flash ? 0.5 : 1);
    double outputs = (double)smaller(q->ubatch, q->outputs), ubatch = (double)q->ubatch;
    double output = 4 * outputs * ((double)g->vocab_size + 2 * e), host = 0, device = 0;
    for (int64_t i = 0; i < g->block_count; i++) {
        double bytes = 4 * ubatch * layer_values(q, &g->layers[i], masks);
        if (i < q->first_on_device)
            host = larger(host, bytes);
        else
            device = larger(device, bytes);
    }
    if (q->first_on_device > g->block_count)
        host = larger(host, output);
    else
        device = larger(device, output);
    if (device > 0) host = larger(host, 4 * ubatch * (masks + e)); /* the inputs are made on the host */
    memory->compute_host = whole(host);
    memory->compute_device = whole(device);
}

/* ---- The sum ---------------------------------------------------------------------------------------------- */

int32_t kerf_llama_memory_estimate(const struct kerf_gguf *gguf, const struct kerf_llama_setting *setting,
                                   struct kerf_llama_memory *ret_memory, struct kerf_error *err) {
    struct question q;
    struct kerf_llama_memory memory = {0};
    int32_t code = ask(gguf, setting, &q, err);
    if (code != KERF_OK) return code;
    add_weights(&q, &memory);
    add_caches(&q, &memory);
    add_compute(&q, &memory);
    memory.output_host =
        whole(4.0 * (double)gguf->vocab_size * (double)(q.outputs > q.sequences ? q.outputs : q.sequences));
    memory.host = whole((double)memory.weights_host + (double)memory.kv_host + (double)memory.compute_host +
                        (double)memory.output_host);
    memory.device = whole((double)memory.weights_device + (double)memory.kv_device + (double)memory.compute_device);
    memory.context = q.context;
    memory.batch = q.batch;
    memory.ubatch = q.ubatch;
    memory.is_rough = !gguf->is_listed;
    *ret_memory = memory;
    return KERF_OK;
}
