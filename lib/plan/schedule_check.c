/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/schedule_check.h"

#include <string.h>
#include "kerf/schedule.h"
#include "schedule/pipeline.h"

/* Whether a plan can have such a schedule at all: each device holds the model's stages once, and whole sequences go
 * through them. */
static int32_t check_kind(const char *schedule, struct kerf_error *err) {
    if (kerf_schedule_takes_slices(schedule))
        return kerf_error_set(err, KERF_EINVALID,
                              "schedule %s cuts the sequences of a micro-batch, which is not priced", schedule);
    if (pipeline_has_replicas(schedule))
        return kerf_error_set(err, KERF_EINVALID,
                              "schedule %s keeps a second copy of the model on the devices, which is not priced",
                              schedule);
    return KERF_OK;
}

int32_t layout_check_schedule(const struct kerf_problem *problem, const struct kerf_layout *layout,
                              struct kerf_error *err) {
    const struct kerf_layout *l = layout;
    int64_t microbatches = problem->global_batch / (l->dp * l->micro_batch);
    int is_plain =
        strcmp(l->schedule, "1f1b") == 0 || (strcmp(l->schedule, "interleaved_1f1b") == 0 && microbatches % l->pp == 0);
    if (l->schedule[0] == 0 || is_plain) return KERF_OK; /* kerf_layout_check has said what is to be said */
    struct kerf_schedule_request request = {
        .rule = l->schedule, .devices = (int32_t)l->pp, .chunks = l->vpp, .microbatches = (int32_t)microbatches};
    int32_t stages;
    int32_t code = kerf_schedule_stages(&request, &stages, err);
    return code == KERF_OK ? check_kind(l->schedule, err) : code;
}

int32_t space_check_schedules(const struct kerf_problem *problem, struct kerf_error *err) {
    for (int32_t i = 0; problem->space && i < problem->space->num_schedules; i++) {
        const char *schedule = problem->space->schedules[i];
        struct kerf_error why;
        struct kerf_schedule_request request = {.rule = schedule, .devices = 2, .microbatches = 64};
        int32_t stages;
        int32_t code = kerf_schedule_stages(&request, &stages, &why);
        if (code == KERF_EUNKNOWN) {
            if (err) *err = why;
            return code;
        }
        code = check_kind(schedule, err);
        if (code != KERF_OK) return code;
    }
    return KERF_OK;
}
