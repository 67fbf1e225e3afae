/* SPDX-License-Identifier: Apache-2.0 */
/* The validator: every operation once, on its stage's device, and no deadlock. */
#include <stdlib.h>
#include "schedule/order.h"

enum seen { SEEN_F = 1, SEEN_B = 2, SEEN_I = 4, SEEN_W = 8, SEEN_R = 16, SEEN_O = 32, SEEN_L = 64 };

static const char *kind_name(enum seen kind) {
    return kind == SEEN_F   ? "F"
           : kind == SEEN_B ? "B"
           : kind == SEEN_I ? "I"
           : kind == SEEN_W ? "W"
           : kind == SEEN_R ? "R"
           : kind == SEEN_O ? "O"
                            : "L";
}

static int32_t mark(const struct kerf_schedule *schedule, unsigned char *seen, int32_t device, enum seen kind,
                    int32_t stage, int32_t microbatch, int32_t slice, struct kerf_error *err) {
    if (stage < 0 || stage >= schedule->stages || microbatch < 0 || microbatch >= schedule->microbatches)
        return kerf_error_set(err, KERF_EINVALID,
                              "%d%s%d on device %d: there are stages 0 to %d and micro-batches 0 to %d", stage,
                              kind_name(kind), microbatch, device, schedule->stages - 1, schedule->microbatches - 1);
    if (slice < 0 || slice >= schedule->slices)
        return kerf_error_set(err, KERF_EINVALID, "%d%s%d.%d on device %d: there are slices 0 to %d", stage,
                              kind_name(kind), microbatch, slice, device, schedule->slices - 1);
    int32_t home = order_device(schedule, stage, microbatch);
    if (home != device)
        return kerf_error_set(err, KERF_EINVALID, "%d%s%d is on device %d, but stage %d is on device %d", stage,
                              kind_name(kind), microbatch, device, stage, home);
    unsigned char *place = &seen[order_output(schedule, 0, stage, microbatch, slice) / 2];
    if (*place & kind)
        return kerf_error_set(err, KERF_EINVALID, "%d%s%d appears twice on device %d", stage, kind_name(kind),
                              microbatch, device);
    if ((kind == SEEN_B && *place & (SEEN_I | SEEN_W)) || (kind & (SEEN_I | SEEN_W) && *place & SEEN_B))
        return kerf_error_set(err, KERF_EINVALID,
                              "micro-batch %d has both a whole and a split backward pass on stage %d", microbatch,
                              stage);
    if (kind & (SEEN_R | SEEN_O | SEEN_L)) {
        if (!schedule->moves)
            return kerf_error_set(err, KERF_EINVALID, "%d%s%d is in a schedule whose moves is 0", stage,
                                  kind_name(kind), microbatch);
        if (!(*place & SEEN_F) || *place & (SEEN_B | SEEN_I) || (kind == SEEN_O && *place & SEEN_L) ||
            (kind == SEEN_L && !(*place & SEEN_O)))
            return kerf_error_set(err, KERF_EINVALID, "%d%s%d must be %s on device %d", stage, kind_name(kind),
                                  microbatch,
                                  kind == SEEN_L ? "after its O and before its backward pass"
                                                 : "after its F and before its backward pass",
                                  device);
    }
    *place |= (unsigned char)kind;
    return KERF_OK;
}

static int32_t mark_all(const struct kerf_schedule *schedule, unsigned char *seen, struct kerf_error *err) {
    static const enum seen kinds[] = {
        [KERF_OP_F] = SEEN_F, [KERF_OP_B] = SEEN_B, [KERF_OP_I] = SEEN_I, [KERF_OP_W] = SEEN_W,
        [KERF_OP_R] = SEEN_R, [KERF_OP_O] = SEEN_O, [KERF_OP_L] = SEEN_L};
    for (int32_t i = 0; i < schedule->devices; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            const struct kerf_op *op = &schedule->ops[i][k];
            int32_t code = mark(schedule, seen, i, op->kind == KERF_OP_FB ? SEEN_F : kinds[op->kind], op->stage,
                                op->microbatch, op->slice, err);
            if (code == KERF_OK && op->kind == KERF_OP_FB)
                code = mark(schedule, seen, i, SEEN_B, op->with_stage, op->with_microbatch, 0, err);
            if (code != KERF_OK) return code;
        }
    return KERF_OK;
}

static int32_t find_missing(const struct kerf_schedule *schedule, const unsigned char *seen, struct kerf_error *err) {
    int64_t units = order_units(schedule);
    for (int64_t at = 0; at < schedule->stages * units; at++) {
        const int all = seen[at / units * order_row(schedule) + at % units], have = all & (SEEN_R - 1);
        if (all & SEEN_O && !(all & SEEN_L))
            return kerf_error_set(err, KERF_EINVALID, "%dL%d is missing", (int)(at / units),
                                  (int)(at % units / schedule->slices));
        if (have == (SEEN_F | SEEN_B) || have == (SEEN_F | SEEN_I | SEEN_W)) continue;
        const char *what = !(have & SEEN_F) ? "F" : have & SEEN_I ? "W" : have & SEEN_W ? "I" : "B";
        return kerf_error_set(err, KERF_EINVALID, "%d%s%d is missing", (int)(at / units), what,
                              (int)(at % units / schedule->slices));
    }
    return KERF_OK;
}

/* With nothing taking any time, the simulation ends if and only if nothing waits for itself. */
static int32_t check_order(const struct kerf_schedule *schedule, struct kerf_error *err) {
    double *zeros = calloc((size_t)schedule->stages, sizeof *zeros);
    if (zeros == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory to check the schedule");
    const struct kerf_schedule_times times = {.forward_s = zeros,
                                              .backward_s = zeros,
                                              .backward_input_s = zeros,
                                              .backward_weight_s = zeros,
                                              .recompute_s = zeros,
                                              .offload_s = zeros};
    struct kerf_timeline *timeline = NULL;
    int32_t code = kerf_schedule_simulate(schedule, &times, &timeline, err);
    kerf_timeline_free(timeline);
    free(zeros);
    return code;
}

int32_t kerf_schedule_check(const struct kerf_schedule *schedule, struct kerf_error *err) {
    unsigned char *seen = calloc(order_outputs(schedule) / 2, 1);
    if (seen == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory to check the schedule");
    int32_t code = mark_all(schedule, seen, err);
    if (code == KERF_OK) code = find_missing(schedule, seen, err);
    free(seen);
    return code == KERF_OK ? check_order(schedule, err) : code;
}
