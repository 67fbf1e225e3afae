/* SPDX-License-Identifier: Apache-2.0 */
/* Hexadecimal digits. */
#ifndef KERF_BASE_HEX_H
#define KERF_BASE_HEX_H

/* The value of a digit, 0 to 15; -1 for any other character. */
static inline int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The digit of the lowest four bits, in lower case. */
static inline char hex_digit(unsigned value) { return "0123456789abcdef"[value & 15]; }

#endif
