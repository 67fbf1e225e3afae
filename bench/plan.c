/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the search is: candidates a second of whole searches, enumeration included, on one thread, against the
 * plain search that prices each candidate by itself (tests/reference/plain_search.c), in one run.
 *
 *     plan              all searches
 *     plan --quick      the first one alone: summa, gpt3_1t, 4,096 b200 in domains of 8
 *     plan --rounds N   the first one N times without a word, for a program that counts instructions
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/kerf.h"
#include "measure.h"
#include "plain_search.h"

struct subject {
    struct kerf_problem *problems;
    size_t num_problems;
    struct kerf_plan_options options;
    int64_t candidates, feasible;
};

static void fast(void *context) {
    struct subject *subject = context;
    struct kerf_plan *plan = NULL;
    struct kerf_error err;
    if (kerf_plan_search(subject->problems, subject->num_problems, &subject->options, &plan, &err) != KERF_OK) {
        fprintf(stderr, "bench: %s\n", err.message);
        exit(1);
    }
    subject->candidates = subject->feasible = 0;
    for (size_t i = 0; i < plan->num_searches; i++) {
        subject->candidates += plan->searches[i].candidates;
        subject->feasible += plan->searches[i].feasible;
    }
    kerf_plan_free(plan);
}

static void plain(void *context) {
    struct subject *subject = context;
    struct plain_search search;
    if (!plain_search(subject->options.cost_model, &subject->problems[0], &search)) exit(1);
    free(search.all);
}

static struct kerf_problem problem_of(const char *model, const char *system, int64_t domain,
                                      enum kerf_strategy strategy, int64_t gpus) {
    struct kerf_problem problem = {.strategy = strategy, .gpus = gpus, .global_batch = 4096};
    if (kerf_model_load(model, &problem.model, NULL) != KERF_OK ||
        kerf_system_load(system, &problem.system, NULL) != KERF_OK)
        exit(1);
    problem.system.scale_up.size = domain;
    problem.seq_length = problem.model.max_position_embeddings;
    return problem;
}

static void report(const char *what, struct subject *subject) {
    struct measure quick = measure_least(30, fast, subject);
    double count = (double)subject->candidates;
    printf("%-44s %9lld %9lld %9.3f ms %8.1f M/s", what, (long long)subject->candidates, (long long)subject->feasible,
           1e3 * quick.seconds, count / quick.seconds / 1e6);
    if (quick.instructions)
        printf(" %7.0f", (double)quick.instructions / count);
    else
        printf(" %7s", "-");
    struct measure slow = measure_least(3, plain, subject);
    printf(" %8.0fx", slow.seconds / quick.seconds);
    if (quick.instructions) printf(" %8.0fx", (double)slow.instructions / (double)quick.instructions);
    printf("\n");
}

static void published_sweep(const struct kerf_cost_model *reference, int32_t threads) {
    static const char *const models[] = {"gpt3_1t", "vit_era5"}, *const systems[] = {"a100", "h200", "b200"};
    static const int64_t domains[] = {4, 8, 64};
    struct kerf_problem problems[2 * 3 * 3 * KERF_STRATEGY_HYBRID * 13];
    struct subject sweep = {problems, 0, {.cost_model = reference, .top = 10, .threads = threads}, 0, 0};
    for (int m = 0; m < 2; m++)
        for (int s = 0; s < 3; s++)
            for (int d = 0; d < 3; d++)
                for (int strategy = 0; strategy < KERF_STRATEGY_HYBRID; strategy++)
                    for (int64_t gpus = 4; gpus <= 16384; gpus *= 2)
                        problems[sweep.num_problems++] =
                            problem_of(models[m], systems[s], domains[d], (enum kerf_strategy)strategy, gpus);
    struct measure took = measure_least(5, fast, &sweep);
    printf("the published sweep: %zu searches, %lld candidates in %.3f s on %s, %.1f M/s\n", sweep.num_problems,
           (long long)sweep.candidates, took.seconds, threads == 1 ? "one thread" : "all processors",
           (double)sweep.candidates / took.seconds / 1e6);
}

static const struct {
    const char *what, *model, *system;
    int64_t domain, gpus;
    enum kerf_strategy strategy;
} searches[] = {
    {"summa gpt3_1t, 4,096 b200, domain 8", "gpt3_1t", "b200", 8, 4096, KERF_STRATEGY_SUMMA},
    {"the same with unlimited memory", "gpt3_1t", "b200", 8, 4096, KERF_STRATEGY_SUMMA},
    {"summa gpt3_1t, 4,096 a100, domain 8", "gpt3_1t", "a100", 8, 4096, KERF_STRATEGY_SUMMA},
    {"seqp vit_era5, 16,384 h200, domain 64", "vit_era5", "h200", 64, 16384, KERF_STRATEGY_SEQP},
    {"1d gpt3, 1,024 a100, domain 4", "gpt3", "a100", 4, 1024, KERF_STRATEGY_1D},
};

static struct kerf_problem search_problem(size_t i) {
    struct kerf_problem problem =
        problem_of(searches[i].model, searches[i].system, searches[i].domain, searches[i].strategy, searches[i].gpus);
    if (i == 1) problem.system.memory_capacity_bytes = 1e18; /* every layout is timed */
    return problem;
}

int main(int argc, char **argv) {
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const struct kerf_cost_model *reference;
    if (kerf_cost_model_find("reference", &reference, NULL) != KERF_OK) return 1;
    if (argc > 2 && strcmp(argv[1], "--rounds") == 0) {
        struct kerf_problem problem = search_problem(0);
        struct subject subject = {&problem, 1, {.cost_model = reference, .top = 10, .threads = 1}, 0, 0};
        for (int round = atoi(argv[2]); round > 0; round--) fast(&subject);
        return 0;
    }
    printf("%-44s %9s %9s %12s %12s %7s %9s %9s\n", "one thread, whole search, least of 30 runs", "layouts", "fit",
           "time", "layouts/s", "instr.", "vs plain", "(instr.)");
    int64_t first_candidates = 0;
    for (size_t i = 0; i < (quick ? 1 : sizeof searches / sizeof *searches); i++) {
        struct kerf_problem problem = search_problem(i);
        struct subject subject = {&problem, 1, {.cost_model = reference, .top = 10, .threads = 1}, 0, 0};
        report(searches[i].what, &subject);
        if (i == 0) first_candidates = subject.candidates;
    }
    int64_t instructions = measure_valgrind(argv[0], "--rounds");
    if (instructions)
        printf("instructions of the first search, by valgrind: %lld, %.0f a layout\n", (long long)instructions,
               (double)instructions / (double)first_candidates);
    else
        printf("instructions of the first search: not counted, as valgrind is not installed\n");
    if (!quick) {
        published_sweep(reference, 1);
        published_sweep(reference, 0);
    }
    return 0;
}
