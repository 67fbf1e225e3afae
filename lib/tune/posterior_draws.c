/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SURFACE_DRAWS samples from the mixture of Gaussian processes, of those settings whose mean is within REACH standard
 * deviations of being the best or of being within the margin of it. The points of the mixture are taken by their
 * weight, DRAW_POINTS of them at equal distances of the cumulated weight; each gives SURFACE_DRAWS / DRAW_POINTS draws: of the
 * variance of the noise, and then of all settings by the Cholesky factor of their covariance.
 *
 * The normal numbers behind them depend on the study's seed alone and come in pairs of opposite sign. So probabilities
 * change with what is known and not with the draw, and a study that stops at 95 % has not waited for a lucky one.
 */
#include "tune/posterior_draws.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "tune/gaussian_process.h"
#include "tune/param.h"
#include "tune/statistics.h"

static const double REACH = 3.7;
static_assert(SURFACE_DRAWS % (2 * DRAW_POINTS) == 0, "draws come in pairs at each point");
enum { PER_POINT = SURFACE_DRAWS / DRAW_POINTS, PAIRS = PER_POINT / 2 };

struct posterior_draws *posterior_draws_free(struct posterior_draws *draws) {
    if (draws == NULL) return NULL;
    arena_free(&draws->arena);
    free(draws);
    return NULL;
}

int32_t posterior_draws_setting(const struct posterior_draws *draws, int32_t i) {
    assert(0 <= i && i < draws->num);
    return draws->model->active[draws->at[i]];
}

int32_t posterior_draws_find(const struct posterior_draws *draws, int32_t active) {
    for (int32_t i = 0; i < draws->num; i++)
        if (draws->at[i] == active) return i;
    return -1;
}

/* ---- Who may be the best ----------------------------------------------------------------------------------- */

struct bound {
    double low;
    int32_t at;
};

static int by_low(const void *a, const void *b) {
    const struct bound *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int by_index(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void add(struct posterior_draws *draws, int32_t at) {
    if (posterior_draws_find(draws, at) < 0) draws->at[draws->num++] = at;
}

/* Where it may be: a setting whose runs may all have been slow ones is as much below them too. */
static struct bound lowest(const struct surface_model *model, int32_t at, double *ret_high) {
    double mean, sd, runs_mean, slower = 0;
    surface_model_moments(model, at, &mean, &sd);
    if (model->modes.share > 0 && modes_unknown(model, model->active[at], &runs_mean) > 0) slower = model->modes.slower;
    *ret_high = mean + REACH * sd;
    return (struct bound){mean - fmax(REACH * sd, slower), at};
}

enum { DRAWN_LOWEST = 96 };

/* Those that may be the lowest, and beside them of the measured ones: an answer is one of these, and the less is known of
 * the others the lower may they be. */
static int choose(struct posterior_draws *draws, const int32_t *also, int32_t num_also) {
    const struct surface_model *model = draws->model;
    int32_t n = model->num_active, count = 0;
    struct bound *bounds = arena_take(&draws->arena, (size_t)n, sizeof *bounds);
    draws->at = arena_take(&draws->arena, (size_t)(n + num_also), sizeof *draws->at);
    if (bounds == NULL || draws->at == NULL) return 0;
    double least = INFINITY;
    for (int32_t i = 0; i < n; i++) {
        double high;
        if (!history_is_open(model->study, model->active[i])) continue;
        bounds[count++] = lowest(model, i, &high);
        least = fmin(least, high);
    }
    qsort(bounds, (size_t)count, sizeof *bounds, by_low);
    for (int32_t i = 0; i < num_also; i++)
        if (also[i] >= 0 && history_is_open(model->study, model->active[also[i]])) add(draws, also[i]);
    double reach = scale_within(&model->scale, least, model->study->question.margin);
    for (int32_t i = 0; i < count && bounds[i].low <= reach; i++) {
        int is_measured = model->study->tallies[model->active[bounds[i].at]].values > 0;
        if (draws->num < (is_measured ? DRAWN_MAX : DRAWN_LOWEST))
            add(draws, bounds[i].at);
        else
            draws->is_cut = 1;
    }
    qsort(draws->at, (size_t)draws->num, sizeof *draws->at, by_index);
    return 1;
}

/* ---- Drawing ----------------------------------------------------------------------------------------------- */

/* Settings and the drift, in this order: their covariance in units of s^2, factored. */
static void factor(const struct posterior_draws *draws, const struct gp *gp, double *ret_factor) {
    const struct surface_model *model = draws->model;
    int32_t num = draws->num, stride = cholesky_stride(num + 1);
    for (int32_t i = 0; i <= num; i++) {
        const double *row = gp->cov + (int64_t)(i < num ? draws->at[i] : model->num_active) * model->dims;
        double *to = ret_factor + (int64_t)i * stride;
        for (int32_t j = i; j < num; j++) to[j] = row[draws->at[j]];
        to[num] = row[model->num_active];
    }
    cholesky(ret_factor, num + 1, 1e-12);
}

/* A run that was stopped rules values out, and the normal distribution that stands for what is left has some of them
 * all the same. Draws below a floor are mirrored at it, and the other settings follow as far as they are correlated
 * (conditioning by kriging: Journel and Huijbregts, "Mining Geostatistics", 1978, VII.A). This works for a tail only: a
 * point of the mixture whose mean lies below the floor takes that run for a spike, and would be mirrored as a whole. */
static void keep_to_floors(struct posterior_draws *draws, const struct gp *gp, int32_t from) {
    const struct surface_model *model = draws->model;
    for (int32_t i = 0; i < draws->num; i++) {
        const double *row = gp->cov + (int64_t)draws->at[i] * model->dims;
        double floor = model->floors[draws->at[i]], own = row[draws->at[i]];
        if (gp->mean[draws->at[i]] < floor) continue;
        for (int32_t k = from; k < from + PER_POINT; k++) {
            double below = floor - draws->y[(int64_t)i * SURFACE_DRAWS + k];
            if (!(below > 0) || own <= 0) continue;
            for (int32_t j = 0; j < draws->num; j++)
                draws->y[(int64_t)j * SURFACE_DRAWS + k] += 2 * below * row[draws->at[j]] / own;
            draws->drift[k] += 2 * below * row[model->num_active] / own;
        }
    }
}

/* PER_POINT draws, pairs of opposite sign. columns [num + 2]: the normal numbers of all settings, of the drift, and of
 * the noise's variance; work [num + 1][PAIRS] */
static void draw_point(struct posterior_draws *draws, const struct gp *gp, int32_t from, const double *factored,
                       const double *const *columns, double *work) {
    int32_t num = draws->num;
    double s[PER_POINT];
    for (int32_t k = 0; k < PER_POINT; k++) {
        double z = columns[num + 1][k / 2];
        s[k] = sqrt(gp_noise_variance(gp, k % 2 ? -z : z)) * (k % 2 ? -1 : 1);
        draws->noise[from + k] = fabs(s[k]);
    }
    cholesky_times(factored, num + 1, columns, PAIRS, work);
    for (int32_t i = 0; i <= num; i++) {
        double *to = i < num ? draws->y + (int64_t)i * SURFACE_DRAWS + from : draws->drift + from;
        double mean = gp->mean[i < num ? draws->at[i] : draws->model->num_active];
        for (int32_t k = 0; k < PER_POINT; k++) to[k] = mean + s[k] * work[i * PAIRS + k / 2];
    }
    keep_to_floors(draws, gp, from);
}

/* The normal numbers of one unknown, [SURFACE_DRAWS / 2]: its own, whichever others are drawn with it. */
static const double *normals_of(const struct surface_model *model, int32_t active) {
    double **kept = &model->normals[active];
    if (*kept != NULL) return *kept;
    uint64_t which = active < model->num_active ? tune_space_place(model->study->space, model->active[active]) + 2
                                                : (uint64_t)(active - model->num_active);
    struct pcg64 rng = random_seed((uint64_t)model->study->question.seed * 0x9E3779B97F4A7C15 + which);
    *kept = model->normals[model->num_active + 2] + (int64_t)active * (SURFACE_DRAWS / 2);
    for (int32_t k = 0; k < SURFACE_DRAWS / 2; k++) (*kept)[k] = random_normal(&rng, 0, 1);
    return *kept;
}

static int draw(struct posterior_draws *draws) {
    const struct surface_model *model = draws->model;
    struct arena *arena = &draws->arena;
    size_t num = (size_t)draws->num, width = num + 2;
    double *factored = arena_alloc(arena, (num + 1) * (size_t)cholesky_stride(draws->num + 1), sizeof *factored);
    const double **columns = arena_take(arena, 2 * width, sizeof *columns);
    double *work = arena_take(arena, width, PAIRS * sizeof *work);
    draws->y = arena_take(arena, num + 1, SURFACE_DRAWS * sizeof *draws->y);
    draws->drift = arena_take(arena, SURFACE_DRAWS, sizeof *draws->drift);
    draws->noise = arena_take(arena, SURFACE_DRAWS, sizeof *draws->noise);
    if (!factored || !columns || !work || !draws->y || !draws->drift || !draws->noise) return 0;
    for (size_t i = 0; i < width; i++)
        columns[i] = normals_of(model, i < num ? draws->at[i] : model->num_active + (int32_t)(i - num));
    for (int32_t k = 0, before = -1; k < DRAW_POINTS; k++) {
        int32_t point = surface_model_point(model, (k + 0.5) / DRAW_POINTS);
        for (size_t i = 0; i < width; i++) columns[width + i] = columns[i] + k * PAIRS;
        if (point != before) factor(draws, &model->points[point], factored);
        draw_point(draws, &model->points[point], k * PER_POINT, factored, columns + width, work);
        before = point;
    }
    return 1;
}

/* Whether all parameters are words, so that no setting tells of another. */
static int is_of_words(const struct kerf_tune_space *space) {
    for (int32_t k = 0; k < space->num_params; k++)
        if (space->params[k].kind != KERF_TUNE_CHOICE || kernel_is_ordered(&space->params[k])) return 0;
    return 1;
}

/* ---- What they say ----------------------------------------------------------------------------------------- */

/*
 * Where all runs of a setting may have been slow ones, it is known to be at one of two places, and the model's normal
 * distribution is neither: its tail at the lower place is far too thin. So draws are taken from the two places, with the
 * share of the lower one and the spread about each that give the model's mean and variance. A word has no neighbours
 * that speak for one of them, and the share is that of so many runs that are all slow or all fast.
 */
static void split_modes(struct posterior_draws *draws) {
    const struct surface_model *model = draws->model;
    const struct modes *modes = &model->modes;
    int words = is_of_words(model->study->space);
    double slower = modes->slower, mean, sd, upper;
    for (int32_t i = 0; i < draws->num && modes->share > 0; i++) {
        int32_t setting = posterior_draws_setting(draws, i), runs = modes_unknown(model, setting, &upper);
        double *y = draws->y + (int64_t)i * SURFACE_DRAWS, share = modes_share(modes), slow = pow(share, runs);
        if (runs == 0) continue;
        surface_model_moments(model, draws->at[i], &mean, &sd);
        double low = fmin(fmax((upper - mean) / slower, 0), 1), least = modes->noise / sd;
        double keep = 1 - low * (1 - low) * slower * slower / (sd * sd);
        keep = sqrt(fmax(keep, fmin(least * least, 1)));
        if (words) low = slow / (slow + pow(1 - share, runs));
        struct pcg64 rng =
            random_seed((uint64_t)model->study->question.seed * 31 + tune_space_place(model->study->space, setting));
        for (int32_t k = 0; k < SURFACE_DRAWS && low > 0 && low < 1; k++)
            y[k] = upper + keep * (y[k] - mean) - (random_double(&rng) < low ? slower : 0);
    }
}

/* Where repeated runs agree to the last bit the means are what settings take. On a scale of differences that has to be said:
 * within 3 % of a best of 0 is 0 alone, and no two draws of it are. */
static void keep_exact(struct posterior_draws *draws) {
    const struct scale *scale = &draws->model->scale;
    if (scale->logarithmic || !history_is_exact(draws->model->study)) return;
    for (int32_t i = 0; i < draws->num; i++) {
        const struct tally *tally = &draws->model->study->tallies[posterior_draws_setting(draws, i)];
        double *y = draws->y + (int64_t)i * SURFACE_DRAWS, exact = scale_to(scale, tally->mean);
        for (int32_t k = 0; k < SURFACE_DRAWS && tally->values > 0; k++) y[k] = exact;
    }
}

/* Of the draws, those in which setting i is at most this. */
static double share_below(const struct posterior_draws *draws, int32_t i, const double *most) {
    const double *y = draws->y + (int64_t)i * SURFACE_DRAWS;
    int32_t count = 0;
    for (int32_t k = 0; k < SURFACE_DRAWS; k++) count += y[k] <= most[k];
    return (double)count / SURFACE_DRAWS;
}

/*
 * What tells of a value that was not tried is what lies beside it. Not so on a flat surface: people tune a parameter because
 * they expect it to matter, and where all runs were alike, the good value may not have been found yet. So that has, with
 * a probability of HIDDEN before anything was tried, one isolated value at any place; what was tried without finding it
 * speaks against it, and a surface that is seen to vary explains itself. For axes with steps between neighbours that are
 * small: of 2, 4, 8, .. 2048 each is looked at anyway. Nor on a surface without any order: there the best is as likely
 * among those that were not tried as their share is.
 */
static const double HIDDEN = 0.8;

/*
 * Where one isolated value was found, among few that were tried, it may be one of many: fast sizes of a Fourier transform
 * are. With a probability of MANY before, a share of all values are, log-uniform between that of one and MANY_SHARE. Where
 * several were found, their share is known. Each other one is better than the best of those that were found as often as
 * each of these is the best of all.
 */
static const double MANY = 0.4, MANY_SHARE = 0.3;
enum { NUM_SHARES = 16 };

/* The chance that one of the values that were not tried is isolated and better. */
static double better_of_share(double share, double found, double untried) {
    return 1 - pow(1 - share / (found + 1), untried);
}

static double another_isolated(const struct surface_model *model, int32_t tried, double size) {
    double found = fmax(model->isolated.num, 1), is_one = (1 - MANY) / size, is_many = 0, is_better = 0;
    double has = surface_model_has_isolated(model);
    if (found > 1) return has * better_of_share(found / tried, found, size - tried);
    for (int32_t k = 0; k < NUM_SHARES && size > 1 / MANY_SHARE; k++) {
        double share = MANY_SHARE * pow(MANY_SHARE * size, -k / (NUM_SHARES - 1.0));
        double evidence = MANY / NUM_SHARES * share * pow(1 - share, tried - 1); /* one of those that were tried */
        is_many += evidence;
        is_better += evidence * better_of_share(share, found, size - tried);
    }
    return has * is_better / (is_many + is_one);
}

static double isolated_chance(const struct surface_model *model) {
    const struct kerf_tune_study *study = model->study;
    double hidden = HIDDEN * surface_model_flatness(model, -1), size = kerf_tune_space_size(study->space);
    int32_t num_settings = study->space->num_settings, tried = 0;
    for (int32_t i = 0; i < num_settings; i++) tried += study->tallies[i].tries > 0 || !history_is_open(study, i);
    double untried = 1 - tried / size, missed = hidden * untried;
    double chance = fmax(missed / (1 - hidden + missed), untried * surface_model_disorder(model));
    return fmax(chance, another_isolated(model, tried, size));
}

/*
 * Between words and flags, few settings, and sizes without order, a leader is made by its own runs: one whose first runs were lucky
 * leads, and a rival whose first were not is not run again. The more so the noisier runs are beside what has to be told
 * apart. So draws have 1 + LUCK noise^2 / (noise^2 + within^2) times the variance. LUCK is not derived but measured, with
 * noise of 6 % (docs/tune-policy.md): with 0 a surface whose rivals are just beyond `within` is right in 84 % where 96 %
 * are stated.
 */
static const double LUCK = 0.5;
enum { LUCKY_MAX = 12 }; /* settings that are few */

static double luck(const struct surface_model *model) {
    const struct kerf_tune_space *space = model->study->space;
    double noise = surface_model_noise(model), within = model->study->question.within;
    int stands_alone = space->num_settings <= LUCKY_MAX;
    for (int32_t k = 0; k < space->num_params; k++) stands_alone |= !kernel_is_ordered(&space->params[k]);
    double alone = stands_alone ? 1 : surface_model_looseness(model);
    return noise > 0 ? 1 + alone * LUCK * noise * noise / (noise * noise + within * within) : 1;
}

/* Draws are spread wider where predictions failed more often than they should, by as much, and for luck. */
static void stretch(struct posterior_draws *draws) {
    const struct surface_model *model = draws->model;
    double wider = sqrt(luck(model)), of[SCORE_KINDS] = {wider * surface_model_stretch(model, SCORE_NEW),
                                                         wider * surface_model_stretch(model, SCORE_AGAIN)};
    for (int32_t i = 0; i < draws->num; i++) {
        const struct tally *tally = &model->study->tallies[posterior_draws_setting(draws, i)];
        double by = of[tally->values > 0 ? SCORE_AGAIN : SCORE_NEW], mean = 0,
               *y = draws->y + (int64_t)i * SURFACE_DRAWS;
        if (by == 1) continue;
        for (int32_t k = 0; k < SURFACE_DRAWS; k++) mean += y[k] / SURFACE_DRAWS;
        for (int32_t k = 0; k < SURFACE_DRAWS; k++) y[k] = mean + by * (y[k] - mean);
    }
}

/*
 * Words have no neighbours, a few settings hardly any, and where noise is large neighbours tell little: then a setting
 * leads by its own runs, and the luckiest of a dozen leads. The probability is therefore at most what Student's t gives
 * by means alone: that no other setting is better by more than `share`, the product over all of them (Šidák, "Rectangular
 * Confidence Regions for the Means of Multivariate Normal Distributions", 1967), but not less than for any of them, with
 * the variance of its own repetitions and of all together: some settings may be noisier than others. 1 without
 * repetitions.
 */
static const double LOUD = 0.06; /* noise that counts as large */
enum { PLAIN_FEW = 6 };          /* settings that are told apart by their means, whatever they are */
enum { PLAIN_MAX = 32 };         /* and where they are words, or noise is large */
enum { SPLIT_REPEATS = 8 };      /* by fewer a changepoint or two modes may be noise that is taken for them */

/* The variance of repeated runs, relative to their means; *ret_freedom: 0 where no run was repeated. */
static double variance_of_repeats(const struct kerf_tune_study *study, double *ret_freedom) {
    double sum = 0, freedom = 0;
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        const struct tally *tally = &study->tallies[i];
        if (tally->values < 2) continue;
        sum += tally->squares / (tally->mean * tally->mean);
        freedom += tally->values - 1;
    }
    *ret_freedom = freedom;
    return freedom > 0 ? sum / freedom : 0;
}

int posterior_means(const struct posterior_draws *draws, struct plain_means *ret_means) {
    const struct kerf_tune_study *study = draws->model->study;
    ret_means->variance = variance_of_repeats(study, &ret_means->freedom);
    if (ret_means->freedom == 0 || study->space->num_settings > PLAIN_MAX || !draws->model->scale.logarithmic) return 0;
    if (draws->model->num_slots > 1) return 0; /* means are of several machines */
    int few = study->space->num_settings <= PLAIN_FEW, has_modes = draws->model->modes.share > 0;
    int is_split = draws->model->changepoints.num > 0 || (has_modes && !few); /* .. or of several levels */
    if (is_split && ret_means->freedom >= SPLIT_REPEATS) return 0;
    if (is_of_words(study->space) || few) return 1;
    /* Few repeats may agree by luck. Drift is in what they differ by, so half of it has to be noise for the model too. */
    double loud = sqrt(ret_means->variance * (1 + 2 / ret_means->freedom));
    return loud >= LOUD && surface_model_noise(draws->model) >= LOUD / 2;
}

/* Of one setting's noise, shrunk towards that of all, which counts as FREEDOM repeats, or as many as there were. */
static const double FREEDOM = 3;

static double own_variance(const struct plain_means *means, const struct tally *tally, double *ret_freedom) {
    double shared = fmin(FREEDOM, means->freedom);
    *ret_freedom = shared + tally->values - 1;
    return (shared * means->variance + tally->squares / (tally->mean * tally->mean)) / *ret_freedom;
}

double posterior_looks(const struct kerf_tune_study *study, int32_t num_settings) {
    return 1 + log2(fmax(1, (double)history_informative(study) / num_settings));
}

/* Welch's test ("The Generalization of Student's Problem when Several Different Population Variances are Involved", 1947). */
double posterior_ahead(const struct posterior_draws *draws, const struct plain_means *means, int32_t setting,
                       int32_t other, double share) {
    const struct scale *scale = &draws->model->scale;
    const struct tally *own = &draws->model->study->tallies[setting], *its = &draws->model->study->tallies[other];
    double behind = scale_to(scale, its->mean) + log1p(share) - scale_to(scale, own->mean), freedom[2];
    double a = own_variance(means, own, &freedom[0]) / own->values,
           b = own_variance(means, its, &freedom[1]) / its->values;
    double error = sqrt(a + b), degrees = (a + b) * (a + b) / (a * a / freedom[0] + b * b / freedom[1]);
    degrees = fmin(degrees, means->freedom); /* what is shared is known once */
    return error > 0 ? 1 - student_cdf(behind / error, degrees) : behind < 0;
}

/* All rivals raise the doubt, or the nearest one does at each of the looks: with many rivals the former is more. */
static double chance_by_means(const struct posterior_draws *draws, const struct plain_means *means, int32_t setting,
                              double share) {
    const struct kerf_tune_study *study = draws->model->study;
    double looks = posterior_looks(study, study->space->num_settings), none = 1, most = 0;
    for (int32_t j = 0; j < study->space->num_settings; j++) {
        if (j == setting || study->tallies[j].values == 0 || !history_is_open(study, j)) continue;
        double ahead = posterior_ahead(draws, means, setting, j, share);
        none *= 1 - ahead;
        most = fmax(most, ahead);
    }
    return fmax(fmin(none, pow(1 - most, looks)), 1.0 / study->num_open);
}

static void keep_to_means(struct posterior_draws *draws) {
    const struct kerf_tune_study *study = draws->model->study;
    struct plain_means means;
    if (!posterior_means(draws, &means)) return;
    for (int32_t i = 0; i < draws->num; i++) {
        int32_t setting = posterior_draws_setting(draws, i);
        if (study->tallies[setting].values == 0) continue;
        draws->within[i] = fmin(draws->within[i], chance_by_means(draws, &means, setting, study->question.within));
        draws->within_margin[i] =
            fmin(draws->within_margin[i], chance_by_means(draws, &means, setting, study->question.margin));
    }
}

static int judge(struct posterior_draws *draws) {
    const struct surface_model *model = draws->model;
    const struct kerf_tune_question *question = &model->study->question;
    int32_t num = draws->num;
    double most[SURFACE_DRAWS];
    draws->best = arena_take(&draws->arena, SURFACE_DRAWS, sizeof *draws->best);
    draws->within = arena_alloc(&draws->arena, (size_t)num + 1, sizeof *draws->within);
    draws->within_margin = arena_alloc(&draws->arena, (size_t)num + 1, sizeof *draws->within_margin);
    if (!draws->best || !draws->within || !draws->within_margin) return 0;
    split_modes(draws);
    stretch(draws);
    keep_exact(draws);
    for (int32_t k = 0; k < SURFACE_DRAWS; k++) draws->best[k] = num ? draws->y[k] : 0;
    for (int32_t i = 1; i < num; i++) {
        const double *restrict y = draws->y + (int64_t)i * SURFACE_DRAWS;
        for (int32_t k = 0; k < SURFACE_DRAWS; k++) draws->best[k] = y[k] < draws->best[k] ? y[k] : draws->best[k];
    }
    for (int32_t k = 0; k < SURFACE_DRAWS; k++) most[k] = scale_within(&model->scale, draws->best[k], question->within);
    for (int32_t i = 0; i < num; i++) draws->within[i] = share_below(draws, i, most);
    for (int32_t k = 0; k < SURFACE_DRAWS; k++) most[k] = scale_within(&model->scale, draws->best[k], question->margin);
    for (int32_t i = 0; i < num; i++) draws->within_margin[i] = share_below(draws, i, most);
    keep_to_means(draws);
    draws->isolated = isolated_chance(model);
    double unseen = model->num_active < model->study->space->num_settings ? model->study->unseen : 0;
    draws->seen = (1 - draws->isolated) * (1 - (isfinite(unseen) ? unseen : 0));
    for (int32_t i = 0; i < num; i++) {
        draws->within[i] *= draws->seen;
        draws->within_margin[i] *= draws->seen;
    }
    return 1;
}

/* Every so many-th draw is enough for a mean, and each costs an erfc. */
enum { OUTSIDE_EACH = 16 };
static_assert(SURFACE_DRAWS % OUTSIDE_EACH == 0, "the draws are divided evenly");

double posterior_draws_outside(const struct posterior_draws *draws, int32_t active, double share) {
    const struct scale *scale = &draws->model->scale;
    double mean, sd, sum = 0;
    if (!draws->is_cut || !history_is_open(draws->model->study, draws->model->active[active])) return 0;
    surface_model_moments(draws->model, active, &mean, &sd);
    for (int32_t k = 0; k < SURFACE_DRAWS && sd > 0; k += OUTSIDE_EACH)
        sum += normal_cdf((scale_within(scale, draws->best[k], share) - mean) / sd);
    return draws->seen * sum * OUTSIDE_EACH / SURFACE_DRAWS;
}

int32_t posterior_draws_make(const struct surface_model *model, const int32_t *also, int32_t num_also,
                             struct posterior_draws **ret_draws, struct kerf_error *err) {
    struct posterior_draws *draws = calloc(1, sizeof *draws);
    if (draws == NULL) return error_no_memory(err, "a study");
    draws->model = model;
    if (!choose(draws, also, num_also) || !draw(draws) || !judge(draws)) {
        posterior_draws_free(draws);
        return error_no_memory(err, "a study");
    }
    assert(draws->num <= DRAWN_MAX + num_also);
    *ret_draws = draws;
    return KERF_OK;
}
