/* SPDX-License-Identifier: Apache-2.0 */
#include "call/set_without_effect.h"

#include <string.h>
#include "kerf/plan.h"

/* The assignments of all values, in one text: "a=1,b=2". */
static void join(const struct string_list *sets, struct kerf_text *all) {
    for (int32_t i = 0; i < sets->count; i++) kerf_text_printf(all, "%s%s", i ? "," : "", sets->items[i]);
}

void set_without_effect_find(const struct string_list *sets, set_same_answer is_same, void *context,
                             struct kerf_text *ret_sets) {
    struct kerf_text all = {0}, rest = {0};
    join(sets, &all);
    for (size_t at = 0, length; !all.failed && at < all.length; at += length + 1) {
        const char *one = all.data + at;
        length = strcspn(one, ",");
        size_t after = at + length + 1;
        kerf_text_clear(&rest);
        kerf_text_write(&rest, all.data, at);
        if (after < all.length) kerf_text_add(&rest, all.data + after);
        if (rest.length && rest.data[rest.length - 1] == ',') rest.data[--rest.length] = 0;
        const char *others = rest.data;
        const struct string_list without = {.items = &others, .count = rest.length > 0};
        if (rest.failed || !is_same(context, &without)) continue;
        kerf_text_add(ret_sets, ret_sets->length ? ", " : "");
        kerf_text_write(ret_sets, one, length);
    }
    kerf_text_free(&all);
    kerf_text_free(&rest);
}

void set_without_effect_json(struct kerf_json *json, const struct kerf_text *sets) {
    struct kerf_text one = {0};
    if (sets->length == 0 || sets->failed) return;
    kerf_json_open(json, "set_without_effect", '[');
    for (const char *at = sets->data; *at; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ",");
        kerf_text_clear(&one);
        kerf_text_write(&one, at, length);
        if (!one.failed) kerf_json_string(json, NULL, one.data);
        at += length;
    }
    kerf_json_close(json, ']');
    kerf_text_free(&one);
}

static int same_parts(const struct kerf_parts *a, const struct kerf_parts *b) {
    int same = a->count == b->count;
    for (int32_t i = 0; same && i < a->count; i++) same = a->of[i].value == b->of[i].value;
    return same;
}

int set_same_cost(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                  const struct kerf_problem *other, const struct kerf_estimate *estimate) {
    struct kerf_estimate again;
    struct kerf_error err;
    struct kerf_problem one = *other;
    one.space = NULL; /* the layout is given */
    /* what fits is another question than what it costs */
    if (one.system.memory_capacity_bytes != problem->system.memory_capacity_bytes) return 0;
    if (kerf_layout_estimate(cost_model, &one, &estimate->layout, &again, &err) != KERF_OK) return 0;
    int same = again.step_time_s == estimate->step_time_s && again.memory_bytes == estimate->memory_bytes &&
               again.step_low_s == estimate->step_low_s && again.step_high_s == estimate->step_high_s &&
               again.mfu == estimate->mfu && again.flops_per_gpu == estimate->flops_per_gpu &&
               same_parts(&again.time_s, &estimate->time_s) && same_parts(&again.memory, &estimate->memory);
    kerf_estimate_release(&again);
    return same;
}
