/* SPDX-License-Identifier: Apache-2.0 */
#include "score/step_log.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

enum { STEPS_MAX = 1 << 22, WARM_UP_LEAST = 2, STEPS_LEAST = 3 };

/* A number behind these words, on a line that also has the others. */
static const struct form {
    const char *framework, *stack, *words, *beside;
    double unit;   /* times the number */
    int is_tokens; /* tokens/s instead of a time */
} forms[] = {
    {"Megatron-LM", "megatron-core", "elapsed time per iteration (ms):", "iteration", 1e-3, 0},
    {"NeMo", "nemo", "train_step_timing in s", "", 1, 0},
    {"nanotron", "nanotron", "elapsed_time_per_iteration_ms:", "iteration", 1e-3, 0},
    {"torchtitan", "torchtitan", "tps:", "step:", 1, 1},
};
enum { FORMS = sizeof forms / sizeof *forms };

static const char *find(const char *line, const char *end, const char *words) {
    size_t length = strlen(words);
    for (; (size_t)(end - line) >= length; line++)
        if (memcmp(line, words, length) == 0) return line;
    return NULL;
}

/* "5432.1", "3,212", "11.3K" behind ':' or '=', blanks and colours of a terminal; 0: no number above 0. */
static double number_at(const char *at, const char *end) {
    double value = 0, scale = 0;
    int digits = 0;
    while (at < end && (isspace((unsigned char)*at) || *at == ':' || *at == '=' || *at == '\033')) {
        if (*at == '\033')
            while (at < end && *at != 'm') at++;
        if (at < end) at++;
    }
    for (; at < end && (isdigit((unsigned char)*at) || *at == ',' || (*at == '.' && scale == 0)); at++) {
        if (*at == ',') continue;
        if (*at == '.') {
            scale = 1;
            continue;
        }
        if (++digits > 15) return 0;
        value = value * 10 + (*at - '0');
        if (scale > 0) scale *= 10;
    }
    if (scale > 0) value /= scale;
    char suffix = at < end ? *at : ' ';
    if (digits && (suffix == 'e' || suffix == 'E')) return 0; /* no framework writes so */
    return value * (suffix == 'K' ? 1e3 : suffix == 'M' ? 1e6 : suffix == 'B' ? 1e9 : 1);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All numbers of a form, in order; returns how many. */
static int32_t collect(const struct form *form, const char *text, size_t length, double *values) {
    int32_t count = 0;
    const char *end = text + length;
    for (const char *line = text; line < end && count < STEPS_MAX;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL) stop = end;
        const char *at = find(line, stop, form->words);
        if (at && find(line, stop, form->beside)) {
            double value = number_at(at + strlen(form->words), stop);
            if (value > 0 && value < 1e12) values[count++] = value * form->unit;
        }
        line = stop + 1;
    }
    return count;
}

int32_t step_log_read(const char *text, size_t length, const char *name, struct step_log *ret_log,
                      struct kerf_error *err) {
    size_t lines = 1;
    for (size_t i = 0; i < length && lines < STEPS_MAX; i++) lines += text[i] == '\n' || text[i] == '\r';
    double *values = calloc(lines + 1, sizeof *values);
    const struct form *form = NULL;
    int32_t count = 0;
    if (values == NULL) return error_no_memory(err, "the log");
    for (size_t f = 0; f < FORMS && count == 0; f++) {
        form = &forms[f];
        count = collect(form, text, length, values);
    }
    int32_t warm_up = count / 10 > WARM_UP_LEAST ? count / 10 : WARM_UP_LEAST, steps = count - warm_up;
    if (steps < STEPS_LEAST) {
        free(values);
        return count == 0 ? kerf_error_set(err, KERF_EINVALID,
                                           "%.200s: no step times of Megatron-LM, NeMo, torchtitan or nanotron", name)
                          : kerf_error_set(err, KERF_EINVALID,
                                           "%.200s: %d steps of %s; the first %d warm up, and %d more are needed", name,
                                           count, form->framework, warm_up, STEPS_LEAST);
    }
    double *counted = values + warm_up;
    qsort(counted, (size_t)steps, sizeof *counted, compare);
    double median = steps % 2 ? counted[steps / 2] : (counted[steps / 2 - 1] + counted[steps / 2]) / 2;
    double low = counted[(int32_t)(0.16 * (steps - 1))], high = counted[(int32_t)ceil(0.84 * (steps - 1))];
    *ret_log = (struct step_log){.framework = form->framework,
                                 .stack = form->stack,
                                 .step_s = form->is_tokens ? NAN : median,
                                 .tokens_per_s = form->is_tokens ? median : NAN,
                                 .deviation = (high - low) / 2 / median,
                                 .steps = steps};
    free(values);
    return KERF_OK;
}
