/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a GGUF file. What can be read of it adds up, and any setting of it is estimated or refused. */
#include "invariants.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kerf/llama.h"

static void check_sums(const struct kerf_gguf *gguf, size_t size) {
    int64_t bytes = 0, tensors = 0, layers = 0;
    for (int32_t i = 0; i < gguf->num_types; i++) {
        CHECK(is_plain(gguf->types[i].name) && gguf->types[i].name[0]);
        CHECK(gguf->types[i].bytes >= 0 && gguf->types[i].parameters >= 0 && gguf->types[i].tensors > 0);
        CHECK(i == 0 || gguf->types[i - 1].bytes >= gguf->types[i].bytes);
        bytes += gguf->types[i].bytes;
        tensors += gguf->types[i].tensors;
    }
    for (int64_t i = 0; i < gguf->block_count; i++) {
        CHECK(gguf->layers[i].head_count >= 0 && gguf->layers[i].window >= 0);
        CHECK(!gguf->layers[i].keeps_kv || gguf->layers[i].head_count_kv > 0);
        layers += gguf->layers[i].bytes;
    }
    CHECK(bytes == gguf->tensor_bytes && tensors == gguf->tensors);
    CHECK(layers + gguf->embedding_bytes + gguf->output_bytes <= gguf->tensor_bytes);
    CHECK(gguf->file_bytes == (int64_t)size && gguf->tensor_bytes <= gguf->file_bytes);
    CHECK(is_plain(gguf->name) && is_plain(gguf->architecture) && gguf->architecture[0]);
    CHECK(gguf->files == 1 && gguf->parameters >= 0 && gguf->state_values >= 0);
}

static void check_memory(const struct kerf_gguf *gguf, const struct kerf_llama_setting *setting) {
    struct kerf_llama_memory m;
    struct kerf_error err;
    poison(&m, sizeof m);
    poison(&err, sizeof err);
    int32_t code = kerf_llama_memory_estimate(gguf, setting, &m, &err);
    if (code != KERF_OK) {
        check_error(code, &err, "", NULL, 0);
        CHECK(is_poisoned(&m, sizeof m));
        return;
    }
    CHECK(m.weights_host >= 0 && m.weights_device >= 0 && m.kv_host >= 0 && m.kv_device >= 0);
    CHECK(m.compute_host >= 0 && m.compute_device >= 0 && m.output_host > 0);
    CHECK(m.host >= m.weights_host && m.host >= m.kv_host && m.device >= m.weights_device && m.device >= m.kv_device);
    CHECK(m.ubatch <= m.batch && m.batch <= m.context && m.context % 256 == 0);
}

static void try_settings(const struct kerf_gguf *gguf) {
    static const char *const types[] = {NULL, "q8_0", "f32"};
    static const int64_t layers[] = {-2, -1, 0, 1, 2, 1000};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t l = 0; l < sizeof layers / sizeof *layers; l++)
            for (int32_t flash = KERF_LLAMA_ATTENTION_AUTO; flash <= KERF_LLAMA_ATTENTION_OFF; flash++) {
                struct kerf_llama_setting setting;
                kerf_llama_setting_defaults(&setting);
                setting.context = flash == KERF_LLAMA_ATTENTION_ON ? 1 << 30 : 0;
                setting.kv_type_k = setting.kv_type_v = types[t];
                setting.gpu_layers = layers[l];
                setting.flash_attention = flash;
                setting.sequences = (int64_t)t;
                check_memory(gguf, &setting);
            }
    struct kerf_bub_limits limits;
    if (kerf_bub_limits_estimate(gguf, 4096, 16e9, 0, &limits, NULL) == KERF_OK)
        CHECK(limits.max_batch >= 0 && limits.max_batch <= 4096 && limits.trials >= 0 && limits.trials <= 40);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd = memfd_create("gguf", 0);
    char path[64];
    struct kerf_gguf *gguf;
    struct kerf_error err;
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    poison(&gguf, sizeof gguf);
    poison(&err, sizeof err);
    int32_t code = kerf_gguf_read(path, &gguf, &err);
    if (code == KERF_OK) {
        check_sums(gguf, size);
        try_settings(gguf);
        CHECK(kerf_gguf_free(gguf) == NULL);
    } else {
        check_error(code, &err, path, NULL, 0);
        CHECK(is_poisoned(&gguf, sizeof gguf));
    }
    close(fd);
    return 0;
}
