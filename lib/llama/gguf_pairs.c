/* SPDX-License-Identifier: Apache-2.0 */
#include "llama/gguf_pairs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* enum gguf_type: values' sizes; 0 where it is not that of one number. */
enum { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64, KINDS };
static const int32_t sizes[KINDS] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* Lists up to here are kept: llama.cpp has at most 512 layers. */
enum { LIST_MOST = 1024, KEY_MOST = 65535 };

static int is_whole(uint32_t kind) { return kind != F32 && kind != F64 && kind < KINDS && sizes[kind] > 0; }

static int64_t read_number(struct gguf_cursor *cursor, uint32_t kind) {
    unsigned char b[8] = {0};
    gguf_bytes(cursor, b, (size_t)sizes[kind]);
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | b[i];
    switch (kind) {
    case I8: return (int8_t)value;
    case I16: return (int16_t)value;
    case I32: return (int32_t)value;
    case U64: return value > INT64_MAX ? INT64_MAX : (int64_t)value;
    default: return (int64_t)value;
    }
}

static void read_numbers(struct gguf_cursor *cursor, struct arena *arena, uint32_t kind, int64_t count,
                         struct gguf_pair *pair) {
    int64_t *numbers = arena_take(arena, (size_t)count + 1, sizeof *numbers);
    if (numbers == NULL) return gguf_fail(cursor, -1, KERF_ENOMEM, "not enough memory");
    for (int64_t i = 0; i < count; i++) numbers[i] = read_number(cursor, kind);
    pair->numbers = numbers;
    pair->num_numbers = count;
}

static void read_list(struct gguf_cursor *cursor, struct arena *arena, struct gguf_pair *pair) {
    int64_t at = cursor->at;
    uint32_t kind = gguf_u32(cursor);
    if (kind >= KINDS || kind == ARRAY)
        return gguf_fail(cursor, at, KERF_ESYNTAX, "%.100s: a list of values of kind %" PRIu32, pair->key, kind);
    pair->count = gguf_count(cursor, kind == STRING ? 8 : sizes[kind], "values of a list");
    if (kind == STRING)
        for (int64_t i = 0; i < pair->count && cursor->code == KERF_OK; i++) gguf_skip_text(cursor);
    else if (is_whole(kind) && pair->count <= LIST_MOST)
        read_numbers(cursor, arena, kind, pair->count, pair);
    else
        gguf_skip(cursor, pair->count * sizes[kind]);
}

static void read_value(struct gguf_cursor *cursor, struct arena *arena, struct gguf_pair *pair) {
    int64_t at = cursor->at;
    uint32_t kind = gguf_u32(cursor);
    pair->at = cursor->at;
    if (kind >= KINDS)
        gguf_fail(cursor, at, KERF_ESYNTAX, "%.100s: a value of kind %" PRIu32, pair->key, kind);
    else if (kind == ARRAY)
        read_list(cursor, arena, pair);
    else if (kind == STRING)
        pair->text = gguf_text(cursor, arena);
    else if (is_whole(kind))
        read_numbers(cursor, arena, kind, 1, pair);
    else
        gguf_skip(cursor, sizes[kind]);
}

static int by_key(const void *a, const void *b) {
    return strcmp(((const struct gguf_pair *)a)->key, ((const struct gguf_pair *)b)->key);
}

/* Of two with one key the later one comes second, and is the one at fault. */
static int by_key_and_place(const void *a, const void *b) {
    const struct gguf_pair *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

void gguf_pairs_read(struct gguf_cursor *cursor, struct arena *arena, int64_t count, struct gguf_pairs *ret_pairs) {
    struct gguf_pair *pairs = arena_alloc(arena, (size_t)count + 1, sizeof *pairs);
    *ret_pairs = (struct gguf_pairs){.pairs = pairs};
    if (pairs == NULL) return gguf_fail(cursor, -1, KERF_ENOMEM, "not enough memory");
    for (int64_t i = 0; i < count && cursor->code == KERF_OK; i++) {
        pairs[i].key = gguf_name(cursor, arena, KEY_MOST, "a key");
        if (cursor->code == KERF_OK) read_value(cursor, arena, &pairs[i]);
    }
    if (cursor->code != KERF_OK) return;
    qsort(pairs, (size_t)count, sizeof *pairs, by_key_and_place);
    for (int64_t i = 1; i < count; i++)
        if (strcmp(pairs[i - 1].key, pairs[i].key) == 0)
            return gguf_fail(cursor, pairs[i].at, KERF_ESYNTAX, "%.100s stands there twice", pairs[i].key);
    ret_pairs->count = count;
    const char *architecture = gguf_word(ret_pairs, "general.architecture");
    ret_pairs->architecture = architecture ? architecture : "";
}

const struct gguf_pair *gguf_pair_find(const struct gguf_pairs *pairs, const char *key) {
    char full[256];
    snprintf(full, sizeof full, "%s%s", key[0] == '.' ? pairs->architecture : "", key);
    struct gguf_pair wanted = {.key = full};
    return pairs->count ? bsearch(&wanted, pairs->pairs, (size_t)pairs->count, sizeof wanted, by_key) : NULL;
}

static int64_t checked(struct gguf_cursor *cursor, const struct gguf_pair *pair, int64_t index, int64_t most) {
    if (index >= pair->num_numbers)
        gguf_fail(cursor, pair->at, KERF_ESYNTAX, "%.100s is %s", pair->key,
                  pair->count ? "a list too short for the layers" : "no whole number");
    else if (pair->numbers[index] < 0 || pair->numbers[index] > most)
        gguf_fail(cursor, pair->at, KERF_ESYNTAX, "%.100s is %" PRId64, pair->key, pair->numbers[index]);
    return cursor->code == KERF_OK ? pair->numbers[index] : 0;
}

int64_t gguf_number(struct gguf_cursor *cursor, const struct gguf_pairs *pairs, const char *key, int64_t most,
                    int64_t missing) {
    const struct gguf_pair *pair = gguf_pair_find(pairs, key);
    return pair ? checked(cursor, pair, 0, most) : missing;
}

int64_t gguf_layer_number(struct gguf_cursor *cursor, const struct gguf_pairs *pairs, const char *key, int64_t layer,
                          int64_t most, int64_t missing) {
    const struct gguf_pair *pair = gguf_pair_find(pairs, key);
    return pair ? checked(cursor, pair, pair->count ? layer : 0, most) : missing;
}

const char *gguf_word(const struct gguf_pairs *pairs, const char *key) {
    const struct gguf_pair *pair = gguf_pair_find(pairs, key);
    return pair ? pair->text : NULL;
}
