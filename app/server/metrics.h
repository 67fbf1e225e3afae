/* SPDX-License-Identifier: Apache-2.0 */
/* What the server counts, for /metrics. */
#ifndef KERF_SERVER_METRICS_H
#define KERF_SERVER_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

struct kerf_text;
struct server;

enum { METRICS_ROUTES = 32, METRICS_CLASSES = 5, METRICS_BUCKETS = 12 };

struct metrics {
    _Atomic uint64_t requests[METRICS_ROUTES][METRICS_CLASSES]; /* by route, and by status / 100 - 1 */
    _Atomic uint64_t seconds[METRICS_BUCKETS + 1];              /* how many took so long; the last: longer */
    _Atomic uint64_t microseconds;                              /* of all together */
    _Atomic uint64_t removed;                                   /* trials that were old */
    _Atomic uint64_t limited;                                   /* requests that were answered 429 */
    _Atomic uint64_t slow;                                      /* connections given up while a request came in */
};

void metrics_note(struct metrics *metrics, int32_t route, int status, double took_s);

#endif
