/* SPDX-License-Identifier: Apache-2.0 */
/* The table of strategies. */
#include "cost/strategies.h"

#include <assert.h>
#include <string.h>

extern const struct strategy strategy_1d, strategy_summa, strategy_seqp, strategy_hybrid;

static const struct strategy *const strategies[] = {
    [KERF_STRATEGY_1D] = &strategy_1d,
    [KERF_STRATEGY_SUMMA] = &strategy_summa,
    [KERF_STRATEGY_SEQP] = &strategy_seqp,
    [KERF_STRATEGY_HYBRID] = &strategy_hybrid,
};
_Static_assert(sizeof strategies / sizeof *strategies == KERF_STRATEGY_COUNT, "a row for each strategy");

const struct strategy *strategy_of(enum kerf_strategy strategy) {
    assert((uint32_t)strategy < KERF_STRATEGY_COUNT);
    return strategies[strategy];
}

const char *kerf_strategy_name(enum kerf_strategy strategy) { return strategy_of(strategy)->name; }

int32_t kerf_strategy_parse(const char *name, enum kerf_strategy *ret, struct kerf_error *err) {
    struct kerf_text known = {0};
    for (int i = 0; i < KERF_STRATEGY_COUNT; i++) {
        if (strcmp(strategies[i]->name, name) == 0) {
            *ret = (enum kerf_strategy)i;
            kerf_text_free(&known);
            return KERF_OK;
        }
        kerf_text_printf(&known, "%s%s",
                         i == 0                        ? ""
                         : i + 1 < KERF_STRATEGY_COUNT ? ", "
                                                       : " and ",
                         strategies[i]->name);
    }
    kerf_error_set(err, KERF_EUNKNOWN, "unknown strategy '%.64s'; there are %s", name,
                   known.failed ? "others" : known.data);
    kerf_text_free(&known);
    return KERF_EUNKNOWN;
}
