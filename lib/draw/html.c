/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages, and the canvas as one: the SVG of the picture within a page. Figures with timelines have a page of their own
 * (html_timeline.c).
 *
 * A page's content security policy forbids it to load anything, so that the file contains everything. Strings
 * are escaped for text, attributes and JSON within a script alike.
 */
#include "draw/html.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

/* ---- Pages ------------------------------------------------------------------------------------------------ */

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

/* ---- The canvas ------------------------------------------------------------------------------------------- */

struct page {
    struct canvas canvas;
    struct canvas *svg;
    struct kerf_text *out;
    size_t start;
};

static int32_t page_begin(const struct canvas_page *page, struct kerf_text *out, struct canvas **ret_canvas,
                          struct kerf_error *err) {
    struct page *html = calloc(1, sizeof *html);
    if (html == NULL) return error_no_memory(err, "the picture");
    *html = (struct page){.canvas = {&canvas_html}, .out = out, .start = out->length};
    html_begin(out, page->title, 0);
    int32_t code = canvas_svg.begin(page, out, &html->svg, err);
    if (code != KERF_OK) {
        free(html);
        return code;
    }
    *ret_canvas = &html->canvas;
    return KERF_OK;
}

static void page_rect(struct canvas *canvas, double x, double y, double width, double height, double radius,
                      uint32_t fill, const char *tip) {
    canvas_rect(((struct page *)canvas)->svg, x, y, width, height, radius, fill, tip);
}

static void page_path(struct canvas *canvas, const struct canvas_point *points, int32_t num_points,
                      const struct canvas_pen *pen, const char *tip) {
    canvas_path(((struct page *)canvas)->svg, points, num_points, pen, tip);
}

static void page_text(struct canvas *canvas, double x, double y, const struct canvas_font *font,
                      enum canvas_anchor anchor, const char *string, const char *tip) {
    canvas_text(((struct page *)canvas)->svg, x, y, font, anchor, string, tip);
}

static int32_t page_finish(struct canvas *canvas, int32_t keep, struct kerf_error *err) {
    struct page *html = (struct page *)canvas;
    struct kerf_text *out = html->out;
    size_t start = html->start;
    int32_t code = canvas_finish(html->svg, keep, err);
    free(html);
    if (code == KERF_OK && keep) html_end(out);
    if (code == KERF_OK && out->failed) code = error_no_memory(err, "the picture");
    if (code != KERF_OK || !keep) {
        out->length = start;
        if (out->data) out->data[start] = 0;
    }
    return code;
}

const struct canvas_driver canvas_html = {
    "html", page_begin, page_rect, page_path, page_text, page_finish,
};

/* ---- Numbers packed for the script ----------------------------------------------------------------------------- */

/*
 * Numbers packed for a page's script. Half a million operations are a few streams of integers that mostly take few
 * values - the gap before an operation, how long it took, by how much its micro-batch is another - so that a byte
 * each is enough for most; base 64 makes 4 characters of 3 bytes.
 */

enum {
    DISTINCT_MAX = 4096, /* values in a table */
    SLOTS = 16384,       /* of the hash table that counts them */
    TABLE_ENTRY = 12     /* bytes that an entry of the table takes in the page, about */
};

struct value {
    int64_t value, count;
    int32_t place; /* in the table, -1: the slot is free */
};

struct table {
    struct value slots[SLOTS];
    struct value *order[DISTINCT_MAX];
    int32_t num_distinct;
};

static struct value *slot_of(struct table *table, int64_t value) {
    uint64_t hash = (uint64_t)value * 0x9E3779B97F4A7C15u;
    for (uint32_t i = (uint32_t)(hash >> 50);; i = (i + 1) % SLOTS)
        if (table->slots[i].place < 0 || table->slots[i].value == value) return &table->slots[i];
}

static int most_frequent_first(const void *a, const void *b) {
    const struct value *one = *(struct value *const *)a, *other = *(struct value *const *)b;
    if (one->count != other->count) return one->count > other->count ? -1 : 1;
    return (one->value > other->value) - (one->value < other->value);
}

static uint64_t zigzag(int64_t value) { return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0); }

static int32_t bytes_of(uint64_t value) {
    int32_t bytes = 1;
    for (; value > 127; value >>= 7) bytes++;
    return bytes;
}

/* Counts the values; 0 when they are too many, or a table of them would not pay. */
static int make_table(struct table *table, const int64_t *values, int64_t count) {
    int64_t plain = 0, placed = 0;
    for (int32_t i = 0; i < SLOTS; i++) table->slots[i].place = -1;
    for (int64_t i = 0; i < count; i++) {
        struct value *slot = slot_of(table, values[i]);
        plain += bytes_of(zigzag(values[i]));
        if (slot->place < 0) {
            if (table->num_distinct == DISTINCT_MAX) return 0;
            *slot = (struct value){.value = values[i], .place = table->num_distinct};
            table->order[table->num_distinct++] = slot;
        }
        slot->count++;
    }
    qsort(table->order, (size_t)table->num_distinct, sizeof *table->order, most_frequent_first);
    for (int32_t i = 0; i < table->num_distinct; i++) {
        table->order[i]->place = i;
        placed += table->order[i]->count * bytes_of((uint64_t)i) + TABLE_ENTRY;
    }
    return placed < plain;
}

struct base64 {
    struct kerf_text *out;
    char buffer[1024];
    size_t length;
    uint32_t bits;
    int32_t held; /* bytes in bits */
};

static void put_four(struct base64 *to, int32_t characters) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (to->length + 4 > sizeof to->buffer) {
        kerf_text_write(to->out, to->buffer, to->length);
        to->length = 0;
    }
    for (int32_t i = 0; i < 4; i++)
        to->buffer[to->length++] = i < characters ? digits[to->bits >> (18 - 6 * i) & 63] : '=';
    to->bits = 0, to->held = 0;
}

static void put_byte(struct base64 *to, uint8_t byte) {
    to->bits |= (uint32_t)byte << (16 - 8 * to->held);
    if (++to->held == 3) put_four(to, 4);
}

static void put_integer(struct base64 *to, uint64_t value) {
    for (; value > 127; value >>= 7) put_byte(to, (uint8_t)(value & 127) | 128);
    put_byte(to, (uint8_t)value);
}

int32_t html_packed(struct kerf_text *out, const int64_t *values, int64_t count) {
    struct table *table = calloc(1, sizeof *table);
    if (table == NULL) return KERF_ENOMEM;
    int tabled = make_table(table, values, count);
    kerf_text_printf(out, "{\"n\":%" PRId64, count);
    if (tabled) {
        kerf_text_add(out, ",\"t\":[");
        for (int32_t i = 0; i < table->num_distinct; i++)
            kerf_text_printf(out, "%s%" PRId64, i > 0 ? "," : "", table->order[i]->value);
        kerf_text_add(out, "]");
    }
    kerf_text_add(out, ",\"b\":\"");
    struct base64 to = {.out = out};
    for (int64_t i = 0; i < count; i++)
        put_integer(&to, tabled ? (uint64_t)slot_of(table, values[i])->place : zigzag(values[i]));
    if (to.held > 0) put_four(&to, to.held + 1);
    kerf_text_write(out, to.buffer, to.length);
    kerf_text_add(out, "\"}");
    free(table);
    return KERF_OK;
}
