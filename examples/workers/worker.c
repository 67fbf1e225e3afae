/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker for `kerf tune --protocol worker`, as small as possible: it multiplies matrices in blocks, and kerf finds
 * the fastest block. docs/workers.md is the manual of what it reads and writes.
 *
 *     cc -O2 -o worker worker.c
 *     kerf tune --param block=8..256:x2 --protocol worker -- ./worker
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZE = 256 };
static float a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int least(int x, int y) { return x < y ? x : y; }

/* c += a * b for the rows of one block. */
static void multiply_rows(int row, int block) {
    for (int k = 0; k < SIZE; k += block)
        for (int j = 0; j < SIZE; j += block)
            for (int r = row; r < least(row + block, SIZE); r++)
                for (int m = k; m < least(k + block, SIZE); m++)
                    for (int n = j; n < least(j + block, SIZE); n++) c[r][n] += a[r][m] * b[m][n];
}

/* The seconds that it took; with a limit it stops there, and *ret_stopped is 1. */
static double measure(int block, double limit_s, int *ret_stopped) {
    double start_s = now_s();
    memset(c, 0, sizeof c);
    *ret_stopped = 0;
    for (int row = 0; row < SIZE; row += block) {
        multiply_rows(row, block);
        if (limit_s > 0 && now_s() - start_s > limit_s && row + block < SIZE) *ret_stopped = 1;
        if (*ret_stopped) break;
    }
    return now_s() - start_s;
}

/* The number behind "key": in a line of JSON; 0 where there is none. Enough for what kerf writes. */
static double number_of(const char *line, const char *key) {
    const char *place = strstr(line, key);
    return place ? strtod(place + strlen(key), NULL) : 0;
}

int main(void) {
    char line[4096];
    for (int i = 0; i < SIZE; i++) /* what takes long is done once, before it is ready */
        for (int k = 0; k < SIZE; k++) a[i][k] = (float)(i + k) / SIZE, b[i][k] = (float)(i - k) / SIZE;
    puts("{\"ready\":true}");
    fflush(stdout); /* after every line: kerf waits for it */

    while (fgets(line, sizeof line, stdin)) { /* the end of its input ends it */
        int id = (int)number_of(line, "\"id\":"), block = (int)number_of(line, "\"block\":"), stopped;
        double limit_s = number_of(line, "\"limit_s\":");
        if (block < 1) {
            printf("{\"id\":%d,\"error\":\"block must be 1 or more\",\"kind\":\"other\"}\n", id);
        } else {
            double seconds = measure(block, limit_s, &stopped);
            if (stopped)
                printf("{\"id\":%d,\"censored\":%.9g}\n", id, limit_s);
            else
                printf("{\"id\":%d,\"value\":%.9g}\n", id, seconds);
        }
        fflush(stdout);
    }
    return 0;
}
