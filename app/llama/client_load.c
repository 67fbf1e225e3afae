/* SPDX-License-Identifier: Apache-2.0 */
#include "client_load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/error_fill.h"
#include "base/random.h"
#include "llama_stream.h"
#include "quantile.h"

static const double HEALTH_TIMEOUT_S = 5;

struct client {
    int fd;          /* -1: it has nothing to do */
    int32_t request; /* its number */
    struct kerf_text out;
    size_t written;
    double sent_s, first_s; /* first_s: 0 until a token came */
    struct llama_stream stream;
};

struct run {
    const struct client_load *load;
    struct client *clients; /* [load->clients] */
    struct pollfd *fds;
    int32_t *prompt_length, *answer_length; /* [load->requests] */
    double *whole_s, *first_s, *token_s;    /* [load->requests] */
    int32_t sent, answered, token_count;
    struct load_result result;
};

/* ---- What is asked ------------------------------------------------------------------------------------------- */

/* Each list is gone through in an order of its own before any of its lengths comes twice. */
static void deal(const struct lengths *lengths, int32_t count, struct pcg64 *rng, int32_t *ret_lengths) {
    int32_t order[LENGTHS_MAX];
    unsigned char taken[LENGTHS_MAX];
    for (int32_t i = 0; i < count; i++) {
        if (i % lengths->count == 0) random_order(rng, lengths->count, order, taken);
        ret_lengths[i] = lengths->of[order[i % lengths->count]];
    }
}

static void write_request(const struct run *run, int32_t number, struct kerf_text *out) {
    const struct client_load *load = run->load;
    struct pcg64 rng = random_seed(load->seed * 1000003 + (uint64_t)number);
    struct kerf_text body = {0};
    kerf_text_add(&body, "{\"prompt\":[");
    for (int32_t i = 0; i < run->prompt_length[number]; i++)
        kerf_text_printf(&body, "%s%u", i ? "," : "", (unsigned)random_to(&rng, (uint32_t)load->vocabulary - 1));
    kerf_text_printf(&body, "],\"n_predict\":%d,\"stream\":true,\"cache_prompt\":false,\"ignore_eos\":true}",
                     (int)run->answer_length[number]);
    kerf_text_clear(out);
    kerf_text_printf(out,
                     "POST /completion HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                     (int)load->port, body.length);
    if (body.failed) out->failed = 1;
    if (!body.failed) kerf_text_write(out, body.data, body.length);
    kerf_text_free(&body);
}

/* ---- A connection -------------------------------------------------------------------------------------------- */

/* A socket that is being connected, or -1. */
static int connect_to(int32_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0) return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 || errno == EINPROGRESS) return fd;
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

static void disconnect(struct client *client) {
    if (client->fd >= 0) close(client->fd);
    client->fd = -1;
}

/* KERF_EIO where the connection broke. */
static int32_t write_out(struct client *client, struct kerf_error *err) {
    while (client->written < client->out.length) {
        ssize_t done =
            send(client->fd, client->out.data + client->written, client->out.length - client->written, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0 && errno == EAGAIN) return KERF_OK;
        if (done < 0)
            return kerf_error_set(err, KERF_EIO, "request %d cannot be sent: %s", (int)client->request + 1,
                                  strerror(errno));
        client->written += (size_t)done;
    }
    return KERF_OK;
}

static int32_t read_in(struct client *client, struct kerf_error *err) {
    char bytes[1 << 16];
    while (!client->stream.is_over) {
        ssize_t count = recv(client->fd, bytes, sizeof bytes, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) break;
        if (count < 0)
            return kerf_error_set(err, KERF_EIO, "request %d: the server's answer broke off: %s",
                                  (int)client->request + 1, strerror(errno));
        if (count == 0)
            llama_stream_end(&client->stream);
        else
            llama_stream_feed(&client->stream, bytes, (size_t)count);
        if (client->first_s == 0 && client->stream.events > 0) client->first_s = clock_ticks_s();
    }
    if (client->stream.fault[0])
        return kerf_error_set(err, KERF_EIO, "request %d: %s", (int)client->request + 1, client->stream.fault);
    return KERF_OK;
}

/* ---- The loop ------------------------------------------------------------------------------------------------ */

static int32_t send_next(struct run *run, struct client *client, struct kerf_error *err) {
    client->request = run->sent;
    write_request(run, run->sent++, &client->out);
    if (client->out.failed) return error_no_memory(err, "a request");
    llama_stream_reset(&client->stream);
    client->written = 0;
    client->first_s = 0;
    client->sent_s = clock_ticks_s();
    client->fd = connect_to(run->load->port);
    if (client->fd < 0)
        return kerf_error_set(err, KERF_EIO, "no connection to 127.0.0.1:%d: %s", (int)run->load->port,
                              strerror(errno));
    return KERF_OK;
}

static int32_t take_answer(struct run *run, struct client *client, struct kerf_error *err) {
    const struct llama_stream *stream = &client->stream;
    const int32_t at = client->request, asked = run->answer_length[at];
    double now_s = clock_ticks_s();
    if (stream->tokens != asked)
        return kerf_error_set(err, KERF_EIO, "request %d: the server generated %lld tokens of %d", (int)at + 1,
                              (long long)stream->tokens, (int)asked);
    run->whole_s[run->answered] = now_s - client->sent_s;
    run->first_s[run->answered++] = client->first_s - client->sent_s;
    if (asked > 1) run->token_s[run->token_count++] = (now_s - client->first_s) / (asked - 1);
    run->result.tokens += stream->tokens;
    run->result.prompt_tokens += stream->prompt_tokens;
    disconnect(client);
    return KERF_OK;
}

static int32_t step(struct run *run, struct client *client, short events, struct kerf_error *err) {
    int32_t code = KERF_OK;
    if (client->fd < 0) return KERF_OK;
    if (events & (POLLOUT | POLLERR | POLLHUP)) code = write_out(client, err);
    if (code == KERF_OK && events & (POLLIN | POLLERR | POLLHUP)) code = read_in(client, err);
    if (code == KERF_OK && client->stream.is_over) {
        code = take_answer(run, client, err);
        if (code == KERF_OK && run->sent < run->load->requests) code = send_next(run, client, err);
    } else if (code == KERF_OK && clock_ticks_s() - client->sent_s > run->load->timeout_s) {
        code = kerf_error_set(err, KERF_EIO, "request %d was not answered within %g s", (int)client->request + 1,
                              run->load->timeout_s);
    }
    return code;
}

static int32_t wait(struct run *run, struct kerf_error *err) {
    double until_s = (double)INFINITY;
    for (int32_t i = 0; i < run->load->clients; i++) {
        const struct client *client = &run->clients[i];
        short events = client->written < client->out.length ? POLLIN | POLLOUT : POLLIN;
        run->fds[i] = (struct pollfd){client->fd, events, 0};
        if (client->fd >= 0) until_s = fmin(until_s, client->sent_s + run->load->timeout_s);
    }
    double left_ms = 1e3 * fmax(0, until_s - clock_ticks_s()) + 1;
    if (poll(run->fds, (nfds_t)run->load->clients, (int)fmin(left_ms, 1e6)) < 0 && errno != EINTR)
        return kerf_error_set(err, KERF_EIO, "poll: %s", strerror(errno));
    return KERF_OK;
}

static int32_t loop(struct run *run, struct kerf_error *err) {
    double start_s = clock_ticks_s();
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < run->load->clients && run->sent < run->load->requests && code == KERF_OK; i++)
        code = send_next(run, &run->clients[i], err);
    while (code == KERF_OK && run->answered < run->load->requests) {
        code = wait(run, err);
        for (int32_t i = 0; i < run->load->clients && code == KERF_OK; i++)
            code = step(run, &run->clients[i], run->fds[i].revents, err);
    }
    run->result.elapsed_s = clock_ticks_s() - start_s;
    return code;
}

/* ---- Its result ---------------------------------------------------------------------------------------------- */

static struct load_times times_of(double *times, int32_t count) {
    return (struct load_times){quantile_of(times, count, 0.5), quantile_of(times, count, 0.95)};
}

static int32_t make(struct run *run, struct kerf_error *err) {
    const struct client_load *load = run->load;
    const size_t clients = (size_t)load->clients, requests = (size_t)load->requests;
    struct pcg64 rng = random_seed(load->seed);
    run->clients = calloc(clients, sizeof *run->clients);
    run->fds = calloc(clients, sizeof *run->fds);
    run->prompt_length = calloc(2 * requests, sizeof *run->prompt_length);
    run->whole_s = calloc(3 * requests, sizeof *run->whole_s);
    if (!run->clients || !run->fds || !run->prompt_length || !run->whole_s) return error_no_memory(err, "the clients");
    for (size_t i = 0; i < clients; i++) run->clients[i].fd = -1;
    run->answer_length = run->prompt_length + requests;
    run->first_s = run->whole_s + requests;
    run->token_s = run->first_s + requests;
    deal(&load->prompts, load->requests, &rng, run->prompt_length);
    deal(&load->answers, load->requests, &rng, run->answer_length);
    return KERF_OK;
}

static void give_back(struct run *run) {
    for (int32_t i = 0; run->clients && i < run->load->clients; i++) {
        disconnect(&run->clients[i]);
        kerf_text_free(&run->clients[i].out);
        llama_stream_free(&run->clients[i].stream);
    }
    free(run->clients);
    free(run->fds);
    free(run->prompt_length);
    free(run->whole_s);
}

int32_t client_load_run(const struct client_load *load, struct load_result *ret_result, struct kerf_error *err) {
    struct run run = {.load = load};
    int32_t code = make(&run, err);
    if (code == KERF_OK) code = loop(&run, err);
    if (code == KERF_OK) {
        run.result.whole = times_of(run.whole_s, run.answered);
        run.result.first = times_of(run.first_s, run.answered);
        run.result.has_tokens_between = run.token_count > 0;
        if (run.token_count > 0) run.result.token = times_of(run.token_s, run.token_count);
        *ret_result = run.result;
    }
    give_back(&run);
    return code;
}

/* ---- Health -------------------------------------------------------------------------------------------------- */

int32_t client_load_health(const struct client_load *load, struct kerf_error *err) {
    struct client client = {.fd = connect_to(load->port)};
    const double until_s = clock_ticks_s() + HEALTH_TIMEOUT_S;
    int32_t code = KERF_OK, status = 0;
    kerf_text_printf(&client.out, "GET /health HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n",
                     (int)load->port);
    if (client.fd < 0)
        code = kerf_error_set(err, KERF_EIO, "no connection to 127.0.0.1:%d: %s", (int)load->port, strerror(errno));
    while (code == KERF_OK && status == 0) {
        short events = client.written < client.out.length ? POLLIN | POLLOUT : POLLIN;
        struct pollfd fd = {client.fd, events, 0};
        double left_ms = 1e3 * (until_s - clock_ticks_s());
        if (left_ms <= 0) {
            code = kerf_error_set(err, KERF_EIO, "/health was not answered within %g s", HEALTH_TIMEOUT_S);
            break;
        }
        if (poll(&fd, 1, (int)left_ms + 1) <= 0) continue;
        code = write_out(&client, err);
        if (code == KERF_OK && fd.revents & ~POLLOUT) read_in(&client, NULL); /* its body is no stream of events */
        status = client.stream.status;
        if (code == KERF_OK && status == 0 && client.stream.is_over)
            code = kerf_error_set(err, KERF_EIO, "/health: %s", client.stream.fault);
    }
    if (code == KERF_OK && status != 200) code = kerf_error_set(err, KERF_EIO, "/health is answered with %d", status);
    disconnect(&client);
    kerf_text_free(&client.out);
    llama_stream_free(&client.stream);
    return code;
}
