/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /metrics says of single jobs. A store that answers at once is asked for each answer. One that blocks is asked in
 * a worker, and the answer has what was read after an earlier one: /metrics is needed most while the store hangs, and
 * waits for nothing.
 */
#ifndef KERF_SERVER_JOB_SERIES_H
#define KERF_SERVER_JOB_SERIES_H

#include "kerf/text.h"
#include "server/workers.h"
#include "store/store.h"

struct job_series;

enum { JOB_SERIES_MAX = 1000 }; /* jobs; those behind them, by job_id, are only counted */

struct job_series *job_series_new(void);                           /* NULL: not enough memory */
struct job_series *job_series_free(struct job_series *job_series); /* after the workers; always NULL */

/* workers NULL: the store does not block. */
void job_series_put(struct job_series *job_series, struct store *store, struct workers *workers, struct kerf_text *out);

#endif
