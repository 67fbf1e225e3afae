/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast hybrid layouts are searched by the analytic cost model, on one thread: the search that proves its answer
 * beside the one that prices every layout, in one run, and the whole times of large spaces.
 *
 *     layouts             all searches
 *     layouts --quick     the first one alone: llama3_70b on 512 h100
 *     layouts --rounds N  the first one, exhaustive, N times without a word, for a program that counts instructions
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/kerf.h"
#include "measure.h"

struct subject {
    struct kerf_problem problem;
    struct kerf_plan_options options;
    int64_t candidates, priced;
};

static void search(void *context) {
    struct subject *subject = context;
    struct kerf_plan *plan = NULL;
    struct kerf_error err;
    if (kerf_plan_search(&subject->problem, 1, &subject->options, &plan, &err) != KERF_OK) {
        fprintf(stderr, "bench: %s\n", err.message);
        exit(1);
    }
    subject->candidates = plan->searches[0].candidates;
    subject->priced = plan->searches[0].priced;
    kerf_plan_free(plan);
}

static const struct kerf_space wide = {.is_wide = 1};

static const struct {
    const char *what, *model;
    int64_t gpus, batch, length;
    const struct kerf_space *space;
    int is_exhaustive_too;
} searches[] = {
    {"llama3_70b on 512", "llama3_70b", 512, 1024, 8192, NULL, 1},
    {"gpt3_1t on 1,024", "gpt3_1t", 1024, 4096, 2048, NULL, 1},
    {"deepseek_v3 on 2,048", "deepseek_v3", 2048, 15360, 4096, NULL, 1},
    {"gpt3_1t on 1,024, wide", "gpt3_1t", 1024, 4096, 2048, &wide, 0},
    {"deepseek_v3 on 2,048, wide", "deepseek_v3", 2048, 15360, 4096, &wide, 0},
};

static struct subject subject_of(size_t i, const struct kerf_cost_model *cost_model, int32_t exhaustive) {
    struct subject subject = {.options = {.cost_model = cost_model, .top = 10, .threads = 1, .exhaustive = exhaustive}};
    if (kerf_model_load(searches[i].model, &subject.problem.model, NULL) != KERF_OK ||
        kerf_system_load("h100", &subject.problem.system, NULL) != KERF_OK)
        exit(1);
    subject.problem.strategy = KERF_STRATEGY_HYBRID;
    subject.problem.gpus = searches[i].gpus;
    subject.problem.global_batch = searches[i].batch;
    subject.problem.seq_length = searches[i].length;
    subject.problem.space = searches[i].space;
    return subject;
}

static void report(size_t i, const struct kerf_cost_model *cost_model) {
    struct subject subject = subject_of(i, cost_model, 0);
    struct measure proved = measure_least(3, search, &subject);
    printf("%-28s %12lld %9lld %9.3f s", searches[i].what, (long long)subject.candidates, (long long)subject.priced,
           proved.seconds);
    if (searches[i].is_exhaustive_too) {
        struct subject all = subject_of(i, cost_model, 1);
        struct measure every = measure_least(1, search, &all);
        printf(" %9.3f s %8.2f M/s %6.0fx", every.seconds, (double)all.candidates / every.seconds / 1e6,
               every.seconds / proved.seconds);
        if (every.instructions) printf(" %8.0f", (double)every.instructions / (double)all.candidates);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const struct kerf_cost_model *analytic;
    if (kerf_cost_model_find("analytic", &analytic, NULL) != KERF_OK) return 1;
    if (argc > 2 && strcmp(argv[1], "--rounds") == 0) {
        struct subject subject = subject_of(0, analytic, 1);
        for (int round = atoi(argv[2]); round > 0; round--) search(&subject);
        return 0;
    }
    printf("%-28s %12s %9s %11s %11s %12s %7s\n", "one thread", "layouts", "priced", "proved", "exhaustive",
           "layouts/s", "ratio");
    for (size_t i = 0; i < (quick ? 1 : sizeof searches / sizeof *searches); i++) report(i, analytic);
    int64_t instructions = measure_valgrind(argv[0], "--rounds");
    struct subject first = subject_of(0, analytic, 0);
    search(&first);
    if (instructions)
        printf("instructions of the first search, exhaustive, by valgrind: %lld, %.0f a layout\n",
               (long long)instructions, (double)instructions / (double)first.candidates);
    else
        printf("instructions of the first search: not counted, as valgrind is not installed\n");
    return 0;
}
