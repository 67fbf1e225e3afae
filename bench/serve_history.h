/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that ran for long already, put into a store as an import does. No server may use the store meanwhile. */
#ifndef KERF_BENCH_SERVE_HISTORY_H
#define KERF_BENCH_SERVE_HISTORY_H

#include <stdint.h>

struct history {
    const char *job; /* "name%d" */
    int jobs;
    int64_t trials; /* of each; all ended, on one size */
    int window_size;
};

void history_write(const char *store, const struct history *history);

#endif
