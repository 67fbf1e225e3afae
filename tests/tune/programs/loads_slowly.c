/* SPDX-License-Identifier: Apache-2.0 */
/* Loads for as long as ten of its chunks take, and then runs five of them, a line each; with an argument they take
 * so many milliseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int chunk_ms = argc > 1 ? atoi(argv[1]) : 10;
    usleep((useconds_t)(10 * chunk_ms * 1000));
    for (int i = 0; i < 5; i++) {
        usleep((useconds_t)(chunk_ms * 1000));
        printf("%g\n", 1e-3 * chunk_ms);
        fflush(stdout);
    }
    return 0;
}
