/* SPDX-License-Identifier: Apache-2.0 */
#include "spec/description.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/characters.h"
#include "base/input.h"
#include "spec/catalogue.h"

enum { DESCRIPTION_BYTES_MAX = 16 << 20 };

void name_copy(char name[KERF_NAME_SIZE], const char *text) {
    size_t length = strnlen(text, KERF_NAME_SIZE);
    if (length == KERF_NAME_SIZE) { /* too long; a cut inside a code point would be no text */
        length--;
        while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
    }
    memcpy(name, text, length);
    name[length] = 0;
    utf8_clean(name);
}

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

/* Whether the word is meant as a file: it exists, is "-", or has a slash or ".json". */
static int names_a_file(const char *word) {
    size_t length = strlen(word);
    return strcmp(word, "-") == 0 || strchr(word, '/') || (length > 5 && strcmp(word + length - 5, ".json") == 0) ||
           access(word, F_OK) == 0;
}

int32_t description_parse(const char *json, size_t length, const char *source, description_reader read, void *ret,
                          struct kerf_error *err) {
    struct json_document document;
    struct json_object root;
    char name[KERF_NAME_SIZE];
    file_stem(source, name);
    int32_t code = json_document_parse(&document, json, length, source, &root, err);
    if (code == KERF_OK) code = read(&root, name, ret, err);
    json_document_free(&document);
    return code;
}

int32_t description_load(const char *name_or_file, const char *kind, description_reader read, void *ret,
                         struct kerf_error *err) {
    struct kerf_text text = {0};
    int has_name = 0;
    const char *source = strcmp(name_or_file, "-") == 0 ? "standard input" : name_or_file;
    int32_t code = catalogue_read(kind, name_or_file, &text, &has_name, err);
    if (code == KERF_OK && !has_name)
        code = names_a_file(name_or_file) ? input_read(name_or_file, DESCRIPTION_BYTES_MAX, &text, err)
                                          : catalogue_unknown(kind, name_or_file, err);
    if (code == KERF_OK) code = description_parse(text.data, text.length, source, read, ret, err);
    kerf_text_free(&text);
    return code;
}
