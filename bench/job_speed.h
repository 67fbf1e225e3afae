/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_BENCH_JOB_SPEED_H
#define KERF_BENCH_JOB_SPEED_H

/* Prints the time of a request for a batch size and a final report together. */
void measure_decisions(void);

#endif
