/* SPDX-License-Identifier: Apache-2.0 */
/* A closed loop of clients: each asks for a batch size and reports the run's end, on its own job, over and over. */
#ifndef KERF_BENCH_SERVE_LOAD_H
#define KERF_BENCH_SERVE_LOAD_H

#include "serve_service.h"

enum load_step { LOAD_REGISTER, LOAD_PREDICT, LOAD_EPOCH, LOAD_FINAL, LOAD_STEPS };

struct load {
    const struct service *service;
    int connections, jobs;     /* each connection takes one job after the other of its own; 0 jobs: one for each */
    int epochs;                /* reports before the final one, each answered "keep training" */
    double seconds;            /* how long, */
    int64_t cycles;            /* or how many; 0: as long as that */
    const char *job;           /* "name%d" */
    const char *register_with; /* keys of POST /jobs beside job_id, ",..."; NULL: they are there */
};

struct load_result {
    double requests_per_s, cpu_ms, p50_ms, p99_ms; /* cpu_ms: of the server, for a request */
    double step_cpu_ms[LOAD_STEPS]; /* that a hundredth of 1000 stay below; 0 unless there is one connection */
    int64_t requests, failed;
};

struct load_result load_run(const struct load *load);

/* Connections on which one request was answered, and which stay open: their number, less where files are short. */
int load_be_idle(const struct service *service, int connections);

#endif
