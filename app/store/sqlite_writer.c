/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes that queue up during a commit go into the next transaction, so that one flush of the disk makes many
 * decisions durable. With one client each decision is a transaction; many clients share them.
 *
 * When a transaction fails, its writes are tried again one by one, so that each is answered for itself.
 *
 * A job is gone as soon as its row has no job_id. Its trials may be many; they are removed in pieces between other
 * transactions, so that these need not wait. After a crash the removal goes on.
 */
#include "store/sqlite_store.h"

#include "base/clock.h"

/* ---- Checkpoints ----------------------------------------------------------------------------------------------- */

/*
 * Moving what the write-ahead log holds into the database file, without the writer having to wait for it: a thread of
 * its own does nearly all of it while the writer goes on. What came in meanwhile is little; the writer moves that
 * itself, so that the log is empty once and begins anew instead of growing as long as the load lasts.
 */

enum { LOG_PAGES = 4096 };

static void move(sqlite3 *db) { /* a failure is tried again after the next commits */
    sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

/* After each of the writer's commits: so many pages are in the log. */
static int on_commit(void *context, sqlite3 *db, const char *name, int pages) {
    struct sqlite_checkpoint *checkpoint = context;
    (void)db, (void)name;
    if (pages < LOG_PAGES) return SQLITE_OK;
    pthread_mutex_lock(&checkpoint->lock);
    int moves = checkpoint->is_moved;
    if (!moves) checkpoint->is_wanted = 1;
    checkpoint->is_moved = 0;
    pthread_mutex_unlock(&checkpoint->lock);
    if (moves)
        move(checkpoint->writer);
    else
        pthread_cond_signal(&checkpoint->wanted);
    return SQLITE_OK;
}

static void *thread(void *context) {
    struct sqlite_checkpoint *checkpoint = context;
    pthread_mutex_lock(&checkpoint->lock);
    for (;;) {
        while (!checkpoint->is_wanted && !checkpoint->is_over)
            pthread_cond_wait(&checkpoint->wanted, &checkpoint->lock);
        if (checkpoint->is_over) break;
        pthread_mutex_unlock(&checkpoint->lock);
        move(checkpoint->session.db);
        pthread_mutex_lock(&checkpoint->lock);
        checkpoint->is_wanted = 0;
        checkpoint->is_moved = 1;
    }
    pthread_mutex_unlock(&checkpoint->lock);
    return NULL;
}

static int32_t sqlite_start_checkpoint(struct sqlite_checkpoint *checkpoint, const char *path, sqlite3 *writer,
                                       struct kerf_error *err) {
    int32_t code = sqlite_connect(path, 1, &checkpoint->session, err);
    if (code != KERF_OK) return code;
    pthread_mutex_init(&checkpoint->lock, NULL);
    pthread_cond_init(&checkpoint->wanted, NULL);
    checkpoint->writer = writer;
    if (pthread_create(&checkpoint->thread, NULL, thread, checkpoint) != 0)
        return kerf_error_set(err, KERF_ENOMEM, "there is no thread for the store");
    checkpoint->has_thread = 1;
    sqlite3_wal_hook(writer, on_commit, checkpoint); /* in the place of SQLite's own, which makes the writer wait */
    return KERF_OK;
}

static void sqlite_stop_checkpoint(struct sqlite_checkpoint *checkpoint) {
    if (checkpoint->has_thread) {
        pthread_mutex_lock(&checkpoint->lock);
        checkpoint->is_over = 1;
        pthread_cond_signal(&checkpoint->wanted);
        pthread_mutex_unlock(&checkpoint->lock);
        pthread_join(checkpoint->thread, NULL);
        checkpoint->has_thread = 0;
    }
    if (checkpoint->session.db) sqlite_disconnect(&checkpoint->session);
}

enum { BATCH_MAX = 512 };

/* ---- The writer ------------------------------------------------------------------------------------------------ */

static int32_t run(struct sqlite_writer *writer, enum sqlite_statement which, struct kerf_error *err) {
    return sqlite_do(&writer->session, which, NULL, NULL, NULL, err);
}

static void roll_back(struct sqlite_writer *writer) { /* SQLite may have done it already */
    if (!sqlite3_get_autocommit(writer->session.db)) run(writer, LITE_ROLLBACK, NULL);
}

/* ---- One write, inside of a transaction --------------------------------------------------------------------- */

static int32_t put(void *context, enum store_statement which, const struct row *values, struct kerf_error *err) {
    struct sqlite_session *session = context;
    int32_t code = sqlite_do(session, (int)which, values, NULL, NULL, err);
    if (code == KERF_OK && which == SQL_UPDATE_STATE && sqlite3_changes(session->db) != 1)
        return kerf_error_set(err, KERF_EUNKNOWN, "the store does not have this job any more");
    return code;
}

static int32_t create_job(struct sqlite_writer *writer, struct store_write *write, struct kerf_error *err) {
    struct sqlite_session *session = &writer->session;
    struct row *room = &writer->room;
    row_clear(room);
    int32_t code = row_add_job(room, write->of, write->now_s, err);
    if (code == KERF_OK) code = sqlite_do(session, LITE_INSERT_JOB, room, NULL, NULL, err);
    if (code != KERF_OK) return code;
    write->job = sqlite3_changes(session->db) ? sqlite3_last_insert_rowid(session->db) : 0;
    if (write->job == 0) return KERF_OK; /* the job_id was taken meanwhile */
    row_clear(room);
    code = row_add_state(room, write->of, write->version, err);
    row_add_integer(room, write->job);
    return code == KERF_OK ? sqlite_do(session, LITE_INSERT_STATE, room, NULL, NULL, err) : code;
}

static int32_t delete_job(struct sqlite_writer *writer, const struct store_write *write, struct kerf_error *err) {
    static const int statements[] = {LITE_DELETE_JOB, LITE_DELETE_STATE, SQL_DELETE_ARMS};
    int32_t code = KERF_OK;
    row_clear(&writer->room);
    row_add_integer(&writer->room, write->job);
    for (size_t i = 0; i < sizeof statements / sizeof *statements && code == KERF_OK; i++)
        code = sqlite_do(&writer->session, statements[i], &writer->room, NULL, NULL, err);
    return code;
}

static int32_t apply(struct sqlite_writer *writer, struct store_write *write, struct kerf_error *err) {
    int32_t code = KERF_OK;
    if (write->kind == STORE_DELETE) return delete_job(writer, write, err);
    if (write->kind == STORE_CREATE || write->kind == STORE_IMPORT) code = create_job(writer, write, err);
    if (code != KERF_OK || write->kind == STORE_CREATE || write->job == 0) return code;
    return store_put_changes(write, &writer->room, put, &writer->session, err);
}

/* ---- Transactions ------------------------------------------------------------------------------------------- */

/* What is committed to a file that was removed or replaced is lost, and SQLite does not look. */
static int32_t check_place(sqlite3 *db, struct kerf_error *err) {
    int has_moved = 0;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    if (!has_moved) return KERF_OK;
    return kerf_error_set(err, KERF_EIO,
                          "the store: its file was moved, removed or replaced; put it back, or restart the server");
}

/* The first `count` writes of the list in one transaction. */
static int32_t commit(struct sqlite_writer *writer, struct store_write *first, int count, struct kerf_error *err) {
    int32_t code = run(writer, LITE_BEGIN, err);
    if (code != KERF_OK) return code;
    for (struct store_write *write = first; count > 0 && code == KERF_OK; count--, write = write->next)
        code = apply(writer, write, err);
    if (code == KERF_OK) code = check_place(writer->session.db, err);
    if (code == KERF_OK) code = run(writer, LITE_COMMIT, err);
    if (code != KERF_OK) roll_back(writer);
    return code;
}

static void note(struct sqlite_writer *writer, int count, int failed, double took_s) {
    pthread_mutex_lock(&writer->lock);
    writer->counts.commits++;
    writer->counts.writes += (uint64_t)count;
    writer->counts.failed += (uint64_t)failed;
    writer->counts.commit_s += took_s;
    writer->counts.queue -= count;
    pthread_mutex_unlock(&writer->lock);
}

static void commit_batch(struct sqlite_writer *writer, struct store_write *first, int count) {
    struct kerf_error err = {.code = KERF_OK};
    double begin_s = clock_ticks_s();
    int32_t code = commit(writer, first, count, &err);
    int one_by_one = code != KERF_OK && count > 1;
    if (!one_by_one) note(writer, count, code != KERF_OK, clock_ticks_s() - begin_s);
    for (struct store_write *write = first, *next; count > 0; count--, write = next) {
        next = write->next; /* done ends the write's life */
        if (one_by_one) {
            begin_s = clock_ticks_s();
            code = commit(writer, write, 1, &err);
            note(writer, 1, code != KERF_OK, clock_ticks_s() - begin_s);
        }
        write->done(write, code, &err);
    }
}

/* ---- What deleted jobs left --------------------------------------------------------------------------------- */

static int deletes(const struct store_write *write, int count) {
    for (; count > 0; count--, write = write->next)
        if (write->kind == STORE_DELETE) return 1;
    return 0;
}

static int32_t visit_key(void *context, const struct row *row, struct kerf_error *err) {
    (void)err;
    *(int64_t *)context = row_integer(row, 0);
    return KERF_OK;
}

/* Removes a piece; 0 when there is none, or when it could not. */
static int purge_piece(struct sqlite_writer *writer) {
    static const enum sqlite_statement pieces[] = {LITE_PURGE_TRIALS, LITE_PURGE_COSTS, LITE_PURGE_JOB};
    struct sqlite_session *session = &writer->session;
    int64_t job = 0;
    sqlite_do(session, LITE_FIND_DELETED, NULL, visit_key, &job, NULL);
    if (job == 0 || run(writer, LITE_BEGIN, NULL) != KERF_OK) return 0;
    row_clear(&writer->room);
    row_add_integer(&writer->room, job);
    int32_t code = KERF_OK;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces && code == KERF_OK; i++) {
        code = sqlite_do(session, pieces[i], &writer->room, NULL, NULL, NULL);
        if (sqlite3_changes(session->db) > 0) break;
    }
    if (code == KERF_OK) code = run(writer, LITE_COMMIT, NULL);
    if (code != KERF_OK) roll_back(writer);
    return code == KERF_OK;
}

/* With the queue locked before and after. */
static void purge(struct sqlite_writer *writer) {
    pthread_mutex_unlock(&writer->lock);
    writer->purges = purge_piece(writer);
    pthread_mutex_lock(&writer->lock);
}

/* ---- The thread --------------------------------------------------------------------------------------------- */

static void *work(void *context) {
    struct sqlite_writer *writer = context;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (writer->first == NULL && !writer->is_stopping && !writer->purges)
            pthread_cond_wait(&writer->filled, &writer->lock);
        if (writer->first == NULL && writer->is_stopping) break;
        if (writer->first == NULL) {
            purge(writer);
            continue;
        }
        struct store_write *first = writer->first, *last = first;
        int count = 1;
        while (count < BATCH_MAX && last->next) last = last->next, count++;
        writer->first = last->next;
        if (writer->first == NULL) writer->last = &writer->first;
        pthread_mutex_unlock(&writer->lock);
        writer->purges |= deletes(first, count);
        commit_batch(writer, first, count);
        pthread_mutex_lock(&writer->lock);
        if (writer->purges) purge(writer);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

int32_t sqlite_writer_start(struct sqlite_writer *writer, const char *path, struct kerf_error *err) {
    int32_t code = sqlite_start_checkpoint(&writer->checkpoint, path, writer->session.db, err);
    if (code != KERF_OK) return code;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->filled, NULL);
    writer->last = &writer->first;
    writer->purges = 1; /* what a crash left */
    writer->has_thread = pthread_create(&writer->thread, NULL, work, writer) == 0;
    return writer->has_thread ? KERF_OK : kerf_error_set(err, KERF_ENOMEM, "there is no thread for the store's writer");
}

void sqlite_writer_submit(struct sqlite_writer *writer, struct store_write *write) {
    write->next = NULL;
    pthread_mutex_lock(&writer->lock);
    int was_empty = writer->first == NULL;
    *writer->last = write;
    writer->last = &write->next;
    writer->counts.queue++;
    pthread_mutex_unlock(&writer->lock);
    if (was_empty) pthread_cond_signal(&writer->filled);
}

void sqlite_writer_count(struct sqlite_writer *writer, struct store_counts *ret_counts) {
    *ret_counts = (struct store_counts){0};
    if (!writer->has_thread) return;
    pthread_mutex_lock(&writer->lock);
    *ret_counts = writer->counts;
    pthread_mutex_unlock(&writer->lock);
}

void sqlite_writer_stop(struct sqlite_writer *writer) {
    if (writer->has_thread) {
        pthread_mutex_lock(&writer->lock);
        writer->is_stopping = 1;
        pthread_mutex_unlock(&writer->lock);
        pthread_cond_signal(&writer->filled);
        pthread_join(writer->thread, NULL);
        pthread_mutex_destroy(&writer->lock);
        pthread_cond_destroy(&writer->filled);
        writer->has_thread = 0;
    }
    sqlite_stop_checkpoint(&writer->checkpoint);
    if (writer->session.db) sqlite_disconnect(&writer->session);
    row_free(&writer->room);
}
