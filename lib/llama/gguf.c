/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a GGUF file: header, key-value pairs, descriptions of tensors; the weights are left where they are. Time and
 * memory are linear in what is read, and every count is checked against what is left of the file before it is believed.
 */
#include "kerf/gguf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "llama/gguf_layers.h"
#include "llama/gguf_tensors.h"

enum { PAIR_LEAST = 8 + 4 + 1, TENSOR_LEAST = 8 + 4 + 4 + 8, FILES_MOST = 65535 };

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
        return gguf_fail(&part->cursor, 0, KERF_ESYNTAX, "not a GGUF file, which begins with the letters GGUF");
    uint32_t version = gguf_u32(&part->cursor);
    if (part->cursor.code != KERF_OK) return;
    part->version = (int32_t)version;
    if (version != 0 && version % 65536 == 0)
        gguf_fail(&part->cursor, 4, KERF_EUNSUPPORTED, "a big-endian GGUF file; it is for another kind of machine");
    else if (version == 1)
        gguf_fail(&part->cursor, 4, KERF_EUNSUPPORTED, "GGUF version 1, of August 2023; llama.cpp reads 2 and 3");
    else if (version < 2 || version > 3)
        gguf_fail(&part->cursor, 4, KERF_EUNSUPPORTED, "GGUF version %" PRIu32 "; 2 and 3 are known", version);
}

static void read_head(struct part *part, struct arena *arena, const char *path) {
    gguf_open(&part->cursor, path);
    read_version(part);
    part->num_tensors = gguf_count(&part->cursor, TENSOR_LEAST, "tensors");
    int64_t num_pairs = gguf_count(&part->cursor, PAIR_LEAST, "key-value pairs");
    gguf_pairs_read(&part->cursor, arena, num_pairs, &part->pairs);
}

static void read_tensors(struct part *part, struct arena *arena, struct gguf_tensors *ret_tensors) {
    int64_t alignment = gguf_number(&part->cursor, &part->pairs, "general.alignment", 1 << 30, 32);
    *ret_tensors = (struct gguf_tensors){0};
    if (part->cursor.code != KERF_OK) return;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return gguf_fail(&part->cursor, -1, KERF_ESYNTAX, "general.alignment is %" PRId64 ", no power of two",
                         alignment);
    gguf_tensors_read(&part->cursor, arena, part->num_tensors, alignment, ret_tensors);
}

/* ---- Files of a split model ------------------------------------------------------------------------------- */

/* "model-00002-of-00005.gguf" of index 1 of 5. */
static void split_suffix(char *suffix, size_t size, int64_t index, int64_t files) {
    snprintf(suffix, size, "-%05" PRId64 "-of-%05" PRId64 ".gguf", index + 1, files);
}

/* The path of another file of the model, NULL where this file is not named as one of a split model. */
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
    gguf_tensors_add(&tensors, gguf, layers, shares, has_output);
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
        return gguf_fail(&first->cursor, -1, KERF_ESYNTAX, "no general.architecture: a GGUF file, but of no model");
    copy_word(gguf->architecture, sizeof gguf->architecture, pairs->architecture);
    copy_word(gguf->name, sizeof gguf->name, gguf_word(pairs, "general.name"));
    gguf->version = first->version;
    gguf->file_type = gguf_number(&first->cursor, pairs, "general.file_type", INT32_MAX, -1);
    gguf_sizes_read(&first->cursor, arena, pairs, gguf, layers);
}

/* Reads the model whose first file is `first`; the fault of whichever file had one ends up in it. */
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
    gguf->tied = !has_output && gguf->embedding_bytes > 0;
    name_precision(gguf, shares);
    qsort(shares, (size_t)gguf->num_types, sizeof *shares, by_bytes);
}

/* Of a split model any file may be named; the first one has the key-value pairs. */
static void read_from(struct part *part, struct arena *arena, const char *path, struct kerf_gguf *gguf) {
    read_head(part, arena, path);
    int64_t files = gguf_number(&part->cursor, &part->pairs, "split.count", FILES_MOST, 1);
    int64_t index = gguf_number(&part->cursor, &part->pairs, "split.no", FILES_MOST, 0);
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
        return kerf_error_set(err, KERF_ENOMEM, "not enough memory");
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
