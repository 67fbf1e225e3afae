/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much each address may ask: a token bucket an address, which fills at `per_s` and holds BURST_S of that. Time is
 * handed in. The memory is the same whatever number of addresses there are: the table has sets of a few places, and an
 * address that finds its set full takes the place of the bucket that is fullest, and that loses least.
 */
#ifndef KERF_SERVER_RATE_H
#define KERF_SERVER_RATE_H

#include <stdint.h>

struct rate_table;

enum { RATE_BURST_S = 2, RATE_PLACES = 32768 };

/* 16 bytes: IPv6, or IPv4 as ::ffff:a.b.c.d */
struct rate_address {
    unsigned char bytes[16];
};

/* per_s: 1 or more. seed: any, so that nobody knows which addresses share a set. NULL: no memory. */
struct rate_table *rate_new(double per_s, uint64_t seed);
void rate_free(struct rate_table *table); /* NULL is fine */

/* 0: one request may go on, and is counted. Else so many seconds are to pass before the next one may. */
double rate_take(struct rate_table *table, const struct rate_address *address, double now_s);

/* So many more requests are counted, of which none is refused any more: the bucket may owe up to a burst. */
void rate_charge(struct rate_table *table, const struct rate_address *address, double requests, double now_s);

#endif
