/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs in one SQLite file: WAL, synchronous=FULL, so that what is committed survives a crash of the machine. One server
 * to a file, which a lock on it makes sure of; other programs may read it, and add tokens, meanwhile.
 *
 * One thread writes (sqlite_write.c). Readers are connections of their own, as many as are in use at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "store/sqlite_parts.h"
#include "store/stores.h"

enum { BUSY_MS = 5000 };

int32_t sqlite_fail(sqlite3 *db, struct kerf_error *err) {
    int code = sqlite3_extended_errcode(db);
    return kerf_error_set(err, (code & 255) == SQLITE_NOMEM ? KERF_ENOMEM : KERF_EIO, "the store: %.300s",
                          sqlite3_errmsg(db));
}

int32_t sqlite_run(sqlite3 *db, const char *sql, struct kerf_error *err) {
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? KERF_OK : sqlite_fail(db, err);
}

/* ---- Sessions ---------------------------------------------------------------------------------------------- */

int32_t sqlite_connect(const char *path, int writes, struct sqlite_session *ret_session, struct kerf_error *err) {
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_NOMUTEX | (writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE);
    if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK) {
        int32_t code = kerf_error_set(err, KERF_EIO, "%.200s cannot be opened: %.200s", path,
                                      db ? sqlite3_errmsg(db) : "not enough memory");
        sqlite3_close(db);
        return code;
    }
    sqlite3_busy_timeout(db, BUSY_MS);
    sqlite3_extended_result_codes(db, 1);
    int32_t code = sqlite_run(db, "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY", err);
    if (code == KERF_OK && !writes) code = sqlite_run(db, "PRAGMA query_only=ON; PRAGMA cache_size=-1024", err);
    if (code != KERF_OK && sqlite3_errcode(db) == SQLITE_NOTADB)
        code = kerf_error_set(err, KERF_EINVALID, "%.200s is not a SQLite database", path);
    if (code != KERF_OK)
        sqlite3_close(db);
    else
        *ret_session = (struct sqlite_session){.db = db};
    return code;
}

void sqlite_disconnect(struct sqlite_session *session) {
    for (int i = 0; i < SQLITE_NUM_STATEMENTS; i++) sqlite3_finalize(session->statements[i]);
    sqlite3_close(session->db);
    *session = (struct sqlite_session){0};
}

sqlite3_stmt *sqlite_statement(struct sqlite_session *session, enum sqlite_statement which, struct kerf_error *err) {
    static const char *const texts[] = {
#define SQLITE_WORDS(name, sql) sql,
        SQLITE_STATEMENTS(SQLITE_WORDS)
#undef SQLITE_WORDS
    };
    sqlite3_stmt **statement = &session->statements[which];
    if (*statement == NULL &&
        sqlite3_prepare_v3(session->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) != SQLITE_OK)
        sqlite_fail(session->db, err);
    return *statement;
}

int32_t sqlite_finish(struct sqlite_session *session, sqlite3_stmt *statement, struct kerf_error *err) {
    int32_t code = sqlite3_step(statement) == SQLITE_DONE ? KERF_OK : sqlite_fail(session->db, err);
    sqlite3_reset(statement);
    return code;
}

struct sqlite_session *sqlite_reader(struct sqlite_store *store, struct kerf_error *err) {
    pthread_mutex_lock(&store->readers_lock);
    struct sqlite_session *reader = store->readers;
    if (reader) store->readers = reader->next;
    pthread_mutex_unlock(&store->readers_lock);
    if (reader) return reader;
    reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        kerf_error_set(err, KERF_ENOMEM, "not enough memory for a connection to the store");
    } else if (sqlite_connect(store->path, 0, reader, err) != KERF_OK) {
        free(reader);
        reader = NULL;
    }
    return reader;
}

void sqlite_give_back(struct sqlite_store *store, struct sqlite_session *reader) {
    if (reader == NULL) return;
    pthread_mutex_lock(&store->readers_lock);
    reader->next = store->readers;
    store->readers = reader;
    pthread_mutex_unlock(&store->readers_lock);
}

/* ---- Open and close ---------------------------------------------------------------------------------------- */

/* The lock goes with the file, whatever it is called; it is given back by the kernel however the server ends. */
static int32_t lock_file(struct sqlite_store *store, struct kerf_error *err) {
    store->lock = open(store->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->lock < 0)
        return kerf_error_set(err, KERF_EIO, "%.200s cannot be opened: %s", store->path, strerror(errno));
    if (flock(store->lock, LOCK_EX | LOCK_NB) == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EIO, "%.200s is in use by another kerf serve", store->path);
}

static void sqlite_close(struct store *base) {
    struct sqlite_store *store = (struct sqlite_store *)base;
    sqlite_stop_writer(store);
    sqlite_stop_checkpoint(&store->checkpoint);
    while (store->readers) {
        struct sqlite_session *reader = store->readers;
        store->readers = reader->next;
        sqlite_disconnect(reader);
        free(reader);
    }
    sqlite_disconnect(&store->writer);
    if (store->lock >= 0) close(store->lock); /* last: closing it ends SQLite's own locks */
    pthread_mutex_destroy(&store->readers_lock);
    pthread_mutex_destroy(&store->queue_lock);
    pthread_cond_destroy(&store->queue_filled);
    kerf_text_free(&store->random);
    free(store->path);
    free(store);
}

static int32_t sqlite_open(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err) {
    struct sqlite_store *store = calloc(1, sizeof *store);
    if (store == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the store");
    store->store.methods = &store_sqlite;
    store->lock = -1;
    store->last = &store->first;
    pthread_mutex_init(&store->readers_lock, NULL);
    pthread_mutex_init(&store->queue_lock, NULL);
    pthread_cond_init(&store->queue_filled, NULL);
    store->path = strdup(where);
    int32_t code = store->path ? KERF_OK : kerf_error_set(err, KERF_ENOMEM, "not enough memory for the store");
    if (code == KERF_OK && flags & STORE_SERVE) code = lock_file(store, err);
    if (code == KERF_OK) code = sqlite_connect(store->path, 1, &store->writer, err);
    if (code == KERF_OK) code = sqlite_migrate(store->writer.db, store->path, err);
    if (code == KERF_OK) code = sqlite_run(store->writer.db, "PRAGMA journal_mode=WAL", err);
    if (code == KERF_OK && flags & STORE_SERVE)
        code = sqlite_start_checkpoint(&store->checkpoint, store->path, store->writer.db, err);
    if (code == KERF_OK && flags & STORE_SERVE) code = sqlite_start_writer(store, err);
    if (code == KERF_OK)
        *ret_store = &store->store;
    else
        sqlite_close(&store->store);
    return code;
}

/* ---- What is simple ---------------------------------------------------------------------------------------- */

static int32_t sqlite_ping(struct store *base, struct kerf_error *err) {
    struct sqlite_store *store = (struct sqlite_store *)base;
    struct sqlite_session *reader = sqlite_reader(store, err);
    sqlite3_stmt *statement = reader ? sqlite_statement(reader, SQL_PING, err) : NULL;
    int32_t code = statement ? KERF_OK : KERF_EIO;
    if (statement) {
        int step = sqlite3_step(statement);
        if (step != SQLITE_ROW && step != SQLITE_DONE) code = sqlite_fail(reader->db, err);
        sqlite3_reset(statement);
    }
    sqlite_give_back(store, reader);
    return code;
}

static void sqlite_count(struct store *base, struct store_counts *ret_counts) {
    struct sqlite_store *store = (struct sqlite_store *)base;
    pthread_mutex_lock(&store->queue_lock);
    *ret_counts = store->counts;
    pthread_mutex_unlock(&store->queue_lock);
}

/* This process is the only one that decides, so that what it knows is what is stored. */
static int32_t sqlite_begin(struct store *store, const char *job_id, const struct store_turn *known,
                            struct store_turn *ret_turn, struct kerf_error *err) {
    if (known->job) {
        *ret_turn = (struct store_turn){.job = known->job, .version = known->version};
        return KERF_OK;
    }
    int32_t code = sqlite_find_job(store, job_id, ret_turn, NULL, err);
    if (code != KERF_EUNKNOWN) return code;
    *ret_turn = (struct store_turn){0};
    return KERF_OK;
}

static void sqlite_cancel(struct store *store, struct store_turn *turn) { (void)store, (void)turn; }

const struct store_methods store_sqlite = {
    .name = "sqlite",
    .backup = sqlite_backup,
    .open = sqlite_open,
    .close = sqlite_close,
    .ping = sqlite_ping,
    .count = sqlite_count,
    .begin = sqlite_begin,
    .cancel = sqlite_cancel,
    .submit = sqlite_submit,
    .load_job = sqlite_load_job,
    .load_trial = sqlite_load_trial,
    .load_costs = sqlite_load_costs,
    .find_job = sqlite_find_job,
    .list_jobs = sqlite_list_jobs,
    .list_trials = sqlite_list_trials,
    .count_jobs = sqlite_count_jobs,
    .add_token = sqlite_add_token,
    .revoke_token = sqlite_revoke_token,
    .list_tokens = sqlite_list_tokens,
    .get_meta = sqlite_get_meta,
    .set_meta = sqlite_set_meta,
};
