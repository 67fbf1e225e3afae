/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a layout wins: the runner-up, for each dimension the best layout with another value, and what would make another
 * layout win. Everything is found by searching again, in a smaller space or with another system; nothing is guessed from
 * the layouts that were kept.
 *
 * A turn is looked for in two directions, up to FARTHEST times or a FARTHEST-th of what there is. If the same layout wins
 * there, it is taken to win everywhere between. Else the interval is halved by further searches, until the same layout wins
 * within TOLERANCE of the value that is told (of a batch: within a unit, or what is left after ROUNDS). It may have lost
 * and won again before.
 */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "base/error_fill.h"
#include "plan/ask_again.h"
#include "plan/pipeline_rules.h"

enum { ROUNDS = 6, FARTHEST = 16 };
static const double TOLERANCE = 0.005;

/* ---- Dimensions ------------------------------------------------------------------------------------------- */

#define NUMBER(key, member)                                                                                            \
    {                                                                                                                  \
#key, offsetof(struct kerf_layout, member), sizeof((struct kerf_layout *)0)->member,                           \
            offsetof(struct kerf_space, key)                                                                           \
    }
static const struct dimension {
    const char *name;
    size_t offset, size; /* in struct kerf_layout; size 0: a word */
    size_t values;       /* in struct kerf_space */
} dimensions[] = {
    NUMBER(tp, tp1),
    NUMBER(cp, cp),
    NUMBER(pp, pp),
    NUMBER(vpp, vpp),
    NUMBER(ep, ep),
    NUMBER(etp, etp),
    NUMBER(dp, dp),
    NUMBER(zero, zero),
    NUMBER(micro_batch, micro_batch),
    NUMBER(recompute, recompute),
    NUMBER(order, order),
    NUMBER(cp_comm, cp_comm),
    {"schedule", 0, 0, 0},
};
enum { DIMENSIONS = sizeof dimensions / sizeof *dimensions };

static int32_t number_of(const struct kerf_layout *layout, const struct dimension *dimension) {
    const void *at = (const char *)layout + dimension->offset;
    if (dimension->size == sizeof(int64_t)) return (int32_t) * (const int64_t *)at;
    if (dimension->size == sizeof(int32_t)) return *(const int32_t *)at;
    assert(dimension->size == 1);
    return *(const int8_t *)at;
}

static struct kerf_values *values_of(struct kerf_space *space, const struct dimension *dimension) {
    return (struct kerf_values *)(void *)((char *)space + dimension->values);
}

/* Leaves all values but this one. 0: there is no other. */
static int leave_out(struct kerf_values *values, int32_t value) {
    int32_t count = 0;
    if (values->count == 0 || values->are_excluded) {
        if (values->count == KERF_VALUES_MAX) return 0;
        values->are_excluded = 1;
        int32_t at = values->count++;
        for (; at > 0 && values->of[at - 1] > value; at--) values->of[at] = values->of[at - 1];
        values->of[at] = value;
        return 1;
    }
    for (int32_t i = 0; i < values->count; i++)
        if (values->of[i] != value) values->of[count++] = values->of[i];
    values->count = count;
    return count > 0;
}

/* Of full:K all K: another number of layers is not another way. */
static int leave_out_blocks(struct kerf_values *values) {
    int32_t count = 0;
    if (values->count == 0)
        for (int32_t kind = 0; kind < KERF_RECOMPUTE_BLOCK; kind++) values->of[values->count++] = kind;
    for (int32_t i = 0; i < values->count; i++)
        if (values->of[i] < KERF_RECOMPUTE_BLOCK) values->of[count++] = values->of[i];
    values->count = count;
    return count > 0;
}

static int leave_out_schedule(struct kerf_space *space, const char *schedule) {
    int32_t count = 0;
    const char *const *name = pipeline_rules.schedules;
    if (space->num_schedules == 0 && space->is_wide)
        for (; *name && space->num_schedules < KERF_VALUES_MAX; name++)
            strcpy(space->schedules[space->num_schedules++], *name);
    for (int32_t i = 0; i < space->num_schedules; i++)
        if (strcmp(space->schedules[i], schedule) != 0)
            memmove(space->schedules[count++], space->schedules[i], sizeof *space->schedules);
    space->num_schedules = count;
    return count > 0;
}

/* The space without the layout's value of this dimension. 0: nothing is left of it. */
static int restrict_space(struct kerf_space *space, const struct dimension *dimension,
                          const struct kerf_layout *layout) {
    if (dimension->size == 0) return leave_out_schedule(space, layout->schedule);
    if (layout->recompute == KERF_RECOMPUTE_BLOCK && strcmp(dimension->name, "recompute") == 0)
        return leave_out_blocks(&space->recompute);
    if (strcmp(dimension->name, "cp_comm") == 0) { /* of other layouts with cp, where the space has a choice */
        if (layout->cp == 1 || (!space->is_wide && space->cp_comm.count == 0)) return 0;
        if (!leave_out(&space->cp, 1)) return 0;
    }
    return leave_out(values_of(space, dimension), number_of(layout, dimension));
}

/* ---- Other values ----------------------------------------------------------------------------------------- */

/* Whose reasons are looked for. */
struct reasons {
    struct asker *asker;
    const struct kerf_search *search;
    const struct kerf_estimate *winner;
};

/* Where the space leaves open how context parallelism communicates, another way is not another layout. */
static int is_winner(const struct reasons *reasons, const struct kerf_layout *layout) {
    const struct kerf_space *space = reasons->search->problem.space;
    struct kerf_layout a = reasons->winner->layout, b = *layout;
    if (space == NULL || (!space->is_wide && space->cp_comm.count == 0)) a.cp_comm = b.cp_comm = 0;
    return kerf_layout_compare(&a, &b) == 0;
}

static int32_t find_others(struct reasons *reasons, struct kerf_why *why, struct kerf_other *others,
                           struct kerf_error *err) {
    for (size_t d = 0; d < DIMENSIONS && !reasons->asker->stopped; d++) {
        struct kerf_problem problem = reasons->search->problem;
        struct kerf_space space = ask_space(&problem);
        struct kerf_other *other = &others[why->num_others];
        int32_t found;
        ask_step(reasons->asker);
        if (!restrict_space(&space, &dimensions[d], &reasons->winner->layout)) continue;
        problem.space = &space;
        int32_t code = ask_best(reasons->asker, &problem, &other->estimate, &found, err);
        if (code != KERF_OK) return code;
        other->dimension = dimensions[d].name;
        why->num_others += found;
    }
    return KERF_OK;
}

/* ---- Turns ------------------------------------------------------------------------------------------------ */

enum quantity { MEMORY, SCALE_UP, SCALE_OUT, BATCH, QUANTITIES };
static const char *const quantities[QUANTITIES] = {
    [MEMORY] = "memory_capacity_bytes",
    [SCALE_UP] = "scale_up.bandwidth_bytes_per_s",
    [SCALE_OUT] = "scale_out.bandwidth_bytes_per_s",
    [BATCH] = "global_batch",
};

static double value_of(const struct kerf_problem *problem, enum quantity quantity) {
    switch (quantity) {
    case MEMORY: return problem->system.memory_capacity_bytes;
    case SCALE_UP: return problem->system.scale_up.bandwidth_bytes_per_s;
    case SCALE_OUT: return problem->system.scale_out.bandwidth_bytes_per_s;
    case BATCH: return (double)problem->global_batch;
    case QUANTITIES: break;
    }
    assert(!"a quantity");
    return 0;
}

static struct kerf_problem problem_at(const struct reasons *reasons, enum quantity quantity, double value) {
    struct kerf_problem problem = reasons->search->problem;
    struct kerf_text assignment = {0};
    if (quantity == BATCH) {
        problem.global_batch = (int64_t)value;
        return problem;
    }
    kerf_text_printf(&assignment, "%s=", quantities[quantity]);
    kerf_text_number(&assignment, value);
    if (!assignment.failed) kerf_problem_set(&problem.model, &problem.system, assignment.data, NULL);
    assert(assignment.failed || value_of(&problem, quantity) == value);
    kerf_text_free(&assignment);
    return problem;
}

struct turning {
    struct reasons *reasons;
    enum quantity quantity;
    struct kerf_turn *turn; /* what is known so far */
};

/* What wins at a value, if anything does, and whether it is the winner of today. */
static int32_t look(struct turning *turning, double value, int *ret_has_won, int *ret_is_found,
                    struct kerf_estimate *ret_there, struct kerf_error *err) {
    struct kerf_problem problem = problem_at(turning->reasons, turning->quantity, value);
    int32_t found, code = ask_best(turning->reasons->asker, &problem, ret_there, &found, err);
    *ret_is_found = code == KERF_OK && found;
    *ret_has_won = *ret_is_found && is_winner(turning->reasons, &ret_there->layout);
    return code;
}

/* The time of a layout at a value; infinite where it cannot be. */
static double time_at(const struct turning *turning, double value, const struct kerf_layout *layout) {
    struct kerf_problem problem = problem_at(turning->reasons, turning->quantity, value);
    const struct kerf_cost_model *cost_model = turning->reasons->asker->options.cost_model;
    struct kerf_estimate estimate;
    if (kerf_layout_estimate(cost_model, &problem, layout, &estimate, NULL) != KERF_OK) return INFINITY;
    kerf_estimate_release(&estimate);
    return estimate.fits ? estimate.step_time_s : INFINITY;
}

static void keep_turn(struct turning *turning, double value, const struct kerf_estimate *there) {
    turning->turn->at = value;
    turning->turn->winner = *there;
    double present_s = time_at(turning, value, &turning->reasons->winner->layout);
    turning->turn->present_s = isfinite(present_s) ? present_s : 0;
}

/* Between two values that are above 0, one at which the winner of today wins and one where it does not: as near to the first
 * as TOLERANCE. there: what wins at `far`, `is_found` where anything does. */
static int32_t turn_between(struct turning *turning, double near, double far, int is_found, struct kerf_estimate *there,
                            struct kerf_error *err) {
    int32_t code = KERF_OK;
    if (is_found) keep_turn(turning, far, there);
    while (fabs(log(far / near)) > TOLERANCE) {
        double middle = sqrt(near * far);
        int has_won;
        code = look(turning, middle, &has_won, &is_found, there, err);
        if (code != KERF_OK || turning->reasons->asker->stopped) return code;
        if (has_won) {
            near = middle;
            continue;
        }
        far = middle;
        if (is_found) keep_turn(turning, far, there);
    }
    turning->turn->is_end = turning->turn->at != far; /* there nothing wins any more */
    if (turning->turn->is_end) turning->turn->at = far;
    return code;
}

static int32_t turn_up_to(struct turning *turning, double now, double far, struct kerf_error *err) {
    struct kerf_estimate there;
    int has_won, is_found;
    int32_t code = look(turning, far, &has_won, &is_found, &there, err);
    if (code != KERF_OK || has_won || !is_found || turning->reasons->asker->stopped) return code;
    return turn_between(turning, now, far, is_found, &there, err);
}

/* Less memory: the winner is out as soon as there is less than it needs, or less than is safe. */
static int32_t turn_of_less_memory(struct turning *turning, double now, struct kerf_error *err) {
    double needed = turning->reasons->winner->memory_bytes, near = needed * (1 + 1e-9), far = needed * (1 - 1e-9);
    struct kerf_estimate there;
    int has_won = 1, is_found;
    int32_t code = near < now ? look(turning, near, &has_won, &is_found, &there, err) : KERF_OK;
    if (code != KERF_OK || turning->reasons->asker->stopped) return code;
    if (!has_won) return turn_between(turning, now, near, is_found, &there, err);
    code = look(turning, far, &has_won, &is_found, &there, err);
    if (code != KERF_OK || turning->reasons->asker->stopped) return code;
    return turn_between(turning, near < now ? near : now, far, is_found, &there, err);
}

/* Batches that the winner can have are multiples of a unit. */
static int32_t turn_of_batch(struct turning *turning, int64_t now, int64_t far, struct kerf_error *err) {
    const struct kerf_layout *l = &turning->reasons->winner->layout;
    int64_t unit = l->dp * l->micro_batch * (l->vpp > 1 ? l->pp : 1), near = now;
    int32_t code = KERF_OK;
    if (unit > now || now % unit != 0) unit = l->dp * l->micro_batch;
    for (int64_t next = now; code == KERF_OK && next != far;) { /* by halves or doubles, to the first that turns */
        int64_t step = far > now ? 2 * next : next / 2 / unit * unit;
        struct kerf_estimate there;
        int has_won, is_found;
        next = far > now ? (step < far ? step : far) : (step > far ? step : far);
        code = look(turning, (double)next, &has_won, &is_found, &there, err);
        if (code != KERF_OK || turning->reasons->asker->stopped) return code;
        if (has_won || !is_found) {
            near = next;
            continue;
        }
        keep_turn(turning, (double)next, &there);
        far = next;
        break;
    }
    if (turning->turn->at == 0) return code;
    for (int round = 0; round < ROUNDS && code == KERF_OK; round++) {
        int64_t middle = (near + far) / 2 / unit * unit;
        struct kerf_estimate there;
        int has_won, is_found;
        if (middle == near || middle == far || middle <= 0) break;
        code = look(turning, (double)middle, &has_won, &is_found, &there, err);
        if (code != KERF_OK || turning->reasons->asker->stopped) break;
        if (is_found && !has_won)
            keep_turn(turning, (double)middle, &there), far = middle;
        else
            near = middle;
    }
    return code;
}

static int32_t find_turn(struct turning *turning, int is_up, struct kerf_error *err) {
    const struct reasons *reasons = turning->reasons;
    double now = value_of(&reasons->search->problem, turning->quantity);
    double far = is_up ? now * FARTHEST : now / FARTHEST;
    *turning->turn = (struct kerf_turn){.quantity = quantities[turning->quantity], .now = now, .limit = far};
    switch (turning->quantity) {
    case MEMORY:
        if (is_up) return turn_up_to(turning, now, far, err);
        turning->turn->limit = reasons->winner->memory_bytes;
        return turn_of_less_memory(turning, now, err);
    case SCALE_UP:
    case SCALE_OUT: return turn_up_to(turning, now, far, err);
    case BATCH: {
        const struct kerf_layout *l = &reasons->winner->layout;
        int64_t batch = reasons->search->problem.global_batch, unit = l->dp * l->micro_batch, least = batch / FARTHEST;
        least = least / unit * unit < unit ? unit : least / unit * unit;
        int64_t most = batch > KERF_COUNT_MAX / FARTHEST ? KERF_COUNT_MAX / unit * unit : batch * FARTHEST;
        turning->turn->limit = (double)(is_up ? most : least);
        if (!is_up && least == batch) return KERF_OK;
        return turn_of_batch(turning, batch, is_up ? most : least, err);
    }
    case QUANTITIES: break;
    }
    assert(!"a quantity");
    return KERF_OK;
}

static int32_t find_turns(struct reasons *reasons, struct kerf_why *why, struct kerf_turn *turns,
                          struct kerf_error *err) {
    int32_t code = KERF_OK;
    for (int quantity = 0; quantity < QUANTITIES; quantity++)
        for (int is_up = 0; is_up <= 1 && code == KERF_OK; is_up++) {
            struct turning turning = {reasons, (enum quantity)quantity, &turns[why->num_turns]};
            ask_step(reasons->asker);
            if (reasons->asker->stopped) return KERF_OK;
            code = find_turn(&turning, is_up, err);
            why->num_turns += code == KERF_OK && !reasons->asker->stopped;
        }
    return code;
}

/* ---- All of it -------------------------------------------------------------------------------------------- */

/* The second best, which a search for one does not keep. */
static int32_t find_runner_up(struct reasons *reasons, struct kerf_why *why, struct kerf_error *err) {
    const struct kerf_search *search = reasons->search;
    struct kerf_estimate both[2];
    int32_t found = search->num_plans, code = KERF_OK;
    ask_step(reasons->asker);
    if (found > 1) {
        int good = 1;
        both[1] = ask_kept(reasons->asker, &search->plans[1], &good);
        if (!good) code = error_no_memory(err, "the runner-up");
    } else {
        reasons->asker->options.top = 2;
        code = ask_best(reasons->asker, &search->problem, both, &found, err);
        reasons->asker->options.top = 1;
    }
    if (code == KERF_OK && found > 1) why->runner_up = both[1], why->has_runner_up = 1;
    return code;
}

static int32_t explain(struct reasons *reasons, struct arena *arena, const struct kerf_why **ret_why,
                       struct kerf_error *err) {
    struct kerf_why *why = arena_alloc(arena, 1, sizeof *why);
    struct kerf_other *others = arena_alloc(arena, DIMENSIONS, sizeof *others);
    struct kerf_turn *turns = arena_alloc(arena, (size_t)2 * QUANTITIES, sizeof *turns);
    if (why == NULL || others == NULL || turns == NULL) return error_no_memory(err, "the reasons");
    why->others = others, why->turns = turns;
    int32_t code = find_runner_up(reasons, why, err);
    if (code == KERF_OK) code = find_others(reasons, why, others, err);
    if (code == KERF_OK) code = find_turns(reasons, why, turns, err);
    why->complete = !reasons->asker->stopped;
    *ret_why = why;
    return code;
}

int32_t kerf_plan_why(struct kerf_plan *plan, const struct kerf_plan_options *options, struct kerf_error *err) {
    enum { STEPS = 1 + DIMENSIONS + 2 * QUANTITIES };
    struct owned_plan *owned = owned_of(plan);
    struct asker asker;
    int32_t code = KERF_OK;
    ask_begin(&asker, options, owned, 1, (double)plan->num_searches * STEPS);
    for (size_t i = 0; i < plan->num_searches && code == KERF_OK; i++) {
        struct kerf_search *search = &owned->searches[i];
        struct reasons reasons = {&asker, search, search->plans};
        ask_share(&asker, (double)i / (double)plan->num_searches);
        if (search->num_plans == 0 || search->problem.strategy != KERF_STRATEGY_HYBRID || asker.stopped) continue;
        code = explain(&reasons, &owned->arena, &search->why, err);
    }
    return code;
}
