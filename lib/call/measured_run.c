/* SPDX-License-Identifier: Apache-2.0 */
#include "call/measured_run.h"

#include "base/error_fill.h"
#include "call/sources.h"

const char *measured_run_given(const struct measured_run *run) {
    return run->model                      ? "--model"
           : run->layout                   ? "--layout"
           : run->gpus                     ? "--gpus"
           : run->global_batch             ? "--global-batch"
           : run->seq_length               ? "--seq-length"
           : run->training.precision       ? "--precision"
           : run->training.gradients       ? "--gradients"
           : run->training.mtp_layers >= 0 ? "--mtp-layers"
                                           : NULL;
}

/* The launch's stages are copied: the layout outlives it. */
static int32_t of_launch(const struct kerf_launch *launch, struct kerf_problem *problem, struct kerf_layout *layout,
                         struct kerf_error *err) {
    struct kerf_layout read;
    struct strategy_choice choice;
    struct kerf_text text = {0};
    int32_t code = kerf_launch_problem(launch, problem, &read, err);
    if (code != KERF_OK) return code;
    kerf_layout_text(&text, problem, &read);
    code = text.failed ? error_no_memory(err, "the layout")
                       : strategy_of_layout(text.data, "hybrid", NULL, layout, &choice, err);
    kerf_text_free(&text);
    return code;
}

static int32_t of_options(const struct measured_run *run, struct kerf_problem *problem, struct kerf_layout *layout,
                          struct kerf_error *err) {
    static const struct call_sources anywhere;
    struct strategy_choice choice;
    const char *missing = run->model == NULL       ? "--model"
                          : run->layout == NULL    ? "--layout"
                          : run->global_batch == 0 ? "--global-batch"
                                                   : NULL;
    if (missing)
        return kerf_error_set(err, KERF_EINVALID,
                              "%s is missing: what ran is said by --launch, or by --model, --layout and --global-batch",
                              missing);
    problem->strategy = KERF_STRATEGY_HYBRID;
    problem->attention = KERF_ATTENTION_FUSED;
    int32_t code = call_model(&anywhere, run->model, &problem->model, err);
    if (code == KERF_OK) code = training_read(&run->training, problem, err);
    if (code == KERF_OK) code = strategy_of_layout(run->layout, "hybrid", NULL, layout, &choice, err);
    if (code != KERF_OK) return code;
    problem->global_batch = run->global_batch;
    problem->seq_length = run->seq_length ? run->seq_length : problem->model.max_position_embeddings;
    problem->gpus = run->gpus ? run->gpus : kerf_layout_devices(layout);
    if (problem->seq_length == 0)
        code = kerf_error_set(err, KERF_EINVALID, "%s has no max_position_embeddings: give --seq-length",
                              problem->model.name);
    else if (problem->gpus == INT64_MAX)
        code = kerf_error_set(err, KERF_EINVALID, "layout: it has too many accelerators");
    if (code != KERF_OK) kerf_layout_release(layout);
    return code;
}

int32_t measured_run_problem(const struct measured_run *run, struct kerf_problem *ret_problem,
                             struct kerf_layout *ret_layout, struct kerf_error *err) {
    const char *given = measured_run_given(run);
    *ret_problem = (struct kerf_problem){.gpus = 0};
    if (run->launch == NULL) return of_options(run, ret_problem, ret_layout, err);
    if (given) return kerf_error_set(err, KERF_EINVALID, "the launch says it: leave out %s, or --launch", given);
    return of_launch(run->launch, ret_problem, ret_layout, err);
}
