/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t asked;
static int bell[2] = {-1, -1}; /* a pipe that rings for those who wait */

static void ask(int signal) {
    (void)signal;
    int before = errno;
    asked = 1;
    if (write(bell[1], "", 1) < 0) errno = before;
}

void interrupt_catch(void) {
    struct sigaction action = {.sa_handler = ask, .sa_flags = (int)SA_RESETHAND};
    if (pipe2(bell, O_CLOEXEC | O_NONBLOCK) != 0) bell[0] = bell[1] = -1;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* as nohup leaves it */
        sigaction(SIGHUP, &action, NULL);
}

int interrupted(void) { return asked; }

int interrupt_wait(int fd) {
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = bell[0], .events = POLLIN}};
    if (!asked) poll(fds, 2, -1);
    return asked;
}

int interrupt_fd(void) { return bell[0]; }
