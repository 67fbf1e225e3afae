/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in a program's output, by extended regular expressions: what the first group matches, else all of it. */
#ifndef KERF_CLI_JOBS_METRIC_H
#define KERF_CLI_JOBS_METRIC_H

#include <regex.h>
#include "kerf/error.h"

struct metric_pattern {
    regex_t regex;
    int is_there;
};

/* text NULL: a pattern that matches nothing. option: "--metric-regex". */
int32_t metric_compile(const char *text, const char *option, struct metric_pattern *ret_pattern,
                       struct kerf_error *err);
void metric_free(struct metric_pattern *pattern);

/* 1 and the last number of the line; 0: there is none. */
int metric_find(const struct metric_pattern *pattern, const char *line, double *ret_number);

#endif
