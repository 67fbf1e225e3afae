/* SPDX-License-Identifier: Apache-2.0 */
/* The forms that a study can be printed in. */
#include <string.h>
#include "cli/tune_print.h"

const struct render_format tune_formats[] = {
    {.name = "table", .ending = "txt"},
    {.name = "json", .ending = "json"},
    {.name = "csv", .ending = "csv"},
    {.name = "markdown", .ending = "md"},
    RENDER_PICTURES,
    {.name = NULL},
};

int32_t print_tune(void *context, struct kerf_text *out, const struct render_format *format,
                   const struct render_style *style, struct kerf_error *err) {
    const struct tune_report *report = context;
    if (format->is_picture) return print_tune_picture(out, report, format->picture, err);
    if (strcmp(format->name, "json") == 0)
        print_tune_json(out, report);
    else if (strcmp(format->name, "csv") == 0)
        print_tune_csv(out, report);
    else if (strcmp(format->name, "markdown") == 0)
        print_tune_markdown(out, report);
    else
        print_tune_table(out, report, style);
    return KERF_OK;
}
