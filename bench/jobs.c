/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a decision takes, and which policy loses least: the published traces of Zeus replayed against each. Regret is
 * what a job's recurrences cost beyond those of one that always ran the best size, in runs of that size: R_20 and R_50
 * after 20 and 50 recurrences, R_N after N = 2 * sizes * power limits of them, the length of the paper.
 *
 *     build/release/bench/jobs [FOLDER]
 *
 * FOLDER holds summary_train.csv and summary_power_*.csv of github.com/ml-energy/zeus (examples/research_reproducibility/
 * zeus_nsdi23/trace); the traces are not part of kerf. Without FOLDER only decisions are measured.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_speed.h"
#include "recurrences.h"

enum { SEEDS = 20, POLICIES_MAX = 8, RECURRENCES_MAX = 1024, MARKS = 3 };

struct score {
    double at[MARKS];
};

static struct score score(const struct problem *problem, const char *policy, int seeds) {
    static double regret[RECURRENCES_MAX];
    int32_t n = 2 * problem->num_sizes * problem->num_limits;
    if (n > RECURRENCES_MAX) n = RECURRENCES_MAX;
    int32_t mark[MARKS] = {n < 20 ? n : 20, n < 50 ? n : 50, n};
    struct score mean = {{0}};
    for (int seed = 0; seed < seeds; seed++) {
        replay(problem, policy, (uint64_t)seed + 1, n, regret);
        for (int i = 0; i < MARKS; i++) mean.at[i] += regret[mark[i] - 1] / seeds;
    }
    return mean;
}

static void compare(const char *title, const struct problem *problems, int32_t count, int published, int seeds) {
    struct score total[POLICIES_MAX] = {{{0}}};
    int32_t wins[POLICIES_MAX] = {0}, chosen = 0;
    double worst[POLICIES_MAX] = {0};
    const struct kerf_job_policy *policy;
    for (int32_t i = 0; i < count; i++) {
        double first = 0;
        if (problems[i].published != published || !isfinite(problems[i].oracle)) continue;
        chosen++;
        for (size_t k = 0; k < POLICIES_MAX && (policy = kerf_job_policy_at(k)); k++) {
            struct score mean = score(&problems[i], policy->name, seeds);
            if (k == 0) first = mean.at[MARKS - 1];
            for (int m = 0; m < MARKS; m++) total[k].at[m] += mean.at[m];
            wins[k] += mean.at[MARKS - 1] < first;
            worst[k] = fmax(worst[k], mean.at[MARKS - 1] / first);
        }
    }
    printf("%s: %d problems, %d seeds each\n%-10s %8s %8s %8s %8s %12s\n", title, (int)chosen, seeds, "policy", "R_20",
           "R_50", "R_N", "wins", "worst ratio");
    for (size_t k = 0; k < POLICIES_MAX && (policy = kerf_job_policy_at(k)); k++)
        printf("%-10s %8.2f %8.2f %8.2f %8d %12.2f\n", policy->name, total[k].at[0] / chosen, total[k].at[1] / chosen,
               total[k].at[2] / chosen, (int)wins[k], worst[k]);
}

int main(int argc, char **argv) {
    static const char traces[] = "examples/research_reproducibility/zeus_nsdi23/trace of github.com/ml-energy/zeus";
    int32_t count;
    measure_decisions();
    if (argc < 2) {
        printf("policies are not compared: give a copy of %s\n", traces);
        return 0;
    }
    struct problem *problems = read_problems(argv[1], &count);
    if (problems == NULL) {
        fprintf(stderr, "%s holds no traces: they are %s\n", argv[1], traces);
        return 2;
    }
    compare("as published", problems, count, 1, SEEDS);
    compare("other targets and defaults", problems, count, 0, SEEDS / 2);
    free(problems);
    return 0;
}
