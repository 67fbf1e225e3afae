/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main of a fuzz target in an ordinary build: replays every file of the folders given as arguments, and
 * some prefixes of each, which are the half-finished inputs that a corpus of whole ones lacks. The work is
 * bounded by PREFIXES_MAX inputs a file.
 */
#include "invariants.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PREFIXES_MAX = 16 };

static int64_t replayed;

/* Each input is a block of its own length, so that AddressSanitizer sees what is read behind it. */
static void replay(const char *bytes, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (copy == NULL) {
        fprintf(stderr, "not enough memory\n");
        exit(1);
    }
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    replayed++;
}

static int replay_file(const char *path) {
    FILE *file = fopen(path, "rb");
    struct stat status;
    char *bytes = NULL;
    int good = file && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) &&
               (bytes = malloc((size_t)status.st_size + 1)) &&
               fread(bytes, 1, (size_t)status.st_size + 1, file) == (size_t)status.st_size;
    if (good) {
        size_t size = (size_t)status.st_size, step = size / PREFIXES_MAX + 1;
        for (size_t length = 0; length < size; length += step) replay(bytes, length);
        replay(bytes, size);
    } else {
        fprintf(stderr, "%s: not a file that can be read\n", path);
    }
    free(bytes);
    if (file) fclose(file);
    return good;
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int replay_folder(const char *folder) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, alphasort), good = count > 0;
    if (count < 0) fprintf(stderr, "%s: %s\n", folder, strerror(errno));
    if (count == 0) fprintf(stderr, "%s: an empty folder\n", folder);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (good) {
            printf("%s\n", path); /* the last one said is the one at fault when a check aborts */
            fflush(stdout);
            good = replay_file(path);
        }
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    return good;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER...\n", argv[0]);
        return 2;
    }
    for (int i = 1; i < argc; i++)
        if (!replay_folder(argv[i])) return 1;
    printf("replayed %lld inputs\n", (long long)replayed);
    return 0;
}
