/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kerf-llama-clients sees of a llama-server, without a model: GET /health and POST /completion, one connection after
 * the other. An answer has as many tokens as were asked for, each an event; every request is noted in $FAKE_LOG as
 * "PROMPT_TOKENS ANSWER_TOKENS FIRST_TOKEN". It prints its port, and misbehaves as $FAKE_MODE says:
 *
 *     loading N     /health is 503 the first N times
 *     unavailable   a request is answered with 503 and an error
 *     garbage       an event is no JSON;  plain: the answer is not HTTP;  error: an event has an error
 *     closes        the connection ends after one event;  endless: a line has no end
 *     short         one token is missing
 *     silent        a request is read and never answered;  deaf: no connection is accepted
 *     dies          it ends at its second request
 *     trickle       every byte is sent alone;  whole: the answer is in no chunks
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char request[1 << 20];
static const char *mode;
static int requests, healths;

static int is_mode(const char *name) { return strcmp(mode, name) == 0; }

static void send_all(int fd, const char *bytes, size_t length) {
    size_t most = is_mode("trickle") ? 1 : length;
    while (length > 0) {
        ssize_t done = send(fd, bytes, length < most ? length : most, MSG_NOSIGNAL);
        if (done <= 0) return;
        bytes += done;
        length -= (size_t)done;
    }
}

static void put(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(int fd, const char *format, ...) {
    char text[4096], chunk[5000];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (strncmp(text, "HTTP", 4) == 0 || is_mode("whole") || is_mode("plain")) {
        send_all(fd, text, (size_t)length);
    } else {
        int size = snprintf(chunk, sizeof chunk, "%x\r\n%s\r\n", (unsigned)length, text);
        send_all(fd, chunk, (size_t)size);
    }
}

/* 0: it broke off. */
static int read_request(int fd) {
    size_t length = 0;
    for (;;) {
        ssize_t count = recv(fd, request + length, sizeof request - 1 - length, 0);
        if (count <= 0) return 0;
        request[length += (size_t)count] = 0;
        const char *end = strstr(request, "\r\n\r\n"), *size = strstr(request, "Content-Length: ");
        if (end &&
            length >= (size_t)(end + 4 - request) + (size > request && size < end ? strtoul(size + 16, NULL, 10) : 0))
            return 1;
    }
}

static void note(int prompt, int answer, long first) {
    const char *path = getenv("FAKE_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file == NULL) return;
    fprintf(file, "%d %d %ld\n", prompt, answer, first);
    fclose(file);
}

static void answer_completion(int fd) {
    const char *prompt = strstr(request, "\"prompt\":["), *predict = strstr(request, "\"n_predict\":");
    int prompt_tokens = prompt ? 1 : 0, tokens = predict ? atoi(predict + 12) : 0;
    for (const char *c = prompt; c && *c && *c != ']'; c++) prompt_tokens += *c == ',';
    note(prompt_tokens, tokens, prompt ? strtol(prompt + 10, NULL, 10) : -1);
    requests++;
    if (is_mode("silent")) {
        char byte;
        recv(fd, &byte, 1, 0); /* until the client gives up */
        return;
    }
    if (is_mode("dies") && requests == 2) exit(7);
    if (is_mode("unavailable")) {
        put(fd, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n\r\n");
        const char body[] = "{\"error\":{\"code\":503,\"message\":\"no slot\"}}";
        send_all(fd, body, sizeof body - 1);
        return;
    }
    if (is_mode("plain")) {
        put(fd, "220 mail.example ESMTP\r\n");
        return;
    }
    put(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n%s\r\n",
        is_mode("whole") ? "" : "Transfer-Encoding: chunked\r\n");
    if (is_mode("garbage")) put(fd, "data: {\"index\":0,\n\n");
    if (is_mode("error")) put(fd, "data: {\"error\":{\"message\":\"the context is full\"}}\n\n");
    for (int i = 0; is_mode("endless") && i < 1100; i++) put(fd, "%01024d", 0);
    if (is_mode("short")) tokens--;
    for (int i = 0; i < tokens; i++) {
        put(fd, "data: {\"index\":0,\"content\":\"\\u0000x\",\"stop\":false}\n\n");
        if (is_mode("closes")) return;
    }
    put(fd,
        "data: {\"index\":0,\"content\":\"\",\"prompt\":\"\\u0000\",\"stop\":true,\"tokens_predicted\":%d,"
        "\"tokens_evaluated\":%d}\n\n",
        tokens, prompt_tokens);
    if (!is_mode("whole")) send_all(fd, "0\r\n\r\n", 5);
}

static void answer(int fd) {
    if (!read_request(fd)) return;
    if (strncmp(request, "POST /completion ", 17) == 0) {
        answer_completion(fd);
    } else {
        int is_loading = strncmp(mode, "loading ", 8) == 0 && healths < atoi(mode + 8);
        healths++;
        put(fd, "HTTP/1.1 %s\r\nConnection: close\r\n\r\n{}", is_loading ? "503 Service Unavailable" : "200 OK");
    }
}

int main(int argc, char **argv) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    const int yes = 1;
    mode = getenv("FAKE_MODE") ? getenv("FAKE_MODE") : "";
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--port") == 0) address.sin_port = htons((uint16_t)atoi(argv[i + 1]));
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 64) != 0) {
        perror("bind");
        return 1;
    }
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    while (is_mode("deaf")) pause();
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0) return 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        answer(fd);
        close(fd);
    }
}
