/* SPDX-License-Identifier: Apache-2.0 */
/* kerf schedule verify: what a certificate proves, once it is checked. */
#include <math.h>
#include "base/input.h"
#include "base/quantity.h"
#include "cli/schedule_print.h"

int32_t schedule_verify_file(const char *path, struct kerf_schedule_verdict *ret_verdict, struct kerf_error *err) {
    const size_t bytes_max = (size_t)1 << 31;
    struct kerf_text text = {0};
    int32_t code = input_read(path, bytes_max, &text, err);
    if (code == KERF_OK) code = kerf_schedule_verify(text.data ? text.data : "", text.length, path, ret_verdict, err);
    kerf_text_free(&text);
    return code;
}

static const char *objective_of(const struct kerf_schedule_verdict *verdict) {
    return verdict->objective == KERF_OBJECTIVE_SPAN ? "span" : "makespan";
}

void print_verdict_table(struct kerf_text *out, const struct kerf_schedule_verdict *verdict) {
    const struct kerf_schedule size = {
        .microbatches = verdict->microbatches, .stages = verdict->stages, .devices = verdict->devices, .slices = 1};
    kerf_text_add(out, "verified: ");
    words_size(out, &size);
    kerf_text_printf(out, "\n\n  lower bound     ");
    quantity_seconds(out, verdict->bound_s);
    kerf_text_printf(out, ": no order of these operations within the memory caps has a shorter %s\n",
                     objective_of(verdict));
    if (!isnan(verdict->takes_s)) {
        kerf_text_add(out, "  order           ");
        quantity_seconds(out, verdict->takes_s);
        if (verdict->optimal) {
            kerf_text_add(out, ": optimal\n");
        } else {
            kerf_text_add(out, ": at most ");
            words_percent(out, verdict->takes_s / verdict->bound_s - 1, 2, 0);
            kerf_text_add(out, " above the optimum\n");
        }
    }
    kerf_text_printf(out, "  proof           %lld step%s\n", (long long)verdict->steps, verdict->steps == 1 ? "" : "s");
}

void print_verdict_json(struct kerf_text *out, const struct kerf_schedule_verdict *verdict) {
    struct kerf_json json;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_boolean(&json, "verified", 1);
    kerf_json_string(&json, "objective", objective_of(verdict));
    kerf_json_integer(&json, "devices", verdict->devices);
    kerf_json_integer(&json, "stages", verdict->stages);
    kerf_json_integer(&json, "microbatches", verdict->microbatches);
    kerf_json_number(&json, "lower_bound_s", verdict->bound_s);
    if (!isnan(verdict->takes_s)) kerf_json_number(&json, "order_s", verdict->takes_s);
    kerf_json_boolean(&json, "optimal", verdict->optimal);
    kerf_json_integer(&json, "steps", verdict->steps);
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}
