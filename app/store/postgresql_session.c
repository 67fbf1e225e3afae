/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question whose connection broke is asked again on a new one. An answer that takes longer than ANSWER_MS is an error,
 * so that the server does not hang with its database. Integers are bigint and reals double precision throughout, and go
 * over the wire as they are.
 */
#include "store/postgresql_store.h"

#include <assert.h>
#include <ctype.h>
#include <dlfcn.h>
#include <endian.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/error_fill.h"

/* ---- libpq ----------------------------------------------------------------------------------------------------- */

static const char library[] = "libpq.so.5";
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *missing; /* what is; NULL: nothing */
struct libpq pq;

static void look_up(void) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    missing = handle ? NULL : library;
#define LIBPQ_LOOK_UP(name)                                                                                            \
    if (missing == NULL && (pq.name = (__typeof__(pq.name))dlsym(handle, "PQ" #name)) == NULL) missing = "PQ" #name;
    LIBPQ_FUNCTIONS(LIBPQ_LOOK_UP)
#undef LIBPQ_LOOK_UP
}

int32_t libpq_open(struct kerf_error *err) {
    pthread_once(&once, look_up);
    if (missing == NULL) return KERF_OK;
    return kerf_error_set(
        err, KERF_EUNSUPPORTED,
        "a PostgreSQL database needs libpq 14 or newer (Debian's package libpq5), which is missing: no %s", missing);
}

/* ---- Settings -------------------------------------------------------------------------------------------------- */

enum { ANSWER_MS = 30000 };
static const double REFUSES_S = 0.2;

/* Durable before the answer. A decision's lock is held for some milliseconds, so that who waits longer waits for a
 * server that hangs; PostgreSQL ends its transaction. Indexes from the first row on, before there are statistics. */
static const char settings[] =
    "SET client_min_messages=warning; SET lock_timeout='10s'; SET idle_in_transaction_session_timeout='20s';"
    "SET enable_seqscan=off; SET plan_cache_mode=force_generic_plan; SET default_transaction_isolation='read "
    "committed';"
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit')='off'";

int32_t pg_fail(PGconn *connection, const PGresult *result, struct kerf_error *err) {
    const char *why = result ? pq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *state = result ? pq.resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    int is_refused =
        state && (strncmp(state, "22", 2) == 0 || strncmp(state, "54", 2) == 0); /* no such text; too long */
    int32_t code = is_refused ? KERF_EINVALID : KERF_EIO;
    if (why == NULL) why = pq.errorMessage(connection);
    size_t length = strcspn(why, "\n");
    if (length == 0) return kerf_error_set(err, code, "the store: the database does not answer");
    return kerf_error_set(err, code, "the store: %.*s", length > 300 ? 300 : (int)length, why);
}

/* ---- Values ------------------------------------------------------------------------------------------------- */

enum { OID_BYTES = 17, OID_INTEGER = 20, OID_REAL = 701 }; /* of bytea, int8, float8 in pg_type.dat */

struct wire { /* values as libpq takes them */
    const char *values[ROW_VALUES_MAX];
    int lengths[ROW_VALUES_MAX], formats[ROW_VALUES_MAX];
    uint64_t room[ROW_VALUES_MAX];
};

static void set_bits(struct wire *wire, int at, uint64_t bits) {
    wire->room[at] = htobe64(bits);
    wire->values[at] = (const char *)&wire->room[at];
    wire->lengths[at] = sizeof wire->room[at];
    wire->formats[at] = 1;
}

static void make_wire(const struct row *row, struct wire *ret_wire) {
    for (int32_t i = 0; i < row->count; i++) {
        const struct value *value = &row->values[i];
        uint64_t bits;
        ret_wire->lengths[i] = ret_wire->formats[i] = 0;
        switch (value->kind) {
        case VALUE_NULL: ret_wire->values[i] = NULL; break;
        case VALUE_INTEGER: set_bits(ret_wire, i, (uint64_t)value->integer); break;
        case VALUE_REAL:
            memcpy(&bits, &value->real, sizeof bits);
            set_bits(ret_wire, i, bits);
            break;
        case VALUE_TEXT: ret_wire->values[i] = value->text; break;
        case VALUE_BYTES:
            ret_wire->values[i] = value->text;
            ret_wire->lengths[i] = value->length;
            ret_wire->formats[i] = 1;
            break;
        }
    }
}

static uint64_t bits_of(const PGresult *result, int at, int column) {
    uint64_t bits;
    assert(pq.getlength(result, at, column) == sizeof bits);
    memcpy(&bits, pq.getvalue(result, at, column), sizeof bits);
    return be64toh(bits);
}

int64_t pg_integer(const PGresult *result, int at, int column) {
    return pq.getisnull(result, at, column) ? 0 : (int64_t)bits_of(result, at, column);
}

void pg_read_row(const PGresult *result, int at, struct row *ret_row) {
    ret_row->count = 0;
    for (int i = 0, count = pq.nfields(result); i < count; i++) {
        uint64_t bits;
        double real;
        if (pq.getisnull(result, at, i)) {
            row_add_null(ret_row);
            continue;
        }
        switch (pq.ftype(result, i)) {
        case OID_INTEGER: row_add_integer(ret_row, pg_integer(result, at, i)); break;
        case OID_REAL:
            bits = bits_of(result, at, i);
            memcpy(&real, &bits, sizeof real);
            row_add_real(ret_row, real);
            break;
        case OID_BYTES: row_add_bytes(ret_row, pq.getvalue(result, at, i), pq.getlength(result, at, i)); break;
        default: row_add_text(ret_row, pq.getvalue(result, at, i));
        }
    }
}

/* ---- Questions and answers ---------------------------------------------------------------------------------- */

struct statement {
    const char *name, *sql;
};

static const struct statement statements[] = {
#define PG_WORDS(name, sql) {#name, sql},
    STORE_STATEMENTS(PG_WORDS, "kerf_", "") PG_STATEMENTS(PG_WORDS)
#undef PG_WORDS
};
_Static_assert(sizeof statements / sizeof *statements == PG_STATEMENTS_COUNT, "SQL for each statement");

/* ?1 becomes $1, and a bare ? the one behind the last that was named, as in SQLite. */
static void number_marks(struct kerf_text *out, const char *sql) {
    int last = 0;
    for (; *sql; sql++) {
        if (*sql != '?') {
            kerf_text_write(out, sql, 1);
            continue;
        }
        int number = isdigit((unsigned char)sql[1]) ? sql[1] - '0' : last + 1;
        assert(number <= ROW_VALUES_MAX && !(isdigit((unsigned char)sql[1]) && isdigit((unsigned char)sql[2])));
        if (isdigit((unsigned char)sql[1])) sql++;
        if (number > last) last = number;
        kerf_text_printf(out, "$%d", number);
    }
}

void pg_send(struct pg_session *session, int which, const struct row *values) {
    static const struct row none;
    struct wire wire;
    assert(which >= 0 && which < PG_STATEMENTS_COUNT);
    if (values == NULL) values = &none;
    make_wire(values, &wire);
    if (session->is_broken) return;
    if (pq.sendQueryPrepared(session->connection, statements[which].name, values->count, wire.values, wire.lengths,
                             wire.formats, 1))
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
    struct kerf_text sql = {0};
    for (int i = 0; i < PG_STATEMENTS_COUNT && !session->is_broken && !sql.failed; i++, session->sent++) {
        kerf_text_clear(&sql);
        number_marks(&sql, statements[i].sql);
        if (sql.failed || !pq.sendPrepare(session->connection, statements[i].name, sql.data, 0, NULL))
            session->is_broken = 1;
    }
    kerf_text_free(&sql);
    return pg_collect(session, NULL, 0, err);
}

int32_t pg_connect(const char *url, int prepares, struct pg_session **ret_session, struct kerf_error *err) {
    struct pg_session *session = calloc(1, sizeof *session);
    if (session == NULL) return error_no_memory(err, "a connection to the store");
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

static int32_t connect_anew(struct pg_pool *pool, struct pg_session **ret_session, struct kerf_error *err) {
    pthread_mutex_lock(&pool->lock);
    int is_refused = clock_ticks_s() < pool->refuses_until_s;
    if (is_refused && err) *err = pool->refusal;
    pthread_mutex_unlock(&pool->lock);
    if (is_refused) return KERF_EIO;
    struct kerf_error why = {.code = KERF_OK};
    int32_t code = pg_connect(pool->url, 1, ret_session, &why);
    if (code == KERF_OK) return code;
    pthread_mutex_lock(&pool->lock);
    pool->refuses_until_s = clock_ticks_s() + REFUSES_S;
    pool->refusal = why;
    pthread_mutex_unlock(&pool->lock);
    if (err) *err = why;
    return KERF_EIO;
}

/* An idle connection that has something to read was ended by the database. */
static int is_ended(const struct pg_session *session) {
    struct pollfd idle = {.fd = pq.socket(session->connection), .events = POLLIN};
    return poll(&idle, 1, 0) != 0;
}

int32_t pg_take(struct pg_pool *pool, struct pg_session **ret_session, struct kerf_error *err) {
    for (;;) {
        pthread_mutex_lock(&pool->lock);
        struct pg_session *session = pool->idle;
        if (session) pool->idle = session->next;
        pthread_mutex_unlock(&pool->lock);
        if (session == NULL) return connect_anew(pool, ret_session, err);
        if (session->owes_sync) settle(session);
        if (!session->is_broken && !is_ended(session)) {
            session->is_used = 1;
            *ret_session = session;
            return KERF_OK;
        }
        pg_disconnect(session);
    }
}

/* The answer is not awaited: the next user of the session reads it. */
static void roll_back(struct pg_session *session) {
    pg_send(session, PG_ROLLBACK, NULL);
    session->sent = 0;
    session->owes_sync = 1;
    if (session->is_broken || !pq.pipelineSync(session->connection)) session->is_broken = 1;
}

void pg_give_back(struct pg_pool *pool, struct pg_session *session) {
    if (session == NULL) return;
    if (!session->is_broken && pq.transactionStatus(session->connection) != PQTRANS_IDLE) roll_back(session);
    if (session->is_broken) {
        pg_disconnect(session);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    session->next = pool->idle;
    pool->idle = session;
    pthread_mutex_unlock(&pool->lock);
}

int32_t pg_ask(struct pg_pool *pool, int which, const struct row *values, PGresult **ret_result,
               struct kerf_error *err) {
    for (;;) {
        struct pg_session *session;
        int32_t code = pg_take(pool, &session, err);
        if (code != KERF_OK) return code;
        pg_send(session, which, values);
        code = pg_collect(session, ret_result, 1, err);
        if (code != KERF_OK) pg_clear(ret_result, 1);
        int again = session->is_broken && session->is_used;
        pg_give_back(pool, session);
        if (!again) return code;
    }
}
