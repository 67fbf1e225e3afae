/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens and metadata: rarely written, each durable on return. */
#include <string.h>
#include "store/postgresql_parts.h"

/* Asks and forgets the rows; *ret_rows is how many there were. */
static int32_t ask(struct store *base, enum pg_statement which, const struct pg_values *values, int *ret_rows,
                   struct kerf_error *err) {
    PGresult *result;
    int32_t code = pg_ask((struct pg_store *)base, NULL, which, values, &result, err);
    if (code != KERF_OK) return code;
    *ret_rows = pq.ntuples(result);
    pq.clear(result);
    return KERF_OK;
}

int32_t pg_add_token(struct store *base, const struct store_token *token, struct kerf_error *err) {
    struct pg_values values = {0};
    int rows = 0;
    pg_add_text(&values, token->name);
    pg_add_text(&values, token->role);
    pg_add_bytes(&values, token->hash, STORE_TOKEN_HASH);
    pg_add_real(&values, token->created_s);
    pg_add_real(&values, token->expires_s);
    int32_t code = ask(base, PG_ADD_TOKEN, &values, &rows, err);
    if (code == KERF_OK && rows == 0)
        code = kerf_error_set(err, KERF_EINVALID, "there is a token '%.100s' already", token->name);
    return code;
}

int32_t pg_revoke_token(struct store *base, const char *name, struct kerf_error *err) {
    struct pg_values values = {0};
    int rows = 0;
    pg_add_text(&values, name);
    int32_t code = ask(base, PG_REVOKE_TOKEN, &values, &rows, err);
    if (code == KERF_OK && rows == 0) code = kerf_error_set(err, KERF_EUNKNOWN, "there is no token '%.100s'", name);
    return code;
}

int32_t pg_list_tokens(struct store *base, store_visit_token visit, void *context, struct kerf_error *err) {
    PGresult *result;
    int32_t code = pg_ask((struct pg_store *)base, NULL, PG_LIST_TOKENS, NULL, &result, err);
    if (code != KERF_OK) return code;
    for (int i = 0, count = pq.ntuples(result); i < count && code == KERF_OK; i++) {
        struct store_token token = {.id = pg_integer(result, i, 0),
                                    .name = pg_text(result, i, 1),
                                    .role = pg_text(result, i, 2),
                                    .created_s = pg_real(result, i, 4, 0),
                                    .expires_s = pg_real(result, i, 5, 0)};
        if (pq.getlength(result, i, 3) == STORE_TOKEN_HASH)
            memcpy(token.hash, pq.getvalue(result, i, 3), STORE_TOKEN_HASH);
        code = visit(context, &token);
    }
    pq.clear(result);
    return code;
}

int32_t pg_get_meta(struct store *base, const char *key, struct kerf_text *out, struct kerf_error *err) {
    struct pg_values values = {0};
    PGresult *result;
    pg_add_text(&values, key);
    int32_t code = pg_ask((struct pg_store *)base, NULL, PG_GET_META, &values, &result, err);
    if (code != KERF_OK) return code;
    if (pq.ntuples(result) > 0)
        kerf_text_add(out, pg_text(result, 0, 0));
    else
        code = kerf_error_set(err, KERF_EUNKNOWN, "the store does not say '%.100s'", key);
    pq.clear(result);
    return code;
}

int32_t pg_set_meta(struct store *base, const char *key, const char *value, struct kerf_error *err) {
    struct pg_values values = {0};
    int rows;
    pg_add_text(&values, key);
    pg_add_text(&values, value);
    return ask(base, PG_SET_META, &values, &rows, err);
}
