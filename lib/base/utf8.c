/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

size_t utf8_code_point(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    size_t length = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xC0) != 0x80) return 0;
    int overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
    int no_text = (c[0] == 0xED && c[1] > 0x9F) || (c[0] == 0xF4 && c[1] > 0x8F); /* surrogates; past the last */
    return overlong || no_text ? 0 : length;
}

void utf8_clean(char *text) {
    for (char *c = text; *c;) {
        size_t length = utf8_code_point(c);
        unsigned char first = (unsigned char)c[0];
        int control = first < ' ' || first == 127 || (first == 0xC2 && (unsigned char)c[1] < 0xA0);
        if (length == 0 || control) *c = '?', length = 1;
        c += length;
    }
}

int32_t utf8_columns(const char *utf8) {
    int32_t columns = 0;
    for (; *utf8; utf8++) columns += ((unsigned char)*utf8 & 0xC0) != 0x80;
    return columns;
}
