/* SPDX-License-Identifier: Apache-2.0 */
/* Where journals are. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "study/study_journal.h"

int32_t study_folder(char path[STUDY_PATH_SIZE], struct kerf_error *err) {
    const char *own = getenv("KERF_STUDIES"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (own && *own)
        length = snprintf(path, STUDY_PATH_SIZE, "%s", own);
    else if (state && *state == '/')
        length = snprintf(path, STUDY_PATH_SIZE, "%s/kerf/studies", state);
    else if (home && *home)
        length = snprintf(path, STUDY_PATH_SIZE, "%s/.local/state/kerf/studies", home);
    if (length < 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "there is no $HOME to keep studies under; set $KERF_STUDIES, or give --no-journal");
    if (length >= STUDY_PATH_SIZE)
        return kerf_error_set(err, KERF_EINVALID, "the folder of studies has too long a name");
    return KERF_OK;
}

static int newest_first(const void *a, const void *b) {
    return strcmp(*(const char *const *)b, *(const char *const *)a);
}

/* "20261121-213002-5f1c.jsonl" without its ending; NULL for another file. */
static char *id_of(const char *name) {
    static const char ending[] = ".jsonl";
    size_t length = strlen(name);
    if (name[0] == '.' || length < sizeof ending || strcmp(name + length - (sizeof ending - 1), ending) != 0)
        return NULL;
    return strndup(name, length - (sizeof ending - 1));
}

static int32_t add_id(struct string_list *ids, char *id) {
    const char **more = id ? realloc(ids->items, ((size_t)ids->count + 1) * sizeof *more) : NULL;
    if (more == NULL) {
        free(id);
        return KERF_ENOMEM;
    }
    ids->items = more;
    ids->items[ids->count++] = id;
    return KERF_OK;
}

int32_t study_ids(struct string_list *ret_ids, struct kerf_error *err) {
    char path[STUDY_PATH_SIZE];
    struct string_list ids = {0};
    int32_t code = study_folder(path, err);
    if (code != KERF_OK) return code;
    DIR *folder = opendir(path);
    if (folder == NULL && errno != ENOENT) return kerf_error_set(err, KERF_EIO, "%.200s: %s", path, strerror(errno));
    for (struct dirent *entry; folder && code == KERF_OK && (entry = readdir(folder));) {
        char *id = id_of(entry->d_name);
        if (id && add_id(&ids, id) != KERF_OK) code = kerf_error_set(err, KERF_ENOMEM, "not enough memory");
    }
    if (folder) closedir(folder);
    if (code != KERF_OK) {
        study_ids_free(&ids);
        return code;
    }
    if (ids.count > 1) qsort(ids.items, (size_t)ids.count, sizeof *ids.items, newest_first);
    *ret_ids = ids;
    return KERF_OK;
}

void study_ids_free(struct string_list *ids) {
    for (int32_t i = 0; i < ids->count; i++) free((char *)(uintptr_t)ids->items[i]);
    free(ids->items);
    *ids = (struct string_list){0};
}
