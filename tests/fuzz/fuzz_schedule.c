/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a byte that picks a rule and a file of times for it, which may cut its micro-batches. What is read makes a
 * timeline whose operations do not overlap, and which no bound exceeds. */
#include "invariants.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "kerf/schedule.h"

enum { DEVICES = 2, MICROBATCHES = 4 };

static void check_timeline(const struct kerf_schedule *schedule, const struct kerf_timeline *timeline, double bound) {
    CHECK(isfinite(timeline->makespan_s) && isfinite(timeline->span_s) && isfinite(bound));
    CHECK(timeline->span_s <= timeline->makespan_s);
    CHECK(timeline->busy_mean_s <= timeline->busy_max_s * (1 + 1e-12));
    CHECK(timeline->over_cap >= 0 || bound <= timeline->makespan_s * (1 + 1e-9));
    for (int32_t i = 0; i < schedule->devices; i++) {
        CHECK(timeline->peak_activations[i] > 0 && timeline->peak_activations[i] <= MICROBATCHES * (1 + 1e-9));
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            CHECK(timeline->start_s[i][k] >= 0 && timeline->end_s[i][k] >= timeline->start_s[i][k]);
            CHECK(k == 0 || timeline->start_s[i][k] >= timeline->end_s[i][k - 1]);
        }
    }
}

static void check_shares(const double *shares, int32_t count) {
    double sum = 0;
    for (int32_t j = 0; j < count; j++) {
        CHECK(shares[j] >= 0 && shares[j] <= 1);
        sum += shares[j];
    }
    CHECK(fabs(sum - 1) < 1e-9);
}

/* The slices that the file says, for the cut that the first byte picks; NULL: it says none, or wrong ones. */
static struct kerf_schedule_slices *cut(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                                        const char *path, uint8_t first) {
    const struct kerf_schedule_slices_request request = {.rule = schedule->name,
                                                         .cut = (enum kerf_slice_cut)(first % KERF_SLICE_CUTS),
                                                         .attention = first / 255.,
                                                         .file = path};
    struct kerf_schedule_slices *slices = NULL;
    struct kerf_error err;
    poison(&err, sizeof err);
    const int32_t code = kerf_schedule_slices_make(schedule, times, &request, &slices, &err);
    CHECK(code == KERF_OK || (err.code == code && is_plain(err.message)));
    CHECK(schedule->slices > 1 || code == KERF_EINVALID);
    if (slices == NULL) return NULL;
    check_shares(slices->tokens, slices->count);
    check_shares(slices->forward, slices->count);
    check_shares(slices->backward, slices->count);
    check_shares(slices->backward_input, slices->count);
    check_shares(slices->backward_weight, slices->count);
    return slices;
}

static void run(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                const struct kerf_schedule_slices *slices) {
    struct kerf_timeline *timeline;
    CHECK(kerf_schedule_simulate_slices(schedule, times, slices, &timeline, NULL) == KERF_OK);
    const struct kerf_schedule_bound bound = kerf_schedule_lower_bound(schedule, times, timeline);
    check_timeline(schedule, timeline, bound.makespan_s);
    CHECK(bound.span_s <= timeline->span_s * (1 + 1e-9));
    kerf_timeline_free(timeline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t num_rules = 0;
    while (kerf_schedule_rule_at(num_rules)) num_rules++;
    if (size == 0) return 0;
    struct kerf_schedule_request request = {.rule = kerf_schedule_rule_at(data[0] % num_rules)->name,
                                            .devices = DEVICES,
                                            .microbatches = MICROBATCHES,
                                            .search_steps = 200000};
    struct kerf_schedule *schedule;
    struct kerf_schedule_times *times;
    struct kerf_error err;
    int32_t stages;
    CHECK(kerf_schedule_stages(&request, &stages, NULL) == KERF_OK);
    char path[64];
    int file = memfd_create("times", MFD_CLOEXEC);
    CHECK(file >= 0 && write(file, data + 1, size - 1) == (ssize_t)(size - 1));
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    poison(&err, sizeof err);
    struct kerf_schedule_times_request from_file;
    kerf_schedule_times_unsaid(&from_file);
    from_file.file = path;
    int32_t code = kerf_schedule_times_make(DEVICES, stages, &from_file, &times, &err);
    if (code == KERF_OK) {
        request.times = times;
        code = kerf_schedule_make(&request, &schedule, &err);
        CHECK(code == KERF_OK || code == KERF_EINFEASIBLE);
        if (code == KERF_OK) {
            struct kerf_schedule_slices *slices = cut(schedule, times, path, data[0]);
            run(schedule, times, slices);
            kerf_schedule_slices_free(slices);
            kerf_schedule_free(schedule);
        }
        kerf_schedule_times_free(times);
    } else {
        CHECK(code < 0 && err.code == code && is_plain(err.message));
    }
    close(file);
    return 0;
}
