/* SPDX-License-Identifier: Apache-2.0 */
/* Which family a file belongs to, and what kerf cannot price. */
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "spec/families/family.h"

static const struct family *const tables[] = {llama_families, gpt_families, gemma_families, mixture_families,
                                              latent_families};
enum { TABLES = sizeof tables / sizeof *tables };

static int holds(const char *const *names, size_t size, const char *name) {
    for (size_t i = 0; name && i < size && names[i]; i++)
        if (strcmp(names[i], name) == 0) return 1;
    return 0;
}

const struct family *family_find(const char *type, const char *architecture) {
    for (size_t t = 0; type && t < TABLES; t++)
        for (const struct family *family = tables[t]; family->types[0]; family++)
            if (holds(family->types, sizeof family->types / sizeof *family->types, type)) return family;
    if (type && strcmp(type, plain_family.types[0]) == 0) return &plain_family;
    for (size_t t = 0; architecture && t < TABLES; t++)
        for (const struct family *family = tables[t]; family->types[0]; family++)
            if (holds(family->architectures, sizeof family->architectures / sizeof *family->architectures,
                      architecture))
                return family;
    return type || architecture ? NULL : &plain_family;
}

const struct family *family_of_architecture(const char *architecture) {
    return architecture ? family_find(NULL, architecture) : NULL;
}

const struct family *family_of_type(const char *type) { return type ? family_find(type, NULL) : NULL; }

const char *family_nearest(const char *type) {
    const char *names[256];
    size_t count = 0;
    for (size_t t = 0; t < TABLES; t++)
        for (const struct family *family = tables[t]; family->types[0]; family++)
            for (size_t i = 0; i < sizeof family->types / sizeof *family->types && family->types[i]; i++)
                if (count < sizeof names / sizeof *names) names[count++] = family->types[i];
    return nearest_name(type, names, count);
}

/* ---- What is lacking ---------------------------------------------------------------------------------- */

/* A word in the name of a model_type or an architecture, in lower case, and what its layers need. The first that
 * fits counts. */
static const struct {
    const char *word, *lacks;
} lacking[] = {
    {"mamba", "state-space (Mamba) layers"},
    {"jamba", "state-space (Mamba) layers"},
    {"zamba", "state-space (Mamba) layers"},
    {"bamba", "state-space (Mamba) layers"},
    {"nemotronh", "state-space (Mamba) layers"},
    {"nemotron_h", "state-space (Mamba) layers"},
    {"falcon_h1", "state-space (Mamba) layers"},
    {"granitemoehybrid", "state-space (Mamba) layers"},
    {"plamo2", "state-space (Mamba) layers"},
    {"rwkv", "linear attention (RWKV)"},
    {"retnet", "linear attention (retention)"},
    {"recurrent", "linear recurrences"},
    {"qwen3_next", "linear attention (gated delta nets)"},
    {"qwen3next", "linear attention (gated delta nets)"},
    {"qwen3_5", "linear attention (gated delta nets)"},
    {"kimi_linear", "linear attention (Kimi delta attention)"},
    {"minimax_text", "linear attention (lightning attention)"},
    {"minimaxtext", "linear attention (lightning attention)"},
    {"minimax_m1", "linear attention (lightning attention)"},
    {"bailing_moe_linear", "linear attention"},
    {"lfm2", "convolutional layers"},
    {"deepseek_v32", "sparse attention with an indexer"},
    {"deepseekv32", "sparse attention with an indexer"},
    {"deepseek_v4", "sparse attention with an indexer"},
    {"glm_moe_dsa", "sparse attention with an indexer"},
    {"minimax_m3", "sparse attention with an indexer"},
    {"nemotron-nas", "layers that differ one by one (block_configs)"},
    {"decilm", "layers that differ one by one (block_configs)"},
    {"openelm", "layers that differ one by one"},
    {"gemma3n", "per-layer embeddings and shared key-value caches"},
    {"t5", "an encoder beside the decoder"},
    {"bart", "an encoder beside the decoder"},
    {"pegasus", "an encoder beside the decoder"},
    {"marian", "an encoder beside the decoder"},
    {"whisper", "an encoder beside the decoder"},
    {"m2m", "an encoder beside the decoder"},
    {"nllb", "an encoder beside the decoder"},
    {"prophetnet", "an encoder beside the decoder"},
    {"bert", "an encoder, not a decoder"},
    {"electra", "an encoder, not a decoder"},
    {"clip", "an encoder, not a decoder"},
    {"vit", "an encoder, not a decoder"},
};

static int has_word(const char *name, const char *word) {
    char lower[64];
    size_t n = 0;
    for (; name && name[n] && n < sizeof lower - 1; n++)
        lower[n] = name[n] >= 'A' && name[n] <= 'Z' ? (char)(name[n] - 'A' + 'a') : name[n];
    lower[n] = 0;
    return strstr(lower, word) != NULL;
}

const char *family_lacking(const char *type, const char *architecture) {
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++)
        if (has_word(type, lacking[i].word) || has_word(architecture, lacking[i].word)) return lacking[i].lacks;
    return NULL;
}
