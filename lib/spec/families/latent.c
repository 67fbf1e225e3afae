/* SPDX-License-Identifier: Apache-2.0 */
/* DeepSeek's multi-latent attention, and those who took it over. */
#include "spec/families/family.h"

#include <string.h>

/* DeepSeek V3 corrects the router's scores where topk_method is noaux_tc, as it is by default. */
static void v3_scores(struct reading *reading) {
    const char *method = config_string(reading->config, "topk_method", "noaux_tc");
    reading->layer.mlp.router_bias = reading->layer.mlp.experts > 0 && strcmp(method, "noaux_tc") == 0;
}

#define DEEPSEEK_LATENT(q_rank)                                                                                        \
    { q_rank, 512, 128, 64, 128 }
#define DEEPSEEK_EXPERTS(shared_experts, dense_layers)                                                                 \
    {                                                                                                                  \
        .are = EXPERTS_REQUIRED, .width = "moe_intermediate_size", .shared_count = "n_shared_experts",                 \
        .shared = (shared_experts), .dense_first = "first_k_dense_replace", .dense = (dense_layers),                   \
        .every = "moe_layer_freq"                                                                                      \
    }

const struct family latent_families[] = {
    {.types = {"deepseek_v2"},
     .architectures = {"DeepseekV2ForCausalLM"},
     .latent = DEEPSEEK_LATENT(0), /* V2 says its 1536; a file without is V2-Lite's, whose null was left out */
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .experts = DEEPSEEK_EXPERTS(2, 0)},
    {.types = {"deepseek_v3", "kimi_k2"},
     .architectures = {"DeepseekV3ForCausalLM", "KimiK2ForCausalLM"},
     .latent = DEEPSEEK_LATENT(1536),
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .mtp_key = "num_nextn_predict_layers",
     .experts = DEEPSEEK_EXPERTS(1, 3),
     .adjust = v3_scores},
    {.types = {"glm4_moe_lite"},
     .architectures = {"Glm4MoeLiteForCausalLM"},
     .latent = {768, 512, 192, 64, 256},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .mtp_key = "num_nextn_predict_layers",
     .experts = DEEPSEEK_EXPERTS(1, 1),
     .adjust = v3_scores},
    {.types = {"minicpm3"},
     .architectures = {"MiniCPM3ForCausalLM"},
     .latent = {768, 256, 64, 32, 0},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .is_tied = 1},
    {.types = {NULL}},
};
