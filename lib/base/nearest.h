/* SPDX-License-Identifier: Apache-2.0 */
/* The name that was meant, for "did you mean". */
#ifndef KERF_BASE_NEAREST_H
#define KERF_BASE_NEAREST_H

#include <stddef.h>

/* The entry of names (count of them, none NULL) that is the nearest to word by the number of edits, or NULL when none is
 * near. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

#endif
