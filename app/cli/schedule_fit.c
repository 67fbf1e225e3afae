/* SPDX-License-Identifier: Apache-2.0 */
/* What a measured run says of the times of its stages: for people, and as the file that --times reads. */
#include <math.h>
#include "base/quantity.h"
#include "cli/schedule_print.h"
#include "cli/terminal.h"

/* "12.1 ms (11.9 ms to 12.6 ms)": the median and the quartiles. */
static void words_spread(struct kerf_text *out, const struct kerf_trace_spread *spread) {
    if (spread->count == 0) {
        kerf_text_add(out, "-");
        return;
    }
    quantity_seconds(out, spread->median_s);
    if (spread->low_s == spread->high_s) return;
    kerf_text_add(out, " (");
    quantity_seconds(out, spread->low_s);
    kerf_text_add(out, " to ");
    quantity_seconds(out, spread->high_s);
    kerf_text_add(out, ")");
}

static void print_stages(struct kerf_text *out, const struct kerf_trace_fit *fit, const struct render_style *style) {
    static const char *const names[KERF_OP_KINDS] = {"forward", "backward", "input", "weights", "fused"};
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}};
    struct kerf_text cells = {0};
    int there[KERF_OP_KINDS] = {0};
    for (int kind = 0; kind < KERF_OP_KINDS; kind++)
        for (int32_t k = 0; k < fit->stages; k++) there[kind] |= fit->of_kind[kind][k].count > 0;
    kerf_text_add(&cells, "stage");
    for (int kind = 0; kind < KERF_OP_KINDS; kind++)
        if (there[kind]) kerf_text_printf(&cells, "\t%s", names[kind]);
    kerf_text_add(&cells, "\n");
    for (int32_t k = 0; k < fit->stages; k++) {
        kerf_text_printf(&cells, "%d", k);
        for (int kind = 0; kind < KERF_OP_KINDS; kind++) {
            if (!there[kind]) continue;
            kerf_text_add(&cells, "\t");
            words_spread(&cells, &fit->of_kind[kind][k]);
        }
        kerf_text_add(&cells, "\n");
    }
    terminal_table(out, &cells, columns, style->columns, style->colour, -1);
    out->failed |= cells.failed;
    kerf_text_free(&cells);
}

void print_fit_table(struct kerf_text *out, const struct kerf_trace *trace, const struct kerf_trace_fit *fit,
                     const struct render_style *style) {
    kerf_text_printf(out, "%s: ", trace->source);
    words_size(out, trace->schedule);
    kerf_text_printf(out, ", step %d of %d\n\n", trace->step + 1, trace->steps);
    print_stages(out, fit, style);
    kerf_text_add(out, "\n  latency         ");
    if (fit->p2p.count)
        words_spread(out, &fit->p2p);
    else
        kerf_text_add(out, "no device ever waited for a message: at most what is in the file");
    kerf_text_add(out, "\n  pauses          ");
    quantity_seconds(out, fit->times->overhead_s);
    kerf_text_add(out, " between operations, in the median\n  measured        ");
    quantity_seconds(out, fit->measured_s);
    if (!isnan(fit->simulated_s)) {
        kerf_text_add(out, "\n  simulated       ");
        quantity_seconds(out, fit->simulated_s);
        kerf_text_add(out, ", the trace's own order with these times: ");
        words_percent(out, fit->residual, 1, 1);
    }
    kerf_text_add(out, "\n");
    if (trace->notes[0]) kerf_text_printf(out, "\n%s", trace->notes);
}

void print_fit_json(struct kerf_text *out, const struct kerf_trace_fit *fit) {
    struct kerf_json json;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_schedule_times_json(&json, fit->times, fit->devices, fit->stages);
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}
