/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/worker_clock.h"

#include <math.h>

/* How long after the last answer that told its time this began, by kerf's clock. */
static double since(const struct worker_clock *clock, struct time_span kerfs) {
    return fmax(0, kerfs.start_s - clock->kerf_end_s);
}

struct time_span worker_clock_answer(struct worker_clock *clock, int64_t life, struct time_span told,
                                     struct time_span kerfs) {
    double gap_s = told.start_s + clock->shift_s - clock->end_s;
    double least_s = !clock->is_told || life == clock->life ? 0 : since(clock, kerfs);
    if (!(gap_s >= least_s)) clock->shift_s = clock->end_s + since(clock, kerfs) - told.start_s;
    clock->is_told = 1;
    clock->life = life;
    clock->end_s = told.end_s + clock->shift_s;
    clock->kerf_end_s = kerfs.end_s;
    return (struct time_span){told.start_s + clock->shift_s, clock->end_s};
}

struct time_span worker_clock_silence(struct worker_clock *clock, struct time_span kerfs) {
    if (!clock->is_told) {
        clock->end_s = clock->kerf_end_s = kerfs.end_s;
        return kerfs;
    }
    double start_s = clock->end_s + since(clock, kerfs);
    return (struct time_span){start_s, start_s + (kerfs.end_s - kerfs.start_s)};
}
