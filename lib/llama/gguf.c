/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model from its GGUF files: header, key-value pairs, descriptions of tensors and their sums; the weights are not
 * read. Time and memory are linear in what is read. Every count is checked against the rest of the file before it is
 * used.
 */
#include "kerf/gguf.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/characters.h"
#include "base/error_fill.h"
#include "llama/gguf_reader.h"

enum { PAIR_MIN_BYTES = 8 + 4 + 1, TENSOR_MIN_BYTES = 8 + 4 + 4 + 8, FILES_MAX = 65535 };

struct memory {
    struct arena arena;
};

/* One file of a model. */
struct part {
    struct gguf_cursor cursor;
    int64_t num_tensors;
    int32_t version;
    struct gguf_pairs pairs;
};

/* ---- One file --------------------------------------------------------------------------------------------- */

static void read_version(struct part *part) {
    char magic[4];
    gguf_bytes(&part->cursor, magic, sizeof magic);
    if (part->cursor.code == KERF_OK && memcmp(magic, "GGUF", 4) != 0)
        return gguf_fail(&part->cursor, 0, KERF_ESYNTAX, "not a GGUF file: it does not begin with the letters GGUF");
    uint32_t version = gguf_u32(&part->cursor);
    if (part->cursor.code != KERF_OK) return;
    part->version = (int32_t)version;
    if (version != 0 && version % 65536 == 0)
        gguf_fail(&part->cursor, 4, KERF_EUNSUPPORTED, "a big-endian GGUF file; only little-endian ones are read");
    else if (version == 1)
        gguf_fail(&part->cursor, 4, KERF_EUNSUPPORTED,
                  "GGUF version 1, of August 2023; kerf and llama.cpp read versions 2 and 3");
    else if (version < 2 || version > 3)
        gguf_fail(&part->cursor, 4, KERF_EUNSUPPORTED, "GGUF version %" PRIu32 "; kerf reads versions 2 and 3",
                  version);
}

static void read_head(struct part *part, struct arena *arena, const char *path) {
    gguf_open(&part->cursor, path);
    read_version(part);
    part->num_tensors = gguf_count(&part->cursor, TENSOR_MIN_BYTES, "tensors");
    int64_t num_pairs = gguf_count(&part->cursor, PAIR_MIN_BYTES, "key-value pairs");
    gguf_pairs_read(&part->cursor, arena, num_pairs, &part->pairs);
}

static void read_tensors(struct part *part, struct arena *arena, struct gguf_tensors *ret_tensors) {
    int64_t alignment = gguf_number(&part->cursor, &part->pairs, "general.alignment", 1 << 30, 32);
    *ret_tensors = (struct gguf_tensors){0};
    if (part->cursor.code != KERF_OK) return;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return gguf_fail(&part->cursor, -1, KERF_ESYNTAX, "general.alignment is %" PRId64 ", not a power of two",
                         alignment);
    gguf_tensors_read(&part->cursor, arena, part->num_tensors, alignment, ret_tensors);
}

/* Of how many types there may be shares: ggml has 43; types that are not known count as one. */
enum { GGUF_SHARES = 64 };

/* ---- Sums over tensors ------------------------------------------------------------------------------------ */

/* The number of weights of a type that is not known is not checked against the file's size, and may be anything. */
static void add(int64_t *sum, int64_t more) {
    if (__builtin_add_overflow(*sum, more, sum)) *sum = INT64_MAX;
}

static void add_share(struct kerf_gguf *gguf, struct kerf_gguf_share *shares, const struct gguf_tensor *tensor) {
    const struct kerf_gguf_type *type = gguf_type_of(tensor->type);
    int32_t i = 0;
    while (i < gguf->num_types && (uint32_t)shares[i].type != tensor->type && i + 1 < GGUF_SHARES) i++;
    struct kerf_gguf_share *share = &shares[i];
    if (i == gguf->num_types) {
        gguf->num_types++;
        share->type = (int32_t)tensor->type;
        if (i + 1 == GGUF_SHARES)
            snprintf(share->name, sizeof share->name, "other types");
        else if (type)
            snprintf(share->name, sizeof share->name, "%s", type->name);
        else
            snprintf(share->name, sizeof share->name, "type %" PRIu32, tensor->type);
    }
    share->tensors++;
    add(&share->parameters, tensor->parameters);
    share->bytes += tensor->bytes;
}

/* 12 of "blk.12.attn_q.weight"; -1: it is not a layer's. */
static int64_t layer_of(const char *name) {
    char *end;
    if (strncmp(name, "blk.", 4) != 0 || name[4] < '0' || name[4] > '9') return -1;
    int64_t layer = strtoll(name + 4, &end, 10);
    return *end == '.' ? layer : -1;
}

static void add_tensors(const struct gguf_tensors *list, struct kerf_gguf *gguf, struct kerf_gguf_layer *layers,
                        struct kerf_gguf_share *shares, int32_t *has_output) {
    for (int64_t i = 0; i < list->count; i++) {
        const struct gguf_tensor *tensor = &list->tensors[i];
        int64_t layer = layer_of(tensor->name);
        if (layer >= 0 && layer < gguf->block_count) layers[layer].bytes += tensor->bytes;
        if (strncmp(tensor->name, "token_embd.", 11) == 0) gguf->embedding_bytes += tensor->bytes;
        if (strncmp(tensor->name, "output", 6) == 0) gguf->output_bytes += tensor->bytes;
        *has_output |= strcmp(tensor->name, "output.weight") == 0;
        gguf->tensor_bytes += tensor->bytes;
        add(&gguf->parameters, tensor->parameters);
        add_share(gguf, shares, tensor);
    }
    gguf->tensors += list->count;
}

/* ---- Files of a split model ------------------------------------------------------------------------------- */

/* "model-00002-of-00005.gguf" of index 1 of 5. */
static void split_suffix(char *suffix, size_t size, int64_t index, int64_t files) {
    snprintf(suffix, size, "-%05" PRId64 "-of-%05" PRId64 ".gguf", index + 1, files);
}

/* The path of another file of the model; NULL where this file's name is not that of one of a split model. */
static const char *split_path(struct part *part, struct arena *arena, int64_t index, int64_t files, int64_t wanted) {
    char suffix[64], other[64];
    size_t length = strlen(part->cursor.path);
    split_suffix(suffix, sizeof suffix, index, files);
    split_suffix(other, sizeof other, wanted, files);
    if (length < strlen(suffix) || strcmp(part->cursor.path + length - strlen(suffix), suffix) != 0) {
        gguf_fail(&part->cursor, -1, KERF_EIO,
                  "it is file %" PRId64 " of %" PRId64 " of a split model, and its name does not end in %s", index + 1,
                  files, suffix);
        return NULL;
    }
    return arena_printf(arena, "%.*s%s", (int)(length - strlen(suffix)), part->cursor.path, other);
}

static void add_part(struct kerf_gguf *gguf, struct part *part, struct arena *arena, struct kerf_gguf_layer *layers,
                     struct kerf_gguf_share *shares, int32_t *has_output) {
    struct gguf_tensors tensors;
    read_tensors(part, arena, &tensors);
    if (part->cursor.code != KERF_OK) return;
    add_tensors(&tensors, gguf, layers, shares, has_output);
    gguf->file_bytes += part->cursor.size;
}

/* ---- The model -------------------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b) {
    const struct kerf_gguf_share *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return (x->type > y->type) - (x->type < y->type);
}

static void name_precision(struct kerf_gguf *gguf, const struct kerf_gguf_share *shares) {
    const struct kerf_gguf_share *most = NULL;
    for (int32_t i = 0; i < gguf->num_types; i++)
        if (most == NULL || shares[i].parameters > most->parameters) most = &shares[i];
    snprintf(gguf->precision, sizeof gguf->precision, "%s", most ? most->name : "");
}

static void copy_word(char *place, size_t size, const char *word) {
    snprintf(place, size, "%s", word ? word : "");
    utf8_clean(place);
}

static void fill(struct kerf_gguf *gguf, struct part *first, struct arena *arena, struct kerf_gguf_layer **layers) {
    const struct gguf_pairs *pairs = &first->pairs;
    if (first->cursor.code != KERF_OK) return;
    if (pairs->architecture[0] == 0)
        return gguf_fail(&first->cursor, -1, KERF_ESYNTAX,
                         "general.architecture is missing: this GGUF file is not a model");
    copy_word(gguf->architecture, sizeof gguf->architecture, pairs->architecture);
    copy_word(gguf->name, sizeof gguf->name, gguf_word(pairs, "general.name"));
    gguf->version = first->version;
    gguf->file_type = gguf_number(&first->cursor, pairs, "general.file_type", INT32_MAX, -1);
    gguf_sizes_read(&first->cursor, arena, pairs, gguf, layers);
}

/* Reads the model whose first file is `first`, which also gets the failure of another file. */
static void read_model(struct part *first, struct arena *arena, int64_t files, struct kerf_gguf *gguf) {
    struct kerf_gguf_layer *layers = NULL;
    struct kerf_gguf_share *shares = arena_alloc(arena, GGUF_SHARES, sizeof *shares);
    int32_t has_output = 0;
    if (shares == NULL) return gguf_fail(&first->cursor, -1, KERF_ENOMEM, "not enough memory");
    fill(gguf, first, arena, &layers);
    if (first->cursor.code != KERF_OK) return;
    gguf->layers = layers;
    gguf->types = shares;
    gguf->files = (int32_t)files;
    gguf->path = arena_printf(arena, "%s", first->cursor.path);
    if (gguf->path == NULL) return gguf_fail(&first->cursor, -1, KERF_ENOMEM, "not enough memory");
    add_part(gguf, first, arena, layers, shares, &has_output);
    for (int64_t i = 1; i < files && first->cursor.code == KERF_OK; i++) {
        struct part part = {0};
        const char *path = split_path(first, arena, 0, files, i);
        if (path == NULL) return gguf_fail(&first->cursor, -1, KERF_ENOMEM, "not enough memory");
        read_head(&part, arena, path);
        add_part(gguf, &part, arena, layers, shares, &has_output);
        first->cursor.code = part.cursor.code;
        first->cursor.err = part.cursor.err;
        gguf_close(&part.cursor);
    }
    assert(gguf->num_types <= GGUF_SHARES);
    gguf->tied = !has_output && gguf->embedding_bytes > 0;
    name_precision(gguf, shares);
    qsort(shares, (size_t)gguf->num_types, sizeof *shares, by_bytes);
}

/* Any file of a split model may be named; the first one has the key-value pairs. */
static void read_from(struct part *part, struct arena *arena, const char *path, struct kerf_gguf *gguf) {
    read_head(part, arena, path);
    int64_t files = gguf_number(&part->cursor, &part->pairs, "split.count", FILES_MAX, 1);
    int64_t index = gguf_number(&part->cursor, &part->pairs, "split.no", FILES_MAX, 0);
    if (part->cursor.code != KERF_OK) return;
    if (files < 2) return read_model(part, arena, 1, gguf);
    if (index >= files)
        return gguf_fail(&part->cursor, -1, KERF_ESYNTAX, "it is file %" PRId64 " of %" PRId64 " of a split model",
                         index + 1, files);
    const char *first = split_path(part, arena, index, files, 0);
    if (part->cursor.code != KERF_OK) return;
    if (first == NULL) return gguf_fail(&part->cursor, -1, KERF_ENOMEM, "not enough memory");
    if (index > 0) {
        gguf_close(&part->cursor);
        *part = (struct part){0};
        read_head(part, arena, first);
    }
    read_model(part, arena, files, gguf);
}

int32_t kerf_gguf_read(const char *path, struct kerf_gguf **ret_gguf, struct kerf_error *err) {
    struct arena arena = {0};
    struct part part = {0};
    struct kerf_gguf *gguf = arena_alloc(&arena, 1, sizeof *gguf);
    struct memory *memory = arena_alloc(&arena, 1, sizeof *memory);
    if (gguf == NULL || memory == NULL) {
        arena_free(&arena);
        return error_no_memory(err, "a model");
    }
    read_from(&part, &arena, path, gguf);
    gguf_close(&part.cursor);
    if (part.cursor.code != KERF_OK) {
        if (err) *err = part.cursor.err;
        arena_free(&arena);
        return part.cursor.code;
    }
    memory->arena = arena; /* the model lives in the arena that it owns */
    gguf->memory = memory;
    *ret_gguf = gguf;
    return KERF_OK;
}

struct kerf_gguf *kerf_gguf_free(struct kerf_gguf *gguf) {
    if (gguf == NULL) return NULL;
    struct arena arena = ((struct memory *)gguf->memory)->arena;
    arena_free(&arena);
    return NULL;
}
