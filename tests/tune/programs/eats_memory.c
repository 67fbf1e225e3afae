/* SPDX-License-Identifier: Apache-2.0 */
/* MIB: takes and touches so much memory, and says so when it cannot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    size_t bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 64) << 20;
    char *memory = malloc(bytes);
    if (memory == NULL) {
        fprintf(stderr, "failed to allocate %zu bytes\n", bytes);
        return 1;
    }
    memset(memory, 1, bytes);
    printf("%d\n", memory[bytes / 2]);
    free(memory);
    return 0;
}
