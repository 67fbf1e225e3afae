/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs in a PostgreSQL database, which several servers share. Each change of a job takes its version one further.
 *
 * A decision on what a server knows already is one statement, which changes nothing when the version is another by now;
 * many of them share a transaction, and a flush of the disk (postgresql_batch.c). Any other is one transaction under
 * the lock on the job's state, in two round trips: BEGIN and the lock, then the changes and COMMIT. Whoever has the
 * lock reads what the one before it committed. READ COMMITTED is enough for both, and has no serialization failures.
 */
#include <stdlib.h>
#include <string.h>
#include "store/postgresql_parts.h"
#include "store/stores.h"

static void pg_close(struct store *base) {
    struct pg_store *store = (struct pg_store *)base;
    pg_batch_stop(store);
    while (store->idle) {
        struct pg_session *session = store->idle;
        store->idle = session->next;
        pg_disconnect(session);
    }
    pthread_mutex_destroy(&store->lock);
    free(store->url);
    free(store);
}

static int32_t migrate(struct pg_store *store, struct kerf_error *err) {
    struct pg_session *session;
    int32_t code = pg_connect(store->url, 0, &session, err);
    if (code != KERF_OK) return code;
    code = pg_migrate(session->connection, err);
    pg_disconnect(session);
    return code;
}

static int32_t pg_open(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err) {
    struct pg_store *store;
    struct pg_session *first;
    if (libpq_open(err) != KERF_OK) return KERF_EUNSUPPORTED;
    store = calloc(1, sizeof *store);
    if (store == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the store");
    store->store.methods = &store_postgresql;
    pthread_mutex_init(&store->lock, NULL);
    store->url = strdup(where);
    int32_t code = store->url ? KERF_OK : kerf_error_set(err, KERF_ENOMEM, "not enough memory for the store");
    if (code == KERF_OK) code = migrate(store, err);
    if (code == KERF_OK) code = pg_connect(store->url, 1, &first, err);
    if (code == KERF_OK) pg_give_back(store, first);
    if (code == KERF_OK && flags & STORE_SERVE) code = pg_batch_start(store, err);
    if (code == KERF_OK) {
        *ret_store = &store->store;
    } else {
        pg_close(&store->store);
    }
    return code;
}

static int32_t pg_ping(struct store *base, struct kerf_error *err) {
    PGresult *result = NULL;
    int32_t code = pg_ask((struct pg_store *)base, NULL, PG_PING, NULL, &result, err);
    if (code == KERF_OK) pq.clear(result);
    return code;
}

static void pg_count(struct store *base, struct store_counts *ret_counts) {
    struct pg_store *store = (struct pg_store *)base;
    pthread_mutex_lock(&store->lock);
    *ret_counts = store->counts;
    pthread_mutex_unlock(&store->lock);
}

const struct store_methods store_postgresql = {
    .name = "postgresql",
    .scheme = "postgresql://",
    .blocks = 1,
    .open = pg_open,
    .close = pg_close,
    .ping = pg_ping,
    .count = pg_count,
    .begin = pg_begin,
    .confirm = pg_confirm,
    .cancel = pg_cancel,
    .submit = pg_submit,
    .load_job = pg_load_job,
    .load_trial = pg_load_trial,
    .load_costs = pg_load_costs,
    .find_job = pg_find_job,
    .list_jobs = pg_list_jobs,
    .list_trials = pg_list_trials,
    .count_jobs = pg_count_jobs,
    .add_token = pg_add_token,
    .revoke_token = pg_revoke_token,
    .list_tokens = pg_list_tokens,
    .get_meta = pg_get_meta,
    .set_meta = pg_set_meta,
};
