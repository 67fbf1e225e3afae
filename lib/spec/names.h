/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SPEC_NAMES_H
#define KERF_SPEC_NAMES_H

#include "kerf/spec.h"

/* Copies text into name, cut between two code points when it is too long, with '?' for what cannot be printed. */
void name_copy(char name[KERF_NAME_SIZE], const char *text);

#endif
