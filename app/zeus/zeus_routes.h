/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of Zeus's routes; zeus_api.c has the routes. */
#ifndef KERF_ZEUS_ZEUS_ROUTES_H
#define KERF_ZEUS_ZEUS_ROUTES_H

struct exchange;

void zeus_register(struct exchange *exchange); /* POST /jobs */
void zeus_delete(struct exchange *exchange);   /* DELETE /jobs */
void zeus_predict(struct exchange *exchange);  /* GET /jobs/batch_size */
void zeus_report(struct exchange *exchange);   /* POST /report */
void zeus_end(struct exchange *exchange);      /* PATCH /trials */

#endif
