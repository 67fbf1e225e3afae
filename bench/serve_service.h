/* SPDX-License-Identifier: Apache-2.0 */
/* `kerf serve` as a program of its own, and what it takes of the machine. */
#ifndef KERF_BENCH_SERVE_SERVICE_H
#define KERF_BENCH_SERVE_SERVICE_H

#include <stdint.h>
#include <sys/types.h>

struct service {
    const char *store; /* what --store says */
    pid_t pid;
    int port;
    double start_s; /* from its exec until its socket is open */
};

void service_start(struct service *service);
void service_stop(struct service *service);
double service_resident_mb(const struct service *service); /* 1e6 bytes */
double service_cpu_s(const struct service *service);

void bench_die(const char *what); /* with what errno says */

#endif
