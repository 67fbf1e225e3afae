/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cost model is a row of functions. To add one: write a room like reference/ and a line in cost_models.c; nothing else
 * asks which model it is.
 *
 * A strategy describes a layout's operations by kind and shape (operation.h). What an operation takes, what law a link
 * obeys - latency and bandwidth, a table by size and participants - and how operations add up to stages and stages to a
 * step, is the model's own: nothing outside its room knows FLOP, messages or links. What comes out is time and memory,
 * as a whole and in named parts.
 *
 * A model prices one layout in full (estimate), and many for a search: there the layouts come as the tree of
 * strategy.h, so that what a prefix has in common is worked out once. Both must find the same numbers, to the last bit.
 */
#ifndef KERF_COST_COST_MODEL_H
#define KERF_COST_COST_MODEL_H

#include "cost/strategy.h"

/* No layout below a prefix needs less memory or takes less time; 0: not known. Below the last level all layouts use
 * exactly this memory. */
struct cost_bound {
    double memory_bytes, step_time_s;
};

/* Whom priced layouts are given to. What lies beyond its limits need not be given, and a bound of it need not be more
 * than beyond; take may lower them. */
struct cost_sink {
    double capacity_bytes, cutoff_s;
    void (*take)(struct cost_sink *sink, const struct kerf_layout *layout, double memory_bytes, double step_time_s);
};

/* What a model remembers while a walk goes through one problem; each room has its own. */
struct cost_pricer;

struct kerf_cost_model {
    const char *name, *summary;
    enum layout_kind layouts; /* of which strategies it prices */

    /* Appends what of the model it does not price, between commas; nothing where it prices all. */
    void (*gaps)(const struct kerf_model *model, struct kerf_text *out);

    /* One layout in full; it obeys kerf_layout_check, and its placement is chosen. What it returns lives in the arena.
     * 0 when memory ran out. */
    int (*estimate)(const struct space *space, const struct kerf_layout *layout, struct arena *arena,
                    struct kerf_estimate *ret_estimate);
    /* The same, operation by operation; returns how many. NULL: it has no such list. */
    int32_t (*estimate_layers)(const struct kerf_problem *problem, const struct kerf_layout *layout,
                               struct kerf_layer layers[KERF_LAYERS_MAX]);

    /* Begins a walk whose layouts go to the sink; everything lives in the arena, until end (NULL: nothing to end). NULL
     * when memory ran out; the others then return 0. */
    struct cost_pricer *(*begin)(const struct space *space, const struct cost_sink *sink, struct arena *arena);
    void (*end)(struct cost_pricer *pricer);
    /* The walk is now at this prefix, which has the choices of levels 0 .. level. */
    int (*enter)(struct cost_pricer *pricer, int32_t level, const struct kerf_layout *prefix,
                 struct cost_bound *ret_bound);
    /* The variants of all prefixes that will be entered below the one that is entered now. They stay where they are. */
    int (*prepare)(struct cost_pricer *pricer, const struct kerf_layout *variants, int32_t num_variants);
    /* Gives every variant of the prefix that is entered, which is a whole one, to the sink, unless it is slower than
     * the cutoff. */
    int (*price)(struct cost_pricer *pricer, struct cost_sink *sink);
};

/* Whether the model prices layouts of the strategy; the error says which it does. */
int32_t cost_model_check(const struct kerf_cost_model *cost_model, enum kerf_strategy strategy, struct kerf_error *err);

#endif
