/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a digit of files (1 to 4) and as many profiler traces with NULs between them. What is read makes a
 * timeline in order, and a fit whose numbers are numbers. */
#include "invariants.h"
#include "trace_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"rank0.json", "rank1.json", "rank2.json", "trace.json"};
    if (size < 1) return 0;
    check_run(&trace_torch, names, 1 + (data[0] + 3) % 4, data + 1, size - 1);
    return 0;
}
