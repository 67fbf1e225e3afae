/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/jobs_metric.h"

#include <math.h>
#include <string.h>
#include "base/number.h"
#include "kerf/text.h"

int32_t metric_compile(const char *text, const char *option, struct metric_pattern *ret_pattern,
                       struct kerf_error *err) {
    char why[128];
    if (text == NULL) return KERF_OK;
    int status = regcomp(&ret_pattern->regex, text, REG_EXTENDED | REG_NEWLINE);
    if (status == 0) {
        ret_pattern->is_there = 1;
        return KERF_OK;
    }
    regerror(status, &ret_pattern->regex, why, sizeof why);
    return kerf_error_set(err, KERF_EINVALID, "%s '%.100s': %s; 'accuracy: ([0-9.]+)' is one", option, text, why);
}

void metric_free(struct metric_pattern *pattern) {
    if (pattern->is_there) regfree(&pattern->regex);
    pattern->is_there = 0;
}

/* The whole of the match has to be a number. */
static int read_number(const char *begin, size_t length, double *ret_number) {
    char text[64], *end;
    while (length > 0 && begin[length - 1] == '.') length--; /* of "[0-9.]+" at the end of a sentence */
    if (length == 0 || length >= sizeof text) return 0;
    memcpy(text, begin, length);
    text[length] = 0;
    double number = number_read(text, &end);
    if (*end != 0 || !isfinite(number)) return 0;
    *ret_number = number;
    return 1;
}

int metric_find(const struct metric_pattern *pattern, const char *line, double *ret_number) {
    regmatch_t match[2];
    int found = 0, flags = 0;
    while (pattern->is_there && regexec(&pattern->regex, line, 2, match, flags) == 0) {
        const regmatch_t *number = pattern->regex.re_nsub > 0 && match[1].rm_so >= 0 ? &match[1] : &match[0];
        found |= read_number(line + number->rm_so, (size_t)(number->rm_eo - number->rm_so), ret_number);
        if (match[0].rm_eo == 0 && line[0] == 0) break;
        line += match[0].rm_eo > 0 ? match[0].rm_eo : 1;
        flags = REG_NOTBOL;
    }
    return found;
}
