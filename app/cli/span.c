/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/span.h"

#include "kerf/kerf.h"

int32_t span_read(const char *option, const char *text, double *ret_span_s, struct kerf_error *err) {
    static const struct {
        char unit;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
    enum { MOST_S = 1000000000 };
    char *end;
    double count = kerf_number_parse(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (end == text || end[0] != units[i].unit || end[1] != 0) continue;
        *ret_span_s = count * units[i].seconds;
        if (*ret_span_s > 0 && *ret_span_s <= MOST_S) return KERF_OK;
    }
    return kerf_error_set(err, KERF_EINVALID, "--%s '%.64s' must be a time such as 12h, 30d or 52w", option, text);
}
