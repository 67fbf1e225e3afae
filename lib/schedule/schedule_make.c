/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door: every rule by its name, the search among them, and a schedule with the times that it is made for.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"
#include "schedule/move_shares.h"
#include "schedule/moves.h"
#include "schedule/rules/rule.h"
#include "schedule/search_how.h"

/* ---- By name ---------------------------------------------------------------------------------------------- */

enum { RULES_MAX = 64 };

static const struct rule *rule_at(size_t index) {
    const struct rule *rule = rules_at(index);
    return rule ? rule : index > 0 && rules_at(index - 1) ? &rule_best : NULL;
}

const struct kerf_schedule_rule *kerf_schedule_rule_at(size_t index) {
    const struct rule *rule = rule_at(index);
    return rule ? &rule->shown : NULL;
}

static const struct rule *known(const char *name) {
    const struct rule *rule;
    for (size_t i = 0; (rule = rule_at(i)); i++)
        if (strcmp(rule->shown.name, name) == 0) return rule;
    return NULL;
}

static const struct rule *find(const char *name, struct kerf_error *err) {
    const char *names[RULES_MAX];
    size_t count = 0;
    const struct rule *rule = known(name), *other;
    if (rule) return rule;
    while (count < RULES_MAX && (other = rule_at(count))) names[count++] = other->shown.name;
    const char *nearest = nearest_name(name, names, count);
    kerf_error_set(err, KERF_EUNKNOWN, "no schedule '%.64s'%s%s%s", name,
                   nearest ? "; did you mean " : "; `kerf schedule --list` shows them", nearest ? nearest : "",
                   nearest ? "?" : "");
    return NULL;
}

int32_t kerf_schedule_stages(const struct kerf_schedule_request *request, int32_t *ret_stages, struct kerf_error *err) {
    const struct rule *rule = find(request->rule, err);
    return rule ? rule_stages(rule, request, ret_stages, err) : KERF_EUNKNOWN;
}

int32_t kerf_schedule_make(const struct kerf_schedule_request *request, struct kerf_schedule **ret_schedule,
                           struct kerf_error *err) {
    const struct rule *rule = find(request->rule, err);
    return rule ? rule_make(rule, request, NULL, ret_schedule, err) : KERF_EUNKNOWN;
}

int32_t kerf_schedule_takes_chunks(const char *name) {
    const struct rule *rule = known(name);
    return rule && !rule->fixed_chunks;
}

int32_t kerf_schedule_takes_slices(const char *name) {
    const struct rule *rule = known(name);
    return rule && rule->default_slices > 0;
}

const char *kerf_schedule_warning(const struct kerf_schedule_request *request) {
    const struct rule *rule = known(request->rule);
    return rule && rule->refused_elsewhere && rule->refused_elsewhere(request) ? rule->shown.elsewhere : NULL;
}

/* ---- With its times --------------------------------------------------------------------------------------- */

struct timed {
    struct kerf_schedule *schedule;
    struct kerf_schedule_times *times;
};

static void timed_free(struct timed *timed) {
    kerf_schedule_free(timed->schedule);
    kerf_schedule_times_free(timed->times);
}

/* ---- With recomputation and offload ----------------------------------------------------------------------- */

/* What a rule that looks for an order is asked in their place: R is a part of the backward pass, and a device may hold
 * more, as it keeps only a share of each micro-batch until its R or L. W holds all of it: where there is little memory,
 * W has to follow I at once, as it does in the answer when it is a part of I too. */
struct stand_in {
    struct kerf_schedule_times times;
    double *backward_s, *backward_input_s, *whole_s, *none_s; /* [stages] */
    double *cap;                                              /* [devices] */
    double factor_max;
};

static void stand_in_free(struct stand_in *in) {
    free(in->backward_s);
    free(in->backward_input_s);
    free(in->whole_s);
    free(in->none_s);
    free(in->cap);
}

static int stand_in_make(const struct kerf_schedule_times *times, int32_t devices, int32_t stages,
                         struct stand_in *in) {
    enum { FACTOR_MAX = 64 };
    double least = 1;
    *in = (struct stand_in){.times = *times};
    in->backward_s = malloc((size_t)stages * sizeof *in->backward_s);
    in->backward_input_s = malloc((size_t)stages * sizeof *in->backward_input_s);
    in->whole_s = malloc((size_t)stages * sizeof *in->whole_s);
    in->none_s = calloc((size_t)stages, sizeof *in->none_s);
    in->cap = malloc((size_t)devices * sizeof *in->cap);
    if (!in->backward_s || !in->backward_input_s || !in->whole_s || !in->none_s || !in->cap) return 0;
    for (int32_t k = 0; k < stages; k++) {
        const double again =
            times->recompute_share && times->recompute_share[k] > 0 ? move_shares_recompute_s(times, k) : 0;
        in->backward_s[k] = times->backward_s[k] + again;
        in->backward_input_s[k] = times->backward_input_s[k] + again;
        in->whole_s[k] = in->backward_input_s[k] + times->backward_weight_s[k];
        least = fmin(least, move_shares_kept(times, k, times->recompute_share != NULL, times->offload_share != NULL));
    }
    in->factor_max = fmin(1 / least, FACTOR_MAX);
    in->times.backward_s = in->backward_s;
    in->times.backward_input_s = in->backward_input_s;
    in->times.recompute_share = in->times.recompute_s = in->times.offload_share = in->times.offload_s = NULL;
    in->times.load_s = NULL;
    return 1;
}

/* Makes the rule's order for the caps times a factor, and moves. */
static int32_t make_moved(const struct rule *rule, const struct kerf_schedule_request *request,
                          const struct kerf_schedule_times *times, const struct search_how *how, struct stand_in *in,
                          double factor, int whole, struct kerf_schedule **ret_schedule, struct kerf_error *err) {
    struct kerf_schedule_request asked = *request;
    struct kerf_schedule *plain = NULL;
    for (int32_t d = 0; times->cap && d < request->devices; d++) in->cap[d] = times->cap[d] * factor;
    if (times->cap) in->times.cap = in->cap;
    in->times.backward_input_s = whole ? in->whole_s : in->backward_input_s;
    in->times.backward_weight_s = whole ? in->none_s : times->backward_weight_s;
    asked.times = rule->search ? &in->times : times;
    asked.certificate = 0;
    int32_t code = rule_make(rule, &asked, how, &plain, err);
    if (code == KERF_OK) code = moves_make(plain, times, whole, ret_schedule, err);
    kerf_schedule_free(plain);
    return code;
}

/* The best schedule so far. */
struct found {
    struct kerf_schedule *schedule;
    int over;
    double step_s;
};

/* Keeps the schedule where it is better, and returns the one that is not kept. */
static struct kerf_schedule *keep_better(struct found *found, struct kerf_schedule *schedule,
                                         const struct kerf_timeline *timeline) {
    const int over = timeline->over_cap >= 0;
    const int better = found->schedule == NULL || over < found->over ||
                       (over == found->over && timeline->step_s < found->step_s * (1 - 1e-12));
    if (!better) return schedule;
    struct kerf_schedule *old = found->schedule;
    *found = (struct found){schedule, over, timeline->step_s};
    return old;
}

static int same_places(const struct kerf_schedule *a, const struct kerf_schedule *b) {
    return a->stages == b->stages && a->replicas == b->replicas && a->slices == b->slices &&
           memcmp(a->device_of, b->device_of, (size_t)(a->stages * a->replicas) * sizeof *a->device_of) == 0;
}

/* What the orders of a rule are tried with. */
struct trying {
    const struct kerf_schedule_times *times;
    const struct search_how *how;
    struct stand_in *in;
    const struct kerf_schedule_request *told; /* whose progress is told; NULL: nobody's */
    int stopped;
    struct kerf_error why, later; /* of the first try, which names the cap that was asked for, and of others */
};

/* Keeps the best of the rule's orders for larger and larger caps; of another rule than that of what is found only those
 * with the same placement. */
static int32_t try_caps(struct trying *trying, const struct rule *rule, const struct kerf_schedule_request *asked,
                        int tries, int other, struct found *found) {
    int32_t code = KERF_OK;
    for (int k = 0; k < tries && code == KERF_OK; k++) {
        const double factor = tries > 1 ? 1 + (trying->in->factor_max - 1) * (k / 2) / (tries / 2 - 1) : 1;
        const struct kerf_schedule_request *told = trying->told;
        struct kerf_schedule *schedule = NULL;
        struct kerf_timeline *timeline = NULL;
        trying->stopped |= k > 0 && told && told->progress && told->progress(told->progress_context, (double)k / tries);
        if (trying->stopped && k > 0) break;
        code = make_moved(rule, asked, trying->times, trying->how, trying->in, factor, k % 2, &schedule,
                          k == 0 && !other ? &trying->why : &trying->later);
        if (code == KERF_EINFEASIBLE && k + 1 < tries) {
            code = KERF_OK;
            continue;
        }
        if (code == KERF_OK && other && !same_places(schedule, found->schedule)) {
            kerf_schedule_free(schedule);
            break;
        }
        if (code == KERF_OK) code = kerf_schedule_simulate(schedule, trying->times, &timeline, &trying->later);
        if (code == KERF_OK && other) schedule->name = rule_best.shown.name; /* whoever made it, best answers */
        if (code == KERF_OK)
            schedule = keep_better(found, schedule, timeline);
        else if (found->schedule)
            code = KERF_OK;
        kerf_timeline_free(timeline);
        kerf_schedule_free(schedule);
    }
    return code;
}

enum { TRIES = 12 };

static int tries_of(const struct rule *rule, const struct kerf_schedule_times *times) {
    return rule->search && times->cap ? TRIES : 1;
}

/* The other rules that put the stages where `best` does, tried as they are for themselves: it is never longer than one
 * that keeps the caps. */
static void try_rules(struct trying *trying, const struct kerf_schedule_request *request, struct found *found) {
    const struct rule *rule;
    trying->told = NULL;
    for (size_t i = 0; (rule = rules_at(i)); i++) {
        struct kerf_schedule_request asked = *request;
        asked.chunks = rule->fixed_chunks ? 0 : found->schedule->chunks;
        asked.replicas = 0;
        asked.group = 0;
        int32_t stages;
        if (rule->default_slices) continue;
        if (rule_stages(rule, &asked, &stages, NULL) != KERF_OK || stages != found->schedule->stages) continue;
        try_caps(trying, rule, &asked, trying->stopped ? 1 : tries_of(rule, trying->times), 1, found);
    }
}

/* The shortest that keeps the caps, of the rule's orders for larger and larger caps; where none does, one that does not
 * keep them, unless the rule itself refuses such caps. */
static int32_t make_with_moves(const struct rule *rule, const struct kerf_schedule_request *request, int32_t stages,
                               const struct kerf_schedule_times *times, const struct search_how *how,
                               struct kerf_schedule **ret_schedule, struct kerf_error *err) {
    struct kerf_schedule_request asked = *request;
    struct found found = {.schedule = NULL};
    struct stand_in in;
    const struct search_how silent = {.threads = how ? how->threads : 1};
    struct trying trying = {.times = times, .how = &silent, .in = &in, .told = request};
    const int tries = tries_of(rule, times);
    int32_t code = KERF_OK;
    if (request->certificate)
        return kerf_error_set(err, KERF_EINVALID, "a certificate is of orders without recomputation and offload");
    if (!stand_in_make(times, request->devices, stages, &in)) code = error_no_memory(&trying.why, "the times");
    asked.search_steps = request->search_steps ? (request->search_steps + tries - 1) / tries : 0;
    asked.search_time_s = request->search_time_s / tries;
    if (tries > 1) asked.progress = NULL; /* each would begin again */
    if (code == KERF_OK) code = try_caps(&trying, rule, &asked, tries, 0, &found);
    if (code == KERF_OK && rule == &rule_best && found.schedule) try_rules(&trying, &asked, &found);
    stand_in_free(&in);
    if (code == KERF_OK && found.over && trying.why.code == KERF_EINFEASIBLE) code = trying.why.code;
    if (code != KERF_OK || found.schedule == NULL) {
        kerf_schedule_free(found.schedule);
        if (trying.why.code == KERF_OK) trying.why = trying.later;
        if (trying.why.code == KERF_EINFEASIBLE && stages > request->devices) /* it may do with less than all chunks */
            kerf_error_set(&trying.why, KERF_EINFEASIBLE,
                           NO_ORDER_FOUND ", with these shares of recomputation and offload");
        if (err) *err = trying.why;
        return trying.why.code;
    }
    *ret_schedule = found.schedule;
    return KERF_OK;
}

static int32_t make_timed(const struct rule *rule, const struct kerf_schedule_request *request,
                          const struct kerf_schedule_times_request *said, const struct search_how *how,
                          struct timed *ret, struct kerf_error *err) {
    struct kerf_schedule_request asked = *request;
    struct timed timed = {NULL, NULL};
    int32_t stages = 0;
    if (said->per_device && asked.chunks == 0 && !rule->fixed_chunks && !rule->any_placement) asked.chunks = 2;
    int32_t code = rule_stages(rule, &asked, &stages, err);
    if (code == KERF_OK) code = kerf_schedule_times_make(asked.devices, stages, said, &timed.times, err);
    asked.times = timed.times;
    if (code == KERF_OK)
        code = move_shares_asked(timed.times, stages)
                   ? make_with_moves(rule, &asked, stages, timed.times, how, &timed.schedule, err)
                   : rule_make(rule, &asked, how, &timed.schedule, err);
    if (code == KERF_OK)
        *ret = timed;
    else
        timed_free(&timed);
    return code;
}

/* How good an answer is: its objective, then how many copies of the parameters it needs, then what it holds. */
struct merit {
    double value;
    int32_t replicas;
    double held;
};

static int is_better(const struct merit *a, const struct merit *b) {
    if (a->value < b->value * (1 - 1e-12) || b->value < a->value * (1 - 1e-12)) return a->value < b->value;
    return a->replicas != b->replicas ? a->replicas < b->replicas : a->held < b->held * (1 - 1e-12);
}

static int32_t judge(const struct timed *timed, enum kerf_objective objective, struct merit *ret,
                     struct kerf_error *err) {
    struct kerf_timeline *timeline = NULL;
    int32_t code = kerf_schedule_simulate(timed->schedule, timed->times, &timeline, err);
    if (code != KERF_OK) return code;
    *ret = (struct merit){.value = objective == KERF_OBJECTIVE_MAKESPAN ? timeline->makespan_s
                                   : objective == KERF_OBJECTIVE_SPAN   ? timeline->span_s
                                                                        : timeline->step_s,
                          .replicas = timed->schedule->replicas};
    for (int32_t d = 0; d < timed->schedule->devices; d++) ret->held = fmax(ret->held, timeline->peak_activations[d]);
    kerf_timeline_free(timeline);
    return KERF_OK;
}

/* One of the searches of KERF_PLACE_ANY: `done` of them are behind it. */
struct turn {
    const struct kerf_schedule_request *whole;
    int32_t done;
    int32_t stopped;
};

enum { TURNS = 4 };

static int32_t tell(void *context, double share) {
    struct turn *turn = context;
    if (turn->whole->progress)
        turn->stopped |= turn->whole->progress(turn->whole->progress_context, (turn->done + share) / TURNS);
    return turn->stopped;
}

/* Every placement has an equal part of the steps and of the time; what one leaves goes to those behind it. */
static int32_t make_any(const struct rule *rule, const struct kerf_schedule_request *request,
                        const struct kerf_schedule_times_request *said, const struct search_how *how, struct timed *ret,
                        struct kerf_error *err) {
    const struct search_how silent = {.threads = how ? how->threads : 1};
    const struct {
        enum kerf_placement placement;
        int32_t chunks;
    } ways[TURNS] = {{KERF_PLACE_LOOP, 1},
                     {KERF_PLACE_LOOP, request->chunks > 1 ? request->chunks : 2},
                     {KERF_PLACE_V, 2},
                     {KERF_PLACE_BOTH, 1}};
    const double begin_s = request->clock ? request->clock(request->clock_context) : 0;
    struct turn turn = {.whole = request};
    struct timed best = {NULL, NULL};
    struct merit least = {0};
    struct kerf_error first_error = {0};
    if (!said->per_device)
        return kerf_error_set(err, KERF_EINVALID,
                              "the placement any needs times of all stages of a device together, as a comparison has");
    for (; turn.done < TURNS && !turn.stopped; turn.done++) {
        struct kerf_schedule_request asked = *request;
        struct timed timed;
        struct merit merit;
        asked.placement = ways[turn.done].placement;
        asked.chunks = ways[turn.done].chunks;
        asked.progress = tell;
        asked.progress_context = &turn;
        if (request->search_steps) asked.search_steps = (request->search_steps + TURNS - 1) / TURNS;
        if (request->clock) {
            const double left_s = begin_s + request->search_time_s - request->clock(request->clock_context);
            asked.search_time_s = fmax(left_s, 0) / (TURNS - turn.done);
        }
        int32_t code =
            make_timed(rule, &asked, said, &silent, &timed, first_error.code == KERF_OK ? &first_error : NULL);
        if (code == KERF_ENOMEM) {
            timed_free(&best);
            return error_no_memory(err, "the search");
        }
        if (code != KERF_OK) continue; /* such as a stage that the times cannot be split for */
        code = judge(&timed, request->objective, &merit, err);
        if (code == KERF_OK && (best.schedule == NULL || is_better(&merit, &least))) {
            timed_free(&best);
            best = timed, least = merit;
        } else {
            timed_free(&timed);
        }
        if (code != KERF_OK) {
            timed_free(&best);
            return code;
        }
    }
    if (best.schedule == NULL) {
        if (err) *err = first_error;
        return first_error.code;
    }
    *ret = best;
    return KERF_OK;
}

int32_t schedule_make_how(const struct kerf_schedule_request *request, const struct kerf_schedule_times_request *times,
                          const struct search_how *how, struct kerf_schedule **ret_schedule,
                          struct kerf_schedule_times **ret_times, struct kerf_error *err) {
    const struct rule *rule = find(request->rule, err);
    struct timed timed;
    if (rule == NULL) return KERF_EUNKNOWN;
    int any = rule->any_placement && request->placement == KERF_PLACE_ANY;
    int32_t code =
        any ? make_any(rule, request, times, how, &timed, err) : make_timed(rule, request, times, how, &timed, err);
    if (code != KERF_OK) return code;
    *ret_schedule = timed.schedule;
    *ret_times = timed.times;
    return KERF_OK;
}

int32_t kerf_schedule_make_timed(const struct kerf_schedule_request *request,
                                 const struct kerf_schedule_times_request *times, struct kerf_schedule **ret_schedule,
                                 struct kerf_schedule_times **ret_times, struct kerf_error *err) {
    return schedule_make_how(request, times, NULL, ret_schedule, ret_times, err);
}

int32_t kerf_schedule_make_threads(const struct kerf_schedule_request *request,
                                   const struct kerf_schedule_times_request *times, int32_t threads,
                                   struct kerf_schedule **ret_schedule, struct kerf_schedule_times **ret_times,
                                   struct kerf_error *err) {
    const struct search_how how = {.threads = threads};
    if (threads < 0) return kerf_error_set(err, KERF_EINVALID, "%d threads are no number of threads", threads);
    return schedule_make_how(request, times, &how, ret_schedule, ret_times, err);
}
