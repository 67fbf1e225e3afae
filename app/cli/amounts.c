/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/amounts.h"

#include <string.h>
#include "kerf/text.h"

/* One count with its unit, "30d"; where it ends. NULL: it is none. */
static const char *read_part(const char *text, double *seconds) {
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 7 * 86400}};
    char *end;
    double count = kerf_number_parse(text, &end);
    if (end == text || !(count >= 0)) return NULL;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].unit);
        if (strncmp(end, units[i].unit, length) != 0) continue;
        *seconds += count * units[i].seconds;
        return end + length;
    }
    return NULL;
}

int32_t amount_of_time(const char *option, const char *text, double *ret_seconds, struct kerf_error *err) {
    enum { MOST_S = 1000000000 };
    double seconds = 0;
    const char *c = text;
    do {
        c = read_part(c, &seconds);
    } while (c && *c);
    if (c == NULL || !(seconds > 0 && seconds <= MOST_S))
        return kerf_error_set(err, KERF_EINVALID, "%s '%.64s' must be a time such as 90s, 10m, 12h or 30d", option,
                              text);
    *ret_seconds = seconds;
    return KERF_OK;
}

int32_t amount_of_share(const char *option, const char *text, double *ret_share, struct kerf_error *err) {
    char *end;
    double value = kerf_number_parse(text, &end);
    if (end != text && strcmp(end, "%") == 0) {
        value /= 100;
        end++;
    }
    if (end == text || *end || !(value > 0 && value < 1))
        return kerf_error_set(err, KERF_EINVALID, "%s '%.64s' must be a share such as 3%% or 0.03", option, text);
    *ret_share = value;
    return KERF_OK;
}
