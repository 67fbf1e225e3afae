/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals: each function fills one and returns its code, KERF_EINVALID, or KERF_ENOMEM from refuse_no_memory. */
#ifndef KERF_ZEUS_REQUEST_ANSWER_H
#define KERF_ZEUS_REQUEST_ANSWER_H

#include "zeus/request.h"

int32_t refuse_with(struct request_refusal *refusal, int32_t status, const char *document);
int32_t refuse_internal_error(struct request_refusal *refusal);               /* 500, plain: what no handler caught */
int32_t refuse_message(struct request_refusal *refusal, const char *message); /* 500 {"message":...} */
int32_t refuse_no_memory(struct request_refusal *refusal);

#endif
