/* SPDX-License-Identifier: Apache-2.0 */
/* Where the number of a trial comes from: a clock, the system's account of the program, or what the program printed. */
#ifndef KERF_TRIAL_OBJECTIVE_H
#define KERF_TRIAL_OBJECTIVE_H

#include <stddef.h>
#include "trial/trial_slot.h"

/* What a protocol says of the objectives that it can serve. */
#define OBJECTIVE_BIT(objective) (1U << (objective))

/* KERF_EINVALID where the protocol cannot serve the command's objective, or its pattern cannot be read. */
int32_t objective_check(const struct trial_protocol *protocol, struct kerf_trial_runner *runner,
                        struct kerf_error *err);

/* Looks for the number in a line of either stream. */
void objective_line(struct slot *slot, enum program_stream stream, char *line, size_t length, double now_s);

/* The line's own number, for protocols with a sample a line: 1 and *ret_value, or 0. */
int objective_sample(const struct slot *slot, const char *line, size_t length, double *ret_value);

/* Decides the trial of a program that ended with success. */
void objective_over(struct slot *slot);

/* ---- llama-bench (llama_bench_protocol.c) ---------------------------------------------------------------------- */

/* One line of `llama-bench -o jsonl`: one object a test, with samples_ns, avg_ns, avg_ts and the test's settings. */
enum llama_bench_kind { LLAMA_BENCH_NO_RESULT, LLAMA_BENCH_RESULT, LLAMA_BENCH_BAD };

/* Reads the mean of samples_ns (avg_ns where there are none) in seconds, or the number at the path unless that is NULL.
 * With LLAMA_BENCH_BAD why says what is wrong. */
enum llama_bench_kind llama_bench_line(const char *line, size_t length, const char *path, double *ret_value, char *why,
                                       size_t size);

#endif
