/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants from measured runs. A knob multiplies one constant of some devices or stacks by exp(x); x = 0 is where it
 * starts, and a normal prior holds it there:
 *
 *   minimise  sum_i w_i H(ln(predicted_i / measured_i) / NOISE) + sum_k (x_k / sd_k)^2 / 2
 *
 * where memory is measured it is the same with a noise of its own, and where a run died or did not, the logistic loss of
 * stack_p_oom; with H(r) = SQRT(1 + r^2) - 1 (pseudo-Huber: outliers count by their distance, not its square) and w_i = n^-0.35 of a row of a
 * set of n rows. Gauss-Newton steps with Levenberg's damping; derivatives are differences, and of the rows alone that a
 * knob concerns. No knob belongs to a model, a run or a set.
 */
#ifndef KERF_SCORE_FIT_H
#define KERF_SCORE_FIT_H

#include "score/predict.h"

/* What was seen of a job. */
enum fit_kind {
    FIT_TIME,   /* seconds of a step */
    FIT_MEMORY, /* bytes of the fullest accelerator */
    FIT_FIT,    /* it ran: the bytes are below what kills it */
    FIT_DIED    /* it ran out of memory */
};

struct fit_row {
    const struct job *job;
    enum fit_kind kind;
    double measured; /* of the first two kinds */
    double weight;
};

/* What became of a knob. */
struct fit_knob {
    char name[96];
    double factor, sd; /* what its constants were multiplied by; prior, of ln */
    double evidence;   /* 1 - posterior variance / prior variance: 0: the rows say nothing, 1: they alone decide */
    int32_t rows;      /* that it concerns */
};

enum { FIT_KNOBS_MAX = 512 };

struct fit_report {
    int32_t count;
    struct fit_knob knobs[FIT_KNOBS_MAX];
    double loss_before, loss_after;
};

/* Which knobs. */
enum fit_knobs {
    FIT_EVERY, /* every constant */
    FIT_SITE   /* compute, network and host, each as a whole: what a few rows of one site can tell */
};

/* Who is told how far a fit is, from `begin` to `end`, and may end it; all zeros: nobody. */
struct fit_watch {
    kerf_progress tell;
    void *context;
    double begin, end;
};

/* Fits all knobs that some row concerns: of time where the first row is FIT_TIME (then all are), else of memory. KERF_EINTERRUPTED where the watch ended it. */
int32_t fit_constants(struct score_constants *constants, const struct fit_row *rows, size_t count, enum fit_knobs knobs,
                      const struct fit_watch *watch, struct fit_report *ret_report, struct kerf_error *err);

#endif
