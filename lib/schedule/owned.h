/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind the public structures: the same, and the memory that they live in. */
#ifndef KERF_SCHEDULE_OWNED_H
#define KERF_SCHEDULE_OWNED_H

#include "base/arena.h"
#include "kerf/schedule.h"

struct owned_schedule {
    struct kerf_schedule schedule;
    struct arena arena;
};

struct owned_timeline {
    struct kerf_timeline timeline;
    struct arena arena;
};

#endif
