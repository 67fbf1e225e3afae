/* SPDX-License-Identifier: Apache-2.0 */
/* kerf schedule: makes pipeline schedules, simulates them and says what they cost. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/error_fill.h"
#include "base/input.h"
#include "base/number.h"
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/schedule_answers.h"

struct schedule_options {
    struct string_list names, outputs;
    int64_t devices, chunks, group, slices, search_steps, replicas;
    double forward, backward, backward_input, backward_weight, fused, p2p, overhead, optimizer, from, to, search_time;
    const char *microbatches, *memory_cap, *times, *free_at, *send, *link, *optimizer_step, *objective, *placement,
        *recv, *trace, *format, *certificate, *jitter, *straggler, *slow_link, *rank_by;
    const char *plan, *compare;
    int64_t trace_step, rank;
    int32_t list, no_ops;
};

#define AT(field) .offset = offsetof(struct schedule_options, field)
#define SECONDS   .value = "TIME", .maximum = INFINITY
#define SIMULATES .uses = "SCHEDULE,compare"
#define SHOWS     .uses = "SCHEDULE,compare,--plan"
static const struct option options[] = {
    {.name = "devices",
     .letter = 'p',
     .type = OPTION_INTEGER,
     AT(devices),
     .value = "P",
     .minimum = 1,
     .maximum = 4096,
     SIMULATES,
     .help = "Devices of the pipeline."},
    {.name = "microbatches",
     .letter = 'm',
     .type = OPTION_STRING,
     AT(microbatches),
     .value = "M",
     SIMULATES,
     .help = "Micro-batches of a step; several, such as 8,12 or 8..64:x2, make a sweep."},
    {.name = "chunks",
     .type = OPTION_INTEGER,
     AT(chunks),
     .value = "V",
     .minimum = 1,
     .maximum = 4096,
     SIMULATES,
     .help =
         "Stages on each device, for schedules that take any number (default: the schedule's own; in a comparison 2)."},
    {.name = "group",
     .type = OPTION_INTEGER,
     AT(group),
     .value = "N",
     .minimum = 1,
     .maximum = 1048576,
     .uses = "interleaved_1f1b,interleaved_1f1b_overlap,interleaved_zb,gis",
     .help = "Micro-batches of one chunk before the next chunk's turn (default: the number of devices, or more if a "
             "short last group would deadlock)."},
    {.name = "slices",
     .type = OPTION_INTEGER,
     AT(slices),
     .value = "K",
     .minimum = 1,
     .maximum = 4096,
     .uses = "seq1f1b,seq_zb",
     .help = "Parts into which the sequence of each micro-batch is cut (default: 4)."},
    {.name = "replicas",
     .type = OPTION_INTEGER,
     AT(replicas),
     .value = "R",
     .minimum = 2,
     .maximum = 4096,
     .uses = "chimera",
     .help = "Copies of the model, an even number: half of them run down the devices, half up (default: 2)."},
    {.name = "forward",
     .type = OPTION_DURATION,
     AT(forward),
     SECONDS,
     SIMULATES,
     .help = "A stage's forward pass (default: 1s)."},
    {.name = "backward",
     .type = OPTION_DURATION,
     AT(backward),
     SECONDS,
     SIMULATES,
     .help = "A stage's backward pass of input and weights (default: the sum of its two parts)."},
    {.name = "backward-input",
     .type = OPTION_DURATION,
     AT(backward_input),
     SECONDS,
     SIMULATES,
     .help = "The backward pass of the input only (default: --backward minus --backward-weight, or half of --backward; "
             "1s without --backward)."},
    {.name = "backward-weight",
     .type = OPTION_DURATION,
     AT(backward_weight),
     SECONDS,
     SIMULATES,
     .help = "The backward pass of the weights only (default: --backward minus --backward-input, or half of "
             "--backward; 1s without --backward)."},
    {.name = "fused",
     .type = OPTION_DURATION,
     AT(fused),
     SECONDS,
     SIMULATES,
     .help = "A forward and a backward that run together (default: their sum)."},
    {.name = "p2p",
     .type = OPTION_DURATION,
     AT(p2p),
     SECONDS,
     SIMULATES,
     .help = "Latency from one device to another (default: 0)."},
    {.name = "times",
     .type = OPTION_STRING,
     AT(times),
     .value = "FILE",
     SIMULATES,
     .help = "JSON with times by stage: arrays forward, backward, backward_input, backward_weight, fused, and p2p as a "
             "number or a matrix of device pairs; - is standard input. Options that give a time take precedence."},
    {.name = "memory-cap",
     .type = OPTION_STRING,
     AT(memory_cap),
     .value = "CAP",
     SIMULATES,
     .help = "The activations that a device may hold: micro-batches through all its chunks (8), or bytes (40GB) if "
             "--times has activation_bytes. Several, such as 4..16 or 40GB,60GB, make a sweep. A schedule that holds "
             "more is marked; if every schedule holds more, the exit status is 1."},
    {.name = "free-at",
     .type = OPTION_CHOICE,
     AT(free_at),
     .value = "WHEN",
     .choices = "w,b",
     SIMULATES,
     .help = "When activations are freed: by the weights' backward pass (default: w) or already by the input's."},
    {.name = "send",
     .type = OPTION_CHOICE,
     AT(send),
     .value = "HOW",
     .choices = "asynchronous,blocking",
     SIMULATES,
     .help = "Whether a sender waits until its message has arrived (default: asynchronous)."},
    {.name = "link",
     .type = OPTION_CHOICE,
     AT(link),
     .value = "HOW",
     .choices = "own,shared",
     SIMULATES,
     .help = "own: each message has its own link (default). shared: the messages of a device go one after the other "
             "over one link."},
    {.name = "overhead",
     .type = OPTION_DURATION,
     AT(overhead),
     SECONDS,
     SIMULATES,
     .help = "Time that is added to every operation, such as its launch (default: 0)."},
    {.name = "optimizer",
     .type = OPTION_DURATION,
     AT(optimizer),
     SECONDS,
     SIMULATES,
     .help = "The optimizer's step after the last operation (default: 0)."},
    {.name = "optimizer-step",
     .type = OPTION_CHOICE,
     AT(optimizer_step),
     .value = "HOW",
     .choices = "synchronised,unsynchronised",
     SIMULATES,
     .help = "synchronised: the devices wait for each other before the optimizer's step, and a step takes the makespan "
             "(default). unsynchronised: each device continues by itself, and a step takes the span."},
    {.name = "objective",
     .type = OPTION_CHOICE,
     AT(objective),
     .value = "WHAT",
     .choices = "step,makespan,span",
     .uses = "best",
     .help = "What the search minimises (default: step, which is the makespan, or with --optimizer-step unsynchronised "
             "the span)."},
    {.name = "placement",
     .type = OPTION_CHOICE,
     AT(placement),
     .value = "PLACEMENT",
     .choices = "any,loop,v,both",
     .uses = "best",
     .help = "Which device has which stage: loop, one after the other, starting again with each chunk (default); v, "
             "down and back in two chunks; both, in two replicas from both ends, each with its copy of the parameters; "
             "or any, the one of these with the shortest step (default in a comparison). With any, times are those of "
             "all stages of a device together."},
    {.name = "search-time",
     .type = OPTION_DURATION,
     AT(search_time),
     .value = "TIME",
     .minimum = DBL_MIN,
     .maximum = 1e9,
     .uses = "best",
     .help = "How long it may search (default: 1s). It stops earlier if it has a proof."},
    {.name = "search-steps",
     .type = OPTION_INTEGER,
     AT(search_steps),
     .value = "N",
     .minimum = 1,
     .maximum = 1000000000000,
     .uses = "best",
     .help = "How much it may search, in steps of work instead of time: the answer is then the same on every machine. "
             "One second is a few hundred million steps."},
    {.name = "jitter",
     .type = OPTION_STRING,
     AT(jitter),
     .value = "SHARE",
     SIMULATES,
     .help =
         "How much the time of an operation varies: its standard deviation, such as 5% or 0.05 of it (log-normal), or "
         "trace for what --trace has measured. Prints the distribution of the step over 10,000 simulations."},
    {.name = "straggler",
     .type = OPTION_STRING,
     AT(straggler),
     .value = "DEVICE:FACTOR",
     SIMULATES,
     .help = "One device whose operations take longer than the schedule was made for, such as 3:1.5."},
    {.name = "slow-link",
     .type = OPTION_STRING,
     AT(slow_link),
     .value = "DEVICE:FACTOR",
     SIMULATES,
     .help = "One device whose messages take longer than the schedule was made for, such as 3:10."},
    {.name = "rank-by",
     .type = OPTION_CHOICE,
     AT(rank_by),
     .value = "BY",
     .choices = "none,p95",
     .uses = "compare",
     .help = "Order the rows by the 95th percentile of the step under --jitter, --straggler or --slow-link (default: "
             "none, the order in which you name the schedules)."},
    {.name = "certificate",
     .type = OPTION_STRING,
     AT(certificate),
     .value = "FILE",
     .uses = "best",
     .help = "Write a proof of the lower bound, and the order, to FILE, for `kerf schedule verify`. For one answer, "
             "not for a comparison."},
    {.name = "trace",
     .type = OPTION_STRING,
     AT(trace),
     .value = "DIR",
     SIMULATES,
     .help = "A measured run: a folder from Megatron's timers or PyTorch's profiler, with a file for each rank (.json "
             "or .json.gz). It is drawn above the simulation. Times, devices and micro-batches that you do not give "
             "are those of the trace. Without a schedule, the trace's own order is simulated."},
    {.name = "trace-step",
     .type = OPTION_INTEGER,
     AT(trace_step),
     .value = "N",
     .minimum = -1,
     .maximum = 1000000,
     .uses = "SCHEDULE,compare,fit",
     .help = "Which of the trace's complete steps, from 0 (default: -1, the one of median length)."},
    {.name = "plan",
     .type = OPTION_STRING,
     AT(plan),
     .value = "FILE",
     .uses = "--plan",
     .help = "A plan: what `kerf plan --format json` or `kerf estimate --format json` has written. Its pipeline is "
             "simulated, with the plan's schedule, times, latency and activations; - is standard input."},
    {.name = "rank",
     .type = OPTION_INTEGER,
     AT(rank),
     .value = "K",
     .minimum = 1,
     .maximum = 1000000,
     .uses = "--plan",
     .help = "Which of the plans in FILE (default: 1, the best)."},
    {.name = "compare",
     .type = OPTION_STRING,
     AT(compare),
     .value = "A,B",
     .uses = "--plan",
     .help = "Other schedules with the same times: for schedules with other stages the times are summed or split."},
    {.name = "from",
     .type = OPTION_DURATION,
     AT(from),
     SECONDS,
     SHOWS,
     .help = "Draw the timeline from here (default: its start)."},
    {.name = "to",
     .type = OPTION_DURATION,
     AT(to),
     SECONDS,
     SHOWS,
     .help = "Draw the timeline to here (default: its end)."},
    {.name = "no-ops",
     .type = OPTION_FLAG,
     AT(no_ops),
     SHOWS,
     .help = "Leave the operations out of the JSON, and the timeline out of the table."},
    {.name = "list",
     .type = OPTION_FLAG,
     AT(list),
     .help = "Show the schedules with their constraints, bubble and memory."},
    {.name = "format",
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORMAT",
     .choices = "table,json,csv,torch,torch-comms,text,chrome,svg,png,pdf,html",
     .help = "What to print on standard output (default: table). torch is PyTorch's compute_only CSV, torch-comms its "
             "compute_comms; text is kerf's text form with every operation; chrome is a trace for Perfetto or "
             "chrome://tracing."},
    {.name = "recv",
     .type = OPTION_CHOICE,
     AT(recv),
     .value = "WHEN",
     .choices = "early,late",
     SHOWS,
     .help = "For torch-comms: early puts receives where PyTorch's own lowering puts them (default); late puts them "
             "right before the operation that needs them, as PyTorch since January 2026."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_STRINGS,
     AT(outputs),
     .value = "FILE",
     .help =
         "Write FILE too, in the format of its name: .svg .png .pdf .html draw the answer; .json .csv .txt hold it, "
         "and are then written instead of standard output, unless --format names another form (.csv as --format says, "
         "where that is a CSV). May be "
         "given several times; - is standard output."},
    {.name = NULL},
};

static const char *const examples[] = {
    "What 1F1B costs on eight devices",
    "kerf schedule 1f1b --devices 8 --microbatches 32",
    "Zero bubble with your own times, as a page that you can zoom into",
    "kerf schedule zb_h1 -p 8 -m 32 --forward 1 --backward-input 1.1 --backward-weight 0.8 --p2p 0.05 -o zb_h1.html",
    "Which schedule is best, with the same devices, layers and micro-batches",
    "kerf schedule compare 1f1b interleaved_1f1b zb_h1 dualpipe -p 8 -m 32 --chunks 2",
    "How much time more memory saves",
    "kerf schedule compare zb_1p best -p 8 -m 16 --p2p 0.5 --memory-cap 8..16 -o frontier.svg",
    "The pipeline of the best plan, beside other schedules",
    "kerf schedule --plan plan.json --compare zb_h1,zb_v -o pipeline.html",
    "The times of a measured run",
    "kerf schedule fit traces/ -o times.json",
    "The same times with another schedule, drawn below the trace",
    "kerf schedule zb_h1 --trace traces/ -o both.html",
    "A proof that no order is shorter, and its check",
    "kerf schedule best -p 8 -m 16 --memory-cap 8 --certificate proof.txt && kerf schedule verify proof.txt",
    "A schedule file for PyTorch",
    "kerf schedule zb_v -p 4 -m 8 --format torch -o zb_v.csv",
    NULL,
};

static const struct command_use uses[] = {{"SCHEDULE", "[SCHEDULE|FILE]"},
                                          {"compare", "compare SCHEDULE|FILE..."},
                                          {"fit", "fit DIR"},
                                          {"--plan", "--plan FILE"},
                                          {"verify", "verify FILE"},
                                          {"--list", "--list"},
                                          {NULL, NULL}};

/* Whether a word stands in a list with commas between. */
static int is_listed(const char *word, const char *list) {
    const size_t length = strlen(word);
    for (const char *c = list; c && *c; c += strcspn(c, ","), c += *c == ',')
        if (strncmp(c, word, length) == 0 && (c[length] == 0 || c[length] == ',')) return 1;
    return 0;
}

/* A rule's name is a use where the rule is asked for, alone or in a comparison. */
static int is_use(const void *context, const char *use) {
    const struct schedule_options *values = context;
    const struct string_list *names = &values->names;
    const char *first = values->list ? "--list" : values->plan ? "--plan" : names->count ? names->items[0] : "";
    int reads = strcmp(first, "fit") == 0 || strcmp(first, "verify") == 0;
    int verb = strcmp(first, "compare") == 0 || reads || values->plan || values->list;
    if (strcmp(use, "SCHEDULE") == 0) return !verb;
    if (values->plan && !values->list && is_listed(use, values->compare)) return 1;
    for (int32_t i = values->list || reads; i < names->count; i++)
        if (strcmp(names->items[i], use) == 0) return 1;
    return strcmp(first, use) == 0;
}

static const struct command_exit exits[] = {
    {"0", "answered"},
    {"1", "no schedule keeps within --memory-cap; the nearest one is named"},
    {"2", "bad usage or input"},
    {"3", "failed while running"},
    {"130", "interrupted with Ctrl-C; the results so far were printed"},
    {NULL, NULL},
};

static const struct command table = {
    .name = "schedule",
    .summary = "what a pipeline schedule costs in time and memory, by simulation",
    .description =
        "Makes the schedule by its rule, simulates every operation with the given times, and prints how long a step "
        "takes, how idle the devices are by three definitions, how much memory the activations take, and a lower bound "
        "for every order of the same operations.\n\n"
        "`kerf schedule --list` shows the schedules. FILE is a schedule of your own: PyTorch's schedule CSV (.csv), or "
        "the "
        "text form that docs/schedule-files.md describes. `compare` gives several schedules the same devices, layers "
        "and micro-batches. The given times are then those of all stages of a device together: each stage of a "
        "schedule with v chunks takes a v-th of them, and arrays of --times are summed or split to match the number of "
        "stages. "
        "`--plan` simulates the pipeline of a plan. "
        "`fit` reads a trace, a measured run, and prints how long its operations and messages took; -o writes these "
        "times "
        "as a file for --times. "
        "`verify` checks the proof that --certificate wrote, without any code of the search.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct schedule_options, names),
    .uses = uses,
    .is_use = is_use,
    .exits = exits,
};

static int32_t missing(const char *what, const char *example, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID, "%s is missing, such as %s; `kerf help schedule` tells more", what,
                          example);
}

static int is(const char *value, const char *choice) { return strcmp(value, choice) == 0; }

/* ---- From the options to the question --------------------------------------------------------------------- */

/* What the question points to. */
struct storage {
    struct range microbatches;
    struct memory_cap *caps;
    struct kerf_trace *trace;
    struct kerf_trace_fit *fit;
    struct kerf_text times; /* the file of times, or the run's as such a file */
    struct schedule_plan plan;
};

static void storage_free(struct storage *storage) {
    range_free(&storage->microbatches);
    free(storage->caps);
    kerf_trace_fit_free(storage->fit);
    kerf_trace_free(storage->trace);
    kerf_text_free(&storage->times);
    schedule_plan_free(&storage->plan);
}

/* The file is read once, however many schedules it is for: standard input cannot be read twice. */
static int32_t read_times_file(const char *path, struct schedule_question *question, struct storage *storage,
                               struct kerf_error *err) {
    enum { BYTES_MAX = 64 << 20 };
    int32_t code = input_read(path, BYTES_MAX, &storage->times, err);
    if (code != KERF_OK) return code;
    question->times.file = is(path, "-") ? "standard input" : path;
    question->times.file_text = storage->times.data ? storage->times.data : "";
    return KERF_OK;
}

/* A trace, and what it says of times; these stand in for a file of times unless there is one. */
static int32_t read_trace(const struct schedule_options *values, struct schedule_question *question,
                          struct storage *storage, struct kerf_error *err) {
    int32_t code = kerf_trace_load(values->trace, (int32_t)values->trace_step, &storage->trace, err);
    if (code == KERF_OK) code = kerf_trace_fit_make(storage->trace, &storage->fit, err);
    if (code != KERF_OK) return code;
    question->trace = storage->trace;
    if (values->times) return KERF_OK;
    print_fit_json(&storage->times, storage->fit);
    if (storage->times.failed) return error_no_memory(err, "the times of the trace");
    question->times.file = values->trace;
    question->times.file_text = storage->times.data;
    return KERF_OK;
}

static void read_times(const struct schedule_options *values, struct kerf_schedule_times_request *times) {
    *times = (struct kerf_schedule_times_request){.forward_s = values->forward,
                                                  .backward_s = values->backward,
                                                  .backward_input_s = values->backward_input,
                                                  .backward_weight_s = values->backward_weight,
                                                  .fused_s = values->fused,
                                                  .p2p_s = values->p2p,
                                                  .overhead_s = values->overhead,
                                                  .optimizer_s = values->optimizer,
                                                  .file = values->times,
                                                  .blocking = is(values->send, "blocking"),
                                                  .shared_link = is(values->link, "shared"),
                                                  .free_at_input = is(values->free_at, "b"),
                                                  .unsynchronised = is(values->optimizer_step, "unsynchronised")};
}

static double search_clock(void *unused) {
    (void)unused;
    return clock_ticks_s();
}

/* The search's limit: steps where they are given, else time, and both where both are. */
static void read_limits(const struct schedule_options *values, struct kerf_schedule_request *request) {
    request->search_steps = values->search_steps;
    if (values->search_steps && values->search_time == 0) return;
    request->clock = search_clock;
    request->search_time_s = values->search_time > 0 ? values->search_time : 1;
}

/* "5%", "0.05", or "trace". */
static int32_t read_noise(const struct schedule_options *values, struct schedule_question *question,
                          struct kerf_error *err) {
    char *end = NULL;
    question->jitter = NAN;
    question->straggler = values->straggler;
    question->slow_link = values->slow_link;
    question->measured_jitter = values->jitter && is(values->jitter, "trace");
    question->rank_by_p95 = values->rank_by && is(values->rank_by, "p95");
    if (question->measured_jitter && values->trace == NULL)
        return kerf_error_set(err, KERF_EINVALID, "--jitter trace needs --trace, whose operations it takes");
    if (question->rank_by_p95 && !values->jitter && !values->straggler && !values->slow_link)
        return kerf_error_set(err, KERF_EINVALID, "--rank-by p95 needs --jitter, --straggler or --slow-link");
    if (values->jitter == NULL || question->measured_jitter) return KERF_OK;
    question->jitter = number_read(values->jitter, &end);
    if (end != values->jitter && is(end, "%")) question->jitter /= 100, end++;
    if (end == values->jitter || *end != '\0' || !(question->jitter >= 0 && question->jitter <= 10))
        return kerf_error_set(err, KERF_EINVALID, "--jitter '%.64s' must be a share, such as 5%% or 0.05, or trace",
                              values->jitter);
    return KERF_OK;
}

static void read_search(const struct schedule_options *values, int compare, struct kerf_schedule_request *request) {
    const char *placement = values->placement ? values->placement : compare ? "any" : "loop";
    request->objective = is(values->objective, "span")       ? KERF_OBJECTIVE_SPAN
                         : is(values->objective, "makespan") ? KERF_OBJECTIVE_MAKESPAN
                                                             : KERF_OBJECTIVE_STEP;
    request->placement = is(placement, "any")    ? KERF_PLACE_ANY
                         : is(placement, "v")    ? KERF_PLACE_V
                         : is(placement, "both") ? KERF_PLACE_BOTH
                                                 : KERF_PLACE_LOOP;
    request->certificate = values->certificate != NULL;
    read_limits(values, request);
}

/* The question of a plan's pipeline: all that is asked is in its file. */
static int32_t read_plan_question(const struct schedule_options *values, struct schedule_question *question,
                                  struct storage *storage, struct kerf_error *err) {
    char microbatches[16];
    if (values->names.count > 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "--plan has a schedule of its own, not '%.64s' too; --compare takes others",
                              values->names.items[0]);
    int32_t code =
        schedule_plan_read(values->plan, (int32_t)values->rank, values->compare, &storage->plan, question, err);
    if (code != KERF_OK) return code;
    snprintf(microbatches, sizeof microbatches, "%d", storage->plan.pipeline->microbatches);
    read_search(values, question->compare, &question->request);
    code = range_parse(microbatches, "the plan", 1, 1048576, &storage->microbatches, err);
    if (code == KERF_OK) code = schedule_caps_parse(NULL, &storage->caps, &question->num_caps, err);
    question->microbatches = &storage->microbatches;
    question->caps = storage->caps;
    return code;
}

static int32_t read_question(const struct schedule_options *values, struct schedule_question *question,
                             struct storage *storage, struct kerf_error *err) {
    const struct string_list *names = &values->names;
    question->compare = names->count > 0 && is(names->items[0], "compare");
    question->names = names->items + question->compare;
    question->num_names = names->count - question->compare;
    read_times(values, &question->times);
    int32_t code = read_noise(values, question, err);
    if (code == KERF_OK && values->plan) return read_plan_question(values, question, storage, err);
    if (code == KERF_OK && values->trace) code = read_trace(values, question, storage, err);
    question->trace_fit = storage->fit;
    if (code != KERF_OK) return code;
    if (question->num_names < 1 && (values->trace == NULL || question->compare))
        return missing("a schedule", "1f1b", err);
    if (question->num_names > 1 && !question->compare)
        return kerf_error_set(err, KERF_EINVALID,
                              "give one schedule, not also '%.64s'; `kerf schedule compare` takes several",
                              question->names[1]);
    int32_t rules = 0; /* files have devices and micro-batches of their own */
    for (int32_t i = 0; i < question->num_names && code == KERF_OK; i++) {
        int32_t is_file = 0;
        code = schedule_name_check(question->names[i], &is_file, err);
        rules += !is_file;
    }
    if (code != KERF_OK) return code;
    if (question->trace) rules = 0; /* and so has a trace */
    if (values->devices == 0 && rules) return missing("--devices", "--devices 8", err);
    if (values->microbatches == NULL && rules) return missing("--microbatches", "--microbatches 32", err);
    question->request = (struct kerf_schedule_request){
        .devices = values->devices || !question->trace ? (int32_t)values->devices : question->trace->schedule->devices,
        .chunks = (int32_t)values->chunks,
        .group = (int32_t)values->group,
        .slices = (int32_t)values->slices,
        .replicas = (int32_t)values->replicas};
    read_search(values, question->compare, &question->request);
    if (values->times) code = read_times_file(values->times, question, storage, err);
    if (code != KERF_OK) return code;
    code = values->microbatches
               ? range_parse(values->microbatches, "--microbatches", 1, 1048576, &storage->microbatches, err)
               : range_parse("0", "--microbatches", 0, 0, &storage->microbatches, err); /* the file's own */
    if (code == KERF_OK) code = schedule_caps_parse(values->memory_cap, &storage->caps, &question->num_caps, err);
    question->microbatches = &storage->microbatches;
    question->caps = storage->caps;
    return code;
}

/* ---- From the answers to what is printed ------------------------------------------------------------------ */

static const struct render_format formats[] = {
    {.name = "table", .ending = "txt"},
    {.name = "json", .ending = "json"},
    {.name = "csv", .ending = "csv"},
    {.name = "torch", .ending = "csv"},
    {.name = "torch-comms", .ending = "csv"},
    {.name = "text", .ending = "sched"},
    {.name = "chrome", .ending = "json"},
    RENDER_PICTURES,
    {.name = NULL},
};

/* Formats of other programs hold one schedule. */
static int32_t write_one(const struct schedule_answers *answers, struct kerf_text *out, const char *format,
                         struct kerf_error *err) {
    const struct schedule_answer *answer = &answers->items[0];
    if (answers->several)
        return kerf_error_set(err, KERF_EINVALID, "--format %s takes one schedule, not %d", format, answers->count);
    if (is(format, "text")) return kerf_schedule_text(out, answer->schedule, err);
    if (is(format, "chrome")) return kerf_schedule_chrome(out, answer->schedule, answer->times, answer->timeline, err);
    return kerf_schedule_torch(out, answer->schedule,
                               is(format, "torch")      ? KERF_TORCH_COMPUTE
                               : answers->late_receives ? KERF_TORCH_COMMS_LATE
                                                        : KERF_TORCH_COMMS,
                               err);
}

static int32_t write_answers(void *context, struct kerf_text *out, const struct render_format *format,
                             const struct render_style *style, struct kerf_error *err) {
    const struct schedule_answers *answers = context;
    if (format->is_picture) return print_schedule_picture(out, answers, format->picture, err);
    if (is(format->name, "json"))
        print_schedule_json(out, answers);
    else if (is(format->name, "csv"))
        print_schedule_csv(out, answers);
    else if (is(format->name, "table"))
        print_schedule_table(out, answers, style);
    else
        return write_one(answers, out, format->name, err);
    return KERF_OK;
}

/* Whether a schedule keeps its cap; else the nearest miss is explained. */
static int within_cap(const struct schedule_answers *answers) {
    const struct schedule_answer *nearest = NULL;
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        if (answer->timeline == NULL) continue;
        if (answer->timeline->over_cap < 0) return 1;
        if (nearest == NULL || answer_peak(answer) < answer_peak(nearest)) nearest = answer;
    }
    if (nearest == NULL) return 1;
    int32_t device = nearest->timeline->over_cap;
    struct kerf_text held = {0};
    if (nearest->times->cap_in_bytes) {
        quantity_bytes(&held, nearest->timeline->peak_bytes[device]);
        kerf_text_add(&held, ", more than its cap of ");
        quantity_bytes(&held, nearest->times->cap[device]);
    } else {
        words_microbatches(&held, nearest->timeline->peak_activations[device], 6);
        kerf_text_printf(&held, ", more than its cap of %.6g", nearest->times->cap[device]);
    }
    fprintf(stderr, "kerf: %s holds %s on device %d\n", nearest->schedule->name, held.data ? held.data : "?", device);
    kerf_text_free(&held);
    return 0;
}

/* Refuses an option that no output uses, which would be ignored. */
static int32_t check_unused(const struct schedule_options *values, const struct render *render,
                            struct kerf_error *err) {
    const char *part = !isnan(values->from) ? "--from" : !isnan(values->to) ? "--to" : NULL;
    if (values->recv && !render_writes(render, "torch-comms"))
        return kerf_error_set(err, KERF_EINVALID, "--recv is only for --format torch-comms");
    if (!isnan(values->from) && !isnan(values->to) && !(values->from < values->to))
        return kerf_error_set(err, KERF_EINVALID, "--from %g must lie before --to %g", values->from, values->to);
    if (part && !render_writes(render, "table") && !render_writes(render, "picture"))
        return kerf_error_set(err, KERF_EINVALID, "%s is for tables and pictures; %s has the whole timeline", part,
                              values->format);
    return KERF_OK;
}

/* A plan of another version, or one that was edited, is simulated all the same. */
static void check_plan(const struct kerf_pipeline *pipeline, const struct schedule_answers *answers) {
    const struct kerf_timeline *timeline = answers->items[0].timeline;
    const double said_s = pipeline->makespan_s;
    if (said_s <= 0 || timeline == NULL || fabs(timeline->makespan_s - said_s) <= 1e-9 * said_s) return;
    struct kerf_text words = {0};
    quantity_seconds(&words, timeline->makespan_s);
    kerf_text_add(&words, "; the plan says ");
    quantity_seconds(&words, said_s);
    fprintf(stderr, "kerf: the simulated pipeline takes %s\n", words.data ? words.data : "?");
    kerf_text_free(&words);
}

/* The user should know before the search that a certificate cannot be written. */
static int32_t check_certificate(const struct schedule_options *values, const struct schedule_question *question,
                                 struct kerf_error *err) {
    if (values->certificate == NULL) return KERF_OK;
    if (question->compare || question->num_caps > 1 || question->microbatches->count > 1)
        return kerf_error_set(err, KERF_EINVALID, "--certificate is for one answer of best, not for several");
    return output_check(values->certificate, err);
}

static int32_t write_certificate(const struct schedule_options *values, const struct schedule_answers *answers,
                                 struct kerf_error *err) {
    if (values->certificate == NULL || answers->items[0].schedule == NULL) return KERF_OK;
    const char *certificate = answers->items[0].schedule->certificate;
    struct kerf_text text = {0};
    kerf_text_add(&text, certificate ? certificate : "");
    int32_t code = output_file(values->certificate, &text, err);
    kerf_text_free(&text);
    return code;
}

static int answer(const struct schedule_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct schedule_question question = {.names = NULL};
    struct storage storage = {.caps = NULL};
    struct schedule_answers answers = {.with_ops = !values->no_ops,
                                       .late_receives = values->recv && is(values->recv, "late"),
                                       .from = isnan(values->from) ? 0 : values->from,
                                       .to = isnan(values->to) ? 0 : values->to};
    const struct render render = {formats, values->format, &values->outputs, write_answers, &answers};
    int32_t complete = 1;
    int32_t code = read_question(values, &question, &storage, &err);
    if (code == KERF_OK) code = render_check(&render, &err);
    if (code == KERF_OK) code = check_unused(values, &render, &err);
    if (code == KERF_OK) code = check_certificate(values, &question, &err);
    answers.trace = storage.trace;
    answers.trace_fit = storage.fit;
    if (code == KERF_OK) code = schedule_answers_make(&question, &answers, &complete, &err);
    if (code == KERF_OK && question.pipeline) check_plan(question.pipeline, &answers);
    if (code == KERF_OK) code = write_certificate(values, &answers, &err);
    if (code == KERF_OK) code = render_all(&render, &err);
    int status = code != KERF_OK        ? cli_fail(&err)
                 : !complete            ? EXIT_INTERRUPTED
                 : within_cap(&answers) ? EXIT_ANSWERED
                                        : EXIT_NO_ANSWER;
    schedule_answers_free(&answers);
    storage_free(&storage);
    return status;
}

/* ---- Fitting ---------------------------------------------------------------------------------------------- */

static const struct render_format plain_formats[] = {
    {.name = "table", .ending = "txt"}, {.name = "json", .ending = "json"}, {.name = NULL}};

static int32_t write_fit(void *context, struct kerf_text *out, const struct render_format *format,
                         const struct render_style *style, struct kerf_error *err) {
    const struct storage *storage = context;
    (void)err;
    if (is(format->name, "json"))
        print_fit_json(out, storage->fit);
    else
        print_fit_table(out, storage->trace, storage->fit, style);
    return KERF_OK;
}

static int fit(const struct schedule_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct storage storage = {.caps = NULL};
    const struct render render = {plain_formats, values->format, &values->outputs, write_fit, &storage};
    int32_t code = KERF_OK;
    if (values->names.count != 2) code = missing("the folder of a trace", "kerf schedule fit traces/", &err);
    if (code == KERF_OK && !is(values->format, "table") && !is(values->format, "json"))
        code = kerf_error_set(&err, KERF_EINVALID, "fit prints a table or json, not %s", values->format);
    if (code == KERF_OK) code = render_check(&render, &err);
    if (code == KERF_OK)
        code = kerf_trace_load(values->names.items[1], (int32_t)values->trace_step, &storage.trace, &err);
    if (code == KERF_OK) code = kerf_trace_fit_make(storage.trace, &storage.fit, &err);
    if (code == KERF_OK) code = render_all(&render, &err);
    storage_free(&storage);
    return code == KERF_OK ? EXIT_ANSWERED : cli_fail(&err);
}

/* ---- Verifying -------------------------------------------------------------------------------------------- */

static int32_t write_verdict(void *context, struct kerf_text *out, const struct render_format *format,
                             const struct render_style *style, struct kerf_error *err) {
    (void)style, (void)err;
    if (is(format->name, "json"))
        print_verdict_json(out, context);
    else
        print_verdict_table(out, context);
    return KERF_OK;
}

static int verify(const struct schedule_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_schedule_verdict verdict = {0};
    const struct render render = {plain_formats, values->format, &values->outputs, write_verdict, &verdict};
    int32_t code = KERF_OK;
    if (values->names.count != 2) code = missing("a certificate", "kerf schedule verify proof.txt", &err);
    if (code == KERF_OK && !is(values->format, "table") && !is(values->format, "json"))
        code = kerf_error_set(&err, KERF_EINVALID, "verify prints a table or json, not %s", values->format);
    if (code == KERF_OK) code = render_check(&render, &err);
    if (code == KERF_OK) code = schedule_verify_file(values->names.items[1], &verdict, &err);
    if (code == KERF_OK) code = render_all(&render, &err);
    return code == KERF_OK ? EXIT_ANSWERED : cli_fail(&err);
}

/* ---- Listing ---------------------------------------------------------------------------------------------- */

static int32_t write_list(void *context, struct kerf_text *out, const struct render_format *format,
                          const struct render_style *style, struct kerf_error *err) {
    (void)context, (void)style, (void)err;
    if (is(format->name, "json"))
        print_schedule_list_json(out);
    else
        print_schedule_list(out);
    return KERF_OK;
}

static int list(const struct schedule_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    const struct render render = {plain_formats, values->format, &values->outputs, write_list, NULL};
    int32_t code = KERF_OK;
    if (!is(values->format, "table") && !is(values->format, "json"))
        code = kerf_error_set(&err, KERF_EINVALID, "--list prints a table or json, not %s", values->format);
    if (code == KERF_OK) code = render_check(&render, &err);
    if (code == KERF_OK) code = render_all(&render, &err);
    return code == KERF_OK ? EXIT_ANSWERED : cli_fail(&err);
}

static int run(int argc, char **argv) {
    struct schedule_options values = {.forward = NAN,
                                      .backward = NAN,
                                      .backward_input = NAN,
                                      .backward_weight = NAN,
                                      .fused = NAN,
                                      .p2p = NAN,
                                      .overhead = NAN,
                                      .optimizer = NAN,
                                      .from = NAN,
                                      .to = NAN,
                                      .free_at = "w",
                                      .send = "asynchronous",
                                      .link = "own",
                                      .optimizer_step = "synchronised",
                                      .objective = "step",
                                      .trace_step = -1,
                                      .rank = 1,
                                      .format = "table"};
    int status = cli_parse(&schedule_cli, argc, argv, &values);
    if (status >= 0) return status;
    int fits = values.names.count > 0 && values.plan == NULL && is(values.names.items[0], "fit");
    int verifies = values.names.count > 0 && values.plan == NULL && is(values.names.items[0], "verify");
    status = values.list ? list(&values) : fits ? fit(&values) : verifies ? verify(&values) : answer(&values);
    options_free(&table, &values);
    return status;
}

const struct cli_command schedule_cli = {&table, run};
