/* SPDX-License-Identifier: Apache-2.0 */
/* Pages: what they begin and end with, words in HTML and in JSON, and numbers packed for the page's script. */
#ifndef KERF_DRAW_HTML_H
#define KERF_DRAW_HTML_H

#include "draw/canvas.h"

/* Made by CMake from the files in web/. */
extern const char web_timeline_css[], web_timeline_js[];

void html_begin(struct kerf_text *out, const char *title, int32_t wide);
void html_end(struct kerf_text *out);
void html_escape(struct kerf_text *out, const char *utf8);      /* text and attributes */
void html_json_string(struct kerf_text *out, const char *utf8); /* with its quotes; no "<" can end a script */

/* Integers as a JSON object: {"n":3,"b":"..."}, in base 64 variable-length integers, seven bits a byte and the
 * lowest first, of zigzag-coded values; or, when few values are distinct, {"n":3,"t":[values],"b":"..."} with places
 * in the table of them, the most frequent first. */
int32_t html_packed(struct kerf_text *out, const int64_t *values, int64_t count);

/* The page of a figure that has timelines, or its content alone. */
struct sheet;
int32_t html_timeline(struct sheet *sheet, const struct kerf_figure *figure, int32_t is_part, struct kerf_text *out,
                      struct kerf_error *err);

#endif
