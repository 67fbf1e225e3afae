/* SPDX-License-Identifier: Apache-2.0 */
/* A closed loop of clients: each asks for a batch size and reports the run's end, on its own job, over and over. */
#ifndef KERF_BENCH_SERVE_LOAD_H
#define KERF_BENCH_SERVE_LOAD_H

#include <stdint.h>
#include <sys/types.h>

struct load {
    int port, connections;
    pid_t server;
    double seconds;            /* how long, */
    int64_t cycles;            /* or how many; 0: as long as that */
    const char *job;           /* "name%d": one for each connection */
    const char *register_with; /* keys of POST /jobs beside job_id, ",..."; NULL: they are there */
};

struct load_result {
    double requests_per_s, cpu_ms, p50_ms, p99_ms; /* cpu_ms: of the server, for a request */
    double predict_cpu_ms, report_cpu_ms;          /* the least; 0 unless there is one connection */
    int64_t requests, failed;
};

struct load_result load_run(const struct load *load);

#endif
