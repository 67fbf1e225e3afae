/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of schedules share: errors with their place in a file, and making a schedule of lists of
 * operations. */
#ifndef KERF_SCHEDULE_FILE_READ_SCHEDULE_H
#define KERF_SCHEDULE_FILE_READ_SCHEDULE_H

#include "kerf/schedule.h"

/* Fills err with the message and its place (line 0: of the file as a whole); returns code. */
int32_t file_fail(struct kerf_error *err, int32_t code, const char *file, int32_t line, int32_t column,
                  const char *format, ...) __attribute__((format(printf, 6, 7)));

/* What a reader has understood; all of it is copied. */
struct read_schedule {
    const char *name; /* NULL: the file's base name */
    int32_t devices, stages, microbatches, chunks, replicas, slices;
    int32_t moves; /* 1: ops has R, O or L */
    const int32_t *device_of; /* [replicas * stages] */
    struct kerf_op *const *ops;
    const int32_t *num_ops;
};

/* Copies and checks it; errors name the file. */
int32_t read_schedule_finish(const struct read_schedule *read, const char *file, struct kerf_schedule **ret_schedule,
                             struct kerf_error *err);

#endif
