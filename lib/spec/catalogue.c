/* SPDX-License-Identifier: Apache-2.0 */
/* Where descriptions are found: the catalogue and files. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/characters.h"
#include "base/error_fill.h"
#include "base/input.h"
#include "spec/description.h"

enum { ENTRY_BYTES_MAX = 16 << 20, ENTRIES_MAX = 4096 };

struct catalogue {
    struct kerf_catalogue shown;
    struct arena arena;
    struct kerf_catalogue_entry *entries; /* room for ENTRIES_MAX */
};

static const struct kerf_catalogue_entry *in_library(const char *kind) {
    if (strcmp(kind, "models") == 0) return catalogue_models;
    if (strcmp(kind, "stacks") == 0) return catalogue_stacks;
    assert(strcmp(kind, "systems") == 0);
    return catalogue_systems;
}

/* The folders with models/ and systems/ of their own, in the order in which a name is looked for: `which` counts from
 * 0. Returns 0 after the last; a folder that no variable names is empty. */
enum { PATH_SIZE = 4096, INSTALLED = 2, FOLDERS };
static int data_folder(int which, char path[PATH_SIZE]) {
    const char *own = getenv("XDG_DATA_HOME"), *home = getenv("HOME"), *first = getenv("KERF_CATALOGUE");
    const char *installed = getenv("KERF_DATA_DIR");
    path[0] = 0;
    switch (which) {
    case 0: snprintf(path, PATH_SIZE, "%s", first ? first : ""); return 1;
    case 1:
        if (own && own[0])
            snprintf(path, PATH_SIZE, "%s/kerf", own);
        else if (home && home[0])
            snprintf(path, PATH_SIZE, "%s/.local/share/kerf", home);
        return 1;
    case INSTALLED: snprintf(path, PATH_SIZE, "%s", installed && installed[0] ? installed : KERF_DATA_DIR); return 1;
    default: return 0;
    }
}

static const struct kerf_catalogue_entry *find(const struct kerf_catalogue_entry *entries, const char *name) {
    for (; entries->name; entries++)
        if (strcmp(entries->name, name) == 0) return entries;
    return NULL;
}

/* ---- All of it -------------------------------------------------------------------------------------------- */

static int is_json(const struct dirent *file) {
    size_t length = strlen(file->d_name);
    return file->d_name[0] != '.' && length > 5 && strcmp(file->d_name + length - 5, ".json") == 0;
}

static int has_name(const struct catalogue *catalogue, const char *name) {
    for (size_t i = 0; i < catalogue->shown.count; i++)
        if (strcmp(catalogue->entries[i].name, name) == 0) return 1;
    return 0;
}

static int32_t add_file(struct catalogue *catalogue, const char *folder, const char *file, struct kerf_error *err) {
    struct kerf_text text = {0};
    char *name = arena_copy(&catalogue->arena, file, strlen(file) - 5);
    char *path = arena_printf(&catalogue->arena, "%s/%s", folder, file);
    if (name == NULL || path == NULL) return error_no_memory(err, "the catalogue");
    if (has_name(catalogue, name) || catalogue->shown.count == ENTRIES_MAX) return KERF_OK;
    int32_t code = input_read(path, ENTRY_BYTES_MAX, &text, err);
    char *json = code == KERF_OK ? arena_copy(&catalogue->arena, text.data ? text.data : "", text.length) : NULL;
    if (code == KERF_OK && json == NULL) code = error_no_memory(err, "the catalogue");
    if (code == KERF_OK)
        catalogue->entries[catalogue->shown.count++] = (struct kerf_catalogue_entry){name, json, text.length};
    kerf_text_free(&text);
    return code;
}

/* A folder that is not there holds nothing: most libraries are used where they were built. */
static int32_t add_folder(struct catalogue *catalogue, const char *folder, struct kerf_error *err) {
    struct dirent **files = NULL;
    int count = scandir(folder, &files, is_json, versionsort);
    int32_t code = KERF_OK;
    for (int i = 0; i < count; i++) {
        if (code == KERF_OK) code = add_file(catalogue, folder, files[i]->d_name, err);
        free(files[i]);
    }
    free(files);
    return code;
}

static int32_t add_folders(struct catalogue *catalogue, const char *kind, struct kerf_error *err) {
    char path[PATH_SIZE];
    int32_t code = KERF_OK;
    for (int i = 0; code == KERF_OK && data_folder(i, path); i++) {
        if (path[0] == 0) continue;
        char *folder = arena_printf(&catalogue->arena, "%s/%s", path, kind);
        if (folder == NULL) return error_no_memory(err, "the catalogue");
        code = add_folder(catalogue, folder, err);
    }
    return code;
}

int32_t kerf_catalogue_list(const char *kind, struct kerf_catalogue **ret_catalogue, struct kerf_error *err) {
    struct catalogue *catalogue = calloc(1, sizeof *catalogue);
    if (catalogue == NULL) return error_no_memory(err, "the catalogue");
    catalogue->entries = arena_alloc(&catalogue->arena, ENTRIES_MAX, sizeof *catalogue->entries);
    catalogue->shown.entries = catalogue->entries;
    int32_t code = catalogue->entries ? KERF_OK : error_no_memory(err, "the catalogue");
    for (const struct kerf_catalogue_entry *entry = in_library(kind); code == KERF_OK && entry->name; entry++)
        catalogue->entries[catalogue->shown.count++] = *entry;
    if (code == KERF_OK) code = add_folders(catalogue, kind, err);
    if (code == KERF_OK)
        *ret_catalogue = &catalogue->shown;
    else
        kerf_catalogue_free(&catalogue->shown);
    return code;
}

struct kerf_catalogue *kerf_catalogue_free(struct kerf_catalogue *shown) {
    struct catalogue *catalogue = (void *)shown;
    if (catalogue == NULL) return NULL;
    arena_free(&catalogue->arena);
    free(catalogue);
    return NULL;
}

/* ---- One of them ------------------------------------------------------------------------------------------ */

/* KERF_EUNKNOWN: "no model or file 'gpt4'; did you mean gpt3?" */
static int32_t catalogue_unknown(const char *kind, const char *name, struct kerf_error *err) {
    struct kerf_catalogue *all = NULL;
    const char *names[ENTRIES_MAX], *nearest = NULL;
    if (kerf_catalogue_list(kind, &all, NULL) == KERF_OK) {
        assert(all && all->count <= ENTRIES_MAX);
        for (size_t i = 0; i < all->count; i++) names[i] = all->entries[i].name;
        nearest = nearest_name(name, names, all->count);
    }
    int what = (int)strlen(kind) - 1; /* "model" of "models" */
    kerf_error_set(err, KERF_EUNKNOWN, "no %.*s or file '%.200s'; %s%s%s`kerf %s` lists the names", what, kind, name,
                   nearest ? "did you mean " : "", nearest ? nearest : "", nearest ? "? " : "", kind);
    kerf_catalogue_free(all);
    return KERF_EUNKNOWN;
}

/* The first file of this name in the folders from `first` to before `end`; 0 where there is none. */
static int find_file(const char *kind, const char *name, int first, int end, char ret_path[PATH_SIZE]) {
    char folder[PATH_SIZE];
    for (int i = first; i < end && data_folder(i, folder); i++) {
        if (folder[0] == 0) continue;
        int length = snprintf(ret_path, PATH_SIZE, "%s/%s/%s.json", folder, kind, name);
        if (length < PATH_SIZE && access(ret_path, F_OK) == 0) return 1;
    }
    return 0;
}

/* A file of the user's with a name of kerf's own would be ignored or would change its numbers: neither in silence. */
static int32_t check_own(const char *kind, const struct kerf_catalogue_entry *entry, struct kerf_error *err) {
    char path[PATH_SIZE];
    struct kerf_text text = {0};
    if (!find_file(kind, entry->name, 0, INSTALLED, path)) return KERF_OK;
    int32_t code = input_read(path, ENTRY_BYTES_MAX, &text, err);
    if (code == KERF_OK && (text.length != entry->length || memcmp(text.data, entry->json, text.length) != 0))
        code = kerf_error_set(err, KERF_EINVALID,
                              "'%.64s' is a name of kerf's own, and of %.200s too: rename that file, or give its path",
                              entry->name, path);
    kerf_text_free(&text);
    return code;
}

/* Adds the text of this name ("models", "systems") to text, and says in *ret_found whether there is one. */
static int32_t catalogue_read(const char *kind, const char *name, struct kerf_text *text, int *ret_found,
                              struct kerf_error *err) {
    char path[PATH_SIZE];
    const struct kerf_catalogue_entry *entry = find(in_library(kind), name);
    *ret_found = entry != NULL;
    if (name[0] == 0 || name[0] == '.' || strchr(name, '/')) return KERF_OK;
    if (entry) {
        int32_t code = check_own(kind, entry, err);
        if (code != KERF_OK) return code;
        kerf_text_write(text, entry->json, entry->length);
        return text->failed ? error_no_memory(err, "the catalogue") : KERF_OK;
    }
    *ret_found = find_file(kind, name, 0, FOLDERS, path);
    return *ret_found ? input_read(path, ENTRY_BYTES_MAX, text, err) : KERF_OK;
}

/* ---- Descriptions ------------------------------------------------------------------------------------------------ */

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
