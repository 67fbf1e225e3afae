/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a digit of ranks (1 to 4), a digit of chunks (1 or 2) and the ranks' timer files with NULs between them.
 * What is read makes a timeline in order, and a fit whose numbers are numbers. */
#include <stdio.h>
#include "invariants.h"
#include "trace_checks.h"

enum { RANKS_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char names[RANKS_MAX][96];
    const char *list[RANKS_MAX];
    if (size < 2) return 0;
    int32_t p = 1 + (data[0] + 3) % RANKS_MAX, v = 1 + (data[1] + 1) % 2;
    for (int32_t r = 0; r < p; r++) {
        snprintf(names[r], sizeof names[r], "event_times_PP%d_VPP%d_TPxCPxDP_rank_0_pp_rank_%d_rank_%d.json", p, v, r,
                 r);
        list[r] = names[r];
    }
    check_run(&trace_megatron, list, p, data + 2, size - 2);
    return 0;
}
