/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user describes: the model, the system (the hardware), the workload, and a layout (how the model is
 * laid over the devices). Everything is in SI units: bytes, seconds, FLOP/s, bytes/s.
 *
 * The structs are plain values: copy them freely, nothing needs to be given back.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         struct kerf_error err;
 *         struct kerf_layout layout;
 *         if (kerf_layout_parse("dp=4,tp=8,pp=2", &layout, &err) != KERF_OK) return 1;
 *         printf("%d devices\n", (int)kerf_layout_devices(&layout));
 *         kerf_layout_release(&layout);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     64 devices
 */
#ifndef KERF_SPEC_H
#define KERF_SPEC_H

#include "kerf/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One kind of machine: accelerators with a fast domain (NVLink) inside a slow network (InfiniBand). */
struct kerf_system {
    char name[KERF_NAME_SIZE];
    double matrix_flops_per_s; /* peak of the matrix units at 16 bits, above 0 */
    double vector_flops_per_s; /* peak of the vector units at 16 bits, above 0 */
    double bf16_flops_per_s;   /* dense peak at bfloat16, which a file need not give where it is matrix_flops_per_s; */
    double fp8_flops_per_s;    /* at 8 bits; 0: there are no such units, or it is not known */
    double fp4_flops_per_s;    /* at 4 bits; the same */
    double memory_bandwidth_bytes_per_s;
    double memory_capacity_bytes;
    struct {
        int64_t size;                 /* accelerators in a domain, 1 .. 2^20 */
        double bandwidth_bytes_per_s; /* of one accelerator, one direction */
        double efficiency;            /* share of the bandwidth that collectives reach, in (0, 1] */
        double latency_s;             /* of one hop, 0 or above */
        double bus_bytes_per_s;       /* "analytic": what a collective of the whole domain moves from one accelerator */
        double start_s;               /* "analytic": what a collective takes to start */
    } scale_up;
    struct {
        double bandwidth_bytes_per_s; /* of one network card */
        double efficiency;
        double latency_s;
        double nics_per_device; /* network cards per accelerator, may be a fraction; above 0 */
        double bus_share;       /* "analytic": share of a card's bandwidth that collectives of many bytes reach */
        double hop_s;           /* "analytic": what each domain that a ring passes adds */
    } scale_out;
    /* What products and attention reach, for the cost model "analytic" alone. As with the four above, 0: not measured;
     * a default stands in (docs/cost-model.md). */
    struct {
        double efficiency;     /* of the dense peak at 16 bits, by a product of any size but for its edges */
        double fp8_efficiency; /* of the dense peak at 8 bits, one scale for a tensor or a row */
        double mxfp8_efficiency, nvfp4_efficiency; /* the same with a scale for each block; of the peak at 4 bits */
        double edge; /* k0: a product of m x n x k takes 1 + k0 (1/m + 1/n + 1/k) times as long */
        double fp8_edge;
        double start_s; /* added to each product */
    } gemm;
    struct {
        double fused_efficiency; /* of the dense peak at 16 bits: the fastest kernel of one piece, causal FLOP */
        double flash_efficiency, flash2_efficiency; /* FlashAttention 1 and its Triton relatives; FlashAttention 2 */
        double unfused_efficiency;                  /* two products with a kernel for softmax between them, all FLOP */
        double eager_efficiency;                    /* the same with softmax in pieces */
    } attention;
    uint32_t overridden; /* which fields kerf_problem_set has changed since */
};

/** How tensors are split inside a stage. */
enum kerf_strategy {
    KERF_STRATEGY_1D,     /* tensor parallel in one dimension, with sequence parallelism of the norms */
    KERF_STRATEGY_SUMMA,  /* tensor parallel in two dimensions, broadcasting blocks (SUMMA) */
    KERF_STRATEGY_SEQP,   /* tensor parallel x context (sequence) parallel */
    KERF_STRATEGY_HYBRID, /* tp, cp, pp with virtual stages, ep, etp, dp with ZeRO, as Megatron-LM has them */
    KERF_STRATEGY_COUNT
};

/** What the backward pass computes again. */
enum kerf_recompute {
    KERF_RECOMPUTE_NONE,
    KERF_RECOMPUTE_SELECTIVE, /* the core of attention */
    KERF_RECOMPUTE_FULL,      /* whole layers, from their inputs */
    KERF_RECOMPUTE_BLOCK,     /* "full:K": the first recompute_layers layers of each virtual stage */
    KERF_RECOMPUTE_COUNT
};

/** How ranks are numbered, and so who are neighbours in a scale-up domain; the first varies fastest. */
enum kerf_order { KERF_ORDER_TP_CP_DP_PP, KERF_ORDER_TP_CP_PP_DP, KERF_ORDER_COUNT };

/** How context parallelism brings queries together with the keys and values of other shards. */
enum kerf_cp_comm {
    KERF_CP_COMM_ANY,        /* the cheapest; a layout that was priced never has it where cp > 1 */
    KERF_CP_COMM_RING,       /* keys and values travel around a ring behind attention */
    KERF_CP_COMM_ALL_GATHER, /* keys and values are gathered first */
    KERF_CP_COMM_ALL_TO_ALL, /* heads are exchanged for tokens; cp divides the heads of a tensor shard */
    KERF_CP_COMM_COUNT
};

/** What matrix products and their communication are computed in. */
enum kerf_precision { KERF_PRECISION_BF16, KERF_PRECISION_FP16, KERF_PRECISION_FP8, KERF_PRECISION_COUNT };

KERF_API const char *kerf_recompute_name(enum kerf_recompute recompute); /* "none", "selective", "full", "full" */
KERF_API const char *kerf_order_name(enum kerf_order order);             /* "tp-cp-dp-pp", ... */
KERF_API const char *kerf_cp_comm_name(enum kerf_cp_comm cp_comm);       /* "any", "ring", "all_gather", ... */
KERF_API const char *kerf_precision_name(enum kerf_precision precision); /* "bf16", ... */

/** The same from their names; an unknown one is KERF_EUNKNOWN, and the error names those there are. "full:3" is
 * KERF_RECOMPUTE_BLOCK with 3 layers, which is else 0. */
KERF_API int32_t kerf_recompute_parse(const char *name, enum kerf_recompute *ret, int32_t *ret_layers,
                                      struct kerf_error *err);
KERF_API int32_t kerf_order_parse(const char *name, enum kerf_order *ret, struct kerf_error *err);
KERF_API int32_t kerf_cp_comm_parse(const char *name, enum kerf_cp_comm *ret, struct kerf_error *err);
KERF_API int32_t kerf_precision_parse(const char *name, enum kerf_precision *ret, struct kerf_error *err);

/** How attention is computed. */
enum kerf_attention {
    KERF_ATTENTION_FUSED,      /* one kernel that never writes the l x l matrix (flash attention) */
    KERF_ATTENTION_UNFUSED,    /* logits, softmax, dropout, attend; the matrix is kept for the backward pass */
    KERF_ATTENTION_RECOMPUTED, /* unfused, the matrix computed again in the backward pass; 1d alone */
    KERF_ATTENTION_SUMMA,      /* unfused, logits and attend as SUMMA products; summa alone */
    KERF_ATTENTION_COUNT
};

KERF_API const char *kerf_attention_name(enum kerf_attention attention); /* "fused", ... */
KERF_API int32_t kerf_attention_parse(const char *name, enum kerf_attention *ret, struct kerf_error *err);

#define KERF_SCHEDULE_NAME_SIZE 31    /* bytes of a schedule's name with its final NUL */
#define KERF_PP_MAX             4096  /* pipeline stages of a hybrid layout */
#define KERF_STAGES_MAX         32767 /* pp * vpp of a hybrid layout */

/**
 * How a model is laid over its accelerators: dp * tp1 * tp2 * pp of them with 1d, summa and seqp, dp * tp1 * cp * pp
 * with hybrid, whose tp is tp1 and whose tp2 is 1. Other members that a strategy does not have are 0. A layout with a
 * schedule is one of hybrid.
 */
struct kerf_layout {
    int64_t dp;           /* replicas, each with its share of the global batch */
    int64_t tp1;          /* tensor parallel over heads and features */
    int64_t tp2;          /* summa: over rows; seqp: over the sequence; 1d: 1 */
    int64_t pp;           /* pipeline stages, equal numbers of layers each */
    int64_t micro_batch;  /* samples that go through the pipeline together */
    int64_t summa_blocks; /* blocks of a SUMMA product; 0 for 1d and seqp */
    struct {
        int64_t tp1, tp2, dp, pp; /* neighbours of each kind in one scale-up domain; the product is at most its size.
                                     0: the fastest that goes with the others */
    } scale_up;
    /* hybrid alone: */
    int32_t cp;               /* context parallel: shards of the sequence */
    int32_t vpp;              /* virtual stages of a device */
    int32_t ep, etp;          /* experts over ep, each over etp, of the dp * cp * tp accelerators of a stage */
    int32_t recompute_layers; /* of KERF_RECOMPUTE_BLOCK, else 0 */
    int8_t zero;              /* ZeRO stage: 0 nothing, 1 optimizer, 2 + gradients, 3 + weights, over dp * cp */
    int8_t recompute;         /* enum kerf_recompute */
    int8_t order;             /* enum kerf_order */
    int8_t cp_comm;           /* enum kerf_cp_comm */
    char schedule[KERF_SCHEDULE_NAME_SIZE]; /* a rule of kerf/schedule.h; "": not a layout of hybrid */
    int8_t has_best_split;                  /* 1: stage_layers is what kerf found, as if it were NULL */
    const int32_t *stage_layers; /* [pp * vpp] layers of each virtual stage in the order in which a micro-batch goes
                                    through them; NULL: the best split. The caller's, but for kerf_layout_parse's */
};

#define KERF_VALUES_MAX 32

/** The values that a dimension may take, rising; count 0: its default list. */
struct kerf_values {
    int32_t count;
    int32_t of[KERF_VALUES_MAX];
    int32_t are_excluded; /* 1: the default list without these */
};

struct kerf_problem;

/** What is to run the layouts, where it cannot run all of them: kerf_framework_runner has those of frameworks. */
struct kerf_runner {
    const char *name; /* "megatron" */
    /* 1: it can run the layout, whose stage_layers are not looked at. cp_comm may be any: then it can run one of them. Else
     * why, where it is not NULL, gets what it lacks: "virtual stages". */
    int (*takes)(const struct kerf_runner *runner, const struct kerf_problem *problem, const struct kerf_layout *layout,
                 struct kerf_text *why);
    /* How it splits the layers of a layout that it takes: ret_layers [pp * vpp]. NULL: as it is told. */
    void (*split)(const struct kerf_problem *problem, const struct kerf_layout *layout, int32_t *ret_layers);
};

/** Which layouts of strategy hybrid are searched (docs/space.md). All zeros is the default space. */
struct kerf_space {
    int32_t is_wide; /* 1: every order, schedule, number of recomputed layers, kind of cp communication, zero 0-3 */
    struct kerf_values tp, cp, pp, vpp, ep, etp, dp, zero, micro_batch;
    struct kerf_values recompute; /* enum kerf_recompute; 100 + K: the first K layers */
    struct kerf_values order;     /* enum kerf_order */
    struct kerf_values cp_comm;   /* enum kerf_cp_comm */
    int32_t num_schedules;        /* 0: 1f1b, and interleaved_1f1b where vpp > 1 */
    char schedules[KERF_VALUES_MAX][KERF_SCHEDULE_NAME_SIZE];
    const int32_t *stage_layers; /* [num_stage_layers] instead of the best split; NULL. The caller's */
    int32_t num_stage_layers;
    const struct kerf_runner *runner; /* those that it can run alone; NULL: all. The caller's */
};

struct kerf_stack; /* a software stack; opaque */

/** A whole question: which model, on what, with how much work. */
struct kerf_problem {
    struct kerf_model model;
    struct kerf_system system;
    enum kerf_strategy strategy;
    enum kerf_attention attention;
    int64_t gpus;         /* accelerators, 1 .. 2^30 */
    int64_t global_batch; /* samples a step, 1 .. 2^30 */
    int64_t seq_length;   /* tokens a sample, 1 .. 2^30 */
    /* The cost model "analytic" alone: */
    enum kerf_precision precision;
    int32_t has_bf16_gradients;     /* 1: gradients are kept in bf16, not in fp32 */
    int64_t mtp_layers;             /* of multi-token prediction that are trained, at most the model's */
    const struct kerf_space *space; /* NULL: the default space. The caller's; it outlives the problem */
    const struct kerf_stack *stack; /* the software; NULL: the newest Megatron-Core. The same */
    double memory_share; /* of the capacity, that a layout may be predicted to need: below 1 it is safer; 0: 1 */
    /* A whole run, finite and not negative; they change no layout, and what is 0 is not told: */
    double training_tokens;   /* how long it takes to train on so many */
    double device_hour_price; /* and what that costs, where an accelerator costs this an hour */
};

/* ---- Reading ------------------------------------------------------------------------------------------ */

/** The system of this name in the catalogue, else of this file; as kerf_model_load. */
KERF_API int32_t kerf_system_load(const char *name_or_file, struct kerf_system *ret_system, struct kerf_error *err);

/** The same from text; source names the text in errors and, without its folder and .json, the system. */
KERF_API int32_t kerf_system_parse(const char *json, size_t length, const char *source, struct kerf_system *ret_system,
                                   struct kerf_error *err);

/**
 * Changes fields by their keys, such as "scale_up.bandwidth_bytes_per_s=450 GB/s" or, between commas, several:
 * "hidden_size=5120,num_attention_heads=40". Together they obey the same rules as a file; after an error model
 * and system are as they were. What was measured of a link or of the matrix units changes in proportion to the figure of
 * the data sheet that is set, unless it is set too.
 */
KERF_API int32_t kerf_problem_set(struct kerf_model *model, struct kerf_system *system, const char *assignments,
                                  struct kerf_error *err);

/**
 * Reads a layout from text, parts KEY=VALUE in any order between commas.
 *
 *   hybrid    "tp=8,pp=4,vpp=2,dp=16,micro_batch=2,recompute=selective": tp, cp, pp, vpp, ep, etp, dp, zero, micro_batch,
 *             recompute (none, selective, full, full:K), schedule, order, cp_comm, stage_layers (11/11/10). What is not
 *             named is 1, none, tp-cp-dp-pp; zero is 1 where dp * cp > 1, else 0; schedule is 1f1b, or interleaved_1f1b
 *             where vpp > 1.
 *   others    "dp=2,tp1=8,pp=64,micro_batch=1,scale_up.tp1=4", with tp1, tp2, summa_blocks or scale_up.*. What is not
 *             named is 1, summa_blocks 0. Members of scale_up that are not named are 0: kerf_layout_estimate then takes
 *             the fastest placement that agrees with those named.
 *
 * Parts of both kinds together are an error; a text with none of either is hybrid. The layout is given back with
 * kerf_layout_release, which matters where the text names stage_layers alone.
 */
KERF_API int32_t kerf_layout_parse(const char *text, struct kerf_layout *ret_layout, struct kerf_error *err);

/** The same for a strategy that is known: a text without parts of either kind is one of the strategy's. */
KERF_API int32_t kerf_layout_parse_as(const char *text, enum kerf_strategy strategy, struct kerf_layout *ret_layout,
                                      struct kerf_error *err);

/** Gives back the stage_layers of a layout that was parsed, and leaves NULL there. */
KERF_API void kerf_layout_release(struct kerf_layout *layout);

/** The accelerators that the layout needs, the product of its members; INT64_MAX where that is more. */
KERF_API int64_t kerf_layout_devices(const struct kerf_layout *layout);

/** A total order of layouts, the last tie-break of every ranking: below, equal to or above 0. Those with stage_layers
 * hold pp * vpp of them. */
KERF_API int32_t kerf_layout_compare(const struct kerf_layout *a, const struct kerf_layout *b);

/** Appends what a hybrid layout has of a part: "8" of "tp", "full:3" of "recompute", "6/7/7" of "stage_layers". */
KERF_API void kerf_layout_value(struct kerf_text *out, const struct kerf_layout *layout, const char *key);

/** Writes "key":{"dp":...,"scale_up":{...}} or, of hybrid, "key":{"dp":...,"tp":...} into the object that is open. */
KERF_API void kerf_layout_json(struct kerf_json *json, const char *key, const struct kerf_layout *layout);

/** Writes "key":{"memory_capacity_bytes":2e11,...}: the fields that kerf_problem_set has changed, into the object that is
 * open. */
KERF_API void kerf_problem_set_json(struct kerf_json *json, const char *key, const struct kerf_model *model,
                                    const struct kerf_system *system);

/** Appends the same for people, rounded and with units: "memory_capacity_bytes 200 GB, num_hidden_layers 48". Nothing where
 * nothing was changed. */
KERF_API void kerf_problem_set_text(struct kerf_text *out, const struct kerf_model *model,
                                    const struct kerf_system *system);

/* ---- The catalogue ------------------------------------------------------------------------------------ */

/** A model, system or stack that has a name: the text of a file in share/. */
struct kerf_catalogue_entry {
    const char *name;
    const char *json;
    size_t length;
};

struct kerf_catalogue {
    const struct kerf_catalogue_entry *entries;
    size_t count;
};

/** All "models", "systems" or "stacks": those in the library, in the order of share/, then NAME.json, of other names, in the
 * folder of that name in $KERF_CATALOGUE, of $XDG_DATA_HOME/kerf (without the variable ~/.local/share/kerf) and of $KERF_DATA_DIR
 * (without the variable PREFIX/share/kerf). Given back with kerf_catalogue_free. */
KERF_API int32_t kerf_catalogue_list(const char *kind, struct kerf_catalogue **ret_catalogue, struct kerf_error *err);
KERF_API struct kerf_catalogue *kerf_catalogue_free(struct kerf_catalogue *catalogue); /* always NULL */

#ifdef __cplusplus
}
#endif
#endif
