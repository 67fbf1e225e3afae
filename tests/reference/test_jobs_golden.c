/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.txt: sessions of many requests on random jobs, recorded from an executable specification of Zeus's server. Every
 * answer, message, posterior and generator state is compared to the last bit, and now and then the job is restored from
 * its rows as a service would do it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerf/jobs.h"
#include "zeus/zeus.h"

enum { LINE = 4096, SIZES = 16, TRIALS = 4096, RESTORE_EVERY = 7 };

struct session {
    int line;
    struct kerf_job_spec spec;
    int64_t sizes[SIZES];
    struct kerf_job *job;
    struct kerf_trial trials[TRIALS + 1]; /* by number */
    double now;
    int64_t decisions, posteriors, restored;
};

static struct session session;

static void check(int holds, const char *what) {
    if (!holds) fail_msg("jobs.txt:%d: not so: %s", session.line, what);
}
#define CHECK(condition) check((condition) != 0, #condition)

static char *rest; /* of the line */

static char *word(void) {
    char *found = strsep(&rest, " \n");
    CHECK(found != NULL);
    return found;
}

static int64_t integer(void) { return strtoll(word(), NULL, 10); }
static double number(void) { return strtod(word(), NULL); }

static int64_t optional_integer(int32_t *ret_there) {
    const char *found = word();
    *ret_there = strcmp(found, "-") != 0;
    return *ret_there ? strtoll(found, NULL, 10) : 0;
}

static double optional_number(int32_t *ret_there) {
    const char *found = word();
    *ret_there = strcmp(found, "-") != 0;
    return *ret_there ? strtod(found, NULL) : 0;
}

static void same(double value, double expected) {
    if (isnan(expected) ? !isnan(value) : memcmp(&value, &expected, sizeof value) != 0)
        fail_msg("jobs.txt:%d: %a and not %a", session.line, value, expected);
}

static void same_message(struct kerf_text *text) {
    uint32_t digest = UINT32_C(0x811c9dc5);
    for (size_t i = 0; i < text->length; i++) digest = (digest ^ (unsigned char)text->data[i]) * UINT32_C(0x01000193);
    if (digest != strtoul(word(), NULL, 16)) fail_msg("jobs.txt:%d: other words: %s", session.line, text->data);
    kerf_text_free(text);
}

static const struct kerf_arm *find_arm(int64_t batch_size) {
    int32_t count;
    const struct kerf_arm *arms = kerf_job_arms(session.job, &count);
    for (int32_t i = 0; i < count; i++)
        if (arms[i].batch_size == batch_size) return &arms[i];
    return NULL;
}

static void same_arm(int64_t batch_size) {
    const struct kerf_arm *arm = find_arm(batch_size);
    CHECK(arm != NULL);
    same(arm->param_mean, number());
    same(arm->param_precision, number());
    same(arm->reward_precision, number());
    CHECK(arm->num_observations == integer());
    session.posteriors++;
}

/* ---- what a service does ---------------------------------------------------------------------------------- */

static int by_descending_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void restore_costs(int64_t batch_size) {
    int64_t wanted = kerf_job_costs_wanted(session.job, batch_size), count = 0;
    static int64_t numbers[TRIALS];
    static double costs[TRIALS];
    if (wanted == 0) return;
    for (int64_t n = 1; n <= TRIALS; n++)
        if (session.trials[n].batch_size == batch_size && session.trials[n].status == KERF_TRIAL_SUCCEEDED)
            numbers[count++] = n;
    qsort(numbers, (size_t)count, sizeof *numbers, by_descending_number);
    if (count > wanted) count = wanted;
    for (int64_t i = 0; i < count; i++) {
        const struct kerf_trial *trial = &session.trials[numbers[i]];
        costs[i] = kerf_job_cost(&session.spec, trial->energy_j, trial->time_s);
    }
    CHECK(kerf_job_restore_costs(session.job, batch_size, numbers, costs, count, NULL) == KERF_OK);
    CHECK(kerf_job_costs_wanted(session.job, batch_size) == 0);
    session.restored++;
}

/* Forgets the job and makes it again from its rows; the trials in descending order, which must not matter. */
static void restore(void) {
    struct kerf_job_row row = *kerf_job_row_of(session.job);
    struct kerf_arm arms[SIZES];
    int32_t count;
    const struct kerf_arm *all = kerf_job_arms(session.job, &count);
    memcpy(arms, all, (size_t)count * sizeof arms[0]);
    kerf_job_free(session.job);
    CHECK(kerf_job_restore(&session.spec, &row, KERF_JOB_COMPAT, &session.job, NULL) == KERF_OK);
    for (int32_t i = count - 1; i >= 0; i--) CHECK(kerf_job_restore_arm(session.job, &arms[i], NULL) == KERF_OK);
    for (int64_t n = row.last_trial_number; n > 0; n--)
        CHECK(kerf_job_restore_exploration(session.job, &session.trials[n], NULL) == KERF_OK);
}

/* ---- lines ------------------------------------------------------------------------------------------------- */

static void begin(void) {
    struct kerf_job_spec *spec = &session.spec;
    kerf_job_free(session.job);
    memset(session.trials, 0, sizeof session.trials);
    kerf_job_spec_defaults(spec);
    spec->job_id = "it's \xc3\xa9\xe2\x80\xa8";
    spec->job_id_prefix = "";
    spec->gpu_model = "A100";
    spec->number_of_gpus = 1;
    spec->max_power = number();
    spec->eta_knob = number();
    spec->beta_knob = optional_number(&spec->has_beta_knob);
    spec->target_metric = number();
    spec->higher_is_better_metric = integer() != 0;
    spec->max_epochs = integer();
    spec->num_pruning_rounds = integer();
    spec->window_size = integer();
    spec->mab_prior_mean = number();
    spec->mab_prior_precision = number();
    spec->mab_num_explorations = integer();
    spec->mab_seed = optional_integer(&spec->has_mab_seed);
    spec->default_batch_size = integer();
    spec->num_batch_sizes = 0;
    spec->batch_sizes = session.sizes;
    for (char *size; (size = strsep(&rest, ",\n")) && *size;)
        session.sizes[spec->num_batch_sizes++] = strtoll(size, NULL, 10);
    CHECK(kerf_job_create(spec, KERF_JOB_COMPAT, &session.job, NULL) == KERF_OK);
}

static void predict(void) {
    static const char types[] = "ECM";
    struct kerf_text out = {0}, why = {0};
    struct kerf_decision decision;
    session.now = number();
    CHECK(kerf_job_predict(session.job, session.now, &decision, NULL) == KERF_OK);
    int64_t status = integer();
    CHECK((status == 200) == (decision.status == KERF_JOB_ANSWERED));
    if (status != 200) {
        CHECK(decision.changes == 0);
        zeus_say_decision(session.job, &decision, &out);
        same_message(&out);
        return;
    }
    CHECK(decision.trial.batch_size == integer());
    CHECK(decision.trial.number == integer() && decision.trial.number <= TRIALS);
    CHECK(types[decision.trial.type] == word()[0]);
    CHECK(decision.num_expired == 0);
    session.trials[decision.trial.number] = decision.trial;
    kerf_job_reason_text(&decision.reason, &why);
    CHECK(why.length > 10);
    kerf_text_free(&why);
    kerf_text_free(&out);
    session.decisions++;
}

static struct kerf_trial *find_trial(int64_t batch_size, int64_t n) {
    struct kerf_trial *trial = n >= 1 && n <= TRIALS ? &session.trials[n] : NULL;
    return trial && trial->number && trial->batch_size == batch_size ? trial : NULL;
}

static int64_t http_status(int32_t status) {
    static const int64_t of[KERF_JOB_STATUSES_COUNT] = {200, 400, 400, 500, 500, 500, 400, 400};
    return of[status];
}

static void report(void) {
    struct kerf_text out = {0};
    struct kerf_answer answer;
    struct kerf_report now = {.batch_size = integer()};
    now.trial_number = integer();
    now.time_s = number();
    now.energy_j = number();
    now.metric = number();
    now.current_epoch = integer();
    restore_costs(now.batch_size);
    CHECK(kerf_job_report(session.job, find_trial(now.batch_size, now.trial_number), &now, session.now, &answer,
                          NULL) == KERF_OK);
    CHECK(http_status(answer.status) == integer());
    if (answer.status == KERF_JOB_ANSWERED) {
        CHECK(answer.stop_train == integer());
        CHECK(answer.converged == integer());
    } else {
        CHECK(answer.changes == 0);
    }
    zeus_say_answer(session.job, &now, &answer, &out);
    same_message(&out);
    if (answer.status == KERF_JOB_ANSWERED && *rest != '-') same_arm(now.batch_size);
}

static void end(void) {
    int64_t batch_size = integer(), n = integer();
    struct kerf_answer answer = kerf_job_end(session.job, find_trial(batch_size, n), session.now);
    CHECK((answer.status == KERF_JOB_ANSWERED ? 200 : 404) == integer());
}

static void same_random(void) {
    const struct kerf_job_row *row = kerf_job_row_of(session.job);
    struct kerf_text have = {0}, want = {0};
    const char *state = word();
    CHECK(row->has_random == (strcmp(state, "-") != 0));
    if (!row->has_random) return;
    const char *inc = word(), *half = word(), *left = word();
    kerf_text_printf(&want,
                     "{\"bit_generator\": \"PCG64\", \"state\": {\"state\": %s, \"inc\": %s}, \"has_uint32\": %s, "
                     "\"uinteger\": %s}",
                     state, inc, half, left);
    kerf_job_random_write(&row->random, &have);
    CHECK(strcmp(have.data, want.data) == 0);
    kerf_text_free(&have);
    kerf_text_free(&want);
}

static void state(void) {
    const struct kerf_job_row *row = kerf_job_row_of(session.job);
    int32_t there, count;
    CHECK(strcmp(kerf_job_stage_name(row->stage), word()) == 0);
    double min_cost = optional_number(&there);
    CHECK(there == row->has_min_cost);
    if (there) same(row->min_cost, min_cost);
    CHECK(row->min_cost_batch_size == integer());
    same_random();
    kerf_job_arms(session.job, &count);
    CHECK(count == integer());
    for (int32_t i = 0; i < count; i++) same_arm(integer());
}

static void run(char kind) {
    switch (kind) {
    case 'J': begin(); return;
    case 'P': predict(); return;
    case 'R': report(); return;
    case 'E': end(); return;
    default: state();
    }
}

static void equals_the_reference(void **unused) {
    (void)unused;
    static char line[LINE];
    int jobs = 0, reports = 0;
    FILE *file = fopen(KERF_TEST_DIR "/reference/jobs.txt", "r");
    assert_non_null(file);
    for (session.line = 1; fgets(line, sizeof line, file); session.line++) {
        if (line[0] == '#') continue;
        rest = line + 2;
        jobs += line[0] == 'J';
        reports += line[0] == 'R';
        run(line[0]);
        if (line[0] != 'J' && session.line % RESTORE_EVERY == 0) restore();
    }
    fclose(file);
    kerf_job_free(session.job);
    printf("%d jobs, %" PRId64 " decisions, %d reports, %" PRId64 " posteriors, costs restored %" PRId64 " times\n",
           jobs, session.decisions, reports, session.posteriors, session.restored);
    assert_true(jobs >= 200 && session.decisions >= 3000 && session.posteriors > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_the_reference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
