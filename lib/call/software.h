/* SPDX-License-Identifier: Apache-2.0 */
/* --stack and --calibration: the software of a question, and constants that were fitted to a site. */
#ifndef KERF_CALL_SOFTWARE_H
#define KERF_CALL_SOFTWARE_H

#include "call/sources.h"
#include "kerf/cost.h"

struct score_constants;

/* All zeros: the default and none. Given back with software_free. */
struct software {
    struct kerf_stack *stack;
    const char *calibration;           /* the file; NULL: none */
    struct score_constants *constants; /* of the calibration */
};

/* Either name may be NULL. Where files must not be read (sources), a stack is a name of the catalogue. */
int32_t software_read(const struct call_sources *sources, const char *stack, const char *calibration,
                      struct software *ret_software, struct kerf_error *err);

/* To the problem, which has its system: before --set. */
void software_apply(const struct software *software, struct kerf_problem *problem);

/* For which systems and stack of these problems the calibration has nothing fitted, so that it changes nothing of them: a
 * line of text, nothing where nothing is ignored; "calibration":{"file":...,"ignored":[...]} where there is one. */
void software_notes(const struct software *software, const struct kerf_problem *problems, size_t count,
                    struct kerf_text *ret_text);
void software_json(struct kerf_json *json, const struct software *software, const struct kerf_problem *problems,
                   size_t count);

void software_free(struct software *software);

#endif
