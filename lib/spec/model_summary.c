/* SPDX-License-Identifier: Apache-2.0 */
/* What kerf understood of a model, as JSON and as notes; the keys are documented in docs/json.md. */
#include <string.h>
#include "kerf/model.h"

const char *kerf_attention_kind(const struct kerf_layer_kind *kind) {
    if (kind->attention.kv_rank > 0) return "mla";
    if (kind->attention.kv_heads == kind->attention.heads) return "mha";
    return kind->attention.kv_heads == 1 ? "mqa" : "gqa";
}

static void optional(struct kerf_json *json, const char *key, int64_t value) {
    if (value > 0) kerf_json_integer(json, key, value);
}

static void run_json(struct kerf_json *json, const struct kerf_layer_run *run, const struct kerf_layer_kind *kind) {
    kerf_json_open(json, NULL, '{');
    kerf_json_integer(json, "count", run->count);
    kerf_json_string(json, "attention", kerf_attention_kind(kind));
    kerf_json_string(json, "mlp", kind->mlp.experts > 0 ? "moe" : "dense");
    kerf_json_integer(json, "heads", kind->attention.heads);
    kerf_json_integer(json, "kv_heads", kind->attention.kv_heads);
    kerf_json_integer(json, "head_size", kind->attention.qk_size);
    if (kind->attention.v_size != kind->attention.qk_size)
        kerf_json_integer(json, "value_size", kind->attention.v_size);
    optional(json, "q_rank", kind->attention.q_rank);
    optional(json, "kv_rank", kind->attention.kv_rank);
    optional(json, kind->attention.is_chunked ? "chunk" : "window", kind->attention.window);
    optional(json, "width", kind->mlp.width);
    optional(json, "experts", kind->mlp.experts);
    optional(json, "experts_per_token", kind->mlp.top_k);
    optional(json, "expert_width", kind->mlp.expert_width);
    optional(json, "shared_width", kind->mlp.shared_width);
    kerf_json_boolean(json, "gated", kind->mlp.is_gated);
    kerf_json_close(json, '}');
}

static void flops_json(struct kerf_json *json, const struct kerf_model *model, int64_t seq_length) {
    double forward = kerf_model_flops(model, seq_length, 0);
    kerf_json_open(json, "flops_per_token", '{');
    kerf_json_integer(json, "seq_length", seq_length);
    kerf_json_number(json, "forward", forward);
    kerf_json_number(json, "step", 3 * forward);
    kerf_json_close(json, '}');
}

void kerf_model_json(struct kerf_json *json, const char *key, const struct kerf_model *model, int64_t seq_length) {
    struct kerf_model_counts counts;
    kerf_model_count(model, &counts);
    kerf_json_open(json, key, '{');
    kerf_json_string(json, "name", model->name);
    kerf_json_string(json, "architecture", model->architecture);
    kerf_json_string(json, "family", model->family);
    kerf_json_integer(json, "parameters", counts.parameters);
    kerf_json_integer(json, "active_parameters", counts.active_parameters);
    kerf_json_integer(json, "embedding_parameters", counts.embedding_parameters);
    kerf_json_integer(json, "mtp_parameters", counts.mtp_parameters);
    kerf_json_open(json, "components", '{');
    for (int i = 0; i < KERF_COMPONENT_COUNT; i++)
        kerf_json_integer(json, kerf_component_name((enum kerf_component)i), counts.components[i]);
    kerf_json_close(json, '}');
    kerf_json_integer(json, "hidden_size", model->hidden_size);
    kerf_json_integer(json, "num_hidden_layers", model->num_hidden_layers);
    kerf_json_integer(json, "vocab_size", model->vocab_size);
    optional(json, "max_position_embeddings", model->max_position_embeddings);
    kerf_json_boolean(json, "tie_word_embeddings", model->is_tied);
    kerf_json_open(json, "layers", '[');
    for (int32_t i = 0; i < model->num_runs; i++) run_json(json, &model->runs[i], &model->kinds[model->runs[i].kind]);
    kerf_json_close(json, ']');
    kerf_model_notes_json(json, model);
    if (seq_length > 0) flops_json(json, model, seq_length);
    kerf_json_close(json, '}');
}

/* ---- Notes -------------------------------------------------------------------------------------------- */

/* Copies the next name of the list of ignored keys; 0 at the end. */
static int next_ignored(const char **list, char name[KERF_IGNORED_SIZE]) {
    const char *end = strchr(*list, '\n');
    if (end == NULL) return 0;
    memcpy(name, *list, (size_t)(end - *list));
    name[end - *list] = 0;
    *list = end + 1;
    return 1;
}

static void heads_json(struct kerf_json *json, const struct kerf_layer_kind *kind) {
    if (kind->attention.kv_rank > 0) {
        if (kind->attention.q_rank > 0)
            kerf_json_integer(json, "q_lora_rank", kind->attention.q_rank);
        else
            kerf_json_null(json, "q_lora_rank");
        kerf_json_integer(json, "kv_lora_rank", kind->attention.kv_rank);
        kerf_json_integer(json, "qk_rope_head_dim", kind->attention.rope_size);
        kerf_json_integer(json, "qk_nope_head_dim", kind->attention.qk_size - kind->attention.rope_size);
        kerf_json_integer(json, "v_head_dim", kind->attention.v_size);
    } else {
        kerf_json_integer(json, "num_key_value_heads", kind->attention.kv_heads);
        kerf_json_integer(json, "head_dim", kind->attention.qk_size);
    }
}

/* The width of the shared experts; 0 where there are none. */
static int64_t shared_width(const struct kerf_model *model) {
    for (int32_t i = 0; i < model->num_kinds; i++)
        if (model->kinds[i].mlp.experts > 0) return model->kinds[i].mlp.shared_width;
    return 0;
}

static int64_t dense_layers_first(const struct kerf_model *model) {
    int64_t count = 0;
    for (int32_t i = 0; i < model->num_runs && model->kinds[model->runs[i].kind].mlp.experts == 0; i++)
        count += model->runs[i].count;
    return count;
}

void kerf_model_notes_json(struct kerf_json *json, const struct kerf_model *model) {
    char name[KERF_IGNORED_SIZE];
    kerf_json_open(json, "ignored", '[');
    for (const char *list = model->ignored; next_ignored(&list, name);) kerf_json_string(json, NULL, name);
    kerf_json_close(json, ']');
    kerf_json_open(json, "assumed", '{');
    if (model->assumed & KERF_ASSUMED_FAMILY) {
        kerf_json_string(json, "model_type", model->family);
        kerf_json_boolean(json, "gated", model->num_kinds > 0 && model->kinds[0].mlp.is_gated);
        kerf_json_boolean(json, "tie_word_embeddings", model->is_tied);
    }
    if (model->assumed & KERF_ASSUMED_SIZES) {
        kerf_json_integer(json, "num_attention_heads", model->num_attention_heads);
        kerf_json_integer(json, "intermediate_size", model->intermediate_size);
    }
    if (model->assumed & (KERF_ASSUMED_SIZES | KERF_ASSUMED_HEADS)) heads_json(json, &model->kinds[0]);
    if (model->assumed & KERF_ASSUMED_SHARED)
        kerf_json_integer(json, "shared_expert_intermediate_size", shared_width(model));
    if (model->assumed & KERF_ASSUMED_DENSE)
        kerf_json_integer(json, "first_k_dense_replace", dense_layers_first(model));
    if (model->assumed & KERF_ASSUMED_VOCABULARY) kerf_json_integer(json, "vocab_size", model->vocab_size);
    kerf_json_close(json, '}');
}

static void write_heads(const struct kerf_layer_kind *kind, struct kerf_text *text) {
    if (kind->attention.kv_rank == 0) {
        kerf_text_printf(text, "%lld key-value heads of %lld", (long long)kind->attention.kv_heads,
                         (long long)kind->attention.qk_size);
        return;
    }
    kerf_text_add(text, kind->attention.q_rank > 0 ? "queries of rank " : "queries of full rank");
    if (kind->attention.q_rank > 0) kerf_text_printf(text, "%lld", (long long)kind->attention.q_rank);
    kerf_text_printf(text, ", keys and values of rank %lld, heads of %lld + %lld and %lld",
                     (long long)kind->attention.kv_rank,
                     (long long)(kind->attention.qk_size - kind->attention.rope_size),
                     (long long)kind->attention.rope_size, (long long)kind->attention.v_size);
}

void kerf_model_notes(const struct kerf_model *model, struct kerf_text *ret_text) {
    char name[KERF_IGNORED_SIZE];
    int32_t told = 0;
    for (const char *list = model->ignored; next_ignored(&list, name); told++)
        kerf_text_printf(ret_text, told == 0 ? "%s: unknown keys are ignored: %s" : "%.0s, %s", model->name, name);
    if (told < model->num_ignored) kerf_text_printf(ret_text, " and %lld more", (long long)(model->num_ignored - told));
    if (told > 0) kerf_text_add(ret_text, "\n");
    if (model->assumed == 0) return;
    kerf_text_printf(ret_text, "%s: assumed:", model->name);
    const char *gap = " ";
    if (model->assumed & KERF_ASSUMED_FAMILY) {
        kerf_text_printf(ret_text, "%sthe layers of GPT-2 (there is no model_type)", gap);
        gap = "; ";
    }
    if (model->assumed & KERF_ASSUMED_SIZES) {
        kerf_text_printf(ret_text, "%sthe sizes of %s that text_config leaves out", gap, model->family);
        gap = "; ";
    }
    if (model->assumed & KERF_ASSUMED_HEADS) {
        kerf_text_add(ret_text, gap);
        write_heads(&model->kinds[0], ret_text);
        kerf_text_printf(ret_text, " (%s's default)", model->family);
        gap = "; ";
    }
    if (model->assumed & KERF_ASSUMED_SHARED) {
        int64_t width = shared_width(model);
        if (width > 0)
            kerf_text_printf(ret_text, "%sshared experts of %lld features", gap, (long long)width);
        else
            kerf_text_printf(ret_text, "%sno shared experts", gap);
        kerf_text_printf(ret_text, " (%s's default)", model->family);
        gap = "; ";
    }
    if (model->assumed & KERF_ASSUMED_DENSE) {
        int64_t count = dense_layers_first(model);
        kerf_text_printf(ret_text, "%s%lld dense layer%s before the first mixture (%s's default)", gap,
                         (long long)count, count == 1 ? "" : "s", model->family);
        gap = "; ";
    }
    if (model->assumed & KERF_ASSUMED_VOCABULARY) {
        if (model->vocab_size > 0)
            kerf_text_printf(ret_text, "%sa vocabulary of %lld", gap, (long long)model->vocab_size);
        else
            kerf_text_printf(ret_text, "%sneither embedding nor head (there is no vocab_size)", gap);
    }
    kerf_text_add(ret_text, "\n");
}
