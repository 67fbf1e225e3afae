/* SPDX-License-Identifier: Apache-2.0 */
/* MS CHUNKS: loads for as long as ten of its chunks take, and then runs so many of them, a line each. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int chunk_ms = argc > 1 ? atoi(argv[1]) : 10, chunks = argc > 2 ? atoi(argv[2]) : 5;
    usleep((useconds_t)(10 * chunk_ms * 1000));
    for (int i = 0; i < chunks; i++) {
        usleep((useconds_t)(chunk_ms * 1000));
        printf("%g\n", 1e-3 * chunk_ms);
        fflush(stdout);
    }
    return 0;
}
