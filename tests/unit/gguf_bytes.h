/* SPDX-License-Identifier: Apache-2.0 */
/* GGUF files made of bytes, for tests that need what no writer would write. */
#ifndef KERF_GGUF_BYTES_H
#define KERF_GGUF_BYTES_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kerf/text.h"

struct gguf_bytes {
    struct kerf_text pairs, tensors;
    uint64_t num_pairs, num_tensors;
    uint32_t version; /* 0: 3 */
    size_t data;      /* bytes of weights */
    char *whole;      /* once written */
    size_t length;
};

static inline void put_bytes(struct kerf_text *text, const void *bytes, size_t size) {
    kerf_text_write(text, bytes, size);
}
static inline void put_u32(struct kerf_text *text, uint32_t value) { put_bytes(text, &value, sizeof value); }
static inline void put_u64(struct kerf_text *text, uint64_t value) { put_bytes(text, &value, sizeof value); }
static inline void put_string(struct kerf_text *text, const char *string) {
    put_u64(text, strlen(string));
    put_bytes(text, string, strlen(string));
}

static inline void pair_text(struct gguf_bytes *file, const char *key, const char *value) {
    put_string(&file->pairs, key);
    put_u32(&file->pairs, 8);
    put_string(&file->pairs, value);
    file->num_pairs++;
}
static inline void pair_number(struct gguf_bytes *file, const char *key, uint32_t value) {
    put_string(&file->pairs, key);
    put_u32(&file->pairs, 4);
    put_u32(&file->pairs, value);
    file->num_pairs++;
}
static inline void pair_list(struct gguf_bytes *file, const char *key, const uint32_t *values, uint64_t count) {
    put_string(&file->pairs, key);
    put_u32(&file->pairs, 9);
    put_u32(&file->pairs, 4);
    put_u64(&file->pairs, count);
    for (uint64_t i = 0; i < count; i++) put_u32(&file->pairs, values[i]);
    file->num_pairs++;
}
static inline void tensor(struct gguf_bytes *file, const char *name, uint64_t row, uint64_t rows, uint32_t type,
                          uint64_t offset) {
    put_string(&file->tensors, name);
    put_u32(&file->tensors, rows ? 2 : 1);
    put_u64(&file->tensors, row);
    if (rows) put_u64(&file->tensors, rows);
    put_u32(&file->tensors, type);
    put_u64(&file->tensors, offset);
    file->num_tensors++;
}

/* The sizes that every model has, under the architecture's keys. */
static inline void pair_sizes(struct gguf_bytes *file, const char *architecture, uint32_t layers) {
    static const struct {
        const char *key;
        uint32_t value;
    } sizes[] = {{"context_length", 8192},
                 {"embedding_length", 256},
                 {"feed_forward_length", 704},
                 {"attention.head_count", 8},
                 {"vocab_size", 1000}};
    char key[128];
    pair_text(file, "general.architecture", architecture);
    snprintf(key, sizeof key, "%s.block_count", architecture);
    pair_number(file, key, layers);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        snprintf(key, sizeof key, "%s.%s", architecture, sizes[i].key);
        pair_number(file, key, sizes[i].value);
    }
}

/* Puts the parts together; `whole` is theirs from then on. */
static inline void gguf_bytes_finish(struct gguf_bytes *file) {
    struct kerf_text all = {0};
    put_bytes(&all, "GGUF", 4);
    put_u32(&all, file->version ? file->version : 3);
    put_u64(&all, file->num_tensors);
    put_u64(&all, file->num_pairs);
    if (file->pairs.length) put_bytes(&all, file->pairs.data, file->pairs.length);
    if (file->tensors.length) put_bytes(&all, file->tensors.data, file->tensors.length);
    while (all.length % 32) put_bytes(&all, "", 1);
    for (size_t i = 0; i < file->data; i++) put_bytes(&all, "", 1);
    kerf_text_free(&file->pairs);
    kerf_text_free(&file->tensors);
    file->whole = all.data;
    file->length = all.length;
}

static inline void write_bytes(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
}

/* Finishes it and writes it there. */
static inline void gguf_bytes_write(struct gguf_bytes *file, const char *path) {
    gguf_bytes_finish(file);
    write_bytes(path, file->whole, file->length);
    free(file->whole);
    file->whole = NULL;
}

#endif
