/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the choices that a user makes. */
#include "spec/names.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "base/utf8.h"

static const char *const attentions[] = {
    [KERF_ATTENTION_FUSED] = "fused",
    [KERF_ATTENTION_UNFUSED] = "unfused",
    [KERF_ATTENTION_RECOMPUTED] = "recomputed",
    [KERF_ATTENTION_SUMMA] = "summa",
};
_Static_assert(sizeof attentions / sizeof *attentions == KERF_ATTENTION_COUNT, "a name for each attention");

const char *kerf_attention_name(enum kerf_attention attention) {
    assert((uint32_t)attention < KERF_ATTENTION_COUNT);
    return attentions[attention];
}

int32_t kerf_attention_parse(const char *name, enum kerf_attention *ret, struct kerf_error *err) {
    for (int i = 0; i < KERF_ATTENTION_COUNT; i++)
        if (strcmp(attentions[i], name) == 0) {
            *ret = (enum kerf_attention)i;
            return KERF_OK;
        }
    return kerf_error_set(err, KERF_EUNKNOWN,
                          "unknown attention '%.64s'; there are fused, unfused, recomputed and summa", name);
}

void name_copy(char name[KERF_NAME_SIZE], const char *text) {
    snprintf(name, KERF_NAME_SIZE, "%s", text);
    size_t end = strlen(name);
    if (end < strlen(text)) /* a cut inside a code point would be no text */
        while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) name[--end] = 0;
    utf8_clean(name);
}
