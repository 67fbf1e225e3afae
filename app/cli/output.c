/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* errno or 0 */
static int write_all(int fd, const char *data, size_t length) {
    while (length > 0) {
        ssize_t done = write(fd, data, length);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        data += done, length -= (size_t)done;
    }
    return 0;
}

static int32_t fail(const char *path, int number, struct kerf_error *err) {
    kerf_error_set(err, KERF_EUNSUPPORTED, "cannot be written: %s", strerror(number));
    snprintf(err->file, sizeof err->file, "%s", path);
    return err->code;
}

int output_print(struct kerf_text *text) {
    struct kerf_error err;
    int32_t code = output_file("-", text, &err);
    kerf_text_free(text);
    return code == KERF_OK ? EXIT_ANSWERED : cli_fail(&err);
}

int32_t output_file(const char *path, const struct kerf_text *text, struct kerf_error *err) {
    if (text->failed) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the answer");
    int number;
    if (strcmp(path, "-") == 0) {
        number = write_all(STDOUT_FILENO, text->data, text->length);
        return number == 0 || number == EPIPE ? KERF_OK : fail("standard output", number, err);
    }
    struct stat status;
    int special = stat(path, &status) == 0 && !S_ISREG(status.st_mode); /* a device or a pipe: no file to replace */
    char temporary[4096];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int fd = special ? open(path, O_WRONLY | O_CLOEXEC) : mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) return fail(path, errno, err);
    number = write_all(fd, text->data, text->length);
    if (!special) {
        mode_t mask = umask(0);
        umask(mask);
        if (number == 0 && (fchmod(fd, 0666 & ~mask) != 0 || fsync(fd) != 0)) number = errno;
    }
    if (close(fd) != 0 && number == 0) number = errno;
    if (!special && number == 0 && rename(temporary, path) != 0) number = errno;
    if (!special && number != 0) unlink(temporary);
    return number == 0 ? KERF_OK : fail(path, number, err);
}
