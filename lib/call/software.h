/* SPDX-License-Identifier: Apache-2.0 */
/* --stack and --calibration: the software of a question, and constants that were fitted to a site. */
#ifndef KERF_CALL_SOFTWARE_H
#define KERF_CALL_SOFTWARE_H

#include "call/sources.h"
#include "kerf/cost.h"
#include "score/calibrate.h"

/* All zeros: the default and none. Given back with software_free. */
struct software {
    struct kerf_stack *stack;
    const char *calibration;           /* the file; NULL: none */
    struct score_constants *constants; /* of the calibration */
};

/* Either name may be NULL. Where files must not be read (sources), a stack is a name of the catalogue. */
int32_t software_read(const struct call_sources *sources, const char *stack, const char *calibration,
                      struct software *ret_software, struct kerf_error *err);

/* The constants that come with kerf, with those of a calibration (NULL: none). */
int32_t software_constants(const char *calibration, struct score_constants *ret_constants, struct kerf_error *err);

/* An error where gradients in bf16 are asked for and the stack has others whatever is asked: "bf16", "fp32" or NULL. */
int32_t software_check_gradients(const struct software *software, const char *gradients, struct kerf_error *err);

/* To the problem, which has its system: before --set. */
void software_apply(const struct software *software, struct kerf_problem *problem);

/* The names of what an answer was priced with, one after the other, as often as they occur; NULL: none. */
struct software_use {
    const char *system, *stack;
};
struct software_uses {
    const void *of; /* [count] */
    size_t count;
    struct software_use (*at)(const void *of, size_t i);
};
struct software_uses software_of_problems(const struct kerf_problem *problems, size_t count);

/* For which of these systems and stacks the calibration has nothing fitted, so that it changes nothing of them: a line of
 * text, nothing where nothing is ignored; "calibration":{"file":...,"ignored":[...]} where there is one. */
void software_notes(const struct software *software, struct software_uses uses, struct kerf_text *ret_text);
void software_json(struct kerf_json *json, const struct software *software, struct software_uses uses);

void software_free(struct software *software);

#endif
