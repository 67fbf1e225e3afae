/* SPDX-License-Identifier: Apache-2.0 */
#include "llama/gguf_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "base/characters.h"
#include "base/error_fill.h"
#include "base/input.h"

/* ---- Types -------------------------------------------------------------------------------------------------- */

/* Numbers and sizes are those of ggml.h and ggml-common.h; ggml has withdrawn the numbers that are missing. */
static const struct kerf_gguf_type types[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},    {41, "Q1_0", 128, 18},    {42, "Q2_0", 64, 18},
};

const struct kerf_gguf_type *kerf_gguf_type_at(size_t index) {
    return index < sizeof types / sizeof *types ? &types[index] : NULL;
}

const struct kerf_gguf_type *kerf_gguf_type_find(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcasecmp(types[i].name, name) == 0) return &types[i];
    return NULL;
}

const struct kerf_gguf_type *gguf_type_of(uint32_t id) {
    const struct kerf_gguf_type *type;
    for (size_t i = 0; (type = kerf_gguf_type_at(i)) != NULL; i++)
        if ((uint32_t)type->id == id) return type;
    return NULL;
}

/* ---- Bytes -------------------------------------------------------------------------------------------------- */

void gguf_fail(struct gguf_cursor *cursor, int64_t at, int32_t code, const char *format, ...) {
    if (cursor->code != KERF_OK) return;
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    utf8_clean(message); /* keys and names come from the file */
    cursor->code = code;
    if (at < 0)
        kerf_error_set(&cursor->err, code, "%s", message);
    else
        kerf_error_set(&cursor->err, code, "%s, at byte %" PRId64, message, at);
    error_set_file(&cursor->err, cursor->path);
}

void gguf_open(struct gguf_cursor *ret_cursor, const char *path) {
    struct stat status;
    *ret_cursor = (struct gguf_cursor){.path = path, .file = fopen(path, "rbe")};
    if (ret_cursor->file == NULL || fstat(fileno(ret_cursor->file), &status) != 0)
        gguf_fail(ret_cursor, -1, KERF_EIO, "%s", strerror(errno));
    else if (!S_ISREG(status.st_mode))
        gguf_fail(ret_cursor, -1, KERF_EIO, "not a file");
    else
        ret_cursor->size = status.st_size;
}

void gguf_close(struct gguf_cursor *cursor) {
    if (cursor->file) fclose(cursor->file);
    cursor->file = NULL;
}

static int has(struct gguf_cursor *cursor, int64_t size) {
    if (cursor->code == KERF_OK && size > cursor->size - cursor->at)
        gguf_fail(cursor, cursor->at, KERF_ESYNTAX, "the file ends within its header (was it copied completely?)");
    return cursor->code == KERF_OK;
}

void gguf_bytes(struct gguf_cursor *cursor, void *bytes, size_t size) {
    memset(bytes, 0, size);
    if (!has(cursor, (int64_t)size)) return;
    if (fread(bytes, 1, size, cursor->file) != size)
        gguf_fail(cursor, cursor->at, KERF_EIO, "%s",
                  ferror(cursor->file) ? strerror(errno) : "the file became shorter");
    cursor->at += (int64_t)size;
}

uint32_t gguf_u32(struct gguf_cursor *cursor) {
    unsigned char b[4];
    gguf_bytes(cursor, b, sizeof b);
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static uint64_t gguf_u64(struct gguf_cursor *cursor) {
    uint64_t low = gguf_u32(cursor);
    return low | (uint64_t)gguf_u32(cursor) << 32;
}

int64_t gguf_count(struct gguf_cursor *cursor, int64_t least, const char *what) {
    int64_t at = cursor->at;
    uint64_t count = gguf_u64(cursor);
    if (cursor->code == KERF_OK && count > (uint64_t)((cursor->size - cursor->at) / least))
        gguf_fail(cursor, at, KERF_ESYNTAX,
                  "%" PRIu64 " %s, for which the file is too short (was it copied completely?)", count, what);
    return cursor->code == KERF_OK ? (int64_t)count : 0;
}

/* Short pieces are read, long ones are skipped by a seek, which discards what the stream has read ahead. */
static void gguf_skip(struct gguf_cursor *cursor, int64_t size) {
    enum { SEEK_MIN_BYTES = 1 << 16 };
    char scratch[4096];
    if (size > SEEK_MIN_BYTES && has(cursor, size)) {
        if (fseeko(cursor->file, size, SEEK_CUR) != 0) gguf_fail(cursor, cursor->at, KERF_EIO, "%s", strerror(errno));
        cursor->at += size;
        return;
    }
    if (!has(cursor, size)) return;
    while (size > 0 && cursor->code == KERF_OK) {
        size_t part = size < (int64_t)sizeof scratch ? (size_t)size : sizeof scratch;
        gguf_bytes(cursor, scratch, part);
        size -= (int64_t)part;
    }
}

static void gguf_skip_text(struct gguf_cursor *cursor) { gguf_skip(cursor, gguf_count(cursor, 1, "bytes of text")); }

/* Reads a text with its length before it, and adds a NUL. gguf_name fails unless it is UTF-8 of at most `most`
 * bytes. */
static char *gguf_text(struct gguf_cursor *cursor, struct arena *arena) {
    int64_t length = gguf_count(cursor, 1, "bytes of text");
    char *text = arena_take(arena, (size_t)length + 1, 1);
    if (text == NULL) return gguf_fail(cursor, -1, KERF_ENOMEM, "not enough memory"), NULL;
    gguf_bytes(cursor, text, (size_t)length);
    text[length] = 0;
    return text;
}

static char *gguf_name(struct gguf_cursor *cursor, struct arena *arena, int64_t most, const char *what) {
    int64_t at = cursor->at;
    int64_t length = gguf_count(cursor, 1, "bytes of text");
    if (length > most) gguf_fail(cursor, at, KERF_ESYNTAX, "%s of %" PRId64 " bytes", what, length);
    if (cursor->code != KERF_OK) return NULL;
    char *text = arena_take(arena, (size_t)length + 1, 1);
    if (text == NULL) return gguf_fail(cursor, -1, KERF_ENOMEM, "not enough memory"), NULL;
    gguf_bytes(cursor, text, (size_t)length);
    text[length] = 0;
    for (int64_t i = 0; i < length;) {
        size_t step = utf8_code_point(text + i);
        if (step == 0 || text[i] == 0) {
            gguf_fail(cursor, at + 8 + i, KERF_ESYNTAX, "%s that is not UTF-8", what);
            return NULL;
        }
        i += (int64_t)step;
    }
    return text;
}

/* ---- Key-value pairs ---------------------------------------------------------------------------------------- */

/* enum gguf_type, and the size of a value; 0: it is not one number. */
enum { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64, KINDS };
static const int32_t sizes[KINDS] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* Lists up to this length are kept: llama.cpp has at most 512 layers. */
enum { LIST_MAX = 1024, KEY_MAX = 65535 };

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
    else if (is_whole(kind) && pair->count <= LIST_MAX)
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

/* Of two pairs with one key the later one comes second, and is reported. */
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
        pairs[i].key = gguf_name(cursor, arena, KEY_MAX, "a key");
        if (cursor->code == KERF_OK) read_value(cursor, arena, &pairs[i]);
    }
    if (cursor->code != KERF_OK) return;
    qsort(pairs, (size_t)count, sizeof *pairs, by_key_and_place);
    for (int64_t i = 1; i < count; i++)
        if (strcmp(pairs[i - 1].key, pairs[i].key) == 0)
            return gguf_fail(cursor, pairs[i].at, KERF_ESYNTAX, "%.100s appears twice", pairs[i].key);
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
                  pair->count ? "a list too short for the layers" : "not a whole number");
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

/* ---- Tensors ------------------------------------------------------------------------------------------------ */

enum { DIMS_MAX = 4, NAME_MAX_BYTES = 255 };

static void read_shape(struct gguf_cursor *cursor, struct gguf_tensor *tensor, int64_t *ret_row) {
    int64_t at = cursor->at;
    uint32_t dims = gguf_u32(cursor);
    if (dims > DIMS_MAX) gguf_fail(cursor, at, KERF_ESYNTAX, "%.100s has %" PRIu32 " dimensions", tensor->name, dims);
    tensor->parameters = 1;
    *ret_row = 1;
    for (uint32_t d = 0; d < dims && cursor->code == KERF_OK; d++) {
        at = cursor->at;
        uint64_t n = gguf_u64(cursor);
        if (n > INT64_MAX || __builtin_mul_overflow(tensor->parameters, (int64_t)n, &tensor->parameters) ||
            tensor->parameters > INT64_MAX / 8) /* in bytes, F64 is 8 */
            gguf_fail(cursor, at, KERF_ESYNTAX, "%.100s has too many weights", tensor->name);
        else if (d == 0)
            *ret_row = (int64_t)n;
    }
}

static void read_tensor(struct gguf_cursor *cursor, struct arena *arena, int64_t alignment,
                        struct gguf_tensor *tensor) {
    int64_t row = 1;
    tensor->at = cursor->at;
    tensor->name = gguf_name(cursor, arena, NAME_MAX_BYTES, "a tensor's name");
    if (cursor->code != KERF_OK) return;
    read_shape(cursor, tensor, &row);
    tensor->type = gguf_u32(cursor);
    int64_t at = cursor->at;
    uint64_t offset = gguf_u64(cursor);
    const struct kerf_gguf_type *type = gguf_type_of(tensor->type);
    if (cursor->code != KERF_OK) return;
    if (type && row % type->block != 0)
        gguf_fail(cursor, tensor->at, KERF_ESYNTAX, "%.100s: rows of %" PRId64 " values are not whole blocks of %s",
                  tensor->name, row, type->name);
    if (offset > (uint64_t)cursor->size || offset % (uint64_t)alignment != 0)
        gguf_fail(cursor, at, KERF_ESYNTAX, "%.100s begins at %" PRIu64 ", %s", tensor->name, offset,
                  offset > (uint64_t)cursor->size ? "beyond the end of the file (was it copied completely?)"
                                                  : "which is not aligned");
    tensor->offset = cursor->code == KERF_OK ? (int64_t)offset : 0;
    tensor->bytes = type ? tensor->parameters / type->block * type->block_bytes : -1;
}

static int by_offset(const void *a, const void *b) {
    const struct gguf_tensor *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Each tensor has to end before the next begins. One of a type that is not known is taken to reach up to there. */
static void check_places(struct gguf_cursor *cursor, struct gguf_tensors *list, int64_t room) {
    for (int64_t i = 0; i < list->count && cursor->code == KERF_OK; i++) {
        struct gguf_tensor *tensor = &list->tensors[i];
        int last = i + 1 == list->count;
        int64_t end = last ? room : list->tensors[i + 1].offset;
        if (tensor->bytes < 0 && end >= tensor->offset) tensor->bytes = end - tensor->offset;
        if (tensor->bytes >= 0 && tensor->bytes <= end - tensor->offset) continue;
        if (last)
            gguf_fail(cursor, tensor->at, KERF_ESYNTAX,
                      "%.100s ends beyond the end of the file (was it copied completely?)", tensor->name);
        else
            gguf_fail(cursor, tensor->at, KERF_ESYNTAX, "%.100s overlaps %.100s", tensor->name,
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
