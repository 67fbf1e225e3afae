/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities as people write them: a number, a prefix, a unit. */
#include "kerf/spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct prefix {
    const char *text;
    double factor;
};

/* Longer ones first, so that "Mi" is not read as "M". */
static const struct prefix prefixes[] = {
    {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"k", 1e3},  {"K", 1e3},  {"M", 1e6},
    {"G", 1e9},     {"T", 1e12},    {"P", 1e15},    {"E", 1e18},    {"m", 1e-3}, {"u", 1e-6}, {"\xC2\xB5", 1e-6},
    {"n", 1e-9},    {"", 1},
};

/* Other spellings of a unit, with the factor to it. */
static const struct {
    const char *unit, *spelling;
    double factor;
} spellings[] = {
    {"B", "B", 1},           {"B", "byte", 1},         {"B", "bytes", 1},
    {"B/s", "B/s", 1},       {"B/s", "Bps", 1},        {"B/s", "bit/s", 0.125}, {"B/s", "bps", 0.125},
    {"B/s", "b/s", 0.125},   {"FLOP/s", "FLOP/s", 1},  {"FLOP/s", "FLOPS", 1},  {"FLOP/s", "FLOPs", 1},
    {"FLOP/s", "FLOPs/s", 1}, {"FLOP/s", "flop/s", 1}, {"FLOP/s", "flops", 1},  {"s", "s", 1},
    {"", "", 1},
};

static int32_t bad_unit(const char *text, const char *unit, struct kerf_error *err) {
    const char *example = strcmp(unit, "B") == 0        ? "\"80 GB\""
                          : strcmp(unit, "B/s") == 0    ? "\"300 GB/s\""
                          : strcmp(unit, "FLOP/s") == 0 ? "\"312 TFLOP/s\""
                          : strcmp(unit, "s") == 0      ? "\"2.5 us\""
                                                        : "a plain number";
    return kerf_error_set(err, KERF_EINVALID, "'%.64s' is no quantity in %s; write a number such as %s", text,
                          unit[0] ? unit : "plain numbers", example);
}

int32_t kerf_quantity_parse(const char *text, const char *unit, double *ret_value, struct kerf_error *err) {
    /* strtod would also take "nan", "inf" and hexadecimal digits */
    size_t number = strspn(text, "+-.0123456789eE");
    char *end;
    double value = strtod(text, &end);
    if (end == text || number == 0 || (size_t)(end - text) > number || !isfinite(value))
        return bad_unit(text, unit, err);
    const char *rest = end;
    while (*rest == ' ') rest++;
    if (*rest == 0) {
        *ret_value = value;
        return KERF_OK;
    }
    for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
        size_t length = strlen(prefixes[p].text);
        if (strncmp(rest, prefixes[p].text, length) != 0) continue;
        for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++) {
            if (strcmp(spellings[s].unit, unit) != 0 || strcmp(spellings[s].spelling, rest + length) != 0) continue;
            value = value * prefixes[p].factor * spellings[s].factor;
            if (!isfinite(value)) return bad_unit(text, unit, err);
            *ret_value = value;
            return KERF_OK;
        }
    }
    return bad_unit(text, unit, err);
}
