/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 4096, EVENTS = 256 };
enum step { REGISTER, PREDICT, REPORT };

struct connection {
    int fd;
    enum step step;
    char job[64], answer[ROOM];
    size_t have;
    long batch_size, trial;
    double asked_s;
};

struct run {
    const struct load *load;
    struct connection *connections;
    double *latencies, cpu_s[3], cpu_before_s;
    int64_t room, requests, failed, cycles, by_step[3];
    uint64_t random;
};

static double clock_of(clockid_t clock) {
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double ticks_s(void) { return clock_of(CLOCK_MONOTONIC); }

static double cpu_s(pid_t server) {
    clockid_t clock;
    return clock_getcpuclockid(server, &clock) == 0 ? clock_of(clock) : 0;
}

static double uniform(struct run *run) {
    run->random ^= run->random << 13, run->random ^= run->random >> 7, run->random ^= run->random << 17;
    return (double)(run->random >> 11) * 0x1p-53;
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void ask(struct run *run, struct connection *connection) {
    char request[2048], body[1024] = "", path[128] = "/report";
    const char *method = "POST";
    if (connection->step == REGISTER) {
        strcpy(path, "/jobs");
        snprintf(body, sizeof body,
                 "{\"job_id\":\"%s\",\"job_id_prefix\":\"\",\"default_batch_size\":64,\"batch_sizes\":[64,128,256,512],"
                 "\"max_power\":300,\"number_of_gpus\":1,\"gpu_model\":\"V100\",\"beta_knob\":null,\"mab_seed\":1%s}",
                 connection->job, run->load->register_with);
    } else if (connection->step == PREDICT) {
        method = "GET";
        snprintf(path, sizeof path, "/jobs/batch_size?job_id=%s", connection->job);
    } else {
        snprintf(body, sizeof body,
                 "{\"job_id\":\"%s\",\"batch_size\":%ld,\"trial_number\":%ld,\"time\":%.3f,\"energy\":%.3f,"
                 "\"metric\":0.9,\"current_epoch\":1}",
                 connection->job, connection->batch_size, connection->trial, 10 + uniform(run),
                 1000 + 100 * uniform(run));
    }
    int length = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s", method,
                          path, strlen(body), body);
    connection->have = 0;
    connection->asked_s = ticks_s();
    if (run->load->connections == 1) run->cpu_before_s = cpu_s(run->load->server);
    if (write(connection->fd, request, (size_t)length) != length) die("write");
}

static long number(const char *text, const char *name) {
    const char *found = strstr(text, name);
    return found ? strtol(found + strlen(name), NULL, 10) : 0;
}

static void note(struct run *run, const struct connection *connection, int failed) {
    if (run->requests == run->room) {
        run->room = run->room ? 2 * run->room : 65536;
        run->latencies = realloc(run->latencies, (size_t)run->room * sizeof *run->latencies);
        if (run->latencies == NULL) die("realloc");
    }
    run->latencies[run->requests++] = ticks_s() - connection->asked_s;
    run->failed += failed;
    run->by_step[connection->step]++;
    if (run->load->connections == 1) {
        double used_s = cpu_s(run->load->server) - run->cpu_before_s, *least_s = &run->cpu_s[connection->step];
        if (run->by_step[connection->step] == 1 || used_s < *least_s) *least_s = used_s;
    }
}

/* 1 once an answer is whole; it is noted, and the next question is asked. */
static int take(struct run *run, struct connection *connection, int goes_on) {
    ssize_t got = read(connection->fd, connection->answer + connection->have, ROOM - 1 - connection->have);
    if (got <= 0) die("the server ended a connection");
    connection->have += (size_t)got;
    connection->answer[connection->have] = 0;
    const char *body = strstr(connection->answer, "\r\n\r\n");
    if (body == NULL) return 0;
    const char *length = strcasestr(connection->answer, "content-length:");
    if (connection->have < (size_t)(body + 4 - connection->answer) + (length ? strtoul(length + 15, NULL, 10) : 0))
        return 0;
    int failed = connection->answer[9] != '2';
    if (connection->step != REGISTER) note(run, connection, failed);
    if (connection->step == PREDICT) {
        connection->batch_size = number(body, "\"batch_size\":");
        connection->trial = number(body, "\"trial_number\":");
    } else if (connection->step == REPORT) {
        run->cycles++;
    }
    connection->step = connection->step == PREDICT ? REPORT : PREDICT;
    if (goes_on) ask(run, connection);
    return 1;
}

static int dial(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) die("connect");
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
        if (run->load->cycles ? run->cycles >= run->load->cycles : ticks_s() > until_s) return;
        for (int i = 0; i < count; i++) take(run, events[i].data.ptr, 1);
    }
}

struct load_result load_run(const struct load *load) {
    struct run run = {.load = load, .random = UINT64_C(88172645463325252)};
    struct load_result result = {0};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    run.connections = calloc((size_t)load->connections, sizeof *run.connections);
    if (epoll < 0 || run.connections == NULL) die("epoll");
    for (int i = 0; i < load->connections; i++) {
        struct connection *connection = &run.connections[i];
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
        connection->fd = dial(load->port);
        connection->step = load->register_with ? REGISTER : PREDICT;
        snprintf(connection->job, sizeof connection->job, "%s%d", load->job, i);
        if (load->register_with) {
            ask(&run, connection);
            while (!take(&run, connection, 0)) {
            }
        }
        epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event);
    }
    double begin_s = ticks_s(), cpu_begin_s = cpu_s(load->server);
    for (int i = 0; i < load->connections; i++) ask(&run, &run.connections[i]);
    loop(&run, epoll, begin_s + load->seconds);
    double took_s = ticks_s() - begin_s, used_s = cpu_s(load->server) - cpu_begin_s;
    for (int i = 0; i < load->connections; i++) close(run.connections[i].fd);
    close(epoll);
    qsort(run.latencies, (size_t)run.requests, sizeof *run.latencies, compare);
    result.requests = run.requests;
    result.failed = run.failed;
    result.requests_per_s = (double)run.requests / took_s;
    result.cpu_ms = 1e3 * used_s / (double)run.requests;
    result.p50_ms = 1e3 * run.latencies[run.requests / 2];
    result.p99_ms = 1e3 * run.latencies[run.requests * 99 / 100];
    result.predict_cpu_ms = 1e3 * run.cpu_s[PREDICT];
    result.report_cpu_ms = 1e3 * run.cpu_s[REPORT];
    free(run.latencies);
    free(run.connections);
    return result;
}
