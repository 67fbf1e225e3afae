/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How policies do on surfaces of which the truth is known.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/threads.h"
#include "tune_surface.h"

struct result {
    double right, runs, said, smallest, decisions, seconds, time, noisy;
};

struct trial_case {
    const struct surface *surface;
    const char *policy;
    int32_t drift, prefer;
    double within;
    int32_t first;
    struct result *results;
};

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void one(void *context, size_t task, int32_t worker) {
    struct trial_case *of = context;
    (void)worker;
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_error err;
    struct program program;
    struct kerf_tune_decision decision;
    struct kerf_tune_answer answer;
    kerf_tune_question_defaults(&question);
    question.space = of->surface->space;
    question.policy = of->policy;
    question.is_time = 1;
    question.within = of->within;
    question.seed = (int64_t)task + of->first;
    if (of->prefer) question.prefer = "smaller:ubatch,batch";
    if (kerf_tune_study_create(&question, &study, &err) != KERF_OK) fprintf(stderr, "%s\n", err.message), exit(1);
    program_start(&program, of->surface, of->drift, task + (uint64_t)of->first);
    program.one_context = of->policy && strcmp(of->policy, "race") != 0 && strcmp(of->policy, "kerf") != 0;
    struct result result = {0};
    const char *trace = getenv("TRACE");
    double began = seconds();
    for (;;) {
        if (kerf_tune_study_next(study, NULL, 0, 0, &decision, &err) != KERF_OK) exit(1);
        result.decisions++;
        if (decision.action == KERF_TUNE_STOP) break;
        struct kerf_tune_observation o = program_run(&program, decision.setting, decision.limit);
        if (trace) {
            struct kerf_text t = {0};
            kerf_tune_setting_write(question.space, decision.setting, &t);
            printf("  %3d %-26s %5.1f%% %s%.4f  %s\n", (int)result.runs, t.data,
                   100 * of->surface->regret[decision.setting], o.outcome ? ">" : " ", o.value / of->surface->best,
                   decision.reason);
            kerf_text_free(&t);
        }
        kerf_tune_study_observe(study, &o, &err);
        result.runs++;
    }
    if (kerf_tune_study_answer(study, &answer, &err) != KERF_OK) exit(1);
    if (trace) printf("  %s | %s noise %.4f\n", decision.reason, answer.reason, answer.noise);
    result.seconds = seconds() - began;
    int32_t setting = of->prefer ? answer.recommended : answer.best;
    const struct kerf_tune_estimate *e = &answer.settings[setting];
    result.right = of->surface->regret[setting] <= (of->prefer ? question.margin : of->within);
    result.said = of->prefer ? e->probability_within_margin : e->probability_within;
    int32_t ub = question.space->values[2 * setting + 1];
    result.smallest = question.space->params[1].integers[ub] == of->surface->least_ubatch;
    result.noisy = decision.stop == KERF_TUNE_TOO_NOISY;
    result.time = program.clock / of->surface->best;
    of->results[task] = result;
    kerf_tune_study_free(study);
}

static struct result run(const struct surface *surface, const char *policy, int32_t drift, int32_t prefer,
                         double within, int32_t seeds, int32_t first) {
    struct result *results = calloc((size_t)seeds, sizeof *results), sum = {0};
    struct trial_case of = {surface, policy, drift, prefer, within, first, results};
    threads_run(2, (size_t)seeds, one, &of);
    for (int32_t i = 0; i < seeds; i++) {
        sum.right += results[i].right / seeds;
        sum.runs += results[i].runs / seeds;
        sum.said += results[i].said / seeds;
        sum.smallest += results[i].smallest / seeds;
        sum.decisions += results[i].decisions;
        sum.seconds += results[i].seconds;
        sum.time += results[i].time / seeds;
        sum.noisy += results[i].noisy / seeds;
    }
    free(results);
    return sum;
}

static const char *const drifts[] = {"", "/ramp", "/steps", "/busy"};
static struct result total;
static double total_n;

static void report(const struct surface *s, const char *policy, int32_t drift, int32_t prefer, double within,
                   int32_t seeds, int32_t first) {
    struct result r = run(s, policy, drift, prefer, within, seeds, first);
    printf(
        "%-28.28s%-7s %-10s %s%3.0f%%  right %5.1f%%  stated %5.1f%%  runs %6.1f  time %6.1f  noisy %4.1f%%  %.2f ms",
        s->name, drifts[drift], policy, prefer ? "prefer" : "      ", 100 * within, 100 * r.right, 100 * r.said, r.runs,
        r.time, 100 * r.noisy, 1e3 * r.seconds / r.decisions);
    if (prefer) printf("  smallest %5.1f%%", 100 * r.smallest);
    printf("\n");
    fflush(stdout);
    total.right += r.right, total.said += r.said, total.runs += r.runs, total_n++;
}

int main(int argc, char **argv) {
    static struct surface s[16], extra[8];
    const char *folder = argc > 1 ? argv[1] : ".", *mode = argc > 3 ? argv[3] : "all",
               *policy = argc > 4 ? argv[4] : "kerf";
    int32_t seeds = argc > 2 ? atoi(argv[2]) : 50, first = getenv("FIRST") ? atoi(getenv("FIRST")) : 0;
    char path[500];
    const char *names[] = {"t50q8_c512_t1", "t5f16_c2048_t1", "gpu3090_gemma2b_pp4096"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s.csv.gz", folder, names[i]);
        if (!surface_read(&s[i], path, "cpu_ms")) printf("skipped: %s\n", path);
    }
    static const double t300[] = {3.70, 2.59, 1.89, 1.55, 1.37, 1.12, 1.03, 1.00, 1.01},
                        t50f[] = {4.49, 2.56, 1.92, 1.52, 1.39, 1.13, 1.01, 1.02, 1.00},
                        t5two[] = {3.2, 2.6, 2.4, 2.3, 2.1, 1.87, 1.0, 1.07, 1.15, 1.28, 1.29};
    surface_make(&extra[0], "t300-like", t300, 9, 0.009, 0.005, 6, 1);
    surface_make(&extra[1], "t50f16-like", t50f, 9, 0.025, 0.02, 5, 2);
    surface_make(&extra[2], "t5two-like", t5two, 11, 0.05, 0.03, 4, 3);
    if (strchr(mode, 'a')) {
        for (int i = 0; i < 3; i++) report(&s[i], policy, 0, 0, 0.03, seeds, first);
        report(&s[2], policy, 1, 0, 0.03, seeds, first);
        printf("   mean right %.1f stated %.1f\n", 100 * total.right / total_n, 100 * total.said / total_n);
    }
    if (strchr(mode, 'p'))
        for (int i = 0; i < 3; i++) report(&s[i], policy, 0, 1, 0.03, seeds, first);
    if (strchr(mode, 'd'))
        for (int i = 0; i < 3; i++)
            report(&s[i], policy, 2, 0, 0.03, seeds, first),
                i < 2 ? report(&s[i], policy, 1, 0, 0.03, seeds, first) : (void)0;
    if (strchr(mode, '1'))
        for (int i = 0; i < 3; i++) report(&s[i], policy, 0, 0, 0.01, seeds, first);
    if (strchr(mode, 'x'))
        for (int i = 0; i < 3; i++)
            report(&extra[i], policy, 0, 0, 0.03, seeds, first), report(&extra[i], policy, 1, 0, 0.03, seeds, first),
                report(&extra[i], policy, 0, 1, 0.03, seeds, first);
    if (strchr(mode, 'y')) report(&extra[2], policy, 0, 0, 0.03, seeds, first);
    if (strchr(mode, 't')) report(&s[1], policy, 0, 0, 0.03, seeds, first);
    if (strchr(mode, 'q')) report(&s[1], policy, 0, 1, 0.03, seeds, first);
    if (strchr(mode, 'r')) {
        for (int32_t drift = 0; drift < 3; drift++) {
            struct result sum = {0};
            int count = 30;
            for (int i = 0; i < count; i++) {
                struct surface surface;
                surface_random(&surface, (uint64_t)i + 1);
                struct result r = run(&surface, policy, drift, 0, 0.03, seeds / 20 + 1, first);
                if (getenv("EACH")) printf("   %d right %.1f runs %.1f\n", i, 100 * r.right, r.runs);
                sum.right += r.right / count, sum.said += r.said / count, sum.runs += r.runs / count,
                    sum.noisy += r.noisy / count;
                surface_free(&surface);
            }
            printf("random family%-7s right %5.1f%% stated %5.1f%% runs %.1f noisy %.1f%%\n", drifts[drift],
                   100 * sum.right, 100 * sum.said, sum.runs, 100 * sum.noisy);
        }
    }
    return 0;
}
