/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where jobs live: one table of functions, behind which are SQLite (sqlite.c) and PostgreSQL (postgresql.c). A
 * database takes statements with rows of values (store_row.h). store.c knows, once for both, what they mean;
 * store_changes.c knows which rows a decision changes.
 *
 * A decision goes like this, with at most one at a time for a job in this process:
 *
 *     begin      the job's row is locked and its version is told; what is cached is valid only for this version.
 *                Or what is cached is assumed to be valid, and found out below
 *     load_...   what is not cached
 *     submit     what the decision changed, in one transaction; `done` is called once it is durable, or failed, or
 *                stale: the version was another, and nothing is written
 *  or confirm    nothing changed, but what was assumed has to be so before the answer
 *     cancel     the end of a turn that submits nothing
 *
 * SQLite has one server to a file: begin locks nothing, and submit queues for the one writer thread, which commits many
 * decisions at once. PostgreSQL has many servers to a database: begin assumes what it is told, or opens a transaction
 * and locks the row, load_... reads inside it; submit writes and commits before it returns. `done` may come from
 * another thread, and before submit returns. All functions may be called by several threads at a time; they fail with
 * KERF_EIO when the database does.
 *
 * Times are seconds since 1970. Text is UTF-8.
 */
#ifndef KERF_STORE_STORE_H
#define KERF_STORE_STORE_H

#include "kerf/kerf.h"
#include "store/store_row.h"

struct store;

/* ---- Decisions -------------------------------------------------------------------------------------------- */

struct store_turn {
    int64_t job;        /* the job's key in the store; 0: there is none. A job deleted and made again has another */
    int64_t version;    /* goes up with each change */
    void *session;      /* the store's own: a connection with its transaction */
    int32_t is_assumed; /* 1: nothing is locked, and this is what was said to be known */
};

enum store_write_kind { STORE_CREATE, STORE_DELETE, STORE_DECIDE, STORE_IMPORT, STORE_FORGET };

struct store_cost { /* of a trial that was forgotten */
    int64_t number, batch_size;
    double energy_j, time_s;
};

struct store_history { /* what an import brings beside the job itself */
    const struct kerf_trial *trials;
    const char *const *reasons; /* of each trial; NULL: of none */
    int64_t num_trials;
    const struct store_cost *costs;
    int64_t num_costs;
};

struct store_forgotten { /* a trial that no decision needs any more; keeps_cost: but for its cost */
    int64_t number;
    int32_t keeps_cost;
};

/* What one decision changed. It, and what it points at, stays as it is until `done`. */
struct store_write {
    enum store_write_kind kind;
    int32_t changes;      /* STORE_DECIDE: enum kerf_job_changes */
    int32_t trial_is_new; /* 1: insert, 0: update */
    int64_t job;          /* the key; STORE_CREATE and _IMPORT set it, or leave 0 when the job_id was taken meanwhile */
    int64_t version;      /* that it will have: one more than it has */
    int32_t is_stale;     /* of an assumed turn, set before `done`: it had another, and nothing is written */
    const struct kerf_job *of; /* for its spec, row and arms; not for STORE_DELETE and _FORGET */
    const struct kerf_trial *trial;
    const char *reason; /* of a new trial */
    const struct kerf_trial *expired;
    int32_t num_expired;
    const struct store_history *history;     /* STORE_IMPORT, which is a STORE_CREATE with arms and all this */
    const struct store_forgotten *forgotten; /* STORE_FORGET, which needs no turn; those that are not there are fine */
    int32_t num_forgotten;
    double now_s;
    void (*done)(struct store_write *write, int32_t code, const struct kerf_error *err);
    void *context;
    struct store_write *next; /* the store's own */
};

/* Submits a write that needs no turn (STORE_CREATE, STORE_IMPORT, STORE_FORGET), and waits until it is durable. Sets
 * done and context. */
int32_t store_write_now(struct store *store, struct store_write *write, struct kerf_error *err);

/* ---- What is stored ----------------------------------------------------------------------------------------- */

struct store_costs { /* of the newest ended trials of a size, by descending number; of forgotten ones too */
    int64_t *numbers;
    double *costs;
    int64_t count, room;
};

/* Inside of the turn, or what is committed. flags: enum kerf_job_flags. KERF_EUNKNOWN: there is none. */
int32_t store_load_job(struct store *store, const struct store_turn *turn, int32_t flags, struct kerf_job **ret_job,
                       struct kerf_error *err);
int32_t store_load_trial(struct store *store, const struct store_turn *turn, int64_t number,
                         struct kerf_trial *ret_trial, struct kerf_error *err);
/* The `most` newest of this size; ret_costs is given back with store_costs_free. */
int32_t store_load_costs(struct store *store, const struct store_turn *turn, const struct kerf_job_spec *spec,
                         int64_t batch_size, int64_t most, struct store_costs *ret_costs, struct kerf_error *err);
void store_costs_free(struct store_costs *costs);

/* KERF_EUNKNOWN: no such job. ret_created_s may be NULL. */
int32_t store_find_job(struct store *store, const char *job_id, struct store_turn *ret_turn, double *ret_created_s,
                       struct kerf_error *err);
int32_t store_count_jobs(struct store *store, int64_t *ret_count, struct kerf_error *err);
int32_t store_ping(struct store *store, struct kerf_error *err);

/* ---- Lists ------------------------------------------------------------------------------------------------ */

struct store_job { /* a row of a list of jobs */
    int64_t job;
    double created_s;
    const struct kerf_job_spec *spec;
    const struct kerf_job_row *row;
};

/* Rows are valid during the call. Not KERF_OK ends the list with this code. */
typedef int32_t (*store_visit_job)(void *context, const struct store_job *job);
typedef int32_t (*store_visit_trial)(void *context, const struct kerf_trial *trial, const char *reason);
typedef int32_t (*store_visit_cost)(void *context, const struct store_cost *cost);

struct store_page {
    const char *after_job_id; /* jobs, by job_id: those behind this one; NULL: from the first */
    int64_t after_number;     /* trials, by number: those behind this one */
    int32_t newest_first;     /* trials: descending; after_number 0 is then the newest */
    int32_t limit;            /* at most so many */
};

int32_t store_list_jobs(struct store *store, const struct store_page *page, store_visit_job visit, void *context,
                        struct kerf_error *err);
int32_t store_list_trials(struct store *store, int64_t job, const struct store_page *page, store_visit_trial visit,
                          void *context, struct kerf_error *err);
/* Costs of forgotten trials, by number. */
int32_t store_list_costs(struct store *store, int64_t job, const struct store_page *page, store_visit_cost visit,
                         void *context, struct kerf_error *err);

/* ---- Tokens ----------------------------------------------------------------------------------------------- */

enum { STORE_TOKEN_HASH = 32 };
struct store_token {
    const char *name, *role;
    unsigned char hash[STORE_TOKEN_HASH]; /* of the token, which is stored nowhere */
    double created_s, expires_s;          /* expires_s 0: never */
};
typedef int32_t (*store_visit_token)(void *context, const struct store_token *token);

/* Tokens and metadata: each change is durable on return, beside the server of this store too. KERF_EINVALID: a token of
 * this name is there and has not expired. KERF_EUNKNOWN: there is no such name, or key. */
int32_t store_add_token(struct store *store, const struct store_token *token, struct kerf_error *err);
int32_t store_revoke_token(struct store *store, const char *name, struct kerf_error *err);
int32_t store_list_tokens(struct store *store, store_visit_token visit, void *context, struct kerf_error *err);
int32_t store_get_meta(struct store *store, const char *key, struct kerf_text *out, struct kerf_error *err);
int32_t store_set_meta(struct store *store, const char *key, const char *value, struct kerf_error *err);

/* ---- The table of functions ------------------------------------------------------------------------------- */

struct store_counts { /* since the store was opened */
    uint64_t commits, writes, failed;
    double commit_s; /* time spent in commits */
    int64_t queue;   /* waiting now */
};

/* Of each row of an answer, valid during the call. Not KERF_OK ends the answer with this code. */
typedef int32_t (*store_visit_row)(void *context, const struct row *row, struct kerf_error *err);

struct store_question {
    enum store_statement which;
    const struct row *values;
    store_visit_row visit; /* NULL: there are no rows, or they are not wanted */
    void *context;
};

enum store_open_flags {
    STORE_SERVE = 1,     /* for a server, which decides; without it for lists and tokens, also beside a server */
    STORE_MAY_CREATE = 2 /* a store that is not there is made; without it KERF_EINVALID */
};

struct store_methods {
    const char *name;   /* "sqlite" */
    const char *scheme; /* "postgresql://": what `where` begins with; NULL: any file */
    int32_t blocks;     /* 1: a decision waits for the database, and is better made in a thread that may wait */

    /* NULL: the database has a program of its own for that. As store_backup. */
    int32_t (*backup)(const char *where, const char *to, int32_t overwrites, kerf_progress progress, void *context,
                      struct kerf_error *err);

    int32_t (*open)(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err);
    void (*close)(struct store *store); /* after all submitted writes are done */
    void (*count)(struct store *store, struct store_counts *ret_counts);

    /* known: the key and version of what is cached, or zeros. Returns KERF_OK also where there is no such job. */
    int32_t (*begin)(struct store *store, const char *job_id, const struct store_turn *known,
                     struct store_turn *ret_turn, struct kerf_error *err);
    /* Of an assumed turn; NULL where there are none. */
    int32_t (*confirm)(struct store *store, const struct store_turn *turn, int32_t *ret_is_stale,
                       struct kerf_error *err);
    void (*cancel)(struct store *store, struct store_turn *turn);
    void (*submit)(struct store *store, struct store_turn *turn, struct store_write *write);

    /* Reads as of one moment: inside of the turn, or (turn NULL, or without a session) what is committed. */
    int32_t (*ask)(struct store *store, const struct store_turn *turn, const struct store_question *questions,
                   int32_t count, struct kerf_error *err);
    /* One change outside of decisions, durable on return. */
    int32_t (*tell)(struct store *store, const struct store_question *question, struct kerf_error *err);
};

struct store { /* the first member of every store */
    const struct store_methods *methods;
};

void store_close(struct store *store); /* NULL is fine */

extern const struct store_methods store_postgresql, store_sqlite; /* store_open finds them by name */

/* ---- Which rows a write changes, decided once for both databases (store_changes.c) ------------------------------ */

/* Does one statement inside the write's transaction, or queues it there. */
typedef int32_t (*store_put)(void *context, enum store_statement which, const struct row *values,
                             struct kerf_error *err);

/* Of STORE_DECIDE, of STORE_FORGET, and of STORE_IMPORT once the job has its key: each changed row, in order. room:
 * where the rows are made. */
int32_t store_put_changes(const struct store_write *write, struct row *room, store_put put, void *context,
                          struct kerf_error *err);

/* The arm that the write changes; NULL: none, or all. */
const struct kerf_arm *store_changed_arm(const struct store_write *write);

/* ---- Stores by name (stores.c) --------------------------------------------------------------------------------- */

/* where: a file, or postgresql://HOST/DATABASE; flags: enum store_open_flags. */
int32_t store_open(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err);

/* Copies the store into the file `to`, which is a store then; also while a server runs: the copy has what was answered
 * before this was called. KERF_EINVALID: the file is there and overwrites is 0; KERF_EUNSUPPORTED: err says which
 * program does it; KERF_EINTERRUPTED: progress wanted it so, and `to` is as it was. */
int32_t store_backup(const char *where, const char *to, int32_t overwrites, kerf_progress progress, void *context,
                     struct kerf_error *err);

void store_name(const char *where, char *ret_name, size_t size); /* for people: without user, password and options */

#endif
