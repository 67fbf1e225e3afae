/* SPDX-License-Identifier: Apache-2.0 */
/* A body as the dictionary that a model is made of. */
#ifndef KERF_ZEUS_REQUEST_INPUT_H
#define KERF_ZEUS_REQUEST_INPUT_H

#include "zeus/python_json.h"
#include "zeus/request_answer.h"

/* *ret_object is a PYTHON_OBJECT, as long as the arena and the body live. */
int32_t request_read_body(const struct request_body *body, struct arena *arena, const struct python_value **ret_object,
                          struct request_refusal *refusal);

#endif
