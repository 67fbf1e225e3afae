/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "cli/interrupt.h"
#include "kerf/text.h"

int32_t terminal_columns(void) {
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int32_t count = 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) count = size.ws_col;
    if (count == 0 && columns) count = (int32_t)strtol(columns, NULL, 10);
    if (count <= 0) count = 100;
    return count < 20 ? 20 : count;
}

int32_t terminal_colour(void) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && no_color[0]) return 0;
    if (term && term[0] == 'd') return 0; /* dumb */
    return isatty(STDOUT_FILENO);
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int32_t terminal_progress(void *context, double done) {
    struct terminal_progress *progress = context;
    enum { QUIET_MS = 500 };
    int64_t now = now_ms();
    if (progress->began_ms == 0) progress->began_ms = now;
    int64_t spent = now - progress->began_ms;
    if (spent >= QUIET_MS && done > 0 && isatty(STDERR_FILENO)) {
        struct kerf_text left = {0};
        kerf_text_seconds(&left, (double)spent / 1000 * (1 - done) / done);
        fprintf(stderr, "\r\033[K%s: %.0f %%, %s left (Ctrl-C prints what is known)", progress->what, 100 * done,
                left.failed ? "some time" : left.data);
        fflush(stderr);
        kerf_text_free(&left);
        progress->shown = 1;
    }
    return interrupted();
}

void terminal_progress_end(struct terminal_progress *progress) {
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = 0;
}
