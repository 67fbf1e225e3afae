/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs in one SQLite file: WAL, synchronous=FULL, so that what is committed survives a crash of the machine. One server
 * to a file, which a lock on it makes sure of; other programs may read it, and add tokens, meanwhile.
 *
 * One thread writes (sqlite_writer.c). Readers are connections of their own, as many as are in use at once.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error_fill.h"
#include "store/sqlite_store.h"

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

/*
 * The file says the version of its tables in PRAGMA user_version; each step below takes it one further, in a
 * transaction of its own. A step that was released is never changed.
 *
 * job_state, which every decision changes, is apart from job, which never changes, so that the states of many jobs
 * share a page. A job whose job_id is NULL was deleted (sqlite_writer.c). Trials lie together by job, in the order of
 * their numbers. What an infinity or a NaN is: SQLite keeps infinities and makes a NaN NULL, which is read back as NaN
 * (arms) or as "not known" (min_cost), as in Zeus.
 */

static const char *const steps[] = {
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE job ("
    " job INTEGER PRIMARY KEY AUTOINCREMENT, job_id TEXT UNIQUE, created_s REAL NOT NULL,"
    " max_power REAL NOT NULL, number_of_gpus INTEGER NOT NULL, gpu_model TEXT NOT NULL, job_id_prefix TEXT NOT NULL,"
    " batch_sizes TEXT NOT NULL, default_batch_size INTEGER NOT NULL, eta_knob REAL NOT NULL, beta_knob REAL,"
    " target_metric REAL NOT NULL, higher_is_better_metric INTEGER NOT NULL, max_epochs INTEGER NOT NULL,"
    " num_pruning_rounds INTEGER NOT NULL, window_size INTEGER NOT NULL, mab_prior_mean REAL NOT NULL,"
    " mab_prior_precision REAL NOT NULL, mab_num_explorations INTEGER NOT NULL, mab_seed INTEGER, policy TEXT,"
    " lease_s REAL NOT NULL) STRICT;"
    "CREATE TABLE job_state ("
    " job INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE, version INTEGER NOT NULL, stage INTEGER NOT NULL,"
    " min_cost REAL, min_cost_batch_size INTEGER NOT NULL, last_trial_number INTEGER NOT NULL,"
    " trials_ended INTEGER NOT NULL, longest_gap_s REAL NOT NULL, random TEXT) STRICT;"
    "CREATE TABLE trial ("
    " job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE, number INTEGER NOT NULL CHECK (number > 0),"
    " batch_size INTEGER NOT NULL, type INTEGER NOT NULL, status INTEGER NOT NULL, converged INTEGER,"
    " lease_ended INTEGER NOT NULL, time_s REAL, energy_j REAL, dispatched_s REAL NOT NULL, seen_s REAL NOT NULL,"
    " reason TEXT, PRIMARY KEY (job, number)) STRICT, WITHOUT ROWID;"
    /* 1: KERF_TRIAL_SUCCEEDED. The newest costs of a size are at the end of its part. */
    "CREATE INDEX trial_cost ON trial (job, batch_size, number) WHERE status = 1;"
    /* 0: KERF_TRIAL_EXPLORATION. What a job that explores is restored from, whatever else ran meanwhile. */
    "CREATE INDEX trial_exploration ON trial (job, number) WHERE type = 0;"
    "CREATE TABLE arm ("
    " job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE, batch_size INTEGER NOT NULL, param_mean REAL,"
    " param_precision REAL, reward_precision REAL, num_observations INTEGER NOT NULL,"
    " PRIMARY KEY (job, batch_size)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE token ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, hash BLOB NOT NULL UNIQUE,"
    " created_s REAL NOT NULL, expires_s REAL NOT NULL) STRICT;",
    /* Of trials that were forgotten. */
    "CREATE TABLE cost ("
    " job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE, batch_size INTEGER NOT NULL, number INTEGER NOT NULL,"
    " energy_j REAL, time_s REAL, PRIMARY KEY (job, batch_size, number)) STRICT, WITHOUT ROWID;",
};
enum { VERSION = sizeof steps / sizeof *steps, APPLICATION = 0x6b657266 /* "kerf" */ };

static int32_t ask_number(sqlite3 *db, const char *sql, int64_t *ret_number, struct kerf_error *err) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) return sqlite_fail(db, err);
    int step = sqlite3_step(statement);
    if (step == SQLITE_ROW) *ret_number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return step == SQLITE_ROW ? KERF_OK : sqlite_fail(db, err);
}

/* KERF_EINVALID: the database is another program's, or a newer kerf's. */
static int32_t sqlite_check(sqlite3 *db, const char *path, struct kerf_error *err) {
    int64_t application = 0, tables = 0, version = 0;
    int32_t code = ask_number(db, "PRAGMA application_id", &application, err);
    if (code == KERF_OK) code = ask_number(db, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (code == KERF_OK) code = ask_number(db, "PRAGMA user_version", &version, err);
    if (code != KERF_OK) return code;
    if (tables > 0 && application != APPLICATION)
        return kerf_error_set(err, KERF_EINVALID, "%.200s is a database of another program", path);
    if (version > VERSION)
        return kerf_error_set(err, KERF_EINVALID,
                              "%.200s was written by a newer kerf (its tables are version %lld, this kerf knows %d)",
                              path, (long long)version, (int)VERSION);
    return KERF_OK;
}

/* Makes what is missing. */
static int32_t sqlite_migrate(sqlite3 *db, const char *path, struct kerf_error *err) {
    int64_t version = 0;
    int32_t code = sqlite_run(db, "BEGIN IMMEDIATE", err);
    if (code != KERF_OK) return code;
    code = ask_number(db, "PRAGMA user_version", &version, err);
    if (code == KERF_OK) code = sqlite_check(db, path, err);
    while (code == KERF_OK && version < VERSION) {
        char mark[96];
        code = sqlite_run(db, steps[version++], err);
        snprintf(mark, sizeof mark, "PRAGMA user_version=%d; PRAGMA application_id=%d", (int)version, (int)APPLICATION);
        if (code == KERF_OK) code = sqlite_run(db, mark, err);
    }
    if (code == KERF_OK) code = sqlite_run(db, "COMMIT", err);
    if (code != KERF_OK) sqlite_run(db, "ROLLBACK", NULL);
    return code;
}

/* ---- Backup ---------------------------------------------------------------------------------------------------- */

/*
 * Copies a store, also while a server writes to it: page by page, in one read transaction, so that the copy is the store
 * as it was at one moment, and no commit makes SQLite begin anew. Meanwhile the log cannot be emptied and grows. The
 * copy gets its name once it is whole and on the disk.
 */

enum { PAGES = 256, PATH_BYTES = 4096 };

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

/* The transaction begins with the first read. */
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

/* A log beside the name would be taken for the copy's own. */
static int32_t check_log(const char *to, const char *end, struct kerf_error *err) {
    char log[PATH_BYTES];
    struct stat found;
    if (snprintf(log, sizeof log, "%s%s", to, end) >= (int)sizeof log)
        return kerf_error_set(err, KERF_EINVALID, "the name %.200s... is too long", to);
    if (stat(log, &found) != 0 || found.st_size == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%.200s exists: a store of that name is or was in use", log);
}

/* Whether it is a file that SQLite keeps beside the store, or would have its name. */
static int is_beside(const char *path, const char *to) {
    static const char *const ends[] = {"-wal", "-shm", "-journal"};
    struct stat own, there;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char beside[PATH_BYTES];
        if (snprintf(beside, sizeof beside, "%s%s", path, ends[i]) >= (int)sizeof beside) continue;
        if (strcmp(beside, to) == 0) return 1;
        if (stat(beside, &own) == 0 && stat(to, &there) == 0 && own.st_dev == there.st_dev &&
            own.st_ino == there.st_ino)
            return 1;
    }
    return 0;
}

static int32_t check_target(const char *path, const char *to, int overwrites, struct kerf_error *err) {
    struct stat from, there;
    int exists = stat(to, &there) == 0;
    if (is_beside(path, to)) return kerf_error_set(err, KERF_EINVALID, "%.200s is a part of the store itself", to);
    if (exists && stat(path, &from) == 0 && from.st_dev == there.st_dev && from.st_ino == there.st_ino)
        return kerf_error_set(err, KERF_EINVALID, "%.200s is the store itself", to);
    if (exists && !overwrites)
        return kerf_error_set(err, KERF_EINVALID, "%.200s exists already; --force replaces it", to);
    int32_t code = check_log(to, "-wal", err);
    return code == KERF_OK ? check_log(to, "-journal", err) : code;
}

static int flush(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) != 0;
    if (fd >= 0) close(fd);
    return !failed;
}

/* Another program may have made it meanwhile. */
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

/* As store_backup (store.h). */
static int32_t sqlite_backup(const char *path, const char *to, int32_t overwrites, kerf_progress progress,
                             void *context, struct kerf_error *err) {
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

/* ---- The store ------------------------------------------------------------------------------------------------- */

struct sqlite_store {
    struct store store;
    char *path;
    int file; /* of a server: open and locked */
    pthread_mutex_t lock;
    struct sqlite_session *readers; /* those that are not in use; under lock */
    struct sqlite_writer writer;    /* without STORE_SERVE its session alone */
};

static struct sqlite_store *of(struct store *store) { return (struct sqlite_store *)store; }

/* ---- Open and close ----------------------------------------------------------------------------------------- */

static int32_t cannot_open(const char *path, struct kerf_error *err) {
    if (errno == ENOENT)
        return kerf_error_set(
            err, KERF_EINVALID,
            "there is no store %.200s: name the server's with --store, or make a new one with --create", path);
    return kerf_error_set(err, KERF_EIO, "%.200s cannot be opened: %s", path, strerror(errno));
}

/* A new file is its owner's alone: SQLite would let everybody read it. */
static int32_t make_file(const char *path, int32_t flags, struct kerf_error *err) {
    struct stat found;
    const int exists = stat(path, &found) == 0;
    if (exists && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode))
        return kerf_error_set(err, KERF_EINVALID, "%.200s is a pipe or a device, not a file", path);
    if (exists) return KERF_OK;
    if (!(flags & STORE_MAY_CREATE)) return cannot_open(path, err);
    int file = open(path, O_RDWR | O_CLOEXEC | O_CREAT, 0600);
    if (file < 0) return kerf_error_set(err, KERF_EIO, "%.200s cannot be opened: %s", path, strerror(errno));
    close(file);
    return KERF_OK;
}

/* The lock goes with the file, whatever it is called; the kernel gives it back however the server ends. */
static int32_t lock_file(struct sqlite_store *store, struct kerf_error *err) {
    store->file = open(store->path, O_RDWR | O_CLOEXEC);
    if (store->file < 0) return cannot_open(store->path, err);
    if (flock(store->file, LOCK_EX | LOCK_NB) == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EIO, "%.200s is in use by another kerf serve", store->path);
}

static void sqlite_close(struct store *base) {
    struct sqlite_store *store = of(base);
    sqlite_writer_stop(&store->writer);
    while (store->readers) {
        struct sqlite_session *reader = store->readers;
        store->readers = reader->next;
        sqlite_disconnect(reader);
        free(reader);
    }
    if (store->file >= 0) close(store->file); /* last: closing it ends SQLite's own locks */
    pthread_mutex_destroy(&store->lock);
    free(store->path);
    free(store);
}

static int32_t sqlite_open(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err) {
    struct sqlite_store *store = calloc(1, sizeof *store);
    if (store == NULL) return error_no_memory(err, "the store");
    store->store.methods = &store_sqlite;
    store->file = -1;
    pthread_mutex_init(&store->lock, NULL);
    store->path = strdup(where);
    int32_t code = store->path ? KERF_OK : error_no_memory(err, "the store");
    struct sqlite_session *session = &store->writer.session;
    if (code == KERF_OK) code = make_file(store->path, flags, err);
    if (code == KERF_OK && flags & STORE_SERVE) code = lock_file(store, err);
    if (code == KERF_OK) code = sqlite_connect(store->path, 1, session, err);
    if (code == KERF_OK) code = sqlite_migrate(session->db, store->path, err);
    if (code == KERF_OK) code = sqlite_run(session->db, "PRAGMA journal_mode=WAL", err);
    if (code == KERF_OK && flags & STORE_SERVE) code = sqlite_writer_start(&store->writer, store->path, err);
    if (code == KERF_OK)
        *ret_store = &store->store;
    else
        sqlite_close(&store->store);
    return code;
}

/* ---- Questions ---------------------------------------------------------------------------------------------- */

static int32_t take_reader(struct sqlite_store *store, struct sqlite_session **ret_reader, struct kerf_error *err) {
    pthread_mutex_lock(&store->lock);
    struct sqlite_session *reader = store->readers;
    if (reader) store->readers = reader->next;
    pthread_mutex_unlock(&store->lock);
    int32_t code = KERF_OK;
    if (reader == NULL) {
        reader = calloc(1, sizeof *reader);
        code = reader ? sqlite_connect(store->path, 0, reader, err) : error_no_memory(err, "a connection to the store");
    }
    if (code == KERF_OK)
        *ret_reader = reader;
    else
        free(reader);
    return code;
}

static void give_back(struct sqlite_store *store, struct sqlite_session *reader) {
    pthread_mutex_lock(&store->lock);
    reader->next = store->readers;
    store->readers = reader;
    pthread_mutex_unlock(&store->lock);
}

/* Several are asked in one transaction, so that they see one moment. */
static int32_t sqlite_ask(struct store *base, const struct store_turn *turn, const struct store_question *questions,
                          int32_t count, struct kerf_error *err) {
    struct sqlite_session *reader = NULL;
    (void)turn;
    int32_t code = take_reader(of(base), &reader, err);
    if (code != KERF_OK) return code;
    assert(reader);
    if (count > 1) code = sqlite_do(reader, LITE_BEGIN_READING, NULL, NULL, NULL, err);
    for (int32_t i = 0; i < count && code == KERF_OK; i++)
        code = sqlite_do(reader, (int)questions[i].which, questions[i].values, questions[i].visit, questions[i].context,
                         err);
    if (!sqlite3_get_autocommit(reader->db)) sqlite_do(reader, LITE_COMMIT, NULL, NULL, NULL, NULL);
    give_back(of(base), reader);
    return code;
}

/* The writer of this or another process may be at work: SQLite lets one wait for the other. */
static int32_t sqlite_tell(struct store *base, const struct store_question *question, struct kerf_error *err) {
    struct sqlite_session session;
    int32_t code = sqlite_connect(of(base)->path, 1, &session, err);
    if (code != KERF_OK) return code;
    code = sqlite_do(&session, (int)question->which, question->values, question->visit, question->context, err);
    sqlite_disconnect(&session);
    return code;
}

/* ---- Decisions ---------------------------------------------------------------------------------------------- */

/* Only this process decides, so that cached data is what is stored. */
static int32_t sqlite_begin(struct store *store, const char *job_id, const struct store_turn *known,
                            struct store_turn *ret_turn, struct kerf_error *err) {
    if (known->job) {
        *ret_turn = (struct store_turn){.job = known->job, .version = known->version};
        return KERF_OK;
    }
    int32_t code = store_find_job(store, job_id, ret_turn, NULL, err);
    if (code != KERF_EUNKNOWN) return code;
    *ret_turn = (struct store_turn){0};
    return KERF_OK;
}

static void sqlite_cancel(struct store *store, struct store_turn *turn) { (void)store, (void)turn; }

static void sqlite_submit(struct store *store, struct store_turn *turn, struct store_write *write) {
    (void)turn;
    sqlite_writer_submit(&of(store)->writer, write);
}

static void sqlite_count(struct store *store, struct store_counts *ret_counts) {
    sqlite_writer_count(&of(store)->writer, ret_counts);
}

const struct store_methods store_sqlite = {
    .name = "sqlite",
    .backup = sqlite_backup,
    .open = sqlite_open,
    .close = sqlite_close,
    .count = sqlite_count,
    .begin = sqlite_begin,
    .cancel = sqlite_cancel,
    .submit = sqlite_submit,
    .ask = sqlite_ask,
    .tell = sqlite_tell,
};
