/* SPDX-License-Identifier: Apache-2.0 */
/* What has changed, for pages that show it (event_routes.c). */
#ifndef KERF_SERVER_EVENTS_H
#define KERF_SERVER_EVENTS_H

#include <stdint.h>

struct service;

struct events {
    _Atomic uint64_t jobs; /* requests that changed a job */
    uint64_t told_jobs, told_journals;
};

void events_each_second(struct service *service);

#endif
