/* SPDX-License-Identifier: Apache-2.0 */
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/characters.h"
#include "base/error_fill.h"

static int32_t fail(const char *path, const char *what, struct kerf_error *err) {
    kerf_error_set(err, KERF_EIO, "%s", what);
    error_set_file(err, path);
    return KERF_EIO;
}

static int32_t too_large(const char *path, size_t limit, struct kerf_error *err) {
    kerf_error_set(err, KERF_EIO, "larger than %zu MiB, the limit for such a file; is it the right file?", limit >> 20);
    error_set_file(err, path);
    return KERF_EIO;
}

static int32_t read_all(int fd, const char *path, size_t limit, struct kerf_text *text, struct kerf_error *err) {
    char chunk[16384];
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(path, errno == EBADF ? "it is closed" : strerror(errno), err);
        if (got == 0) return text->failed ? fail(path, "not enough memory to read it", err) : KERF_OK;
        if (text->length + (size_t)got > limit) return too_large(path, limit, err);
        kerf_text_write(text, chunk, (size_t)got);
    }
}

int32_t input_read(const char *path, size_t limit, struct kerf_text *text, struct kerf_error *err) {
    if (strcmp(path, "-") == 0) return read_all(STDIN_FILENO, "standard input", limit, text, err);
    if (*path == 0) return kerf_error_set(err, KERF_EIO, "the name of a file is empty");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return fail(path, errno == ENOENT ? "no such file" : strerror(errno), err);
    struct stat status;
    int32_t code;
    if (fstat(fd, &status) != 0)
        code = fail(path, strerror(errno), err);
    else if (S_ISDIR(status.st_mode))
        code = fail(path, "a folder; name a file in it", err);
    else if (S_ISREG(status.st_mode) && status.st_size > (off_t)limit)
        code = too_large(path, limit, err);
    else
        code = read_all(fd, path, limit, text, err);
    close(fd);
    return code;
}
