/* SPDX-License-Identifier: Apache-2.0 */
/* A part of the order known, put in order anew: what windows of time and other neighbourhoods have in common. */
#ifndef KERF_SCHEDULE_BEST_BEST_PART_H
#define KERF_SCHEDULE_BEST_BEST_PART_H

#include "schedule/best/best_model.h"
#include "schedule/best/best_search.h"

struct part {
    struct best_search *search;
    struct model model; /* freed: as for a try */
    int64_t *from, *to; /* [devices] of the order, the part of the last try */
    int64_t conflicts;  /* that a try may have */
    int64_t known;      /* ticks that the order known takes */
    int64_t step;       /* that a try has to gain, */
    int64_t least_step; /* and the least that counts */
};

/* Asks for a five-hundredth. 0: not enough memory; part_free is due in either case. */
int32_t part_make(struct part *part, struct best_search *search, int64_t conflicts);
void part_free(struct part *part);

/* Others may have found better orders: looks at the one known. */
void part_look(struct part *part);

void part_set_step(struct part *part, int64_t step);
/* Asks for a quarter of the gain. 0: it was the least already. */
int32_t part_ask_less(struct part *part);

/* Looks for a better order of what starts in a time, or of what model.freed frees then; the order known is timed
 * (model_time). Takes time linear in all operations, and what the solver takes. 1: there was one. */
int32_t part_try(struct part *part, int64_t begin, int64_t end);

#endif
