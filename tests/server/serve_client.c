/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "zeus/zeus.h"

#pragma weak zeus_api /* a test may be linked without Zeus's API */

enum { ROOM = 1 << 20, PATIENCE_S = 300 };

/* ---- The client --------------------------------------------------------------------------------------------- */

void client_open(struct client *client, int port) { *client = (struct client){.port = port, .fd = -1}; }

static int connect_now(struct client *client) {
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)client->port)};
    int one = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (client->fd >= 0) return 1;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0) return 0;
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (client->buffer_bytes > 0)
        setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &client->buffer_bytes, sizeof client->buffer_bytes);
    if (connect(client->fd, (struct sockaddr *)&address, sizeof address) == 0) return 1;
    close(client->fd);
    client->fd = -1;
    return 0;
}

static void disconnect(struct client *client) {
    if (client->fd >= 0) close(client->fd);
    client->fd = -1;
}

void client_close(struct client *client) {
    disconnect(client);
    free(client->room);
    client->room = NULL;
    client->size = 0;
}

int client_send(struct client *client, const char *bytes, size_t length) {
    if (!connect_now(client)) return 0;
    while (length > 0) {
        ssize_t done = send(client->fd, bytes, length, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            disconnect(client);
            return 0;
        }
        bytes += done, length -= (size_t)done;
    }
    return 1;
}

int client_ask_raw(struct client *client, struct reply *ret_reply, const char *request) {
    int is_head = strncmp(request, "HEAD ", 5) == 0;
    return client_send(client, request, strlen(request)) && client_read(client, is_head, ret_reply) ? ret_reply->status
                                                                                                    : 0;
}

static size_t body_length(const char *headers) {
    const char *found = strcasestr(headers, "\r\ncontent-length:");
    return found ? strtoul(found + 17, NULL, 10) : 0;
}

static int make_room(struct client *client, size_t size) {
    if (size <= client->size) return 1;
    char *room = realloc(client->room, size > ROOM ? size : ROOM);
    if (room) client->room = room, client->size = size > ROOM ? size : ROOM;
    return room != NULL;
}

int client_read(struct client *client, int is_head, struct reply *ret_reply) {
    size_t have = 0, body = 0, want = 0;
    if (client->fd < 0) return 0;
    while (body == 0 || have < want) {
        size_t next = body ? want - have : 1; /* byte by byte to the body */
        ssize_t got = make_room(client, have + next + 1) ? recv(client->fd, client->room + have, next, 0) : -1;
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            disconnect(client);
            return 0;
        }
        have += (size_t)got;
        client->room[have] = 0;
        if (body || have < 4 || memcmp(client->room + have - 4, "\r\n\r\n", 4) != 0) continue;
        body = have;
        snprintf(ret_reply->headers, sizeof ret_reply->headers, "%s", client->room);
        if (strncmp(client->room, "HTTP/1.1 100", 12) == 0) return client_read(client, is_head, ret_reply);
        want = have + (is_head ? 0 : body_length(ret_reply->headers));
    }
    ret_reply->status = atoi(client->room + 9);
    ret_reply->body = client->room + body;
    ret_reply->length = want - body;
    if (strcasestr(ret_reply->headers, "\r\nconnection: close")) disconnect(client);
    return 1;
}

int client_try(struct client *client, const char *method, const char *path, const char *content_type, const char *body,
               size_t length, struct reply *ret_reply) {
    char head[4096];
    int bytes = snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", method, path, client->port);
    if (body && content_type[0])
        bytes += snprintf(head + bytes, sizeof head - (size_t)bytes, "Content-Type: %s\r\n", content_type);
    if (body) bytes += snprintf(head + bytes, sizeof head - (size_t)bytes, "Content-Length: %zu\r\n", length);
    bytes += snprintf(head + bytes, sizeof head - (size_t)bytes, "\r\n");
    return client_send(client, head, (size_t)bytes) && (length == 0 || client_send(client, body, length)) &&
           client_read(client, strcmp(method, "HEAD") == 0, ret_reply);
}

int client_ask(struct client *client, struct reply *ret_reply, const char *method, const char *path, const char *body) {
    if (!client_try(client, method, path, "application/json", body, body ? strlen(body) : 0, ret_reply) &&
        !client_try(client, method, path, "application/json", body, body ? strlen(body) : 0, ret_reply))
        fail_msg("%s %s: no answer", method, path);
    return ret_reply->status;
}

const char *reply_header(const struct reply *reply, const char *name, char *room, size_t size) {
    char key[64];
    snprintf(key, sizeof key, "\r\n%s:", name);
    const char *found = strcasestr(reply->headers, key);
    if (found == NULL) return NULL;
    found += strlen(key);
    found += strspn(found, " ");
    snprintf(room, size, "%.*s", (int)strcspn(found, "\r"), found);
    return room;
}

int64_t reply_integer(const struct reply *reply, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *found = strstr(reply->body, key);
    return found ? strtoll(found + strlen(key), NULL, 10) : -1;
}

/* ---- Servers ------------------------------------------------------------------------------------------------ */

void place_make(struct place *place) {
    *place = (struct place){.program = -1, .log_fd = -1};
    strcpy(place->folder, "/tmp/kerf-serve-XXXXXX");
    if (mkdtemp(place->folder) == NULL) fail_msg("no folder for a test");
    snprintf(place->store, sizeof place->store, "%s/jobs.db", place->folder);
}

struct server_options place_options(const struct place *place, int compat) {
    return (struct server_options){.addition = &zeus_api,
                                   .listen = "127.0.0.1:0",
                                   .store = place->store,
                                   .compat = compat,
                                   .threads = 2,
                                   .connections = 1024,
                                   .cache_mib = 16,
                                   .idle_s = 30,
                                   .request_s = 30,
                                   .write_s = 20};
}

void place_start_with(struct place *place, const struct server_options *options) {
    struct kerf_error err;
    if (server_start(options, &place->server, &err) != KERF_OK) fail_msg("%s", err.message);
    place->port = server_port(place->server);
}

void place_start(struct place *place, int compat) {
    const struct server_options options = place_options(place, compat);
    place_start_with(place, &options);
}

void place_stop(struct place *place) {
    server_stop(place->server);
    place->server = NULL;
}

static void become_program(const struct place *place, int log, long file_bytes, const char *const *more) {
    const char *words[16] = {KERF_PROGRAM, "serve", "--listen", "127.0.0.1:0", "--store", place->store};
    int count = 6;
    while (more && *more && count < 15) words[count++] = *more++;
    if (file_bytes > 0) {
        const struct rlimit limit = {(rlim_t)file_bytes, (rlim_t)file_bytes};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (place->most_files > 0) {
        const struct rlimit limit = {(rlim_t)place->most_files, (rlim_t)place->most_files};
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    dup2(log, STDERR_FILENO);
    execv(KERF_PROGRAM, (char *const *)words);
    _exit(127);
}

static int read_line(int fd, char *line, size_t size) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    size_t have = 0;
    while (have < size - 1 && poll(&one, 1, 1000 * PATIENCE_S) == 1 && read(fd, line + have, 1) == 1 &&
           line[have] != '\n')
        have++;
    line[have] = 0;
    return have > 0;
}

void place_log(struct place *place, const char *words, char *ret_line, size_t size) {
    do {
        if (!read_line(place->log_fd, ret_line, size)) fail_msg("the log does not say '%s'", words);
    } while (strstr(ret_line, words) == NULL);
}

/* It says where it listens, and may say something before that. */
void place_run(struct place *place, long file_bytes, const char *const *more) {
    int ends[2];
    char line[1024];
    if (pipe2(ends, 0) != 0) fail_msg("no pipe");
    place->program = fork();
    if (place->program == 0) {
        close(ends[0]);
        become_program(place, ends[1], file_bytes, more);
    }
    close(ends[1]);
    place->port = 0;
    place->first_line[0] = 0;
    while (place->port == 0 && read_line(ends[0], line, sizeof line)) {
        const char *found = strstr(line, "://"), *port = found ? strchr(found + 3, ':') : NULL;
        if (port && strstr(line, "listening")) place->port = atoi(port + 1);
        if (place->first_line[0] == 0) strcpy(place->first_line, line);
    }
    if (place->keeps_log)
        place->log_fd = ends[0];
    else
        close(ends[0]); /* what it says later is lost: it ignores SIGPIPE */
    if (place->port == 0) fail_msg("kerf serve did not start: %s", place->first_line);
}

int place_end(struct place *place, int signal) {
    int status = -1;
    kill(place->program, signal);
    while (waitpid(place->program, &status, 0) < 0 && errno == EINTR) {
    }
    place->program = -1;
    return status;
}

void place_clear(struct place *place) {
    char command[128];
    if (place->log_fd >= 0) close(place->log_fd);
    place->log_fd = -1;
    if (place->server) place_stop(place);
    if (place->program > 0) place_end(place, SIGKILL);
    snprintf(command, sizeof command, "rm -rf %s", place->folder);
    if (system(command) != 0) print_message("%s is left over\n", place->folder);
}

/* ---- What is asked often ------------------------------------------------------------------------------------ */

int register_job(struct client *client, const char *job_id, const char *sizes, const char *more) {
    char body[2048];
    struct reply reply;
    snprintf(
        body, sizeof body,
        "{\"job_id\":\"%s\",\"job_id_prefix\":\"\",\"batch_sizes\":[%s],\"default_batch_size\":%d,\"max_power\":300,"
        "\"number_of_gpus\":1,\"gpu_model\":\"V100\",\"mab_seed\":1%s}",
        job_id, sizes, atoi(sizes), more);
    return client_ask(client, &reply, "POST", "/jobs", body);
}

int predict(struct client *client, const char *job_id, int64_t *ret_batch_size, int64_t *ret_trial) {
    char path[256];
    struct reply reply;
    snprintf(path, sizeof path, "/jobs/batch_size?job_id=%s", job_id);
    client_ask(client, &reply, "GET", path, NULL);
    *ret_batch_size = reply_integer(&reply, "batch_size");
    *ret_trial = reply_integer(&reply, "trial_number");
    return reply.status;
}

int report(struct client *client, struct reply *reply, const char *job_id, int64_t batch_size, int64_t trial,
           double energy, double metric, int epoch) {
    char body[512];
    snprintf(body, sizeof body,
             "{\"job_id\":\"%s\",\"batch_size\":%" PRId64 ",\"trial_number\":%" PRId64
             ",\"time\":1.0,\"energy\":%.17g,\"metric\":%.17g,\"current_epoch\":%d}",
             job_id, batch_size, trial, energy, metric, epoch);
    return client_ask(client, reply, "POST", "/report", body);
}

int64_t client_metric(struct client *client, const char *name) {
    struct reply reply;
    char key[128];
    if (client_ask(client, &reply, "GET", "/metrics", NULL) != 200) fail_msg("GET /metrics: %d", reply.status);
    snprintf(key, sizeof key, "\n%s ", name);
    const char *found = strstr(reply.body, key);
    if (found == NULL) fail_msg("there is no metric %s", name);
    return strtoll(found + strlen(key), NULL, 10);
}

void client_await_metric(struct client *client, const char *name, int64_t value) {
    enum { PAUSE_MS = 10 };
    int64_t is = -1;
    for (int ms = 0; ms < 1000 * PATIENCE_S && (is = client_metric(client, name)) != value; ms += PAUSE_MS)
        pause_ms(PAUSE_MS);
    if (is != value) fail_msg("%s is %" PRId64 ", and not %" PRId64, name, is, value);
}

void pause_ms(int ms) {
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}
