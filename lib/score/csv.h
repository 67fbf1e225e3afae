/* SPDX-License-Identifier: Apache-2.0 */
/* Comma-separated values, RFC 4180: cells in quotes may hold commas, line ends and doubled quotes. */
#ifndef KERF_SCORE_CSV_H
#define KERF_SCORE_CSV_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

enum { CSV_CELLS_MAX = 256 };

struct csv { /* what is left to read */
    const char *at, *end;
    int32_t line; /* of `at`, from 1 */
};

struct csv_record {
    const char *cells[CSV_CELLS_MAX]; /* in the arena, without quotes and blanks around them */
    int32_t count;                    /* also beyond CSV_CELLS_MAX, whose cells are dropped */
    int32_t line;                     /* in which it begins */
    const char *why;                  /* what is wrong with its text; NULL: nothing */
};

enum csv_state { CSV_NO_MEMORY = -1, CSV_END, CSV_RECORD };

struct csv csv_begin(const char *bytes, size_t size); /* a byte-order mark is passed over */
enum csv_state csv_next(struct csv *csv, struct arena *arena, struct csv_record *ret_record); /* empty lines are none */

#endif
