/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving what the write-ahead log holds into the database file, without the writer having to wait for it: a thread of
 * its own does nearly all of it while the writer goes on. What came in meanwhile is little; the writer moves that
 * itself, so that the log is empty once and begins anew instead of growing as long as the load lasts.
 */
#include "store/sqlite_checkpoint.h"

enum { LOG_PAGES = 4096 };

static void move(sqlite3 *db) { /* what fails now is tried again after the next commits */
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

int32_t sqlite_start_checkpoint(struct sqlite_checkpoint *checkpoint, const char *path, sqlite3 *writer,
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

void sqlite_stop_checkpoint(struct sqlite_checkpoint *checkpoint) {
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
