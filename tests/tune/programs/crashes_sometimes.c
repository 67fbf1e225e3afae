/* SPDX-License-Identifier: Apache-2.0 */
/* HOW N: with N above 2 it crashes as HOW says, else it prints a sample and ends well. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    int is_bad = argc > 2 && atoi(argv[2]) > 2;
    printf("0.25\n");
    fflush(stdout);
    if (!is_bad) return 0;
    if (strcmp(how, "segv") == 0) raise(SIGSEGV);
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strcmp(how, "cuda") == 0)
        fprintf(stderr, "loading\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n");
    if (strcmp(how, "quiet") == 0) return 0;
    fprintf(stderr, "cannot do this\n");
    return 3;
}
