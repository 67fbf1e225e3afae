/* SPDX-License-Identifier: Apache-2.0 */
#include "llama/gguf_tensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS_MOST = 4, NAME_MOST = 255 };

static const struct kerf_gguf_type *type_of(uint32_t id) {
    const struct kerf_gguf_type *type;
    for (size_t i = 0; (type = kerf_gguf_type_at(i)) != NULL; i++)
        if ((uint32_t)type->id == id) return type;
    return NULL;
}

static void read_shape(struct gguf_cursor *cursor, struct gguf_tensor *tensor, int64_t *ret_row) {
    int64_t at = cursor->at;
    uint32_t dims = gguf_u32(cursor);
    if (dims > DIMS_MOST) gguf_fail(cursor, at, KERF_ESYNTAX, "%.100s has %" PRIu32 " dimensions", tensor->name, dims);
    tensor->parameters = 1;
    *ret_row = 1;
    for (uint32_t d = 0; d < dims && cursor->code == KERF_OK; d++) {
        at = cursor->at;
        uint64_t n = gguf_u64(cursor);
        if (n > INT64_MAX || __builtin_mul_overflow(tensor->parameters, (int64_t)n, &tensor->parameters) ||
            tensor->parameters > INT64_MAX / 8) /* in bytes, F64 is 8 */
            gguf_fail(cursor, at, KERF_ESYNTAX, "%.100s has more weights than can be", tensor->name);
        else if (d == 0)
            *ret_row = (int64_t)n;
    }
}

static void read_tensor(struct gguf_cursor *cursor, struct arena *arena, int64_t alignment,
                        struct gguf_tensor *tensor) {
    int64_t row = 1;
    tensor->at = cursor->at;
    tensor->name = gguf_name(cursor, arena, NAME_MOST, "a tensor's name");
    if (cursor->code != KERF_OK) return;
    read_shape(cursor, tensor, &row);
    tensor->type = gguf_u32(cursor);
    int64_t at = cursor->at;
    uint64_t offset = gguf_u64(cursor);
    const struct kerf_gguf_type *type = type_of(tensor->type);
    if (cursor->code != KERF_OK) return;
    if (type && row % type->block != 0)
        gguf_fail(cursor, tensor->at, KERF_ESYNTAX, "%.100s: rows of %" PRId64 " are no blocks of %s", tensor->name,
                  row, type->name);
    if (offset > (uint64_t)cursor->size || offset % (uint64_t)alignment != 0)
        gguf_fail(cursor, at, KERF_ESYNTAX, "%.100s begins at %" PRIu64 ", %s", tensor->name, offset,
                  offset > (uint64_t)cursor->size ? "behind the end of the file (was it copied to its end?)"
                                                  : "which is not aligned");
    tensor->offset = cursor->code == KERF_OK ? (int64_t)offset : 0;
    tensor->bytes = type ? tensor->parameters / type->block * type->block_bytes : -1;
}

static int by_offset(const void *a, const void *b) {
    const struct gguf_tensor *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Each has to end before the next begins. What is not known reaches up to there. */
static void check_places(struct gguf_cursor *cursor, struct gguf_tensors *list, int64_t room) {
    for (int64_t i = 0; i < list->count && cursor->code == KERF_OK; i++) {
        struct gguf_tensor *tensor = &list->tensors[i];
        int last = i + 1 == list->count;
        int64_t end = last ? room : list->tensors[i + 1].offset;
        if (tensor->bytes < 0 && end >= tensor->offset) tensor->bytes = end - tensor->offset;
        if (tensor->bytes >= 0 && tensor->bytes <= end - tensor->offset) continue;
        if (last)
            gguf_fail(cursor, tensor->at, KERF_ESYNTAX,
                      "%.100s ends behind the end of the file (was it copied to its end?)", tensor->name);
        else
            gguf_fail(cursor, tensor->at, KERF_ESYNTAX, "%.100s reaches into %.100s", tensor->name,
                      list->tensors[i + 1].name);
    }
}

void gguf_tensors_read(struct gguf_cursor *cursor, struct arena *arena, int64_t count, int64_t alignment,
                       struct gguf_tensors *ret_tensors) {
    struct gguf_tensors list = {.tensors = arena_alloc(arena, (size_t)count + 1, sizeof *list.tensors), .count = count};
    *ret_tensors = (struct gguf_tensors){0};
    if (list.tensors == NULL) return gguf_fail(cursor, -1, KERF_ENOMEM, "not enough memory");
    for (int64_t i = 0; i < count && cursor->code == KERF_OK; i++)
        read_tensor(cursor, arena, alignment, &list.tensors[i]);
    if (cursor->code != KERF_OK) return;
    qsort(list.tensors, (size_t)count, sizeof *list.tensors, by_offset);
    int64_t begin = (cursor->at + alignment - 1) / alignment * alignment;
    check_places(cursor, &list, begin < cursor->size ? cursor->size - begin : 0);
    if (cursor->code == KERF_OK) *ret_tensors = list;
}

/* ---- Sums ------------------------------------------------------------------------------------------------- */

/* Weights of a type that is not known may be more than any file holds. */
static void add(int64_t *sum, int64_t more) {
    if (__builtin_add_overflow(*sum, more, sum)) *sum = INT64_MAX;
}

static void add_share(struct kerf_gguf *gguf, struct kerf_gguf_share *shares, const struct gguf_tensor *tensor) {
    const struct kerf_gguf_type *type = type_of(tensor->type);
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

/* The layer of "blk.12.attn_q.weight", or -1. */
static int64_t layer_of(const char *name) {
    char *end;
    if (strncmp(name, "blk.", 4) != 0 || name[4] < '0' || name[4] > '9') return -1;
    int64_t layer = strtoll(name + 4, &end, 10);
    return *end == '.' ? layer : -1;
}

void gguf_tensors_add(const struct gguf_tensors *list, struct kerf_gguf *gguf, struct kerf_gguf_layer *layers,
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
