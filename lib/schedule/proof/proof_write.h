/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_PROOF_PROOF_WRITE_H
#define KERF_SCHEDULE_PROOF_PROOF_WRITE_H

#include "schedule/lower_bound.h"

/* What a certificate says, and the proof of it. */
struct proof_claim {
    const struct kerf_schedule *frame; /* placement and sizes */
    const struct kerf_schedule_times *times;
    enum kerf_objective objective;
    double bound_s;                   /* of every order of split operations */
    struct lower_bound_reason reason; /* where refutation is NULL */
    const struct kerf_text *refutation;
    const int32_t *order; /* NULL: none; lanes (3 * stream + kind), those of device d from begin[d] on */
    const int64_t *begin;
    double takes_s; /* the objective of the order */
};

/* Writes the certificate, which docs/schedule-proofs.md describes. */
void proof_write(struct kerf_text *out, const struct proof_claim *claim);

#endif
