/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a failure rules out. Out of memory: the setting, and all that have no integer smaller and the same choices, as
 * memory grows with most integers there are (batch, micro-batch, layers on the accelerator, threads); unless one of
 * these, or it itself, has worked since memory lacked before: then it was not the setting. It does not grow with all: a heap may be
 * too small, and shards make the rest smaller. Where a setting works that has more of some integers than one which ran
 * out of memory, and the same words, these integers tell nothing from then on (`falls`), but for those of which one step
 * alone was seen to be too much; what they ruled out is open again. A load or a run that hangs:
 * the setting, as it is not worth another time-out. Anything else: the setting, once it has failed TWICE and never
 * worked, or THRICE in a row though it did; and, where that is the program's own doing, what goes with a word (a
 * choice's or a flag's value) that FEW settings failed with and none worked with, while another word worked: settings
 * that share with these all that they have in common, and whose other integers lie between theirs. Once MANY failed,
 * and another word worked between their integers, it is the word and not the size: then those with any integers.
 */
#include "tune/exclusion.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "tune/param.h"

enum { TWICE = 2, THRICE = 3, FEW = 3, MANY = 6 };

static int is_integer(const struct kerf_tune_study *study, int32_t param) {
    return study->space->params[param].kind == KERF_TUNE_INTEGER;
}

/* Whether setting a needs at least as much memory as b. */
static int dominates(const struct kerf_tune_study *study, int32_t a, int32_t b) {
    const int32_t *of_a = setting_values(study->space, a), *of_b = setting_values(study->space, b);
    for (int32_t k = 0; k < study->space->num_params; k++)
        if (is_integer(study, k) && !study->falls[k] ? of_a[k] < of_b[k] : of_a[k] != of_b[k]) return 0;
    return 1;
}

static int lacked_memory(const struct kerf_tune_observation *o) {
    return o->outcome == KERF_TUNE_FAILED && o->failure == KERF_TUNE_FAILURE_MEMORY && !o->warmup;
}

/* In how many integers the first has more than the second; 0 too where it has less of one, or another word. The last
 * of them goes to ret_param. */
static int32_t has_more(const struct kerf_tune_study *study, int32_t first, int32_t second, int32_t *ret_param) {
    const int32_t *more = setting_values(study->space, first), *less = setting_values(study->space, second);
    int32_t count = 0;
    for (int32_t k = 0; k < study->space->num_params; k++) {
        if (more[k] == less[k]) continue;
        if (!is_integer(study, k) || more[k] < less[k]) return 0;
        *ret_param = k;
        count++;
    }
    return count;
}

/* The integers in which a setting that works has more than one that ran out of memory. */
static void find_falling(struct kerf_tune_study *study, int32_t works, int32_t lacked) {
    const int32_t *more = setting_values(study->space, works), *less = setting_values(study->space, lacked);
    int32_t param, suspects = 0;
    if (has_more(study, works, lacked, &param) == 0) return;
    for (int32_t pass = 0; pass < 2 && suspects == 0; pass++)
        for (int32_t k = 0; k < study->space->num_params; k++) {
            if (!is_integer(study, k) || more[k] == less[k] || (pass == 0 && study->grows[k])) continue;
            study->falls[k] = 1;
            suspects++;
        }
}

/* For its own failure, which replaces an earlier reason. */
static void leave_out(struct kerf_tune_study *study, int32_t setting, const char *reason) {
    struct tally *tally = &study->tallies[setting];
    if (tally->is_ruled_out) tally->skipped = reason;
    tally->is_ruled_out = 0;
    history_exclude(study, setting, reason);
}

static void exclude_larger(struct kerf_tune_study *study, int32_t setting) {
    char words[120];
    const char *reason = arena_printf(&study->arena, "needs at least as much memory as %s, which ran out of memory",
                                      history_setting(study, setting, words, sizeof words));
    leave_out(study, setting, "out of memory");
    if (reason == NULL) reason = "needs too much memory";
    study->tallies[setting].rules_out = reason;
    for (int32_t i = 0; i < study->space->num_settings; i++)
        if (dominates(study, i, setting) && study->tallies[i].values == 0 && history_is_open(study, i)) {
            history_exclude(study, i, reason);
            study->tallies[i].is_ruled_out = 1;
        }
}

/* Why a setting is not to be measured: for want of memory of another one; NULL: it may be. */
static const char *ruled_out_by(const struct kerf_tune_study *study, int32_t setting) {
    const char *reason = NULL;
    for (int32_t i = 0; i < study->num_observations; i++) {
        int32_t other = study->observations[i].setting;
        const struct tally *tally = &study->tallies[other];
        if (tally->values > 0 && dominates(study, other, setting)) return NULL;
        if (tally->rules_out && dominates(study, setting, other)) reason = tally->rules_out;
    }
    return reason;
}

static void readmit(struct kerf_tune_study *study) {
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        struct tally *tally = &study->tallies[i];
        if (!tally->is_ruled_out || ruled_out_by(study, i)) continue;
        tally->is_ruled_out = 0;
        tally->skipped = NULL;
        study->num_open++;
    }
}

/* What a setting that works tells beside one that ran out of memory; is_believed: it was the setting that needed too much. */
static void learn_from_pair(struct kerf_tune_study *study, int32_t works, int32_t lacked, int is_believed) {
    int32_t param;
    if (has_more(study, lacked, works, &param) == 1) study->grows[param] = 1;
    if (is_believed) find_falling(study, works, lacked);
}

static void learn_from_value(struct kerf_tune_study *study, int32_t setting) {
    int was_ruled_out = study->tallies[setting].is_ruled_out;
    unsigned char before[TUNE_PARAMS_MAX];
    memcpy(before, study->falls, sizeof before);
    for (int32_t i = 0; i < study->num_observations && study->num_failed; i++)
        if (lacked_memory(&study->observations[i]))
            learn_from_pair(study, setting, study->observations[i].setting,
                            study->tallies[study->observations[i].setting].rules_out != NULL);
    if (was_ruled_out || memcmp(before, study->falls, sizeof before) != 0) readmit(study);
}

static void learn_from_lack(struct kerf_tune_study *study, int32_t setting, int is_believed) {
    unsigned char before[TUNE_PARAMS_MAX];
    memcpy(before, study->falls, sizeof before);
    for (int32_t i = 0; i < study->num_observations; i++)
        if (study->observations[i].outcome == KERF_TUNE_VALUE)
            learn_from_pair(study, study->observations[i].setting, setting, is_believed);
    if (memcmp(before, study->falls, sizeof before) != 0) readmit(study);
}

int exclusion_is_presumed(const struct kerf_tune_study *study, int32_t setting) {
    if (!study->tallies[setting].is_ruled_out) return 0;
    for (int32_t i = 0; i < study->num_observations; i++) {
        int32_t other = study->observations[i].setting;
        const int32_t *values = setting_values(study->space, setting), *less = setting_values(study->space, other);
        int is_known = 1;
        if (!study->tallies[other].rules_out || !dominates(study, setting, other)) continue;
        for (int32_t k = 0; k < study->space->num_params && is_known; k++)
            is_known = values[k] == less[k] || study->grows[k];
        if (is_known) return 0;
    }
    return 1;
}

/* Whether the setting, or one that needs at least as much memory, was measured since the last failure but one for want
 * of memory: older measurements say little about a machine whose memory others may use by now. */
static int has_fitted(const struct kerf_tune_study *study, int32_t setting) {
    int32_t lacked = 0;
    for (int32_t i = study->num_observations - 1; i >= 0 && lacked <= 1; i--) {
        const struct kerf_tune_observation *o = &study->observations[i];
        if (o->warmup) continue;
        if (o->outcome == KERF_TUNE_VALUE && dominates(study, o->setting, setting)) return 1;
        lacked += o->outcome == KERF_TUNE_FAILED && o->failure == KERF_TUNE_FAILURE_MEMORY;
    }
    return 0;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* What settings have in common, and the range of their other values. */
struct hull {
    int32_t *least, *most; /* [num_params] indexes of values */
    int32_t count;         /* settings in it */
};

/* The program itself failed, not for want of memory or time. */
static int is_of_program(int32_t failure) {
    return failure == KERF_TUNE_FAILURE_CRASH || failure == KERF_TUNE_FAILURE_OUTPUT ||
           failure == KERF_TUNE_FAILURE_OTHER;
}

/* Whether it is the setting's first observation that counts. */
static int is_first(const struct kerf_tune_study *study, int32_t index) {
    int32_t setting = study->observations[index].setting;
    if (study->observations[index].disturbed || study->observations[index].warmup) return 0;
    for (int32_t i = 0; i < index; i++) {
        const struct kerf_tune_observation *o = &study->observations[i];
        if (o->setting == setting && !o->disturbed && !o->warmup) return 0;
    }
    return 1;
}

/* Of the settings that failed with this value of the parameter; 0 where they are too few, or one worked. */
static int hull_of_failures(const struct kerf_tune_study *study, int32_t param, int32_t value, struct hull *hull) {
    hull->count = 0;
    for (int32_t i = 0; i < study->num_observations; i++) {
        int32_t setting = study->observations[i].setting;
        const int32_t *values = setting_values(study->space, setting);
        if (values[param] != value) continue;
        if (study->observations[i].outcome != KERF_TUNE_FAILED) return 0; /* it works, even if it was disturbed */
        if (!is_first(study, i) || !is_of_program(study->tallies[setting].failure)) continue;
        for (int32_t k = 0; k < study->space->num_params; k++) {
            if (hull->count == 0 || values[k] < hull->least[k]) hull->least[k] = values[k];
            if (hull->count == 0 || values[k] > hull->most[k]) hull->most[k] = values[k];
        }
        hull->count++;
    }
    return hull->count >= FEW;
}

/* Whether the integers lie between those of the hull. */
static int is_within(const struct kerf_tune_study *study, int32_t setting, const struct hull *hull) {
    const int32_t *values = setting_values(study->space, setting);
    for (int32_t k = 0; k < study->space->num_params; k++)
        if (is_integer(study, k) && (values[k] < hull->least[k] || values[k] > hull->most[k])) return 0;
    return 1;
}

static int shares_all_in_common(const struct kerf_tune_study *study, int32_t setting, const struct hull *hull) {
    const int32_t *values = setting_values(study->space, setting);
    for (int32_t k = 0; k < study->space->num_params; k++)
        if (hull->least[k] == hull->most[k] && values[k] != hull->least[k]) return 0;
    return 1;
}

/* Anywhere, or between the integers of the hull. */
static int another_word_worked(const struct kerf_tune_study *study, int32_t param, const struct hull *hull,
                               int is_between) {
    for (int32_t i = 0; i < study->num_observations; i++) {
        const struct kerf_tune_observation *o = &study->observations[i];
        if (o->outcome != KERF_TUNE_FAILED && setting_values(study->space, o->setting)[param] != hull->least[param] &&
            (!is_between || is_within(study, o->setting, hull)))
            return 1;
    }
    return 0;
}

/* "kv=q4_1,map=off failed in 3 of 3 settings" */
static const char *common_words(struct kerf_tune_study *study, const struct hull *hull) {
    const struct kerf_tune_space *space = study->space;
    struct kerf_text words = {0};
    for (int32_t k = 0; k < space->num_params; k++) {
        const struct kerf_tune_param *param = &space->params[k];
        int32_t value = hull->least[k];
        if (value != hull->most[k]) continue;
        const char *word = param->kind == KERF_TUNE_FLAG ? (value ? "on" : "off") : param->texts[value];
        kerf_text_printf(&words, "%s%s=%s", words.length ? "," : "", param->name, word);
    }
    const char *reason = words.failed ? NULL
                                      : arena_printf(&study->arena, "%.120s failed in %d of %d settings", words.data,
                                                     (int)hull->count, (int)hull->count);
    kerf_text_free(&words);
    return reason ? reason : "failed with this in every setting";
}

/* Of the settings from `from` on. */
static void exclude_with_word(struct kerf_tune_study *study, int32_t param, int32_t value, int32_t from,
                              struct hull *hull) {
    if (!hull_of_failures(study, param, value, hull) || !another_word_worked(study, param, hull, 0)) return;
    int is_everywhere = hull->count >= MANY && another_word_worked(study, param, hull, 1);
    const char *reason = NULL;
    for (int32_t i = from; i < study->num_known; i++) {
        if (!history_is_open(study, i) || !shares_all_in_common(study, i, hull)) continue;
        if (!is_everywhere && !is_within(study, i, hull)) continue;
        if (reason == NULL) reason = common_words(study, hull);
        history_exclude(study, i, reason);
    }
}

static void exclude_with_words(struct kerf_tune_study *study, int32_t setting, int32_t from) {
    int32_t count = study->space->num_params;
    int32_t *bounds = calloc((uint32_t)count, 2 * sizeof *bounds);
    if (bounds == NULL) return; /* more settings are tried, then */
    struct hull hull = {bounds, bounds + count, 0};
    for (int32_t k = 0; k < count; k++)
        if (!is_integer(study, k)) exclude_with_word(study, k, setting_values(study->space, setting)[k], from, &hull);
    free(bounds);
}

/* ---- Any failure ------------------------------------------------------------------------------------------------- */

static void exclude_after_failure(struct kerf_tune_study *study, const struct kerf_tune_observation *failed) {
    const struct tally *tally = &study->tallies[failed->setting];
    int is_believed;
    switch (failed->failure) {
    case KERF_TUNE_FAILURE_MEMORY:
        is_believed = !has_fitted(study, failed->setting);
        learn_from_lack(study, failed->setting, is_believed);
        if (!is_believed) break;
        exclude_larger(study, failed->setting);
        return;
    case KERF_TUNE_FAILURE_LOAD: leave_out(study, failed->setting, "was not ready in time"); return;
    case KERF_TUNE_FAILURE_HANG: leave_out(study, failed->setting, "gave no answer in time"); return;
    case KERF_TUNE_FAILURE_LIMIT: /* also where it kept the limit in between: a limit is to be relied on */
        if (tally->failed >= TWICE) leave_out(study, failed->setting, "broke a limit twice");
        return;
    default: break;
    }
    exclude_with_words(study, failed->setting, 0);
    int works = tally->values + tally->censored > 0, enough = works ? THRICE : TWICE;
    if (tally->in_a_row < enough) return;
    const char *word = kerf_tune_failure_word(failed->failure), *times = works ? "three times in a row" : "twice";
    const char *reason = arena_printf(&study->arena, "failed %s (%s)", times, word);
    leave_out(study, failed->setting, reason ? reason : "failed");
}

void exclusion_update(struct kerf_tune_study *study) {
    assert(study->num_observations > 0);
    const struct kerf_tune_observation *last = &study->observations[study->num_observations - 1];
    if (last->outcome == KERF_TUNE_VALUE)
        learn_from_value(study, last->setting);
    else if (last->outcome == KERF_TUNE_FAILED)
        exclude_after_failure(study, last);
}

/* ---- Settings that are met later --------------------------------------------------------------------------------- */

static void exclude_if_larger(struct kerf_tune_study *study, int32_t setting) {
    const char *reason = ruled_out_by(study, setting);
    if (reason) history_exclude(study, setting, reason);
    study->tallies[setting].is_ruled_out = reason != NULL;
}

void exclusion_of_met(struct kerf_tune_study *study, int32_t from) {
    if (study->num_failed == 0) return;
    for (int32_t i = from; i < study->num_known; i++) exclude_if_larger(study, i);
    for (int32_t i = 0; i < study->num_observations && from < study->num_known; i++)
        if (study->observations[i].outcome == KERF_TUNE_FAILED && is_first(study, i) &&
            is_of_program(study->observations[i].failure))
            exclude_with_words(study, study->observations[i].setting, from);
}
