/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens and metadata: rarely written, each on a connection of its own and durable on return. */
#include <string.h>
#include "store/sqlite_parts.h"

static void bind_text(sqlite3_stmt *statement, int at, const char *text) {
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

/* Beside the writer of this or another process: SQLite lets one wait for the other. */
static int32_t connect_and(struct store *base, enum sqlite_statement which, struct sqlite_session *ret_session,
                           sqlite3_stmt **ret_statement, struct kerf_error *err) {
    struct sqlite_store *store = (struct sqlite_store *)base;
    int32_t code = sqlite_connect(store->path, 1, ret_session, err);
    if (code != KERF_OK) return code;
    *ret_statement = sqlite_statement(ret_session, which, err);
    if (*ret_statement) return KERF_OK;
    sqlite_disconnect(ret_session);
    return KERF_EIO;
}

int32_t sqlite_add_token(struct store *store, const struct store_token *token, struct kerf_error *err) {
    struct sqlite_session session;
    sqlite3_stmt *statement;
    int32_t code = connect_and(store, SQL_ADD_TOKEN, &session, &statement, err);
    if (code != KERF_OK) return code;
    bind_text(statement, 1, token->name);
    bind_text(statement, 2, token->role);
    sqlite3_bind_blob(statement, 3, token->hash, STORE_TOKEN_HASH, SQLITE_STATIC);
    sqlite3_bind_double(statement, 4, token->created_s);
    sqlite3_bind_double(statement, 5, token->expires_s);
    code = sqlite_finish(&session, statement, err);
    if (code != KERF_OK && sqlite3_extended_errcode(session.db) == SQLITE_CONSTRAINT_UNIQUE)
        code = kerf_error_set(err, KERF_EINVALID, "there is a token '%.100s' already", token->name);
    sqlite_disconnect(&session);
    return code;
}

int32_t sqlite_revoke_token(struct store *store, const char *name, struct kerf_error *err) {
    struct sqlite_session session;
    sqlite3_stmt *statement;
    int32_t code = connect_and(store, SQL_REVOKE_TOKEN, &session, &statement, err);
    if (code != KERF_OK) return code;
    bind_text(statement, 1, name);
    code = sqlite_finish(&session, statement, err);
    if (code == KERF_OK && sqlite3_changes(session.db) == 0)
        code = kerf_error_set(err, KERF_EUNKNOWN, "there is no token '%.100s'", name);
    sqlite_disconnect(&session);
    return code;
}

int32_t sqlite_list_tokens(struct store *base, store_visit_token visit, void *context, struct kerf_error *err) {
    struct sqlite_store *store = (struct sqlite_store *)base;
    struct sqlite_session *reader = sqlite_reader(store, err);
    sqlite3_stmt *statement = reader ? sqlite_statement(reader, SQL_LIST_TOKENS, err) : NULL;
    int32_t code = statement ? KERF_OK : KERF_EIO;
    while (code == KERF_OK) {
        int step = sqlite3_step(statement);
        if (step == SQLITE_DONE) break;
        if (step != SQLITE_ROW) {
            code = sqlite_fail(reader->db, err);
            break;
        }
        struct store_token token = {.id = sqlite3_column_int64(statement, 0),
                                    .name = (const char *)sqlite3_column_text(statement, 1),
                                    .role = (const char *)sqlite3_column_text(statement, 2),
                                    .created_s = sqlite3_column_double(statement, 4),
                                    .expires_s = sqlite3_column_double(statement, 5)};
        const void *hash = sqlite3_column_blob(statement, 3);
        if (hash && sqlite3_column_bytes(statement, 3) == STORE_TOKEN_HASH) memcpy(token.hash, hash, sizeof token.hash);
        code = visit(context, &token);
    }
    if (statement) sqlite3_reset(statement);
    sqlite_give_back(store, reader);
    return code;
}

int32_t sqlite_get_meta(struct store *base, const char *key, struct kerf_text *out, struct kerf_error *err) {
    struct sqlite_store *store = (struct sqlite_store *)base;
    struct sqlite_session *reader = sqlite_reader(store, err);
    sqlite3_stmt *statement = reader ? sqlite_statement(reader, SQL_GET_META, err) : NULL;
    int32_t code = KERF_EIO;
    if (statement) {
        bind_text(statement, 1, key);
        int step = sqlite3_step(statement);
        if (step == SQLITE_ROW) {
            kerf_text_add(out, (const char *)sqlite3_column_text(statement, 0));
            code = KERF_OK;
        } else if (step == SQLITE_DONE) {
            code = kerf_error_set(err, KERF_EUNKNOWN, "the store does not say '%.100s'", key);
        } else {
            code = sqlite_fail(reader->db, err);
        }
        sqlite3_reset(statement);
    }
    sqlite_give_back(store, reader);
    return code;
}

int32_t sqlite_set_meta(struct store *store, const char *key, const char *value, struct kerf_error *err) {
    struct sqlite_session session;
    sqlite3_stmt *statement;
    int32_t code = connect_and(store, SQL_SET_META, &session, &statement, err);
    if (code != KERF_OK) return code;
    bind_text(statement, 1, key);
    bind_text(statement, 2, value);
    code = sqlite_finish(&session, statement, err);
    sqlite_disconnect(&session);
    return code;
}
