/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of glibc_names.h, and what Debian's libjansson.a and libz.a, which are built for glibc with fortified
 * calls, need of glibc: the checks of sizes that the compiler knew are left out. */
#include "glibc_names.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int __snprintf_chk(char *out, size_t size, int flag, size_t known, const char *format, ...);
int __vsnprintf_chk(char *out, size_t size, int flag, size_t known, const char *format, va_list values);
char *__strncpy_chk(char *out, const char *text, size_t size, size_t known);

int close_range(unsigned first, unsigned last, int flags) { return (int)syscall(SYS_close_range, first, last, flags); }

const char *sigabbrev_np(int signal) {
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGHUP, "HUP"},   {SIGINT, "INT"},   {SIGQUIT, "QUIT"}, {SIGILL, "ILL"},   {SIGTRAP, "TRAP"},
                 {SIGABRT, "ABRT"}, {SIGBUS, "BUS"},   {SIGFPE, "FPE"},   {SIGKILL, "KILL"}, {SIGUSR1, "USR1"},
                 {SIGSEGV, "SEGV"}, {SIGUSR2, "USR2"}, {SIGPIPE, "PIPE"}, {SIGALRM, "ALRM"}, {SIGTERM, "TERM"},
                 {SIGXCPU, "XCPU"}, {SIGXFSZ, "XFSZ"}, {SIGSYS, "SYS"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == signal) return names[i].name;
    return NULL;
}

int __vsnprintf_chk(char *out, size_t size, int flag, size_t known, const char *format, va_list values) {
    (void)flag, (void)known;
    return vsnprintf(out, size, format, values);
}

int __snprintf_chk(char *out, size_t size, int flag, size_t known, const char *format, ...) {
    va_list values;
    (void)flag, (void)known;
    va_start(values, format);
    int length = vsnprintf(out, size, format, values);
    va_end(values);
    return length;
}

char *__strncpy_chk(char *out, const char *text, size_t size, size_t known) {
    (void)known;
    return strncpy(out, text, size);
}
