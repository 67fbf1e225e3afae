/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities as people write and read them: a number, a prefix, a unit. */
#include "base/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/number.h"

/* Millibytes and binary seconds do not exist: such a prefix is a mistake. */
enum prefix_for { FOR_BYTES, FOR_SECONDS, FOR_ALL };

struct prefix {
    const char *text;
    enum prefix_for use;
    int tens;      /* the factor is 10^tens ... */
    double factor; /* ... x factor, a power of two */
};

/* Longer ones first, so that "Mi" is not read as "M". */
static const struct prefix prefixes[] = {
    {"Ki", FOR_BYTES, 0, 0x1p10}, {"Mi", FOR_BYTES, 0, 0x1p20},
    {"Gi", FOR_BYTES, 0, 0x1p30}, {"Ti", FOR_BYTES, 0, 0x1p40},
    {"k", FOR_ALL, 3, 1},         {"K", FOR_ALL, 3, 1},
    {"M", FOR_ALL, 6, 1},         {"G", FOR_ALL, 9, 1},
    {"T", FOR_ALL, 12, 1},        {"P", FOR_ALL, 15, 1},
    {"E", FOR_ALL, 18, 1},        {"m", FOR_SECONDS, -3, 1},
    {"u", FOR_SECONDS, -6, 1},    {"\xC2\xB5", FOR_SECONDS, -6, 1},
    {"n", FOR_SECONDS, -9, 1},    {"", FOR_ALL, 0, 1},
};

/* Other spellings of a unit, with the factor to it, a power of two. */
static const struct {
    const char *unit, *spelling;
    double factor;
} spellings[] = {
    {"B", "B", 1},           {"B", "byte", 1},        {"B", "bytes", 1},      {"B/s", "B/s", 1},
    {"B/s", "Bps", 1},       {"B/s", "bit/s", 0.125}, {"B/s", "bps", 0.125},  {"B/s", "b/s", 0.125},
    {"FLOP/s", "FLOP/s", 1}, {"FLOP/s", "FLOPS", 1},  {"FLOP/s", "FLOPs", 1}, {"FLOP/s", "FLOPs/s", 1},
    {"FLOP/s", "flop/s", 1}, {"FLOP/s", "flops", 1},  {"s", "s", 1},          {"", "", 1},
};

static int fits_unit(enum prefix_for use, const char *unit) {
    return use == FOR_ALL || (use == FOR_BYTES && unit[0] == 'B') || (use == FOR_SECONDS && strcmp(unit, "s") == 0);
}

static int32_t bad_unit(const char *text, const char *unit, struct kerf_error *err) {
    if (unit[0] == 0)
        return kerf_error_set(err, KERF_EINVALID, "'%.64s' is not a number; write for example 64 or 0.5", text);
    const char *example = strcmp(unit, "B") == 0        ? "\"80 GB\""
                          : strcmp(unit, "B/s") == 0    ? "\"300 GB/s\""
                          : strcmp(unit, "FLOP/s") == 0 ? "\"312 TFLOP/s\""
                                                        : "\"2.5 us\"";
    return kerf_error_set(err, KERF_EINVALID, "'%.64s' is not a quantity in %s; write for example %s", text, unit,
                          example);
}

/* The number that is written in the first `length` bytes of text, times 10^tens, rounded once: "2.5" and -6 give the
 * double that "2.5e-6" does, which 2.5 * 1e-6 is not. */
static double scaled(const char *text, size_t length, int tens) {
    char digits[128];
    size_t mantissa = strcspn(text, "eE");
    if (mantissa > length) mantissa = length;
    long exponent = mantissa < length ? strtol(text + mantissa + 1, NULL, 10) : 0;
    int written =
        snprintf(digits, sizeof digits, "%.*se%ld", (int)(mantissa < 1000 ? mantissa : 1000), text, exponent + tens);
    return written < (int)sizeof digits && exponent < 1000 ? number_read(digits, NULL)
                                                           : number_read(text, NULL) * pow(10, tens);
}

int32_t quantity_parse(const char *text, const char *unit, double *ret_value, struct kerf_error *err) {
    /* strtod would also take "nan", "inf" and hexadecimal digits */
    size_t number = strspn(text, "+-.0123456789eE");
    char *end;
    double value = number_read(text, &end);
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
        if (strncmp(rest, prefixes[p].text, length) != 0 || !fits_unit(prefixes[p].use, unit)) continue;
        for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++) {
            if (strcmp(spellings[s].unit, unit) != 0 || strcmp(spellings[s].spelling, rest + length) != 0) continue;
            value = scaled(text, (size_t)(end - text), prefixes[p].tens) * prefixes[p].factor * spellings[s].factor;
            if (!isfinite(value)) return bad_unit(text, unit, err);
            *ret_value = value;
            return KERF_OK;
        }
    }
    return bad_unit(text, unit, err);
}

/* ---- Durations -------------------------------------------------------------------------------------------- */

/* The longest spelling of a beginning first. Seconds are times / parts, both exact, so that 5ms is the double of
 * 0.005. */
static const struct {
    const char *unit;
    double times, parts;
} durations[] = {{"ns", 1, 1e9}, {"us", 1, 1e6}, {"\xC2\xB5s", 1, 1e6}, {"ms", 1, 1e3},  {"s", 1, 1},
                 {"min", 60, 1}, {"m", 60, 1},   {"h", 3600, 1},        {"d", 86400, 1}, {"w", 604800, 1}};
enum { NUM_DURATIONS = sizeof durations / sizeof *durations };

int duration_read(const char *text, double *ret_seconds) {
    double seconds = 0;
    const char *c = text;
    do {
        char *end;
        int is_decimal = (*c >= '0' && *c <= '9') || *c == '.';
        if (!is_decimal || (c[0] == '0' && (c[1] == 'x' || c[1] == 'X'))) return 0; /* what strtod takes besides */
        double count = number_read(c, &end);
        if (end == c || !isfinite(count)) return 0;
        if (*end == 0 && c == text) { /* no unit at all */
            *ret_seconds = count;
            return 1;
        }
        int i = 0;
        while (i < NUM_DURATIONS && strncmp(end, durations[i].unit, strlen(durations[i].unit)) != 0) i++;
        if (i == NUM_DURATIONS) return 0;
        seconds += count * durations[i].times / durations[i].parts;
        c = end + strlen(durations[i].unit);
    } while (*c);
    if (!isfinite(seconds)) return 0;
    *ret_seconds = seconds;
    return 1;
}

void duration_write(struct kerf_text *out, double seconds) {
    static const char *const names[] = {"w", "d", "h", "m", "s", "ms", "us", "ns"};
    size_t unit = 0;
    for (; unit + 1 < sizeof names / sizeof *names; unit++) {
        int i = 0;
        while (strcmp(durations[i].unit, names[unit]) != 0) i++;
        double count = seconds * durations[i].parts / durations[i].times;
        if (count != floor(count) || count < 1) continue;
        kerf_text_number(out, count);
        kerf_text_add(out, names[unit]);
        return;
    }
    kerf_text_number(out, seconds);
    kerf_text_add(out, "s");
}

/* ---- Printing --------------------------------------------------------------------------------------------- */

void quantity_bytes(struct kerf_text *text, double bytes) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;
    while (fabs(bytes) >= 999.5 && unit + 1 < sizeof units / sizeof *units) bytes /= 1000, unit++;
    kerf_text_printf(text, "%.*f %s", unit == 0 || fabs(bytes) >= 99.95 ? 0 : 1, bytes, units[unit]);
}

void quantity_seconds(struct kerf_text *text, double seconds) {
    static const struct {
        double scale;
        const char *name;
    } units[] = {{1, "s"}, {1e3, "ms"}, {1e6, "us"}, {1e9, "ns"}};
    size_t unit = 0;
    /* Asks for what the smaller unit would print, so that "1000 ms" cannot come out. */
    while (unit < 3 && fabs(seconds) * units[unit + 1].scale < 999.5 && seconds != 0) unit++;
    double value = seconds * units[unit].scale;
    int digits = fabs(value) >= 99.95 ? 0 : fabs(value) >= 9.995 ? 1 : 2;
    if (unit == 0 && fabs(value) >= 99.95 && fabs(value) < 999.95) digits = 1;
    kerf_text_printf(text, "%.*f %s", digits, value, units[unit].name);
}

void quantity_joules(struct kerf_text *text, double joules, int digits) {
    static const char *const units[] = {"J", "kJ", "MJ", "GJ", "TJ"};
    size_t unit = 0;
    const double next = 1000 - 0.5 * pow(10, 3 - digits); /* it would be printed as 1000 */
    while (isfinite(joules) && fabs(joules) >= next && unit + 1 < sizeof units / sizeof *units) joules /= 1000, unit++;
    kerf_text_printf(text, "%.*g %s", digits, joules, units[unit]);
}

void quantity_count(struct kerf_text *text, int64_t count) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    for (int i = 0; i < length; i++) {
        kerf_text_write(text, &digits[i], 1);
        int left = length - 1 - i;
        if (left > 0 && left % 3 == 0 && digits[i] != '-') kerf_text_add(text, ",");
    }
}

void quantity_at_most(struct kerf_text *text, double share, int digits) {
    const double scale = pow(10, digits), rounding = 1e-6; /* of the share's own sum */
    kerf_text_printf(text, "%.*f %%", digits, fmax(1, ceil(100 * share * scale - rounding)) / scale);
}
