/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that share most values with another one, and what is known of them. */
#ifndef KERF_TUNE_NEIGHBOURS_H
#define KERF_TUNE_NEIGHBOURS_H

#include "tune/active_set.h"
#include "tune/surface_model.h"

/* How often a setting was tried, or is pending. */
int32_t setting_tries(const struct surface_model *model, int32_t setting);

/* What the model expects of it, on the model's scale; NAN: it is not modelled, or not in the space (-1). */
double setting_expected(const struct surface_model *model, int32_t setting);

/* Of a setting that is not modelled, as of a large space, nothing is expected. `by` is of a logarithm. */
int setting_is_far_slower(const struct surface_model *model, int32_t setting, int32_t than, double by);

/* Its runs since the machine last changed: how many, and between what they lie, on the model's scale. */
struct setting_runs {
    int32_t num;
    double least, most; /* INFINITY and -INFINITY: there are none */
};

struct setting_runs setting_runs(const struct surface_model *model, int32_t setting);

/* A setting with another value of one parameter; -1: it is not in the space. */
int32_t neighbour_with(struct kerf_tune_study *study, int32_t of, int32_t param, int32_t value);

/* Whether two settings share all values but those of one parameter, which may differ. */
int neighbours_but(const struct kerf_tune_space *space, int32_t a, int32_t b, int32_t param);

/* The one parameter besides `param` in which the two differ; -1: none, or more. */
int32_t neighbours_differ_in(const struct kerf_tune_space *space, int32_t a, int32_t b, int32_t param);

/* In how many parameters they differ. */
int32_t neighbours_differ(const struct kerf_tune_space *space, int32_t a, int32_t b);

/* Values of one parameter that were tried with a setting's other values, from the smallest on. */
struct tried {
    int32_t num;
    struct tried_value {
        int32_t value;
        double at, mean, sd; /* on the axis (kernel_position); of the model, on its scale */
    } values[ACTIVE_MAX];
};

void neighbours_tried(const struct surface_model *model, int32_t of, int32_t param, struct tried *ret_tried);

/* The first that `find` finds from a setting, to either side of each ordered axis; -1: nothing. */
int32_t neighbours_on_each_side(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                                int32_t (*find)(struct kerf_tune_study *study, const struct surface_model *model,
                                                int32_t of, int32_t param, int32_t side));

#endif
