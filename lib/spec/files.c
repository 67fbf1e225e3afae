/* SPDX-License-Identifier: Apache-2.0 */
#include "spec/files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "spec/names.h"

/* Where the part of the path that ends at `end` begins. */
static size_t last_part(const char *path, size_t end) {
    while (end > 0 && path[end - 1] != '/') end--;
    return end;
}

void file_stem(const char *path, char ret_name[KERF_NAME_SIZE]) {
    size_t end = strlen(path);
    if (end > 5 && strcmp(path + end - 5, ".json") == 0) end -= 5;
    size_t start = last_part(path, end);
    if (strcmp(path + start, "config.json") == 0) { /* named after its folder, where that has a name */
        size_t folder = start;
        while (folder > 0 && path[folder - 1] == '/') folder--;
        size_t begin = last_part(path, folder);
        if (strspn(path + begin, ".") < folder - begin) start = begin, end = folder; /* not "", ".", ".." */
    }
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(end - start > 255 ? 255 : end - start), path + start);
    name_copy(ret_name, name);
}

int names_a_file(const char *word) {
    size_t length = strlen(word);
    return strcmp(word, "-") == 0 || strchr(word, '/') || (length > 5 && strcmp(word + length - 5, ".json") == 0) ||
           access(word, F_OK) == 0;
}
