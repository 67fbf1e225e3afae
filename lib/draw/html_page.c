/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page's beginning and end. Its content security policy forbids it to load anything, so that what is in the file is
 * all there is. Strings are escaped for text, attributes and JSON within a script alike.
 */
#include "draw/html.h"

#include <stdio.h>

void html_escape(struct kerf_text *out, const char *utf8) {
    struct kerf_text clean = {0};
    text_clean(&clean, utf8);
    out->failed |= clean.failed;
    for (const char *c = clean.data ? clean.data : ""; *c; c++) {
        const char *instead = *c == '&'    ? "&amp;"
                              : *c == '<'  ? "&lt;"
                              : *c == '>'  ? "&gt;"
                              : *c == '"'  ? "&quot;"
                              : *c == '\'' ? "&#39;"
                                           : NULL;
        if (instead)
            kerf_text_add(out, instead);
        else
            kerf_text_write(out, c, 1);
    }
    kerf_text_free(&clean);
}

void html_json_string(struct kerf_text *out, const char *utf8) {
    kerf_text_add(out, "\"");
    for (uint32_t c; (c = text_next(&utf8));) {
        if (c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c > 126) {
            if (c > 0xFFFF) {
                kerf_text_printf(out, "\\u%04x", 0xD800 + ((c - 0x10000) >> 10));
                c = 0xDC00 + ((c - 0x10000) & 0x3FF);
            }
            kerf_text_printf(out, "\\u%04x", c);
        } else {
            char byte = (char)c;
            kerf_text_write(out, &byte, 1);
        }
    }
    kerf_text_add(out, "\"");
}

void html_begin(struct kerf_text *out, const char *title, int32_t timeline) {
    kerf_text_add(out,
                  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
                  "<meta name=\"generator\" content=\"kerf " KERF_VERSION_TEXT "\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
    html_escape(out, title);
    kerf_text_add(out, "</title>\n<style>\n");
    kerf_text_add(out, web_timeline_css);
    kerf_text_add(out, timeline ? "</style>\n</head>\n<body>\n" : "</style>\n</head>\n<body class=\"picture\">\n");
}

void html_end(struct kerf_text *out) { kerf_text_add(out, "</body>\n</html>\n"); }
