/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much each network may ask: one token bucket per network, which fills at `per_s` and holds RATE_BURST_S of that.
 * The time is an argument. The memory does not grow with the number of networks: the table has sets of a few places,
 * and a network that finds its set full replaces the fullest bucket there, which loses least by it.
 */
#ifndef KERF_SERVER_RATE_H
#define KERF_SERVER_RATE_H

#include "server/network.h"

struct rate_table;

enum { RATE_BURST_S = 2, RATE_PLACES = 32768 };

/* per_s: 1 or more. seed: random, so that nobody knows which networks share a set. NULL: not enough memory. */
struct rate_table *rate_new(double per_s, uint64_t seed);
void rate_free(struct rate_table *table); /* NULL is fine */

/* 0: the request may go on, and is counted. Otherwise: the seconds until the next one may. */
double rate_take(struct rate_table *table, const struct network *network, double now_s);

/* Counts more requests, which happened already: the bucket may owe up to one burst. */
void rate_charge(struct rate_table *table, const struct network *network, double requests, double now_s);

#endif
