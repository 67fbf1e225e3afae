/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Pareto front of two objectives.
 *
 * The answer is a set of measured settings, its members, such that for every setting of the space one member is at most
 * `within` worse in the one objective and at most `within` worse in the other (an epsilon-approximate Pareto set: Laumanns,
 * Thiele, Deb and Zitzler, "Combining Convergence and Diversity in Evolutionary Multiobjective Optimization", 2002). Each
 * objective has a model of its own (surface_model.h), and joint draws of all settings from both tell how probable that is.
 *
 * The next run: of the draws in which the members miss a setting, the setting that they miss by most, and the member that
 * comes nearest to it. Of the pair that comes up most often the one is run whose run takes away more of what is not known:
 * a rival is refuted or joins the front, as with one objective, but where the front is doubtful now.
 *
 * The draws of the second objective are taken in another order than those of the first, as each point of the mixture of
 * models has neighbouring draws.
 */
#include "tune/pareto.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "tune/active_set.h"
#include "base/error_fill.h"
#include "tune/posterior.h"
#include "tune/precautions.h"
#include "tune/tune_policy.h"

enum { BOTH = 2, FEW = 12, SHUFFLE = 1237 }; /* SHUFFLE: odd, so that each draw has another partner */

/* What the draws say of the members. */
struct verdict {
    int32_t *members; /* [num] indexes into the draws, the best by the first objective first */
    int32_t num;
    double probability;      /* that they are an answer */
    double of_drawn;         /* .. but for values that were not tried */
    int32_t missed, nearest; /* the setting that is missed most often, and the member beside it; -1: none is */
};

struct pareto {
    struct kerf_tune_study *studies[BOTH]; /* of the same settings and runs */
    struct surface_model *models[BOTH];
    struct posterior_draws *draws[BOTH]; /* of the same settings, made after `drawn` informative observations */
    int32_t drawn, drawn_open;
    double *means[BOTH]; /* [num] of the draws */
    struct verdict verdict;
    struct arena arena;  /* of means and members */
    struct arena answer; /* of the last pareto_front */
};

/* ---- Making one -------------------------------------------------------------------------------------------------- */

struct pareto *pareto_create(struct kerf_tune_study *study) {
    struct pareto *pareto = calloc(1, sizeof *pareto);
    if (pareto == NULL) return NULL;
    pareto->studies[0] = study;
    pareto->studies[1] = study->second;
    return pareto;
}

static void forget_draws(struct pareto *pareto) {
    for (int o = 0; o < BOTH; o++) pareto->draws[o] = posterior_draws_free(pareto->draws[o]);
    arena_free(&pareto->arena);
}

struct pareto *pareto_free(struct pareto *pareto) {
    if (pareto == NULL) return NULL;
    forget_draws(pareto);
    for (int o = 0; o < BOTH; o++) surface_model_free(pareto->models[o]);
    arena_free(&pareto->answer);
    free(pareto);
    return NULL;
}

/* ---- What the draws say ------------------------------------------------------------------------------------------ */

/* Of objective o the drawn value of setting i. */
static double drawn(const struct pareto *pareto, int o, int32_t i, int32_t k) {
    int32_t of = o == 0 ? k : (int32_t)((uint32_t)k * SHUFFLE % SURFACE_DRAWS);
    return pareto->draws[o]->y[(int64_t)i * SURFACE_DRAWS + of];
}

static const struct scale *scale_of(const struct pareto *pareto, int o) { return &pareto->draws[o]->model->scale; }

/* Whether one place is as good as another within a share, in both objectives. */
static int covers(const struct pareto *pareto, const double *one, const double *other, double share) {
    return one[0] <= scale_within(scale_of(pareto, 0), other[0], share) &&
           one[1] <= scale_within(scale_of(pareto, 1), other[1], share);
}

static void mean_of(const struct pareto *pareto, int32_t i, double ret_mean[BOTH]) {
    for (int o = 0; o < BOTH; o++) ret_mean[o] = pareto->means[o][i];
}

struct place {
    double mean[BOTH];
    int32_t at;
};

static int by_first(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    for (int o = 0; o < BOTH; o++)
        if (x->mean[o] != y->mean[o]) return x->mean[o] < y->mean[o] ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* The measured settings that none beats by their means, without those that differ from their neighbour on the front by less
 * than half of `within`: from the one end, where the second objective gains too little, then from the other. */
static int choose_members(struct pareto *pareto) {
    const struct kerf_tune_study *study = pareto->studies[0];
    double half = study->question.within / 2;
    int32_t n = pareto->draws[0]->num, count = 0, kept = 0;
    struct place *places = arena_take(&pareto->arena, (size_t)n + 1, sizeof *places);
    int32_t *members = arena_take(&pareto->arena, (size_t)n + 1, sizeof *members);
    if (!places || !members) return 0;
    for (int32_t i = 0; i < n; i++) {
        if (study->tallies[posterior_draws_setting(pareto->draws[0], i)].values == 0) continue;
        places[count].at = i;
        mean_of(pareto, i, places[count++].mean);
    }
    qsort(places, (size_t)count, sizeof *places, by_first);
    for (int32_t i = 0; i < count; i++)
        if (kept == 0 || places[i].mean[1] < places[kept - 1].mean[1]) places[kept++] = places[i];
    for (int32_t i = 0, all = kept; i < all; i++) {
        if (i == 0) kept = 0;
        if (kept == 0 || !covers(pareto, places[kept - 1].mean, places[i].mean, half)) places[kept++] = places[i];
    }
    int32_t num = 0;
    for (int32_t i = kept - 1, last = -1; i >= 0; i--) {
        if (last >= 0 && covers(pareto, places[last].mean, places[i].mean, half)) continue;
        last = i;
        members[num++] = places[i].at;
    }
    for (int32_t i = 0; i < num / 2; i++) {
        int32_t other = members[i];
        members[i] = members[num - 1 - i];
        members[num - 1 - i] = other;
    }
    pareto->verdict.members = members;
    pareto->verdict.num = num;
    return 1;
}

/* By how much the members miss setting i in draw k, on the models' scale; not above 0: they do not. */
static double miss(const struct pareto *pareto, int32_t i, int32_t k, double share, int32_t *ret_nearest) {
    double within[BOTH], least = INFINITY;
    for (int o = 0; o < BOTH; o++) within[o] = scale_within(scale_of(pareto, o), drawn(pareto, o, i, k), share);
    for (int32_t m = 0; m < pareto->verdict.num && least > 0; m++) {
        int32_t member = pareto->verdict.members[m];
        double by = fmax(drawn(pareto, 0, member, k) - within[0], drawn(pareto, 1, member, k) - within[1]);
        if (by < least) least = by, *ret_nearest = member;
    }
    return least;
}

/* How probable it is that a member is worse than a setting by more than `share` in objective o: by plain means where no more is
 * known, else by the draws. */
static double chance_worse(const struct pareto *pareto, int o, const struct plain_means *means, int32_t member,
                           int32_t i) {
    const struct posterior_draws *draws = pareto->draws[o];
    double share = pareto->studies[0]->question.within;
    int32_t count = 0;
    if (means)
        return posterior_ahead(draws, means, posterior_draws_setting(draws, member), posterior_draws_setting(draws, i),
                               share);
    for (int32_t k = 0; k < SURFACE_DRAWS; k++)
        count += drawn(pareto, o, member, k) > scale_within(scale_of(pareto, o), drawn(pareto, o, i, k), share);
    return (double)count / SURFACE_DRAWS;
}

/* At most so probable is it that no measured setting is missed, where plain means have to tell: 1 less the sum over settings
 * of what speaks against the member that covers each best. *ret_missed and *ret_nearest: where the most speaks against it. */
static double chance_by_means(const struct pareto *pareto, int32_t *ret_missed, int32_t *ret_nearest) {
    const struct kerf_tune_study *study = pareto->studies[0];
    struct plain_means means[BOTH];
    int told[BOTH];
    double looks = posterior_looks(study, pareto->draws[0]->num), chance = 1, most = 0;
    for (int o = 0; o < BOTH; o++) told[o] = posterior_means(pareto->draws[o], &means[o]);
    if (!told[0] && !told[1]) return 1;
    for (int32_t i = 0; i < pareto->draws[0]->num; i++) {
        double least = 1;
        int32_t nearest = -1;
        if (study->tallies[posterior_draws_setting(pareto->draws[0], i)].values == 0) continue;
        for (int32_t m = 0; m < pareto->verdict.num && least > 0; m++) {
            int32_t member = pareto->verdict.members[m];
            double worse = member == i ? 0 : chance_worse(pareto, 0, told[0] ? &means[0] : NULL, member, i);
            if (member != i && worse < least) worse += chance_worse(pareto, 1, told[1] ? &means[1] : NULL, member, i);
            if (worse < least) least = worse, nearest = member;
        }
        chance -= looks * least;
        if (least > most) most = least, *ret_missed = i, *ret_nearest = nearest;
    }
    return fmax(chance, 0);
}

/* The pair of a missed setting and the member nearest to it that comes up most often. */
static int judge(struct pareto *pareto) {
    struct verdict *verdict = &pareto->verdict;
    double share = pareto->studies[0]->question.within;
    int32_t n = pareto->draws[0]->num, holds = 0;
    int32_t *missed = arena_alloc(&pareto->arena, (size_t)n + 1, sizeof *missed);
    int32_t *pairs = arena_alloc(&pareto->arena, (size_t)n + 1, (size_t)n * sizeof *pairs);
    if (!missed || !pairs) return 0;
    for (int32_t k = 0; k < SURFACE_DRAWS; k++) {
        double most = 0;
        int32_t worst = -1, beside = -1, nearest = -1;
        for (int32_t i = 0; i < n; i++) {
            double by = miss(pareto, i, k, share, &nearest);
            if (by > most) most = by, worst = i, beside = nearest;
        }
        holds += worst < 0;
        if (worst < 0) continue;
        missed[worst]++;
        if (beside >= 0) pairs[(int64_t)worst * n + beside]++;
    }
    verdict->missed = verdict->nearest = -1;
    for (int32_t i = 0; i < n; i++)
        if (missed[i] > (verdict->missed < 0 ? 0 : missed[verdict->missed])) verdict->missed = i;
    for (int32_t i = 0; i < n && verdict->missed >= 0; i++) {
        const int32_t *beside = pairs + (int64_t)verdict->missed * n;
        if (beside[i] > (verdict->nearest < 0 ? 0 : beside[verdict->nearest])) verdict->nearest = i;
    }
    int32_t by_means = -1, beside_it = -1;
    double drawn_chance = (double)holds / SURFACE_DRAWS, chance = chance_by_means(pareto, &by_means, &beside_it);
    if (chance < drawn_chance && by_means >= 0) verdict->missed = by_means, verdict->nearest = beside_it;
    verdict->of_drawn = verdict->num ? fmin(drawn_chance, chance) : 0;
    verdict->probability = verdict->of_drawn * (1 - pareto->draws[0]->isolated) * (1 - pareto->draws[1]->isolated);
    return 1;
}

static int32_t draw(const struct surface_model *model, struct posterior_draws **ret_draws, struct kerf_error *err) {
    int32_t all[ACTIVE_MAX];
    assert(model->num_active <= ACTIVE_MAX);
    for (int32_t i = 0; i < model->num_active; i++) all[i] = i;
    return posterior_draws_make(model, all, model->num_active, ret_draws, err);
}

/* From models that are up to date. */
static int32_t look(struct pareto *pareto, const struct surface_model *const models[BOTH], struct kerf_error *err) {
    int32_t code = KERF_OK;
    forget_draws(pareto);
    pareto->drawn = -1;
    for (int o = 0; o < BOTH && code == KERF_OK; o++) code = draw(models[o], &pareto->draws[o], err);
    if (code != KERF_OK) return code;
    assert(pareto->draws[0]->num == pareto->draws[1]->num);
    for (int o = 0; o < BOTH; o++) {
        pareto->means[o] = arena_alloc(&pareto->arena, (size_t)pareto->draws[o]->num + 1, sizeof(double));
        if (pareto->means[o] == NULL) return error_no_memory(err, "a study");
        for (int32_t i = 0; i < pareto->draws[o]->num; i++)
            for (int32_t k = 0; k < SURFACE_DRAWS; k++) pareto->means[o][i] += drawn(pareto, o, i, k) / SURFACE_DRAWS;
    }
    return choose_members(pareto) && judge(pareto) ? KERF_OK : error_no_memory(err, "a study");
}

static int32_t update(struct pareto *pareto, struct kerf_error *err) {
    const struct kerf_tune_study *study = pareto->studies[0];
    const struct surface_model *models[BOTH];
    if (pareto->draws[0] && pareto->drawn == history_informative(study) && pareto->drawn_open == study->num_open)
        return KERF_OK;
    for (int o = 0; o < BOTH; o++) {
        int32_t code = surface_update(pareto->studies[o], SURFACE_CORRELATED, &pareto->models[o], err);
        if (code != KERF_OK) return code;
        models[o] = pareto->models[o];
    }
    int32_t code = look(pareto, models, err);
    if (code != KERF_OK) return code;
    pareto->drawn = history_informative(study);
    pareto->drawn_open = study->num_open;
    return KERF_OK;
}

/* ---- What to do -------------------------------------------------------------------------------------------------- */

/* What one more run of a setting takes away of the variance of both objectives, on the models' scale. */
static double gain_of(const struct pareto *pareto, int32_t i) {
    double gain = 0;
    for (int o = 0; o < BOTH; o++) {
        double square = 0, noise = surface_model_noise(pareto->draws[o]->model);
        for (int32_t k = 0; k < SURFACE_DRAWS; k++) {
            double off = drawn(pareto, o, i, k) - pareto->means[o][i];
            square += off * off / SURFACE_DRAWS;
        }
        gain += square > 0 ? square * square / (square + noise * noise) : 0;
    }
    return gain;
}

static void seek(const struct pareto *pareto, struct kerf_tune_decision *ret_decision) {
    const struct posterior_draws *draws = pareto->draws[0];
    const struct verdict *verdict = &pareto->verdict;
    int32_t missed = verdict->missed, nearest = verdict->nearest;
    char words[120], chance[CHANCE_SIZE];
    assert(missed >= 0);
    int32_t setting = posterior_draws_setting(draws, missed);
    if (nearest >= 0 && gain_of(pareto, nearest) > gain_of(pareto, missed)) {
        history_setting(pareto->studies[0], setting, words, sizeof words);
        policy_measure(ret_decision, posterior_draws_setting(draws, nearest), 0, "on the front, beside %s", words);
    } else {
        policy_measure(ret_decision, setting, 0, "it may join the front, which is the whole one with %s",
                       policy_chance(verdict->probability, chance));
    }
}

/* The member that is the best by one objective. */
static int32_t end_of(const struct pareto *pareto, int o) {
    return pareto->verdict.members[o == 0 ? 0 : pareto->verdict.num - 1];
}

/* A run that is needed although the draws are sure; -1: none. */
static int32_t precaution(const struct pareto *pareto, const char **ret_why) {
    const struct kerf_tune_study *study = pareto->studies[0];
    const struct posterior_draws *draws = pareto->draws[0];
    *ret_why = "once more: how much do runs of one setting differ?";
    for (int o = 0; o < BOTH; o++) {
        int32_t again = acquisition_repeat(pareto->draws[o], end_of(pareto, o));
        if (again >= 0) return again;
    }
    for (int32_t m = 0; m < pareto->verdict.num && study->num_open <= FEW; m++) {
        int32_t setting = posterior_draws_setting(draws, pareto->verdict.members[m]);
        if (study->tallies[setting].values + surface_model_pending(draws->model, setting) < 2) return setting;
    }
    *ret_why = "the first setting again: has the machine changed?";
    for (int o = 0; o < BOTH; o++) {
        int32_t anchor = precaution_anchor(draws->model, posterior_draws_setting(draws, end_of(pareto, o)));
        if (anchor >= 0) return anchor;
    }
    *ret_why = "beside the front, where nothing was measured";
    for (int32_t m = 0; m < pareto->verdict.num; m++) {
        int32_t beside = precaution_beside(draws->model, posterior_draws_setting(draws, pareto->verdict.members[m]));
        if (beside >= 0) return beside;
    }
    for (int o = 0; o < BOTH; o++) {
        const struct posterior_draws *own = pareto->draws[o];
        int32_t doubtful =
            precaution_at(pareto->studies[o], own->model, posterior_draws_setting(own, end_of(pareto, o)), ret_why);
        if (doubtful >= 0) return doubtful;
    }
    return -1;
}

static void decide(const struct pareto *pareto, int32_t bound, struct kerf_tune_decision *ret_decision) {
    const struct kerf_tune_study *study = pareto->studies[0];
    const struct verdict *verdict = &pareto->verdict;
    double confidence = study->question.confidence, within = study->question.within, noise;
    int32_t fresh = -1;
    char chance[CHANCE_SIZE];
    const char *why;
    if (verdict->of_drawn < confidence) {
        for (int o = 0; o < BOTH; o++)
            if (posterior_hopeless(pareto->draws[o], within, bound, &noise)) {
                policy_stop(ret_decision, KERF_TUNE_TOO_NOISY,
                            "the %s objective of one setting differs by %.3g %%: too much to tell %g %%",
                            o == 0 ? "first" : "second", 100 * noise, 100 * within);
                return;
            }
        seek(pareto, ret_decision);
        return;
    }
    if (verdict->probability < confidence) fresh = precaution_untried(pareto->draws[0]->model);
    if (fresh >= 0) {
        policy_measure(ret_decision, fresh, 0, "nothing tells of a value that was not tried");
        return;
    }
    int32_t setting = precaution(pareto, &why);
    if (setting >= 0)
        policy_measure(ret_decision, setting, 0, "%s", why);
    else
        policy_stop(ret_decision, KERF_TUNE_CONFIDENT, "the front is the whole one, within %g %%, with %s",
                    100 * within, policy_chance(verdict->probability, chance));
}

/* As if what is pending had come out as expected. */
static int32_t decide_beside(struct pareto *pareto, const int32_t *pending, int32_t num_pending, int32_t bound,
                             struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    struct surface_model *models[BOTH] = {NULL, NULL};
    int32_t code = KERF_OK;
    for (int o = 0; o < BOTH && code == KERF_OK; o++)
        code = surface_fantasize(pareto->models[o], pending, num_pending, &models[o], err);
    if (code == KERF_OK) code = look(pareto, (const struct surface_model *const[BOTH]){models[0], models[1]}, err);
    if (code == KERF_OK) decide(pareto, bound, ret_decision);
    forget_draws(pareto);
    for (int o = 0; o < BOTH; o++) surface_model_free(models[o]);
    return code;
}

int32_t pareto_next(struct pareto *pareto, const int32_t *pending, int32_t num_pending, int32_t slot, int32_t bound,
                    struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    const struct kerf_tune_study *study = pareto->studies[0];
    int32_t first = study->space->default_setting;
    if (first >= 0 && history_is_open(study, first) && study->tallies[first].tries == 0 &&
        !policy_is_pending(first, pending, num_pending)) {
        policy_measure(ret_decision, first, 0, "the default");
        return KERF_OK;
    }
    if (posterior_is_empty(study)) {
        policy_try_anything(study, pending, num_pending, ret_decision);
        return KERF_OK;
    }
    int32_t code = update(pareto, err);
    if (code != KERF_OK) return code;
    for (int o = 0; o < BOTH; o++) {
        int32_t suspect = surface_model_suspect(pareto->models[o], slot);
        if (suspect < 0 || !history_is_open(study, suspect) || policy_is_pending(suspect, pending, num_pending))
            continue;
        policy_measure(ret_decision, suspect, 0, "an unusual run: was it a single one, or has the machine changed?");
        return KERF_OK;
    }
    if (num_pending > 0) return decide_beside(pareto, pending, num_pending, bound, ret_decision, err);
    decide(pareto, bound, ret_decision);
    return KERF_OK;
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

/* That no setting is better by more than `within` in both objectives. */
static double chance_unbeaten(const struct pareto *pareto, int32_t member) {
    double share = pareto->studies[0]->question.within;
    int32_t unbeaten = 0;
    for (int32_t k = 0; k < SURFACE_DRAWS; k++) {
        const double own[BOTH] = {drawn(pareto, 0, member, k), drawn(pareto, 1, member, k)};
        int32_t i = 0, beaten = 0;
        for (; i < pareto->draws[0]->num && !beaten; i++)
            beaten = own[0] > scale_within(scale_of(pareto, 0), drawn(pareto, 0, i, k), share) &&
                     own[1] > scale_within(scale_of(pareto, 1), drawn(pareto, 1, i, k), share);
        unbeaten += !beaten;
    }
    return (double)unbeaten / SURFACE_DRAWS;
}

int32_t pareto_front(struct pareto *pareto, struct kerf_tune_front *ret_front, struct kerf_error *err) {
    ret_front->settings = NULL;
    ret_front->unbeaten = NULL;
    ret_front->num = 0;
    ret_front->probability = 0;
    arena_free(&pareto->answer);
    if (posterior_is_empty(pareto->studies[0]) || pareto->studies[0]->num_open == 0) return KERF_OK;
    int32_t code = update(pareto, err);
    if (code != KERF_OK) return code;
    const double most = acquisition_supported(pareto->studies[0]);
    int32_t num = pareto->verdict.num;
    int32_t *settings = arena_alloc(&pareto->answer, (size_t)num + 1, sizeof *settings);
    double *unbeaten = arena_alloc(&pareto->answer, (size_t)num + 1, sizeof *unbeaten);
    if (!settings || !unbeaten) return error_no_memory(err, "a study");
    for (int32_t m = 0; m < num; m++) {
        settings[m] = posterior_draws_setting(pareto->draws[0], pareto->verdict.members[m]);
        unbeaten[m] = fmin(chance_unbeaten(pareto, pareto->verdict.members[m]), most);
    }
    ret_front->settings = settings;
    ret_front->unbeaten = unbeaten;
    ret_front->num = num;
    ret_front->probability = fmin(pareto->verdict.probability, most);
    return KERF_OK;
}
