/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Megatron-LM's timers in a log (--timing-log-level 1 or 2), as megatron/core/timers.py prints them after a step:
 *
 *   (min, max) time across ranks (ms):
 *       forward-backward ...............................: (5012.31, 5040.77)
 *       all-grads-sync .................................: (0.03, 310.02)
 *
 * or with --timing-log-option max one number. The slowest rank counts; of the steps the median, without the first two.
 */
#ifndef KERF_SCORE_TIMER_LOG_H
#define KERF_SCORE_TIMER_LOG_H

#include <stddef.h>
#include <stdint.h>
#include "kerf/error.h"

enum { TIMERS_MAX = 48, TIMER_NAME_SIZE = 48 };

struct timer_log {
    int32_t count;
    struct timer {
        char name[TIMER_NAME_SIZE]; /* "all-grads-sync" */
        double seconds;             /* the median of a step */
        int32_t steps;
    } of[TIMERS_MAX];
};

/* A log without timers has none: count 0. KERF_ENOMEM alone. */
int32_t timer_log_read(const char *text, size_t length, struct timer_log *ret_log, struct kerf_error *err);

/* Seconds of the timer of this name; NAN: there is none. */
double timer_log_find(const struct timer_log *log, const char *name);

#endif
