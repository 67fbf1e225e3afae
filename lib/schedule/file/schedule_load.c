/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules from files: which reader a file is for. */
#include <string.h>
#include <strings.h>
#include "base/input.h"
#include "schedule/build.h"
#include "schedule/file/read_schedule.h"
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

static int ends_in_csv(const char *path) {
    size_t length = strlen(path);
    return length >= 4 && strcasecmp(path + length - 4, ".csv") == 0;
}

/* A CSV has its own sizes; asking for others is a mistake. */
static int32_t check_asked(const struct kerf_schedule_file_request *request, const char *name,
                           const struct kerf_schedule *schedule, struct kerf_error *err) {
    const struct {
        const char *what;
        int32_t asked, have;
    } sizes[] = {{"devices", request->devices, schedule->devices},
                 {"micro-batches", request->microbatches, schedule->microbatches},
                 {"chunks a device", request->chunks, schedule->chunks}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].asked && sizes[i].asked != sizes[i].have)
            return file_fail(err, KERF_EINVALID, name, 0, 0,
                             "the file has %d %s, not %d; the sizes of a CSV cannot be changed", sizes[i].have,
                             sizes[i].what, sizes[i].asked);
    return KERF_OK;
}

int32_t kerf_schedule_parse(const char *text, size_t length, const char *name,
                            const struct kerf_schedule_file_request *request, struct kerf_schedule **ret_schedule,
                            struct kerf_error *err) {
    struct kerf_schedule *schedule = NULL;
    if (!ends_in_csv(name)) return kerf_schedule_parse_text(text, length, name, request, ret_schedule, err);
    int32_t code = kerf_schedule_parse_csv(text, length, name, &schedule, err);
    if (code == KERF_OK && request) code = check_asked(request, name, schedule, err);
    if (code == KERF_OK)
        *ret_schedule = schedule;
    else
        kerf_schedule_free(schedule);
    return code;
}

int32_t kerf_schedule_load(const struct kerf_schedule_file_request *request, struct kerf_schedule **ret_schedule,
                           struct kerf_error *err) {
    struct kerf_text text = {0};
    const char *name = strcmp(request->path, "-") == 0 ? "standard input" : request->path;
    int32_t code = input_read(request->path, SCHEDULE_FILE_MAX, &text, err);
    if (code == KERF_OK)
        code = kerf_schedule_parse(text.data ? text.data : "", text.length, name, request, ret_schedule, err);
    kerf_text_free(&text);
    return code;
}
