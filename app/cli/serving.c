/* SPDX-License-Identifier: Apache-2.0 */
/* A server until a signal ends it. */
#include "cli/serving.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "cli/command.h"

/* ---- The service manager ------------------------------------------------------------------------------------- */

/* Tells systemd, where it started us as Type=notify (sd_notify(3)). */
static void notify(const char *state) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    size_t length = path ? strlen(path) : 0;
    if (length < 2 || length >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@')) return;
    memcpy(to.sun_path, path, length);
    if (path[0] == '@') to.sun_path[0] = 0; /* an abstract socket */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&to, size) < 0) { /* nobody to tell */
    }
    close(fd);
}

/* ---- Signals ------------------------------------------------------------------------------------------------- */

struct signals {
    sigset_t set;
    pthread_t thread;
    struct server *_Atomic server; /* NULL until it has started */
};

/* SIGTERM, SIGINT and SIGHUP, which no other thread takes. Until the server has started, no client got an answer, and a
 * repeated import finds what was stored: the process may end at once. */
static void *wait_for_end(void *context) {
    struct signals *signals = context;
    int number = SIGHUP;
    while (number == SIGHUP)
        if (sigwait(&signals->set, &number) == 0 && number == SIGHUP && signals->server) server_reload(signals->server);
    if (signals->server == NULL) _exit(EXIT_ANSWERED);
    return NULL;
}

static int32_t take_signals(struct signals *signals, struct kerf_error *err) {
    sigemptyset(&signals->set);
    sigaddset(&signals->set, SIGTERM);
    sigaddset(&signals->set, SIGINT);
    sigaddset(&signals->set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals->set, NULL);
    if (pthread_create(&signals->thread, NULL, wait_for_end, signals) == 0) return KERF_OK;
    return kerf_error_set(err, KERF_ENOMEM, "no thread can be started");
}

/* ---- The server ---------------------------------------------------------------------------------------------- */

int serving_run(const struct server_options *how, void (*started)(void *context, int32_t port), void *context) {
    static struct signals signals; /* its thread may outlive a start that failed */
    struct kerf_error err;
    struct server *server;
    if (take_signals(&signals, &err) != KERF_OK) return cli_fail(&err);
    if (server_start(how, &server, &err) != KERF_OK) return cli_fail(&err) == EXIT_USAGE ? EXIT_USAGE : EXIT_FAILED;
    signals.server = server;
    notify("READY=1");
    if (started) started(context, server_port(server));
    pthread_join(signals.thread, NULL);
    notify("STOPPING=1");
    server_stop(server);
    return EXIT_ANSWERED;
}

