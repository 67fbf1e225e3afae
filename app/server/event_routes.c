/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /api/v1/events: server-sent events, so that pages ask again when something has changed and not all the time: "jobs"
 * after a decision or a report of this server, "studies" when a journal has grown. Each has a version, which rises.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "kerf/study.h"
#include "server/exchange.h"
#include "server/service.h"
#include "server/stream.h"

enum { JOURNALS_MAX = 4096 };

/* Changes whenever a journal begins or grows. */
static uint64_t journals_version(void) {
    char path[KERF_STUDY_PATH_SIZE];
    uint64_t version = 0;
    struct dirent *entry;
    struct stat status;
    struct kerf_error err;
    if (kerf_study_folder(path, &err) != KERF_OK) return 0;
    DIR *folder = opendir(path);
    if (folder == NULL) return 0;
    for (int i = 0; i < JOURNALS_MAX && (entry = readdir(folder)) != NULL; i++)
        if (fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode))
            version += (uint64_t)status.st_size + (uint64_t)status.st_ino % 1000003;
    closedir(folder);
    return version;
}

void events_each_second(struct service *service) {
    struct events *events = &service->events;
    if (streams_listeners(service->streams) > 0) {
        uint64_t jobs = events->jobs, journals = journals_version();
        if (jobs != events->told_jobs) streams_tell(service->streams, "jobs", jobs);
        if (journals != events->told_journals) streams_tell(service->streams, "studies", journals);
        events->told_jobs = jobs;
        events->told_journals = journals;
    }
    streams_tick(service->streams);
}

static void listen_to(struct exchange *exchange) {
    struct stream *stream = stream_open(exchange, 1);
    if (stream == NULL) return;
    stream_put(stream, "hello", "{}", 0);
    stream_leave(stream);
}

static const struct route routes[] = {{.method = "GET",
                                       .pattern = "/api/v1/events",
                                       .step = listen_to,
                                       .needs = TOKEN_READ,
                                       .flags = ROUTE_QUICK,
                                       .summary = "Server-sent events: what has changed",
                                       .answer = "text/event-stream",
                                       .statuses = "503 Detail"}};

const struct api events_api = {.routes = routes, .num_routes = sizeof routes / sizeof *routes};
