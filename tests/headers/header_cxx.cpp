/* SPDX-License-Identifier: Apache-2.0 */
/* The public headers as C++: compiling is the test. */
#include <kerf/kerf.h>

const char *version_of_cxx();

const char *version_of_cxx() { return kerf_version(); }
