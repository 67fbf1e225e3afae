/* SPDX-License-Identifier: Apache-2.0 */
/* The run whose log or trace is given: what ran, as its launch says it or as options do. */
#ifndef KERF_CALL_MEASURED_RUN_H
#define KERF_CALL_MEASURED_RUN_H

#include "call/space_options.h"
#include "kerf/launch.h"

struct measured_run {
    const struct kerf_launch *launch; /* NULL: the others say it */
    const char *model, *layout;
    int64_t gpus, global_batch, seq_length;
    struct training_options training; /* precision, gradients and mtp_layers alone */
};

/* Those that are not given. */
#define MEASURED_RUN                                                                                                   \
    { .training.mtp_layers = -1 }

/* Rows of an option table for a struct `owner` whose member `of` is a struct measured_run. */
#define MEASURED_RUN_OPTIONS(owner, of)                                                                                \
    {.name = "model",                                                                                                  \
     .letter = 'm',                                                                                                    \
     .type = OPTION_STRING,                                                                                            \
     .offset = offsetof(owner, of.model),                                                                              \
     .value = "MODEL",                                                                                                 \
     .help = "Without --launch, the model that ran: a name from `kerf models` or a config.json."},                     \
        {.name = "layout",                                                                                             \
         .letter = 'l',                                                                                                \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.layout),                                                                         \
         .value = "PARTS",                                                                                             \
         .help = "Without --launch, the layout that ran, such as tp=8,pp=4,dp=16 (kerf help estimate)."},              \
        {.name = "gpus",                                                                                               \
         .letter = 'n',                                                                                                \
         .type = OPTION_INTEGER,                                                                                       \
         .offset = offsetof(owner, of.gpus),                                                                           \
         .value = "N",                                                                                                 \
         .minimum = 1,                                                                                                 \
         .maximum = 1073741824,                                                                                        \
         .help = "How many accelerators (default: as many as the layout has)."},                                       \
        BATCH_OPTIONS(owner, of), NUMERICS_OPTIONS(owner, of.training)

/* The first of the options that is given, "--model"; NULL: none. */
const char *measured_run_given(const struct measured_run *run);

/* The job and the layout, without a system. The layout is given back with kerf_layout_release, which an error has done. */
int32_t measured_run_problem(const struct measured_run *run, struct kerf_problem *ret_problem,
                             struct kerf_layout *ret_layout, struct kerf_error *err);

#endif
