/* SPDX-License-Identifier: Apache-2.0 */
/* The time, in seconds. Code that decides takes it as an argument; code that runs, stores and serves reads it here. */
#ifndef KERF_BASE_CLOCK_H
#define KERF_BASE_CLOCK_H

#include <assert.h>
#include <time.h>

static inline double clock_read_s(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds since 1970, UTC. May go back when the clock is set. */
static inline double clock_now_s(void) { return clock_read_s(CLOCK_REALTIME); }

/* Seconds since some moment, which never go back: for durations and deadlines. */
static inline double clock_ticks_s(void) { return clock_read_s(CLOCK_MONOTONIC); }

/* clock_ticks_s() + seconds as pthread_cond_timedwait takes it of a condition that uses CLOCK_MONOTONIC. */
static inline struct timespec clock_ticks_after(double seconds) {
    assert(seconds >= 0 && seconds < 1e9);
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += (time_t)seconds;
    at.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

#endif
