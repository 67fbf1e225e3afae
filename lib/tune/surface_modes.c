/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modes of a machine, by the runs that were repeated. The differences of two runs of one setting, one after the other, are
 * noise in the same mode, and about `slower` in different ones: where they fall into two heaps, the upper one is the size of
 * the mode. Whether there are modes is judged by the evidence of the whole model (surface_judge.c).
 *
 * A normal distribution cannot say "1.00, or 1.25 and all of its runs were slow". Where a setting was seen in both modes
 * its runs are told apart before the model sees them: by the posterior of a mixture whose lower mode lies at any of the
 * setting's runs, or `slower` below it. Where only one mode was seen, the run's mode is unknown.
 */
#include <math.h>
#include <stdlib.h>
#include "tune/surface_model.h"

enum { REPEATS_MAX = 128, LOOKED_AT = 24 };         /* LOOKED_AT: runs of a setting by which each is told apart */
static const double APART = 0.04, APART_NOISES = 5; /* of the heaps, at least: on the model's scale, and in noises */
static const double LARGEST = 0.7;                  /* what is slower by more is no mode of a machine that works */
static const double NOISE = 0.018;                  /* as it is expected, worth NOISE_RUNS repeats */
static const double NOISE_RUNS = 2;
static const double KNOWN = 0.02;      /* a mode less probable than this is ruled out */
static const double SHARE_ERROR = 0.1; /* of the share, by some twenty repeats */

static int is_value(const struct kerf_tune_observation *o) {
    return observation_is_informative(o) && o->outcome == KERF_TUNE_VALUE;
}

static int is_alike(const struct surface_model *model, int32_t a, int32_t b) {
    const struct kerf_tune_observation *of = model->study->observations;
    return is_value(&of[b]) && of[a].setting == of[b].setting && of[a].slot == of[b].slot &&
           surface_model_level(&model->changepoints, a) == surface_model_level(&model->changepoints, b);
}

static double y_of(const struct surface_model *model, int32_t index) {
    return scale_to(&model->scale, model->study->observations[index].value);
}

/* ---- Two heaps --------------------------------------------------------------------------------------------------- */

struct repeat {
    double off; /* of two runs, its size */
    int32_t setting;
};

static int by_off(const void *a, const void *b) {
    const struct repeat *x = a, *y = b;
    if (x->off != y->off) return x->off < y->off ? -1 : 1;
    return (x->setting > y->setting) - (x->setting < y->setting);
}

/* The last ones where they are many. */
static int32_t find_repeats(const struct surface_model *model, int32_t until, struct repeat *ret_repeats) {
    int32_t count = 0;
    for (int32_t i = until - 1; i > 0 && count < REPEATS_MAX; i--) {
        int32_t before = i - 1;
        if (!is_value(&model->study->observations[i])) continue;
        while (before >= 0 && !is_alike(model, i, before)) before--;
        if (before >= 0)
            ret_repeats[count++] =
                (struct repeat){fabs(y_of(model, i) - y_of(model, before)), model->study->observations[i].setting};
    }
    return count;
}

/* Where the upper heap begins: the widest gap, in ratio. */
static int32_t upper_heap(const struct repeat *repeats, int32_t count) {
    int32_t at = 0;
    double widest = 0, below = NOISE;
    for (int32_t i = 0; i < count; i++) {
        if (repeats[i].off / below > widest && repeats[i].off > APART) widest = repeats[i].off / below, at = i;
        below = fmax(below, repeats[i].off);
    }
    return at;
}

/* Many odd differences of one setting alone are something of that setting, and not of the machine. */
static int is_of_one_setting(const struct repeat *repeats, int32_t count) {
    for (int32_t i = 1; i < count; i++)
        if (repeats[i].setting != repeats[0].setting) return 0;
    return count > 2;
}

int modes_suggested(const struct surface_model *model, int32_t until, struct modes *modes) {
    struct repeat repeats[REPEATS_MAX];
    int32_t count = find_repeats(model, until, repeats);
    double squares = NOISE_RUNS * NOISE * NOISE;
    if (count == 0 || !model->scale.logarithmic) return 0;
    qsort(repeats, (size_t)count, sizeof *repeats, by_off);
    int32_t from = upper_heap(repeats, count);
    for (int32_t i = 0; i < from; i++) squares += 0.5 * repeats[i].off * repeats[i].off;
    modes->noise = sqrt(squares / (NOISE_RUNS + from));
    modes->slower = repeats[from + (count - from) / 2].off;
    return modes->slower > fmax(APART, APART_NOISES * modes->noise) && modes->slower < LARGEST &&
           !is_of_one_setting(repeats + from, count - from);
}

/* ---- Which run was in which mode --------------------------------------------------------------------------------- */

static double density(double off, double noise) {
    double z = off / noise;
    return exp(-0.5 * z * z) + 1e-6; /* a run may be something else altogether */
}

/* The last LOOKED_AT runs like that one. */
static int32_t find_alike(const struct surface_model *model, int32_t index, int32_t until, double *ret_y) {
    int32_t count = 0;
    for (int32_t i = until - 1; i >= 0 && count < LOOKED_AT; i--)
        if (is_alike(model, index, i)) ret_y[count++] = y_of(model, i);
    return count;
}

double modes_share(const struct modes *modes) { return fmin(modes->share + SHARE_ERROR, 0.5); }

int modes_label(const struct surface_model *model, int32_t index, int32_t until) {
    const struct modes *modes = &model->modes;
    double y[LOOKED_AT], all = 0, slow = 0, own = y_of(model, index), share = modes_share(modes);
    if (modes->share == 0 || !is_value(&model->study->observations[index])) return GP_MODE_UNKNOWN;
    int32_t count = find_alike(model, index, until, y);
    for (int32_t k = 0; k < 2 * count; k++) {
        double base = y[k / 2] - k % 2 * modes->slower, likely = 1;
        for (int32_t i = 0; i < count; i++)
            likely *= (1 - share) * density(y[i] - base, modes->noise) +
                      share * density(y[i] - base - modes->slower, modes->noise);
        double fast_own = (1 - share) * density(own - base, modes->noise),
               slow_own = share * density(own - base - modes->slower, modes->noise);
        all += likely;
        slow += likely * slow_own / (slow_own + fast_own);
    }
    if (!(all > 0)) return GP_MODE_UNKNOWN;
    return slow < KNOWN * all ? GP_MODE_FAST : slow > (1 - KNOWN) * all ? GP_MODE_SLOW : GP_MODE_UNKNOWN;
}

int modes_label_of(const struct surface_model *model, int32_t index) {
    if (model->modes.share == 0) return GP_MODE_UNKNOWN;
    return index < model->modes.labelled ? model->labels[index] : modes_label(model, index, index + 1);
}

int32_t modes_unknown(const struct surface_model *model, int32_t setting, double *ret_mean) {
    const struct kerf_tune_study *study = model->study;
    double sum = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < study->num_observations; i++) {
        if (study->observations[i].setting != setting || !is_value(&study->observations[i])) continue;
        if (modes_label_of(model, i) != GP_MODE_UNKNOWN) return 0;
        sum += y_of(model, i), count++;
    }
    *ret_mean = sum / count;
    return count;
}
