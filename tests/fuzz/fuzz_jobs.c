/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is a job and what happens to it: requests, results good and bad, clients that die, clocks that step. Two
 * copies of the job live through it, one in memory and one that is made again from its rows before each decision. They
 * must agree to the last bit; a size that was pruned never runs again but as a concurrent trial, which uses the
 * cheapest one; and whatever happened, a job of which a size converged exploits in the end.
 */
#include "invariants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/jobs.h"

enum { SIZES = 6, TRIALS = 400, ROUNDS = 4 };

struct input {
    const uint8_t *at;
    size_t left;
};

struct life {
    struct kerf_job_spec spec;
    int64_t sizes[SIZES];
    int32_t compat;
    double now;
    struct kerf_job *job;                 /* kept in memory */
    struct kerf_trial trials[TRIALS + 1]; /* rows, by number */
    struct kerf_job_row row;
    struct kerf_arm arms[SIZES];
    int32_t num_arms;
    int64_t converged; /* a trial that explored and converged */
};

static unsigned byte(struct input *input) {
    if (input->left == 0) return 0;
    input->left--;
    return *input->at++;
}

/* ---- the copy made from rows ------------------------------------------------------------------------------- */

static void restore_costs(const struct life *life, struct kerf_job *job, int64_t batch_size) {
    int64_t numbers[TRIALS], wanted = kerf_job_costs_wanted(job, batch_size), count = 0;
    double costs[TRIALS];
    for (int64_t n = TRIALS; n > 0 && count < wanted; n--) {
        const struct kerf_trial *trial = &life->trials[n];
        if (trial->batch_size != batch_size || trial->status != KERF_TRIAL_SUCCEEDED) continue;
        numbers[count] = n;
        costs[count++] = kerf_job_cost(&life->spec, trial->energy_j, trial->time_s);
    }
    if (wanted > 0) CHECK(kerf_job_restore_costs(job, batch_size, numbers, costs, count, NULL) == KERF_OK);
}

static struct kerf_job *restored(const struct life *life, int64_t batch_size) {
    struct kerf_job *job;
    CHECK(kerf_job_restore(&life->spec, &life->row, life->compat, &job, NULL) == KERF_OK);
    for (int32_t i = 0; i < life->num_arms; i++) CHECK(kerf_job_restore_arm(job, &life->arms[i], NULL) == KERF_OK);
    for (int32_t n = TRIALS; n > 0; n--)
        if (life->trials[n].number && life->row.stage == KERF_JOB_PRUNING)
            CHECK(kerf_job_restore_exploration(job, &life->trials[n], NULL) == KERF_OK);
    restore_costs(life, job, batch_size);
    return job;
}

static void store(struct life *life) {
    int32_t before = life->num_arms;
    life->row = *kerf_job_row_of(life->job);
    const struct kerf_arm *arms = kerf_job_arms(life->job, &life->num_arms);
    for (int32_t i = 0; i < life->num_arms; i++) CHECK(before == 0 || arms[i].batch_size == life->arms[i].batch_size);
    memcpy(life->arms, arms, (size_t)life->num_arms * sizeof *arms);
}

static void same_double(double a, double b) { CHECK(memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b))); }

static void same_job(const struct kerf_job *a, const struct kerf_job *b) {
    const struct kerf_job_row *x = kerf_job_row_of(a), *y = kerf_job_row_of(b);
    int32_t count, others;
    const struct kerf_arm *p = kerf_job_arms(a, &count), *q = kerf_job_arms(b, &others);
    CHECK(x->stage == y->stage && x->has_min_cost == y->has_min_cost && count == others);
    CHECK(x->min_cost_batch_size == y->min_cost_batch_size && x->last_trial_number == y->last_trial_number);
    CHECK(x->trials_ended == y->trials_ended && memcmp(&x->random, &y->random, sizeof x->random) == 0);
    same_double(x->min_cost, y->min_cost);
    same_double(x->longest_gap_s, y->longest_gap_s);
    for (int32_t i = 0; i < count; i++) {
        CHECK(p[i].batch_size == q[i].batch_size && p[i].num_observations == q[i].num_observations);
        same_double(p[i].param_mean, q[i].param_mean);
        same_double(p[i].param_precision, q[i].param_precision);
        same_double(p[i].reward_precision, q[i].reward_precision);
    }
}

/* ---- what must hold ---------------------------------------------------------------------------------------- */

static int is_size(const struct life *life, int64_t batch_size) {
    for (int32_t i = 0; i < life->spec.num_batch_sizes; i++)
        if (life->sizes[i] == batch_size) return 1;
    return 0;
}

static int is_arm(const struct life *life, int64_t batch_size) {
    for (int32_t i = 0; i < life->num_arms; i++)
        if (life->arms[i].batch_size == batch_size) return 1;
    return 0;
}

static int is_kerf(const struct life *life) { return life->spec.policy != NULL && !life->compat; }

static int counts_as_exploration(const struct kerf_trial *trial) {
    return trial->type == KERF_TRIAL_EXPLORATION && trial->status == KERF_TRIAL_SUCCEEDED && !trial->lease_ended;
}

/* The exploration of a size in this round, from 0; NULL: there is none. */
static const struct kerf_trial *exploration(const struct life *life, int64_t batch_size, int64_t round) {
    for (int64_t n = 1; n <= TRIALS; n++) {
        const struct kerf_trial *trial = &life->trials[n];
        int runs = trial->type == KERF_TRIAL_EXPLORATION && trial->status == KERF_TRIAL_DISPATCHED;
        if (trial->number == 0 || trial->batch_size != batch_size || !(runs || counts_as_exploration(trial))) continue;
        if (round-- == 0) return trial;
    }
    return NULL;
}

static int64_t explored(const struct life *life, int64_t batch_size, int only_converged) {
    int64_t count = 0, rounds = 0;
    for (const struct kerf_trial *trial; (trial = exploration(life, batch_size, rounds)) != NULL; rounds++)
        count += !only_converged || trial->converged > 0;
    return count;
}

static double cost_of(const struct life *life, const struct kerf_trial *trial) {
    return kerf_job_cost(&life->spec, trial->energy_j, trial->time_s);
}

/* Where a round begins: the default, and then the cheapest size of the round before, of equals the first that ran. */
static int64_t start_of(const struct life *life, int64_t round) {
    int64_t start = life->spec.default_batch_size;
    for (int64_t r = 0; r < round; r++) {
        const struct kerf_trial *best = NULL;
        for (int32_t i = 0; i < life->spec.num_batch_sizes; i++) {
            const struct kerf_trial *trial = exploration(life, life->sizes[i], r);
            if (trial == NULL || trial->converged <= 0) continue;
            double cost = cost_of(life, trial), least = best ? cost_of(life, best) : INFINITY;
            if (best == NULL || cost < least || (cost == least && trial->number < best->number)) best = trial;
        }
        if (best) start = best->batch_size;
    }
    return start;
}

/* A size that failed ends its direction: what lies behind it does not run in this round. */
static void check_direction(const struct life *life, int64_t batch_size, int one_round) {
    int64_t round = explored(life, batch_size, 0), start = start_of(life, round);
    for (int32_t i = 0; i < life->spec.num_batch_sizes; i++) {
        int64_t size = life->sizes[i];
        int before = batch_size < start ? batch_size < size && size <= start : start < size && size < batch_size;
        const struct kerf_trial *trial = exploration(life, size, round);
        if (before && trial && !(one_round && size == start)) CHECK(trial->converged != 0);
    }
}

static int64_t most_explored(const struct life *life, int only_converged) {
    int64_t most = 0;
    for (int32_t i = 0; i < life->spec.num_batch_sizes; i++) {
        int64_t count = explored(life, life->sizes[i], only_converged);
        if (count > most) most = count;
    }
    return most;
}

/* Arms are the sizes that converged in every round; where the last one pruned all, those of the rounds before it. */
static void check_arms(const struct life *life) {
    int64_t survived = most_explored(life, 1);
    int one_round = is_kerf(life);
    CHECK(life->num_arms > 0);
    CHECK(one_round || most_explored(life, 0) <= survived + !life->compat);
    for (int32_t i = 0; i < life->spec.num_batch_sizes; i++) {
        int survives = survived == 0 || explored(life, life->sizes[i], 1) == survived;
        CHECK(one_round ? survives || !is_arm(life, life->sizes[i]) : survives == is_arm(life, life->sizes[i]));
    }
    CHECK(survived > 0 || life->spec.num_pruning_rounds == 0);
}

static void check_dispatched(const struct life *life, const struct kerf_trial *trial) {
    CHECK(is_size(life, trial->batch_size) && trial->status == KERF_TRIAL_DISPATCHED && trial->converged == -1);
    if (trial->type == KERF_TRIAL_MAB) CHECK(is_arm(life, trial->batch_size) && life->row.stage == KERF_JOB_MAB);
    if (trial->type == KERF_TRIAL_CONCURRENT) CHECK(trial->batch_size == life->row.min_cost_batch_size);
    if (trial->type != KERF_TRIAL_EXPLORATION) return;
    CHECK(life->row.stage == KERF_JOB_PRUNING);
    check_direction(life, trial->batch_size, is_kerf(life));
    CHECK(explored(life, trial->batch_size, 0) + 1 >= most_explored(life, 0)); /* left out of no round */
    for (int64_t n = 1; n < trial->number; n++) {
        const struct kerf_trial *earlier = &life->trials[n];
        if (earlier->batch_size != trial->batch_size) continue;
        CHECK(!counts_as_exploration(earlier) || earlier->converged); /* not pruned */
        CHECK(earlier->type != KERF_TRIAL_EXPLORATION || earlier->status != KERF_TRIAL_DISPATCHED);
    }
}

/* ---- what happens ------------------------------------------------------------------------------------------ */

/* Returns the new trial, NULL without one. */
static struct kerf_trial *predict(struct life *life, int32_t *ret_status) {
    struct kerf_text why = {0};
    struct kerf_decision decision, other;
    struct kerf_job *copy = restored(life, -1);
    CHECK(kerf_job_predict(life->job, life->now, &decision, NULL) == KERF_OK);
    CHECK(kerf_job_predict(copy, life->now, &other, NULL) == KERF_OK);
    CHECK(decision.status == other.status && decision.changes == other.changes && decision.fault == other.fault);
    CHECK((decision.fault != KERF_FAULT_NONE) == (decision.status == KERF_JOB_WEDGED));
    CHECK(decision.num_expired == other.num_expired && (decision.num_expired == 0 || !life->compat));
    same_job(life->job, copy);
    for (int32_t i = 0; i < decision.num_expired; i++) {
        struct kerf_trial *trial = &life->trials[decision.expired[i].number];
        CHECK(trial->status == KERF_TRIAL_DISPATCHED && trial->batch_size == decision.expired[i].batch_size);
        trial->status = KERF_TRIAL_FAILED;
        trial->lease_ended = 1;
    }
    int64_t last = life->row.last_trial_number;
    int32_t arms = life->num_arms;
    store(life);
    if (arms == 0 && life->row.stage == KERF_JOB_MAB) check_arms(life);
    *ret_status = decision.status;
    struct kerf_trial *trial = NULL;
    if (decision.status == KERF_JOB_ANSWERED) {
        CHECK(decision.trial.number == last + 1 && decision.trial.batch_size == other.trial.batch_size);
        check_dispatched(life, &decision.trial);
        trial = &life->trials[decision.trial.number];
        *trial = decision.trial;
        kerf_job_reason_text(&decision.reason, &why);
        CHECK(why.length > 0 && is_plain(why.data));
    } else {
        CHECK(decision.status == KERF_JOB_NOTHING_CONVERGED || life->compat);
        CHECK(life->compat || life->converged == 0);
    }
    kerf_text_free(&why);
    kerf_job_free(copy);
    return trial;
}

static void report(struct life *life, struct kerf_trial *trial, double time, double energy, double metric,
                   int64_t epoch) {
    struct kerf_answer answer, other;
    struct kerf_report said = {trial->batch_size, trial->number, time, energy, metric, epoch};
    struct kerf_trial before = *trial, twin = *trial;
    struct kerf_job *copy = restored(life, trial->batch_size);
    CHECK(kerf_job_report(life->job, trial, &said, life->now, &answer, NULL) == KERF_OK);
    CHECK(kerf_job_report(copy, &twin, &said, life->now, &other, NULL) == KERF_OK);
    CHECK(memcmp(&answer, &other, sizeof answer) == 0);
    CHECK(twin.status == trial->status && twin.converged == trial->converged);
    same_job(life->job, copy);
    if (answer.status != KERF_JOB_ANSWERED) CHECK((answer.changes & ~KERF_JOB_CHANGED_TRIAL) == 0);
    if (before.status == KERF_TRIAL_SUCCEEDED) CHECK(answer.changes == 0);
    if (answer.changes & KERF_JOB_CHANGED_ROW) CHECK(trial->status == KERF_TRIAL_SUCCEEDED && answer.stop_train);
    if (counts_as_exploration(trial) && trial->converged > 0) life->converged = trial->number;
    store(life);
    kerf_job_free(copy);
}

static void end(struct life *life, struct kerf_trial *trial) {
    int32_t before = trial->status;
    struct kerf_answer answer = kerf_job_end(life->job, trial, life->now);
    CHECK(before == KERF_TRIAL_SUCCEEDED ? answer.changes == 0 : trial->status == KERF_TRIAL_FAILED);
    store(life);
}

static void step(struct life *life, struct input *input) {
    static const double numbers[] = {0,     1,    100, 101,  99,  150,      1000,      1e-300, 5e-324,
                                     1e308, 1e15, -1,  1e-5, 120, INFINITY, -INFINITY, NAN};
    static const double steps[] = {0, 1, 3, 7, 100, 700, 1e5, -50, -1e6, 1e9};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0], STEPS = sizeof steps / sizeof steps[0] };
    unsigned what = byte(input) % 8;
    int64_t last = life->row.last_trial_number;
    struct kerf_trial *trial =
        last ? &life->trials[last - (int64_t)(byte(input) % (unsigned)(last < 9 ? last : 9))] : NULL;
    int32_t status;
    if (trial == NULL || what <= 2) {
        if (last < TRIALS / 2) predict(life, &status);
    } else if (what <= 5) {
        double energy = numbers[byte(input) % NUMBERS], time = numbers[byte(input) % NUMBERS];
        unsigned result = byte(input);
        report(life, trial, time, energy, result & 4 ? NAN : (double)(result & 1), result & 2 ? 1 : 3);
    } else if (what == 6) {
        end(life, trial);
    } else {
        life->now += steps[byte(input) % STEPS];
    }
}

static void begin(struct life *life, struct input *input) {
    static const double betas[] = {0, 2, 1.1, 1e300};
    struct kerf_job_spec *spec = &life->spec;
    unsigned shape = byte(input), more = byte(input), how = byte(input);
    kerf_job_spec_defaults(spec);
    spec->job_id = "it's";
    spec->gpu_model = "A100";
    spec->number_of_gpus = 1;
    spec->max_power = 300;
    spec->num_batch_sizes = 1 + (int32_t)(shape % SIZES);
    spec->batch_sizes = life->sizes;
    for (int i = 0; i < SIZES; i++) life->sizes[i] = INT64_C(8) << i;
    spec->default_batch_size = life->sizes[shape / SIZES % (unsigned)spec->num_batch_sizes];
    spec->num_pruning_rounds = more % ROUNDS;
    spec->window_size = (int64_t)(more / ROUNDS % 5) - 1;
    spec->mab_num_explorations = more / ROUNDS / 5 % 3;
    spec->has_beta_knob = how % 4 > 0;
    spec->beta_knob = betas[how % 4];
    spec->eta_knob = how & 4 ? 0.5 : 0.3;
    spec->has_mab_seed = (how & 8) != 0;
    spec->mab_seed = how;
    spec->max_epochs = 3;
    spec->lease_s = how & 16 ? 5 : 0;
    spec->policy = how & 32 ? "kerf" : NULL;
    life->compat = how & 64 ? KERF_JOB_COMPAT : 0;
    life->now = 1e9;
    CHECK(kerf_job_create(spec, life->compat, &life->job, NULL) == KERF_OK);
    store(life);
}

/* From now on every run converges, or none does, and those that are silent lose their leases. */
static void exploits_in_the_end(struct life *life, int converges) {
    int32_t status = KERF_JOB_ANSWERED;
    for (int left = 3 * SIZES * ROUNDS; left > 0 && life->row.stage == KERF_JOB_PRUNING; left--) {
        life->now += 1e12;
        struct kerf_trial *trial = predict(life, &status);
        if (trial == NULL) break;
        report(life, trial, 1, life->row.has_min_cost ? 0 : 100, converges, 3);
    }
    CHECK(status == KERF_JOB_NOTHING_CONVERGED ? life->converged == 0 : life->row.stage == KERF_JOB_MAB);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input input = {data, size};
    struct life *life = calloc(1, sizeof *life);
    CHECK(life != NULL);
    begin(life, &input);
    while (input.left > 0) step(life, &input);
    if (!life->compat) exploits_in_the_end(life, size < 3 || !(data[2] & 128));
    kerf_job_free(life->job);
    free(life);
    return 0;
}
