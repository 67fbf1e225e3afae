/* SPDX-License-Identifier: Apache-2.0 */
/* Panels of lanes and steps as data for the script of a page (web/timeline.js reads it). */
#ifndef KERF_DRAW_HTML_LANES_H
#define KERF_DRAW_HTML_LANES_H

#include "draw/html.h"
#include "draw/lanes.h"

enum { HTML_STREAMS = 5 };

/* One JSON object. Panels with the same view number are zoomed together. KERF_ENOMEM: nothing else can go wrong. */
int32_t html_lanes(struct kerf_text *out, const struct kerf_figure *figure, int32_t p, int32_t view,
                   const struct palette *palette);

#endif
