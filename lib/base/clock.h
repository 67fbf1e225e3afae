/* SPDX-License-Identifier: Apache-2.0 */
/* The time, in seconds. What decides takes it as an argument; what runs, stores and serves reads it here. */
#ifndef KERF_BASE_CLOCK_H
#define KERF_BASE_CLOCK_H

#include <time.h>

/* Seconds since 1970, UTC. Goes back when somebody sets the clock. */
double clock_now_s(void);

/* Seconds since some moment, which never go back: for durations and deadlines. */
double clock_ticks_s(void);

/* clock_ticks_s() + seconds as pthread_cond_timedwait takes it of a condition that uses CLOCK_MONOTONIC. */
struct timespec clock_ticks_after(double seconds);

#endif
