/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold for every schedule that was read from a file. Included by the targets that read one. */
#ifndef KERF_FUZZ_SCHEDULE_INVARIANTS_H
#define KERF_FUZZ_SCHEDULE_INVARIANTS_H

#include <stdlib.h>
#include <string.h>
#include "invariants.h"
#include "kerf/schedule.h"

static inline void check_same_schedule(const struct kerf_schedule *a, const struct kerf_schedule *b) {
    CHECK(a->devices == b->devices && a->stages == b->stages && a->microbatches == b->microbatches);
    CHECK(a->chunks == b->chunks && a->replicas == b->replicas && a->slices == b->slices);
    CHECK(memcmp(a->device_of, b->device_of, (size_t)(a->stages * a->replicas) * sizeof(int32_t)) == 0);
    for (int32_t i = 0; i < a->devices; i++) {
        CHECK(a->num_ops[i] == b->num_ops[i]);
        CHECK(a->num_ops[i] == 0 || memcmp(a->ops[i], b->ops[i], (size_t)a->num_ops[i] * sizeof **a->ops) == 0);
    }
}

/* What is written as CSV reads as the same; with sends and receives it reads, too. */
static inline void check_csv_of(const struct kerf_schedule *schedule) {
    for (int form = KERF_TORCH_COMPUTE; form <= KERF_TORCH_COMMS_LATE; form++) {
        struct kerf_text csv = {0};
        struct kerf_schedule *back = NULL;
        int32_t code = kerf_schedule_torch(&csv, schedule, (enum kerf_torch_form)form, NULL);
        CHECK((code == KERF_OK) == (schedule->replicas == 1 && schedule->slices == 1 && !schedule->moves));
        if (code != KERF_OK) continue;
        CHECK(kerf_schedule_parse_csv(csv.data, csv.length, "again.csv", &back, NULL) == KERF_OK);
        if (form == KERF_TORCH_COMPUTE) check_same_schedule(schedule, back);
        kerf_schedule_free(back);
        kerf_text_free(&csv);
    }
}

static inline void check_text_of(const struct kerf_schedule *schedule) {
    struct kerf_text text = {0};
    struct kerf_schedule *back = NULL;
    CHECK(kerf_schedule_text(&text, schedule, NULL) == KERF_OK);
    CHECK(kerf_schedule_parse_text(text.data, text.length, "again.sched", NULL, &back, NULL) == KERF_OK);
    check_same_schedule(schedule, back);
    kerf_schedule_free(back);
    kerf_text_free(&text);
}

static inline void check_simulated(const struct kerf_schedule *schedule) {
    struct kerf_schedule_times_request nothing;
    struct kerf_schedule_times *times;
    struct kerf_timeline *timeline;
    struct kerf_text trace = {0};
    kerf_schedule_times_unsaid(&nothing);
    nothing.p2p_s = 0.25;
    nothing.offload_s = 0.5;
    CHECK(kerf_schedule_times_make(schedule->devices, schedule->stages, &nothing, &times, NULL) == KERF_OK);
    CHECK(kerf_schedule_simulate(schedule, times, &timeline, NULL) == KERF_OK);
    const struct kerf_schedule_bound bound = kerf_schedule_lower_bound(schedule, times, timeline);
    CHECK(timeline->makespan_s >= bound.makespan_s * (1 - 1e-9) && timeline->span_s >= bound.span_s * (1 - 1e-9));
    CHECK(kerf_schedule_chrome(&trace, schedule, times, timeline, NULL) == KERF_OK);
    json_decref(read_back(&trace));
    kerf_text_free(&trace);
    kerf_timeline_free(timeline);
    kerf_schedule_times_free(times);
}

static inline void check_schedule(const struct kerf_schedule *schedule) {
    CHECK(kerf_schedule_check(schedule, NULL) == KERF_OK);
    CHECK(is_plain(schedule->name));
    check_simulated(schedule);
    check_csv_of(schedule);
    check_text_of(schedule);
}

/* One plain line that names the file, and a place in it where it has one. */
static inline void check_refusal(int32_t code, struct kerf_error *err, const char *file, const char *text,
                                 size_t length) {
    CHECK(strcmp(err->file, file) == 0);
    check_error(code, err, err->line ? file : "", text, length);
}

#endif
