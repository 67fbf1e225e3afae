/* SPDX-License-Identifier: Apache-2.0 */
/* How the server is: what it counts, for /metrics, and whether it can answer, for /readyz. */
#ifndef KERF_SERVER_HEALTH_H
#define KERF_SERVER_HEALTH_H

#include <pthread.h>
#include <stdatomic.h>
#include "server/exchange.h"
#include "server/route.h"

enum { HEALTH_CLASSES = 5, HEALTH_BUCKETS = 12 };

struct health {
    _Atomic uint64_t requests[ROUTER_ROUTES_MAX + 1][HEALTH_CLASSES]; /* by route, and by status / 100 - 1 */
    _Atomic uint64_t seconds[HEALTH_BUCKETS + 1];                     /* how many took so long; the last: longer */
    _Atomic uint64_t microseconds;                                    /* of all together */
    _Atomic uint64_t removed;                                         /* old trials */
    _Atomic uint64_t limited;                                         /* requests that were answered 429 */

    pthread_mutex_t lock; /* of the last check whether the store takes writes */
    double checked_s;     /* clock_ticks_s; 0: never */
    struct kerf_error err;
};

struct health *health_new(void); /* NULL: not enough memory */
struct health *health_free(struct health *health);

/* The answer of the exchange is complete. */
void health_note(struct health *health, const struct exchange *exchange);

#endif
