/* SPDX-License-Identifier: Apache-2.0 */
/* An answer in the formats that were asked for: each --output by the ending of its name, --format on standard output.
 */
#ifndef KERF_CLI_RENDER_H
#define KERF_CLI_RENDER_H

#include "base/option.h"
#include "kerf/kerf.h"

struct render_style {
    int32_t columns;     /* width of the terminal */
    int32_t colour;      /* 1: escape sequences may be used */
    int32_t is_terminal; /* 0: for a file or another program */
    int32_t rows;        /* height of the terminal; 0: not known, or none */
    const char *path;    /* where it is written to; "-": standard output */
};

struct render_format {
    const char *name;   /* as --format calls it */
    const char *ending; /* of a file that holds it; several formats may share one, the first is it unless --format
                           names another */
    int32_t is_picture; /* 1: of this kind; no text */
    enum kerf_picture_format picture;
};

#define RENDER_PICTURES                                                                                                \
    {"svg", "svg", 1, KERF_PICTURE_SVG}, {"png", "png", 1, KERF_PICTURE_PNG}, {"pdf", "pdf", 1, KERF_PICTURE_PDF}, {   \
        "html", "html", 1, KERF_PICTURE_HTML                                                                           \
    }

/* Where --format says nothing: the first format of the answer. It reads "table", and is told from the word by its address. */
extern const char render_usual[];

struct render {
    const struct render_format *formats; /* ended by an entry without a name */
    const char *format;                  /* what --format says, or render_usual */
    const struct string_list *outputs;
    int32_t (*write)(void *context, struct kerf_text *out, const struct render_format *format,
                     const struct render_style *style, struct kerf_error *err);
    void *context;
};

/* Checks, before the work, that standard output has the format that was asked for, and that every file can be written,
 * in a known format. */
int32_t render_check(const struct render *render, struct kerf_error *err);

/* Whether something is written in the format of this name, or with "picture" in any that is one. After render_check. */
int render_writes(const struct render *render, const char *name);

/* Fails where only formats are written that hold no more than rows, and the option asks for more. After render_check. */
int32_t render_check_more(const struct render *render, const char *option, struct kerf_error *err);

/* Whether the file of this name, one of the outputs, is a picture. After render_check. */
int render_draws(const struct render *render, const char *path);

/* Writes what was asked for; where a file cannot be written the rest still is. Where no file holds a text, standard
 * output does, also in the place of a file that could not be written: the work is not lost, and the error says so. */
int32_t render_all(const struct render *render, struct kerf_error *err);

#endif
