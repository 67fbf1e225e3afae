/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of schedules in words. */
#include <math.h>
#include "base/quantity.h"
#include "call/pictures.h"

void words_microbatches(struct kerf_text *out, double count, int digits) {
    kerf_text_printf(out, "%.*g micro-batch%s", digits, count, count == 1 ? "" : "es");
}

void words_percent(struct kerf_text *out, double share, int digits, int with_sign) {
    const double unit = pow(10, -digits), percent = fabs(100 * share) < unit / 2 ? 0 : 100 * share;
    kerf_text_printf(out, with_sign ? "%+.*f %%" : "%.*f %%", digits, percent);
}

void words_cap(struct kerf_text *out, const struct schedule_answer *answer) {
    if (answer->cap_in_bytes)
        quantity_bytes(out, answer->cap);
    else
        words_microbatches(out, answer->cap, 6);
}

void words_size(struct kerf_text *out, const struct kerf_schedule *schedule) {
    words_microbatches(out, schedule->microbatches, 7);
    if (schedule->slices > 1) kerf_text_printf(out, " of %d slices", schedule->slices);
    kerf_text_printf(out, " through %d stage%s on %d device%s", schedule->stages, schedule->stages == 1 ? "" : "s",
                     schedule->devices, schedule->devices == 1 ? "" : "s");
}
