/* SPDX-License-Identifier: Apache-2.0 */
/* Many independent tasks on a few threads. */
#ifndef KERF_BASE_THREADS_H
#define KERF_BASE_THREADS_H

#include <stddef.h>
#include <stdint.h>

enum { THREADS_MAX = 256 }; /* more are not used */

/* One task. worker is below the number of threads and is used by one thread at a time, so that it can pick
 * scratch memory. */
typedef void (*threads_task)(void *context, size_t task, int32_t worker);

/* Processors that this process may use, at least 1. */
int32_t threads_available(void);

/* Runs task 0 .. num_tasks-1, each once, started in this order, on up to `threads` threads (at least 1), the
 * caller's among them; returns when all are done. Where threads cannot be had it goes on with those there are. */
void threads_run(int32_t threads, size_t num_tasks, threads_task task, void *context);

#endif
