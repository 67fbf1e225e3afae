/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the sequence of a micro-batch is cut into slices, and what each of them takes.
 *
 * Causal attention lets a token attend to all tokens before it, so that its cost grows with its place x in the sequence,
 * 0 to 1, and is 2 a x of the time of a pass of which attention takes the share a; the rest of the pass, 1 - a, is the
 * same for all tokens. The slice from x to y takes
 *
 *     cost(y) - cost(x),   cost(x) = (1 - a) x + a x^2
 *
 * Slices of one cost end where cost(x) is j / k (Sun et al., Seq1F1B, arXiv 2406.03488, equate the operations of slices;
 * this is their equation without its constants). Devices that exchange keys and values so that each does the same part of
 * all attention at hand have slices of one cost and of as many tokens (Li et al., SlimPipe, arXiv 2504.14519).
 *
 * The backward pass has twice the products of the forward pass, in attention and elsewhere, so that a is its share too.
 * None of attention is W's, which has no weights: of I it is the share a B / I, as far as I has room for it.
 */
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/error_fill.h"
#include "base/input.h"
#include "base/json_read.h"
#include "schedule/rules/rule.h"

enum { TIMES_BYTES_MAX = 64 << 20 };
static const double LARGEST = 1e15; /* so that no sum is infinite */

/* What there are shares of. */
enum of { TOKENS, FORWARD, BACKWARD, INPUT, WEIGHT, SHARES };

struct owned_slices {
    struct kerf_schedule_slices slices;
    struct arena arena;
};

static void set_all(struct kerf_schedule_slices *slices, const double *const shares[SHARES]) {
    slices->tokens = shares[TOKENS];
    slices->forward = shares[FORWARD];
    slices->backward = shares[BACKWARD];
    slices->backward_input = shares[INPUT];
    slices->backward_weight = shares[WEIGHT];
}

/* ---- The cut ---------------------------------------------------------------------------------------------- */

/* Where cost(x) is a share; the root that has no difference of nearly equal numbers. */
static double place_of_cost(double attention, double share) {
    const double rest = 1 - attention;
    return share > 0 ? 2 * share / (rest + sqrt(rest * rest + 4 * attention * share)) : 0;
}

/* The shares of a pass with so much attention for slices of these tokens. */
static void share_out(double attention, const double *tokens, int32_t count, double *shares) {
    double x = 0;
    for (int32_t j = 0; j < count; j++) {
        const double y = x + tokens[j];
        shares[j] = tokens[j] * ((1 - attention) + attention * (x + y));
        x = y;
    }
}

static void all_alike(int32_t count, double *shares) {
    for (int32_t j = 0; j < count; j++) shares[j] = 1. / count;
}

static void cut(enum kerf_slice_cut how, double attention, int32_t count, double *tokens) {
    all_alike(count, tokens);
    if (how != KERF_SLICE_CUT_BALANCED || !(attention > 0)) return;
    for (int32_t j = 0; j < count; j++)
        tokens[j] = place_of_cost(attention, (j + 1.) / count) - place_of_cost(attention, (double)j / count);
}

/* The same where the devices share the attention of all slices. */
static void share_exchanged(double attention, const double *tokens, int32_t count, double *shares) {
    for (int32_t j = 0; j < count; j++) shares[j] = (1 - attention) * tokens[j] + attention / count;
}

/* The backward passes of all stages together. */
struct backward {
    double whole_s, input_s, weight_s;
    double input_attention, weight_attention; /* shares of I and of W */
};

static struct backward add_up(const struct kerf_schedule_times *times, int32_t stages, double attention) {
    struct backward sum = {0, 0, 0, 0, 0};
    for (int32_t k = 0; k < stages; k++) {
        sum.whole_s += times->backward_s[k];
        sum.input_s += times->backward_input_s[k];
        sum.weight_s += times->backward_weight_s[k];
    }
    const double of_input = fmin(attention * sum.whole_s, sum.input_s);
    const double of_weight = fmin(attention * sum.whole_s - of_input, sum.weight_s);
    if (sum.input_s > 0) sum.input_attention = of_input / sum.input_s;
    if (sum.weight_s > 0) sum.weight_attention = fmax(of_weight, 0) / sum.weight_s;
    return sum;
}

/* ---- The file --------------------------------------------------------------------------------------------- */

/* Numbers of the file as shares of their sum; not written where the file has none. */
static int32_t read_shares(const struct json_object *file, const char *key, int32_t count, double *shares,
                           int32_t *ret_there, struct kerf_error *err) {
    const json_t *json = json_object_get(file->json, key);
    double sum = 0;
    if (json == NULL) return KERF_OK;
    if (!json_is_array(json) || json_array_size(json) != (size_t)count)
        return json_fail(file, key, KERF_EINVALID, err, "\"%s\" must be an array of %d numbers, one for each slice",
                         key, count);
    for (int32_t j = 0; j < count; j++) {
        const json_t *element = json_array_get(json, (size_t)j);
        shares[j] = json_number_value(element);
        if (!json_is_number(element) || !(shares[j] >= 0 && shares[j] <= LARGEST))
            return json_fail(file, key, KERF_EINVALID, err, "\"%s\"[%d] must be a number from 0 to %g", key, j,
                             LARGEST);
        sum += shares[j];
    }
    if (!(sum > 0)) return json_fail(file, key, KERF_EINVALID, err, "\"%s\" must not be all zeros", key);
    for (int32_t j = 0; j < count; j++) shares[j] /= sum;
    *ret_there = 1;
    return KERF_OK;
}

/* The "slices" of the file of times; there says which shares it has. */
static int32_t read_file(const struct kerf_schedule_slices_request *request, int32_t count,
                         double *const shares[SHARES], int32_t there[SHARES], struct kerf_error *err) {
    static const char *const keys[SHARES] = {"tokens", "forward", "backward", "backward_input", "backward_weight"};
    struct kerf_text text = {0};
    struct json_document document = {.root = NULL};
    struct json_object file, slices;
    int32_t code = KERF_OK;
    if (request->file_text)
        kerf_text_add(&text, request->file_text);
    else
        code = input_read(request->file, TIMES_BYTES_MAX, &text, err);
    if (code == KERF_OK) code = json_document_parse(&document, text.data, text.length, request->file, &file, err);
    if (code == KERF_OK && json_has(&file, "slices")) {
        code = json_get_object(&file, "slices", JSON_OPTIONAL, &slices, err);
        if (code == KERF_OK) code = json_check_keys(&slices, keys, SHARES, err);
        for (int of = 0; of < SHARES && code == KERF_OK; of++)
            code = read_shares(&slices, keys[of], count, shares[of], &there[of], err);
    }
    json_document_free(&document);
    kerf_text_free(&text);
    return code;
}

/* ---- Making them ------------------------------------------------------------------------------------------ */

static int32_t check(const struct kerf_schedule *schedule, const struct kerf_schedule_slices_request *request,
                     struct kerf_error *err) {
    if (!(request->attention >= 0 && request->attention <= 1))
        return kerf_error_set(err, KERF_EINVALID, "attention must be a share from 0 to 1, not %g", request->attention);
    if ((uint32_t)request->cut >= KERF_SLICE_CUTS)
        return kerf_error_set(err, KERF_EINVALID, "cut %d does not exist", (int)request->cut);
    if (schedule->slices > 1 || (request->rule && kerf_schedule_takes_slices(request->rule))) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s does not cut micro-batches into slices", schedule->name);
}

/* One part of the backward pass's shares out of two others: what they say is of sums of times. */
static void mix(const double *one, double one_s, const double *other, double other_s, double whole_s, int32_t count,
                double *shares) {
    double sum = 0;
    for (int32_t j = 0; j < count; j++) {
        shares[j] = whole_s > 0 ? fmax(one_s * one[j] + other_s * other[j], 0) / whole_s : one[j];
        sum += shares[j];
    }
    for (int32_t j = 0; j < count && sum > 0; j++) shares[j] /= sum;
}

/* What the cut and the attention make of what the file does not say; then B follows from I and W that it says, and I
 * from B. */
static void fill_in(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                    const struct kerf_schedule_slices_request *request, const int32_t there[SHARES],
                    double *const shares[SHARES]) {
    const enum kerf_slice_cut how = request->cut != KERF_SLICE_CUT_OWN ? request->cut : rule_slice_cut(request->rule);
    const int32_t count = schedule->slices;
    const struct backward backward = add_up(times, schedule->stages, request->attention);
    const double attention[SHARES] = {0, request->attention, request->attention, backward.input_attention,
                                      backward.weight_attention};
    if (!there[TOKENS]) cut(how, request->attention, count, shares[TOKENS]);
    for (int of = FORWARD; of < SHARES; of++) {
        if (there[of]) continue;
        if (how == KERF_SLICE_CUT_EXCHANGED)
            share_exchanged(attention[of], shares[TOKENS], count, shares[of]);
        else if (how == KERF_SLICE_CUT_BALANCED && !there[TOKENS] && of <= BACKWARD)
            all_alike(count, shares[of]);
        else
            share_out(attention[of], shares[TOKENS], count, shares[of]);
    }
    if (!there[BACKWARD] && (there[INPUT] || there[WEIGHT]))
        mix(shares[INPUT], backward.input_s, shares[WEIGHT], backward.weight_s, backward.whole_s, count,
            shares[BACKWARD]);
    if (there[BACKWARD] && !there[INPUT])
        mix(shares[BACKWARD], backward.whole_s, shares[WEIGHT], -backward.weight_s, backward.input_s, count,
            shares[INPUT]);
}

/* Whether the slices are what a simulation without any takes. */
static int are_alike(double *const shares[SHARES], int32_t count) {
    for (int of = 0; of < SHARES; of++)
        for (int32_t j = 0; j < count; j++)
            if (fabs(shares[of][j] * count - 1) > 1e-12) return 0;
    return 1;
}

int32_t kerf_schedule_slices_make(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                                  const struct kerf_schedule_slices_request *request,
                                  struct kerf_schedule_slices **ret_slices, struct kerf_error *err) {
    double *shares[SHARES];
    int32_t there[SHARES] = {0};
    int32_t code = check(schedule, request, err);
    if (code != KERF_OK) return code;
    struct owned_slices *owned = calloc(1, sizeof *owned);
    if (owned == NULL) return error_no_memory(err, "the slices");
    owned->slices.count = schedule->slices;
    for (int of = 0; of < SHARES; of++) {
        shares[of] = arena_alloc(&owned->arena, (size_t)schedule->slices, sizeof **shares);
        if (shares[of] == NULL) code = error_no_memory(err, "the slices");
    }
    if (code == KERF_OK && request->file) code = read_file(request, schedule->slices, shares, there, err);
    if (code != KERF_OK) {
        kerf_schedule_slices_free(&owned->slices);
        return code;
    }
    fill_in(schedule, times, request, there, shares);
    if (are_alike(shares, schedule->slices)) {
        kerf_schedule_slices_free(&owned->slices);
        *ret_slices = NULL;
        return KERF_OK;
    }
    set_all(&owned->slices, (const double *const *)shares);
    *ret_slices = &owned->slices;
    return KERF_OK;
}

struct kerf_schedule_slices *kerf_schedule_slices_free(struct kerf_schedule_slices *slices) {
    if (slices == NULL) return NULL;
    struct owned_slices *owned = (struct owned_slices *)(void *)slices;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}
