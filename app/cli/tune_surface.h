/* SPDX-License-Identifier: Apache-2.0 */
/* The surface of a study as a heat map: two of its parameters, the others as in the recommended setting. */
#ifndef KERF_CLI_TUNE_SURFACE_H
#define KERF_CLI_TUNE_SURFACE_H

#include "cli/sketch.h"
#include "cli/tune_print.h"

/* 1 and the panel, or 0 where there is no surface: nothing measured, or too few or too many values. */
int tune_surface(const struct tune_report *report, struct sketch *sketch, struct kerf_panel *ret_panel);

#endif
