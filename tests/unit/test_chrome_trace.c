/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome's trace events: an event for each operation with its times, an arrow with both ends for each message, and the
 * memory that the timeline says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/schedule.h"
#include "schedule/order.h"

struct counts {
    int64_t operations, begins, ends, names;
    double *busy_us;    /* [devices] */
    double *peak;       /* [devices] */
    unsigned char *ids; /* by id: 1 begun, 2 ended */
    size_t num_ids;
    double first_us, last_us;
};

static double number(const json_t *event, const char *key) {
    const json_t *value = json_object_get(event, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void see_operation(struct counts *counts, const json_t *event) {
    const json_t *args = json_object_get(event, "args");
    const char *name = json_string_value(json_object_get(event, "name"));
    double ts = number(event, "ts"), dur = number(event, "dur");
    counts->operations++;
    counts->busy_us[(int)number(event, "pid")] += dur;
    counts->first_us = fmin(counts->first_us, ts);
    counts->last_us = fmax(counts->last_us, ts + dur);
    if (name[0] == 'F' && name[1] == 'B') {
        number(json_object_get(args, "forward"), "stage");
        number(json_object_get(args, "backward"), "microbatch");
    } else {
        number(args, "stage");
        assert_int_equal(strtol(name + 2, NULL, 10), number(args, "microbatch"));
    }
}

static void see_event(struct counts *counts, const json_t *event) {
    const char *ph = json_string_value(json_object_get(event, "ph"));
    if (strcmp(ph, "X") == 0) {
        see_operation(counts, event);
    } else if (strcmp(ph, "s") == 0 || strcmp(ph, "f") == 0) {
        int end = *ph == 'f';
        size_t id = (size_t)number(event, "id");
        assert_true(id < counts->num_ids);
        assert_false(counts->ids[id] & 1 << end); /* each end once */
        counts->ids[id] |= (unsigned char)(1 << end);
        *(end ? &counts->ends : &counts->begins) += 1;
        if (end) assert_string_equal(json_string_value(json_object_get(event, "bp")), "e");
    } else if (strcmp(ph, "C") == 0) {
        const json_t *args = json_object_get(event, "args");
        const char *key = json_object_get(args, "bytes") ? "bytes" : "micro-batches";
        double *peak = &counts->peak[(int)number(event, "pid")];
        *peak = fmax(*peak, number(args, key));
    } else {
        assert_string_equal(ph, "M");
        counts->names++;
    }
}

static void check_trace(const char *rule, int32_t p, int32_t m, double bytes) {
    const struct kerf_schedule_request request = {.rule = rule, .devices = p, .microbatches = m};
    struct kerf_schedule *schedule;
    struct kerf_schedule_times *times;
    struct kerf_timeline *timeline;
    struct kerf_schedule_times_request durations;
    struct kerf_text out = {0};
    json_error_t error;
    double amounts[64];
    kerf_schedule_times_unsaid(&durations);
    durations.forward_s = 1.25e-3, durations.backward_s = 3e-3, durations.p2p_s = 1e-4;
    assert_int_equal(kerf_schedule_make(&request, &schedule, NULL), KERF_OK);
    assert_int_equal(kerf_schedule_times_make(p, schedule->stages, &durations, &times, NULL), KERF_OK);
    for (int k = 0; k < 64; k++) amounts[k] = bytes;
    if (bytes > 0) times->activation_bytes = amounts;
    assert_int_equal(kerf_schedule_simulate(schedule, times, &timeline, NULL), KERF_OK);
    assert_int_equal(kerf_schedule_chrome(&out, schedule, times, timeline, NULL), KERF_OK);
    json_t *root = json_loadb(out.data, out.length, JSON_REJECT_DUPLICATES, &error), *event;
    if (root == NULL) fail_msg("%d: %s", error.line, error.text);
    struct counts counts = {.busy_us = calloc((size_t)p, sizeof(double)),
                            .peak = calloc((size_t)p, sizeof(double)),
                            .num_ids = order_outputs(schedule),
                            .first_us = INFINITY};
    counts.ids = calloc(counts.num_ids, 1);
    size_t k;
    json_array_foreach(json_object_get(root, "traceEvents"), k, event) see_event(&counts, event);
    int64_t operations = 0;
    for (int32_t i = 0; i < p; i++) {
        double peak = bytes > 0 ? timeline->peak_bytes[i] : timeline->peak_activations[i];
        operations += schedule->num_ops[i];
        assert_true(fabs(counts.peak[i] - peak) <= 1e-9 * peak);
        assert_true(counts.busy_us[i] * 1e-6 <= timeline->busy_max_s * (1 + 1e-9));
    }
    assert_int_equal(counts.operations, operations);
    assert_int_equal(counts.begins, timeline->messages);
    assert_int_equal(counts.ends, timeline->messages);
    assert_int_equal(counts.names, 3 * p);
    for (k = 0; k < counts.num_ids; k++) assert_true(counts.ids[k] == 0 || counts.ids[k] == 3);
    assert_true(fabs((counts.last_us - counts.first_us) * 1e-6 - timeline->makespan_s) <= 1e-9);
    json_decref(root);
    free(counts.busy_us);
    free(counts.peak);
    free(counts.ids);
    kerf_text_free(&out);
    if (bytes > 0) times->activation_bytes = NULL;
    kerf_timeline_free(timeline);
    kerf_schedule_times_free(times);
    kerf_schedule_free(schedule);
}

static void test_every_rule(void **state) {
    (void)state;
    const struct kerf_schedule_rule *rule;
    for (size_t r = 0; (rule = kerf_schedule_rule_at(r)); r++) {
        check_trace(rule->name, 4, 8, 0);
        check_trace(rule->name, 2, 5 + (int32_t)(strcmp(rule->name, "dualpipe") == 0 || strcmp(rule->name, "bitpipe") == 0), 1e9);
    }
}

/* A small one, whole. */
static void test_text(void **state) {
    (void)state;
    const struct kerf_schedule_request request = {.rule = "1f1b", .devices = 1, .microbatches = 1};
    struct kerf_schedule *schedule;
    struct kerf_schedule_times *times;
    struct kerf_timeline *timeline;
    struct kerf_schedule_times_request durations;
    struct kerf_text out = {0};
    kerf_schedule_times_unsaid(&durations);
    assert_int_equal(kerf_schedule_make(&request, &schedule, NULL), KERF_OK);
    assert_int_equal(kerf_schedule_times_make(1, 1, &durations, &times, NULL), KERF_OK);
    assert_int_equal(kerf_schedule_simulate(schedule, times, &timeline, NULL), KERF_OK);
    assert_int_equal(kerf_schedule_chrome(&out, schedule, times, timeline, NULL), KERF_OK);
    const char *events = strstr(out.data, "\"traceEvents\"");
    assert_string_equal(
        events,
        "\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"device 0\"}},\n"
        "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":0,\"args\":{\"sort_index\":0}},\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"tid\":0,\"pid\":0,\"args\":{\"name\":\"operations\"}},\n"
        "{\"ph\":\"X\",\"cat\":\"F\",\"name\":\"F 0\",\"cname\":\"thread_state_runnable\",\"pid\":0,\"tid\":0,\"ts\":0,"
        "\"dur\":1000000,\"args\":{\"stage\":0,\"microbatch\":0}},\n"
        "{\"ph\":\"X\",\"cat\":\"B\",\"name\":\"B 0\",\"cname\":\"thread_state_running\",\"pid\":0,\"tid\":0,"
        "\"ts\":1000000,\"dur\":2000000,\"args\":{\"stage\":0,\"microbatch\":0}},\n"
        "{\"ph\":\"C\",\"name\":\"activations\",\"pid\":0,\"ts\":0,\"args\":{\"micro-batches\":1}},\n"
        "{\"ph\":\"C\",\"name\":\"activations\",\"pid\":0,\"ts\":3000000,\"args\":{\"micro-batches\":0}}\n"
        "]}\n");
    kerf_text_free(&out);
    kerf_timeline_free(timeline);
    kerf_schedule_times_free(times);
    kerf_schedule_free(schedule);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rule),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
