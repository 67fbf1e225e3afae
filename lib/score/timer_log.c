/* SPDX-License-Identifier: Apache-2.0 */
#include "score/timer_log.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

enum { WARM_UP = 2, STEPS_MAX = 1 << 20 };

/* All numbers of one timer. */
struct series {
    char name[TIMER_NAME_SIZE];
    double *values;
    int32_t count, room;
};

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const struct series *series) {
    int32_t from = series->count > WARM_UP ? WARM_UP : series->count - 1, count = series->count - from;
    double *values = series->values + from;
    qsort(values, (size_t)count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* A decimal number; moves *at behind it. -1: there is none. */
static double number(const char **at, const char *end) {
    double value = 0, scale = 0;
    int digits = 0;
    while (*at < end && **at == ' ') (*at)++;
    for (; *at < end && (isdigit((unsigned char)**at) || (**at == '.' && scale == 0)) && digits < 16; (*at)++) {
        if (**at == '.') {
            scale = 1;
            continue;
        }
        value = value * 10 + (**at - '0');
        digits++;
        if (scale > 0) scale *= 10;
    }
    if (digits == 0) return -1;
    return scale > 0 ? value / scale : value;
}

/* "    NAME .....: (MIN, MAX)" or "    NAME .....: MAX": the name and the larger number in ms; 0: another line. */
static int read_line(const char *line, const char *end, char name[TIMER_NAME_SIZE], double *ret_ms) {
    const char *at = line;
    size_t length = 0;
    while (at < end && *at == ' ') at++;
    if (at - line < 2) return 0;
    while (at < end && (islower((unsigned char)*at) || *at == '-' || *at == '_') && length + 1 < TIMER_NAME_SIZE)
        name[length++] = *at++;
    name[length] = '\0';
    const char *dots = at;
    while (at < end && (*at == ' ' || *at == '.')) at++;
    if (length == 0 || at - dots < 3 || at == end || *at != ':') return 0;
    at++;
    while (at < end && *at == ' ') at++;
    int is_pair = at < end && *at == '(';
    if (is_pair) at++;
    double first = number(&at, end), second = first;
    if (is_pair) {
        if (at == end || *at != ',') return 0;
        at++;
        second = number(&at, end);
    }
    if (first < 0 || second < 0 || second > 1e12) return 0;
    *ret_ms = second > first ? second : first;
    return 1;
}

static int append(struct series *series, double value) {
    if (series->count == STEPS_MAX) return 1;
    if (series->count == series->room) {
        int32_t room = series->room ? 2 * series->room : 64;
        double *values = realloc(series->values, (size_t)room * sizeof *values);
        if (values == NULL) return 0;
        series->values = values, series->room = room;
    }
    series->values[series->count++] = value;
    return 1;
}

int32_t timer_log_read(const char *text, size_t length, struct timer_log *ret_log, struct kerf_error *err) {
    struct series *all = calloc(TIMERS_MAX, sizeof *all);
    struct timer_log log = {.count = 0};
    int32_t count = 0;
    int good = all != NULL;
    for (const char *line = text, *end = text + length; good && line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        char name[TIMER_NAME_SIZE];
        double ms;
        if (stop == NULL) stop = end;
        if (read_line(line, stop, name, &ms)) {
            int32_t i = 0;
            while (i < count && strcmp(all[i].name, name) != 0) i++;
            if (i == count && count < TIMERS_MAX) memcpy(all[count++].name, name, sizeof name);
            if (i < TIMERS_MAX) good = append(&all[i], ms * 1e-3);
        }
        line = stop + 1;
    }
    for (int32_t i = 0; good && i < count; i++) {
        struct timer *timer = &log.of[log.count++];
        memcpy(timer->name, all[i].name, sizeof timer->name);
        timer->steps = all[i].count;
        timer->seconds = median_of(&all[i]);
    }
    for (int32_t i = 0; all && i < count; i++) free(all[i].values);
    free(all);
    if (!good) return error_no_memory(err, "the timers");
    *ret_log = log;
    return KERF_OK;
}

double timer_log_find(const struct timer_log *log, const char *name) {
    for (int32_t i = 0; i < log->count; i++)
        if (strcmp(log->of[i].name, name) == 0) return log->of[i].seconds;
    return NAN;
}
