/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small languages inside Megatron-LM's flags.
 *
 *   --pipeline-model-parallel-layout   stages between bars: E embedding, t decoder layer, m multi-token prediction, L loss;
 *                                      X*3 repeats one letter, (...)*3 a part, bars included
 *   --moe-layer-freq                   a number, or Python's sums and products of lists of 0 and 1
 */
#include <ctype.h>
#include <string.h>
#include "launch/launch_reading.h"
#include "launch/megatron_patterns.h"

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

struct stages {
    const char *at;
    int32_t *layers;
    int32_t count, most, depth;
    int is_bad;
};

static int64_t number(const char **at) {
    int64_t value = 0;
    while (isdigit((unsigned char)**at) && value < 100000) value = value * 10 + (*(*at)++ - '0');
    return value;
}

static int64_t times(struct stages *stages) {
    if (*stages->at != '*') return 1;
    stages->at++;
    if (!isdigit((unsigned char)*stages->at)) stages->is_bad = 1;
    int64_t value = number(&stages->at);
    if (value < 1 || value > stages->most) stages->is_bad = 1;
    return value;
}

/* Up to the end or the closing bracket. */
static void stage_part(struct stages *stages) {
    if (++stages->depth > 8) stages->is_bad = 1;
    while (*stages->at && *stages->at != ')' && !stages->is_bad) {
        char c = *stages->at;
        if (c == '(') {
            const char *start = ++stages->at;
            stage_part(stages);
            if (*stages->at != ')') stages->is_bad = 1;
            if (stages->is_bad) break;
            stages->at++;
            int64_t repeats = times(stages);
            const char *after = stages->at;
            /* a part that adds nothing is read once; one that does ends at the largest number of stages */
            for (int64_t i = 1; i < repeats && !stages->is_bad; i++) {
                int32_t had = stages->count, layers = stages->layers[stages->count];
                stages->at = start;
                stage_part(stages);
                if (had == stages->count && layers == stages->layers[had]) break;
            }
            stages->at = after;
            continue;
        }
        stages->at++;
        if (c == '|') {
            if (stages->count + 1 >= stages->most)
                stages->is_bad = 1;
            else
                stages->layers[++stages->count] = 0;
        } else if (strchr("EtmL", c)) {
            int64_t repeats = times(stages);
            if (c == 't' && !stages->is_bad) stages->layers[stages->count] += (int32_t)repeats;
            if (stages->layers[stages->count] > 1 << 20) stages->is_bad = 1;
        } else if (c != ' ' && c != ',') {
            stages->is_bad = 1;
        }
    }
    stages->depth--;
}

int32_t launch_pipeline_layout(const char *text, int32_t *ret_layers, int32_t most) {
    struct stages stages = {.at = text, .layers = ret_layers, .most = most};
    ret_layers[0] = 0;
    stage_part(&stages);
    return stages.is_bad || *stages.at ? 0 : stages.count + 1;
}

/* ---- Layers with experts ----------------------------------------------------------------------------------------- */

enum { LAYERS_MAX = 4096 };

struct pattern {
    const char *at;
    int8_t of[LAYERS_MAX];
    int32_t count, depth;
    int is_bad;
};

static void skip(struct pattern *pattern) {
    while (*pattern->at == ' ') pattern->at++;
}

static void pattern_sum(struct pattern *pattern);

/* [0,1] or (...), each perhaps with *N behind it. */
static void pattern_term(struct pattern *pattern) {
    int32_t start = pattern->count;
    skip(pattern);
    char open = *pattern->at++;
    if (open == '[') {
        while (*pattern->at && *pattern->at != ']') {
            char c = *pattern->at++;
            if ((c == '0' || c == '1') && pattern->count < LAYERS_MAX)
                pattern->of[pattern->count++] = (int8_t)(c - '0');
            else if (c != ',' && c != ' ')
                pattern->is_bad = 1;
        }
    } else if (open == '(' && pattern->depth < 8) {
        pattern->depth++;
        pattern_sum(pattern);
        pattern->depth--;
    } else {
        pattern->is_bad = 1;
    }
    if (pattern->is_bad || *pattern->at != (open == '[' ? ']' : ')')) {
        pattern->is_bad = 1;
        return;
    }
    pattern->at++;
    skip(pattern);
    if (*pattern->at != '*') return;
    pattern->at++;
    skip(pattern);
    int32_t length = pattern->count - start;
    int64_t repeats = number(&pattern->at);
    if (length * repeats > LAYERS_MAX - start) {
        pattern->is_bad = 1;
        return;
    }
    for (int64_t i = 1; i < repeats; i++) memcpy(pattern->of + start + i * length, pattern->of + start, (size_t)length);
    pattern->count = start + (int32_t)(repeats * length);
}

static void pattern_sum(struct pattern *pattern) {
    for (;;) {
        pattern_term(pattern);
        skip(pattern);
        if (pattern->is_bad || *pattern->at != '+') return;
        pattern->at++;
    }
}

int launch_layer_pattern(const char *text, int64_t *ret_first_dense, int64_t *ret_step) {
    struct pattern pattern = {.at = text};
    int64_t step = 0;
    if (launch_whole_number(text, &step)) { /* layer 0, step, 2 step, ... */
        if (step != 1) return 0;
        *ret_first_dense = 0, *ret_step = 1;
        return 1;
    }
    pattern_sum(&pattern);
    if (pattern.is_bad || *pattern.at || pattern.count == 0) return 0;
    int32_t first = 0, next;
    while (first < pattern.count && pattern.of[first] == 0) first++;
    for (next = first + 1; next < pattern.count && pattern.of[next] == 0;) next++;
    int64_t every = next < pattern.count ? next - first : 1;
    if (first < pattern.count && (first + 1) % every) return 0;
    for (int32_t i = first; i < pattern.count; i++)
        if (pattern.of[i] != ((i + 1) % every == 0)) return 0;
    *ret_first_dense = every > 1 && first == every - 1 ? 0 : first;
    *ret_step = every;
    return 1;
}
