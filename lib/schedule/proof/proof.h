/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A certificate that was read, and what its checker needs of it. No code of the search is used here: what the checker
 * knows of pipelines stands in these files alone.
 *
 * A stream is a stage of a replica; a lane is one kind of a stream's operations, 3 * stream + kind (F 0, I 1, W 2), whose
 * units run one after the other.
 */
#ifndef KERF_SCHEDULE_PROOF_PROOF_H
#define KERF_SCHEDULE_PROOF_PROOF_H

#include "base/arena.h"
#include "kerf/schedule.h"

struct proof_reader {
    const char *at, *end, *name;
    int32_t line;
};

enum proof_argument { PROOF_CHAIN, PROOF_RESIDENCE, PROOF_WAY_BACK, PROOF_ENDS, PROOF_ROUNDS, PROOF_REFUTATION };

struct proof {
    int32_t devices, stages, microbatches, replicas, streams, lanes;
    int32_t *device_of;          /* [streams] */
    int32_t *units;              /* [streams] */
    double *time[3];             /* [stages] F, I, W */
    double latency, *latency_of; /* between all, or [devices][devices] */
    double *amount, *cap;        /* [stages]; [devices] */
    int32_t frees;               /* 1: I frees activations, 2: W */
    int32_t blocking, span;
    int32_t **order, *length; /* [devices] lanes in order; NULL where the certificate has none */
    double takes, bound;
    enum proof_argument argument;
    int32_t at;                               /* of an argument: stream or device */
    int32_t rounds;                           /* of PROOF_ROUNDS */
    int32_t head, head_kind, tail, tail_kind; /* stages of the device, -1: none; kinds F 0 or I 1 */
    struct proof_reader steps;                /* of a refutation: where it begins */
};

static inline int32_t proof_stage(const struct proof *proof, int32_t stream) { return stream % proof->stages; }

static inline double proof_latency(const struct proof *proof, int32_t from, int32_t to) {
    if (from == to) return 0;
    return proof->latency_of ? proof->latency_of[from * proof->devices + to] : proof->latency;
}

/* The lane of the stage before or behind whose output a lane needs, or -1; its kind is the same. */
static inline int32_t proof_input(const struct proof *proof, int32_t lane) {
    const int32_t stage = proof_stage(proof, lane / 3), kind = lane % 3;
    if (kind == 0) return stage > 0 ? lane - 3 : -1;
    if (kind == 1) return stage + 1 < proof->stages ? lane + 3 : -1;
    return -1;
}

/* ---- Reading: proof_read.c -------------------------------------------------------------------------------- */

int32_t proof_read(struct proof *proof, struct arena *arena, const char *text, size_t length, const char *name,
                   struct kerf_error *err);

/* Words of the line at hand: 1 when there was one. */
int proof_word(struct proof_reader *reader, const char *word);
int proof_whole(struct proof_reader *reader, int64_t least, int64_t most, int64_t *ret);
int proof_real(struct proof_reader *reader, double *ret); /* "none": INFINITY */
int proof_line_end(struct proof_reader *reader);          /* goes on to the next line */
int32_t proof_wrong(const struct proof_reader *reader, struct kerf_error *err, const char *what);

/* ---- Bounds by argument: proof_argue.c -------------------------------------------------------------------- */

/* The bound that the certificate's argument gives; 0 when it does not hold here. */
double proof_argue(const struct proof *proof, struct arena *arena);

/* When the first F of a stream can start: what F and latencies of the stages before it take. */
double proof_entry(const struct proof *proof, int32_t stream);

/* ---- Refutations: proof_refute.c -------------------------------------------------------------------------- */

/* Checks that no order takes as little as the goal, step by step; the bound that follows. */
int32_t proof_refute(const struct proof *proof, struct arena *arena, double *ret_bound, int64_t *ret_steps,
                     struct kerf_error *err);

/* The sum of a certificate's bytes (64-bit FNV-1a), which tells damage from forgery: the latter has a right sum and is
 * found by checking the proof. */
static inline uint64_t proof_sum(const char *bytes, size_t length) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t k = 0; k < length; k++) hash = (hash ^ (unsigned char)bytes[k]) * 0x100000001B3u;
    return hash;
}

#endif
