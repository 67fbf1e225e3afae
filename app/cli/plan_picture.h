/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_CLI_PLAN_PICTURE_H
#define KERF_CLI_PLAN_PICTURE_H

#include "kerf/kerf.h"

/* The best of one search as bars; a sweep as scaling curves with the parts of the time. */
int32_t print_plan_picture(struct kerf_text *out, const struct kerf_plan *plan, enum kerf_picture_format format,
                           struct kerf_error *err);

#endif
