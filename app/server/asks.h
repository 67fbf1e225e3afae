/* SPDX-License-Identifier: Apache-2.0 */
/* What is being computed: how many requests wait for it, and the questions that answer as streams (ask_routes.c). */
#ifndef KERF_SERVER_ASKS_H
#define KERF_SERVER_ASKS_H

#include <pthread.h>
#include <stdint.h>

enum { ASKS_WAITING_MAX = 64 };

struct ask;

struct asks { /* zeros at first, but for the lock */
    pthread_mutex_t lock;
    struct ask *first;
    uint64_t last; /* number */
    _Atomic int waiting;
};

#endif
