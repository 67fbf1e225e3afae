/* SPDX-License-Identifier: Apache-2.0 */
/* Closes its output and lives on; with "worker" it says before that it is ready. */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) puts("{\"ready\":true}");
    fflush(stdout);
    close(STDOUT_FILENO);
    for (;;) pause();
}
