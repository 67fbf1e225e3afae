/* SPDX-License-Identifier: Apache-2.0 */
#include "spec/catalogue.h"

#include <string.h>

static size_t count(const struct kerf_catalogue_entry *list) {
    size_t n = 0;
    while (list[n].name) n++;
    return n;
}

const struct kerf_catalogue_entry *kerf_catalogue_models(size_t *ret_count) {
    *ret_count = count(catalogue_models);
    return catalogue_models;
}

const struct kerf_catalogue_entry *kerf_catalogue_systems(size_t *ret_count) {
    *ret_count = count(catalogue_systems);
    return catalogue_systems;
}

const struct kerf_catalogue_entry *catalogue_find(const struct kerf_catalogue_entry *list, const char *name) {
    for (; list->name; list++)
        if (strcmp(list->name, name) == 0) return list;
    return NULL;
}

int32_t catalogue_unknown(const struct kerf_catalogue_entry *list, const char *what, const char *name,
                          struct kerf_error *err) {
    enum { MOST = 256 };
    const char *names[MOST];
    size_t n = 0;
    for (; list[n].name && n < MOST; n++) names[n] = list[n].name;
    const char *nearest = kerf_text_nearest(name, names, n);
    return kerf_error_set(err, KERF_EUNKNOWN,
                          "no %s or file '%.200s'; %s%s%s`kerf %ss` lists those that come with kerf", what, name,
                          nearest ? "did you mean " : "", nearest ? nearest : "", nearest ? "? " : "", what);
}
