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
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "base/error_fill.h"
#include "store/sqlite_backup.h"
#include "store/sqlite_schema.h"
#include "store/sqlite_writer.h"

struct sqlite_store {
    struct store store;
    char *path;
    int file; /* of a server: open and locked */
    pthread_mutex_t lock;
    struct sqlite_session *readers; /* those that nobody uses now; under lock */
    struct sqlite_writer writer;    /* without STORE_SERVE its session alone */
};

static struct sqlite_store *of(struct store *store) { return (struct sqlite_store *)store; }

/* ---- Open and close ----------------------------------------------------------------------------------------- */

static int32_t cannot_open(const char *path, struct kerf_error *err) {
    if (errno == ENOENT)
        return kerf_error_set(err, KERF_EINVALID,
                              "there is no store %.200s: --store names the server's, --create makes a new one", path);
    return kerf_error_set(err, KERF_EIO, "%.200s cannot be opened: %s", path, strerror(errno));
}

/* A new file is its owner's alone: SQLite would let everybody read it. */
static int32_t make_file(const char *path, int32_t flags, struct kerf_error *err) {
    if (access(path, F_OK) == 0) return KERF_OK;
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

/* Beside the writer of this or another process: SQLite lets one wait for the other. */
static int32_t sqlite_tell(struct store *base, const struct store_question *question, struct kerf_error *err) {
    struct sqlite_session session;
    int32_t code = sqlite_connect(of(base)->path, 1, &session, err);
    if (code != KERF_OK) return code;
    code = sqlite_do(&session, (int)question->which, question->values, question->visit, question->context, err);
    sqlite_disconnect(&session);
    return code;
}

/* ---- Decisions ---------------------------------------------------------------------------------------------- */

/* This process is the only one that decides, so that what it knows is what is stored. */
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
