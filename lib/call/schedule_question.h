/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of `kerf schedule`: from the values of the options to schedules, micro-batches, caps, times and how they
 * are searched. The command line reads the values from its arguments, kerf_call from a JSON request. */
#ifndef KERF_CALL_SCHEDULE_QUESTION_H
#define KERF_CALL_SCHEDULE_QUESTION_H

#include <float.h>
#include <math.h>
#include "base/option.h"
#include "call/ranges.h"
#include "call/sources.h"
#include "kerf/kerf.h"

struct schedule_values {
    struct string_list names, stragglers, slow_links;
    int64_t devices, chunks, group, slices, search_steps, threads, replicas;
    double forward, backward, backward_input, backward_weight, fused, p2p, overhead, optimizer, search_time;
    double recompute_time, offload_time;
    const char *microbatches, *memory_cap, *times, *free_at, *send, *link, *optimizer_step, *objective, *placement,
        *trace, *jitter, *rank_by, *plan, *compare, *recompute, *offload, *host_link, *attention, *slice_cut;
    int64_t trace_step, rank;
    int32_t no_ops, memory_frontier;
    int32_t wants_certificate;   /* 1: of what best proves */
    struct call_sources sources; /* catalogue_only: names of rules, and of files that came along */
};

/* Those that are not given. */
#define SCHEDULE_VALUES                                                                                                \
    {                                                                                                                  \
        .forward = NAN, .backward = NAN, .backward_input = NAN, .backward_weight = NAN, .fused = NAN, .p2p = NAN,      \
        .overhead = NAN, .optimizer = NAN, .free_at = "w", .send = "asynchronous", .link = "own",                      \
        .optimizer_step = "synchronised", .recompute_time = NAN, .offload_time = NAN, .host_link = "own",              \
        .objective = "step", .trace_step = -1, .rank = 1                                                               \
    }

/* Rows of an option table for a struct `owner` whose member `of` is a struct schedule_values. */
#define SCHEDULE_OPTIONS(owner, of)                                                                                    \
    {.name = "devices",                                                                                                \
     .letter = 'p',                                                                                                    \
     .type = OPTION_INTEGER,                                                                                           \
     .offset = offsetof(owner, of.devices),                                                                            \
     .value = "P",                                                                                                     \
     .minimum = 1,                                                                                                     \
     .maximum = 4096,                                                                                                  \
     .uses = "SCHEDULE,compare",                                                                                       \
     .help = "Devices of the pipeline."},                                                                              \
        {.name = "microbatches",                                                                                       \
         .letter = 'm',                                                                                                \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.microbatches),                                                                   \
         .value = "M",                                                                                                 \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "Micro-batches of a step; several, such as 8,12 or 8..64:x2, make a sweep."},                         \
        {.name = "chunks",                                                                                             \
         .type = OPTION_INTEGER,                                                                                       \
         .offset = offsetof(owner, of.chunks),                                                                         \
         .value = "V",                                                                                                 \
         .minimum = 1,                                                                                                 \
         .maximum = 4096,                                                                                              \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "Stages on each device, for schedules that take any number (default: the schedule's own; in a "       \
                 "comparison 2)."},                                                                                    \
        {.name = "group",                                                                                              \
         .type = OPTION_INTEGER,                                                                                       \
         .offset = offsetof(owner, of.group),                                                                          \
         .value = "N",                                                                                                 \
         .minimum = 1,                                                                                                 \
         .maximum = 1048576,                                                                                           \
         .uses = "interleaved_1f1b,interleaved_1f1b_overlap,interleaved_zb,gis",                                       \
         .help =                                                                                                       \
             "Micro-batches of one chunk before the next chunk's turn (default: the number of devices, or more if a "  \
             "short last group would deadlock)."},                                                                     \
        {.name = "slices",                                                                                             \
         .type = OPTION_INTEGER,                                                                                       \
         .offset = offsetof(owner, of.slices),                                                                         \
         .value = "K",                                                                                                 \
         .minimum = 1,                                                                                                 \
         .maximum = 4096,                                                                                              \
         .uses = "seq1f1b,seq1f1b_interleaved,seq_zb,slimpipe",                                                        \
         .help = "Parts into which the sequence of each micro-batch is cut (default: 4; of seq1f1b_interleaved and "   \
                 "slimpipe as many as devices)."},                                                                     \
        {.name = "attention",                                                                                          \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.attention),                                                                      \
         .value = "SHARE",                                                                                             \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "Causal attention's share of a stage's time, such as 30%: the later a slice, the more tokens it "     \
                 "attends to. For schedules with slices (default: 0; \"slices\" in --times take precedence)."},        \
        {.name = "slice-cut",                                                                                          \
         .type = OPTION_CHOICE,                                                                                        \
         .offset = offsetof(owner, of.slice_cut),                                                                      \
         .value = "HOW",                                                                                               \
         .choices = "balanced,equal,exchanged",                                                                        \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "How slices are cut. balanced: so that they take equally long (default). equal: with equally many "   \
                 "tokens. exchanged: the same, and the devices share the attention, so that slices take equally long " \
                 "(default of slimpipe)."},                                                                            \
        {.name = "replicas",                                                                                           \
         .type = OPTION_INTEGER,                                                                                       \
         .offset = offsetof(owner, of.replicas),                                                                       \
         .value = "R",                                                                                                 \
         .minimum = 2,                                                                                                 \
         .maximum = 4096,                                                                                              \
         .uses = "chimera",                                                                                            \
         .help = "Copies of the model, an even number: half of them run down the devices, half up (default: 2)."},     \
        {.name = "forward",                                                                                            \
         .type = OPTION_DURATION,                                                                                      \
         .offset = offsetof(owner, of.forward),                                                                        \
         .value = "TIME",                                                                                              \
         .maximum = INFINITY,                                                                                          \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "A stage's forward pass (default: 1s)."},                                                             \
        {.name = "backward",                                                                                           \
         .type = OPTION_DURATION,                                                                                      \
         .offset = offsetof(owner, of.backward),                                                                       \
         .value = "TIME",                                                                                              \
         .maximum = INFINITY,                                                                                          \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "A stage's backward pass of input and weights (default: the sum of its two parts)."},                 \
        {.name = "backward-input",                                                                                     \
         .type = OPTION_DURATION,                                                                                      \
         .offset = offsetof(owner, of.backward_input),                                                                 \
         .value = "TIME",                                                                                              \
         .maximum = INFINITY,                                                                                          \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "The backward pass of the input only (default: --backward minus --backward-weight, or half of "       \
                 "--backward; "                                                                                        \
                 "1s without --backward)."},                                                                           \
        {.name = "backward-weight",                                                                                    \
         .type = OPTION_DURATION,                                                                                      \
         .offset = offsetof(owner, of.backward_weight),                                                                \
         .value = "TIME",                                                                                              \
         .maximum = INFINITY,                                                                                          \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "The backward pass of the weights only (default: --backward minus --backward-input, or half of "      \
                 "--backward; 1s without --backward)."},                                                               \
        {.name = "fused",                                                                                              \
         .type = OPTION_DURATION,                                                                                      \
         .offset = offsetof(owner, of.fused),                                                                          \
         .value = "TIME",                                                                                              \
         .maximum = INFINITY,                                                                                          \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "A forward and a backward that run together (default: their sum)."},                                  \
        {.name = "p2p",                                                                                                \
         .type = OPTION_DURATION,                                                                                      \
         .offset = offsetof(owner, of.p2p),                                                                            \
         .value = "TIME",                                                                                              \
         .maximum = INFINITY,                                                                                          \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "Latency from one device to another (default: 0)."},                                                  \
        {.name = "times",                                                                                              \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.times),                                                                          \
         .value = "FILE",                                                                                              \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help =                                                                                                       \
             "JSON with times by stage: arrays forward, backward, backward_input, backward_weight, fused, and p2p as " \
             "a "                                                                                                      \
             "number or a matrix of device pairs; - is standard input. Options that give a time take precedence."},    \
        {.name = "memory-cap",                                                                                         \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.memory_cap),                                                                     \
         .value = "CAP",                                                                                               \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help =                                                                                                       \
             "The activations that a device may hold: micro-batches through all its chunks (8), or bytes (40GB) if "   \
             "--times has activation_bytes. Several, such as 4..16 or 40GB,60GB, make a sweep. A schedule that holds " \
             "more is marked; if every schedule holds more, the exit status is 1."},                                   \
        {.name = "free-at",                                                                                            \
         .type = OPTION_CHOICE,                                                                                        \
         .offset = offsetof(owner, of.free_at),                                                                        \
         .value = "WHEN",                                                                                              \
         .choices = "w,b",                                                                                             \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "When activations are freed: by the weights' backward pass (default: w) or already by the input's."}, \
        {.name = "send",                                                                                               \
         .type = OPTION_CHOICE,                                                                                        \
         .offset = offsetof(owner, of.send),                                                                           \
         .value = "HOW",                                                                                               \
         .choices = "asynchronous,blocking",                                                                           \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "Whether a sender waits until its message has arrived (default: asynchronous)."},                     \
        {.name = "link",                                                                                               \
         .type = OPTION_CHOICE,                                                                                        \
         .offset = offsetof(owner, of.link),                                                                           \
         .value = "HOW",                                                                                               \
         .choices = "own,shared",                                                                                      \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help =                                                                                                       \
             "own: each message has its own link (default). shared: the messages of a device go one after the other "  \
             "over one link."},                                                                                        \
        {.name = "recompute",                                                                                          \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.recompute),                                                                      \
         .value = "SHARE",                                                                                             \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help =                                                                                                       \
             "The share of the activations, such as 50%, that every F drops and that are computed again right before " \
             "the backward pass (default: 0, or \"recompute\" in --times). Several, such as 0,50%, make a sweep."},    \
        {.name = "recompute-time",                                                                                     \
         .type = OPTION_DURATION,                                                                                      \
         .offset = offsetof(owner, of.recompute_time),                                                                 \
         .value = "TIME",                                                                                              \
         .maximum = INFINITY,                                                                                          \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "Recomputing all activations of a stage, a share of them takes this share (default: --forward)."},    \
        {.name = "offload",                                                                                            \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.offload),                                                                        \
         .value = "SHARE",                                                                                             \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "The share of the activations not recomputed that is copied to the host after F and back before the " \
                 "backward pass (default: 0, or \"offload\" in --times). Several make a sweep."},                      \
        {.name = "offload-time",                                                                                       \
         .type = OPTION_DURATION,                                                                                      \
         .offset = offsetof(owner, of.offload_time),                                                                   \
         .value = "TIME",                                                                                              \
         .maximum = INFINITY,                                                                                          \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "Copying all activations of a stage to the host, or back; a share of them takes this share."},        \
        {.name = "host-link",                                                                                          \
         .type = OPTION_CHOICE,                                                                                        \
         .offset = offsetof(owner, of.host_link),                                                                      \
         .value = "HOW",                                                                                               \
         .choices = "own,shared",                                                                                      \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "own: the copies of a device go one after the other over a link to the host (default). shared: they " \
                 "take "                                                                                               \
                 "turns with its messages."},                                                                          \
        {.name = "overhead",                                                                                           \
         .type = OPTION_DURATION,                                                                                      \
         .offset = offsetof(owner, of.overhead),                                                                       \
         .value = "TIME",                                                                                              \
         .maximum = INFINITY,                                                                                          \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "Time that is added to every operation, such as its launch (default: 0)."},                           \
        {.name = "optimizer",                                                                                          \
         .type = OPTION_DURATION,                                                                                      \
         .offset = offsetof(owner, of.optimizer),                                                                      \
         .value = "TIME",                                                                                              \
         .maximum = INFINITY,                                                                                          \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "The optimizer's step after the last operation (default: 0)."},                                       \
        {.name = "optimizer-step",                                                                                     \
         .type = OPTION_CHOICE,                                                                                        \
         .offset = offsetof(owner, of.optimizer_step),                                                                 \
         .value = "HOW",                                                                                               \
         .choices = "synchronised,unsynchronised",                                                                     \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "synchronised: the devices wait for each other before the optimizer's step, and a step takes the "    \
                 "makespan "                                                                                           \
                 "(default). unsynchronised: each device continues by itself, and a step takes the span."},            \
        {.name = "objective",                                                                                          \
         .type = OPTION_CHOICE,                                                                                        \
         .offset = offsetof(owner, of.objective),                                                                      \
         .value = "WHAT",                                                                                              \
         .choices = "step,makespan,span",                                                                              \
         .uses = "best",                                                                                               \
         .help = "What the search minimises (default: step, which is the makespan, or with --optimizer-step "          \
                 "unsynchronised "                                                                                     \
                 "the span)."},                                                                                        \
        {.name = "placement",                                                                                          \
         .type = OPTION_CHOICE,                                                                                        \
         .offset = offsetof(owner, of.placement),                                                                      \
         .value = "PLACEMENT",                                                                                         \
         .choices = "any,loop,v,both",                                                                                 \
         .uses = "best",                                                                                               \
         .help =                                                                                                       \
             "Which device has which stage: loop, one after the other, starting again with each chunk (default); v, "  \
             "down and back in two chunks; both, in two replicas from both ends, each with its copy of the "           \
             "parameters; "                                                                                            \
             "or any, the one of these with the shortest step (default in a comparison, not of a memory "              \
             "frontier). With any, times are those of "                                                                \
             "all stages of a device together."},                                                                      \
        {.name = "search-time",                                                                                        \
         .type = OPTION_DURATION,                                                                                      \
         .offset = offsetof(owner, of.search_time),                                                                    \
         .value = "TIME",                                                                                              \
         .minimum = DBL_MIN,                                                                                           \
         .maximum = 1e9,                                                                                               \
         .uses = "best",                                                                                               \
         .help = "How long it may search (default: 1s). It stops earlier if it has a proof."},                         \
        {.name = "search-steps",                                                                                       \
         .type = OPTION_INTEGER,                                                                                       \
         .offset = offsetof(owner, of.search_steps),                                                                   \
         .value = "N",                                                                                                 \
         .minimum = 1,                                                                                                 \
         .maximum = 1000000000000,                                                                                     \
         .uses = "best",                                                                                               \
         .help = "How much it may search, in steps of work instead of time: the answer is then the same on every "     \
                 "machine. "                                                                                           \
                 "One second is a few hundred million steps."},                                                        \
        {.name = "threads",                                                                                            \
         .letter = 't',                                                                                                \
         .type = OPTION_INTEGER,                                                                                       \
         .offset = offsetof(owner, of.threads),                                                                        \
         .value = "N",                                                                                                 \
         .minimum = 0,                                                                                                 \
         .maximum = 256,                                                                                               \
         .uses = "best",                                                                                               \
         .help = "Threads to search with (default: 0, all processors). With --search-steps the answer does not "       \
                 "depend on it."},                                                                                     \
        {.name = "jitter",                                                                                             \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.jitter),                                                                         \
         .value = "SHARE",                                                                                             \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "How much the time of an operation varies: its standard deviation, such as 5% or 0.05 of it "         \
                 "(log-normal), or "                                                                                   \
                 "trace for what --trace has measured. Prints the distribution of the step over 10,000 simulations."}, \
        {.name = "straggler",                                                                                          \
         .type = OPTION_STRINGS,                                                                                       \
         .offset = offsetof(owner, of.stragglers),                                                                     \
         .value = "DEVICE:FACTOR",                                                                                     \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "A device whose operations take longer than the schedule was made for, such as 3:1.5; may be given "  \
                 "several times."},                                                                                    \
        {.name = "slow-link",                                                                                          \
         .type = OPTION_STRINGS,                                                                                       \
         .offset = offsetof(owner, of.slow_links),                                                                     \
         .value = "DEVICE:FACTOR",                                                                                     \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help = "A device whose messages, those that it sends and those that it receives, take longer than the "      \
                 "schedule was made for, such as 3:10; may be given several times."},                                  \
        {.name = "memory-frontier",                                                                                    \
         .type = OPTION_FLAG,                                                                                          \
         .offset = offsetof(owner, of.memory_frontier),                                                                \
         .uses = "compare",                                                                                            \
         .help = "Show the shortest step for each --memory-cap (default: 1 to 2P micro-batches) of all the schedules " \
                 "(default: best) and of all shares of --recompute and --offload, with its proof or its gap."},        \
        {.name = "rank-by",                                                                                            \
         .type = OPTION_CHOICE,                                                                                        \
         .offset = offsetof(owner, of.rank_by),                                                                        \
         .value = "BY",                                                                                                \
         .choices = "none,p95",                                                                                        \
         .uses = "compare",                                                                                            \
         .help =                                                                                                       \
             "Order the rows by the 95th percentile of the step under --jitter, --straggler or --slow-link (default: " \
             "none, the order in which you name the schedules)."},                                                     \
        {.name = "trace",                                                                                              \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.trace),                                                                          \
         .value = "DIR",                                                                                               \
         .uses = "SCHEDULE,compare",                                                                                   \
         .help =                                                                                                       \
             "A measured run: a folder from Megatron's timers or PyTorch's profiler, with a file for each rank "       \
             "(.json "                                                                                                 \
             "or .json.gz). It is drawn above the simulation. Times, devices and micro-batches that you do not give "  \
             "are those of the trace. Without a schedule, the trace's own order is simulated."},                       \
        {.name = "trace-step",                                                                                         \
         .type = OPTION_INTEGER,                                                                                       \
         .offset = offsetof(owner, of.trace_step),                                                                     \
         .value = "N",                                                                                                 \
         .minimum = -1,                                                                                                \
         .maximum = 1000000,                                                                                           \
         .uses = "SCHEDULE,compare,fit",                                                                               \
         .help = "Which of the trace's complete steps, from 0 (default: -1, the one of median length)."},              \
        {.name = "plan",                                                                                               \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.plan),                                                                           \
         .value = "FILE",                                                                                              \
         .uses = "--plan",                                                                                             \
         .help =                                                                                                       \
             "A plan: what `kerf plan --format json` or `kerf estimate --format json` has written. Its pipeline is "   \
             "simulated, with the plan's schedule, times, latency and activations; - is standard input."},             \
        {.name = "rank",                                                                                               \
         .type = OPTION_INTEGER,                                                                                       \
         .offset = offsetof(owner, of.rank),                                                                           \
         .value = "K",                                                                                                 \
         .minimum = 1,                                                                                                 \
         .maximum = 1000000,                                                                                           \
         .uses = "--plan",                                                                                             \
         .help = "Which of the plans in FILE (default: 1, the best)."},                                                \
        {.name = "compare",                                                                                            \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.compare),                                                                        \
         .value = "SCHEDULE[,...]",                                                                                    \
         .uses = "--plan",                                                                                             \
         .help =                                                                                                       \
             "Other schedules with the same times: for schedules with other stages the times are summed or split."},   \
    {                                                                                                                  \
        .name = "no-ops", .type = OPTION_FLAG, .offset = offsetof(owner, of.no_ops),                                   \
        .uses = "SCHEDULE,compare,--plan",                                                                             \
        .help = "Leave the operations out of the JSON, and the timeline out of the table."                             \
    }

/* Shares of the activations that are recomputed, or offloaded. */
enum { SHARES_MAX = 32 };
struct share_list {
    double values[SHARES_MAX];
    int32_t count;
};

struct memory_cap {
    double value; /* NAN: none */
    int32_t in_bytes;
};

/* Given back with schedule_question_free. */
struct schedule_question {
    const char *const *names; /* [num_names] rules or files */
    int32_t num_names;
    int32_t compare;           /* 1: on equal footing */
    struct range microbatches; /* at least one; 0: the file's own */
    struct memory_cap *caps;   /* [num_caps], at least one */
    int32_t num_caps;
    const struct call_sources *sources;        /* where its files are */
    struct share_list recompute, offload;      /* at least one each; NAN: not said */
    int32_t frontier;                          /* 1: the best for each cap alone */
    int32_t threads;                           /* of a search; 0: all processors */
    struct kerf_schedule_request request;      /* all but rule, micro-batches and times */
    struct kerf_schedule_times_request times;  /* all but the cap and the shares */
    double attention;                          /* in slices, NAN: not said */
    enum kerf_slice_cut slice_cut;             /* OWN: not said */
    double jitter;                             /* of operations, NAN: no noise */
    int32_t measured_jitter;                   /* 1: that of the trace */
    struct string_list stragglers, slow_links; /* "3:1.5", each a device of its own */
    int32_t times_are_users;                   /* 1: the file of times is --times, not what a trace or a plan says */
    int32_t rank_by_p95;                       /* a comparison's rows by the 95th percentile of their steps */
    const struct kerf_trace_fit *trace_fit;    /* of the trace, or NULL */
    const struct kerf_trace *trace;            /* NULL, or what times and sizes come from that are not said */
    const struct kerf_pipeline *pipeline;      /* NULL, or a plan's: the first name is its schedule */
    struct {                                   /* what these point to */
        struct kerf_pipeline *pipeline;
        struct kerf_trace *trace;
        struct kerf_trace_fit *trace_fit;
        struct kerf_text times; /* the file of times, or those of the trace or the plan as such a file */
        char *words;            /* those of --compare */
        const char **names;     /* the plan's schedule and those */
    } own;
};

/* Reads the question; files are read once, however many schedules they are for. It points into the values. */
int32_t schedule_question_read(const struct schedule_values *values, struct schedule_question *ret_question,
                               struct kerf_error *err);
void schedule_question_free(struct schedule_question *question);

/* Whether it has several answers: a comparison or a sweep. */
int schedule_question_is_several(const struct schedule_question *question);

/* Refuses what a format of other programs cannot hold: all but one schedule, and if it is PyTorch's, R, O and L, and
 * stages on two devices. */
int32_t schedule_question_check_format(const struct schedule_question *question, const char *format, int is_torch,
                                       struct kerf_error *err);

/* Which of the keys, at most 32, the file of times has: bit k for keys[k]; 0 where there is no file. */
int32_t schedule_times_keys(const struct schedule_question *question, const char *const *keys, int32_t count,
                            uint32_t *ret_there, struct kerf_error *err);

/* Whether the values, a struct schedule_values, ask for a use of the command: "SCHEDULE", "compare", "--plan", or the name
 * of a rule alone or in a comparison. */
int schedule_question_is_use(const void *values, const char *use);

/* Whether a name is that of a rule; one of a file otherwise. */
int schedule_is_rule(const char *name);

/* The times that were fitted to a trace, as a file that --times reads; of a trace that is not NULL what they rest on too. */
void schedule_fit_json(struct kerf_text *out, const struct kerf_trace_fit *fit, const struct kerf_trace *trace);

#endif
