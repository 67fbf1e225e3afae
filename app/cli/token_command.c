/* SPDX-License-Identifier: Apache-2.0 */
/* kerf token: who may ask a server, written into its store. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "cli/cells.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "kerf/json.h"
#include "server/access.h"
#include "store/store.h"

struct token_options {
    struct string_list words; /* the action and the token's name */
    const char *store, *role, *format;
    double expires_s; /* NAN: not said */
    int32_t create;
};

#define AT(field) .offset = offsetof(struct token_options, field)
static const struct option options[] = {
    {.name = "store",
     .type = OPTION_STRING,
     AT(store),
     .value = "FILE",
     .help = "The server's store (default: kerf.db), in the form of `kerf serve --store`."},
    {.name = "create",
     .type = OPTION_FLAG,
     AT(create),
     .uses = "add",
     .help = "Make the store if it does not exist. Only its owner can read and write a new file."},
    {.name = "role",
     .type = OPTION_CHOICE,
     AT(role),
     .value = "ROLE",
     .choices = "read,write,admin",
     .uses = "add",
     .help = "What the token permits. read: to read jobs and metrics; write: also to register jobs, ask for batch "
             "sizes and report; admin: also to delete jobs."},
    {.name = "expires",
     .type = OPTION_DURATION,
     AT(expires_s),
     .value = "TIME",
     .minimum = DBL_MIN,
     .maximum = 1e9,
     .uses = "add",
     .help = "For how long the token is valid, such as 12h, 30d or 52w (default: until it is revoked)."},
    {.name = "format",
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORMAT",
     .choices = "table,json",
     .uses = "add,list",
     .help = "What to print (default: table)."},
    {.name = NULL},
};

static const char *const examples[] = {
    "A token for training jobs, for a year",
    "kerf token add nightly --role write --expires 52w --store jobs.db",
    "All tokens",
    "kerf token list --store jobs.db",
    "Make a token invalid that somebody else knows",
    "kerf token revoke nightly --store jobs.db",
    NULL,
};

static const struct command_use uses[] = {
    {"add", "add NAME"}, {"list", "list"}, {"revoke", "revoke NAME"}, {NULL, NULL}};

static const struct command_exit exits[] = {{"0", "done"},
                                            {"2", "bad usage, or there is no such token"},
                                            {"3", "the store cannot be read or written"},
                                            {NULL, NULL}};

static const struct command table = {
    .name = "token",
    .summary = "the access tokens of a kerf server",
    .description =
        "A server that listens beyond loopback, or runs with --tokens, only answers clients that send a token: as "
        "`Authorization: Bearer TOKEN`, or as the user part of the URL, http://TOKEN:@host:8000.\n\n"
        "`add` prints a new token. Keep it: the store has only its SHA-256, and nobody can print it again. `revoke` "
        "makes it invalid. Both work while the server runs; it notices the change within a few seconds.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct token_options, words),
    .uses = uses,
    .exits = exits,
};

static int is_json(const struct token_options *values) { return strcmp(values->format, "json") == 0; }

/* ---- add ---------------------------------------------------------------------------------------------------- */

static int32_t check_name(const char *name, struct kerf_error *err) {
    enum { MOST = 100 };
    size_t length = strlen(name);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) length = 0;
    if (length > 0 && length <= MOST) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "a token's name must have 1 to %d printable characters", (int)MOST);
}

static int print_token(const struct token_options *values, const struct store_token *token, const char *secret) {
    struct kerf_text out = {0};
    struct kerf_json json;
    if (is_json(values)) {
        kerf_json_begin(&json, &out);
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "kerf", kerf_version());
        kerf_json_string(&json, "name", token->name);
        kerf_json_string(&json, "role", token->role);
        kerf_json_string(&json, "token", secret);
        kerf_json_number(&json, "created_s", token->created_s);
        if (token->expires_s > 0)
            kerf_json_number(&json, "expires_s", token->expires_s);
        else
            kerf_json_null(&json, "expires_s");
        kerf_json_close(&json, '}');
    } else {
        kerf_text_add(&out, secret);
    }
    kerf_text_add(&out, "\n");
    return output_print(&out);
}

static int32_t make(const struct token_options *values, struct store_token *token, char secret[TOKEN_BYTES],
                    struct kerf_error *err) {
    *token = (struct store_token){.name = values->words.items[1], .role = values->role, .created_s = clock_now_s()};
    int32_t code = check_name(token->name, err);
    if (code == KERF_OK && values->role == NULL)
        code = kerf_error_set(err, KERF_EINVALID, "--role is missing: read, write or admin");
    if (code == KERF_OK && !isnan(values->expires_s)) token->expires_s = token->created_s + values->expires_s;
    if (code == KERF_OK) code = token_make(secret, err);
    if (code == KERF_OK && token_hash(secret, token->hash) != KERF_OK)
        code = kerf_error_set(err, KERF_EUNSUPPORTED, "there is no SHA-256 on this machine");
    return code;
}

/* ---- list --------------------------------------------------------------------------------------------------- */

static void put_time(struct kerf_text *out, double time_s) {
    time_t seconds = (time_t)time_s;
    struct tm parts;
    char words[32];
    if (gmtime_r(&seconds, &parts) && strftime(words, sizeof words, "%Y-%m-%d %H:%M UTC", &parts))
        kerf_text_add(out, words);
}

static int32_t visit_row(void *context, const struct store_token *token) {
    struct kerf_text *cells = context;
    kerf_text_printf(cells, "%s\t%s\t", token->name, token->role);
    put_time(cells, token->created_s);
    kerf_text_add(cells, "\t");
    if (token->expires_s > 0)
        put_time(cells, token->expires_s);
    else
        kerf_text_add(cells, "never");
    kerf_text_add(cells, token->expires_s > 0 && token->expires_s <= clock_now_s() ? " (over)\n" : "\n");
    return KERF_OK;
}

static int32_t visit_object(void *context, const struct store_token *token) {
    struct kerf_json *json = context;
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "name", token->name);
    kerf_json_string(json, "role", token->role);
    kerf_json_number(json, "created_s", token->created_s);
    if (token->expires_s > 0)
        kerf_json_number(json, "expires_s", token->expires_s);
    else
        kerf_json_null(json, "expires_s");
    kerf_json_close(json, '}');
    return KERF_OK;
}

static int32_t list_objects(struct store *store, struct kerf_text *out, struct kerf_error *err) {
    struct kerf_json json;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_open(&json, "tokens", '[');
    int32_t code = store_list_tokens(store, visit_object, &json, err);
    kerf_json_close(&json, ']');
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
    return code;
}

static int32_t list_rows(struct store *store, struct kerf_text *out, struct kerf_error *err) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {0, 0}, {0, 1}, {0, 0}};
    static const char titles[] = "name\trole\tcreated\texpires\n";
    struct kerf_text cells = {0};
    kerf_text_add(&cells, titles);
    int32_t code = store_list_tokens(store, visit_row, &cells, err);
    if (cells.length == sizeof titles - 1)
        kerf_text_add(out, "No tokens yet.\n");
    else
        terminal_table(out, &cells, columns, terminal_columns(), terminal_colour(), -1);
    terminal_plain(out);
    kerf_text_free(&cells);
    return code;
}

static int list(const struct token_options *values, struct store *store) {
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_text out = {0};
    int32_t code = is_json(values) ? list_objects(store, &out, &err) : list_rows(store, &out, &err);
    if (code == KERF_OK) return output_print(&out);
    kerf_text_free(&out);
    return cli_fail(&err);
}

/* ---- The command -------------------------------------------------------------------------------------------- */

enum action { ADD, LIST, REVOKE, NUM_ACTIONS };

static int32_t read_action(const struct token_options *values, enum action *ret_action, struct kerf_error *err) {
    static const char *const names[NUM_ACTIONS] = {"add", "list", "revoke"};
    const struct string_list *words = &values->words;
    if (words->count == 0) return kerf_error_set(err, KERF_EINVALID, "the action is missing: add, list or revoke");
    for (int i = 0; i < NUM_ACTIONS; i++) {
        if (strcmp(words->items[0], names[i]) != 0) continue;
        int32_t wanted = i == LIST ? 1 : 2;
        if (words->count < wanted)
            return kerf_error_set(err, KERF_EINVALID, "the name is missing, such as `kerf token %s nightly`", names[i]);
        if (words->count > wanted)
            return kerf_error_set(err, KERF_EINVALID, "`kerf token %s` takes no argument '%.64s'", names[i],
                                  words->items[wanted]);
        *ret_action = (enum action)i;
        return KERF_OK;
    }
    return kerf_error_set(err, KERF_EUNKNOWN, "kerf token does not know '%.64s'; write add, list or revoke",
                          words->items[0]);
}

static int act(const struct token_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct store *store = NULL;
    struct store_token token;
    char secret[TOKEN_BYTES] = "";
    enum action action = LIST;
    int status = EXIT_ANSWERED;
    int32_t code = read_action(values, &action, &err);
    if (code == KERF_OK && action == ADD) code = make(values, &token, secret, &err);
    if (code == KERF_OK) code = store_open(values->store, values->create ? STORE_MAY_CREATE : 0, &store, &err);
    if (code == KERF_OK && store && action == ADD) code = store_add_token(store, &token, &err);
    if (code == KERF_OK && store && action == REVOKE) code = store_revoke_token(store, values->words.items[1], &err);
    if (code == KERF_OK && action == ADD) status = print_token(values, &token, secret);
    if (code == KERF_OK && action == LIST) status = list(values, store);
    store_close(store);
    return code == KERF_OK ? status : cli_fail(&err);
}

static int run(int argc, char **argv) {
    struct token_options values = {.expires_s = NAN, .store = "kerf.db", .format = "table"};
    int status = cli_parse(&token_cli, argc, argv, &values);
    if (status >= 0) return status;
    status = act(&values);
    options_free(&table, &values);
    return status;
}

const struct cli_command token_cli = {&table, run};
