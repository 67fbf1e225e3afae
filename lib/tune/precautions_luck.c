/* SPDX-License-Identifier: Apache-2.0 */
/* Precautions of luck: few runs that were slow, or one that was fast, by chance. */
#include "tune/precaution_kinds.h"

#include <math.h>

/* A setting next to this one, of those tried, that is slower by what a slow mode adds and was run seldom. A model expects a
 * kink at the best: it takes those runs for the kink, and the best for the next value. Before a cliff nothing beyond speaks
 * against that, and two runs in a row may be slow ones. */
enum { SELDOM = 2, SELDOM_AT_CLIFF = 3 };

static int is_run_seldom(struct kerf_tune_study *study, const struct surface_model *model, int32_t setting, double rise,
                         double beyond) {
    int32_t values = study->tallies[setting].values, enough = beyond > rise ? SELDOM_AT_CLIFF : SELDOM;
    return values > 0 && values < enough && setting_tries(model, setting) == values && rise > LEAST_RISE &&
           rise < FAR_SLOWER;
}

static int32_t run_seldom(struct kerf_tune_study *study, const struct surface_model *model, int32_t of, int32_t param,
                          int32_t side) {
    int32_t own = setting_values(study->space, of)[param], at = 0;
    struct tried tried;
    neighbours_tried(model, of, param, &tried);
    while (at < tried.num && tried.values[at].value != own) at++;
    int32_t next = at + side, last = next + side;
    if (at == tried.num || next < 0 || next >= tried.num || history_is_exact(study)) return -1;
    double mean = tried.values[next].mean;
    double beyond = last >= 0 && last < tried.num ? tried.values[last].mean - mean : 0;
    int32_t setting = neighbour_with(study, of, param, tried.values[next].value);
    return is_run_seldom(study, model, setting, mean - tried.values[at].mean, beyond) ? setting : -1;
}

int32_t precaution_run_seldom(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    return neighbours_on_each_side(study, model, of, run_seldom);
}

/* A setting that was once faster than this one ever was, of less than FASTER_RUNS runs: on a machine of two modes the others
 * may all have been slow ones, and where there are none a few more runs show that it was luck. */
enum { FASTER_RUNS = 5 };
static const double FASTER_NOISES = 3;

int32_t precaution_once_faster(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    double least = setting_runs(model, of).least;
    int32_t faster = -1;
    if (!model->scale.logarithmic || history_is_exact(study) || model->num_slots > 1 || isinf(least)) return -1;
    least -= fmax(log1p(study->question.within), FASTER_NOISES * surface_model_noise(model));
    for (int32_t i = 0; i < model->num_active; i++) {
        int32_t setting = model->active[i], values = study->tallies[setting].values;
        if (values == 0 || values >= FASTER_RUNS || setting_tries(model, setting) > values) continue;
        double fastest = setting_runs(model, setting).least;
        if (fastest < least) least = fastest, faster = setting;
    }
    return faster;
}

/* A setting with at most so many other values than the leader's that was run once, and without that run might be the
 * leader: by so much slower, of a logarithm and of standard deviations. */
enum { DIFFERING = 2 };
static const double SLOW_OVER = 0.1, SLOW_SURE = 1.5;

static int is_ruled_out_by_one_run(const struct surface_model *model, int32_t setting, double y, double least) {
    double mean, sd;
    if (y < least + SLOW_OVER || surface_without(model, setting, &mean, &sd, NULL) != KERF_OK) return 0;
    return mean - sd < least && y > mean + fmax(SLOW_OVER, SLOW_SURE * hypot(sd, surface_model_noise(model)));
}

/* One slow run hides it, and hides what it would tell of those beside it. Where the machine has two modes, their share of
 * slow runs is reckoned with. */
int32_t precaution_slow_once(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    double least = setting_expected(model, of);
    if (isnan(least) || !model->scale.logarithmic || history_is_exact(study)) return -1;
    if (model->modes.share > 0 || model->num_slots > 1) return -1;
    for (int32_t i = 0; i < model->num_active; i++) {
        int32_t setting = model->active[i];
        const struct last_run *only = &model->last[i];
        if (study->tallies[setting].values != 1 || setting_tries(model, setting) > 1 || isnan(only->y)) continue;
        if (neighbours_differ(study->space, setting, of) > DIFFERING) continue;
        if (is_ruled_out_by_one_run(model, setting, only->y, least)) return setting;
    }
    return -1;
}
