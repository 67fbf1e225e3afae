/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `kerf jobs export` prints, imported into a store of the other database: exported from there it is the same text,
 * and the jobs go on exactly like those that stayed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "database.h"
#include "job_runs.h"
#include "store/store.h"

static struct cluster cluster;
static const char *no_cluster;

/* Runs kerf; its status. */
static int kerf(const char *format, ...) {
    char words[512], command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    snprintf(command, sizeof command, "'%s' %s", KERF_PROGRAM, words);
    int status = system(command);
    return status < 0 ? status : status >> 8;
}

static void export_to(struct place *place, const char *file) {
    place_start(place, 0);
    assert_int_equal(kerf("jobs export --all --server http://127.0.0.1:%d >%s", place->port, file), 0);
}

static void read_text(const char *file, struct kerf_text *out) {
    char bytes[4096];
    size_t length;
    FILE *from = fopen(file, "r");
    assert_non_null(from);
    kerf_text_clear(out);
    while ((length = fread(bytes, 1, sizeof bytes, from)) > 0) kerf_text_write(out, bytes, length);
    fclose(from);
}

/* The older half of a job's results goes as with `kerf serve --keep-trials`: their costs stay. */
struct forgotten {
    struct store_forgotten items[64];
    int32_t count;
};

static int32_t note_ended(void *context, const struct kerf_trial *trial, const char *reason) {
    struct forgotten *forgotten = context;
    (void)reason;
    if (trial->status == KERF_TRIAL_SUCCEEDED && forgotten->count < 10)
        forgotten->items[forgotten->count++] = (struct store_forgotten){trial->number, 1};
    return KERF_OK;
}

static void forget_some(const struct place *place, const char *job_id) {
    struct kerf_error err;
    struct store *store;
    struct store_turn found;
    struct forgotten forgotten = {.count = 0};
    const struct store_page page = {.limit = 100};
    assert_int_equal(store_open(place->store, STORE_SERVE, &store, &err), KERF_OK);
    assert_int_equal(store_find_job(store, job_id, &found, NULL, &err), KERF_OK);
    assert_int_equal(store_list_trials(store, found.job, &page, note_ended, &forgotten, &err), KERF_OK);
    assert_int_equal(forgotten.count, 10);
    struct store_write write = {
        .kind = STORE_FORGET, .job = found.job, .forgotten = forgotten.items, .num_forgotten = forgotten.count};
    assert_int_equal(store_write_now(store, &write, &err), KERF_OK);
    store_close(store);
}

/* from -> to -> back: three stores. */
static struct place from, to, back; /* made and cleared around each test, as the texts are */
static struct kerf_text first, second, stayed, went;

static int make_places(void **state) {
    (void)state;
    place_make(&from);
    place_make(&to);
    place_make(&back);
    return 0;
}

static int clear_places(void **state) {
    struct kerf_text *const texts[] = {&first, &second, &stayed, &went};
    (void)state;
    place_clear(&from);
    place_clear(&to);
    place_clear(&back);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) kerf_text_free(texts[i]);
    return 0;
}

static void take_over(int from_postgresql) {
    char file[160], again[160];
    if (from_postgresql) cluster_database(&cluster, "one", from.store, sizeof from.store);
    if (!from_postgresql && !no_cluster) cluster_database(&cluster, "other", to.store, sizeof to.store);
    snprintf(file, sizeof file, "%s/first.jsonl", to.folder);
    snprintf(again, sizeof again, "%s/again.jsonl", to.folder);
    place_start(&from, 0);
    begin_jobs(&from, NULL);
    place_stop(&from);
    forget_some(&from, "window");
    export_to(&from, file);
    read_text(file, &first);
    assert_non_null(strstr(first.data, "\"cost\":{"));
    assert_int_not_equal(kerf("jobs import %s --store '%s' 2>%s", file, to.store, again), 0); /* it is not there */
    assert_int_equal(kerf("jobs import %s --store '%s' --create >/dev/null", file, to.store), 0);
    assert_int_equal(kerf("jobs import - --store '%s' <%s >%s", to.store, file, again), 0);
    read_text(again, &second);
    assert_non_null(strstr(second.data, "exploits exists already"));
    export_to(&to, again);
    read_text(again, &second);
    is_same(&first, &second);
    assert_int_equal(kerf("jobs import %s --store '%s' --create >/dev/null", again, back.store), 0);
    go_on(&from, &stayed);
    go_on(&to, &went);
    is_same(&stayed, &went);
    export_to(&back, again);
    read_text(again, &second);
    is_same(&first, &second);
    kerf_text_clear(&went);
    go_on(&back, &went);
    is_same(&stayed, &went);
}

static void test_from_sqlite(void **state) {
    (void)state;
    take_over(0);
}

static void test_from_postgresql(void **state) {
    (void)state;
    if (no_cluster)
        print_message("not from PostgreSQL: %s\n", no_cluster);
    else
        take_over(1);
}

/* ---- What is refused ------------------------------------------------------------------------------------------ */

/* The line is named. */
static void refuses(int status, const char *lines, const char *words) {
    struct kerf_text said = {0};
    char file[160], error[160];
    snprintf(file, sizeof file, "%s/lines", from.folder);
    snprintf(error, sizeof error, "%s/error", from.folder);
    FILE *out = fopen(file, "w");
    assert_true(out && fputs(lines, out) >= 0 && fclose(out) == 0);
    assert_int_equal(kerf("jobs import %s --store '%s' --create 2>%s", file, from.store, error), status);
    read_text(error, &said);
    if (strstr(said.data, words) == NULL) fail_msg("'%s' does not say '%s'", said.data, words);
    kerf_text_free(&said);
}

#define JOB(more)            JOB_WITH("zeus", "5", more)
#define JOB_BY(policy, more) JOB_WITH(policy, "5", more)
#define JOB_WITH(policy, max_epochs, more)                                                                             \
    "{\"job\":{\"job_id\":\"a\",\"created_s\":1,\"stage\":\"Pruning\",\"min_cost\":null,\"min_cost_batch_size\":8,"    \
    "\"last_trial_number\":1,\"trials_ended\":0," more "\"arms\":[],\"spec\":{\"batch_sizes\":[8],"                    \
    "\"default_batch_size\":8,\"max_power\":1,\"number_of_gpus\":1,\"gpu_model\":\"g\",\"eta_knob\":0.5,"              \
    "\"target_metric\":0.5,\"mab_prior_mean\":0,\"mab_prior_precision\":0,\"job_id_prefix\":\"\","                     \
    "\"higher_is_better_metric\":true,\"num_pruning_rounds\":2,\"window_size\":0,\"mab_num_explorations\":2,"          \
    "\"max_epochs\":" max_epochs ",\"policy\":\"" policy "\"}}}\n"
#define TRIAL(number, status)                                                                                          \
    "{\"job_id\":\"a\",\"trial\":{\"trial_number\":" number                                                            \
    ",\"batch_size\":8,\"type\":\"Exploration\",\"status\":\"" status "\",\"dispatched_s\":1,\"seen_s\":1}}\n"

static void test_refused(void **state) {
    (void)state;
    refuses(2, "{\n", "lines:1:");
    refuses(2, "\n{}\n", "lines:2:1: a line must be a job");
    refuses(2, TRIAL("1", "Failed"), "lines:1:1: this job_id must be");
    refuses(2, JOB(""), "an older kerf exported this");
    refuses(2, JOB("\"longest_gap_s\":0,") TRIAL("1", "Lost"), "lines:2:1: status must be");
    refuses(2, JOB("\"longest_gap_s\":0,") TRIAL("1", "Failed") TRIAL("1", "Failed"), "lines:3:1: trial_number must");
    refuses(2, JOB("\"longest_gap_s\":0,") TRIAL("2", "Failed"), "lines:1:1: a trial began");
    refuses(2, JOB_BY("Kerf", "\"longest_gap_s\":0,"), "this kerf has no policy 'Kerf'");
    refuses(
        2,
        JOB("\"longest_gap_s\":0,") "{\"job_id\":\"a\",\"trial\":{\"trial_number\":1,\"batch_size\":8,\"type\":\"MAB\","
                                    "\"status\":\"Succeeded\",\"time_s\":-4,\"dispatched_s\":1,\"seen_s\":1}}\n",
        "lines:2:1: time_s and energy_j");
    refuses(2, JOB_WITH("zeus", "\"5\"", "\"longest_gap_s\":0,"),
            "lines:1:1: spec.max_epochs is missing or of the wrong");
    place_run(&from, 0, NULL);
    refuses(3, JOB("\"longest_gap_s\":0,"), "in use by another kerf serve");
    place_end(&from, SIGTERM);
}

/* The end of a file that was cut at a line's end is told. */
static void test_cut(void **state) {
    (void)state;
    char file[160];
    struct kerf_text said = {0};
    snprintf(file, sizeof file, "%s/lines", from.folder);
    FILE *out = fopen(file, "w");
    assert_true(out && fputs(JOB("\"longest_gap_s\":0,"), out) >= 0 && fclose(out) == 0);
    assert_int_equal(kerf("jobs import %s --store '%s' --create >%s/said", file, from.store, from.folder), 0);
    snprintf(file, sizeof file, "%s/said", from.folder);
    read_text(file, &said);
    if (strstr(said.data, "without trial 1 to 1: the file is cut") == NULL) fail_msg("%s", said.data);
    kerf_text_free(&said);
}

int main(void) {
    const char *why = "";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_from_sqlite, make_places, clear_places),
        cmocka_unit_test_setup_teardown(test_from_postgresql, make_places, clear_places),
        cmocka_unit_test_setup_teardown(test_refused, make_places, clear_places),
        cmocka_unit_test_setup_teardown(test_cut, make_places, clear_places),
    };
    if (!cluster_make(&cluster, &why)) no_cluster = why;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cluster_clear(&cluster);
    return failed;
}
