/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "serve_load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 4096, EVENTS = 256, SAMPLES = 1000 };
struct connection {
    int fd;
    enum load_step step;
    int at, epoch; /* which job; the reports on its trial so far */
    char job[64], answer[ROOM];
    size_t have;
    long batch_size, trial;
    double asked_s;
};

struct run {
    const struct load *load;
    struct connection *connections;
    double *latencies, cpu_before_s, cpu_s[LOAD_STEPS][SAMPLES];
    int64_t room, requests, failed, cycles, samples[LOAD_STEPS];
    uint64_t random;
};

static double uniform(struct run *run) {
    run->random ^= run->random << 13, run->random ^= run->random >> 7, run->random ^= run->random << 17;
    return (double)(run->random >> 11) * 0x1p-53;
}

static void ask(struct run *run, struct connection *connection) {
    char request[2048], body[1024] = "", path[128] = "/report";
    const char *method = "POST";
    if (connection->step == LOAD_REGISTER) {
        strcpy(path, "/jobs");
        snprintf(body, sizeof body,
                 "{\"job_id\":\"%s\",\"job_id_prefix\":\"\",\"default_batch_size\":64,\"batch_sizes\":[64,128,256,512],"
                 "\"max_power\":300,\"number_of_gpus\":1,\"gpu_model\":\"V100\",\"beta_knob\":null,\"mab_seed\":1%s}",
                 connection->job, run->load->register_with);
    } else if (connection->step == LOAD_PREDICT) {
        method = "GET";
        snprintf(path, sizeof path, "/jobs/batch_size?job_id=%s", connection->job);
    } else {
        snprintf(body, sizeof body,
                 "{\"job_id\":\"%s\",\"batch_size\":%ld,\"trial_number\":%ld,\"time\":%.3f,\"energy\":%.3f,"
                 "\"metric\":%.1f,\"current_epoch\":%d}",
                 connection->job, connection->batch_size, connection->trial, 10 + uniform(run),
                 1000 + 100 * uniform(run), connection->step == LOAD_FINAL ? 0.9 : 0.1, connection->epoch + 1);
    }
    int length = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
                          method, path, strlen(body), body);
    connection->have = 0;
    connection->asked_s = clock_ticks_s();
    if (run->load->connections == 1) run->cpu_before_s = service_cpu_s(run->load->service);
    if (write(connection->fd, request, (size_t)length) != length) bench_die("write");
}

static long number(const char *text, const char *name) {
    const char *found = strstr(text, name);
    return found ? strtol(found + strlen(name), NULL, 10) : 0;
}

static void note(struct run *run, const struct connection *connection, int failed) {
    if (connection->step == LOAD_REGISTER) return;
    if (run->requests == run->room) {
        run->room = run->room ? 2 * run->room : 65536;
        run->latencies = realloc(run->latencies, (size_t)run->room * sizeof *run->latencies);
        if (run->latencies == NULL) bench_die("realloc");
    }
    run->latencies[run->requests++] = clock_ticks_s() - connection->asked_s;
    run->failed += failed;
    int64_t *samples = &run->samples[connection->step];
    if (run->load->connections == 1 && *samples < SAMPLES)
        run->cpu_s[connection->step][(*samples)++] = service_cpu_s(run->load->service) - run->cpu_before_s;
}

static void choose_job(const struct run *run, struct connection *connection) {
    const struct load *load = run->load;
    if (load->jobs && connection->at >= load->jobs) connection->at %= load->connections;
    snprintf(connection->job, sizeof connection->job, "%s%d", load->job, connection->at);
}

static void follow(struct run *run, struct connection *connection) {
    switch (connection->step) {
    case LOAD_PREDICT: connection->epoch = 0; break;
    case LOAD_EPOCH: connection->epoch++; break;
    case LOAD_FINAL:
        run->cycles++;
        if (run->load->jobs) connection->at += run->load->connections;
        choose_job(run, connection);
        connection->step = LOAD_PREDICT;
        return;
    default: connection->step = LOAD_PREDICT; return;
    }
    connection->step = connection->epoch < run->load->epochs ? LOAD_EPOCH : LOAD_FINAL;
}

/* 1 once an answer is whole; it is noted, and the next question is asked. */
static int take(struct run *run, struct connection *connection, int goes_on) {
    ssize_t got = read(connection->fd, connection->answer + connection->have, ROOM - 1 - connection->have);
    if (got <= 0) bench_die("the server ended a connection");
    connection->have += (size_t)got;
    connection->answer[connection->have] = 0;
    const char *body = strstr(connection->answer, "\r\n\r\n");
    if (body == NULL) return 0;
    const char *length = strcasestr(connection->answer, "content-length:");
    if (connection->have < (size_t)(body + 4 - connection->answer) + (length ? strtoul(length + 15, NULL, 10) : 0))
        return 0;
    note(run, connection, connection->answer[9] != '2');
    if (connection->step == LOAD_PREDICT) {
        connection->batch_size = number(body, "\"batch_size\":");
        connection->trial = number(body, "\"trial_number\":");
    }
    follow(run, connection);
    if (goes_on) ask(run, connection);
    return 1;
}

static int dial(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) bench_die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void loop(struct run *run, int epoll, double until_s) {
    struct epoll_event events[EVENTS];
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS, 1000);
        if (run->load->cycles ? run->cycles >= run->load->cycles : clock_ticks_s() > until_s) return;
        for (int i = 0; i < count; i++) take(run, events[i].data.ptr, 1);
    }
}

struct load_result load_run(const struct load *load) {
    struct run run = {.load = load, .random = UINT64_C(88172645463325252)};
    struct load_result result = {0};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    run.connections = calloc((size_t)load->connections, sizeof *run.connections);
    if (epoll < 0 || run.connections == NULL) bench_die("epoll");
    for (int i = 0; i < load->connections; i++) {
        struct connection *connection = &run.connections[i];
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
        connection->fd = dial(load->service->port);
        connection->at = i;
        connection->step = load->register_with ? LOAD_REGISTER : LOAD_PREDICT;
        choose_job(&run, connection);
        if (load->register_with) {
            ask(&run, connection);
            while (!take(&run, connection, 0)) {
            }
        }
        epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event);
    }
    double begin_s = clock_ticks_s(), cpu_begin_s = service_cpu_s(load->service);
    for (int i = 0; i < load->connections; i++) ask(&run, &run.connections[i]);
    loop(&run, epoll, begin_s + load->seconds);
    double took_s = clock_ticks_s() - begin_s, used_s = service_cpu_s(load->service) - cpu_begin_s;
    for (int i = 0; i < load->connections; i++) close(run.connections[i].fd);
    close(epoll);
    qsort(run.latencies, (size_t)run.requests, sizeof *run.latencies, compare);
    result.requests = run.requests;
    result.failed = run.failed;
    result.requests_per_s = (double)run.requests / took_s;
    result.cpu_ms = 1e3 * used_s / (double)run.requests;
    result.p50_ms = 1e3 * run.latencies[run.requests / 2];
    result.p99_ms = 1e3 * run.latencies[run.requests * 99 / 100];
    for (int i = 0; i < LOAD_STEPS; i++) {
        qsort(run.cpu_s[i], (size_t)run.samples[i], sizeof *run.cpu_s[i], compare);
        result.step_cpu_ms[i] = 1e3 * run.cpu_s[i][run.samples[i] / 100];
    }
    free(run.latencies);
    free(run.connections);
    return result;
}

int load_be_idle(const struct service *service, int connections) {
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) bench_die("getrlimit");
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < (rlim_t)connections + 256) connections = (int)limit.rlim_cur - 256;
    for (int i = 0; i < connections; i++) {
        char answer[ROOM];
        int fd = dial(service->port);
        if (write(fd, request, sizeof request - 1) < 0 || read(fd, answer, sizeof answer) <= 0) bench_die("idle");
    }
    return connections;
}
