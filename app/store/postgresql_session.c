/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections to PostgreSQL: the pool, and questions with their answers. There are as many connections as threads use
 * at once. One that broke is given up; what asks again does it on a new one. No answer is waited for longer than
 * ANSWER_MS, so that a database that hangs gives an error and not a server that hangs.
 */
#include <endian.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "store/postgresql_parts.h"

enum { ANSWER_MS = 30000 };
static const double REFUSES_S = 0.2;

/* Durable before the answer. A decision's lock is held for some milliseconds, so that who waits longer waits for a
 * server that hangs; PostgreSQL ends its transaction. Indexes from the first row on, before there are statistics. */
static const char settings[] =
    "SET client_min_messages=warning; SET lock_timeout='10s'; SET idle_in_transaction_session_timeout='20s';"
    "SET enable_seqscan=off; SET plan_cache_mode=force_generic_plan; SET default_transaction_isolation='read "
    "committed';"
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit')='off'";

double pg_clock_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int32_t pg_fail(PGconn *connection, const PGresult *result, struct kerf_error *err) {
    const char *why = result ? pq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *state = result ? pq.resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    int32_t code = state && strncmp(state, "22", 2) == 0 ? KERF_EINVALID : KERF_EIO; /* 22: it takes no such text */
    if (why == NULL) why = pq.errorMessage(connection);
    size_t length = strcspn(why, "\n");
    if (length == 0) return kerf_error_set(err, code, "the store: the database does not answer");
    return kerf_error_set(err, code, "the store: %.*s", length > 300 ? 300 : (int)length, why);
}

/* ---- Values ------------------------------------------------------------------------------------------------ */

static void add(struct pg_values *values, const void *bytes, int length, int format) {
    values->values[values->count] = bytes;
    values->lengths[values->count] = length;
    values->formats[values->count++] = format;
}

static void add_bits(struct pg_values *values, uint64_t bits) {
    unsigned char *room = values->room[values->count];
    bits = htobe64(bits);
    memcpy(room, &bits, sizeof bits);
    add(values, room, sizeof bits, 1);
}

void pg_add_null(struct pg_values *values) { add(values, NULL, 0, 0); }
void pg_add_text(struct pg_values *values, const char *text) { add(values, text, 0, 0); }
/* Bytes of the code point at c, 0 where there is none. */
static int code_point(const unsigned char *c) {
    int length = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
    unsigned char least = c[0] == 0xE0 ? 0xA0 : c[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char most = c[0] == 0xED ? 0x9F : c[0] == 0xF4 ? 0x8F : 0xBF;
    for (int i = 1; i < length; i++, least = 0x80, most = 0xBF)
        if (c[i] < least || c[i] > most) return 0;
    return length;
}

void pg_add_wanted(struct pg_values *values, const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    for (int length = 1; length > 0 && *c; c += length) length = code_point(c);
    pg_add_text(values, *c ? NULL : text);
}

void pg_add_bytes(struct pg_values *values, const void *bytes, int length) { add(values, bytes, length, 1); }
void pg_add_integer(struct pg_values *values, int64_t value) { add_bits(values, (uint64_t)value); }

void pg_add_real(struct pg_values *values, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        pg_add_null(values);
    else
        add_bits(values, bits);
}

int pg_is_null(const PGresult *result, int row, int column) { return pq.getisnull(result, row, column); }

static uint64_t bits_of(const PGresult *result, int row, int column) {
    uint64_t bits = 0;
    if (pq.getlength(result, row, column) == sizeof bits) memcpy(&bits, pq.getvalue(result, row, column), sizeof bits);
    return be64toh(bits);
}

int64_t pg_integer(const PGresult *result, int row, int column) { return (int64_t)bits_of(result, row, column); }

double pg_real(const PGresult *result, int row, int column, double otherwise) {
    uint64_t bits = bits_of(result, row, column);
    double value;
    if (pg_is_null(result, row, column)) return otherwise;
    memcpy(&value, &bits, sizeof value);
    return value;
}

const char *pg_text(const PGresult *result, int row, int column) {
    return pg_is_null(result, row, column) ? NULL : pq.getvalue(result, row, column);
}

/* ---- Questions and answers --------------------------------------------------------------------------------- */

static const char *const texts[] = {
#define PG_WORDS(name, sql) sql,
    PG_STATEMENTS(PG_WORDS)
#undef PG_WORDS
};
static const char *const names[] = {
#define PG_WORDS(name, sql) #name,
    PG_STATEMENTS(PG_WORDS)
#undef PG_WORDS
};

void pg_send(struct pg_session *session, enum pg_statement which, const struct pg_values *values) {
    static const struct pg_values none;
    if (values == NULL) values = &none;
    if (session->is_broken) return;
    if (pq.sendQueryPrepared(session->connection, names[which], values->count, values->values, values->lengths,
                             values->formats, 1))
        session->sent++;
    else
        session->is_broken = 1;
}

/* The next result, or NULL at the end of an answer; or when nothing comes, and the session is broken. */
static PGresult *next_result(struct pg_session *session) {
    PGconn *connection = session->connection;
    while (!session->is_broken && pq.isBusy(connection)) {
        struct pollfd wanted = {.fd = pq.socket(connection), .events = POLLIN};
        if (poll(&wanted, 1, ANSWER_MS) == 0 || !pq.consumeInput(connection)) session->is_broken = 1;
    }
    return session->is_broken ? NULL : pq.getResult(connection);
}

/* Up to the sync; a session that never says it is out of step. */
static void settle(struct pg_session *session) {
    int ends = 0;
    while (!session->is_broken) {
        PGresult *result = next_result(session);
        int is_sync = result && pq.resultStatus(result) == PGRES_PIPELINE_SYNC;
        ends = result ? 0 : ends + 1;
        pq.clear(result);
        if (is_sync) break;
        if (ends > 2) session->is_broken = 1;
    }
    if (pq.status(session->connection) != CONNECTION_OK) session->is_broken = 1;
    session->owes_sync = 0;
}

static int32_t read_answer(struct pg_session *session, PGresult **ret_result, struct kerf_error *err) {
    PGresult *result = next_result(session), *rest;
    ExecStatusType status = result ? pq.resultStatus(result) : PGRES_FATAL_ERROR;
    int32_t code = KERF_OK;
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) code = pg_fail(session->connection, result, err);
    while (result && (rest = next_result(session)) != NULL) pq.clear(rest);
    *ret_result = result;
    return code;
}

int32_t pg_collect(struct pg_session *session, PGresult **ret_results, int room, struct kerf_error *err) {
    int32_t code = KERF_OK;
    for (int i = 0; i < room; i++) ret_results[i] = NULL;
    if (!session->is_broken && !pq.pipelineSync(session->connection)) session->is_broken = 1;
    for (int i = 0; i < session->sent && !session->is_broken; i++) {
        PGresult *result;
        int32_t failed = read_answer(session, &result, code == KERF_OK ? err : NULL);
        if (code == KERF_OK) code = failed;
        if (i < room)
            ret_results[i] = result;
        else
            pq.clear(result);
    }
    session->sent = 0;
    settle(session);
    return code == KERF_OK && session->is_broken ? pg_fail(session->connection, NULL, err) : code;
}

void pg_clear(PGresult **results, int count) {
    for (int i = 0; i < count; i++) pq.clear(results[i]);
}

/* ---- Sessions ---------------------------------------------------------------------------------------------- */

static void be_silent(void *context, const char *words) { (void)context, (void)words; }

static PGconn *open_connection(const char *url) { /* what stands behind dbname comes from the URL, and wins */
    static const char *const keys[] = {"connect_timeout",           "tcp_user_timeout", "keepalives_idle",
                                       "keepalives_interval",       "keepalives_count", "client_encoding",
                                       "fallback_application_name", "dbname",           NULL};
    const char *const values[] = {"5", "15000", "10", "5", "3", "UTF8", "kerf", url, NULL};
    return pq.connectdbParams(keys, values, 1);
}

static int32_t prepare_all(struct pg_session *session, struct kerf_error *err) {
    if (!pq.enterPipelineMode(session->connection)) return pg_fail(session->connection, NULL, err);
    for (int i = 0; i < PG_NUM_STATEMENTS && !session->is_broken; i++, session->sent++)
        if (!pq.sendPrepare(session->connection, names[i], texts[i], 0, NULL)) session->is_broken = 1;
    return pg_collect(session, NULL, 0, err);
}

int32_t pg_connect(const char *url, int prepares, struct pg_session **ret_session, struct kerf_error *err) {
    struct pg_session *session = calloc(1, sizeof *session);
    if (session == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for a connection to the store");
    session->connection = open_connection(url);
    int32_t code = KERF_OK;
    if (session->connection == NULL || pq.status(session->connection) != CONNECTION_OK)
        code = pg_fail(session->connection, NULL, err);
    if (code == KERF_OK) {
        pq.setNoticeProcessor(session->connection, be_silent, NULL);
        PGresult *result = pq.exec(session->connection, settings);
        if (pq.resultStatus(result) != PGRES_TUPLES_OK) code = pg_fail(session->connection, result, err);
        pq.clear(result);
    }
    if (code == KERF_OK && prepares) code = prepare_all(session, err);
    if (code == KERF_OK)
        *ret_session = session;
    else
        pg_disconnect(session);
    return code;
}

void pg_disconnect(struct pg_session *session) {
    pq.finish(session->connection);
    free(session);
}

static int32_t connect_anew(struct pg_store *store, struct pg_session **ret_session, struct kerf_error *err) {
    pthread_mutex_lock(&store->lock);
    int is_refused = pg_clock_s() < store->refuses_until_s;
    if (is_refused && err) *err = store->refusal;
    pthread_mutex_unlock(&store->lock);
    if (is_refused) return KERF_EIO;
    struct kerf_error why = {.code = KERF_OK};
    int32_t code = pg_connect(store->url, 1, ret_session, &why);
    if (code == KERF_OK) return code;
    pthread_mutex_lock(&store->lock);
    store->refuses_until_s = pg_clock_s() + REFUSES_S;
    store->refusal = why;
    pthread_mutex_unlock(&store->lock);
    if (err) *err = why;
    return KERF_EIO;
}

/* An idle connection that has something to read was ended by the database. */
static int is_ended(const struct pg_session *session) {
    struct pollfd idle = {.fd = pq.socket(session->connection), .events = POLLIN};
    return poll(&idle, 1, 0) != 0;
}

int32_t pg_take(struct pg_store *store, struct pg_session **ret_session, struct kerf_error *err) {
    for (;;) {
        pthread_mutex_lock(&store->lock);
        struct pg_session *session = store->idle;
        if (session) store->idle = session->next;
        pthread_mutex_unlock(&store->lock);
        if (session == NULL) return connect_anew(store, ret_session, err);
        if (session->owes_sync) settle(session);
        if (!session->is_broken && !is_ended(session)) {
            session->is_used = 1;
            *ret_session = session;
            return KERF_OK;
        }
        pg_disconnect(session);
    }
}

/* Nobody waits for the answer: the next one who takes the session reads it. */
static void roll_back(struct pg_session *session) {
    pg_send(session, PG_ROLLBACK, NULL);
    session->sent = 0;
    session->owes_sync = 1;
    if (session->is_broken || !pq.pipelineSync(session->connection)) session->is_broken = 1;
}

void pg_give_back(struct pg_store *store, struct pg_session *session) {
    if (session == NULL) return;
    if (!session->is_broken && pq.transactionStatus(session->connection) != PQTRANS_IDLE) roll_back(session);
    if (session->is_broken) {
        pg_disconnect(session);
        return;
    }
    pthread_mutex_lock(&store->lock);
    session->next = store->idle;
    store->idle = session;
    pthread_mutex_unlock(&store->lock);
}

static int32_t ask_in(struct pg_session *session, enum pg_statement which, const struct pg_values *values,
                      PGresult **ret_result, struct kerf_error *err) {
    pg_send(session, which, values);
    int32_t code = pg_collect(session, ret_result, 1, err);
    if (code != KERF_OK) pg_clear(ret_result, 1);
    return code;
}

int32_t pg_ask(struct pg_store *store, const struct store_turn *turn, enum pg_statement which,
               const struct pg_values *values, PGresult **ret_result, struct kerf_error *err) {
    if (turn && turn->session) return ask_in(turn->session, which, values, ret_result, err);
    for (;;) {
        struct pg_session *session;
        int32_t code = pg_take(store, &session, err);
        if (code != KERF_OK) return code;
        code = ask_in(session, which, values, ret_result, err);
        int again = session->is_broken && session->is_used;
        pg_give_back(store, session);
        if (!again) return code;
    }
}
