/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading PyTorch's schedule CSV (torch/distributed/pipelining/schedules.py: _Action.from_str, _load_csv). Row r is
 * rank r, a cell one action, an empty one an idle step:
 *
 *     cell   = STAGE ("F" | "I" | "W" | "B") MICROBATCH | "(" STAGE "F" MB ";" STAGE "B" MB ")OVERLAP_F_B"
 *            | STAGE ("SEND_F" | "RECV_F" | "SEND_B" | "RECV_B") MICROBATCH
 *            | STAGE ("UNSHARD" | "RESHARD" | "REDUCE_GRAD")                     skipped: they belong to no schedule's
 * order
 *
 * PyTorch up to 2.5 wrote B for the backward of the input and BW for the whole one; a file is in those letters when a
 * BW is anywhere, or a W where there is no I. Placement and numbers are those that the rows have. Linear in the input.
 */
#include <stdlib.h>
#include <string.h>
#include "schedule/build.h"
#include "schedule/file/read_schedule.h"
#include "schedule/file/torch_rows.h"

enum { SKIPPED = -1, LETTERS = TORCH_OLD_BW + 1 };

static const struct {
    const char *word;
    int16_t kind;
} words[] = {{"F", KERF_OP_F},         {"B", KERF_OP_B},         {"I", KERF_OP_I},         {"W", KERF_OP_W},
             {"BW", TORCH_OLD_BW},     {"SEND_F", TORCH_SEND_F}, {"SEND_B", TORCH_SEND_B}, {"RECV_F", TORCH_RECV_F},
             {"RECV_B", TORCH_RECV_B}, {"UNSHARD", SKIPPED},     {"RESHARD", SKIPPED},     {"REDUCE_GRAD", SKIPPED}};

struct csv {
    struct torch_rows rows;
    struct torch_row *row; /* rows.rows, while they are made */
    int32_t capacity;
    int64_t counts[LETTERS]; /* actions of each kind */
    int old_letters;
    int32_t *row_of;     /* [STAGES_MAX] -1: on none */
    unsigned char *seen; /* [stages * microbatches] bits of enum seen */
    struct kerf_error *err;
};

struct cell {
    const char *start, *end;
    int32_t row, column;
};

static int32_t cell_fail(const struct csv *csv, const struct cell *cell, const char *why) {
    enum { SHOWN = 32 };
    size_t length = (size_t)(cell->end - cell->start);
    return file_fail(csv->err, KERF_ESYNTAX, csv->rows.file, cell->row + 1, cell->column, "'%.*s%s' %s",
                     (int)(length < SHOWN ? length : SHOWN), cell->start, length > SHOWN ? "..." : "", why);
}

static int32_t no_memory(const struct csv *csv) {
    return file_fail(csv->err, KERF_ENOMEM, csv->rows.file, 0, 0, "not enough memory to read the schedule");
}

/* ---- Cells ------------------------------------------------------------------------------------------------ */

/* A number below limit; 0 when there is none, or it is too large. */
static int read_number(const char **at, const char *end, int32_t limit, int32_t *ret_number) {
    int32_t number = 0;
    const char *c = *at;
    for (; c < end && *c >= '0' && *c <= '9'; c++) {
        number = number * 10 + (*c - '0');
        if (number >= limit) return 0;
    }
    if (c == *at) return 0;
    *at = c;
    *ret_number = number;
    return 1;
}

/* What is wrong with it, or NULL. */
static const char *read_action(const char **at, const char *end, struct torch_action *ret_action) {
    int32_t stage, microbatch;
    if (!read_number(at, end, STAGES_MAX, &stage))
        return "is not an action: an action begins with a stage from 0 to 32766, such as 0F3, 0I3, 0W3, 0B3 or "
               "0SEND_F3";
    const char *word = *at;
    while (*at < end && ((**at >= 'A' && **at <= 'Z') || **at == '_')) ++*at;
    size_t length = (size_t)(*at - word), i = 0, count = sizeof words / sizeof *words;
    while (i < count && (strlen(words[i].word) != length || memcmp(words[i].word, word, length) != 0)) i++;
    if (i == count)
        return "is not an action: after the stage comes F, I, W, B, BW, SEND_F, RECV_F, SEND_B, RECV_B, UNSHARD, "
               "RESHARD or REDUCE_GRAD";
    *ret_action = (struct torch_action){.stage = (int16_t)stage, .with_stage = -1, .kind = words[i].kind};
    if (words[i].kind == SKIPPED) return NULL;
    if (!read_number(at, end, MICROBATCHES_MAX, &microbatch))
        return "is not an action: an action ends in a micro-batch from 0 to 1048575, such as 0F3";
    ret_action->microbatch = microbatch;
    ret_action->with_microbatch = -1;
    return NULL;
}

/* (0F7;7B3)OVERLAP_F_B, the parts in either order */
static const char *read_overlap(const char *at, const char *end, struct torch_action *ret_action) {
    static const char wrong[] =
        "is not an action: write a forward and a backward that run together as (0F7;7B3)OVERLAP_F_B";
    static const char tail[] = ")OVERLAP_F_B";
    struct torch_action parts[2];
    at++;
    for (int i = 0; i < 2; i++) {
        if (i && (at == end || *at++ != ';')) return wrong;
        while (at < end && *at == ' ') at++;
        if (read_action(&at, end, &parts[i])) return wrong;
        while (at < end && *at == ' ') at++;
    }
    if ((size_t)(end - at) != sizeof tail - 1 || memcmp(at, tail, sizeof tail - 1) != 0) return wrong;
    int swapped = parts[0].kind == KERF_OP_B;
    const struct torch_action *forward = &parts[swapped], *backward = &parts[!swapped];
    if (forward->kind != KERF_OP_F || backward->kind != KERF_OP_B)
        return "is not an action that kerf knows: only a forward and a whole backward run together, as in "
               "(0F7;7B3)OVERLAP_F_B";
    *ret_action = *forward;
    ret_action->kind = KERF_OP_FB;
    ret_action->with_stage = backward->stage;
    ret_action->with_microbatch = backward->microbatch;
    return NULL;
}

static int32_t read_cell(struct csv *csv, const struct cell *cell) {
    struct torch_action action;
    const char *at = cell->start, *wrong;
    if (at == cell->end) return KERF_OK; /* an idle step */
    if (*at == '(') {
        wrong = read_overlap(at, cell->end, &action);
    } else {
        wrong = read_action(&at, cell->end, &action);
        if (!wrong && at < cell->end)
            wrong = "is not an action: there is something after it; put a comma between cells";
    }
    if (wrong) return cell_fail(csv, cell, wrong);
    if (action.kind == SKIPPED) return KERF_OK;
    action.column = cell->column;
    csv->counts[action.kind]++;
    return torch_row_add(&csv->row[cell->row], action) ? KERF_OK : no_memory(csv);
}

/* ---- Rows ------------------------------------------------------------------------------------------------- */

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void trim(struct cell *cell) {
    while (cell->start < cell->end && is_blank(*cell->start)) cell->start++, cell->column++;
    while (cell->start < cell->end && is_blank(cell->end[-1])) cell->end--;
}

/* Takes the quotes off a cell that begins with one; ret_next is where the next cell begins. */
static int32_t unquote(struct csv *csv, struct cell *cell, const char *line_end, const char **ret_next) {
    const char *close = memchr(cell->start + 1, '"', (size_t)(line_end - cell->start - 1));
    if (close == NULL) {
        cell->end = line_end;
        return cell_fail(csv, cell, "has no closing quote on its line");
    }
    const char *next = close + 1;
    while (next < line_end && is_blank(*next)) next++;
    if (next < line_end && *next != ',') {
        cell->end = next;
        return cell_fail(csv, cell, "continues after its closing quote; put a comma there");
    }
    cell->start++;
    cell->column++;
    cell->end = close;
    trim(cell);
    *ret_next = next;
    return KERF_OK;
}

static int32_t read_row(struct csv *csv, int32_t row, const char *line, const char *line_end) {
    int32_t code = KERF_OK;
    const char *at = line;
    while (code == KERF_OK) {
        const char *comma = memchr(at, ',', (size_t)(line_end - at)), *next = comma ? comma : line_end;
        struct cell cell = {at, next, row, (int32_t)(at - line) + 1};
        trim(&cell);
        if (cell.start < cell.end && *cell.start == '"') code = unquote(csv, &cell, line_end, &next);
        if (code == KERF_OK) code = read_cell(csv, &cell);
        if (next >= line_end) break;
        at = next + 1;
    }
    return code;
}

static int32_t new_row(struct csv *csv) {
    if (csv->rows.num_rows == DEVICES_MAX)
        return file_fail(csv->err, KERF_EINVALID, csv->rows.file, DEVICES_MAX + 1, 1,
                         "more than %d rows; a schedule has one for each rank", DEVICES_MAX);
    if (csv->rows.num_rows == csv->capacity) {
        csv->capacity = csv->capacity ? 2 * csv->capacity : 16;
        struct torch_row *grown = realloc(csv->row, (size_t)csv->capacity * sizeof *grown);
        if (grown == NULL) return no_memory(csv);
        csv->rows.rows = csv->row = grown;
    }
    csv->row[csv->rows.num_rows++] = (struct torch_row){0};
    return KERF_OK;
}

/* Empty lines at the end do not count as rows. */
static size_t without_end(const char *text, size_t length) {
    while (length && (is_blank(text[length - 1]) || text[length - 1] == '\n')) length--;
    return length;
}

static int32_t read_rows(struct csv *csv, const char *text, size_t length) {
    static const char bom[] = "\xEF\xBB\xBF";
    int32_t code = KERF_OK;
    length = without_end(text, length);
    const char *line = text, *end = text + length;
    if (length >= 3 && memcmp(text, bom, 3) == 0) line += 3;
    if (line == end)
        return file_fail(csv->err, KERF_ESYNTAX, csv->rows.file, 1, 1,
                         "an empty file; a schedule has a row for each rank, such as 0F0,0F1,0B0,0B1");
    while (code == KERF_OK && line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line)), *line_end = newline ? newline : end;
        code = new_row(csv);
        if (code == KERF_OK && line_end - line > INT32_MAX - 1) code = no_memory(csv);
        if (code == KERF_OK) code = read_row(csv, csv->rows.num_rows - 1, line, line_end);
        line = line_end + 1;
    }
    return code;
}

/* ---- What the rows say ------------------------------------------------------------------------------------ */

#define FOR_ACTIONS(csv, r, a)                                                                                         \
    for (int32_t r = 0; r < (csv)->rows.num_rows; r++)                                                                 \
        for (struct torch_action *a = (csv)->row[r].actions, *a##_end = a ? a + (csv)->row[r].count : a; a < a##_end;  \
             a++)

static int is_compute(const struct torch_action *a) { return a->kind < TORCH_SEND_F || a->kind == TORCH_OLD_BW; }

static int32_t decide_letters(struct csv *csv) {
    const int64_t *counts = csv->counts;
    csv->old_letters = counts[TORCH_OLD_BW] > 0 || (counts[KERF_OP_W] > 0 && counts[KERF_OP_I] == 0);
    if (!csv->old_letters) return KERF_OK;
    FOR_ACTIONS(csv, row, a) {
        if (a->kind == KERF_OP_I || a->kind == KERF_OP_FB)
            return torch_fail(&csv->rows, row, a, csv->err,
                              "is in PyTorch's new letters, but the file also has BW, which is in the old ones (up to "
                              "2.5): the old letters write B for the backward of the input, the new ones I");
        if (a->kind == KERF_OP_B) a->kind = KERF_OP_I;
        if (a->kind == TORCH_OLD_BW) a->kind = KERF_OP_B;
    }
    return KERF_OK;
}

static int32_t place_part(struct csv *csv, int32_t row, const struct torch_action *a, int32_t stage,
                          int32_t microbatch) {
    int32_t *home = &csv->row_of[stage];
    if (*home >= 0 && *home != row)
        return torch_fail(&csv->rows, row, a, csv->err,
                          "is of stage %d, which rank %d has; a stage must be on one rank", stage, *home);
    *home = row;
    if (stage >= csv->rows.stages) csv->rows.stages = stage + 1;
    if (microbatch >= csv->rows.microbatches) csv->rows.microbatches = microbatch + 1;
    return KERF_OK;
}

static int32_t place_all(struct csv *csv) {
    csv->row_of = malloc((STAGES_MAX + 1) * sizeof *csv->row_of);
    if (csv->row_of == NULL) return no_memory(csv);
    for (int32_t k = 0; k <= STAGES_MAX; k++) csv->row_of[k] = -1;
    csv->rows.row_of = csv->row_of;
    FOR_ACTIONS(csv, row, a) {
        int32_t code = is_compute(a) ? place_part(csv, row, a, a->stage, a->microbatch) : KERF_OK;
        if (code == KERF_OK && a->kind == KERF_OP_FB) code = place_part(csv, row, a, a->with_stage, a->with_microbatch);
        if (code != KERF_OK) return code;
    }
    for (int32_t row = 0; row < csv->rows.num_rows; row++) {
        const struct torch_row *actions = &csv->row[row];
        int32_t k = 0;
        while (k < actions->count && !is_compute(&actions->actions[k])) k++;
        if (k == actions->count)
            return file_fail(csv->err, KERF_EINVALID, csv->rows.file, row + 1, 1,
                             "rank %d has no operation; every rank needs at least one stage", row);
    }
    for (int32_t k = 0; k < csv->rows.stages; k++)
        if (csv->row_of[k] < 0)
            return file_fail(csv->err, KERF_EINVALID, csv->rows.file, csv->row_of[csv->rows.stages - 1] + 1, 1,
                             "stage %d is on no rank, but stage %d is on rank %d", k, csv->rows.stages - 1,
                             csv->row_of[csv->rows.stages - 1]);
    return KERF_OK;
}

/* The first micro-batch whose F a stage lacks. */
static int32_t find_lacking(struct csv *csv, int32_t stage) {
    char *have = calloc((size_t)csv->rows.microbatches, 1);
    int32_t row = csv->row_of[stage], lacks = 0;
    if (have == NULL) return no_memory(csv);
    for (int32_t k = 0; k < csv->row[row].count; k++) {
        const struct torch_action *a = &csv->row[row].actions[k];
        if (a->stage == stage && (a->kind == KERF_OP_F || a->kind == KERF_OP_FB)) have[a->microbatch] = 1;
    }
    while (have[lacks]) lacks++;
    free(have);
    return file_fail(csv->err, KERF_EINVALID, csv->rows.file, row + 1, 1,
                     "%dF%d is missing on rank %d; the file has micro-batches 0 to %d", stage, lacks, row,
                     csv->rows.microbatches - 1);
}

/* Every stage has an F of every micro-batch, at least: so that what is allocated for them is bounded by the input. */
static int32_t count_forwards(struct csv *csv) {
    int32_t *counts = calloc((size_t)csv->rows.stages, sizeof *counts), stage = 0;
    if (counts == NULL) return no_memory(csv);
    FOR_ACTIONS(csv, row, a)
    if (a->kind == KERF_OP_F || a->kind == KERF_OP_FB) counts[a->stage]++;
    while (stage < csv->rows.stages && counts[stage] >= csv->rows.microbatches) stage++;
    free(counts);
    return stage == csv->rows.stages ? KERF_OK : find_lacking(csv, stage);
}

enum seen { SEEN_F = 1, SEEN_B = 2, SEEN_I = 4, SEEN_W = 8 };

static unsigned char *seen_at(const struct csv *csv, int32_t stage, int32_t microbatch) {
    return &csv->seen[(size_t)stage * (size_t)csv->rows.microbatches + (size_t)microbatch];
}

static int32_t mark(struct csv *csv, int32_t row, const struct torch_action *a, unsigned char bit, int32_t stage,
                    int32_t microbatch) {
    unsigned char *place = seen_at(csv, stage, microbatch);
    if (*place & bit) return torch_fail(&csv->rows, row, a, csv->err, "appears twice");
    *place |= bit;
    if (*place & SEEN_B && *place & (SEEN_I | SEEN_W))
        return torch_fail(
            &csv->rows, row, a, csv->err,
            "is one backward too many: micro-batch %d has a whole and a split one on stage %d%s", microbatch, stage,
            csv->old_letters ? " (B is read as the backward of the input, as PyTorch up to 2.5 wrote it)" : "");
    return KERF_OK;
}

static int32_t mark_all(struct csv *csv) {
    static const unsigned char bits[] = {
        [KERF_OP_F] = SEEN_F, [KERF_OP_B] = SEEN_B, [KERF_OP_I] = SEEN_I, [KERF_OP_W] = SEEN_W, [KERF_OP_FB] = SEEN_F};
    csv->seen = calloc((size_t)csv->rows.stages, (size_t)csv->rows.microbatches);
    if (csv->seen == NULL) return no_memory(csv);
    FOR_ACTIONS(csv, row, a) {
        int32_t code = is_compute(a) ? mark(csv, row, a, bits[a->kind], a->stage, a->microbatch) : KERF_OK;
        if (code == KERF_OK && a->kind == KERF_OP_FB)
            code = mark(csv, row, a, SEEN_B, a->with_stage, a->with_microbatch);
        if (code != KERF_OK) return code;
    }
    FOR_ACTIONS(csv, row, a) {
        if (a->kind != KERF_OP_F && a->kind != KERF_OP_FB) continue;
        int have = *seen_at(csv, a->stage, a->microbatch);
        if (have & SEEN_B || (have & SEEN_I && have & SEEN_W)) continue;
        char lacks = have & SEEN_I ? 'W' : csv->old_letters ? 'B' : have & SEEN_W ? 'I' : 'B';
        return torch_fail(&csv->rows, row, a, csv->err, "has no backward: %d%c%d is missing%s", a->stage, lacks,
                          a->microbatch, csv->old_letters ? " (in the letters of PyTorch up to 2.5)" : "");
    }
    return KERF_OK;
}

/* ---- The schedule ----------------------------------------------------------------------------------------- */

/* The operations of a row, whose actions are given back; NULL when memory runs out. */
static struct kerf_op *take_ops(struct torch_row *row, int32_t *ret_count) {
    struct kerf_op *ops = malloc((size_t)row->count * sizeof *ops);
    int32_t count = 0;
    for (int32_t k = 0; ops && k < row->count; k++) {
        const struct torch_action *a = &row->actions[k];
        if (is_compute(a))
            ops[count++] = (struct kerf_op){a->microbatch, a->with_microbatch, a->stage, a->with_stage, a->kind, 0};
    }
    free(row->actions);
    *row = (struct torch_row){0};
    *ret_count = count;
    return ops;
}

static int32_t most_chunks(const struct csv *csv, int32_t *counts) {
    int32_t most = 1;
    for (int32_t k = 0; k < csv->rows.stages; k++) {
        int32_t count = ++counts[csv->row_of[k]];
        if (count > most) most = count;
    }
    return most;
}

static int32_t finish(struct csv *csv, struct kerf_schedule **ret_schedule) {
    size_t p = (size_t)csv->rows.num_rows;
    struct kerf_op **ops = calloc(p, sizeof *ops);
    int32_t *num_ops = calloc(p, sizeof *num_ops), *counts = calloc(p, sizeof *counts);
    int good = ops && num_ops && counts;
    for (size_t i = 0; i < p && good; i++) good = (ops[i] = take_ops(&csv->row[i], &num_ops[i])) != NULL;
    int32_t code = KERF_OK;
    if (good) {
        const struct read_schedule read = {.devices = csv->rows.num_rows,
                                           .stages = csv->rows.stages,
                                           .microbatches = csv->rows.microbatches,
                                           .chunks = most_chunks(csv, counts),
                                           .replicas = 1,
                                           .slices = 1,
                                           .device_of = csv->row_of,
                                           .ops = ops,
                                           .num_ops = num_ops};
        code = read_schedule_finish(&read, csv->rows.file, ret_schedule, csv->err);
    } else {
        code = no_memory(csv);
    }
    for (size_t i = 0; ops && i < p; i++) free(ops[i]);
    free(ops);
    free(num_ops);
    free(counts);
    return code;
}

static int has_comms(const struct csv *csv) {
    const int64_t *counts = csv->counts;
    return counts[TORCH_SEND_F] + counts[TORCH_SEND_B] + counts[TORCH_RECV_F] + counts[TORCH_RECV_B] > 0;
}

int32_t kerf_schedule_parse_csv(const char *text, size_t length, const char *name, struct kerf_schedule **ret_schedule,
                                struct kerf_error *err) {
    struct csv csv = {.rows = {.file = name}, .err = err};
    if (length > SCHEDULE_FILE_MAX)
        return file_fail(err, KERF_EINVALID, name, 0, 0, "larger than the %d MiB that a schedule may have",
                         SCHEDULE_FILE_MAX >> 20);
    int32_t code = read_rows(&csv, text, length);
    if (code == KERF_OK) code = decide_letters(&csv);
    if (code == KERF_OK) code = place_all(&csv);
    if (code == KERF_OK) code = count_forwards(&csv);
    if (code == KERF_OK) code = mark_all(&csv);
    free(csv.seen);
    if (code == KERF_OK && has_comms(&csv)) code = torch_rows_check_comms(&csv.rows, err);
    if (code == KERF_OK) code = finish(&csv, ret_schedule);
    for (int32_t i = 0; i < csv.rows.num_rows; i++) free(csv.row[i].actions);
    free(csv.row);
    free(csv.row_of);
    return code;
}
