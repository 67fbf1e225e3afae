/* SPDX-License-Identifier: Apache-2.0 */
/* A body as the dictionary that a model is made of. */
#ifndef KERF_ZEUS_REQUEST_BODY_H
#define KERF_ZEUS_REQUEST_BODY_H

#include "zeus/python_json.h"
#include "zeus/request_refusal.h"

/* *ret_object is a PYTHON_OBJECT, as long as the pool and the body live. */
int32_t request_read_body(const struct request_body *body, struct pool *pool, const struct python_value **ret_object,
                          struct request_refusal *refusal);

#endif
