/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a PostgreSQL cluster of their own, in a temporary folder, behind a socket there. */
#ifndef KERF_TESTS_DATABASE_H
#define KERF_TESTS_DATABASE_H

#include <stddef.h>
#include <stdio.h>

struct cluster {
    char folder[64], programs[256]; /* where initdb and pg_ctl are */
    char user[32];                  /* who runs it when the tests run as root; "": the one who runs the tests */
    int is_up;
    FILE *locker; /* who holds a table */
};

/* 0: it cannot be had, and why says what is missing. */
int cluster_make(struct cluster *cluster, const char **ret_why);
void cluster_clear(struct cluster *cluster);
void cluster_start(struct cluster *cluster);
void cluster_stop(struct cluster *cluster, const char *how); /* "fast", "immediate" */

/* kill -9 of its first process, after which it is down; or of any other of its processes, after which it recovers. */
void cluster_kill(struct cluster *cluster);
void cluster_kill_one(struct cluster *cluster, unsigned random);

/* A new, empty database; its URL goes to url. */
void cluster_database(struct cluster *cluster, const char *name, char *ret_url, size_t size);
/* SQL by psql; the test fails when it does. */
void cluster_run(struct cluster *cluster, const char *database, const char *sql);
/* Nobody gets at this table from the return on, until it is unlocked. */
void cluster_lock(struct cluster *cluster, const char *database, const char *table);
void cluster_unlock(struct cluster *cluster); /* fine where nothing is locked */

#endif
