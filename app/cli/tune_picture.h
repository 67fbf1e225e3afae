/* SPDX-License-Identifier: Apache-2.0 */
/* A study as a picture, and its surface alone. */
#ifndef KERF_CLI_TUNE_PICTURE_H
#define KERF_CLI_TUNE_PICTURE_H

#include "cli/render.h"
#include "cli/sketch.h"
#include "cli/tune_report.h"

/* The surface of a study as a heat map: two of its parameters, the others as in the recommended setting. */
/* 1 and the panel, or 0 where there is no surface: nothing measured, or too few or too many values. */
int tune_surface(const struct tune_report *report, struct sketch *sketch, struct kerf_panel *ret_panel);

int32_t print_tune_picture(struct kerf_text *out, const struct tune_report *report, enum kerf_picture_format format,
                           struct kerf_error *err);

#endif
