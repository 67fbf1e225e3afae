/* SPDX-License-Identifier: Apache-2.0 */
/* Input that may be compressed by gzip. */
#ifndef KERF_BASE_UNPACK_H
#define KERF_BASE_UNPACK_H

#include "kerf/text.h"

/* Replaces text by what gzip packed in it; text that does not begin as gzip's does stays as it is. What would unpack to
 * more than limit bytes is refused before it is unpacked whole. name: of the input, for errors. */
int32_t input_unpack(const char *name, size_t limit, struct kerf_text *text, struct kerf_error *err);

#endif
