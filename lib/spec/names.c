/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the choices that a user makes. */
#include "spec/names.h"

#include <stdio.h>
#include <string.h>
#include "base/input.h"
#include "base/utf8.h"

static const char *const strategies[] = {"1d", "summa", "seqp"};
static const char *const attentions[] = {"fused", "unfused", "recomputed", "summa"};
_Static_assert(sizeof strategies / sizeof *strategies == KERF_STRATEGY_COUNT, "a name for each strategy");
_Static_assert(sizeof attentions / sizeof *attentions == KERF_ATTENTION_COUNT, "a name for each attention");

const char *kerf_strategy_name(enum kerf_strategy strategy) { return strategies[strategy]; }
const char *kerf_attention_name(enum kerf_attention attention) { return attentions[attention]; }

static int32_t find(const char *name, const char *what, const char *const *names, size_t count, int32_t *ret,
                    struct kerf_error *err) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) {
            *ret = (int32_t)i;
            return KERF_OK;
        }
    struct kerf_text known = {0};
    for (size_t i = 0; i < count; i++)
        kerf_text_printf(&known, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " and ", names[i]);
    kerf_error_set(err, KERF_EUNKNOWN, "no %s '%.64s'; there are %s", what, name, known.failed ? "others" : known.data);
    kerf_text_free(&known);
    return KERF_EUNKNOWN;
}

int32_t kerf_strategy_parse(const char *name, enum kerf_strategy *ret, struct kerf_error *err) {
    int32_t index, code = find(name, "strategy", strategies, KERF_STRATEGY_COUNT, &index, err);
    if (code == KERF_OK) *ret = (enum kerf_strategy)index;
    return code;
}

int32_t kerf_attention_parse(const char *name, enum kerf_attention *ret, struct kerf_error *err) {
    int32_t index, code = find(name, "attention", attentions, KERF_ATTENTION_COUNT, &index, err);
    if (code == KERF_OK) *ret = (enum kerf_attention)index;
    return code;
}

void name_copy(char name[KERF_NAME_SIZE], const char *text) {
    snprintf(name, KERF_NAME_SIZE, "%s", text);
    size_t end = strlen(name);
    if (end < strlen(text)) /* a cut inside a code point would be no text */
        while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) name[--end] = 0;
    utf8_clean(name);
}
