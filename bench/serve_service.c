/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "serve_service.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double clock_of(clockid_t clock) {
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double service_cpu_s(const struct service *service) {
    clockid_t clock;
    return clock_getcpuclockid(service->pid, &clock) == 0 ? clock_of(clock) : 0;
}

void bench_die(const char *what) {
    perror(what);
    exit(1);
}

/* Its first line says where it listens. */
void service_start(struct service *service) {
    char line[1024] = "";
    size_t have = 0;
    int ends[2];
    double begin_s = clock_ticks_s();
    if (pipe(ends) != 0) bench_die("pipe");
    service->pid = fork();
    if (service->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* when this program is interrupted */
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]), close(ends[1]);
        execl(KERF_PROGRAM, KERF_PROGRAM, "serve", "--listen", "127.0.0.1:0", "--store", service->store,
              "--idle-timeout", "3600", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while (have < sizeof line - 1 && read(ends[0], line + have, 1) == 1 && line[have] != '\n') line[++have] = 0;
    close(ends[0]);
    service->start_s = clock_ticks_s() - begin_s;
    const char *found = strstr(line, "http://127.0.0.1:");
    service->port = found ? atoi(found + 17) : 0;
    if (service->port == 0) {
        fprintf(stderr, "kerf serve did not start: %s\n", line);
        exit(1);
    }
}

void service_stop(struct service *service) {
    kill(service->pid, SIGTERM);
    waitpid(service->pid, NULL, 0);
}

double service_resident_mb(const struct service *service) {
    char path[64], line[256];
    double kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)service->pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0) kib = atof(line + 6);
    if (file) fclose(file);
    return kib * 1024 / 1e6;
}
