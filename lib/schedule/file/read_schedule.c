/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/file/read_schedule.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"
#include "schedule/build.h"

int32_t file_fail(struct kerf_error *err, int32_t code, const char *file, int32_t line, int32_t column,
                  const char *format, ...) {
    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    kerf_error_set(err, code, "%s", message);
    if (err == NULL || file == NULL) return code;
    error_set_file(err, file);
    if (err->file[0] == 0) return code;
    err->line = line;
    err->column = column;
    return code;
}

/* "dir/zb_v.csv": "zb_v" */
static char *base_name(struct arena *arena, const char *file) {
    const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file, *dot = strrchr(start, '.');
    int length = (int)(dot && dot > start ? (size_t)(dot - start) : strlen(start));
    return length ? arena_printf(arena, "%.*s", length, start) : arena_strdup(arena, "schedule");
}

static int copy(const struct read_schedule *read, const char *file, struct owned_schedule *owned) {
    struct arena *arena = &owned->arena;
    size_t p = (size_t)read->devices, homes = (size_t)read->stages * (size_t)read->replicas;
    char *name = read->name ? arena_strdup(arena, read->name) : base_name(arena, file);
    int32_t *device_of = arena_take(arena, homes, sizeof *device_of);
    int32_t *num_ops = arena_take(arena, p, sizeof *num_ops);
    struct kerf_op **ops = arena_take(arena, p, sizeof *ops);
    if (!name || !device_of || !num_ops || !ops) return 0;
    utf8_clean(name);
    memcpy(device_of, read->device_of, homes * sizeof *device_of);
    memcpy(num_ops, read->num_ops, p * sizeof *num_ops);
    for (size_t i = 0; i < p; i++) {
        size_t count = (size_t)num_ops[i];
        ops[i] = arena_take(arena, count, sizeof **ops);
        if (ops[i] == NULL) return 0;
        if (count) memcpy(ops[i], read->ops[i], count * sizeof **ops);
    }
    owned->schedule = (struct kerf_schedule){
        .name = name,
        .devices = read->devices,
        .stages = read->stages,
        .microbatches = read->microbatches,
        .chunks = read->chunks,
        .replicas = read->replicas,
        .slices = read->slices,
        .moves = read->moves,
        .device_of = device_of,
        .ops = (const struct kerf_op *const *)ops,
        .num_ops = num_ops,
    };
    return 1;
}

int32_t read_schedule_finish(const struct read_schedule *read, const char *file, struct kerf_schedule **ret_schedule,
                             struct kerf_error *err) {
    struct kerf_error why;
    struct owned_schedule *owned = calloc(1, sizeof *owned);
    if (owned == NULL) return file_fail(err, KERF_ENOMEM, file, 0, 0, "not enough memory for the schedule");
    int32_t code =
        copy(read, file, owned) ? kerf_schedule_check(&owned->schedule, &why) : error_no_memory(&why, "the schedule");
    if (code != KERF_OK) {
        kerf_schedule_free(&owned->schedule);
        return file_fail(err, code, file, 0, 0, "%s", why.message);
    }
    *ret_schedule = &owned->schedule;
    return KERF_OK;
}
