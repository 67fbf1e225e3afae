/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal: its width, colours and signs, progress and Ctrl-C. */
#include "cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/quantity.h"

int32_t terminal_columns(void) {
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int32_t count = 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) count = size.ws_col;
    if (count == 0 && columns) count = (int32_t)strtol(columns, NULL, 10);
    if (count <= 0) count = 100;
    return count < 40 ? 40 : count;
}

int32_t terminal_height(void) {
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

int32_t terminal_colour(void) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && no_color[0]) return 0;
    if (term && term[0] == 'd') return 0; /* dumb */
    return isatty(STDOUT_FILENO);
}

/* ---- Plain text ------------------------------------------------------------------------------------------- */

/* What kerf itself prints beyond ASCII, and a sign of the same width; signs that stand for parts of a bar differ. */
static const struct {
    const char *sign;
    char instead;
} signs[] = {{"\u2588", '@'}, {"\u2593", '*'}, {"\u2592", '|'}, {"\u2591", '~'}, {"\u2589", '@'},
             {"\u258A", '@'}, {"\u258B", '@'}, {"\u258C", '@'}, {"\u258D", ' '}, {"\u258E", ' '},
             {"\u258F", ' '}, {"\u2580", '"'}, {"\u00B7", '.'}, {"\u2026", '~'}, {"\u00B5", 'u'},
             {"\u00D7", 'x'}, {"\u2212", '-'}, {"\u2013", '-'}, {"\u2014", '-'}};

/* Whether the environment says that text is in UTF-8. */
static int terminal_is_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale == NULL || locale[0] == 0) continue; /* the first that is set decides */
        return strcasestr(locale, "utf-8") != NULL || strcasestr(locale, "utf8") != NULL;
    }
    return 0;
}

void terminal_plain(struct kerf_text *text) {
    if (text->data == NULL || terminal_is_utf8()) return;
    char *to = text->data;
    for (const char *from = text->data, *end = from + text->length; from < end;) {
        size_t length = 1, i = 0;
        while (from + length < end && ((unsigned char)from[length] & 0xC0) == 0x80) length++;
        while (i < sizeof signs / sizeof *signs &&
               !(strlen(signs[i].sign) == length && memcmp(signs[i].sign, from, length) == 0))
            i++;
        *to++ = (unsigned char)*from < 0x80 ? *from : i < sizeof signs / sizeof *signs ? signs[i].instead : '?';
        from += length;
    }
    *to = 0;
    text->length = (size_t)(to - text->data);
}

/* ---- Progress --------------------------------------------------------------------------------------------- */

static const char HINT[] = " (Ctrl-C prints the results so far)";

static int64_t now_ms(void) { return (int64_t)(clock_ticks_s() * 1000); }

/* "; 344.4 s, at most 24.4 % above the shortest" */
static void write_found(const struct terminal_progress *progress, char *buffer, size_t size) {
    struct kerf_text text = {0};
    *buffer = 0;
    if (progress->found_s <= 0 || progress->bound_s <= 0) return;
    quantity_seconds(&text, progress->found_s);
    if (!text.failed)
        snprintf(buffer, size, "; %s, at most %.3g %% above the shortest", text.data,
                 fmax(0, 100 * (progress->found_s / progress->bound_s - 1)));
    kerf_text_free(&text);
}

void terminal_progress_found(void *context, double found_s, double bound_s) {
    struct terminal_progress *progress = context;
    progress->found_s = isfinite(found_s) ? found_s : 0;
    progress->bound_s = bound_s;
}

int32_t terminal_progress(void *context, double done) {
    struct terminal_progress *progress = context;
    if (done > progress->most) progress->most = done; /* a part that is searched anew takes nothing back */
    done = progress->most;
    enum { QUIET_MS = 500, EVERY_MS = 100 };
    int64_t now = now_ms();
    if (progress->began_ms == 0) progress->began_ms = now;
    int64_t spent = now - progress->began_ms;
    if (spent >= QUIET_MS && now - progress->shown_ms >= EVERY_MS && done > 0 && isatty(STDERR_FILENO)) {
        struct kerf_text left = {0};
        quantity_seconds(&left, (double)spent / 1000 * (1 - done) / done);
        struct winsize size;
        const int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
        char found[64];
        write_found(progress, found, sizeof found);
        int length = fprintf(stderr, "\r\033[K%s: %.0f %%, %s left", progress->what, 100 * done,
                             left.failed ? "some time" : left.data);
        length -= (int)strlen("\r\033[K");
        length += fprintf(stderr, "%s", length + (int)strlen(found) < columns ? found : "");
        fputs(length + (int)strlen(HINT) < columns ? HINT : "", stderr);
        fflush(stderr);
        kerf_text_free(&left);
        progress->shown_ms = now;
    }
    return interrupted();
}

void terminal_progress_end(struct terminal_progress *progress) {
    if (progress->shown_ms) fputs("\r\033[K", stderr);
    progress->shown_ms = 0;
}

/* ---- Interrupts ------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t asked;
static int bell[2] = {-1, -1}; /* a pipe that rings for those who wait */

static void ask(int signal) {
    (void)signal;
    int before = errno;
    asked = 1;
    if (write(bell[1], "", 1) < 0) errno = before;
}

void interrupt_catch(void) {
    struct sigaction action = {.sa_handler = ask, .sa_flags = (int)SA_RESETHAND};
    if (pipe2(bell, O_CLOEXEC | O_NONBLOCK) != 0) bell[0] = bell[1] = -1;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* as nohup leaves it */
        sigaction(SIGHUP, &action, NULL);
}

int interrupted(void) { return asked; }

int interrupt_wait(int fd) {
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = bell[0], .events = POLLIN}};
    if (!asked) poll(fds, 2, -1);
    return asked;
}

int interrupt_fd(void) { return bell[0]; }
