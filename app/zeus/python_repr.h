/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and strings as Python's repr writes them: "300.0", "1e+16", "1e-05", "nan"; 'text', "it's", 'tab\t'. */
#ifndef KERF_ZEUS_PYTHON_REPR_H
#define KERF_ZEUS_PYTHON_REPR_H

#include "kerf/text.h"

void python_float_repr(double value, struct kerf_text *out);

/* utf8: the bytes C0 80 are a NUL, '\x00'. */
void python_string_repr(const char *utf8, struct kerf_text *out);

#endif
