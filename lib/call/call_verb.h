/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of kerf_call: what a request of each may say, and who answers it. A new verb is a row of the table in
 * call_verb.c. */
#ifndef KERF_CALL_VERB_H
#define KERF_CALL_VERB_H

#include "call/call_request.h"

struct call_verb {
    struct call_form form; /* the verb is called as its command */
    const char *formats;   /* of its answer */
    int32_t (*answer)(const struct command *command, const struct call_request *request, struct kerf_text *out,
                      struct kerf_error *err);
};

/* NULL: err says which there are. */
const struct call_verb *call_verb_find(const char *name, struct kerf_error *err);

#endif
