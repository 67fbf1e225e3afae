/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_row.h"

#include <inttypes.h>
#include <stdlib.h>

int32_t job_row_read_sizes(struct job_row *row, const char *list, struct kerf_error *err) {
    int32_t count = 1;
    for (const char *c = list; c && *c; c++) count += *c == ',';
    row->sizes = count <= JOB_ROW_SIZES ? row->room : malloc((size_t)count * sizeof *row->sizes);
    if (row->sizes == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for a job");
    char *end = (char *)list;
    for (int32_t i = 0; i < count && end; i++) row->sizes[i] = strtoll(i ? end + 1 : end, &end, 10);
    row->spec.batch_sizes = row->sizes;
    row->spec.num_batch_sizes = count;
    return KERF_OK;
}

void job_row_write_sizes(const struct kerf_job_spec *spec, struct kerf_text *out) {
    for (int32_t i = 0; i < spec->num_batch_sizes; i++)
        kerf_text_printf(out, "%s%" PRId64, i ? "," : "", spec->batch_sizes[i]);
}

void job_row_free(struct job_row *row) {
    if (row->sizes != row->room) free(row->sizes);
}
