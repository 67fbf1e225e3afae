/* SPDX-License-Identifier: Apache-2.0 */
/* Writes certificates: the problem, the order that is known, the bound and its proof, and a sum of all bytes. */
#include "schedule/proof/proof_write.h"

#include <math.h>
#include "schedule/build.h"
#include "schedule/proof/proof.h"

static void write_numbers(struct kerf_text *out, const char *name, const double *values, int32_t count, double more) {
    kerf_text_add(out, name);
    for (int32_t k = 0; k < count; k++) {
        kerf_text_add(out, " ");
        if (isinf(values[k]))
            kerf_text_add(out, "none");
        else
            kerf_text_number(out, values[k] + more);
    }
    kerf_text_add(out, "\n");
}

static void write_one(struct kerf_text *out, const char *name, double value) { write_numbers(out, name, &value, 1, 0); }

static void write_problem(struct kerf_text *out, const struct proof_claim *claim) {
    const struct kerf_schedule *frame = claim->frame;
    const struct kerf_schedule_times *times = claim->times;
    const int32_t p = frame->devices, stages = frame->stages;
    kerf_text_printf(out, "devices %d\nstages %d\nmicrobatches %d\nreplicas %d\ndevice_of", p, stages,
                     frame->microbatches, frame->replicas);
    for (int32_t k = 0; k < frame->replicas * stages; k++) kerf_text_printf(out, " %d", frame->device_of[k]);
    kerf_text_add(out, "\n");
    write_numbers(out, "forward_s", times->forward_s, stages, times->overhead_s);
    write_numbers(out, "input_s", times->backward_input_s, stages, times->overhead_s);
    write_numbers(out, "weight_s", times->backward_weight_s, stages, times->overhead_s);
    if (times->p2p_of_s)
        write_numbers(out, "latency_of_s", times->p2p_of_s, p * p, 0);
    else
        write_one(out, "latency_s", times->p2p_s);
    kerf_text_add(out, "amount");
    for (int32_t k = 0; k < stages; k++) {
        kerf_text_add(out, " ");
        kerf_text_number(out, times->cap_in_bytes ? times->activation_bytes[k] : 1);
    }
    kerf_text_add(out, "\ncap");
    for (int32_t d = 0; d < p; d++) {
        const double cap = times->cap ? times->cap[d] * (times->cap_in_bytes ? 1 : frame->chunks) : INFINITY;
        kerf_text_add(out, " ");
        if (isinf(cap))
            kerf_text_add(out, "none");
        else
            kerf_text_number(out, cap);
    }
    kerf_text_printf(out, "\nfrees %s\nsends %s\nobjective %s\n", times->free_at_input ? "I" : "W",
                     times->blocking ? "blocking" : "asynchronous",
                     claim->objective == KERF_OBJECTIVE_SPAN ? "span" : "makespan");
}

static void write_order(struct kerf_text *out, const struct proof_claim *claim) {
    const struct kerf_schedule *frame = claim->frame;
    if (claim->order == NULL) return;
    for (int32_t d = 0; d < frame->devices; d++) {
        kerf_text_printf(out, "order %d", d);
        for (int64_t at = claim->begin[d]; at < claim->begin[d + 1]; at++)
            kerf_text_printf(out, " %c%d", "FIW"[claim->order[at] % 3], claim -> order[at] / 3);
        kerf_text_add(out, "\n");
    }
    write_one(out, "takes_s", claim->takes_s);
}

static void write_argument(struct kerf_text *out, const struct proof_claim *claim) {
    const struct lower_bound_reason *reason = &claim->reason;
    if (claim->refutation) {
        kerf_text_write(out, claim->refutation->data, claim->refutation->length);
        return;
    }
    switch (reason->kind) {
    case LOWER_BOUND_CHAIN: kerf_text_printf(out, "argument chain %d\n", reason->at); return;
    case LOWER_BOUND_RESIDENCE: kerf_text_printf(out, "argument residence %d\n", reason->at); return;
    case LOWER_BOUND_WAY_BACK: kerf_text_printf(out, "argument way_back %d\n", reason->at); return;
    case LOWER_BOUND_ROUNDS: kerf_text_printf(out, "argument rounds %d %d\n", reason->at, reason->rounds); return;
    case LOWER_BOUND_ENDS:
        kerf_text_printf(out, "argument ends %d", reason->at);
        if (reason->head >= 0) kerf_text_printf(out, " before %c%d", "FI"[reason->head_back], reason -> head);
        if (reason->tail >= 0) kerf_text_printf(out, " behind %c%d", "FI"[reason->tail_back], reason -> tail);
        kerf_text_add(out, "\n");
        return;
    case LOWER_BOUND_NONE:
        assert(!(claim->bound_s > 0));
        kerf_text_add(out, "argument chain 0\n"); /* where nothing takes time every argument gives 0 */
        return;
    }
}

void proof_write(struct kerf_text *out, const struct proof_claim *claim) {
    kerf_text_add(out, "kerf schedule proof 1\n");
    write_problem(out, claim);
    write_order(out, claim);
    write_one(out, "bound_s", claim->bound_s);
    write_argument(out, claim);
    kerf_text_add(out, "end\n");
    kerf_text_printf(out, "sum %016llx\n", (unsigned long long)proof_sum(out->data, out->length));
}
