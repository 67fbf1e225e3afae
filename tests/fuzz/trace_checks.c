/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_checks.h"

#include <math.h>
#include <string.h>
#include "invariants.h"

static void check_timeline(const struct kerf_trace *run) {
    const struct kerf_schedule *schedule = run->schedule;
    const struct kerf_timeline *timeline = run->timeline;
    double first = INFINITY, last = 0;
    CHECK(isfinite(timeline->makespan_s) && timeline->span_s <= timeline->makespan_s);
    for (int32_t i = 0; i < schedule->devices; i++) {
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            double start_s = timeline->start_s[i][k], end_s = timeline->end_s[i][k];
            CHECK(start_s >= 0 && end_s >= start_s && isfinite(end_s));
            CHECK(k == 0 || start_s >= timeline->start_s[i][k - 1]);
            first = fmin(first, start_s);
            last = fmax(last, end_s);
        }
        CHECK(isfinite(timeline->peak_activations[i]) && isfinite(run->offset_s[i]));
    }
    CHECK(first == 0 && last == timeline->makespan_s);
}

static void check_numbers(const struct kerf_trace *run) {
    int32_t complete = 0;
    for (int32_t mb = 0; mb < run->schedule->microbatches; mb++) complete += run->complete[mb];
    CHECK(complete == run->microbatches_complete && complete > 0);
    CHECK((run->steps == 0) == (run->step < 0) && run->step < run->steps);
    CHECK((run->steps > 0) == (complete == run->schedule->microbatches));
    CHECK(is_plain(run->source));
}

static void check_spread(const struct kerf_trace_spread *spread) {
    CHECK(spread->count >= 0 && spread->low_s <= spread->median_s && spread->median_s <= spread->high_s);
}

static void check_fit(const struct kerf_trace *run) {
    struct kerf_trace_fit *fit;
    struct kerf_text text = {0};
    struct kerf_json json = {0};
    CHECK(kerf_trace_fit_make(run, &fit, NULL) == KERF_OK);
    for (int kind = 0; kind < KERF_OP_MEASURED; kind++)
        for (int32_t s = 0; s < fit->stages; s++) check_spread(&fit->of_kind[kind][s]);
    check_spread(&fit->p2p);
    CHECK(isfinite(fit->times->p2p_s) && fit->times->p2p_s >= 0 && fit->times->overhead_s >= 0);
    CHECK(isfinite(fit->simulated_s) || isnan(fit->simulated_s));
    CHECK(run->steps > 0 || isnan(fit->residual));
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_schedule_times_json(&json, fit->times, fit->devices, fit->stages);
    kerf_json_close(&json, '}');
    json_decref(read_back(&text));
    kerf_text_free(&text);
    kerf_trace_fit_free(fit);
}

static int32_t read_all(const struct trace_format *format, struct trace_reading *reading, const char *const *names,
                        int32_t count, const uint8_t *data, size_t size, struct kerf_error *err) {
    const char *text = (const char *)data, *end = text + size;
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < count && code == KERF_OK; i++) {
        const struct trace_file file = {.path = names[i], .name = names[i], .selected = 1};
        const char *stop = i + 1 < count ? memchr(text, 0, (size_t)(end - text)) : NULL;
        size_t length = (size_t)((stop ? stop : end) - text);
        code = format->read(reading, &file, text, length, err);
        reading->files++;
        text = stop ? stop + 1 : end;
    }
    return code;
}

void check_run(const struct trace_format *format, const char *const *names, int32_t count, const uint8_t *data,
               size_t size) {
    static const char nothing[1];
    struct trace_reading reading = {.source = format->source};
    struct kerf_error err;
    struct kerf_trace *run;
    poison(&err, sizeof err);
    int32_t code = read_all(format, &reading, names, count, data ? data : (const uint8_t *)nothing, size, &err);
    if (code == KERF_OK) code = format->finish(&reading, &err);
    if (code == KERF_OK) code = trace_build(&reading, -1, &run, &err);
    if (code == KERF_OK) {
        check_timeline(run);
        check_numbers(run);
        check_fit(run);
        kerf_trace_free(run);
    } else {
        CHECK(code < 0 && err.code == code && is_plain(err.message));
    }
    trace_reading_free(&reading);
}
