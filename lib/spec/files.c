/* SPDX-License-Identifier: Apache-2.0 */
#include "spec/files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "spec/names.h"

void file_stem(const char *path, char ret_name[KERF_NAME_SIZE]) {
    size_t end = strlen(path);
    if (end > 12 && strcmp(path + end - 12, "/config.json") == 0)
        end -= 12;
    else if (end > 5 && strcmp(path + end - 5, ".json") == 0)
        end -= 5;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/') start--;
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(end - start > 255 ? 255 : end - start), path + start);
    name_copy(ret_name, name);
}

int names_a_file(const char *word) {
    size_t length = strlen(word);
    return strcmp(word, "-") == 0 || strchr(word, '/') || (length > 5 && strcmp(word + length - 5, ".json") == 0) ||
           access(word, F_OK) == 0;
}
