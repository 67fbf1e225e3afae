/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities as people write and read them: "80 GB", "2.5 us", "1h30m", "1,818". */
#ifndef KERF_BASE_QUANTITY_H
#define KERF_BASE_QUANTITY_H

#include "kerf/text.h"

/* "80 GB", "312 TFLOP/s", "2.5 us", "1.5e12" as SI. unit is what is measured: "B", "B/s", "FLOP/s", "s", or "" for
 * plain numbers. Prefixes k M G T P E, m u n (and Ki Mi Gi Ti for bytes). */
int32_t quantity_parse(const char *text, const char *unit, double *ret_value, struct kerf_error *err);

/* "5ms", "90s", "1h30m", "52w", or a plain number of seconds, as seconds; not below 0. Units: ns us ms s m min h d w.
 * Returns 0, and leaves *ret_seconds alone, where the text is not a duration. */
int duration_read(const char *text, double *ret_seconds);

/* The shortest of its forms that has one unit: 5400 is "90m". */
void duration_write(struct kerf_text *out, double seconds);

/* A number with its unit: quantity_bytes(63.7e9) "63.7 GB" (decimal units), quantity_seconds(0.26) "260 ms",
 * quantity_count(1818) "1,818", and with as many digits as are asked for quantity_joules(2412620, 6) "2.41262 MJ". */
void quantity_bytes(struct kerf_text *text, double bytes);
void quantity_seconds(struct kerf_text *text, double seconds);
void quantity_joules(struct kerf_text *text, double joules, int digits);
void quantity_count(struct kerf_text *text, int64_t count);

/* "13.4 %" for 2 / 15: an upper limit above 0, which is rounded up. */
void quantity_at_most(struct kerf_text *text, double share, int digits);

#endif
