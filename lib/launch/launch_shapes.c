/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shapes of models that launches name and do not describe: flavors of torchtitan, models of Hugging Face, recipes of
 * Megatron-Bridge. They are those of the published configs. Names are compared by their letters and digits alone; a longer
 * one, such as a recipe's, may go on behind the model's name.
 */
#include <ctype.h>
#include <string.h>
#include "launch/launch_reading.h"

enum {
    OLD = 1,
    TIED = 2,
    QKV_BIAS = 4,
    QK_NORM = 8
}; /* OLD: GPT's: biases, LayerNorm, two matrices, learned positions */

static const struct shape {
    const char *name;
    int32_t layers, hidden, ffn, heads, kv_heads, head_dim, vocab;
    int32_t experts, top_k, expert_ffn, shared, dense, step; /* of a mixture */
    int32_t q_rank, kv_rank; /* of multi-latent attention: heads of 128 + 64, values of 128 */
    int32_t flags;
} shapes[] = {
    {"llama2-7b", 32, 4096, 11008, 32, 32, 128, 32000, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"llama2-13b", 40, 5120, 13824, 40, 40, 128, 32000, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"llama2-70b", 80, 8192, 28672, 64, 8, 128, 32000, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"llama3-8b", 32, 4096, 14336, 32, 8, 128, 128256, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"llama3-70b", 80, 8192, 28672, 64, 8, 128, 128256, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"llama3-405b", 126, 16384, 53248, 128, 8, 128, 128256, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"llama32-1b", 16, 2048, 8192, 32, 8, 64, 128256, 0, 0, 0, 0, 0, 0, 0, 0, TIED},
    {"llama32-3b", 28, 3072, 8192, 24, 8, 128, 128256, 0, 0, 0, 0, 0, 0, 0, 0, TIED},
    {"llama4-17bx16e", 48, 5120, 16384, 40, 8, 128, 202048, 16, 1, 8192, 8192, 0, 1, 0, 0, 0},
    {"llama4-17bx128e", 48, 5120, 16384, 40, 8, 128, 202048, 128, 1, 8192, 8192, 0, 2, 0, 0, 0},
    {"deepseek-v3-16b", 27, 2048, 10944, 16, 16, 128, 102400, 64, 6, 1408, 2816, 1, 1, 0, 512, 0},
    {"deepseek-v2-lite", 27, 2048, 10944, 16, 16, 128, 102400, 64, 6, 1408, 2816, 1, 1, 0, 512, 0},
    {"deepseek-v3-236b", 60, 5120, 12288, 128, 128, 128, 102400, 160, 6, 1536, 3072, 1, 1, 1536, 512, 0},
    {"deepseek-v2", 60, 5120, 12288, 128, 128, 128, 102400, 160, 6, 1536, 3072, 1, 1, 1536, 512, 0},
    {"deepseek-v3", 61, 7168, 18432, 128, 128, 128, 129280, 256, 8, 2048, 2048, 3, 1, 1536, 512, 0},
    {"deepseek-v3-671b", 61, 7168, 18432, 128, 128, 128, 129280, 256, 8, 2048, 2048, 3, 1, 1536, 512, 0},
    {"kimi-k2", 61, 7168, 18432, 64, 64, 128, 163840, 384, 8, 2048, 2048, 1, 1, 1536, 512, 0},
    {"qwen3-0.6b", 28, 1024, 3072, 16, 8, 128, 151936, 0, 0, 0, 0, 0, 0, 0, 0, TIED | QK_NORM},
    {"qwen3-1.7b", 28, 2048, 6144, 16, 8, 128, 151936, 0, 0, 0, 0, 0, 0, 0, 0, TIED | QK_NORM},
    {"qwen3-4b", 36, 2560, 9728, 32, 8, 128, 151936, 0, 0, 0, 0, 0, 0, 0, 0, TIED | QK_NORM},
    {"qwen3-8b", 36, 4096, 12288, 32, 8, 128, 151936, 0, 0, 0, 0, 0, 0, 0, 0, QK_NORM},
    {"qwen3-14b", 40, 5120, 17408, 40, 8, 128, 151936, 0, 0, 0, 0, 0, 0, 0, 0, QK_NORM},
    {"qwen3-32b", 64, 5120, 25600, 64, 8, 128, 151936, 0, 0, 0, 0, 0, 0, 0, 0, QK_NORM},
    {"qwen3-30b-a3b", 48, 2048, 6144, 32, 4, 128, 151936, 128, 8, 768, 0, 0, 1, 0, 0, QK_NORM},
    {"qwen3-235b-a22b", 94, 4096, 12288, 64, 4, 128, 151936, 128, 8, 1536, 0, 0, 1, 0, 0, QK_NORM},
    {"qwen2-7b", 28, 3584, 18944, 28, 4, 128, 152064, 0, 0, 0, 0, 0, 0, 0, 0, QKV_BIAS},
    {"qwen2-72b", 80, 8192, 29568, 64, 8, 128, 152064, 0, 0, 0, 0, 0, 0, 0, 0, QKV_BIAS},
    {"qwen2.5-7b", 28, 3584, 18944, 28, 4, 128, 152064, 0, 0, 0, 0, 0, 0, 0, 0, QKV_BIAS},
    {"qwen2.5-72b", 80, 8192, 29568, 64, 8, 128, 152064, 0, 0, 0, 0, 0, 0, 0, 0, QKV_BIAS},
    {"gpt-oss-20b", 24, 2880, 2880, 64, 8, 64, 201088, 32, 4, 2880, 0, 0, 1, 0, 0, QKV_BIAS},
    {"gpt-oss-120b", 36, 2880, 2880, 64, 8, 64, 201088, 128, 4, 2880, 0, 0, 1, 0, 0, QKV_BIAS},
    {"mistral-7b", 32, 4096, 14336, 32, 8, 128, 32000, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"mixtral-8x7b", 32, 4096, 14336, 32, 8, 128, 32000, 8, 2, 14336, 0, 0, 1, 0, 0, 0},
    {"mixtral-8x22b", 56, 6144, 16384, 48, 8, 128, 32768, 8, 2, 16384, 0, 0, 1, 0, 0, 0},
    {"gpt3-175b", 96, 12288, 49152, 96, 96, 128, 51200, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"opt-125m", 12, 768, 3072, 12, 12, 64, 50272, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"opt-350m", 24, 1024, 4096, 16, 16, 64, 50272, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"opt-1.3b", 24, 2048, 8192, 32, 32, 64, 50272, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"opt-2.7b", 32, 2560, 10240, 32, 32, 80, 50272, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"opt-6.7b", 32, 4096, 16384, 32, 32, 128, 50272, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"opt-13b", 40, 5120, 20480, 40, 40, 128, 50272, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"opt-30b", 48, 7168, 28672, 56, 56, 128, 50272, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"opt-66b", 64, 9216, 36864, 72, 72, 128, 50272, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"opt-175b", 96, 12288, 49152, 96, 96, 128, 50272, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"bloom-560m", 24, 1024, 4096, 16, 16, 64, 250880, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"bloom-1b1", 24, 1536, 6144, 16, 16, 96, 250880, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"bloom-1b7", 24, 2048, 8192, 16, 16, 128, 250880, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"bloom-3b", 30, 2560, 10240, 32, 32, 80, 250880, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"bloom-7b1", 30, 4096, 16384, 32, 32, 128, 250880, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
    {"bloom", 70, 14336, 57344, 112, 112, 128, 250880, 0, 0, 0, 0, 0, 0, 0, 0, OLD | TIED},
};

/* Other names of the same, by how they begin. */
static const struct {
    const char *from, *to;
} aliases[] = {{"metallama31", "llama3"},
               {"metallama3", "llama3"},
               {"llama33", "llama3"},
               {"llama31", "llama3"},
               {"moonlight16b", "deepseekv316b"}};

/* The letters and digits of text, in lower case. */
static void plain(const char *text, char out[96]) {
    size_t length = 0;
    for (; *text && length < 95; text++)
        if (isalnum((unsigned char)*text)) out[length++] = (char)tolower((unsigned char)*text);
    out[length] = 0;
}

int launch_shape(struct kerf_launch_model *m, const char *name) {
    char wanted[96], known[96], other[192];
    const char *slash = strrchr(name, '/');
    plain(slash && slash[1] ? slash + 1 : name, wanted);
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        size_t length = strlen(aliases[i].from);
        if (strncmp(wanted, aliases[i].from, length) != 0) continue;
        strcpy(other, aliases[i].to);
        strcat(other, wanted + length);
        other[95] = 0;
        strcpy(wanted, other);
        break;
    }
    const struct shape *best = NULL;
    size_t best_length = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        plain(shapes[i].name, known);
        size_t length = strlen(known);
        if (length <= best_length || strncmp(wanted, known, length) != 0) continue;
        /* "opt-1.3b" is not "opt-13b", nor "8b" of "8bit": what follows is a new word */
        if (isdigit((unsigned char)known[length - 1]) && isdigit((unsigned char)wanted[length])) continue;
        best = &shapes[i], best_length = length;
    }
    if (best == NULL) return 0;
    m->num_hidden_layers = best->layers;
    m->hidden_size = best->hidden;
    m->intermediate_size = best->ffn;
    m->num_attention_heads = best->heads;
    m->num_key_value_heads = best->kv_heads;
    m->head_dim = best->head_dim;
    m->vocab_size = best->vocab;
    m->num_experts = best->experts;
    m->num_experts_per_tok = best->top_k;
    m->moe_intermediate_size = best->expert_ffn;
    m->shared_expert_intermediate_size = best->shared;
    m->first_dense_layers = best->dense;
    m->expert_layer_step = best->experts ? best->step : 0;
    if (best->kv_rank) {
        m->q_lora_rank = best->q_rank;
        m->kv_lora_rank = best->kv_rank;
        m->qk_nope_head_dim = m->v_head_dim = 128;
        m->qk_rope_head_dim = 64;
    }
    int is_old = (best->flags & OLD) != 0;
    m->is_gated = m->is_rms_norm = (int8_t)!is_old;
    m->has_linear_bias = m->has_learned_positions = (int8_t)is_old;
    if (is_old && strncmp(best->name, "bloom", 5) == 0) m->has_learned_positions = 0; /* ALiBi */
    m->has_qkv_bias = (int8_t)(is_old || best->flags & QKV_BIAS);
    m->has_qk_norm = (best->flags & QK_NORM) != 0;
    m->is_tied = (best->flags & TIED) != 0;
    return 1;
}
