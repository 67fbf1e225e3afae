/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a MariaDB server of their own, in a temporary folder, behind a socket there. */
#ifndef KERF_TESTS_MYSQL_SERVER_H
#define KERF_TESTS_MYSQL_SERVER_H

#include <stddef.h>

struct mysql_server {
    char folder[64];
    int is_up;
};

/* 0: it cannot be had, and why says what is missing. */
int mysql_server_make(struct mysql_server *server, const char **ret_why);
void mysql_server_clear(struct mysql_server *server);

/* A new, empty database; its URL, as Zeus's server takes it, goes to url. */
void mysql_server_database(struct mysql_server *server, const char *name, char *ret_url, size_t size);
/* SQL with names in double quotes; the test fails when it does. */
void mysql_server_run(struct mysql_server *server, const char *database, const char *sql);

#endif
