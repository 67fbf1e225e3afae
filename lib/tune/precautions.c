/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of precautions in their order, and what concerns a study as a whole: settings that were never tried, the default,
 * a changed machine. */
#include "tune/precautions.h"

#include <math.h>
#include "tune/kernel.h"
#include "tune/precaution_kinds.h"

enum { ANCHOR_TRIES = 2 };

/* At random: a fixed order would always leave the same ones for last. */
int32_t precaution_untried(const struct surface_model *model) {
    struct pcg64 rng = history_random(model->study);
    int32_t best = -1, ties = 0;
    for (int32_t i = 0; i < model->num_active; i++) {
        int32_t setting = model->active[i];
        if (setting_tries(model, setting) > 0 || !history_is_open(model->study, setting)) continue;
        if (random_to(&rng, (uint32_t)ties++) == 0) best = setting;
    }
    return best;
}

int32_t precaution_beside(const struct surface_model *model, int32_t of) {
    const struct kerf_tune_study *study = model->study;
    const struct kerf_tune_space *space = study->space;
    const int32_t *from = setting_values(space, of);
    for (int32_t k = 0; k < space->num_params; k++)
        for (int32_t step = -1; step <= 1 && kernel_is_ordered(&space->params[k]); step += 2) {
            int32_t beside = -1, tried = 0;
            for (int32_t i = 0; i < model->num_active; i++) {
                int32_t setting = model->active[i];
                if (setting_values(space, setting)[k] != from[k] + step) continue;
                tried |= setting_tries(model, setting) > 0;
                if (history_is_open(study, setting) && neighbours_but(space, setting, of, k)) beside = setting;
            }
            if (!tried && beside >= 0) return beside;
        }
    return -1;
}

int32_t precaution_at(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                      const char **ret_why) {
    static const struct {
        precaution_find *find;
        const char *why;
    } PRECAUTIONS[] = {
        {precaution_word, "another word, where little like the leader was measured"},
        {precaution_multiple, "a multiple, of which none like it was measured"},
        {precaution_size, "at a size of the machine, where nothing was measured"},
        {precaution_step, "before a step, where nothing was measured"},
        {precaution_behind_wall, "behind a wall, with a value that may move it"},
        {precaution_around_wall, "over a wall beside the leader, and a step back on another axis"},
        {precaution_presumed_out, "beside the leader: is memory really too small for it?"},
        {precaution_run_seldom, "beside the leader: were its few runs slow by chance?"},
        {precaution_slow_once, "one run alone speaks against it: was that chance?"},
        {precaution_once_faster, "it was once faster than the leader ever was: by chance?"},
    };
    for (size_t i = 0; i < sizeof PRECAUTIONS / sizeof *PRECAUTIONS; i++) {
        int32_t setting = PRECAUTIONS[i].find(study, model, of);
        *ret_why = PRECAUTIONS[i].why;
        if (setting >= 0) return setting;
    }
    return -1;
}

/* Whether this run is so much faster than all before of its setting that the machine may have changed. */
static int is_far_faster(const struct surface_model *model, int32_t run) {
    const struct kerf_tune_observation *all = model->study->observations, *o = &all[run];
    double before = INFINITY;
    if (!model->scale.logarithmic) return 0;
    for (int32_t i = 0; i < run; i++)
        if (all[i].setting == o->setting && history_tells(model->study, &all[i]))
            before = fmin(before, scale_to(&model->scale, all[i].value));
    return isfinite(before) && scale_to(&model->scale, o->value) < before - FAR_SLOWER;
}

int precaution_is_outdated(const struct surface_model *model, int32_t leader) {
    int32_t at = surface_model_find(model, leader);
    return model->changepoints.num > 0 && at >= 0 && isnan(model->last[at].y) &&
           surface_model_pending(model, leader) == 0;
}

int32_t precaution_anchor(const struct surface_model *model, int32_t leader) {
    const struct kerf_tune_study *study = model->study;
    int32_t anchor = -1, led = 0, tries = 0;
    for (int32_t i = 0; i < study->num_observations; i++) {
        const struct kerf_tune_observation *o = &study->observations[i];
        int tells = history_tells(study, o);
        if (led && o->setting == anchor) tries += tells ? ANCHOR_TRIES : 1;
        if (tells && anchor < 0) anchor = o->setting;
        led |= tells && o->setting == leader;
        if (tells && o->setting != anchor && is_far_faster(model, i)) tries = 0;
    }
    if (anchor >= 0 && surface_model_pending(model, anchor) > 0) return -1;
    return tries >= ANCHOR_TRIES || anchor == leader ? -1 : anchor;
}
