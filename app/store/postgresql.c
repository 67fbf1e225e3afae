/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs in a PostgreSQL database, which several servers share. Each change of a job takes its version one further. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "store/postgresql_schema.h"
#include "store/postgresql_writer.h"

struct pg_store {
    struct store store;
    struct pg_pool pool;
    struct pg_writer writer;
};

static struct pg_store *of(struct store *store) { return (struct pg_store *)store; }

/* ---- Open and close ----------------------------------------------------------------------------------------- */

static void pg_close(struct store *base) {
    struct pg_store *store = of(base);
    pg_writer_stop(&store->writer);
    while (store->pool.idle) {
        struct pg_session *session = store->pool.idle;
        store->pool.idle = session->next;
        pg_disconnect(session);
    }
    pthread_mutex_destroy(&store->pool.lock);
    free(store->pool.url);
    free(store);
}

static int32_t migrate(const char *url, int creates, struct kerf_error *err) {
    struct pg_session *session;
    int32_t code = pg_connect(url, 0, &session, err);
    if (code != KERF_OK) return code;
    code = pg_migrate(session->connection, creates, err);
    pg_disconnect(session);
    return code;
}

static int32_t pg_open(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err) {
    struct pg_session *first;
    if (libpq_open(err) != KERF_OK) return KERF_EUNSUPPORTED;
    struct pg_store *store = calloc(1, sizeof *store);
    if (store == NULL) return error_no_memory(err, "the store");
    store->store.methods = &store_postgresql;
    pthread_mutex_init(&store->pool.lock, NULL);
    pg_writer_open(&store->writer, &store->pool);
    store->pool.url = strdup(where);
    int32_t code = store->pool.url ? KERF_OK : error_no_memory(err, "the store");
    if (code == KERF_OK) code = migrate(where, (flags & STORE_MAY_CREATE) != 0, err);
    if (code == KERF_OK) code = pg_connect(where, 1, &first, err);
    if (code == KERF_OK) pg_give_back(&store->pool, first);
    if (code == KERF_OK && flags & STORE_SERVE) code = pg_writer_start(&store->writer, err);
    if (code == KERF_OK)
        *ret_store = &store->store;
    else
        pg_close(&store->store);
    return code;
}

/* ---- Questions ---------------------------------------------------------------------------------------------- */

enum { QUESTIONS_MAX = 4 };

/* As of one moment: inside of a decision nobody else changes them. The answers go to ret_answers. */
static int32_t ask_in(struct pg_session *session, int is_decision, const struct store_question *questions,
                      int32_t count, PGresult **ret_answers, struct kerf_error *err) {
    PGresult *results[QUESTIONS_MAX + 1];
    int first = !is_decision && count > 1;
    if (first) pg_send(session, PG_BEGIN_READING, NULL);
    for (int32_t i = 0; i < count; i++) pg_send(session, (int)questions[i].which, questions[i].values);
    if (first) pg_send(session, PG_COMMIT, NULL);
    int32_t code = pg_collect(session, results, first + count, err);
    if (first) pg_clear(results, 1);
    for (int32_t i = 0; i < count; i++) ret_answers[i] = results[first + i];
    return code;
}

static int32_t show(const struct store_question *question, const PGresult *answer, struct kerf_error *err) {
    struct row row = {0};
    int32_t code = KERF_OK;
    for (int i = 0, count = question->visit ? pq.ntuples(answer) : 0; i < count && code == KERF_OK; i++) {
        pg_read_row(answer, i, &row);
        code = question->visit(question->context, &row, err);
    }
    return code;
}

static int32_t pg_ask_all(struct store *base, const struct store_turn *turn, const struct store_question *questions,
                          int32_t count, struct kerf_error *err) {
    struct pg_pool *pool = &of(base)->pool;
    struct pg_session *own = turn ? turn->session : NULL, *session = own;
    PGresult *answers[QUESTIONS_MAX];
    int again = 0;
    int32_t code = KERF_OK;
    assert(count <= QUESTIONS_MAX);
    do {
        if (own == NULL) code = pg_take(pool, &session, err);
        if (code != KERF_OK) return code;
        code = ask_in(session, own != NULL, questions, count, answers, err);
        again = own == NULL && session->is_broken && session->is_used;
        if (again) pg_clear(answers, count);
        if (own == NULL) pg_give_back(pool, session);
    } while (again);
    for (int32_t i = 0; i < count && code == KERF_OK; i++) code = show(&questions[i], answers[i], err);
    pg_clear(answers, count);
    return code;
}

static int32_t pg_tell(struct store *base, const struct store_question *question, struct kerf_error *err) {
    PGresult *answer;
    int32_t code = pg_ask(&of(base)->pool, (int)question->which, question->values, &answer, err);
    if (code != KERF_OK) return code;
    code = show(question, answer, err);
    pg_clear(&answer, 1);
    return code;
}

/* ---- Decisions ---------------------------------------------------------------------------------------------- */

static int32_t pg_begin(struct store *store, const char *job_id, const struct store_turn *known,
                        struct store_turn *ret_turn, struct kerf_error *err) {
    return pg_writer_begin(&of(store)->writer, job_id, known, ret_turn, err);
}

static int32_t pg_confirm(struct store *store, const struct store_turn *turn, int32_t *ret_is_stale,
                          struct kerf_error *err) {
    return pg_writer_confirm(&of(store)->writer, turn, ret_is_stale, err);
}

static void pg_cancel(struct store *store, struct store_turn *turn) {
    pg_give_back(&of(store)->pool, turn->session);
    turn->session = NULL;
}

static void pg_submit(struct store *store, struct store_turn *turn, struct store_write *write) {
    pg_writer_submit(&of(store)->writer, turn, write);
}

static void pg_count(struct store *store, struct store_counts *ret_counts) {
    pg_writer_count(&of(store)->writer, ret_counts);
}

const struct store_methods store_postgresql = {
    .name = "postgresql",
    .scheme = "postgresql://",
    .blocks = 1,
    .open = pg_open,
    .close = pg_close,
    .count = pg_count,
    .begin = pg_begin,
    .confirm = pg_confirm,
    .cancel = pg_cancel,
    .submit = pg_submit,
    .ask = pg_ask_all,
    .tell = pg_tell,
};
