/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zeus's database in MySQL or MariaDB, mysql://USER:PASSWORD@HOST:PORT/DATABASE[?unix_socket=PATH], read in one
 * transaction that cannot write. The library is opened on first use.
 *
 * MySQL keeps Zeus's numbers in 32 bits and prints six digits of them. Zeus's server reads the same six digits, so
 * that 300.7 watts stay 300.7 watts.
 */
#include <dlfcn.h>
#include <mysql.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"
#include "zeus/import_sources.h"

/* X(name): mysql_name */
#define MYSQL_FUNCTIONS(X)                                                                                             \
    X(close)                                                                                                           \
    X(error)                                                                                                           \
    X(fetch_row)                                                                                                       \
    X(free_result)                                                                                                     \
    X(init)                                                                                                            \
    X(options)                                                                                                         \
    X(query)                                                                                                           \
    X(real_connect)                                                                                                    \
    X(real_escape_string)                                                                                              \
    X(store_result)

struct mysql_source {
    struct import_source source;
    struct {
#define MYSQL_FIELD(name) __typeof__(&mysql_##name) name;
        MYSQL_FUNCTIONS(MYSQL_FIELD)
#undef MYSQL_FIELD
    } api;
    MYSQL *connection;
};

static const char library[] = "libmariadb.so.3";
static const char *const begin_sql[] = {"SET sql_mode='ANSI_QUOTES'",
                                        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                                        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"};

static int32_t fail(struct mysql_source *source, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EIO, "the MySQL database to import: %.300s", source->api.error(source->connection));
}

/* ---- The URL ------------------------------------------------------------------------------------------------- */

struct address {
    char *text; /* a copy, cut into what follows */
    char *user, *password, *host, *database, *socket;
    unsigned port;
};

static void decode(char *text) {
    char *to = text;
    for (; text && *text; text++, to++) {
        int is_escape = text[0] == '%' && hex_value(text[1]) >= 0 && hex_value(text[2]) >= 0;
        *to = is_escape ? (char)(hex_value(text[1]) << 4 | hex_value(text[2])) : *text;
        if (is_escape) text += 2;
    }
    if (to) *to = 0;
}

/* Cuts the text at the mark and returns what follows it. NULL: the text has no such mark. */
static char *cut(char *text, char mark) {
    char *found = text ? strchr(text, mark) : NULL;
    if (found == NULL) return NULL;
    *found = 0;
    return found + 1;
}

static int32_t read_address(const char *where, struct address *ret_address, struct kerf_error *err) {
    struct address address = {.text = strdup(strstr(where, "://") + 3)};
    if (address.text == NULL) return error_no_memory(err, "an import");
    char *options = cut(address.text, '?'), *port;
    address.database = cut(address.text, '/');
    address.host = cut(address.text, '@');
    if (address.host)
        address.user = address.text;
    else
        address.host = address.text;
    address.password = cut(address.user, ':');
    port = cut(address.host, ':');
    address.port = port ? (unsigned)strtoul(port, NULL, 10) : 0;
    if (options && strncmp(options, "unix_socket=", 12) == 0) address.socket = options + 12;
    cut(address.socket, '&');
    decode(address.user);
    decode(address.password);
    decode(address.database);
    decode(address.socket);
    *ret_address = address;
    return KERF_OK;
}

/* ---- The connection ------------------------------------------------------------------------------------------ */

static int32_t open_library(struct mysql_source *source, struct kerf_error *err) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const char *missing = handle ? NULL : library;
#define MYSQL_LOOK_UP(name)                                                                                            \
    if (missing == NULL && (source->api.name = (__typeof__(source->api.name))dlsym(handle, "mysql_" #name)) == NULL)   \
        missing = "mysql_" #name;
    MYSQL_FUNCTIONS(MYSQL_LOOK_UP)
#undef MYSQL_LOOK_UP
    if (missing == NULL) return KERF_OK;
    return kerf_error_set(
        err, KERF_EUNSUPPORTED,
        "a MySQL database needs MariaDB's client (Debian's package libmariadb3), which is missing: no %s", missing);
}

static int32_t connect_to(struct mysql_source *source, const struct address *to, struct kerf_error *err) {
    const unsigned patience_s = 10;
    source->connection = source->api.init(NULL);
    if (source->connection == NULL) return error_no_memory(err, "an import");
    source->api.options(source->connection, MYSQL_OPT_CONNECT_TIMEOUT, &patience_s);
    source->api.options(source->connection, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (source->api.real_connect(source->connection, to->host, to->user, to->password, to->database, to->port,
                                 to->socket, 0) == NULL)
        return fail(source, err);
    for (size_t i = 0; i < sizeof begin_sql / sizeof *begin_sql; i++)
        if (source->api.query(source->connection, begin_sql[i]) != 0) return fail(source, err);
    return KERF_OK;
}

static void close_source(struct import_source *base) {
    struct mysql_source *source = (struct mysql_source *)base;
    if (source->connection) source->api.close(source->connection);
    free(source);
}

static int32_t open_source(const char *where, struct import_source **ret_source, struct kerf_error *err) {
    struct mysql_source *source = calloc(1, sizeof *source);
    struct address address = {.text = NULL};
    if (source == NULL) return error_no_memory(err, "an import");
    source->source.methods = &import_mysql;
    int32_t code = open_library(source, err);
    if (code == KERF_OK) code = read_address(where, &address, err);
    if (code == KERF_OK) code = connect_to(source, &address, err);
    free(address.text);
    if (code == KERF_OK)
        *ret_source = &source->source;
    else
        close_source(&source->source);
    return code;
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

/* The SQL with the job_id in the place of the question mark. NULL: no memory. */
static char *with_job_id(struct mysql_source *source, const char *sql, const char *job_id) {
    size_t length = job_id ? strlen(job_id) : 0;
    char *own = malloc(strlen(sql) + 2 * length + 3), *to = own;
    if (own == NULL) return NULL;
    for (; *sql; sql++)
        if (*sql == '?') {
            *to++ = '\'';
            to += source->api.real_escape_string(source->connection, to, job_id ? job_id : "", length);
            *to++ = '\'';
        } else {
            *to++ = *sql;
        }
    *to = 0;
    return own;
}

static int32_t read_rows(struct import_source *base, const char *sql, const char *job_id, int num_columns,
                         import_visit visit, void *context, struct kerf_error *err) {
    struct mysql_source *source = (struct mysql_source *)base;
    char *own = with_job_id(source, sql, job_id);
    if (own == NULL) return error_no_memory(err, "an import");
    int failed = source->api.query(source->connection, own) != 0;
    free(own);
    MYSQL_RES *result = failed ? NULL : source->api.store_result(source->connection);
    if (result == NULL) return fail(source, err);
    int32_t code = KERF_OK;
    for (MYSQL_ROW row; code == KERF_OK && (row = source->api.fetch_row(result)) != NULL;) {
        struct import_value values[IMPORT_COLUMNS];
        for (int i = 0; i < num_columns; i++) values[i] = import_value_of_text(row[i]);
        code = visit(context, values, err);
    }
    source->api.free_result(result);
    return code;
}

const struct import_methods import_mysql = {"mysql", open_source, read_rows, close_source};
