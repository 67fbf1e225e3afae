/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of the verb "launch", and its answer: a text that is read, or one that is written for a plan. */
#ifndef KERF_CALL_LAUNCH_QUESTION_H
#define KERF_CALL_LAUNCH_QUESTION_H

#include "base/option.h"
#include "kerf/json.h"

struct launch_values {
    struct string_list texts;
    const char *framework, *version, *name, *write, *plan;
    int64_t gpus, rank;
};

extern const struct option launch_options[]; /* for a struct launch_values, up to one without a name */

/* Adds the members of the answer to the object that json has open. */
int32_t launch_question_json(struct kerf_json *json, const struct launch_values *values, struct kerf_error *err);

#endif
