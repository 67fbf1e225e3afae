/* SPDX-License-Identifier: Apache-2.0 */
/* Which studies measured the same thing: FNV-1a over the command, the files that it names, the objective and the
 * machine. It only has to tell apart what one user has; nothing is protected by it. */
#include "study/study_request.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

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

void study_request_key(const struct study_request *request, char key[STUDY_KEY_SIZE]) {
    struct key sum = {UINT64_C(14695981039346656037)};
    for (int32_t i = 0; i < request->words.count; i++) {
        add(&sum, request->words.items[i]);
        add_file(&sum, request->words.items[i]);
    }
    if (request->words.count > 0) add_program(&sum, request->words.items[0]);
    add(&sum, request->objective);
    if (request->maximize && study_request_unit(request)[0] == 0) add(&sum, "more"); /* a score is no time */
    add(&sum, request->protocol);
    add(&sum, request->launcher);
    add(&sum, request->prepare);
    add_machine(&sum);
    snprintf(key, STUDY_KEY_SIZE, "%016" PRIx64, sum.hash);
}
