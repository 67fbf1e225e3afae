/* SPDX-License-Identifier: Apache-2.0 */
/* Answers as pictures, in any format of kerf/draw.h. */
#ifndef KERF_CALL_PICTURES_H
#define KERF_CALL_PICTURES_H

#include "call/schedule_answers.h"

/* ---- Plans --------------------------------------------------------------------------------------------------- */

/* The best of one search as bars; a sweep as scaling curves with the parts of the time. */
int32_t plan_picture(struct kerf_text *out, const struct kerf_plan *plan, enum kerf_picture_format format,
                     struct kerf_error *err);

/* The least time within each memory, of every search, with layouts that come near. */
int32_t front_picture(struct kerf_text *out, const struct kerf_plan *plan, enum kerf_picture_format format,
                      struct kerf_error *err);

/* ---- Schedules ----------------------------------------------------------------------------------------------- */

/* One schedule or several as timelines, a sweep as curves. */
int32_t schedule_picture(struct kerf_text *out, const struct schedule_answers *answers, enum kerf_picture_format format,
                         struct kerf_error *err);
/* The timeline of one answer for a terminal. */
void schedule_timeline(struct kerf_text *out, const struct schedule_answers *answers,
                       const struct schedule_answer *answer, int32_t columns, int32_t colour);

#endif
