/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of values, and jobs, trials and arms as rows. */
#include "store/store_row.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "base/characters.h"
#include "base/error_fill.h"

#define COUNT(kind, name, ...) +1
enum {
    NUM_JOB = 0 JOB_COLUMNS(COUNT, ),
    NUM_STATE = 0 STATE_COLUMNS(COUNT, ),
    NUM_TRIAL = 0 TRIAL_COLUMNS(COUNT, ),
    NUM_ARM = 0 ARM_COLUMNS(COUNT, )
};
_Static_assert(2 + NUM_JOB + NUM_STATE <= ROW_VALUES_MAX, "a whole job is one row");
_Static_assert(2 + NUM_STATE + NUM_ARM + NUM_TRIAL <= ROW_VALUES_MAX, "so is a decision");

/* ---- Values ------------------------------------------------------------------------------------------------- */

void row_clear(struct row *row) {
    row->count = 0;
    kerf_text_clear(&row->sizes);
    kerf_text_clear(&row->random);
}

void row_free(struct row *row) {
    kerf_text_free(&row->sizes);
    kerf_text_free(&row->random);
    row->count = 0;
}

static void add(struct row *row, struct value value) {
    assert(row->count < ROW_VALUES_MAX);
    row->values[row->count++] = value;
}

void row_add_null(struct row *row) { add(row, (struct value){.kind = VALUE_NULL}); }

void row_add_integer(struct row *row, int64_t value) {
    add(row, (struct value){.kind = VALUE_INTEGER, .integer = value});
}

void row_add_real(struct row *row, double value) {
    add(row, isnan(value) ? (struct value){.kind = VALUE_NULL} : (struct value){.kind = VALUE_REAL, .real = value});
}

void row_add_text(struct row *row, const char *text) {
    add(row, (struct value){.kind = text ? VALUE_TEXT : VALUE_NULL, .text = text});
}

void row_add_bytes(struct row *row, const void *bytes, int32_t length) {
    add(row, (struct value){.kind = VALUE_BYTES, .length = length, .text = bytes});
}

void row_add_wanted(struct row *row, const char *text) {
    const char *c = text;
    for (size_t length = 1; length > 0 && *c; c += length) length = utf8_code_point(c);
    row_add_text(row, *c ? NULL : text);
}

int64_t row_integer(const struct row *row, int32_t at) {
    assert(at < row->count && row->values[at].kind <= VALUE_INTEGER);
    return row->values[at].kind == VALUE_INTEGER ? row->values[at].integer : 0;
}

double row_real(const struct row *row, int32_t at, double otherwise) {
    assert(at < row->count && (row->values[at].kind == VALUE_NULL || row->values[at].kind == VALUE_REAL));
    return row->values[at].kind == VALUE_REAL ? row->values[at].real : otherwise;
}

const char *row_text(const struct row *row, int32_t at) {
    assert(at < row->count && (row->values[at].kind == VALUE_NULL || row->values[at].kind == VALUE_TEXT));
    return row->values[at].kind == VALUE_TEXT ? row->values[at].text : NULL;
}

static int is_null(const struct row *row, int32_t at) { return row->values[at].kind == VALUE_NULL; }

/* ---- Kinds of columns: ADD_ appends a place of *it to the row, READ_ fills it from the value at `at` ---------- */

static void add_optional_real(struct row *row, int there, double value) {
    if (there)
        row_add_real(row, value);
    else
        row_add_null(row);
}

static void add_optional_integer(struct row *row, int there, int64_t value) {
    if (there)
        row_add_integer(row, value);
    else
        row_add_null(row);
}

static void add_sizes(struct row *row, const struct kerf_job_spec *spec) {
    for (int32_t i = 0; i < spec->num_batch_sizes; i++)
        kerf_text_printf(&row->sizes, "%s%" PRId64, i ? "," : "", spec->batch_sizes[i]);
    row_add_text(row, row->sizes.data);
}

static void add_random(struct row *row, int there, const struct kerf_job_random *random) {
    if (there) kerf_job_random_write(random, &row->random);
    row_add_text(row, there ? row->random.data : NULL);
}

#define ADD_TEXT(place)                  row_add_text(row, it->place)
#define ADD_REAL(place)                  row_add_real(row, it->place)
#define ADD_REAL_OR_NAN(place)           row_add_real(row, it->place)
#define ADD_INTEGER(place)               row_add_integer(row, it->place)
#define ADD_OPTIONAL_REAL(has, place)    add_optional_real(row, it->has, it->place)
#define ADD_OPTIONAL_INTEGER(has, place) add_optional_integer(row, it->has, it->place)
#define ADD_YES_NO(place)                add_optional_integer(row, it->place >= 0, it->place)
#define ADD_RESULT(status, place)        add_optional_real(row, it->status == KERF_TRIAL_SUCCEEDED, it->place)
#define ADD_SIZES(place)                 add_sizes(row, &it->place)
#define ADD_RANDOM(has, place)           add_random(row, it->has, &it->place)
#define COLUMN_ADD(kind, name, ...)      ADD_##kind(__VA_ARGS__)

#define READ_TEXT(place)                  it->place = row_text(row, at++)
#define READ_REAL(place)                  it->place = row_real(row, at++, 0)
#define READ_REAL_OR_NAN(place)           it->place = row_real(row, at++, NAN)
#define READ_INTEGER(place)               it->place = (__typeof__(it->place))row_integer(row, at++)
#define READ_OPTIONAL_REAL(has, place)    it->has = !is_null(row, at), it->place = row_real(row, at++, 0)
#define READ_OPTIONAL_INTEGER(has, place) it->has = !is_null(row, at), it->place = row_integer(row, at++)
#define READ_YES_NO(place)                it->place = is_null(row, at) ? -1 : (int32_t)row_integer(row, at), at++
#define READ_RESULT(status, place)        it->place = row_real(row, at++, 0)
#define READ_SIZES(place)                 sizes = row_text(row, at++)
#define READ_RANDOM(has, place)           it->has = !is_null(row, at), random = row_text(row, at++)
#define COLUMN_READ(kind, name, ...)      READ_##kind(__VA_ARGS__)

/* ---- Jobs, trials and arms ---------------------------------------------------------------------------------- */

int32_t row_add_job(struct row *row, const struct kerf_job *job, double created_s, struct kerf_error *err) {
    const struct job_row whole = {.created_s = created_s, .spec = *kerf_job_spec_of(job)}, *it = &whole;
    JOB_COLUMNS(COLUMN_ADD, ;);
    return row->sizes.failed ? error_no_memory(err, "a job") : KERF_OK;
}

int32_t row_add_state(struct row *row, const struct kerf_job *job, int64_t version, struct kerf_error *err) {
    const struct job_row whole = {.state = *kerf_job_row_of(job)}, *it = &whole;
    row_add_integer(row, version);
    STATE_COLUMNS(COLUMN_ADD, ;);
    return row->random.failed ? error_no_memory(err, "a job's state") : KERF_OK;
}

void row_add_trial(struct row *row, const struct kerf_trial *it) { TRIAL_COLUMNS(COLUMN_ADD, ;); }
void row_add_trial_changes(struct row *row, const struct kerf_trial *it) { TRIAL_CHANGING_COLUMNS(COLUMN_ADD, ;); }
void row_add_arm(struct row *row, const struct kerf_arm *it) { ARM_COLUMNS(COLUMN_ADD, ;); }

static int32_t read_sizes(struct job_row *job, const char *list, struct kerf_error *err) {
    int32_t count = 1;
    for (const char *c = list; c && *c; c++) count += *c == ',';
    job->sizes = count <= JOB_ROW_SIZES ? job->room : malloc((size_t)count * sizeof *job->sizes);
    if (job->sizes == NULL) return error_no_memory(err, "a job");
    char *end = (char *)list;
    for (int32_t i = 0; i < count && end; i++) job->sizes[i] = strtoll(i ? end + 1 : end, &end, 10);
    job->spec.batch_sizes = job->sizes;
    job->spec.num_batch_sizes = list ? count : 0;
    return KERF_OK;
}

int32_t job_row_read(const struct row *row, struct job_row *it, struct kerf_error *err) {
    const char *sizes = NULL, *random = NULL;
    int32_t at = 2, code = KERF_OK;
    it->job = row_integer(row, 0);
    it->version = row_integer(row, 1);
    JOB_COLUMNS(COLUMN_READ, ;);
    STATE_COLUMNS(COLUMN_READ, ;);
    assert(at == row->count);
    if (random) code = kerf_job_random_read(random, &it->state.random, err);
    return code == KERF_OK ? read_sizes(it, sizes, err) : code;
}

void job_row_free(struct job_row *job) {
    if (job->sizes != job->room) free(job->sizes);
}

struct kerf_trial row_trial(const struct row *row, int32_t at) {
    struct kerf_trial trial, *it = &trial;
    TRIAL_COLUMNS(COLUMN_READ, ;);
    return trial;
}

struct kerf_arm row_arm(const struct row *row) {
    struct kerf_arm arm, *it = &arm;
    int32_t at = 0;
    ARM_COLUMNS(COLUMN_READ, ;);
    return arm;
}
