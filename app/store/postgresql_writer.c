/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decision that is based on cached data is one statement, which changes nothing if the version has changed
 * meanwhile. A few threads take the statements that queued up during their last commit: one flush makes many
 * decisions durable, in one transaction. No statement of such a transaction waits: a row that another server has
 * locked is passed over as if its version were another (PG_IF_SO), and its decision is made anew under a lock of its
 * own. So there are no deadlocks, and a server that hangs holds up only requests for the same job.
 *
 * Any other decision is one transaction under the lock on the job's state, in two round trips: BEGIN and the lock, then
 * the changes and COMMIT. Whoever has the lock reads what the one before it committed. READ COMMITTED is enough for
 * both, and has no serialization failures.
 *
 * When a transaction of several fails, its decisions are tried again one by one, so that each is answered for itself.
 * When the connection broke, it is unknown whether the transaction was committed, and all of them fail: the client
 * asks again and finds what is stored.
 */
#include "store/postgresql_store.h"

#include "base/clock.h"
#include "store/store.h"

enum { BATCH_MAX = 64 };

static void note_queued(struct pg_writer *writer) {
    pthread_mutex_lock(&writer->lock);
    writer->counts.queue++;
    pthread_mutex_unlock(&writer->lock);
}

static void note_done(struct pg_writer *writer, int writes, int failed, double took_s) {
    pthread_mutex_lock(&writer->lock);
    writer->counts.commits++;
    writer->counts.writes += (uint64_t)writes;
    writer->counts.failed += (uint64_t)failed;
    writer->counts.commit_s += took_s;
    writer->counts.queue -= writes;
    pthread_mutex_unlock(&writer->lock);
}

/* ---- Turns -------------------------------------------------------------------------------------------------- */

/* A job that is made while this waits for the lock is not seen; what creates it then finds its job_id taken. */
static int32_t lock_job(struct pg_session *session, const char *job_id, struct store_turn *ret_turn,
                        struct kerf_error *err) {
    struct row values = {0};
    PGresult *results[2];
    row_add_wanted(&values, job_id);
    pg_send(session, PG_BEGIN, NULL);
    pg_send(session, PG_TURN, &values);
    int32_t code = pg_collect(session, results, 2, err);
    *ret_turn = (struct store_turn){.session = session};
    if (code == KERF_OK && pq.ntuples(results[1]) > 0) {
        ret_turn->job = pg_integer(results[1], 0, 0);
        ret_turn->version = pg_integer(results[1], 0, 1);
    }
    pg_clear(results, 2);
    return code;
}

int32_t pg_writer_begin(struct pg_writer *writer, const char *job_id, const struct store_turn *known,
                        struct store_turn *ret_turn, struct kerf_error *err) {
    int again = 0;
    int32_t code = KERF_OK;
    if (known->job && writer->num_threads) { /* most often no other server changed it */
        *ret_turn = (struct store_turn){.job = known->job, .version = known->version, .is_assumed = 1};
        return KERF_OK;
    }
    do {
        struct pg_session *session;
        struct store_turn turn;
        code = pg_take(writer->pool, &session, err);
        if (code != KERF_OK) return code;
        code = lock_job(session, job_id, &turn, err);
        again = code != KERF_OK && session->is_broken && session->is_used;
        if (code == KERF_OK)
            *ret_turn = turn;
        else
            pg_give_back(writer->pool, session);
    } while (again);
    return code;
}

int32_t pg_writer_confirm(struct pg_writer *writer, const struct store_turn *turn, int32_t *ret_is_stale,
                          struct kerf_error *err) {
    struct row values = {0};
    PGresult *result;
    row_add_integer(&values, turn->job);
    int32_t code = pg_ask(writer->pool, PG_VERSION, &values, &result, err);
    if (code != KERF_OK) return code;
    *ret_is_stale = pq.ntuples(result) == 0 || pg_integer(result, 0, 0) != turn->version;
    pg_clear(&result, 1);
    return KERF_OK;
}

/* ---- Decisions on assumed turns ----------------------------------------------------------------------------- */

/* Of one trial, and of the arm of its size at most. */
static int is_one_statement(const struct store_write *write) {
    const int32_t trial = KERF_JOB_CHANGED_TRIAL, arm = KERF_JOB_CHANGED_ARM;
    if (write->kind != STORE_DECIDE || write->num_expired > 0 || write->trial == NULL) return 0;
    if (write->changes & KERF_JOB_CHANGED_ARMS || !(write->changes & (trial | KERF_JOB_CHANGED_SEEN))) return 0;
    return !(write->changes & arm) || (write->changes & trial && !write->trial_is_new);
}

/* It has no row when the turn was stale. */
static int32_t send_if_so(struct pg_session *session, const struct store_write *write, struct row *row,
                          struct kerf_error *err) {
    const struct kerf_arm *arm = store_changed_arm(write);
    enum pg_statement which = PG_SEEN_IF_SO;
    row_clear(row);
    int32_t code = row_add_state(row, write->of, write->version, err);
    if (code != KERF_OK) return code;
    row_add_integer(row, write->job);
    if (write->trial_is_new) {
        which = PG_NEW_TRIAL_IF_SO;
        row_add_text(row, write->reason);
        row_add_trial(row, write->trial);
    } else {
        int is_whole = (write->changes & KERF_JOB_CHANGED_TRIAL) != 0;
        which = arm ? PG_TRIAL_AND_ARM_IF_SO : is_whole ? PG_TRIAL_IF_SO : PG_SEEN_IF_SO;
        if (arm) row_add_arm(row, arm);
        if (is_whole)
            row_add_trial_changes(row, write->trial);
        else
            row_add_real(row, write->trial->seen_s);
        row_add_integer(row, write->trial->number);
    }
    pg_send(session, which, row);
    return KERF_OK;
}

/* The first `count` writes of the list in one transaction. */
static int32_t commit_in(struct pg_session *session, struct store_write *first, int count, struct kerf_error *err) {
    PGresult *results[BATCH_MAX + 1]; /* of BEGIN and the writes */
    struct store_write *write = first;
    struct row row = {0};
    int32_t code = KERF_OK;
    pg_send(session, PG_BEGIN, NULL);
    for (int i = 0; i < count && code == KERF_OK; i++, write = write->next)
        code = send_if_so(session, write, &row, err);
    if (code == KERF_OK) pg_send(session, PG_COMMIT, NULL);
    int32_t failed = pg_collect(session, results, count + 1, code == KERF_OK ? err : NULL);
    if (code == KERF_OK) code = failed;
    write = first;
    for (int i = 0; i < count && code == KERF_OK; i++, write = write->next)
        write->is_stale = pq.ntuples(results[i + 1]) == 0;
    pg_clear(results, count + 1);
    row_free(&row);
    return code;
}

static int32_t commit_several(struct pg_writer *writer, struct store_write *first, int count, int *ret_is_broken,
                              struct kerf_error *err) {
    struct pg_session *session = NULL;
    double begin_s = clock_ticks_s();
    int32_t code = pg_take(writer->pool, &session, err);
    if (code == KERF_OK) code = commit_in(session, first, count, err);
    *ret_is_broken = session == NULL || session->is_broken;
    pg_give_back(writer->pool, session);
    if (code == KERF_OK || *ret_is_broken || count == 1)
        note_done(writer, count, code == KERF_OK ? 0 : count, clock_ticks_s() - begin_s);
    return code;
}

static void commit_batch(struct pg_writer *writer, struct store_write *first, int count) {
    struct kerf_error err = {.code = KERF_OK};
    int is_broken;
    int32_t code = commit_several(writer, first, count, &is_broken, &err);
    int one_by_one = code != KERF_OK && !is_broken && count > 1;
    for (struct store_write *write = first, *next; count > 0; count--, write = next) {
        next = write->next; /* done ends the write's life */
        if (one_by_one) code = commit_several(writer, write, 1, &is_broken, &err);
        write->done(write, code, &err);
    }
}

static void *work(void *context) {
    struct pg_writer *writer = context;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (writer->first == NULL && !writer->is_over) pthread_cond_wait(&writer->filled, &writer->lock);
        struct store_write *first = writer->first, *last = first;
        if (first == NULL) break;
        int count = 1;
        while (count < BATCH_MAX && last->next) last = last->next, count++;
        writer->first = last->next;
        if (writer->first == NULL) writer->last = &writer->first;
        pthread_mutex_unlock(&writer->lock);
        commit_batch(writer, first, count);
        pthread_mutex_lock(&writer->lock);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

static void queue(struct pg_writer *writer, struct store_write *write) {
    write->next = NULL;
    pthread_mutex_lock(&writer->lock);
    *writer->last = write;
    writer->last = &write->next;
    pthread_mutex_unlock(&writer->lock);
    pthread_cond_signal(&writer->filled);
}

/* ---- Any write, under the lock on its job ------------------------------------------------------------------- */

/* Without a lock from begin, as by an import or of an assumed turn: it is taken here. */
static int32_t lock_for(struct pg_session *session, const struct store_turn *turn, struct store_write *write,
                        struct kerf_error *err) {
    struct row values = {0};
    PGresult *results[2];
    row_add_integer(&values, write->job);
    pg_send(session, PG_BEGIN, NULL);
    pg_send(session, PG_LOCK_JOB, &values);
    int32_t code = pg_collect(session, results, 2, err);
    int is_there = code == KERF_OK && pq.ntuples(results[1]) > 0;
    if (turn->is_assumed && code == KERF_OK)
        write->is_stale = !is_there || pg_integer(results[1], 0, 0) != turn->version;
    else if (code == KERF_OK && write->kind == STORE_DECIDE && !is_there)
        code = kerf_error_set(err, KERF_EUNKNOWN, "the store does not have this job any more");
    pg_clear(results, 2);
    return code;
}

/* write->job becomes the job's key, or 0 where its job_id was taken meanwhile. A job without a history is committed. */
static int32_t create_job(struct pg_session *session, struct store_write *write, struct row *row,
                          struct kerf_error *err) {
    PGresult *made = NULL;
    row_clear(row);
    int32_t code = row_add_job(row, write->of, write->now_s, err);
    if (code == KERF_OK) code = row_add_state(row, write->of, write->version, err);
    if (code != KERF_OK) return code;
    pg_send(session, PG_INSERT_JOB, row);
    if (write->kind == STORE_CREATE) pg_send(session, PG_COMMIT, NULL);
    code = pg_collect(session, &made, 1, err);
    write->job = code == KERF_OK && pq.ntuples(made) > 0 ? pg_integer(made, 0, 0) : 0;
    pg_clear(&made, 1);
    return code;
}

static void send_delete(struct pg_session *session, const struct store_write *write) {
    struct row key = {0};
    row_add_integer(&key, write->job);
    pg_send(session, PG_DELETE_TRIALS, &key);
    pg_send(session, PG_DELETE_COSTS, &key);
    pg_send(session, SQL_DELETE_ARMS, &key);
    pg_send(session, PG_DELETE_JOB, &key);
}

static int32_t put(void *context, enum store_statement which, const struct row *values, struct kerf_error *err) {
    (void)err;
    pg_send(context, (int)which, values);
    return KERF_OK;
}

static int32_t commit(struct pg_session *session, struct store_write *write, struct kerf_error *err) {
    struct row row = {0};
    int makes = write->kind == STORE_CREATE || write->kind == STORE_IMPORT;
    int32_t code = makes ? create_job(session, write, &row, err) : KERF_OK;
    if (code != KERF_OK || (makes && (write->kind == STORE_CREATE || write->job == 0))) {
        row_free(&row);
        return code;
    }
    if (write->kind == STORE_DELETE)
        send_delete(session, write);
    else
        code = store_put_changes(write, &row, put, session, err);
    if (code == KERF_OK) pg_send(session, PG_COMMIT, NULL);
    int32_t failed = pg_collect(session, NULL, 0, code == KERF_OK ? err : NULL);
    row_free(&row);
    return code == KERF_OK ? failed : code;
}

void pg_writer_submit(struct pg_writer *writer, struct store_turn *turn, struct store_write *write) {
    struct pg_session *session = turn->session;
    struct kerf_error err = {.code = KERF_OK};
    double begin_s = clock_ticks_s();
    int32_t code = KERF_OK;
    note_queued(writer);
    if (turn->is_assumed && is_one_statement(write)) {
        queue(writer, write);
        return;
    }
    if (session == NULL) code = pg_take(writer->pool, &session, &err);
    if (code == KERF_OK && turn->session == NULL) code = lock_for(session, turn, write, &err);
    if (code == KERF_OK && !write->is_stale) code = commit(session, write, &err);
    note_done(writer, 1, code != KERF_OK, clock_ticks_s() - begin_s);
    turn->session = NULL;
    pg_give_back(writer->pool, session); /* before done, which ends the life of the turn */
    write->done(write, code, &err);
}

/* ---- The threads -------------------------------------------------------------------------------------------- */

void pg_writer_open(struct pg_writer *writer, struct pg_pool *pool) {
    *writer = (struct pg_writer){.pool = pool};
    writer->last = &writer->first;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->filled, NULL);
}

int32_t pg_writer_start(struct pg_writer *writer, struct kerf_error *err) {
    while (writer->num_threads < PG_WRITER_THREADS &&
           pthread_create(&writer->threads[writer->num_threads], NULL, work, writer) == 0)
        writer->num_threads++;
    return writer->num_threads > 0 ? KERF_OK
                                   : kerf_error_set(err, KERF_ENOMEM, "there is no thread for the store's writer");
}

void pg_writer_stop(struct pg_writer *writer) {
    pthread_mutex_lock(&writer->lock);
    writer->is_over = 1;
    pthread_cond_broadcast(&writer->filled);
    pthread_mutex_unlock(&writer->lock);
    for (int i = 0; i < writer->num_threads; i++) pthread_join(writer->threads[i], NULL);
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->filled);
}

void pg_writer_count(struct pg_writer *writer, struct store_counts *ret_counts) {
    pthread_mutex_lock(&writer->lock);
    *ret_counts = writer->counts;
    pthread_mutex_unlock(&writer->lock);
}
