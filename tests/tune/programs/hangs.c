/* SPDX-License-Identifier: Apache-2.0 */
/* Prints as many samples as it is told, and then nothing more; it never ends by itself. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int samples = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < samples; i++) printf("0.01\n");
    fflush(stdout);
    for (;;) pause();
}
