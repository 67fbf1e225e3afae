/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <assert.h>

static double read_s(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_now_s(void) { return read_s(CLOCK_REALTIME); }

double clock_ticks_s(void) { return read_s(CLOCK_MONOTONIC); }

struct timespec clock_ticks_after(double seconds) {
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
