/* SPDX-License-Identifier: Apache-2.0 */
/* Whole answers to requests that cannot be taken. Each function fills the refusal and returns the code for it, which is
 * KERF_EINVALID but for refuse_no_memory's. */
#ifndef KERF_ZEUS_REQUEST_REFUSAL_H
#define KERF_ZEUS_REQUEST_REFUSAL_H

#include "zeus/request.h"

int32_t refuse_with(struct request_refusal *refusal, int32_t status, const char *document);
int32_t refuse_internal_error(struct request_refusal *refusal);               /* 500, plain: what no handler caught */
int32_t refuse_message(struct request_refusal *refusal, const char *message); /* 500 {"message":...} */
int32_t refuse_no_memory(struct request_refusal *refusal);

#endif
