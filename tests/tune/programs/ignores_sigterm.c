/* SPDX-License-Identifier: Apache-2.0 */
/* Does not end when it is asked to, and neither does its child. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    fork();
    printf("0.01\n");
    fflush(stdout);
    for (;;) pause();
}
