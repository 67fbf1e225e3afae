/* SPDX-License-Identifier: Apache-2.0 */
/* Who is let in: the head of the request, the site that it comes from, the rate of its network, its token. */
#ifndef KERF_SERVER_GATE_H
#define KERF_SERVER_GATE_H

#include "server/exchange.h"

/* When the head is there: what is not let in gets a refusal, and its body is not kept. version: as head_read. */
void gate_look(struct exchange *exchange, const char *version);

/* When the request is whole: 1 after its route was found and it may ask it, or 0 after an answer in its place. */
int gate_pass(struct exchange *exchange);

#endif
