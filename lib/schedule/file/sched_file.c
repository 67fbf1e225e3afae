/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules that people write: read, evaluated, checked. */
#include "schedule/build.h"
#include "schedule/file/schedule_file.h"
#include "schedule/file/sched_program.h"

int32_t kerf_schedule_parse_text(const char *text, size_t length, const char *name,
                                 const struct kerf_schedule_file_request *request, struct kerf_schedule **ret_schedule,
                                 struct kerf_error *err) {
    struct arena arena = {0};
    struct program program;
    if (length > SCHEDULE_FILE_MAX)
        return file_fail(err, KERF_EINVALID, name, 0, 0, "larger than the %d MiB that a schedule may have",
                         SCHEDULE_FILE_MAX >> 20);
    int32_t code = sched_parse(&program, &arena, text, length, name, err);
    if (code == KERF_OK) code = sched_run(&program, request, ret_schedule, err);
    arena_free(&arena);
    return code;
}
