/* SPDX-License-Identifier: Apache-2.0 */
#include "database.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "store/store.h"

/* The newest of those that Debian has side by side, or the one of $KERF_POSTGRESQL. */
static int find_programs(struct cluster *cluster) {
    const char *said = getenv("KERF_POSTGRESQL");
    glob_t found;
    if (said) return snprintf(cluster->programs, sizeof cluster->programs, "%s", said) > 0;
    if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) != 0) return 0;
    const char *last = found.gl_pathv[found.gl_pathc - 1];
    snprintf(cluster->programs, sizeof cluster->programs, "%.*s", (int)(strlen(last) - strlen("/initdb")), last);
    globfree(&found);
    return 1;
}

static int run(const struct cluster *cluster, const char *words) {
    char command[1024];
    if (cluster->user[0])
        snprintf(command, sizeof command, "cd %s && runuser -u %s -- %s/%s", cluster->folder, cluster->user,
                 cluster->programs, words);
    else
        snprintf(command, sizeof command, "%s/%s", cluster->programs, words);
    return system(command) == 0;
}

/* PostgreSQL refuses to run as root. */
static int choose_user(struct cluster *cluster) {
    static const char *const names[] = {"postgres", "nobody"};
    if (geteuid() != 0) return 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct passwd *known = getpwnam(names[i]);
        if (known == NULL || chown(cluster->folder, known->pw_uid, known->pw_gid) != 0) continue;
        snprintf(cluster->user, sizeof cluster->user, "%s", names[i]);
        return 1;
    }
    return 0;
}

int cluster_make(struct cluster *cluster, const char **ret_why) {
    char words[256];
    struct kerf_error err;
    struct store *store;
    *cluster = (struct cluster){0};
    *ret_why = "this kerf was built without libpq, or libpq5 is not there";
    if (store_open("postgresql://kerf@/none?host=/nowhere", 0, &store, &err) == KERF_EUNSUPPORTED) return 0;
    *ret_why = "PostgreSQL's initdb is not there (Debian's package is postgresql)";
    if (!find_programs(cluster)) return 0;
    *ret_why = "no folder and user for a database";
    strcpy(cluster->folder, "/tmp/kerf-pg-XXXXXX");
    if (mkdtemp(cluster->folder) == NULL || !choose_user(cluster)) return 0;
    snprintf(words, sizeof words,
             "initdb -D %s/data -U kerf -A trust -E UTF8 --locale=C.UTF-8 --no-sync >%s/initdb.log 2>&1",
             cluster->folder, cluster->folder);
    *ret_why = "initdb fails here";
    if (!run(cluster, words)) return 0;
    cluster_start(cluster);
    return 1;
}

/* After a kill of its first process the others need a moment to notice, and it does not start before. */
void cluster_start(struct cluster *cluster) {
    const struct timespec moment = {.tv_nsec = 100000000};
    char words[512];
    snprintf(words, sizeof words,
             "pg_ctl -D %s/data -w -s -l %s/log -o \"-c listen_addresses='' -c unix_socket_directories=%s -c fsync=on "
             "-c max_connections=150\" start >/dev/null 2>&1",
             cluster->folder, cluster->folder, cluster->folder);
    for (int i = 0; i < 1000 && !cluster->is_up; i++)
        if (!(cluster->is_up = run(cluster, words))) nanosleep(&moment, NULL);
    if (!cluster->is_up) fail_msg("PostgreSQL did not start; see %s/log", cluster->folder);
}

void cluster_stop(struct cluster *cluster, const char *how) {
    char words[256];
    snprintf(words, sizeof words, "pg_ctl -D %s/data -w -s -m %s stop", cluster->folder, how);
    if (!run(cluster, words)) fail_msg("PostgreSQL did not stop");
    cluster->is_up = 0;
}

static pid_t first_process(const struct cluster *cluster) {
    char path[128], line[32] = "";
    snprintf(path, sizeof path, "%s/data/postmaster.pid", cluster->folder);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL) fail_msg("PostgreSQL has no process");
    fclose(file);
    return atoi(line);
}

void cluster_kill(struct cluster *cluster) {
    kill(first_process(cluster), SIGKILL);
    cluster->is_up = 0;
}

void cluster_kill_one(struct cluster *cluster, unsigned random) {
    pid_t first = first_process(cluster), others[256];
    char path[64];
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)first, (int)first);
    FILE *file = fopen(path, "r");
    while (file && count < 256 && fscanf(file, "%d", &others[count]) == 1) count++;
    if (file) fclose(file);
    if (count > 0) kill(others[random % count], SIGKILL);
}

void cluster_clear(struct cluster *cluster) {
    char command[128];
    cluster_unlock(cluster);
    if (cluster->is_up) cluster_stop(cluster, "immediate");
    if (cluster->folder[0] == 0) return;
    snprintf(command, sizeof command, "rm -rf %s", cluster->folder);
    if (system(command) != 0) print_message("%s is left over\n", cluster->folder);
}

void cluster_run(struct cluster *cluster, const char *database, const char *sql) {
    char words[512];
    snprintf(words, sizeof words, "psql -q -X -v ON_ERROR_STOP=1 -h %s -U kerf %s >/dev/null", cluster->folder,
             database);
    char command[1024];
    snprintf(command, sizeof command, "%s/%s", cluster->programs, words);
    FILE *to = popen(command, "w");
    if (to == NULL || fputs(sql, to) < 0 || pclose(to) != 0) fail_msg("psql fails: %.200s", sql);
}

void cluster_lock(struct cluster *cluster, const char *database, const char *table) {
    const struct timespec pause = {.tv_nsec = 10000000};
    char command[1024], mark[128];
    assert_null(cluster->locker);
    snprintf(mark, sizeof mark, "%s/locked", cluster->folder);
    remove(mark);
    snprintf(command, sizeof command, "%s/psql -q -X -h %s -U kerf %s >/dev/null 2>&1", cluster->programs,
             cluster->folder, database);
    cluster->locker = popen(command, "we");
    assert_non_null(cluster->locker);
    fprintf(cluster->locker, "BEGIN; LOCK TABLE %s;\n\\! touch %s\n", table, mark);
    fflush(cluster->locker);
    for (int i = 0; i < 30000 && access(mark, F_OK) != 0; i++) nanosleep(&pause, NULL);
    assert_int_equal(access(mark, F_OK), 0);
}

/* The end of its input ends it, and its transaction. */
void cluster_unlock(struct cluster *cluster) {
    if (cluster->locker) pclose(cluster->locker);
    cluster->locker = NULL;
}

void cluster_database(struct cluster *cluster, const char *name, char *ret_url, size_t size) {
    char sql[256];
    snprintf(sql, sizeof sql, "SET client_min_messages=warning; DROP DATABASE IF EXISTS %s; CREATE DATABASE %s;", name,
             name);
    cluster_run(cluster, "postgres", sql);
    snprintf(ret_url, size, "postgresql://kerf@/%s?host=%s", name, cluster->folder);
}
