/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shortest decimal that reads back to the same double and, among the shortest, the nearest to it, after
 *     R. Giulietti, "The Schubfach way to render doubles", 2020 (revised 2022).
 *
 * A double v = c 2^q is what every real of its rounding interval reads back to: from v - 2^q/2 (v - 2^q/4
 * when v is the least of its binade) to v + 2^q/2, the ends with it when c is even. Let 10^k be the largest
 * power of ten that is no longer than this interval. The interval then holds a multiple of 10^k, and at most
 * one of 10^(k+1). If there is that one it is the answer, zeros at its end dropped; if not, the answer is one
 * of the two multiples of 10^k around v.
 *
 * These questions compare the interval's ends and v with integers in units of 10^k/4. For them v 10^-k is
 * needed to the quarter, plus one bit that says whether anything was cut off: one product of 64 by 128 bits
 * each, with 10^-k from the table in number_powers.h. This is exact: continued fractions show, exponent by
 * exponent, that where a comparison could go wrong what is cut off is 0 or more than 2^-62.6 and at least
 * 2^-60.6 below the next integer, while the table's rounding adds less than 2^-68.9.
 *
 * The cost is three such products, two divisions by constants, and the digits eight at a time: about 30 ns.
 */
#include "base/number.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "base/number_powers.h"
#include "kerf/text.h"

enum {
    FRACTION_BITS = 52,
    EXPONENT_BITS = 11,
    EXPONENT_BIAS = 1075,   /* stored exponent - bias = q of c 2^q with c an integer */
    MOST_DIGITS = 17,       /* that any double needs */
    PLAIN_LEAST_POINT = -5, /* 0.000001 is plain, 1e-7 is not */
    PLAIN_MOST_POINT = 21,  /* 100000000000000000000 is plain, 1e+21 is not: both as in JavaScript */
    ROOM = 48               /* bytes: a sign, "0.00000", 17 digits, and what is stored past the end */
};

/* clang-format off */
static const uint64_t tens[MOST_DIGITS + 1] = { /* 10^i */
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
    1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000};
/* clang-format on */

struct decimal { /* digits 10^exponent */
    uint64_t digits;
    int exponent;
};

/* floor(power n / 2^128), its last bit set when the division left something (rounding to odd). */
static inline uint64_t scale(const uint64_t power[2], uint64_t n) {
    unsigned __int128 low = (unsigned __int128)power[1] * n;
    unsigned __int128 product = (unsigned __int128)power[0] * n + (uint64_t)(low >> 64);
    return (uint64_t)(product >> 64) | ((uint64_t)product != 0);
}

/* The answer for c 2^q > 0; wide is 0 when the double below is only 2^q/2 away. */
static inline struct decimal shortest(uint64_t c, int q, int wide) {
    /* k = floor(log10(2^q)), of 3/4 2^q when not wide; then floor(log2(10^-k)); both right for every q. */
    int k = (q * 1262611 - (wide ? 0 : 524031)) >> 22;
    int shift = q + ((-k * 1741647) >> 19) + 1; /* 1 to 4 */
    const uint64_t *power = number_powers[-k - NUMBER_POWER_MIN];

    /* In units of 10^k/4; the ends are moved inwards by one when they do not belong to the interval. */
    uint64_t open = c & 1;
    uint64_t value = scale(power, (4 * c) << shift);
    uint64_t lower = scale(power, (4 * c - 1 - (uint64_t)wide) << shift) + open;
    uint64_t upper = scale(power, (4 * c + 2) << shift) - open;

    uint64_t below = value / 4; /* the multiple of 10^k at or below v */
    uint64_t coarse = below / 10;
    int down = lower <= 40 * coarse, up = 40 * coarse + 40 <= upper;
    if (down != up) return (struct decimal){coarse + (uint64_t)up, k + 1};
    down = lower <= 4 * below, up = 4 * below + 4 <= upper;
    if (down == up) { /* both read back: the nearer, or the even one */
        uint64_t middle = 4 * below + 2;
        up = value > middle || (value == middle && (below & 1));
    }
    return (struct decimal){below + (uint64_t)up, k};
}

/* The eight digits of n < 10^8, one a byte, the first in the lowest byte: halves, quarters, eighths. */
static inline uint64_t eight_digits(uint32_t n) {
    uint64_t fours = n / 10000 | (uint64_t)(n % 10000) << 32;
    uint64_t hundreds = (fours * 10486 >> 20) & 0x7f0000007f; /* fours / 100 */
    uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    uint64_t ten = (twos * 103 >> 10) & 0x000f000f000f000f; /* twos / 10 */
    return ten | (twos - 10 * ten) << 8;
}

/* Sixteen of them, the first in the lowest byte. */
static inline void write_sixteen(char *at, unsigned __int128 digits) {
    uint64_t halves[2] = {(uint64_t)digits | 0x3030303030303030, (uint64_t)(digits >> 64) | 0x3030303030303030};
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    halves[0] = __builtin_bswap64(halves[0]);
    halves[1] = __builtin_bswap64(halves[1]);
#endif
    memcpy(at, halves, sizeof halves);
}

/* An integer below 10^16. This and write_decimal need no more than ROOM bytes, of which they leave some
 * unused: whole words are stored where only their beginning counts, and nothing stored is loaded again. */
static char *write_integer(char *at, uint64_t n) {
    uint64_t high = eight_digits((uint32_t)(n / tens[8])), low = eight_digits((uint32_t)(n % tens[8]));
    int zeros = high ? __builtin_ctzll(high) / 8 : low ? 8 + __builtin_ctzll(low) / 8 : 15;
    write_sixteen(at, (high | (unsigned __int128)low << 64) >> 8 * zeros);
    return at + 16 - zeros;
}

static char *write_decimal(char *at, struct decimal decimal) {
    /* Count the digits, 15 to 17 but for subnormals, then fill up with zeros to MOST_DIGITS. */
    int count = 15 + (decimal.digits >= tens[15]) + (decimal.digits >= tens[16]);
    while (decimal.digits < tens[count - 1]) count--;
    int point = count + decimal.exponent; /* the value is 0.ddd 10^point */
    uint64_t full = decimal.digits * tens[MOST_DIGITS - count], rest = full % tens[16];
    uint64_t high = eight_digits((uint32_t)(rest / tens[8])), low = eight_digits((uint32_t)(rest % tens[8]));
    int length = low ? 17 - __builtin_clzll(low) / 8 : high ? 9 - __builtin_clzll(high) / 8 : 1;
    char first = (char)('0' + full / tens[16]);
    unsigned __int128 others = high | (unsigned __int128)low << 64;

    if (PLAIN_LEAST_POINT <= point && point <= 0) {
        memcpy(at, "0.000000", 8);
        at += 2 - point;
        at[0] = first;
        write_sixteen(at + 1, others);
        return at + length;
    }
    at[0] = first;
    if (0 < point && point <= PLAIN_MOST_POINT) {
        write_sixteen(at + 1, others);
        if (point >= length) {
            memset(at + MOST_DIGITS, '0', PLAIN_MOST_POINT - MOST_DIGITS);
            return at + point;
        }
        at[point] = '.';
        write_sixteen(at + point + 1, others >> 8 * (point - 1));
        return at + length + 1;
    }
    at[1] = '.';
    write_sixteen(at + 2, others);
    at += length > 1 ? length + 1 : 1;
    int exponent = point - 1;
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    if (exponent < 0) exponent = -exponent;
    if (exponent >= 100) *at++ = (char)('0' + exponent / 100);
    if (exponent >= 10) *at++ = (char)('0' + exponent / 10 % 10);
    *at++ = (char)('0' + exponent % 10);
    return at;
}

void kerf_text_number(struct kerf_text *text, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);
    int stored = (int)(bits >> FRACTION_BITS) & ((1 << EXPONENT_BITS) - 1);
    if (stored == (1 << EXPONENT_BITS) - 1) {
        kerf_text_add(text, fraction ? "nan" : bits >> 63 ? "-inf" : "inf");
        return;
    }

    char buffer[ROOM];
    int in_place = !text->failed && text->capacity - text->length > ROOM;
    char *start = in_place ? text->data + text->length : buffer, *end = start;
    if (bits >> 63) *end++ = '-';
    double magnitude = __builtin_fabs(value);
    if (magnitude < 0x1p53 && (double)(uint64_t)magnitude == magnitude)
        end = write_integer(end, (uint64_t)magnitude);
    else if (stored == 0)
        end = write_decimal(end, shortest(fraction, 1 - EXPONENT_BIAS, 1));
    else
        end = write_decimal(end, shortest(fraction | UINT64_C(1) << FRACTION_BITS, stored - EXPONENT_BIAS,
                                          fraction != 0 || stored == 1));
    if (in_place) {
        *end = 0;
        text->length += (size_t)(end - start);
    } else {
        kerf_text_write(text, buffer, (size_t)(end - start));
    }
}

double number_read(const char *text, char **ret_end) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* built in: takes no memory */
    double value = strtod_l(text, ret_end, plain);
    freelocale(plain);
    return value;
}

/* ---- Sums ------------------------------------------------------------------------------------------------------ */

/*
 * The order in which NumPy adds up a contiguous array (numpy/_core/src/umath/loops_utils.h.src, pairwise summation):
 * buffers of 8192 one after the other; each halved, at a multiple of eight, until 128 or less are left; those in eight
 * sums side by side. The error grows with log n. The eight sums are four SSE2 registers: about half a nanosecond a
 * value.
 */

enum { BUFFER = 8192, BLOCK = 128, LANES = 8 };

static inline double term(double value, double center, int squared) {
    if (!squared) return value;
    double difference = value - center;
    return difference * difference;
}

static inline __attribute__((always_inline)) double sum_block(const double *a, int64_t n, double center, int squared) {
    double lane[LANES], sum = 0;
    if (n < LANES) {
        for (int64_t i = 0; i < n; i++) sum += term(a[i], center, squared);
        return sum;
    }
    for (int k = 0; k < LANES; k++) lane[k] = term(a[k], center, squared);
    int64_t i = LANES;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += term(a[i + k], center, squared);
    sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    for (; i < n; i++) sum += term(a[i], center, squared);
    return sum;
}

static double sum_halves(const double *a, int64_t n, double center, int squared) {
    if (n <= BLOCK) return squared ? sum_block(a, n, center, 1) : sum_block(a, n, center, 0);
    int64_t half = n / 2 - n / 2 % LANES;
    return sum_halves(a, half, center, squared) + sum_halves(a + half, n - half, center, squared);
}

static double sum_buffers(const double *a, int64_t n, double center, int squared) {
    double sum = 0;
    for (int64_t i = 0; i < n; i += BUFFER) sum += sum_halves(a + i, n - i < BUFFER ? n - i : BUFFER, center, squared);
    return sum;
}

double pairwise_sum(const double *values, int64_t n) { return sum_buffers(values, n, 0, 0); }

double pairwise_sum_squares(const double *values, int64_t n, double center) {
    return sum_buffers(values, n, center, 1);
}
