/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grid of all parameters' values without what the constraints forbid, and the text form of one setting. A grid of up to
 * TUNE_SETTINGS_MAX points is listed; of a larger one settings get numbers as they are met, found again by a table of
 * hashes.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "tune/param.h"

enum {
    SAMPLED = 8192,                 /* settings of a large grid that are drawn at once */
    SAMPLE_TRIES = 1000000,         /* points that are drawn for them */
    SHARE_LEAST = 1000,             /* one of so many points at least must be a setting */
    TRIES = 20 * SHARE_LEAST,       /* points that are drawn for one */
    TABLE = 2 * KERF_TUNE_GROWN_MAX /* a power of two */
};
static const int64_t GRID_MAX = 1000000000000000000;
static const int64_t CHECKS_MAX = 10000,
                     SAMPLE_CHECKS_MAX = 20000000; /* of all constraints, for a point of it and for all drawn */

/* What the settings have to be like. */
struct conditions {
    const char **texts;         /* [count] */
    struct constraint **wheres; /* [count] */
    int32_t count;
    const char **when_texts;   /* [num_params] when the parameter has an effect; NULL: always */
    struct constraint **whens; /* [num_params] likewise */
};

struct owned_space {
    struct kerf_tune_space space; /* first: the caller's pointer is this one's */
    struct arena arena;
    struct conditions conditions;
    double size;      /* settings in all */
    int64_t checks;   /* of all constraints, so far */
    int32_t sampled;  /* of a large grid: the first ones, at random */
    int32_t *values;  /* [KERF_TUNE_GROWN_MAX][num_params] of a large grid */
    char *unused;     /* likewise */
    int32_t *numbers; /* [TABLE] at the hash of a setting's values, or behind it: 1 + its number; 0: free */
};

static int32_t read_params(const char *const *texts, int32_t count, struct arena *arena,
                           struct kerf_tune_param **ret_params, const char **when_texts, struct kerf_error *err) {
    if (count < 1) return kerf_error_set(err, KERF_EINVALID, "a space needs a parameter, such as batch=16..2048:x2");
    if (count > TUNE_PARAMS_MAX) return kerf_error_set(err, KERF_EINVALID, "more than %d parameters", TUNE_PARAMS_MAX);
    struct kerf_tune_param *params = arena_alloc(arena, (size_t)count, sizeof *params);
    if (params == NULL) return error_no_memory(err, "a space");
    for (int32_t i = 0; i < count; i++) {
        int32_t code = param_read(texts[i], arena, &params[i], &when_texts[i], err);
        if (code != KERF_OK) return code;
        for (int32_t j = 0; j < i; j++)
            if (strcmp(params[i].name, params[j].name) == 0)
                return kerf_error_set(err, KERF_EINVALID, "the parameter '%s' is given twice", params[i].name);
    }
    *ret_params = params;
    return KERF_OK;
}

/* A parameter that waits and that the k-th one's condition names; -1: none. */
static int32_t waits_for(const struct conditions *conditions, const char *waits, int32_t num, int32_t k) {
    for (int32_t j = 0; j < num; j++)
        if (waits[j] && constraint_names(conditions->whens[k], j)) return j;
    return -1;
}

/* Whether a parameter has an effect must not depend on itself: each one waits until those that its condition names are
 * decided. */
static int32_t refuse_circles(const struct kerf_tune_space *space, const struct conditions *conditions,
                              struct kerf_error *err) {
    const int32_t num = space->num_params;
    char waits[TUNE_PARAMS_MAX];
    int32_t first = -1;
    for (int32_t k = 0; k < num; k++) waits[k] = conditions->whens[k] != NULL;
    for (int32_t round = 0; round < num; round++)
        for (int32_t k = 0; k < num; k++) waits[k] = waits[k] && waits_for(conditions, waits, num, k) >= 0;
    for (int32_t k = 0; k < num && first < 0; k++)
        if (waits[k]) first = k;
    if (first < 0) return KERF_OK;
    for (int32_t round = 0; round < num; round++) first = waits_for(conditions, waits, num, first); /* in the circle */
    struct kerf_text circle = {0};
    int32_t k = first;
    do {
        kerf_text_printf(&circle, "%s%s when %.100s", k == first ? "" : ", ", space->params[k].name,
                         conditions->when_texts[k]);
        k = waits_for(conditions, waits, num, k);
    } while (k != first);
    kerf_error_set(err, KERF_EINVALID, "conditions depend on each other in a circle: %.400s",
                   circle.data ? circle.data : "");
    kerf_text_free(&circle);
    return KERF_EINVALID;
}

static int32_t read_conditions(const struct kerf_tune_space *space, const char *const *texts, struct arena *arena,
                               struct conditions *conditions, struct kerf_error *err) {
    const int32_t num = space->num_params;
    conditions->texts = arena_alloc(arena, (size_t)conditions->count + 1, sizeof *conditions->texts);
    conditions->wheres = arena_alloc(arena, (size_t)conditions->count + 1, sizeof(struct constraint *));
    conditions->whens = arena_alloc(arena, (size_t)num, sizeof(struct constraint *));
    if (!conditions->texts || !conditions->wheres || !conditions->whens) return error_no_memory(err, "a space");
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < conditions->count && code == KERF_OK; i++) {
        if ((conditions->texts[i] = arena_strdup(arena, texts[i])) == NULL) return error_no_memory(err, "a space");
        code = constraint_read(conditions->texts[i], space->params, num, arena, &conditions->wheres[i], err);
    }
    for (int32_t k = 0; k < num && code == KERF_OK; k++) {
        if (conditions->when_texts[k] == NULL) continue;
        code = constraint_read(conditions->when_texts[k], space->params, num, arena, &conditions->whens[k], err);
    }
    return code == KERF_OK ? refuse_circles(space, conditions, err) : code;
}

/* The next point of the grid, the last parameter fastest; 0 behind the last. */
static int step(const struct kerf_tune_space *space, int32_t *values) {
    for (int32_t k = space->num_params; k-- > 0;) {
        if (++values[k] < space->params[k].num_values) return 1;
        values[k] = 0;
    }
    return 0;
}

static int32_t cannot_tell(const struct kerf_tune_space *space, const int32_t *point, const char *where,
                           const char *fault, struct kerf_error *err) {
    const struct kerf_tune_space alone = {
        .params = space->params, .num_params = space->num_params, .values = point, .num_settings = 1};
    struct kerf_text setting = {0};
    kerf_tune_setting_write(&alone, 0, &setting);
    kerf_error_set(err, KERF_EINVALID,
                   "'%.100s' %s for %.200s; exclude it with a condition before this one, or with &&", where, fault,
                   setting.data ? setting.data : "a setting");
    kerf_text_free(&setting);
    return KERF_EINVALID;
}

/* Marks the parameters that the point does not use. 0: it is not the one of its kind that has their first values. */
static int32_t mark_unused(const struct kerf_tune_space *space, const struct conditions *conditions,
                           const int32_t *point, char *unused, int *ret_stands, struct kerf_error *err) {
    *ret_stands = 1;
    for (int32_t k = 0; k < space->num_params && *ret_stands; k++) {
        const char *fault = NULL;
        unused[k] = conditions->whens[k] && !constraint_holds(conditions->whens[k], space->params, point, &fault);
        if (fault) return cannot_tell(space, point, conditions->when_texts[k], fault, err);
        *ret_stands = !unused[k] || point[k] == 0;
    }
    return KERF_OK;
}

static int32_t holds(const struct kerf_tune_space *space, const struct conditions *conditions, const int32_t *point,
                     int *ret_holds, struct kerf_error *err) {
    *ret_holds = 1;
    for (int32_t i = 0; i < conditions->count && *ret_holds; i++) {
        const char *fault = NULL;
        *ret_holds = constraint_holds(conditions->wheres[i], space->params, point, &fault);
        if (fault) return cannot_tell(space, point, conditions->texts[i], fault, err);
    }
    return KERF_OK;
}

static int is_named(const struct conditions *conditions, int32_t param) {
    for (int32_t i = 0; i < conditions->count; i++)
        if (constraint_names(conditions->wheres[i], param)) return 1;
    return 0;
}

static int32_t takes_too_long(struct kerf_error *err) {
    return kerf_error_set(
        err, KERF_EINVALID,
        "a constraint names parameters that may have no effect, and in so large a grid it takes too long "
        "to try their values there; say when it matters, as in '!spec || draft <= 8'");
}

/* Whether all constraints hold, with some value of each parameter from `from` on that the point does not use: `d > 4` says nothing
 * of a setting in which d has no effect. The point is left as it was. *checks counts down how often they may be computed. */
static int32_t keep(const struct kerf_tune_space *space, const struct conditions *conditions, const char *unused,
                    int32_t from, int32_t *point, int64_t *checks, int *ret_keep, struct kerf_error *err) {
    int32_t k = from, code = KERF_OK;
    while (k < space->num_params && !(unused[k] && is_named(conditions, k))) k++;
    if (k == space->num_params)
        return (*checks)-- > 0 ? holds(space, conditions, point, ret_keep, err) : takes_too_long(err);
    *ret_keep = 0;
    for (int32_t value = 0; value < space->params[k].num_values && code == KERF_OK && !*ret_keep; value++) {
        point[k] = value;
        code = keep(space, conditions, unused, k + 1, point, checks, ret_keep, err);
    }
    point[k] = 0; /* as an unused one stands */
    return code;
}

static int32_t fill_settings(struct owned_space *owned, int64_t whole, struct kerf_error *err) {
    struct kerf_tune_space *space = &owned->space;
    const struct conditions *conditions = &owned->conditions;
    struct arena *arena = &owned->arena;
    int64_t at = 0, checks = INT64_MAX;
    size_t width = (size_t)space->num_params;
    int32_t *values = arena_take(arena, (size_t)whole, width * (sizeof *values + 1));
    int32_t *point = arena_alloc(arena, width, sizeof *point);
    char *unused = arena_take(arena, (size_t)whole, width), *of_point = arena_alloc(arena, width, 1);
    int some_unused = 0;
    if (values == NULL || point == NULL || unused == NULL || of_point == NULL) return error_no_memory(err, "a space");
    do {
        int stands, kept = 0;
        int32_t code = mark_unused(space, conditions, point, of_point, &stands, err);
        if (code == KERF_OK && stands) code = keep(space, conditions, of_point, 0, point, &checks, &kept, err);
        if (code != KERF_OK) return code;
        if (!kept) continue;
        memcpy(values + width * (size_t)at, point, width * sizeof *point);
        memcpy(unused + width * (size_t)at++, of_point, width);
        some_unused |= memchr(of_point, 1, width) != NULL;
    } while (step(space, point));
    if (at == 0)
        return kerf_error_set(err, KERF_EINFEASIBLE, "of %" PRId64 " settings of the grid none satisfies %s", whole,
                              conditions->count > 1 ? "all constraints" : "the constraint");
    space->values = values;
    if (some_unused) memcpy(values + width * (size_t)at, unused, width * (size_t)at);
    if (some_unused) space->has_unused = KERF_TUNE_HAS_UNUSED;
    space->num_settings = (int32_t)at;
    owned->size = (double)at;
    return KERF_OK;
}

/* ---- Large grids --------------------------------------------------------------------------------------------- */

static int grows(const struct kerf_tune_space *space) { return space->has_unused == KERF_TUNE_GROWS; }

/* Of a space that grows: it was made here. */
static struct owned_space *owner_of(const struct kerf_tune_space *space) {
    assert(grows(space));
    return (struct owned_space *)(uintptr_t)space;
}

/* FNV-1a, by Fowler, Noll and Vo. */
static uint64_t hash_of(const struct kerf_tune_space *space, const int32_t *values) {
    uint64_t hash = 0xcbf29ce484222325;
    for (int32_t k = 0; k < space->num_params; k++) hash = (hash ^ (uint32_t)values[k]) * 0x100000001b3;
    return hash ^ hash >> 32;
}

/* Where the setting's number is, or would be. */
static int32_t *number_of(const struct owned_space *owned, const int32_t *values) {
    size_t width = (size_t)owned->space.num_params;
    for (uint64_t at = hash_of(&owned->space, values);; at++) {
        int32_t *number = &owned->numbers[at % TABLE];
        if (*number == 0) return number;
        if (memcmp(owned->values + width * (size_t)(*number - 1), values, width * sizeof *values) == 0) return number;
    }
}

/* Whether the point is a setting; unused [num_params] is filled in. */
static int32_t is_setting(struct owned_space *owned, const int32_t *values, char *unused, int *ret_is,
                          struct kerf_error *err) {
    int32_t point[TUNE_PARAMS_MAX];
    int64_t checks = CHECKS_MAX;
    *ret_is = 0;
    for (int32_t k = 0; k < owned->space.num_params; k++) {
        if (values[k] < 0 || values[k] >= owned->space.params[k].num_values) return KERF_OK;
        point[k] = values[k];
    }
    int32_t code = mark_unused(&owned->space, &owned->conditions, point, unused, ret_is, err);
    if (code != KERF_OK || !*ret_is) return code;
    code = keep(&owned->space, &owned->conditions, unused, 0, point, &checks, ret_is, err);
    owned->checks += CHECKS_MAX - checks;
    return code;
}

/* Draws a point, in which what is not used has its first value. *ret_share: 0 where it is no setting, else 1 over the number of points
 * that stand for the same one. */
static int32_t draw(struct owned_space *owned, struct pcg64 *rng, int32_t *point, double *ret_share,
                    struct kerf_error *err) {
    const struct kerf_tune_space *space = &owned->space;
    char unused[TUNE_PARAMS_MAX];
    int stands = 0, is = 0;
    *ret_share = 0;
    for (int32_t k = 0; k < space->num_params; k++)
        point[k] = (int32_t)random_to(rng, (uint32_t)space->params[k].num_values - 1);
    for (int32_t round = 0; round <= space->num_params && !stands; round++) {
        memset(unused, 0, sizeof unused);
        int32_t code = mark_unused(space, &owned->conditions, point, unused, &stands, err);
        if (code != KERF_OK) return code;
        for (int32_t k = 0; k < space->num_params; k++)
            if (unused[k]) point[k] = 0;
    }
    int32_t code = is_setting(owned, point, unused, &is, err);
    *ret_share = is;
    for (int32_t k = 0; k < space->num_params && is; k++)
        if (unused[k]) *ret_share /= space->params[k].num_values;
    return code;
}

int32_t tune_space_meet(const struct kerf_tune_space *space, const int32_t *values) {
    if (!grows(space)) return kerf_tune_space_find(space, values);
    struct owned_space *owned = owner_of(space);
    int32_t *number = number_of(owned, values), width = space->num_params, met = space->num_settings;
    char unused[TUNE_PARAMS_MAX];
    int is = 0;
    if (*number) return *number - 1;
    if (met == KERF_TUNE_GROWN_MAX || is_setting(owned, values, unused, &is, NULL) != KERF_OK || !is) return -1;
    memcpy(owned->values + (int64_t)met * width, values, (size_t)width * sizeof *values);
    memcpy(owned->unused + (int64_t)met * width, unused, (size_t)width);
    owned->space.num_settings++;
    *number = 1 + met;
    return met;
}

int32_t tune_space_at_random(const struct kerf_tune_space *space, struct pcg64 *rng) {
    if (!grows(space)) return (int32_t)random_to(rng, (uint32_t)space->num_settings - 1);
    int32_t point[TUNE_PARAMS_MAX];
    for (int32_t i = 0; i < TRIES; i++) {
        double share;
        if (draw(owner_of(space), rng, point, &share, NULL) == KERF_OK && share > 0)
            return tune_space_meet(space, point);
    }
    return -1;
}

int32_t tune_space_sampled(const struct kerf_tune_space *space) {
    return grows(space) ? owner_of(space)->sampled : space->num_settings;
}

int tune_space_compare(const struct kerf_tune_space *space, int32_t a, int32_t b) {
    const int32_t *of_a = setting_values(space, a);
    const int32_t *of_b = setting_values(space, b);
    for (int32_t k = 0; k < space->num_params && grows(space); k++)
        if (of_a[k] != of_b[k]) return of_a[k] < of_b[k] ? -1 : 1;
    return (a > b) - (a < b);
}

uint64_t tune_space_place(const struct kerf_tune_space *space, int32_t setting) {
    if (!grows(space)) return (uint64_t)setting;
    return hash_of(space, setting_values(space, setting));
}

double kerf_tune_space_size(const struct kerf_tune_space *space) {
    return grows(space) ? owner_of(space)->size : space->num_settings;
}

int32_t kerf_tune_space_capacity(const struct kerf_tune_space *space) {
    return grows(space) ? KERF_TUNE_GROWN_MAX : space->num_settings;
}

static int32_t sample_settings(struct owned_space *owned, int64_t whole, struct kerf_error *err) {
    struct kerf_tune_space *space = &owned->space;
    size_t width = (size_t)space->num_params, rows = KERF_TUNE_GROWN_MAX;
    struct pcg64 rng = random_seed(1);
    int32_t point[TUNE_PARAMS_MAX], tries = 0, kept = 0;
    double shares = 0;
    owned->values = arena_take(&owned->arena, rows, width * (sizeof *owned->values + 1));
    owned->numbers = arena_alloc(&owned->arena, TABLE, sizeof *owned->numbers);
    if (owned->values == NULL || owned->numbers == NULL) return error_no_memory(err, "a space");
    owned->unused = (char *)(owned->values + rows * width);
    space->values = owned->values;
    space->has_unused = KERF_TUNE_GROWS;
    for (; tries < SAMPLE_TRIES && space->num_settings < SAMPLED; tries++) {
        double share;
        int32_t code = draw(owned, &rng, point, &share, err);
        if (code != KERF_OK) return code;
        if (owned->checks > SAMPLE_CHECKS_MAX) return takes_too_long(err);
        if (share > 0) tune_space_meet(space, point);
        kept += share > 0;
        shares += share;
    }
    if (kept < tries / SHARE_LEAST || kept == 0)
        return kerf_error_set(
            err, KERF_EINFEASIBLE,
            "of %d points of the grid at random (%.3g in all) only %d satisf%s the constraints: fewer "
            "values or parameters would say the same, and be searched better",
            (int)tries, (double)whole, (int)kept, kept == 1 ? "ies" : "y");
    owned->size = (double)whole * shares / tries;
    owned->sampled = space->num_settings;
    return KERF_OK;
}

/* ---- Making one ------------------------------------------------------------------------------------------------ */

static int32_t fill(struct owned_space *owned, const char *const *params, int32_t num_params, const char *const *wheres,
                    int32_t num_wheres, const char *defaults, struct kerf_error *err) {
    struct kerf_tune_space *space = &owned->space;
    struct kerf_tune_param *read = NULL;
    struct conditions *conditions = &owned->conditions;
    int64_t whole = 1;
    conditions->when_texts = arena_alloc(&owned->arena, TUNE_PARAMS_MAX, sizeof *conditions->when_texts);
    if (conditions->when_texts == NULL) return error_no_memory(err, "a space");
    int32_t code = read_params(params, num_params, &owned->arena, &read, conditions->when_texts, err);
    if (code != KERF_OK) return code;
    space->params = read;
    space->num_params = num_params;
    space->default_setting = -1;
    conditions->count = num_wheres;
    code = read_conditions(space, wheres, &owned->arena, conditions, err);
    if (code != KERF_OK) return code;
    for (int32_t k = 0; k < num_params; k++)
        if (__builtin_mul_overflow(whole, read[k].num_values, &whole) || whole > GRID_MAX)
            return kerf_error_set(err, KERF_EINVALID, "the grid has more than %g settings", (double)GRID_MAX);
    code = whole > TUNE_SETTINGS_MAX ? sample_settings(owned, whole, err) : fill_settings(owned, whole, err);
    if (code != KERF_OK || defaults == NULL) return code;
    struct kerf_error why;
    code = kerf_tune_setting_read(space, defaults, &space->default_setting, &why);
    if (code == KERF_OK) return code;
    return kerf_error_set(err, code == KERF_EUNKNOWN ? KERF_EINVALID : code, "default %s", why.message);
}

int32_t kerf_tune_space_create(const char *const *params, int32_t num_params, const char *const *wheres,
                               int32_t num_wheres, const char *defaults, struct kerf_tune_space **ret_space,
                               struct kerf_error *err) {
    struct owned_space *owned = calloc(1, sizeof *owned);
    if (owned == NULL) return error_no_memory(err, "a space");
    int32_t code = fill(owned, params, num_params, wheres, num_wheres, defaults, err);
    if (code == KERF_OK)
        *ret_space = &owned->space;
    else
        kerf_tune_space_free(&owned->space);
    return code;
}

struct kerf_tune_space *kerf_tune_space_free(struct kerf_tune_space *space) {
    struct owned_space *owned = (struct owned_space *)space;
    if (owned == NULL) return NULL;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

/* Settings are in lexicographic order of their indexes. */
int32_t kerf_tune_space_find(const struct kerf_tune_space *space, const int32_t *values) {
    int32_t low = 0, high = space->num_settings;
    char unused[TUNE_PARAMS_MAX];
    int is = 0;
    if (grows(space)) {
        int32_t number = *number_of(owner_of(space), values);
        if (number) return number - 1;
        return is_setting(owner_of(space), values, unused, &is, NULL) == KERF_OK && is ? KERF_TUNE_NOT_MET : -1;
    }
    while (low < high) {
        int32_t middle = low + (high - low) / 2, k = 0;
        const int32_t *at = setting_values(space, middle);
        while (k < space->num_params && at[k] == values[k]) k++;
        if (k == space->num_params) return middle;
        if (at[k] < values[k])
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

int32_t tune_space_complete(const struct kerf_tune_space *space, const int32_t *values) {
    int32_t whole[TUNE_PARAMS_MAX];
    assert(space->num_params <= TUNE_PARAMS_MAX);
    for (int32_t k = 0; k < space->num_params; k++) whole[k] = values[k] < 0 ? 0 : values[k];
    int32_t setting = tune_space_meet(space, whole);
    for (int32_t k = 0; k < space->num_params && setting >= 0; k++)
        if (values[k] < 0 && kerf_tune_setting_uses(space, setting, k)) setting = -1;
    return setting;
}

/* ---- The text of a setting --------------------------------------------------------------------------------- */

static int32_t find_param(const struct kerf_tune_space *space, const char *name, size_t length) {
    for (int32_t k = 0; k < space->num_params; k++)
        if (strlen(space->params[k].name) == length && memcmp(space->params[k].name, name, length) == 0) return k;
    return -1;
}

/* Words for a flag, off and on in turn; kerf_tune_value_word writes the first two. */
static const char *const flag_words[] = {"off", "on", "0", "1", "false", "true", "no", "yes"};
enum { FLAG_WORDS = sizeof flag_words / sizeof *flag_words };

static int32_t find_value(const struct kerf_tune_param *param, const char *text, size_t length) {
    int64_t integer;
    double number;
    if (param->kind == KERF_TUNE_INTEGER) {
        if (!param_read_integer(text, length, &integer)) return -1;
        for (int32_t i = 0; i < param->num_values; i++)
            if (param->integers[i] == integer) return i;
        return -1;
    }
    for (int32_t i = 0; i < param->num_values; i++)
        if (strlen(param->texts[i]) == length && memcmp(param->texts[i], text, length) == 0) return i;
    for (int32_t i = 0; param->numbers && i < param->num_values; i++)
        if (param_read_decimal(text, length, &number) && number == param->numbers[i]) return i;
    for (int32_t i = 0; i < FLAG_WORDS && param->kind == KERF_TUNE_FLAG; i++)
        if (strlen(flag_words[i]) == length && memcmp(flag_words[i], text, length) == 0) return i % 2;
    return -1;
}

static int32_t read_part(const struct kerf_tune_space *space, const char *part, size_t length, int32_t *values,
                         struct kerf_error *err) {
    const char *equals = memchr(part, '=', length);
    int shown = (int)(length < 100 ? length : 100);
    if (equals == NULL)
        return kerf_error_set(err, KERF_ESYNTAX, "'%.*s' must be a parameter with a value, such as batch=512", shown,
                              part);
    int32_t k = find_param(space, part, (size_t)(equals - part));
    if (k < 0) return kerf_error_set(err, KERF_EUNKNOWN, "'%.*s': no such parameter", shown, part);
    if (values[k] >= 0) return kerf_error_set(err, KERF_ESYNTAX, "'%.*s': the parameter is given twice", shown, part);
    values[k] = find_value(&space->params[k], equals + 1, length - (size_t)(equals + 1 - part));
    if (values[k] < 0)
        return kerf_error_set(err, KERF_EUNKNOWN, "'%.*s': not one of the parameter's values", shown, part);
    return KERF_OK;
}

int32_t kerf_tune_setting_read(const struct kerf_tune_space *space, const char *text, int32_t *ret_setting,
                               struct kerf_error *err) {
    int32_t values[TUNE_PARAMS_MAX];
    for (int32_t k = 0; k < space->num_params; k++) values[k] = -1;
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");
        int32_t code = read_part(space, at, length, values, err);
        if (code != KERF_OK) return code;
        if (at[length] == 0) break;
        at += length + 1;
    }
    int32_t setting = tune_space_complete(space, values), k = 0;
    while (setting < 0 && k < space->num_params && values[k] >= 0) k++;
    if (setting < 0 && k < space->num_params)
        return kerf_error_set(err, KERF_ESYNTAX, "'%.200s': a value of '%s' is missing", text, space->params[k].name);
    if (setting < 0 && grows(space) && space->num_settings == KERF_TUNE_GROWN_MAX)
        return kerf_error_set(err, KERF_ENOMEM, "'%.200s': more than %d settings of one grid were named", text,
                              KERF_TUNE_GROWN_MAX);
    if (setting < 0)
        return kerf_error_set(err, KERF_EUNKNOWN, "'%.200s': a condition (--where%s) excludes it", text,
                              space->has_unused ? ", or of a parameter" : "");
    *ret_setting = setting;
    return KERF_OK;
}
