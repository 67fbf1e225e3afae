/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options that are amounts: times and shares. */
#ifndef KERF_CLI_AMOUNTS_H
#define KERF_CLI_AMOUNTS_H

#include "kerf/error.h"

/* "90s", "10m", "1h30m", "500ms", "52w" as seconds, above 0. option: what the error calls it, "--budget". */
int32_t amount_of_time(const char *option, const char *text, double *ret_seconds, struct kerf_error *err);

/* "3%" or "0.03": above 0 and below 1. */
int32_t amount_of_share(const char *option, const char *text, double *ret_share, struct kerf_error *err);

#endif
