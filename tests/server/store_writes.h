/* SPDX-License-Identifier: Apache-2.0 */
/* For the stores' tests: jobs, and writes that are waited for. */
#ifndef KERF_TESTS_STORE_WRITES_H
#define KERF_TESTS_STORE_WRITES_H

#include "store/store.h"

enum { WRITES = 64 };
extern int32_t write_codes[WRITES]; /* of writes, by the number that their context points at */

void write_done(struct store_write *write, int32_t code, const struct kerf_error *why);
void wait_for_writes(int count);
int32_t submit_and_wait(struct store *store, struct store_write *write, struct store_turn *turn);

struct kerf_job *make_job(const char *job_id);
int64_t create_job(struct store *store, const char *job_id); /* its key; 0: the job_id is taken */

#endif
