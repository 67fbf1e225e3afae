/* SPDX-License-Identifier: Apache-2.0 */
/* What every command does: parse its options, write its answer, end with a status. */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error_fill.h"
#include "cli/terminal.h"

int cli_fail(const struct kerf_error *err) {
    char line[sizeof err->file + sizeof err->message + 32];
    kerf_error_format(err, line, sizeof line);
    fprintf(stderr, "kerf: %s\n", line);
    switch (err->code) {
    case KERF_ENOMEM:
    case KERF_EUNSUPPORTED: return EXIT_FAILED;
    case KERF_EINTERRUPTED: return EXIT_INTERRUPTED;
    case KERF_EINFEASIBLE: return EXIT_NO_ANSWER;
    default: return EXIT_USAGE;
    }
}

int cli_parse(const struct cli_command *command, int argc, char **argv, void *values) {
    struct kerf_error err;
    int32_t help = 0;
    if (options_parse(command->table, argc, argv, values, &help, &err) != KERF_OK) {
        options_free(command->table, values);
        return cli_fail(&err);
    }
    if (!help) return -1;
    options_free(command->table, values);
    struct kerf_text text = {0};
    command_help(&text, command->table, terminal_columns(), terminal_colour());
    return output_print(&text);
}

int32_t cli_use_catalogue(const char *folder, struct kerf_error *err) {
    struct stat status;
    if (folder == NULL) return KERF_OK;
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return kerf_error_set(err, KERF_EINVALID, "--catalogue %.200s: no such folder", folder);
    return setenv("KERF_CATALOGUE", folder, 1) == 0 ? KERF_OK : error_no_memory(err, "--catalogue");
}

/* ---- Where answers go ------------------------------------------------------------------------------------------ */

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

int output_is_stdout(const char *path) { return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0; }

/* A standard output that was closed holds a file that cannot be written (main.c). */
static const char *reason(const char *path, int number) {
    return number == EBADF && output_is_stdout(path) ? "it is closed" : strerror(number);
}

static int32_t fail(const char *path, int number, struct kerf_error *err) {
    kerf_error_set(err, KERF_EUNSUPPORTED, "cannot be written: %s", reason(path, number));
    error_set_file(err, output_is_stdout(path) ? "standard output" : path);
    for (char *c = err->file; *c; c++)
        if ((unsigned char)*c < ' ') *c = '?';
    return err->code;
}

int output_print(struct kerf_text *text) {
    struct kerf_error err;
    int32_t code = output_file("-", text, &err);
    kerf_text_free(text);
    return code == KERF_OK ? EXIT_ANSWERED : cli_fail(&err);
}

int32_t output_stream(const struct kerf_text *text, struct kerf_error *err) {
    if (text->failed) return error_no_memory(err, "the answer");
    int number = write_all(STDOUT_FILENO, text->data, text->length);
    if (number == EPIPE) return kerf_error_set(err, KERF_EINTERRUPTED, "nobody reads the answers any more");
    return number == 0 ? KERF_OK : fail("-", number, err);
}

/* A new file beside the one at path, which takes its place once it is whole. */
static int replace_file(const char *path, const struct kerf_text *text, mode_t mode) {
    char temporary[4096];
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= sizeof temporary) return ENAMETOOLONG;
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) return errno;
    int number = write_all(fd, text->data, text->length);
    if (number == 0 && (fchmod(fd, mode) != 0 || fsync(fd) != 0)) number = errno;
    if (close(fd) != 0 && number == 0) number = errno;
    if (number == 0 && rename(temporary, path) != 0) number = errno;
    if (number != 0) unlink(temporary);
    return number;
}

/* A device or a pipe: there is no file to replace. */
static int write_special(const char *path, const struct kerf_text *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    int number = write_all(fd, text->data, text->length);
    if (close(fd) != 0 && number == 0) number = errno;
    return number;
}

int32_t output_file(const char *path, const struct kerf_text *text, struct kerf_error *err) {
    if (output_is_stdout(path)) {
        int32_t code = output_stream(text, err);
        return code == KERF_EINTERRUPTED ? KERF_OK : code;
    }
    if (text->failed) return error_no_memory(err, "the answer");
    struct stat status;
    int number, exists = stat(path, &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) {
        number = write_special(path, text);
    } else {
        mode_t mask = umask(0);
        umask(mask);
        char *target = exists ? realpath(path, NULL) : NULL; /* a link stays one */
        number = replace_file(target ? target : path, text, exists ? status.st_mode & 0777 : 0666 & ~mask);
        free(target);
    }
    return number == 0 ? KERF_OK : fail(path, number, err);
}

int32_t output_check(const char *path, struct kerf_error *err) {
    struct stat status;
    if (output_is_stdout(path)) return KERF_OK;
    int exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) return fail(path, EISDIR, err);
    if (exists && access(path, W_OK) != 0) return fail(path, errno, err);
    if (exists && !S_ISREG(status.st_mode)) return KERF_OK;
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash) slash[slash == folder] = 0;
    int number = folder && access(slash ? folder : ".", W_OK | X_OK) != 0 ? errno : 0;
    free(folder);
    return number ? fail(path, number, err) : KERF_OK;
}

int output_is_special(const char *path) {
    struct stat status;
    return output_is_stdout(path) || (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

int output_is_terminal(const char *path) { return output_is_stdout(path) && isatty(STDOUT_FILENO); }

const char *output_ending(const char *path) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (slash == NULL || dot > slash) ? dot + 1 : "";
}
