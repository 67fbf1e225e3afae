/* SPDX-License-Identifier: Apache-2.0 */
/* A program that behaves: prints what the first argument says of the others.
 *   echo TEXT...        each on a line        env NAME            a variable
 *   spin SECONDS        computes so long      fill MIB            touches memory
 *   bench MS...         as llama-bench -o jsonl, a test each, between which it sleeps as long
 *   status N TEXT       ends with the status */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double cpu_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "echo") == 0)
        for (int i = 2; i < argc; i++) puts(argv[i]);
    if (strcmp(what, "env") == 0 && argc > 2) puts(getenv(argv[2]) ? getenv(argv[2]) : "nothing");
    if (strcmp(what, "spin") == 0 && argc > 2)
        while (cpu_s() < atof(argv[2])) {
        }
    if (strcmp(what, "bench") == 0) {
        fprintf(stderr, "load_backend: loaded CPU backend\n");
        for (int i = 2; i < argc && atoi(argv[i]) > 0; i++) {
            double ns = 1e6 * atoi(argv[i]);
            printf("{\"build_commit\": \"none\", \"n_prompt\": 512, \"avg_ns\": %.0f, \"avg_ts\": %g, "
                   "\"samples_ns\": [ %.0f, %.0f ]}\n",
                   ns, 512e9 / ns, ns - 1000, ns + 1000);
            fflush(stdout);
            if (i + 1 < argc && atoi(argv[i + 1]) > 0) usleep((useconds_t)(1000 * atoi(argv[i])));
        }
    }
    if (strcmp(what, "status") == 0 && argc > 3) fprintf(stderr, "%s\n", argv[3]);
    return strcmp(what, "status") == 0 && argc > 2 ? atoi(argv[2]) : 0;
}
