/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statements that both databases have, each said once: X(name, SQL). T is what stands before the names of tables
 * ("kerf_" in PostgreSQL), BY_COST how SQLite is told which index to use.
 *
 * ?1 is the first value. A bare ? is the one behind the last that was named, as SQLite has it; postgresql_session.c makes
 * $1 and so on of both. Each database adds statements of its own, whose numbers go on from these.
 */
#ifndef KERF_STORE_STORE_SQL_H
#define KERF_STORE_STORE_SQL_H

#include "store/store_row.h"

/* Lists of columns as text: JOB_COLUMNS(COLUMN_NAME, ",") */
#define COLUMN_NAME(kind, name, ...)     #name
#define COLUMN_MARK(kind, name, ...)     "?"
#define COLUMN_SET(kind, name, ...)      #name "=?"
#define COLUMN_TAKE_NEW(kind, name, ...) #name "=excluded." #name

#define JOB_QUERY(T)                                                                                                   \
    "SELECT job, version," JOB_COLUMNS(COLUMN_NAME, ",") "," STATE_COLUMNS(COLUMN_NAME, ",") " FROM " T "job"          \
                                                                                             " JOIN " T                \
                                                                                             "job_state USING (job)"
#define TRIAL_QUERY(T) "SELECT reason," TRIAL_COLUMNS(COLUMN_NAME, ",") " FROM " T "trial"
#define ARM_INSERT(T)  "INSERT INTO " T "arm (job," ARM_COLUMNS(COLUMN_NAME, ",") ")"
#define ARM_REPLACES   " ON CONFLICT (job, batch_size) DO UPDATE SET " ARM_CHANGING_COLUMNS(COLUMN_TAKE_NEW, ",")

/* 1: KERF_TRIAL_SUCCEEDED, 0: KERF_TRIAL_EXPLORATION and KERF_JOB_PRUNING, as the indexes have them. Lists are ordered. */
#define STORE_STATEMENTS(X, T, BY_COST)                                                                                \
    X(SQL_PING, "SELECT job FROM " T "job_state LIMIT 1")                                                              \
    X(SQL_FIND_JOB, "SELECT job, version, created_s FROM " T "job JOIN " T "job_state USING (job) WHERE job_id=?")     \
    X(SQL_LOAD_JOB, JOB_QUERY(T) " WHERE job=?")                                                                       \
    X(SQL_LIST_JOBS, JOB_QUERY(T) " WHERE job_id>? ORDER BY job_id LIMIT ?")                                           \
    X(SQL_COUNT_JOBS, "SELECT count(*) FROM " T "job_state")                                                           \
    X(SQL_LOAD_TRIAL, TRIAL_QUERY(T) " WHERE job=? AND number=?")                                                      \
    X(SQL_LIST_TRIALS, TRIAL_QUERY(T) " WHERE job=? AND number>? ORDER BY number LIMIT ?")                             \
    X(SQL_LIST_NEWEST_TRIALS, TRIAL_QUERY(T) " WHERE job=? AND number<? ORDER BY number DESC LIMIT ?")                 \
    X(SQL_LOAD_EXPLORATIONS, /* none once the job exploits */                                                          \
      TRIAL_QUERY(T) " WHERE job=?1 AND type=0 AND (SELECT stage FROM " T "job_state WHERE job=?1)=0 ORDER BY number") \
    X(SQL_LOAD_COSTS, /* each part by its index */                                                                     \
      "SELECT number, energy_j, time_s FROM (SELECT number, energy_j, time_s FROM " T "trial" BY_COST                  \
      " WHERE job=?1 AND batch_size=?2 AND status=1 ORDER BY number DESC LIMIT ?3) AS kept"                            \
      " UNION ALL SELECT number, energy_j, time_s FROM (SELECT number, energy_j, time_s FROM " T "cost"                \
      " WHERE job=?1 AND batch_size=?2 ORDER BY number DESC LIMIT ?3) AS forgotten ORDER BY number DESC LIMIT ?3")     \
    X(SQL_LIST_COSTS, "SELECT number, batch_size, energy_j, time_s FROM " T "cost WHERE job=? AND number>?"            \
                      " ORDER BY number LIMIT ?")                                                                      \
    X(SQL_LOAD_ARMS, "SELECT " ARM_COLUMNS(COLUMN_NAME, ",") " FROM " T "arm WHERE job=? ORDER BY batch_size")         \
    X(SQL_LIST_TOKENS, "SELECT name, role, hash, created_s, expires_s FROM " T "token ORDER BY name")                  \
    X(SQL_GET_META, "SELECT value FROM " T "meta WHERE key=?")                                                         \
    X(SQL_UPDATE_STATE, "UPDATE " T "job_state SET version=?," STATE_COLUMNS(COLUMN_SET, ",") " WHERE job=?")          \
    X(SQL_INSERT_TRIAL,                                                                                                \
      "INSERT INTO " T                                                                                                 \
      "trial (job, reason," TRIAL_COLUMNS(COLUMN_NAME, ",") ")"                                                        \
                                                            " VALUES (?,?," TRIAL_COLUMNS(COLUMN_MARK, ",") ")")       \
    X(SQL_UPDATE_TRIAL, "UPDATE " T "trial SET " TRIAL_CHANGING_COLUMNS(COLUMN_SET, ",") " WHERE job=? AND number=?")  \
    X(SQL_EXPIRE_TRIAL, "UPDATE " T "trial SET status=?, lease_ended=? WHERE job=? AND number=?")                      \
    X(SQL_SEE_TRIAL, "UPDATE " T "trial SET seen_s=? WHERE job=? AND number=?")                                        \
    X(SQL_KEEP_COST, "INSERT INTO " T "cost (job, batch_size, number, energy_j, time_s)"                               \
                     " SELECT job, batch_size, number, energy_j, time_s FROM " T "trial"                               \
                     " WHERE job=? AND number=? AND status=1")                                                         \
    X(SQL_FORGET_TRIAL, "DELETE FROM " T "trial WHERE job=? AND number=?")                                             \
    X(SQL_INSERT_COST, "INSERT INTO " T "cost (job, number, batch_size, energy_j, time_s) VALUES (?,?,?,?,?)")         \
    X(SQL_DELETE_ARMS, "DELETE FROM " T "arm WHERE job=?")                                                             \
    X(SQL_PUT_ARM, ARM_INSERT(T) " VALUES (?," ARM_COLUMNS(COLUMN_MARK, ",") ")" ARM_REPLACES)                         \
    X(SQL_ADD_TOKEN, /* the name of one that has expired is free again */                                              \
      "INSERT INTO " T "token (name, role, hash, created_s, expires_s) VALUES (?,?,?,?,?) ON CONFLICT (name) DO"       \
      " UPDATE SET role=excluded.role, hash=excluded.hash, created_s=excluded.created_s,"                              \
      " expires_s=excluded.expires_s WHERE " T "token.expires_s>0 AND " T "token.expires_s<=excluded.created_s"        \
      " RETURNING name")                                                                                               \
    X(SQL_REVOKE_TOKEN, "DELETE FROM " T "token WHERE name=? RETURNING name")                                          \
    X(SQL_SET_META, "INSERT INTO " T "meta (key, value) VALUES (?,?) ON CONFLICT (key) DO UPDATE SET"                  \
                    " value=excluded.value")

enum store_statement {
#define STORE_NAME(name, sql) name,
    STORE_STATEMENTS(STORE_NAME, "", "")
#undef STORE_NAME
        STORE_STATEMENTS_COUNT
};

#endif
