/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a runs table and the spellings that are understood. A cell that is not understood refuses its row, with
 * words; one that is empty stays missing: what stands in for it is the predictor's to say. Only the missing dp is computed
 * here, for it follows from the others.
 */
#include "score/runs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/arena.h"
#include "base/characters.h"
#include "base/error_fill.h"
#include "base/number.h"
#include "score/csv.h"

struct owned_runs {
    struct runs shown;
    struct arena arena;
    size_t room;
};

enum kind { TEXT, COUNT, SWITCH, BILLIONS, NUMBER, VPP, ZERO, PRECISION, RECOMPUTE, ATTENTION, STATUS };

static const struct column {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct run */
} columns[] = {
#define COLUMN(name, kind)                                                                                             \
    { #name, kind, offsetof(struct run, name) }
#define MEASURED(name, kind)                                                                                           \
    { #name, kind, offsetof(struct run, measured.name) }
    COLUMN(id, TEXT),
    COLUMN(source, TEXT),
    COLUMN(provenance, TEXT),
    COLUMN(gpu, TEXT),
    COLUMN(gpus, COUNT),
    COLUMN(gpus_per_node, COUNT),
    COLUMN(framework, TEXT),
    COLUMN(model, TEXT),
    {"params_b", BILLIONS, offsetof(struct run, params)},
    COLUMN(layers, COUNT),
    COLUMN(hidden, COUNT),
    COLUMN(ffn, COUNT),
    COLUMN(glu, SWITCH),
    COLUMN(heads, COUNT),
    COLUMN(kv_heads, COUNT),
    COLUMN(vocab, COUNT),
    COLUMN(experts, COUNT),
    COLUMN(topk, COUNT),
    COLUMN(seq, COUNT),
    COLUMN(gbs, COUNT),
    COLUMN(mbs, COUNT),
    COLUMN(tp, COUNT),
    COLUMN(pp, COUNT),
    COLUMN(vpp, VPP),
    COLUMN(cp, COUNT),
    COLUMN(ep, COUNT),
    COLUMN(dp, COUNT),
    COLUMN(zero, ZERO),
    COLUMN(seqpar, SWITCH),
    COLUMN(recompute, RECOMPUTE),
    {"attn", ATTENTION, offsetof(struct run, attention)},
    COLUMN(precision, PRECISION),
    MEASURED(step_s, NUMBER),
    MEASURED(tflops_gpu, NUMBER),
    MEASURED(tflops_kind, TEXT),
    MEASURED(tok_s_gpu, NUMBER),
    MEASURED(mfu_pct, NUMBER),
    MEASURED(mem_gib, NUMBER),
    MEASURED(status, STATUS),
    COLUMN(notes, TEXT),
#undef COLUMN
#undef MEASURED
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* ---- Cells ------------------------------------------------------------------------------------------------ */

struct word {
    const char *name;
    int value;
};

static const struct word precisions[] = {{"fp16", RUN_FP16},       {"bf16", RUN_BF16},
                                         {"fp16/bf16", RUN_FP16},  {"amp_bf16", RUN_BF16},
                                         {"amp_fp16", RUN_FP16},   {"fp8", RUN_FP8},
                                         {"amp_fp8", RUN_FP8},     {"fp8-cs", RUN_FP8},
                                         {"fp8-rowwise", RUN_FP8}, {"fp8-tensorwise", RUN_FP8},
                                         {"fp8-mx", RUN_MXFP8},    {"mxfp8", RUN_MXFP8},
                                         {"nvfp4", RUN_NVFP4},     {NULL, 0}};
static const struct word recomputes[] = {{"none", RUN_NOTHING},        {"unknown", RUN_RECOMPUTE_MISSING},
                                         {"selective", RUN_SELECTIVE}, {"selective(op)", RUN_MODULES},
                                         {"norm,act", RUN_MODULES},    {"selective layernorm,moe", RUN_MODULES},
                                         {"full", RUN_FULL},           {NULL, 0}};
static const struct word attentions[] = {{"torch", RUN_UNFUSED},
                                         {"fused", RUN_FUSED_SOFTMAX},
                                         {"fused-softmax", RUN_FUSED_SOFTMAX},
                                         {"flash", RUN_FLASH},
                                         {"flash_attention", RUN_FLASH},
                                         {"flash_attentionv1.0.8", RUN_FLASH1},
                                         {"flash_attention2", RUN_FLASH2},
                                         {NULL, 0}};
static const struct word statuses[] = {
    {"ok", RUN_OK}, {"oom", RUN_OOM}, {"kernel_unavailable", RUN_NO_KERNEL}, {"suspect", RUN_SUSPECT}, {NULL, 0}};
static const struct word zeros[] = {{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}, {"fsdp", 3}, {NULL, 0}};

static const struct word *find_word(const struct word *words, const char *cell, size_t length) {
    for (; words->name; words++)
        if (strlen(words->name) == length && strncasecmp(words->name, cell, length) == 0) return words;
    return NULL;
}

/* A word, or a word with a remark: in brackets, or a '?' at its end. The whole cell is looked for first. */
static int read_word(const struct word *words, const char *cell, int *ret_value) {
    const struct word *word = find_word(words, cell, strlen(cell));
    if (word == NULL) {
        size_t length = strcspn(cell, "(?");
        while (length > 0 && cell[length - 1] == ' ') length--;
        word = find_word(words, cell, length);
    }
    if (word == NULL) return 0;
    *ret_value = word->value;
    return 1;
}

static const double COUNT_MAX = 1e9;

/* A number above 0. */
static int read_positive(const char *cell, double *ret_value) {
    char *end;
    if (strspn(cell, "0123456789.eE+-") != strlen(cell)) return 0;
    const double value = number_read(cell, &end);
    if (end == cell || *end || !isfinite(value) || value <= 0) return 0;
    *ret_value = value;
    return 1;
}

/* What could be measured: a prediction divided by it is finite. */
static int read_measured(const char *cell, double *ret_value) {
    double value;
    if (!read_positive(cell, &value) || value < 1e-6 || value > 1e9) return 0;
    *ret_value = value;
    return 1;
}

static int read_count(const char *cell, int64_t *ret_value) {
    double value;
    if (!read_positive(cell, &value) || value > COUNT_MAX || value != floor(value)) return 0;
    *ret_value = (int64_t)value;
    return 1;
}

static int read_attention(const char *cell, struct run *run) {
    static const char kernel[] = "+ RMS kernel";
    const size_t length = strlen(cell), tail = sizeof kernel - 1;
    char name[32];
    int value;
    run->rms_kernel = length > tail && strcasecmp(cell + length - tail, kernel) == 0;
    size_t end = run->rms_kernel ? length - tail : length;
    while (end > 0 && cell[end - 1] == ' ') end--;
    if (end >= sizeof name) return 0;
    memcpy(name, cell, end);
    name[end] = 0;
    if (!read_word(attentions, name, &value)) return 0;
    run->attention = (enum run_attention)value;
    return 1;
}

/* The cell into its place; what would have been right, or NULL when it is. An empty one is not read. */
static const char *read_cell(const struct column *column, const char *cell, struct run *run) {
    void *place = (char *)run + column->offset;
    int value = 0;
    switch (column->kind) {
    case TEXT: *(const char **)place = cell; return NULL;
    case COUNT: return read_count(cell, place) ? NULL : "expected a whole number from 1 to 1e9";
    case NUMBER: return read_measured(cell, place) ? NULL : "expected a number from 1e-6 to 1e9";
    case BILLIONS:
        if (!read_positive(cell, place) || run->params > 1e6) return "expected billions of parameters";
        run->params *= 1e9;
        return NULL;
    case SWITCH:
        if (strcmp(cell, "0") != 0 && strcmp(cell, "1") != 0) return "expected 0 or 1";
        *(int64_t *)place = cell[0] - '0';
        return NULL;
    case VPP:
        if (strcmp(cell, ">1") == 0) run->vpp = RUN_SEVERAL;
        return run->vpp == RUN_SEVERAL || read_count(cell, &run->vpp) ? NULL : "expected a whole number, or >1";
    case ZERO:
        if (!read_word(zeros, cell, &value)) return "expected 0, 1, 2, 3 or FSDP";
        run->zero = value;
        return NULL;
    case PRECISION:
        if (!read_word(precisions, cell, &value)) return "expected fp16, bf16, fp8, mxfp8 or nvfp4";
        run->precision = (enum run_precision)value;
        return NULL;
    case RECOMPUTE:
        if (!read_word(recomputes, cell, &value)) return "expected none, selective, norm,act, full or unknown";
        run->recompute = (enum run_recompute)value;
        return NULL;
    case ATTENTION:
        return read_attention(cell, run) ? NULL : "expected torch, fused-softmax, flash or flash_attention2";
    case STATUS:
        if (!read_word(statuses, cell, &value)) return "expected ok, oom, kernel_unavailable or suspect";
        run->measured.status = (enum run_status)value;
        return NULL;
    }
    assert(!"a kind without a reader");
    return "not understood";
}

static int is_measured(const struct column *column) { return column->offset >= offsetof(struct run, measured); }

/* ---- Rows ------------------------------------------------------------------------------------------------- */

static const struct run nothing = {
    .id = "",
    .source = "",
    .provenance = "",
    .gpu = "",
    .framework = "",
    .model = "",
    .notes = "",
    .glu = RUN_MISSING,
    .zero = RUN_MISSING,
    .seqpar = RUN_MISSING,
    .params = NAN,
    .measured = {.step_s = NAN, .tflops_gpu = NAN, .tok_s_gpu = NAN, .mfu_pct = NAN, .mem_gib = NAN, .tflops_kind = ""},
};

/* What the row says twice and differently, or does not say at all; NULL: nothing. "" when memory ran out. */
static const char *find_contradiction(const struct run *run, struct arena *arena) {
    const char *why = NULL;
    if (run->id[0] == 0) return "it has no id";
    if (run->gpus == 0) return "gpus is missing";
    if (run->gpu[0] == 0) return "gpu is missing";
    if (run->model[0] == 0 && (run->layers == 0 || run->hidden == 0 || run->heads == 0))
        return "neither the model's name nor its layers, hidden and heads";
    if (run->topk > run->experts)
        why = arena_printf(arena, "topk %lld of %lld experts", (long long)run->topk, (long long)run->experts);
    else if (run->tp && run->pp && run->dp) { /* a product of four counts of at most 1e9 is no int64_t */
        const int64_t cp = run->cp ? run->cp : 1;
        const double product = (double)run->tp * (double)run->pp * (double)cp * (double)run->dp;
        if (product == (double)run->gpus) return NULL;
        why = arena_printf(arena, "tp %lld x pp %lld x cp %lld x dp %lld is not gpus %lld", (long long)run->tp,
                           (long long)run->pp, (long long)cp, (long long)run->dp, (long long)run->gpus);
    } else
        return NULL;
    return why ? why : "";
}

/* A missing dp is what the other axes leave; one that they do not divide stays missing. */
static void complete(struct run *run) {
    if (run->dp || run->tp == 0 || run->pp == 0 || run->gpus == 0) return;
    const double rest = (double)run->gpus / ((double)run->tp * (double)run->pp * (double)(run->cp ? run->cp : 1));
    if (rest == floor(rest)) run->dp = (int64_t)rest;
}

/* Words about one cell; NULL when memory ran out. */
static const char *say_cell(const struct column *column, const char *cell, const char *expected, struct arena *arena) {
    char *why = arena_printf(arena, "%s is '%.40s': %s", column->name, cell, expected);
    if (why) utf8_clean(why);
    return why;
}

static int read_row(const struct csv_record *record, const int *order, int32_t cells, struct arena *arena,
                    struct run *ret_run) {
    *ret_run = nothing;
    ret_run->line = record->line;
    ret_run->why = record->why;
    if (record->why == NULL && record->count != cells) {
        ret_run->why = arena_printf(arena, "it has %d cells, the header has %d", record->count, cells);
        if (ret_run->why == NULL) return 0;
    }
    for (int32_t i = 0; i < record->count && i < cells; i++) {
        const struct column *column = &columns[order[i]];
        if (record->cells[i][0] == 0) continue;
        const char *expected = read_cell(column, record->cells[i], ret_run);
        const char **why = is_measured(column) ? &ret_run->measured.why : &ret_run->why;
        if (expected && *why == NULL && (*why = say_cell(column, record->cells[i], expected, arena)) == NULL) return 0;
    }
    if (ret_run->measured.why == NULL && ret_run->measured.mfu_pct > 100)
        ret_run->measured.why = "mfu_pct is over 100: expected per cent of the peak";
    if (ret_run->why) return 1;
    ret_run->why = find_contradiction(ret_run, arena);
    if (ret_run->why && ret_run->why[0] == 0) return 0;
    if (ret_run->why == NULL) complete(ret_run);
    return 1;
}

static int by_id(const void *a, const void *b) {
    const struct run *left = *(struct run *const *)a, *right = *(struct run *const *)b;
    const int order = strcmp(left->id, right->id);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

/* Of rows with one id the first is kept. 0 when memory ran out. */
static int refuse_repeats(struct owned_runs *runs) {
    const size_t count = runs->shown.count;
    struct run **sorted = malloc((count + 1) * sizeof *sorted);
    int good = sorted != NULL;
    for (size_t i = 0; good && i < count; i++) sorted[i] = &runs->shown.rows[i];
    if (good) qsort(sorted, count, sizeof *sorted, by_id);
    for (size_t i = 1; good && i < count; i++) {
        if (sorted[i]->why || sorted[i]->id[0] == 0 || strcmp(sorted[i - 1]->id, sorted[i]->id) != 0) continue;
        sorted[i]->why = arena_printf(&runs->arena, "line %d has the same id", sorted[i - 1]->line);
        good = sorted[i]->why != NULL;
    }
    free(sorted);
    return good;
}

/* ---- The table -------------------------------------------------------------------------------------------- */

static int find_column(const char *name) {
    for (int i = 0; i < COLUMNS; i++)
        if (strcmp(columns[i].name, name) == 0) return i;
    return -1;
}

static int32_t unknown_column(const char *name, struct kerf_error *err) {
    const char *names[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) names[i] = columns[i].name;
    const char *near = nearest_name(name, names, COLUMNS);
    kerf_error_set(err, KERF_EUNKNOWN, "unknown column '%.40s'%s%s%s", name, near ? ": did you mean " : "",
                   near ? near : "", near ? "?" : "");
    if (err) utf8_clean(err->message);
    return KERF_EUNKNOWN;
}

static int32_t read_header(const struct csv_record *header, int order[CSV_CELLS_MAX], struct kerf_error *err) {
    int seen[COLUMNS] = {0};
    if (header->why) return kerf_error_set(err, KERF_ESYNTAX, "%s", header->why);
    if (header->count > CSV_CELLS_MAX)
        return kerf_error_set(err, KERF_ESYNTAX, "%d columns; a table of runs has %d", header->count, COLUMNS);
    for (int32_t i = 0; i < header->count; i++) {
        order[i] = find_column(header->cells[i]);
        if (order[i] < 0) return unknown_column(header->cells[i], err);
        if (seen[order[i]]++)
            return kerf_error_set(err, KERF_EINVALID, "the column %s is there twice", header->cells[i]);
    }
    const char *first = NULL;
    for (int i = COLUMNS - 1; i >= 0; i--)
        if (!seen[i]) first = columns[i].name;
    if (first == NULL) return KERF_OK;
    int missing = COLUMNS - header->count; /* each was found, once */
    return kerf_error_set(
        err, KERF_EINVALID,
        "%d of the %d columns %s missing%s %s; a cell may be empty, docs/runs.md says what it means then", missing,
        COLUMNS, missing > 1 ? "are" : "is", missing > 1 ? ", the first is" : ":", first);
}

static int append(struct owned_runs *runs, const struct run *run) {
    if (runs->shown.count == runs->room) {
        const size_t room = runs->room ? 2 * runs->room : 256;
        struct run *rows = room < SIZE_MAX / sizeof *rows ? realloc(runs->shown.rows, room * sizeof *rows) : NULL;
        if (rows == NULL) return 0;
        runs->shown.rows = rows;
        runs->room = room;
    }
    runs->shown.rows[runs->shown.count++] = *run;
    return 1;
}

static int32_t read_table(struct csv *csv, struct owned_runs *runs, struct kerf_error *err) {
    struct csv_record record;
    int order[CSV_CELLS_MAX];
    enum csv_state state = csv_next(csv, &runs->arena, &record);
    if (state == CSV_NO_MEMORY) return error_no_memory(err, "the table of runs");
    if (state == CSV_END) return kerf_error_set(err, KERF_ESYNTAX, "empty: expected a line with the columns' names");
    const int32_t code = read_header(&record, order, err), cells = record.count;
    if (code != KERF_OK) {
        if (err) err->line = record.line;
        return code;
    }
    while ((state = csv_next(csv, &runs->arena, &record)) == CSV_RECORD) {
        struct run run;
        if (!read_row(&record, order, cells, &runs->arena, &run) || !append(runs, &run)) break;
    }
    if (state != CSV_END || !refuse_repeats(runs)) return error_no_memory(err, "the table of runs");
    for (size_t i = 0; i < runs->shown.count; i++) runs->shown.refused += runs->shown.rows[i].why != NULL;
    return KERF_OK;
}

int32_t runs_parse(const char *bytes, size_t size, const char *name, struct runs **ret_runs, struct kerf_error *err) {
    struct owned_runs *runs = calloc(1, sizeof *runs);
    if (runs == NULL) return error_no_memory(err, "the table of runs");
    struct csv csv = csv_begin(bytes, size);
    const int32_t code = read_table(&csv, runs, err);
    if (code != KERF_OK) {
        error_set_file(err, name);
        runs_free(&runs->shown);
        return code;
    }
    *ret_runs = &runs->shown;
    return KERF_OK;
}

struct runs *runs_free(struct runs *runs) {
    if (runs == NULL) return NULL;
    struct owned_runs *owned = (struct owned_runs *)runs; /* shown is its first member */
    free(owned->shown.rows);
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

size_t run_set_length(const struct run *run) {
    const char *dash = strrchr(run->id, '-');
    return dash ? (size_t)(dash - run->id) : strlen(run->id);
}

int run_is_of_set(const struct run *run, const char *set) {
    size_t length = run_set_length(run);
    return strlen(set) == length && strncmp(run->id, set, length) == 0;
}
