/* SPDX-License-Identifier: Apache-2.0 */
/* A job's row as a database gives it, and its batch sizes, which are one text there: "32,64,128". */
#ifndef KERF_STORE_JOB_ROW_H
#define KERF_STORE_JOB_ROW_H

#include "kerf/jobs.h"

enum { JOB_ROW_SIZES = 32 };

struct job_row { /* all zeros at first; its texts are the database's, and stay as long as its answer does */
    int64_t job;
    double created_s;
    struct kerf_job_spec spec;
    struct kerf_job_row row;
    int64_t *sizes, room[JOB_ROW_SIZES];
};

int32_t job_row_read_sizes(struct job_row *row, const char *list, struct kerf_error *err);
void job_row_write_sizes(const struct kerf_job_spec *spec, struct kerf_text *out);
void job_row_free(struct job_row *row);

#endif
