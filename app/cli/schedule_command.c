/* SPDX-License-Identifier: Apache-2.0 */
/* kerf schedule: makes a pipeline schedule by its rule, simulates it and says what it costs. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cli/command.h"
#include "cli/output.h"
#include "cli/terminal.h"

struct schedule_options {
    struct kerf_strings rules;
    int64_t devices, microbatches, chunks, group, slices;
    double forward, backward, backward_input, backward_weight, fused, p2p, memory_cap;
    const char *times, *free_at, *send, *recv, *format, *output;
    int32_t list, no_ops;
};

#define AT(field) .offset = offsetof(struct schedule_options, field)
#define SECONDS   .value = "SECONDS", .maximum = 1e9
static const struct kerf_option options[] = {
    {.name = "devices",
     .letter = 'p',
     .type = KERF_OPTION_INTEGER,
     AT(devices),
     .value = "P",
     .minimum = 1,
     .maximum = 4096,
     .help = "Devices of the pipeline."},
    {.name = "microbatches",
     .letter = 'm',
     .type = KERF_OPTION_INTEGER,
     AT(microbatches),
     .value = "M",
     .minimum = 1,
     .maximum = 1048576,
     .help = "Micro-batches of a step."},
    {.name = "chunks",
     .type = KERF_OPTION_INTEGER,
     AT(chunks),
     .value = "V",
     .minimum = 1,
     .maximum = 4096,
     .help = "Stages on each device, for the schedules that let you choose (default: the schedule's own)."},
    {.name = "group",
     .type = KERF_OPTION_INTEGER,
     AT(group),
     .value = "N",
     .minimum = 1,
     .maximum = 1048576,
     .help = "Interleaved schedules: micro-batches of one chunk before the next chunk's turn (default: the devices)."},
    {.name = "slices",
     .type = KERF_OPTION_INTEGER,
     AT(slices),
     .value = "K",
     .minimum = 1,
     .maximum = 4096,
     .help = "seq1f1b: parts into which the sequence of each micro-batch is cut (default: 4)."},
    {.name = "forward",
     .type = KERF_OPTION_NUMBER,
     AT(forward),
     SECONDS,
     .help = "A stage's forward pass (default: 1)."},
    {.name = "backward",
     .type = KERF_OPTION_NUMBER,
     AT(backward),
     SECONDS,
     .help = "A stage's backward pass of input and weights (default: the sum of its two parts)."},
    {.name = "backward-input",
     .type = KERF_OPTION_NUMBER,
     AT(backward_input),
     SECONDS,
     .help = "The backward pass of the input alone (default: half of --backward where that is given, else 1)."},
    {.name = "backward-weight",
     .type = KERF_OPTION_NUMBER,
     AT(backward_weight),
     SECONDS,
     .help = "The backward pass of the weights alone (default: as --backward-input)."},
    {.name = "fused",
     .type = KERF_OPTION_NUMBER,
     AT(fused),
     SECONDS,
     .help = "A forward and a backward that run together (default: their sum)."},
    {.name = "p2p",
     .type = KERF_OPTION_NUMBER,
     AT(p2p),
     SECONDS,
     .help = "Latency from one device to another (default: 0)."},
    {.name = "times",
     .type = KERF_OPTION_STRING,
     AT(times),
     .value = "FILE",
     .help = "JSON with times by stage: arrays forward, backward, backward_input, backward_weight, fused, and p2p as a "
             "number or a "
             "matrix of device pairs. What it says takes precedence."},
    {.name = "memory-cap",
     .type = KERF_OPTION_NUMBER,
     AT(memory_cap),
     .value = "UNITS",
     .maximum = 1e9,
     .help = "Micro-batches whose activations a device may hold; a schedule that needs more is no answer (status 1)."},
    {.name = "free-at",
     .type = KERF_OPTION_CHOICE,
     AT(free_at),
     .value = "WHEN",
     .choices = "w,b",
     .help = "When activations are freed: by the weights' backward pass (default: w) or already by the input's."},
    {.name = "send",
     .type = KERF_OPTION_CHOICE,
     AT(send),
     .value = "HOW",
     .choices = "asynchronous,blocking",
     .help = "Whether a sender waits until its message has arrived (default: asynchronous)."},
    {.name = "no-ops", .type = KERF_OPTION_FLAG, AT(no_ops), .help = "Leave the operations out of the JSON."},
    {.name = "list",
     .type = KERF_OPTION_FLAG,
     AT(list),
     .help = "Show the schedules with their constraints, bubble and memory."},
    {.name = "format",
     .type = KERF_OPTION_CHOICE,
     AT(format),
     .value = "FORMAT",
     .choices = "table,json,csv,torch,torch-comms",
     .help = "What to print (default: table). torch is PyTorch's compute_only CSV, torch-comms its compute_comms."},
    {.name = "recv",
     .type = KERF_OPTION_CHOICE,
     AT(recv),
     .value = "WHEN",
     .choices = "early,late",
     .help = "torch-comms: receives where PyTorch's own lowering puts them (default: early), or late, right before the "
             "operation that needs them."},
    {.name = "output",
     .letter = 'o',
     .type = KERF_OPTION_STRING,
     AT(output),
     .value = "FILE",
     .help = "Write to FILE instead of standard output."},
    {.name = NULL},
};

static const char *const examples[] = {
    "What 1F1B costs on eight devices",
    "kerf schedule 1f1b --devices 8 --microbatches 32",
    "Zero bubble with own times",
    "kerf schedule zb_h1 -p 8 -m 32 --forward 1 --backward-input 1.1 --backward-weight 0.8 --p2p 0.05",
    "Into PyTorch",
    "kerf schedule zb_v -p 4 -m 8 --format torch -o zb_v.csv",
    NULL,
};

static const struct kerf_command table = {
    .name = "schedule",
    .summary = "what a pipeline schedule costs in time and memory, by simulation",
    .arguments = "SCHEDULE",
    .description = "Makes the schedule by its rule, simulates every operation on the given times, and says how long a "
                   "step takes, how idle the "
                   "devices are by each of the three definitions in use, how much memory activations take, and a bound "
                   "that no order of the "
                   "same operations can beat.\n\n"
                   "`kerf schedule --list` shows the schedules.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct schedule_options, rules),
};

static void print_list(struct kerf_text *out) {
    const struct kerf_schedule_rule *rule;
    for (size_t i = 0; (rule = kerf_schedule_rule_at(i)); i++) {
        kerf_text_printf(out, "%s%s: %s\n", i ? "\n" : "", rule->name, rule->summary);
        if (rule->constraint[0]) kerf_text_printf(out, "  needs    %s\n", rule->constraint);
        kerf_text_printf(out, "  bubble   %s\n  memory   %s\n  source   %s\n", rule->bubble, rule->memory,
                         rule->source);
    }
    kerf_text_add(out, "\np devices, m micro-batches, v chunks; F, B, W of a device: forward, backward of the input "
                       "and of the weights; "
                       "s = F + B + W.\nMemory: micro-batches through all chunks of the fullest device.\n");
}

static void print_table(struct kerf_text *out, const struct kerf_schedule *schedule,
                        const struct kerf_timeline *timeline, double bound) {
    struct kerf_bubble bubble = kerf_timeline_bubble(timeline);
    double peak = 0;
    for (int32_t i = 0; i < schedule->devices; i++) peak = fmax(peak, timeline->peak_activations[i]);
    kerf_text_printf(out, "%s: %d micro-batches through %d stages on %d devices\n\n", schedule->name,
                     schedule->microbatches, schedule->stages, schedule->devices);
    kerf_text_printf(out, "  makespan        %.6g s, from the first operation to the last\n", timeline->makespan_s);
    kerf_text_printf(out, "  span            %.6g s, of the device that takes longest from its first to its last\n",
                     timeline->span_s);
    kerf_text_printf(out, "  busy            %.6g s a device in the mean, %.6g s the busiest\n", timeline->busy_mean_s,
                     timeline->busy_max_s);
    kerf_text_printf(out, "  idle            %.2f %% of the makespan; %.2f %% of the busy time; %.2f %% of the span\n",
                     100 * bubble.of_makespan, 100 * bubble.of_ideal, 100 * bubble.of_span);
    kerf_text_printf(out, "  lower bound     %.6g s", bound);
    if (bound > 0 && timeline->makespan_s <= bound * (1 + 1e-12))
        kerf_text_add(out, ": no order of these operations within this memory is faster\n");
    else
        kerf_text_printf(out, ": at most %.1f %% above any order of these operations within this memory\n",
                         100 * (timeline->makespan_s / bound - 1));
    kerf_text_printf(out, "  activations     %.4g micro-batches on the fullest device:", peak);
    for (int32_t i = 0; i < schedule->devices && i < 16; i++)
        kerf_text_printf(out, " %.4g", timeline->peak_activations[i]);
    kerf_text_add(out, schedule->devices > 16 ? " ...\n" : "\n");
}

static void print_csv(struct kerf_text *out, const struct kerf_schedule *schedule,
                      const struct kerf_timeline *timeline) {
    static const char *const kinds[KERF_OP_KINDS] = {"F", "B", "I", "W", "FB"};
    kerf_text_add(out, "device,kind,stage,microbatch,with_stage,with_microbatch,start_s,end_s\n");
    for (int32_t i = 0; i < schedule->devices; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            const struct kerf_op *op = &schedule->ops[i][k];
            kerf_text_printf(out, "%d,%s,%d,%d,", i, kinds[op->kind], op->stage, op->microbatch);
            if (op->kind == KERF_OP_FB)
                kerf_text_printf(out, "%d,%d,", op->with_stage, op->with_microbatch);
            else
                kerf_text_add(out, ",,");
            kerf_text_number(out, timeline->start_s[i][k]);
            kerf_text_add(out, ",");
            kerf_text_number(out, timeline->end_s[i][k]);
            kerf_text_add(out, "\n");
        }
}

static int32_t missing(const char *what, const char *example, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID, "%s is missing, such as %s; `kerf help schedule` tells more", what,
                          example);
}

static int32_t render(struct kerf_text *out, const struct schedule_options *values,
                      const struct kerf_schedule *schedule, const struct kerf_timeline *timeline, double bound,
                      struct kerf_error *err) {
    if (strcmp(values->format, "json") == 0) {
        struct kerf_json json;
        kerf_json_begin(&json, out);
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "kerf", kerf_version());
        kerf_schedule_json(&json, schedule, timeline, bound, !values->no_ops);
        kerf_json_close(&json, '}');
        kerf_text_add(out, "\n");
        return KERF_OK;
    }
    if (strcmp(values->format, "torch") == 0) return kerf_schedule_torch(out, schedule, KERF_TORCH_COMPUTE, err);
    if (strcmp(values->format, "torch-comms") == 0)
        return kerf_schedule_torch(out, schedule,
                                   strcmp(values->recv, "late") == 0 ? KERF_TORCH_COMMS_LATE : KERF_TORCH_COMMS, err);
    if (strcmp(values->format, "csv") == 0)
        print_csv(out, schedule, timeline);
    else
        print_table(out, schedule, timeline, bound);
    return KERF_OK;
}

static int32_t make_times(const struct schedule_options *values, int32_t devices, int32_t stages,
                          struct kerf_schedule_times **ret_times, struct kerf_error *err) {
    const struct kerf_schedule_times_request request = {.forward_s = values->forward,
                                                        .backward_s = values->backward,
                                                        .backward_input_s = values->backward_input,
                                                        .backward_weight_s = values->backward_weight,
                                                        .fused_s = values->fused,
                                                        .p2p_s = values->p2p,
                                                        .overhead_s = NAN,
                                                        .optimizer_s = NAN,
                                                        .cap = values->memory_cap,
                                                        .file = values->times,
                                                        .blocking = strcmp(values->send, "blocking") == 0,
                                                        .free_at_input = strcmp(values->free_at, "b") == 0};
    return kerf_schedule_times_make(devices, stages, &request, ret_times, err);
}

static int answer(const struct schedule_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_schedule *schedule = NULL;
    struct kerf_schedule_times *times = NULL;
    struct kerf_timeline *timeline = NULL;
    struct kerf_text out = {0};
    double peak = 0;
    int32_t code = KERF_OK;
    if (values->list) {
        print_list(&out);
        return output_print(&out);
    }
    if (values->rules.count != 1) code = missing("one schedule", "1f1b", &err);
    if (code == KERF_OK && values->devices == 0) code = missing("--devices", "--devices 8", &err);
    if (code == KERF_OK && values->microbatches == 0) code = missing("--microbatches", "--microbatches 32", &err);
    struct kerf_schedule_request request = {.rule = code == KERF_OK ? values->rules.items[0] : NULL,
                                            .devices = (int32_t)values->devices,
                                            .microbatches = (int32_t)values->microbatches,
                                            .chunks = (int32_t)values->chunks,
                                            .group = (int32_t)values->group,
                                            .slices = (int32_t)values->slices};
    int32_t stages;
    if (code == KERF_OK) code = kerf_schedule_stages(&request, &stages, &err);
    if (code == KERF_OK) code = make_times(values, request.devices, stages, &times, &err);
    request.times = times;
    if (code == KERF_OK) code = kerf_schedule_make(&request, &schedule, &err);
    if (code == KERF_OK) code = kerf_schedule_simulate(schedule, times, &timeline, &err);
    if (code == KERF_OK) {
        for (int32_t i = 0; i < schedule->devices; i++) peak = fmax(peak, timeline->peak_activations[i]);
        code = render(&out, values, schedule, timeline, kerf_schedule_lower_bound(schedule, times, timeline), &err);
    }
    if (code == KERF_OK) code = output_file(values->output ? values->output : "-", &out, &err);
    kerf_text_free(&out);
    kerf_timeline_free(timeline);
    kerf_schedule_times_free(times);
    kerf_schedule_free(schedule);
    if (code != KERF_OK) return cli_fail(&err);
    if (peak <= values->memory_cap || isnan(values->memory_cap)) return EXIT_ANSWERED;
    fprintf(stderr, "kerf: %s holds %g micro-batches at its peak, more than --memory-cap %g\n", values->rules.items[0],
            peak, values->memory_cap);
    return EXIT_NO_ANSWER;
}

static int run(int argc, char **argv) {
    struct schedule_options values = {.forward = NAN,
                                      .backward = NAN,
                                      .backward_input = NAN,
                                      .backward_weight = NAN,
                                      .fused = NAN,
                                      .p2p = NAN,
                                      .memory_cap = NAN,
                                      .free_at = "w",
                                      .send = "asynchronous",
                                      .recv = "early",
                                      .format = "table"};
    int status = cli_parse(&schedule_cli, argc, argv, &values);
    if (status >= 0) return status;
    status = answer(&values);
    kerf_options_free(&table, &values);
    return status;
}

const struct cli_command schedule_cli = {&table, run};
