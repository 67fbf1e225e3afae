/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of a size, newest first: twelve bytes each. A report inserts near the front, which moves a few of them. */
#include "jobs/costs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

enum { FIRST_ROOM = 4 };

static void *moved(const void *from, int64_t start, int64_t count, int64_t grown, int64_t room, size_t width) {
    char *to = malloc((size_t)(room + 1) * width);
    if (to && count)
        memcpy(to + (size_t)(start + grown) * width, (const char *)from + (size_t)start * width, (size_t)count * width);
    return to;
}

int32_t costs_reserve(struct costs *costs, int64_t more, struct kerf_error *err) {
    if (costs->cost && costs->start >= more) return KERF_OK;
    int64_t grown = costs->room / 2 > more ? costs->room / 2 : more > FIRST_ROOM ? more : FIRST_ROOM;
    int64_t room = costs->room + grown;
    double *cost = moved(costs->cost, costs->start, costs->count, grown, room, sizeof *cost);
    uint32_t *number = moved(costs->number, costs->start, costs->count, grown, room, sizeof *number);
    if (cost == NULL || number == NULL) {
        free(cost);
        free(number);
        return error_no_memory(err, "the costs of a job");
    }
    free(costs->cost);
    free(costs->number);
    costs->cost = cost;
    costs->number = number;
    costs->room = room;
    costs->start += grown;
    return KERF_OK;
}

void costs_insert(struct costs *costs, int64_t number, double cost, int64_t most) {
    assert(costs->start > 0 && most > 0 && number > 0 && number <= UINT32_MAX);
    int64_t at = --costs->start, end = at + ++costs->count;
    for (; at + 1 < end && costs->number[at + 1] > number; at++) {
        costs->number[at] = costs->number[at + 1];
        costs->cost[at] = costs->cost[at + 1];
    }
    assert(at + 1 == end || costs->number[at + 1] < number); /* no trial counts twice */
    costs->number[at] = (uint32_t)number;
    costs->cost[at] = cost;
    if (costs->count <= most) return;
    /* The window slides towards the front; when it gets there, back to the end at once. */
    costs->count = most;
    if (costs->start > 0) return;
    int64_t back = costs->room - most;
    memmove(costs->cost + back, costs->cost, (size_t)most * sizeof *costs->cost);
    memmove(costs->number + back, costs->number, (size_t)most * sizeof *costs->number);
    costs->start = back;
}

void costs_forget(struct costs *costs) {
    free(costs->cost);
    free(costs->number);
    *costs = (struct costs){.held = 0};
}
