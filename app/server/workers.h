/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that may wait: for a store that answers only after a while (store_methods.blocks). */
#ifndef KERF_SERVER_WORKERS_H
#define KERF_SERVER_WORKERS_H

#include "kerf/error.h"

struct workers;

struct work { /* part of what it is about; in one queue at a time */
    void (*run)(struct work *work);
    struct work *next;
};

int32_t workers_start(int32_t threads, struct workers **ret_workers, struct kerf_error *err);
struct workers *workers_stop(struct workers *workers); /* always NULL; nothing may be queued any more */

/* One of the threads calls work->run(work), first come, first served. */
void workers_add(struct workers *workers, struct work *work);

#endif
