/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipeline schedules: which operation each device runs after which, and what that takes.
 *
 * A schedule is data: a placement of the model's stages on devices, and for each device its operations in order. A
 * rule (1f1b, zb_h1, dualpipe, ...) makes a schedule; the validator says whether it is one; the simulator gives
 * every operation its time. Times are in seconds, or in whatever unit the caller uses throughout.
 *
 * Letters: p devices, m micro-batches, v chunks (stages of one replica on a device), stage 0 .. p v - 1 (at most
 * 32767).
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         struct kerf_error err;
 *         struct kerf_schedule_request request = {.rule = "zb_h1", .devices = 4, .microbatches = 8};
 *         struct kerf_schedule_times_request how;
 *         struct kerf_schedule_times *times;
 *         struct kerf_schedule *schedule;
 *         struct kerf_timeline *timeline;
 *         kerf_schedule_times_unsaid(&how);
 *         if (kerf_schedule_make_timed(&request, &how, &schedule, &times, &err) != KERF_OK) return 1;
 *         if (kerf_schedule_simulate(schedule, times, &timeline, &err) != KERF_OK) return 1;
 *         printf("%g s, %.1f %% idle\n", timeline->makespan_s, 100 * kerf_timeline_bubble(timeline).of_makespan);
 *         kerf_timeline_free(timeline);
 *         kerf_schedule_times_free(times);
 *         kerf_schedule_free(schedule);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     27 s, 11.1 % idle
 */
#ifndef KERF_SCHEDULE_H
#define KERF_SCHEDULE_H

#include "kerf/json.h"

#ifdef __cplusplus
extern "C" {
#endif

enum kerf_op_kind {
    KERF_OP_F,  /* forward */
    KERF_OP_B,  /* backward, of input and weights */
    KERF_OP_I,  /* backward of the input alone */
    KERF_OP_W,  /* backward of the weights alone */
    KERF_OP_FB, /* a forward and a full backward that run together */
    KERF_OP_R,  /* recomputation: makes activations again that its F has dropped */
    KERF_OP_O,  /* offload: copies activations to the host, beside the device's operations */
    KERF_OP_L,  /* load: copies them back, beside them too */
    KERF_OP_KINDS,
    KERF_OP_MEASURED = KERF_OP_R /* those before it are what traces have */
};

struct kerf_op {
    int32_t microbatch;      /* of FB: its forward's */
    int32_t with_microbatch; /* of FB: its backward's; else -1 */
    int16_t stage, with_stage;
    int16_t kind;  /* enum kerf_op_kind */
    int16_t slice; /* of a micro-batch whose sequence is cut; else 0 */
};

/* What a search has proved: no order of split operations within the memory cap is shorter. */
struct kerf_schedule_proof {
    double makespan_s, span_s; /* 0: nothing */
    uint64_t of_times;         /* holds for times with this kerf_schedule_times_fingerprint alone */
};

struct kerf_schedule {
    const char *name;
    int32_t devices;
    int32_t stages; /* of the model */
    int32_t microbatches;
    int32_t chunks;   /* stages of one replica on a device, at most */
    int32_t replicas; /* replica r has micro-batches r m / replicas up to those of the next, rounded down */
    int32_t slices;   /* of each micro-batch's sequence, 1: whole */
    struct kerf_schedule_proof proof;
    const char *certificate;          /* NULL, or the proof in the form that kerf_schedule_verify checks */
    const int32_t *device_of;         /* [replicas * stages] */
    const struct kerf_op *const *ops; /* [devices][num_ops[device]] in the order in which they run */
    const int32_t *num_ops;           /* [devices] */
    int32_t moves;                    /* 1: ops may have R, O and L; 0: they have none */
};

/* ---- Rules ------------------------------------------------------------------------------------------------ */

struct kerf_schedule_rule {
    const char *name;
    const char *summary;
    const char *constraint; /* which devices and micro-batches it takes; NULL: any */
    const char *elsewhere;  /* what other programs refuse of it, "PyTorch: m < p"; NULL: nothing */
    const char *bubble; /* idle time of the makespan where stages are alike and messages take no time, in F, B, W (and
                               B_full = B + W, s = F + B + W, FB) of a device */
    const char *memory; /* peak of the fullest device, in micro-batches through all chunks of a device, at most m */
    const char *source; /* paper or repository */
};

/** The rules one after the other, as `kerf schedule --list` shows them; NULL behind the last. */
KERF_API const struct kerf_schedule_rule *kerf_schedule_rule_at(size_t index);

/** Whether the rule of this name lets a request choose its chunks, or its slices; 0 where there is no such rule. */
KERF_API int32_t kerf_schedule_takes_chunks(const char *rule);
KERF_API int32_t kerf_schedule_takes_slices(const char *rule);

enum kerf_objective {
    KERF_OBJECTIVE_STEP,     /* what makes the step short: the makespan, or with unsynchronised times the span */
    KERF_OBJECTIVE_MAKESPAN, /* first start to last end: what a step takes when devices wait for each other after it */
    KERF_OBJECTIVE_SPAN      /* the longest of a device's own first start to last end */
};

enum kerf_placement {
    KERF_PLACE_LOOP,   /* stage k on device k mod p; with one chunk stage k on device k */
    KERF_PLACE_V,      /* chunks down and back: with two, stage k on device k, or 2p - 1 - k; with more, waves */
    KERF_PLACE_BOTH,   /* two replicas, the second upside down */
    KERF_PLACE_ANY,    /* the one with the shortest step; for kerf_schedule_make_timed alone */
    KERF_PLACE_BOTH_V, /* two replicas of a V, the second upside down */
    KERF_PLACE_RING,   /* replicas in pairs, the second of each upside down, each pair p / (replicas / 2) devices on */
    KERF_PLACEMENTS
};

/** A clock for searches with a time limit: seconds since any moment, which never go back. */
typedef double (*kerf_clock)(void *context);

/** Steps that a search may take where neither steps nor time are limited: a second or two of work. */
#define KERF_SEARCH_STEPS 300000000

/** Steps that a plan gives a rule that searches, for each layout. */
#define KERF_PIPELINE_STEPS 3000000

struct kerf_schedule_times;

struct kerf_schedule_request {
    const char *rule;
    int32_t devices;      /* 1 .. 4096 */
    int32_t microbatches; /* 1 .. 2^20; devices * chunks * microbatches * slices is at most 2^27 */
    int32_t chunks;       /* 0: the rule's own */
    int32_t group;        /* interleaved rules: micro-batches of a chunk before the next; 0: devices, or the
                             least above with which a short last group does not deadlock */
    int32_t replicas;     /* chimera: of the model, an even number; 0: 2 */
    int32_t slices;       /* seq1f1b and others: parts of a micro-batch's sequence; 0: the rule's own */

    /* For the rules that look for an order: what operations take, and how much a device may hold. */
    const struct kerf_schedule_times *times; /* NULL: 1 s for F, I and W, no latency, no cap */
    /* For `best` alone. A search ends with a proof, or when its steps or its time are used up. Steps are counted work:
     * with a limit in steps alone the answer is the same on every machine. */
    enum kerf_objective objective;
    enum kerf_placement placement;
    int32_t certificate;  /* 1: write one of what is proved, which kerf_schedule has */
    int64_t search_steps; /* 0: no limit where there is a clock, else KERF_SEARCH_STEPS */
    kerf_clock clock;     /* NULL: time is not limited; else it is, to */
    double search_time_s; /* so many seconds of this clock */
    void *clock_context;
    kerf_progress progress; /* NULL: none; ends the search when it returns 1 */
    void *progress_context;
};

/** How many stages the request's model has; errors as kerf_schedule_make. */
KERF_API int32_t kerf_schedule_stages(const struct kerf_schedule_request *request, int32_t *ret_stages,
                                      struct kerf_error *err);

/** Makes a schedule; it is given back with kerf_schedule_free. KERF_EUNKNOWN names the nearest rule; KERF_EINVALID
 * says the rule's constraint and the nearest value that obeys it; KERF_EINFEASIBLE that no order keeps the memory cap,
 * and what would. */
KERF_API int32_t kerf_schedule_make(const struct kerf_schedule_request *request, struct kerf_schedule **ret_schedule,
                                    struct kerf_error *err);
KERF_API struct kerf_schedule *kerf_schedule_free(struct kerf_schedule *schedule); /* always NULL */

/** What other programs refuse of a request that kerf takes: its rule's `elsewhere`, or NULL. */
KERF_API const char *kerf_schedule_warning(const struct kerf_schedule_request *request);

/** Every stage and micro-batch has one F and either one B or one I and one W (an FB counts as its parts), each on the
 * stage's device, and nothing waits for itself: the first cycle is told as a chain of operations. */
KERF_API int32_t kerf_schedule_check(const struct kerf_schedule *schedule, struct kerf_error *err);

/* ---- Simulation ------------------------------------------------------------------------------------------- */

/** What operations take, by stage: [stages] each, of a whole micro-batch. */
struct kerf_schedule_times {
    const double *forward_s, *backward_s, *backward_input_s, *backward_weight_s;
    const double *fused_s;  /* by the forward's stage; NULL: forward_s of its forward + backward_s of its backward */
    double p2p_s;           /* latency between any two devices, none within one; */
    const double *p2p_of_s; /* or [devices * devices], from row to column; NULL: p2p_s everywhere */
    double overhead_s;      /* what every operation takes besides */
    double optimizer_s;     /* after the last operation */
    int32_t blocking;       /* 1: the sender waits until the message has arrived */
    int32_t shared_link;    /* 1: the messages that leave a device share its link, one at a time */
    int32_t free_at_input;  /* 1: activations are freed by the input's backward pass, not by the weights' */
    int32_t unsynchronised; /* 1: a device goes on to its optimizer step and the next step without the others */
    const double *activation_bytes; /* of one micro-batch; NULL: not known */
    const double *cap;              /* [devices] what a device may hold; NULL: anything */
    int32_t cap_in_bytes;           /* 1: bytes of activation_bytes; 0: micro-batches through all its chunks */

    /* Of R, O and L, by stage: [stages] each, of a whole micro-batch. */
    const double *recompute_share; /* of the activations, which F drops and R makes again; NULL: all of them */
    const double *recompute_s;     /* R; NULL: recompute_share of forward_s */
    const double *offload_share;   /* of what recompute_share leaves, which O takes away and L brings back; NULL: all */
    const double *offload_s;       /* O, of offload_share; NULL: not known, and there must be no O */
    const double *load_s;          /* L; NULL: as offload_s */
    int32_t host_link_shared;      /* 1: O, L and the messages that leave a device share its link, one at a time;
                                      0: O and L have a link of their own, one at a time */
};

/** What a user says of the times; NAN where nothing is said. */
struct kerf_schedule_times_request {
    double forward_s;               /* 1 */
    double backward_s;              /* the sum of the next two */
    double backward_input_s;        /* what backward_s leaves of the weights, half of it where it stands alone, or 1 */
    double backward_weight_s;       /* what backward_s leaves of the input, half of it where it stands alone, or 1 */
    double fused_s;                 /* the forward of its forward's stage and the full backward of its backward's */
    double p2p_s;                   /* 0 */
    double overhead_s, optimizer_s; /* 0 */
    double cap;                     /* of every device; none */
    int32_t cap_in_bytes;
    const char *file; /* NULL, or JSON with arrays by stage: forward, backward, backward_input, backward_weight, fused,
                         activation_bytes; p2p, a number or a matrix of device pairs; and memory_cap, an array by
                         device of micro-batches, or of strings of bytes ("40GB"). What is said above takes precedence
                         over what the file says. */
    /* what the file holds, where that is known; NULL: it is read. file then names it in errors */
    const char *file_text;
    int32_t blocking, shared_link, free_at_input, unsynchronised;
    int32_t per_device; /* 1: to compare schedules with different stages. Numbers are of all stages of a device
                           together; an array of the file is by as many equal parts of the model as it has elements,
                           which are summed or split for the stages there are */
    double recompute;   /* recompute_share of every stage, 0 to 1; NAN: as in the file, or nothing is recomputed */
    double recompute_s; /* of all activations of a stage: recompute_share of it; NAN: forward_s */
    double offload;     /* offload_share of every stage, 0 to 1; NAN: as in the file, or nothing is offloaded */
    double offload_s;   /* of all activations of a stage, each way; a positive share needs it here or in the file */
    int32_t host_link_shared;
};

/** A request that says nothing. */
KERF_API void kerf_schedule_times_unsaid(struct kerf_schedule_times_request *ret_request);

/** Times for so many devices and stages; given back with kerf_schedule_times_free. */
KERF_API int32_t kerf_schedule_times_make(int32_t devices, int32_t stages,
                                          const struct kerf_schedule_times_request *request,
                                          struct kerf_schedule_times **ret_times, struct kerf_error *err);
KERF_API struct kerf_schedule_times *kerf_schedule_times_free(struct kerf_schedule_times *times); /* always NULL */

/**
 * Times and a schedule for them in one call: what times says, made for the stages that the request's rule has. With
 * KERF_PLACE_ANY, where a rule lets the request choose its placement, every placement is tried (with one chunk a device
 * and with the request's chunks, 2 where it names none), and the shortest step is the answer; times must then be
 * per_device. With per_device a rule that has any number of chunks has 2 where the request names none, but `best` 1.
 * request->times is not used. Errors as kerf_schedule_make and kerf_schedule_times_make.
 */
KERF_API int32_t kerf_schedule_make_timed(const struct kerf_schedule_request *request,
                                          const struct kerf_schedule_times_request *times,
                                          struct kerf_schedule **ret_schedule, struct kerf_schedule_times **ret_times,
                                          struct kerf_error *err);

/**
 * The same, where a rule that looks for an order may use so many threads, 0: one for each processor; the others use
 * one. With a limit in steps alone the answer does not depend on their number; within a limit of time more threads do
 * more. The request's clock and progress are called on the caller's thread.
 */
KERF_API int32_t kerf_schedule_make_threads(const struct kerf_schedule_request *request,
                                            const struct kerf_schedule_times_request *times, int32_t threads,
                                            struct kerf_schedule **ret_schedule, struct kerf_schedule_times **ret_times,
                                            struct kerf_error *err);

/**
 * The same schedule with R, O and L for every micro-batch of the stages whose shares in times are above 0; a NULL share
 * is 0 here. R comes right before the backward pass, O right after F, L as early before the backward pass as
 * its copy takes by the devices' own operations. A micro-batch whose backward pass follows too soon for both copies is not
 * offloaded. A schedule that has such operations already is copied. kerf_schedule_make_timed does this to what it makes.
 */
KERF_API int32_t kerf_schedule_move(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                                    struct kerf_schedule **ret_schedule, struct kerf_error *err);

/** A number that times with other values do not have; 0 is none's. */
KERF_API uint64_t kerf_schedule_times_fingerprint(const struct kerf_schedule_times *times, int32_t devices,
                                                  int32_t stages);

/**
 * Writes the members of the object that kerf_schedule_times_make reads from a file: "forward", "backward", ...; the
 * caller opens and closes it. Such a file has no word for overhead_s, which is added to every duration, nor for
 * optimizer_s, blocking, shared_link, free_at_input and unsynchronised, which are left out.
 */
KERF_API void kerf_schedule_times_json(struct kerf_json *json, const struct kerf_schedule_times *times, int32_t devices,
                                       int32_t stages);

/** How the sequence of a micro-batch is cut, and what each slice takes: shares of the whole, each sum of which is 1. */
struct kerf_schedule_slices {
    int32_t count;
    const double *tokens;          /* [count] each: of the sequence, and so of the activations, O and L; */
    const double *forward;         /* of F and R; */
    const double *backward;        /* of B; */
    const double *backward_input;  /* of I; */
    const double *backward_weight; /* and of W */
};

enum kerf_slice_cut {
    KERF_SLICE_CUT_OWN,       /* the rule's own: exchanged of slimpipe, balanced of all others */
    KERF_SLICE_CUT_BALANCED,  /* slices take equally long: the later one, the fewer its tokens */
    KERF_SLICE_CUT_EQUAL,     /* slices have as many tokens: the later one, the longer it takes */
    KERF_SLICE_CUT_EXCHANGED, /* slices have as many tokens, and the devices share the attention of those that they have
                                 at a time, so that all take equally long */
    KERF_SLICE_CUTS
};

struct kerf_schedule_slices_request {
    const char *rule; /* whose own cut it may be, or NULL */
    enum kerf_slice_cut cut;
    double attention; /* causal attention's share of a stage's F, and of its B, whose I has it; 0 to 1 */
    const char *file; /* NULL, or times as kerf_schedule_times_request has them, whose "slices" take precedence */
    const char *file_text;
};

/**
 * Cuts the micro-batches of a schedule. A token attends to all before it, so that the slice between the shares x and y of
 * the sequence takes (1 - attention) (y - x) + attention (y y - x x) of a forward pass. W has no attention. The file's
 * "slices" is an object with arrays of as many numbers as there are slices, in any unit: tokens, forward, backward,
 * backward_input, backward_weight, such as measured times. They are divided by their sum, and each takes the place of
 * what follows from the cut and the attention; tokens, of the cut. *ret_slices is NULL where all slices are equal in all.
 * KERF_EINVALID where the schedule does not cut micro-batches. Given back with kerf_schedule_slices_free.
 */
KERF_API int32_t kerf_schedule_slices_make(const struct kerf_schedule *schedule,
                                           const struct kerf_schedule_times *times,
                                           const struct kerf_schedule_slices_request *request,
                                           struct kerf_schedule_slices **ret_slices, struct kerf_error *err);
KERF_API struct kerf_schedule_slices *kerf_schedule_slices_free(struct kerf_schedule_slices *slices); /* always NULL */

struct kerf_timeline {
    const double *const *start_s; /* [devices][num_ops[device]] */
    const double *const *end_s;
    double makespan_s;              /* from the first start to the last end */
    double span_s;                  /* the longest that one device takes from its first start to its last end */
    double step_s;                  /* until the next step can begin: makespan, or unsynchronised span; + optimizer */
    double busy_mean_s, busy_max_s; /* of the devices' sums of operations */
    const double *peak_activations; /* [devices] micro-batches through all chunks of a device and replica */
    const double *peak_bytes;       /* [devices], NULL without activation_bytes */
    int64_t messages;               /* from one device to another */
    int32_t over_cap;               /* the first device that holds more than its cap, or -1 */
    const struct kerf_schedule_slices *slices; /* how micro-batches are cut; NULL: in equal slices */
};

/** Runs the schedule, each operation as soon as its device and its inputs allow; linear in operations. The timeline is
 * given back with kerf_timeline_free. Slices take equally long, and hold as much. KERF_EINVALID when operations wait for
 * each other, or one is missing. */
KERF_API int32_t kerf_schedule_simulate(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                                        struct kerf_timeline **ret_timeline, struct kerf_error *err);

/** The same with slices that take what they take; NULL: equal ones. The timeline has a copy of them, and with it
 * memory, bounds, noise, JSON and pictures go by them. KERF_EINVALID where their number is not the schedule's. */
KERF_API int32_t kerf_schedule_simulate_slices(const struct kerf_schedule *schedule,
                                               const struct kerf_schedule_times *times,
                                               const struct kerf_schedule_slices *slices,
                                               struct kerf_timeline **ret_timeline, struct kerf_error *err);
KERF_API struct kerf_timeline *kerf_timeline_free(struct kerf_timeline *timeline); /* always NULL */

/** What a device holds over time, as steps: from times_s[k] on held[k] micro-batches through all its chunks, or
 * in_bytes 1 (where times have activation_bytes) bytes. Returns the number of steps, at most twice num_ops[device],
 * which both arrays have room for. */
KERF_API int32_t kerf_timeline_memory(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                                      const struct kerf_timeline *timeline, int32_t device, int32_t in_bytes,
                                      double *times_s, double *held);

/* No order of the same operations is shorter, with the same placement, times and latency, when no device ever holds
 * more than its cap of activations; without a cap, more than the fullest device of the timeline, but for best, whose
 * orders may then hold anything. */
struct kerf_schedule_bound {
    double makespan_s, span_s;
    double step_s; /* that of these two which the step follows, + optimizer */
};

/** A schedule, its times, and what they make. */
struct kerf_schedule_run {
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    const struct kerf_timeline *timeline;
};

/** The bounds of one schedule: load, chain and residence (lib/schedule/lower_bound.c proves them), or what a search has
 * proved. */
KERF_API struct kerf_schedule_bound kerf_schedule_lower_bound(const struct kerf_schedule *schedule,
                                                              const struct kerf_schedule_times *times,
                                                              const struct kerf_timeline *timeline);

/** The bounds of several schedules, each the largest that is known of its problem: what bounds one schedule bounds every
 * other that has the same operations, placement and times and no more memory. ret_bounds has count of them. */
KERF_API void kerf_schedule_lower_bounds(const struct kerf_schedule_run *runs, size_t count,
                                         struct kerf_schedule_bound *ret_bounds);

/** Writes the object of one schedule: "schedule", "devices", ..., and "ops" unless with_ops is 0. */
KERF_API void kerf_schedule_json(struct kerf_json *json, const struct kerf_schedule *schedule,
                                 const struct kerf_timeline *timeline, const struct kerf_schedule_bound *bound,
                                 int32_t with_ops);

/** The three idle shares by name, of the timeline: (makespan - ideal) / makespan and / ideal with the mean of the
 * devices' busy times as ideal, and (span - busiest) / span. */
struct kerf_bubble {
    double of_makespan, of_span, of_ideal;
};
KERF_API struct kerf_bubble kerf_timeline_bubble(const struct kerf_timeline *timeline);

/** "3F12", "3I12", "(3F12;4B2)": an operation as PyTorch writes it. */
KERF_API void kerf_op_text(struct kerf_text *out, const struct kerf_op *op);

/* ---- Noise ------------------------------------------------------------------------------------------------ */

/** What differs from step to step. */
struct kerf_schedule_noise {
    double relative;       /* standard deviation of an operation's time, as a share of it, 0 to 1; log-normal */
    const double *factors; /* [num_factors] or NULL: measured ones instead, of which each operation draws one; above 0.
                              They are scaled to a mean of 1 */
    int64_t num_factors;
    const double *slow;      /* [devices] or NULL: what a device's operations take, times the usual, above 0:
                                a straggler */
    const double *slow_link; /* [devices] or NULL: what messages from and to a device take, times the usual */
    int32_t samples;         /* simulations; 0: 10,000 */
    uint64_t seed;           /* the same seed gives the same numbers on every machine */
};

struct kerf_schedule_steps {
    double mean_s, p50_s, p95_s, p99_s, most_s; /* of the steps; p95_s: 95 % are at most this long */
    int32_t samples;
};

/** The distribution of the step when the order stays and operations do not always take the same time. timeline is the
 * schedule's without noise. KERF_EUNSUPPORTED with offload, blocking sends and shared links. */
KERF_API int32_t kerf_schedule_under_noise(const struct kerf_schedule *schedule,
                                           const struct kerf_schedule_times *times,
                                           const struct kerf_timeline *timeline,
                                           const struct kerf_schedule_noise *noise,
                                           struct kerf_schedule_steps *ret_steps, struct kerf_error *err);

/* ---- Certificates ----------------------------------------------------------------------------------------- */

/** What a certificate proves, once it is checked. */
struct kerf_schedule_verdict {
    enum kerf_objective objective; /* makespan or span */
    double bound_s;                /* no order of split operations that keeps the caps has a lower one, */
    double takes_s;                /* and the certificate's order has this one; NAN: it has none */
    int32_t optimal;               /* 1: they are the same but for rounding */
    int32_t devices, stages, microbatches, replicas;
    int64_t steps; /* of the proof that were checked */
};

/**
 * Checks a certificate without any code of the search (lib/schedule/proof). What it says is recomputed: the order is
 * simulated, bounds by argument are calculated again, and of a refutation every step has to follow from the problem and
 * the steps before it. The form is described in docs/schedule-proofs.md. name is the file's, for errors.
 *
 * KERF_ESYNTAX with file and line where it is not a certificate or damaged, KERF_EINVALID where something in it is wrong.
 */
KERF_API int32_t kerf_schedule_verify(const char *text, size_t length, const char *name,
                                      struct kerf_schedule_verdict *ret_verdict, struct kerf_error *err);

/* ---- Files ------------------------------------------------------------------------------------------------ */

struct kerf_schedule_file_request {
    const char *path; /* ".csv": PyTorch's schedule CSV; anything else: the text form; "-": standard input, as text */
    int32_t devices, microbatches, chunks; /* text form: values of p, m and v, 0: the file's own. A CSV has its own:
                                              others than those are refused */
};

/**
 * Reads a schedule from a file of at most 256 MiB, in linear time; it passes kerf_schedule_check, and is given back
 * with kerf_schedule_free. Its name is the text form's own, or the file's without its ending.
 *
 * CSV: compute_only, or compute_comms, whose sends and receives must fit together: each message sent behind what makes
 * it and received before what needs it, in the same order on both sides, and no rank waiting for itself. Both
 * letterings are read, today's and that of PyTorch up to 2.5 (B for the backward of the input, BW for the whole one).
 * UNSHARD, RESHARD and REDUCE_GRAD are skipped. Placement and numbers are what the rows have.
 *
 * The text form is described in docs/schedule-files.md.
 *
 * KERF_ESYNTAX and KERF_EINVALID have file, line and column; a deadlock is told as kerf_schedule_check tells it.
 */
KERF_API int32_t kerf_schedule_load(const struct kerf_schedule_file_request *request,
                                    struct kerf_schedule **ret_schedule, struct kerf_error *err);

/** The same from memory; name is the file's, whose ending tells its form. request may be NULL; its path is not used. */
KERF_API int32_t kerf_schedule_parse(const char *text, size_t length, const char *name,
                                     const struct kerf_schedule_file_request *request,
                                     struct kerf_schedule **ret_schedule, struct kerf_error *err);

/** The same of one form, with the name for errors alone. */
KERF_API int32_t kerf_schedule_parse_csv(const char *text, size_t length, const char *name,
                                         struct kerf_schedule **ret_schedule, struct kerf_error *err);
KERF_API int32_t kerf_schedule_parse_text(const char *text, size_t length, const char *name,
                                          const struct kerf_schedule_file_request *request,
                                          struct kerf_schedule **ret_schedule, struct kerf_error *err);

/** Writes any schedule in the text form, each operation with its micro-batch, for editing by hand; it reads back as the
 * same. */
KERF_API int32_t kerf_schedule_text(struct kerf_text *out, const struct kerf_schedule *schedule,
                                    struct kerf_error *err);

enum kerf_torch_form {
    KERF_TORCH_COMPUTE,   /* compute_only: operations */
    KERF_TORCH_COMMS,     /* compute_comms: sends and receives too, where PyTorch's own lowering puts them */
    KERF_TORCH_COMMS_LATE /* compute_comms, each receive right before what needs it, or a message sent later */
};

/** Writes PyTorch's schedule CSV. KERF_EINVALID where a stage is on two devices, a micro-batch cut into slices, or where
 * moves is 1, which that format cannot hold. The schedule must pass kerf_schedule_check; what is written passes the checks of
 * kerf_schedule_load. Early receives hang nowhere; late ones need sends that do not wait for their receive. */
KERF_API int32_t kerf_schedule_torch(struct kerf_text *out, const struct kerf_schedule *schedule,
                                     enum kerf_torch_form form, struct kerf_error *err);

/** Writes the timeline as Chrome's trace events, which chrome://tracing and Perfetto show: a process for each device,
 * its operations with their times, an arrow for each message, and what the device holds (in bytes where the times have
 * activation_bytes, else in micro-batches through all its chunks). */
KERF_API int32_t kerf_schedule_chrome(struct kerf_text *out, const struct kerf_schedule *schedule,
                                      const struct kerf_schedule_times *times, const struct kerf_timeline *timeline,
                                      struct kerf_error *err);

#ifdef __cplusplus
}
#endif
#endif
