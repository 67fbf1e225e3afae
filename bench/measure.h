/* SPDX-License-Identifier: Apache-2.0 */
/* Time and instructions of a piece of work. */
#ifndef KERF_BENCH_MEASURE_H
#define KERF_BENCH_MEASURE_H

#include <stdint.h>

struct measure {
    double seconds;       /* the least of all runs, by the monotonic clock */
    int64_t instructions; /* of the same run, in user space; 0 where the processor's counters are closed to us */
};

/* Runs work(context) `runs` times, and keeps the fastest. */
struct measure measure_least(int runs, void (*work)(void *context), void *context);

/* Instructions of one more round of `argv`, a program that takes the number of rounds as its last argument, counted by
 * valgrind: what two rounds take beyond one. 0 where valgrind is not to be had. For machines that keep their counters
 * closed; the same number at every call. */
int64_t measure_valgrind(const char *program, const char *option);

#endif
