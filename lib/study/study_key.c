/* SPDX-License-Identifier: Apache-2.0 */
/* Which studies measured the same thing: FNV-1a over the command, the files that it names, the objective, the variables
 * of the environment that change how fast many programs are, and the machine. It only has to tell apart what one user
 * has; nothing is protected by it. */
#include "study/study_key.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FNV_BASIS UINT64_C(14695981039346656037)

struct key {
    uint64_t hash;
};

static void add(struct key *key, const char *text) {
    const char *c = text ? text : "";
    do {
        key->hash = (key->hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    } while (*c++); /* with the NUL, so that "a", "bc" differs from "ab", "c" */
}

/* A program rebuilt or a model replaced is another one. */
static void add_file(struct key *key, const char *path) {
    struct stat status;
    char text[96];
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return;
    snprintf(text, sizeof text, "%" PRId64 " %" PRId64 ".%09ld", (int64_t)status.st_size,
             (int64_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    add(key, text);
}

static void add_program(struct key *key, const char *name) {
    const char *path = getenv("PATH");
    char file[4096];
    if (strchr(name, '/') || path == NULL) return; /* add_file has it */
    for (const char *end; *path; path = *end ? end + 1 : end) {
        end = path + strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)(end - path), path, name);
        if (access(file, X_OK) != 0) continue;
        add_file(key, file);
        return;
    }
}

/* The first line of a file of /proc that holds `word`, all of it where word is NULL. */
static void add_line(struct key *key, const char *path, const char *word) {
    char line[512];
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file))
        if (word == NULL || strncmp(line, word, strlen(word)) == 0) {
            add(key, line);
            if (word) break;
        }
    fclose(file);
}

static void add_machine(struct key *key) {
    struct utsname name;
    cpu_set_t set;
    char text[32];
    if (uname(&name) == 0) {
        add(key, name.nodename);
        add(key, name.machine);
    }
    add_line(key, "/proc/cpuinfo", "model name");
    add_line(key, "/proc/driver/nvidia/version", NULL);
    snprintf(text, sizeof text, "%d", sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0);
    add(key, text);
}

/* ---- The environment ----------------------------------------------------------------------------------------- */

static int is_name(const char *name, size_t length) {
    for (size_t i = 0; i < length; i++) {
        int is_digit = name[i] >= '0' && name[i] <= '9', is_lower = name[i] >= 'a' && name[i] <= 'z';
        int is_upper = name[i] >= 'A' && name[i] <= 'Z';
        if (!is_lower && !is_upper && name[i] != '_' && !(is_digit && i > 0)) return 0;
    }
    return length > 0;
}

int32_t study_key_check(const struct kerf_study_request *request, struct kerf_error *err) {
    for (int32_t i = 0; i < request->key_env.count; i++)
        for (const char *at = request->key_env.items[i];; at++) {
            size_t length = strcspn(at, ",");
            if (!is_name(at, length))
                return kerf_error_set(err, KERF_EINVALID,
                                      "--key-env '%.64s' must be names of environment variables, such as HF_HOME,MODE",
                                      request->key_env.items[i]);
            if (at[length] == 0) break;
            at += length;
        }
    return KERF_OK;
}

/* Whether "NAME=value" is of the name. */
static int is_variable(const char *entry, const char *name, size_t length) {
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static int is_in_list(const struct kerf_study_strings *list, const char *entry) {
    for (int32_t i = 0; i < list->count; i++)
        for (const char *at = list->items[i];; at++) {
            size_t length = strcspn(at, ",");
            if (is_variable(entry, at, length)) return 1;
            if (at[length] == 0) break;
            at += length;
        }
    return 0;
}

static int is_of_key(const char *entry, const struct kerf_study_strings *key_env) {
    static const char *const always[] = {"CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (is_variable(entry, always[i], strlen(always[i]))) return 1;
    return strncmp(entry, "OMP_", 4) == 0 || is_in_list(key_env, entry);
}

/* In whatever order they are: the sum of the hashes of each. Of an environment without any nothing is added. */
static void add_environment(struct key *key, const struct kerf_study_strings *key_env) {
    uint64_t sum = 0;
    int32_t count = 0;
    char text[32];
    for (char **entry = environ; *entry; entry++) {
        struct key own = {FNV_BASIS};
        if (!is_of_key(*entry, key_env)) continue;
        add(&own, *entry);
        sum += own.hash;
        count++;
    }
    if (count == 0) return;
    snprintf(text, sizeof text, "%016" PRIx64, sum);
    add(key, text);
}

void study_key(const struct kerf_study_request *request, char key[KERF_STUDY_KEY_SIZE]) {
    struct key sum = {FNV_BASIS};
    for (int32_t i = 0; i < request->words.count; i++) {
        add(&sum, request->words.items[i]);
        add_file(&sum, request->words.items[i]);
    }
    if (request->words.count > 0) add_program(&sum, request->words.items[0]);
    add(&sum, request->objective);
    if (request->maximize && kerf_study_request_unit(request)[0] == 0) add(&sum, "more"); /* a score is no time */
    add(&sum, request->protocol);
    add(&sum, request->launcher);
    add(&sum, request->prepare);
    add_environment(&sum, &request->key_env);
    add_machine(&sum);
    snprintf(key, KERF_STUDY_KEY_SIZE, "%016" PRIx64, sum.hash);
}
