/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of a store, while a server writes to it or not: page by page, out of one read transaction, so that it is the
 * store as it was at one moment, and no commit makes SQLite begin anew. The log cannot be emptied meanwhile, and grows.
 * The copy has its name only once it is whole and on the disk.
 */
#include "store/sqlite_backup.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "store/sqlite_schema.h"
#include "store/sqlite_session.h"

enum { PAGES = 256, PATH_BYTES = 4096 };

/* ---- Pages -------------------------------------------------------------------------------------------------- */

static int32_t copy_pages(sqlite3 *from, sqlite3 *to, kerf_progress progress, void *context, struct kerf_error *err) {
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    int step = SQLITE_OK;
    if (backup == NULL) return sqlite_fail(to, err);
    while (step == SQLITE_OK) {
        step = sqlite3_backup_step(backup, PAGES);
        double all = sqlite3_backup_pagecount(backup), left = sqlite3_backup_remaining(backup);
        if (step == SQLITE_OK && progress && progress(context, all > 0 ? 1 - left / all : 0)) break;
    }
    int failed = sqlite3_backup_finish(backup);
    if (step == SQLITE_OK) return kerf_error_set(err, KERF_EINTERRUPTED, "the backup was interrupted");
    if (step == SQLITE_DONE) return KERF_OK;
    return kerf_error_set(err, KERF_EIO, "the backup fails: %.200s", sqlite3_errstr(failed ? failed : step));
}

/* The first read is what the transaction begins with. */
static int32_t copy(struct sqlite_session *from, const char *path, const char *to, kerf_progress progress,
                    void *context, struct kerf_error *err) {
    sqlite3 *db = NULL;
    int32_t code = sqlite_run(from->db, "BEGIN", err);
    if (code == KERF_OK) code = sqlite_check(from->db, path, err);
    if (code == KERF_OK && sqlite3_open_v2(to, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        code = kerf_error_set(err, KERF_EIO, "%.200s cannot be opened: %.200s", to,
                              db ? sqlite3_errmsg(db) : "not enough memory");
    if (code == KERF_OK) code = copy_pages(from->db, db, progress, context, err);
    if (sqlite3_close(db) != SQLITE_OK && code == KERF_OK)
        code = kerf_error_set(err, KERF_EIO, "%.200s cannot be closed", to);
    if (!sqlite3_get_autocommit(from->db)) sqlite_run(from->db, "ROLLBACK", NULL);
    return code;
}

/* ---- Files -------------------------------------------------------------------------------------------------- */

/* A log beside the name would be taken for the copy's own. */
static int32_t check_log(const char *to, const char *end, struct kerf_error *err) {
    char log[PATH_BYTES];
    struct stat found;
    if (snprintf(log, sizeof log, "%s%s", to, end) >= (int)sizeof log)
        return kerf_error_set(err, KERF_EINVALID, "the name %.200s... is too long", to);
    if (stat(log, &found) != 0 || found.st_size == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%.200s is there: a store of that name is or was in use", log);
}

static int32_t check_target(const char *path, const char *to, int overwrites, struct kerf_error *err) {
    struct stat from, there;
    int exists = stat(to, &there) == 0;
    if (exists && stat(path, &from) == 0 && from.st_dev == there.st_dev && from.st_ino == there.st_ino)
        return kerf_error_set(err, KERF_EINVALID, "%.200s is the store itself", to);
    if (exists && !overwrites)
        return kerf_error_set(err, KERF_EINVALID, "%.200s is there already; --force replaces it", to);
    int32_t code = check_log(to, "-wal", err);
    return code == KERF_OK ? check_log(to, "-journal", err) : code;
}

static int flush(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) != 0;
    if (fd >= 0) close(fd);
    return !failed;
}

/* Somebody may have made it meanwhile. */
static int give_name(const char *temporary, const char *to, int overwrites) {
    if (overwrites) return rename(temporary, to) == 0;
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 1;
    return errno == EINVAL && access(to, F_OK) != 0 && rename(temporary, to) == 0; /* a file system that cannot */
}

static int32_t put_in_place(const char *temporary, const char *to, int overwrites, struct kerf_error *err) {
    char folder[PATH_BYTES];
    snprintf(folder, sizeof folder, "%s", to);
    if (flush(temporary, O_RDONLY) && give_name(temporary, to, overwrites) &&
        flush(dirname(folder), O_RDONLY | O_DIRECTORY))
        return KERF_OK;
    return kerf_error_set(err, KERF_EIO, "%.200s cannot be written: %s", to, strerror(errno));
}

int32_t sqlite_backup(const char *path, const char *to, int32_t overwrites, kerf_progress progress, void *context,
                      struct kerf_error *err) {
    struct sqlite_session session = {0};
    char temporary[PATH_BYTES];
    int32_t code = check_target(path, to, overwrites, err);
    if (code == KERF_OK) code = sqlite_connect(path, 0, &session, err);
    if (code != KERF_OK) return code;
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", to) >= (int)sizeof temporary) temporary[0] = 0;
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        code = kerf_error_set(err, KERF_EIO, "%.200s cannot be written: %s", to, strerror(errno));
    } else {
        close(fd);
        code = copy(&session, path, temporary, progress, context, err);
        if (code == KERF_OK) code = put_in_place(temporary, to, overwrites, err);
        if (code != KERF_OK) unlink(temporary);
    }
    sqlite_disconnect(&session);
    return code;
}
