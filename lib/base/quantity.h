/* SPDX-License-Identifier: Apache-2.0 */
/* Times as people give them to options. */
#ifndef KERF_BASE_QUANTITY_H
#define KERF_BASE_QUANTITY_H

#include "kerf/text.h"

/* "5ms", "90s", "1h30m", "52w", or a plain number of seconds, as seconds; not below 0. Units: ns us ms s m min h d w.
 * Returns 0, and leaves *ret_seconds alone, where the text is none of these. */
int duration_read(const char *text, double *ret_seconds);

/* The shortest of its forms that has one unit: 5400 is "90m". */
void duration_write(struct kerf_text *out, double seconds);

#endif
