/* SPDX-License-Identifier: Apache-2.0 */
/* The public headers as C89 with <stdint.h>: compiling is the test. */
#include <kerf/kerf.h>

const char *version_of_c89(void);

const char *version_of_c89(void) { return kerf_version(); }
