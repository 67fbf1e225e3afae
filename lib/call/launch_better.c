/* SPDX-License-Identifier: Apache-2.0 */
#include "call/launch_better.h"

#include <string.h>
#include "base/error_fill.h"
#include "base/quantity.h"

/* Room for one more change; NULL when memory ran out. */
static struct launch_key_change *new_change(struct launch_better *better) {
    if (better->num_changes == better->room) {
        int32_t room = better->room ? 2 * better->room : 16;
        struct launch_key_change *grown = arena_alloc(&better->arena, (size_t)room, sizeof *grown);
        if (grown == NULL) return NULL;
        if (better->num_changes) memcpy(grown, better->changes, (size_t)better->num_changes * sizeof *grown);
        better->changes = grown;
        better->room = room;
    }
    return &better->changes[better->num_changes++];
}

static const char *copy_of(struct launch_better *better, const char *text) {
    const char *copy = text ? arena_strdup(&better->arena, text) : NULL;
    better->failed |= text && copy == NULL;
    return copy;
}

static void add_change(void *context, const char *key, const char *before, const char *after) {
    struct launch_better *better = context;
    if (after == NULL && !kerf_launch_has_key(better->launch, key)) return; /* it was never there */
    struct launch_key_change *change = new_change(better);
    better->failed |= change == NULL;
    if (change == NULL) return;
    change->key = copy_of(better, key);
    change->before = copy_of(better, before);
    change->after = copy_of(better, after);
}

int32_t launch_better_find(const struct kerf_launch *launch, const struct kerf_layout *today,
                           const struct kerf_cost_model *cost_model, const struct kerf_plan *plan,
                           struct launch_better *ret_better, struct kerf_error *err) {
    struct launch_better better = {.launch = launch, .search = kerf_plan_best(plan, NULL)};
    struct kerf_problem problem = (better.search ? better.search : &plan->searches[0])->problem;
    problem.space = NULL; /* the launch's layout is as it is */
    if (problem.gpus != launch->gpus)
        return kerf_error_set(err, KERF_EINVALID,
                              "--launch compares layouts of its own %lld accelerators, and --gpus asks for %lld",
                              (long long)launch->gpus, (long long)problem.gpus);
    int32_t code = kerf_layout_estimate(cost_model, &problem, today, &better.today, err);
    if (code != KERF_OK) return code;
    const struct kerf_estimate *best = better.search ? &better.search->plans[0] : NULL;
    better.is_today_best = best == NULL || (better.today.fits && better.today.step_time_s <= best->step_time_s);
    enum kerf_framework framework = (enum kerf_framework)launch->framework;
    if (!better.is_today_best && kerf_framework_runner(framework)) {
        struct kerf_error why;
        /* a launch that kerf would not write itself has no list of changes */
        (void)kerf_launch_changes(framework, &problem, &better.today.layout, &best->layout, add_change, &better, &why);
    }
    if (better.failed) {
        launch_better_free(&better);
        return error_no_memory(err, "the changes");
    }
    *ret_better = better;
    return KERF_OK;
}

void launch_better_free(struct launch_better *better) {
    arena_free(&better->arena);
    kerf_estimate_release(&better->today);
    *better = (struct launch_better){.num_changes = 0};
}

void launch_better_json(struct kerf_json *json, const struct launch_better *better) {
    const struct kerf_estimate *today = &better->today;
    kerf_json_open(json, "launch", '{');
    kerf_json_string(json, "framework", kerf_framework_name((enum kerf_framework)better->launch->framework));
    kerf_json_number(json, "step_time_s", today->step_time_s);
    kerf_json_number(json, "memory_bytes", today->memory_bytes);
    kerf_json_boolean(json, "fits", today->fits);
    kerf_layout_json(json, "layout", &today->layout);
    kerf_json_open(json, "invalid", '[');
    for (int32_t i = 0; i < better->launch->num_invalid; i++) kerf_json_string(json, NULL, better->launch->invalid[i]);
    kerf_json_close(json, ']');
    kerf_json_open(json, "ignored", '[');
    for (int32_t i = 0; i < better->launch->num_ignored; i++) kerf_json_string(json, NULL, better->launch->ignored[i]);
    kerf_json_close(json, ']');
    if (better->search) {
        kerf_json_number(json, "saves_s", today->step_time_s - better->search->plans[0].step_time_s);
        kerf_json_number(json, "saves_bytes", today->memory_bytes - better->search->plans[0].memory_bytes);
    } else {
        kerf_json_null(json, "saves_s");
        kerf_json_null(json, "saves_bytes");
    }
    kerf_json_close(json, '}');
    kerf_json_open(json, "changes", '[');
    for (int32_t i = 0; i < better->num_changes; i++) {
        kerf_json_open(json, NULL, '{');
        kerf_json_string(json, "key", better->changes[i].key);
        kerf_json_string(json, "before", better->changes[i].before);
        kerf_json_string(json, "after", better->changes[i].after);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
}

/* "1.2 s less", "300 MB more". */
static void difference(struct kerf_text *out, double before, double after,
                       void (*quantity)(struct kerf_text *out, double value)) {
    quantity(out, before > after ? before - after : after - before);
    kerf_text_add(out, before >= after ? " less" : " more");
}

void launch_better_text(struct kerf_text *out, const struct launch_better *better) {
    const struct kerf_estimate *today = &better->today;
    kerf_text_add(out, "The launch takes ");
    quantity_seconds(out, today->step_time_s);
    kerf_text_add(out, " a step and ");
    quantity_bytes(out, today->memory_bytes);
    kerf_text_add(out, today->fits ? ".\n" : " of an accelerator, which do not fit.\n");
    if (better->search == NULL) {
        kerf_text_add(out, "No layout that was searched fits.\n");
        return;
    }
    if (better->is_today_best) {
        kerf_text_add(out, "No layout that was searched is faster.\n");
        return;
    }
    const struct kerf_estimate *best = &better->search->plans[0];
    kerf_text_add(out, "The best layout takes ");
    difference(out, today->step_time_s, best->step_time_s, quantity_seconds);
    kerf_text_printf(out, " (%.1f %%) and ", 100 * (best->step_time_s / today->step_time_s - 1));
    difference(out, today->memory_bytes, best->memory_bytes, quantity_bytes);
    if (better->num_changes == 0) {
        kerf_text_printf(out, ".\nkerf does not write such a launch of %s, and cannot say which keys change.\n",
                         kerf_framework_name((enum kerf_framework)better->launch->framework));
        return;
    }
    kerf_text_add(out, ":\n");
    for (int32_t i = 0; i < better->num_changes; i++) {
        const struct launch_key_change *change = &better->changes[i];
        const char *space = change->before && change->before[0] ? " " : "";
        const char *dashes =
            strchr(change->key, '.') || better->launch->framework == KERF_FRAMEWORK_NANOTRON ? "" : "--";
        if (change->before) kerf_text_printf(out, "  - %s%s%s%s\n", dashes, change->key, space, change->before);
        space = change->after && change->after[0] ? " " : "";
        if (change->after) kerf_text_printf(out, "  + %s%s%s%s\n", dashes, change->key, space, change->after);
    }
}
