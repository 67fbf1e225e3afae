/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What drawings for terminals share. Terminals with 256 colours have from number 16 on a cube of 6 x 6 x 6, and 24
 * greys; of those the one that is nearest in red, green and blue stands for a colour of the palette.
 */
#include "base/utf8.h"
#include "draw/panel.h"

uint32_t terminal_rgb(int32_t number) {
    static const uint32_t levels[6] = {0, 95, 135, 175, 215, 255};
    if (number >= 232) return (uint32_t)(8 + (number - 232) * 10) * 0x010101u;
    number -= 16;
    return levels[number / 36] << 16 | levels[number / 6 % 6] << 8 | levels[number % 6];
}

int32_t terminal_nearest(uint32_t colour) {
    int32_t nearest = 16, least = INT32_MAX;
    for (int32_t i = 16; i < 256; i++) {
        int32_t distance = 0;
        for (int shift = 0; shift <= 16; shift += 8) {
            int32_t apart = (int32_t)(terminal_rgb(i) >> shift & 255) - (int32_t)(colour >> shift & 255);
            distance += apart * apart;
        }
        if (distance < least) least = distance, nearest = i;
    }
    return nearest;
}

int32_t terminal_ink_on(int32_t number) { return palette_light(terminal_rgb(number)) > 0.2 ? 16 : 231; }

int32_t terminal_word(struct kerf_text *out, const char *word, int32_t most) {
    struct kerf_text clean = {0};
    text_clean(&clean, word);
    out->failed |= clean.failed;
    const char *at = words(clean.data), *start = at;
    int32_t taken = 0, whole = utf8_columns(start);
    while (taken < most && text_next(&at)) taken++;
    if (taken < whole && most > 1) { /* cut, with a sign of it */
        at = start;
        for (int32_t i = 0; i < most - 1; i++) text_next(&at);
        kerf_text_write(out, start, (size_t)(at - start));
        kerf_text_add(out, "\u2026");
    } else
        kerf_text_write(out, start, (size_t)(at - start));
    kerf_text_free(&clean);
    return taken;
}
