/* SPDX-License-Identifier: Apache-2.0 */
/* One line of `llama-bench -o jsonl`: one object a test, with samples_ns, avg_ns, avg_ts and the test's settings. */
#ifndef KERF_TRIAL_LLAMA_BENCH_PROTOCOL_H
#define KERF_TRIAL_LLAMA_BENCH_PROTOCOL_H

#include <stddef.h>

enum llama_bench_kind { LLAMA_BENCH_NO_RESULT, LLAMA_BENCH_RESULT, LLAMA_BENCH_BAD };

/* Reads the mean of samples_ns (avg_ns where there are none) in seconds, or the number at the path unless that is NULL.
 * With LLAMA_BENCH_BAD why says what is wrong. */
enum llama_bench_kind llama_bench_line(const char *line, size_t length, const char *path, double *ret_value, char *why,
                                       size_t size);

#endif
