/* SPDX-License-Identifier: Apache-2.0 */
/* How the program ends. */
#ifndef KERF_CLI_STATUS_H
#define KERF_CLI_STATUS_H

#include "kerf/error.h"

enum exit_status {
    EXIT_ANSWERED = 0,
    EXIT_NO_ANSWER = 1, /* no feasible answer; the nearest miss is explained */
    EXIT_USAGE = 2,     /* bad usage or input */
    EXIT_FAILED = 3,    /* failed while running */
    EXIT_INTERRUPTED = 130
};

/* Prints "kerf: ..." on standard error and returns the status: usage for what the user gave, failed for the rest. */
int cli_fail(const struct kerf_error *err);

#endif
