/* SPDX-License-Identifier: Apache-2.0 */
/* Forks a child that forks a grandchild, which spins, and ends at once. With "session" they leave the session, with
 * "unmarked" also what they were started with. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    int ends[2];
    char byte;
    if (strcmp(how, "spin") == 0)
        for (volatile unsigned i = 0;; i++) {
        }
    if (pipe(ends) != 0) return 1;
    if (fork() == 0) {
        if (*how) setsid();
        if (fork() > 0) _exit(0);
        char *words[] = {argv[0], (char[]){"spin"}, NULL}, *nothing[] = {NULL};
        if (write(ends[1], "x", 1) != 1) _exit(1);
        if (strcmp(how, "unmarked") == 0) execve("/proc/self/exe", words, nothing);
        for (volatile unsigned i = 0;; i++) {
        }
    }
    close(ends[1]);
    if (read(ends[0], &byte, 1) < 0) return 1; /* until it spins */
    printf("0.5\n");
    return 0;
}
