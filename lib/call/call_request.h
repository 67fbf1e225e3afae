/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request becomes the arguments that `kerf VERB` would get, {"gpus":512,"tp":[4,8]} --gpus=512 --tp=4,8, and is read by
 * the same table of options, so that both say the same of the same mistake.
 */
#ifndef KERF_CALL_REQUEST_H
#define KERF_CALL_REQUEST_H

#include "base/arena.h"
#include "base/json_read.h"
#include "base/option.h"
#include "call/sources.h"
#include "kerf/call.h"

/* The member that stands for the command's argument. */
struct call_argument {
    const char *name, *types[4], *description; /* as a schema has them; the types end with NULL */
    const char *wants;                         /* what it must be, as a refusal says it */
    const char *before_list;                   /* the word before the names of a list; NULL: none */
    int32_t is_required;
};

/* What a request of a verb may say. */
struct call_form {
    struct call_argument argument;
    const char *objects; /* the members that may be an object, a description in the request itself */
    int32_t takes_files; /* "files" has the text of each file that other members name */
    struct command command;
};

struct call_request {
    const struct kerf_call_options *options;
    struct call_sources sources;
    enum answer_format { ANSWER_JSON, ANSWER_SVG, ANSWER_HTML, ANSWER_TEXT, ANSWER_CSV } format;
    struct arena arena;
    char **arguments; /* [num_arguments], the texts in the arena */
    int num_arguments, room;
};

/* Adds what the object root says to the request's arguments and sources. */
int32_t call_request_read(struct call_request *request, const struct call_form *form, const struct json_object *root,
                          struct kerf_error *err);
void call_request_free(struct call_request *request);

#endif
