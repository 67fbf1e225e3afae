/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that runs while we watch: in a process group of its own, its output passed on and read line by line.
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT, from script_signals on, are the program's: they are passed on to its group. When
 * it is still there `grace_s` after the first of them, or after script_stop, it is killed.
 */
#ifndef KERF_CLIENT_SCRIPT_H
#define KERF_CLIENT_SCRIPT_H

#include "kerf/error.h"

struct script;

struct script_watcher {
    void (*line)(void *context, const char *line); /* of standard output or error; an end of line or '\r' ends it */
    void (*tick)(void *context);                   /* about twice a second */
    void *context;
    double grace_s;
};

/* Nothing interrupts this process any more. KERF_EUNSUPPORTED where the system refuses. */
int32_t script_signals(struct script **ret_script, struct kerf_error *err);

/* argv[0] is looked for in $PATH. KERF_EUNKNOWN: there is no such program; KERF_EUNSUPPORTED: it cannot be started. */
int32_t script_start(struct script *script, char *const argv[], struct kerf_error *err);

/* Until it is over. The watcher may call script_stop. */
void script_wait(struct script *script, const struct script_watcher *watcher);
void script_stop(struct script *script);

/* Returns after so many seconds, or when one of the signals comes. */
void script_pause(struct script *script, double seconds);

int script_status(const struct script *script);         /* as shells have it: 128 + the signal that ended it */
int script_is_interrupted(const struct script *script); /* 1: one of the signals came */
void script_free(struct script *script);                /* NULL is fine */

#endif
