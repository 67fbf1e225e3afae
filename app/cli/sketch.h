/* SPDX-License-Identifier: Apache-2.0 */
/* What a picture is made of while it is made - strings, numbers, bars - all given back at once. When memory runs out
 * `failed` stays 1 and what is handed out is empty, so that a caller checks once, before it draws. */
#ifndef KERF_CLI_SKETCH_H
#define KERF_CLI_SKETCH_H

#include "base/arena.h"
#include "kerf/text.h"

struct sketch { /* all zeros: empty */
    struct arena arena;
    int failed;
};

const char *sketch_text(struct sketch *sketch, struct kerf_text *text); /* gives the text back */
const char *sketch_printf(struct sketch *sketch, const char *format, ...) KERF_PRINTF(2, 3);
void *sketch_alloc(struct sketch *sketch, size_t count, size_t size); /* zeroed; NULL when memory ran out */
void sketch_free(struct sketch *sketch);

#endif
