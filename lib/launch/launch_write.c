/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a launch: whether the framework can run the problem in the layout, and the text. What a framework can run is a
 * table and a few rules in its own file; the same rules tell a search which layouts to look at (kerf_framework_narrow).
 */
#include <stdio.h>
#include <string.h>
#include "base/error_fill.h"
#include "launch/launch_flags.h"
#include "launch/launch_writing.h"
#include "spec/layout.h"

typedef long long ll;

static const struct launch_writer *const launch_writers[KERF_FRAMEWORK_COUNT] = {
    [KERF_FRAMEWORK_MEGATRON] = &launch_write_megatron,
    [KERF_FRAMEWORK_MEGATRON_DEEPSPEED] = &launch_write_megatron_deepspeed,
    [KERF_FRAMEWORK_TORCHTITAN] = &launch_write_torchtitan,
    [KERF_FRAMEWORK_NANOTRON] = &launch_write_nanotron,
    [KERF_FRAMEWORK_MEGATRON_BRIDGE] = &launch_write_megatron_bridge,
};

const struct kerf_runner *kerf_framework_runner(enum kerf_framework framework) {
    const struct launch_writer *writer = (uint32_t)framework < KERF_FRAMEWORK_COUNT ? launch_writers[framework] : NULL;
    return writer ? &writer->runner : NULL;
}

const char *kerf_framework_ending(enum kerf_framework framework) {
    return kerf_framework_runner(framework) ? launch_writers[framework]->ending : NULL;
}

static int32_t find_writer(enum kerf_framework framework, const struct launch_writer **ret, struct kerf_error *err) {
    struct kerf_text names = {0};
    const int exists = (uint32_t)framework < KERF_FRAMEWORK_COUNT;
    *ret = exists ? launch_writers[framework] : NULL;
    if (*ret != NULL) return KERF_OK;
    if (!exists) {
        kerf_error_set(err, KERF_EINVALID, "framework %d does not exist", (int)framework);
        return KERF_EINVALID; /* said outright, for the analyser */
    }
    for (int i = 0; i < KERF_FRAMEWORK_COUNT; i++)
        if (launch_writers[i])
            kerf_text_printf(&names, "%s%s", names.length ? ", " : "", kerf_framework_name((enum kerf_framework)i));
    kerf_error_set(err, KERF_EINVALID, "kerf reads launches of %s and writes none; it writes those of %s",
                   kerf_framework_name(framework), names.data ? names.data : "");
    kerf_text_free(&names);
    return KERF_EINVALID;
}

/* The problem without a layout. */
static int32_t check_problem(const struct launch_writer *writer, const struct kerf_problem *problem,
                             struct kerf_launch_model *ret_shape, struct kerf_error *err) {
    struct kerf_text why = {0};
    const char *name = kerf_framework_name(writer->framework);
    int32_t code = KERF_OK;
    if (problem->strategy != KERF_STRATEGY_HYBRID)
        return kerf_error_set(err, KERF_EINVALID, "%s runs layouts of strategy hybrid alone", name);
    if (!launch_shape_of(problem, ret_shape, &why))
        code = kerf_error_set(err, KERF_EINVALID, "a launch of %s cannot say what %s has: %s", name,
                              problem->model.name, why.data ? why.data : "");
    else if (writer->refuses_model(problem, ret_shape, &why))
        code = kerf_error_set(err, KERF_EINVALID, "%s cannot run %s: %s", name, problem->model.name,
                              why.data ? why.data : "");
    else if (!launch_has_bit(writer->precisions, problem->precision))
        code = kerf_error_set(err, KERF_EINVALID, "%s does not compute in %s", name,
                              kerf_precision_name(problem->precision));
    else if (problem->has_bf16_gradients && !writer->has_bf16_gradients)
        code = kerf_error_set(err, KERF_EINVALID, "%s sums gradients in fp32 alone", name);
    kerf_text_free(&why);
    return code;
}

/* ---- The nearest layout ----------------------------------------------------------------------------------------------- */

/* Changes what the table does not have to what it has. Memory should not grow, but where there is no other way. */
static void mend(const struct launch_writer *w, const struct kerf_problem *problem, struct kerf_layout *l) {
    if (!launch_writer_has_zero(w, l)) {
        int8_t was = l->zero;
        while (l->zero < 3 && !launch_writer_has_zero(w, l)) l->zero++;
        if (!launch_writer_has_zero(w, l))
            for (l->zero = was; l->zero > 0 && !launch_writer_has_zero(w, l);) l->zero--;
    }
    if (!launch_has_bit(w->recomputes, l->recompute)) l->recompute = KERF_RECOMPUTE_FULL, l->recompute_layers = 0;
    if (l->cp > 1 && w->cp_comms && (l->cp_comm == KERF_CP_COMM_ANY || !launch_has_bit(w->cp_comms, l->cp_comm)))
        for (int8_t comm = KERF_CP_COMM_COUNT - 1; comm > KERF_CP_COMM_ANY; comm--)
            if (launch_has_bit(w->cp_comms, comm)) l->cp_comm = comm;
    if (l->cp > 1 && w->cp_comms == 0) l->dp *= l->cp, l->cp = 1, l->cp_comm = KERF_CP_COMM_ANY;
    if (l->vpp > 1 && !w->has_virtual_stages) l->vpp = 1, l->stage_layers = NULL;
    if (l->pp > 1 &&
        (!launch_writer_has_schedule(w, l->schedule) || (l->vpp == 1) != (strcmp(l->schedule, "1f1b") == 0)))
        strcpy(l->schedule, l->vpp > 1 ? "interleaved_1f1b" : "1f1b");
    if (!launch_has_bit(w->orders, l->order)) l->order = KERF_ORDER_TP_CP_DP_PP;
    if (l->ep > 1 && !w->has_experts) l->ep = 1;
    if (!launch_writer_refuses(w, problem, l, NULL)) return;
    /* rules of the framework's own: experts, then tensor parallelism, are what they are about */
    struct kerf_layout whole = *l;
    for (int64_t tp = whole.tp1; tp >= 1; tp--) {
        if (whole.tp1 % tp) continue;
        for (int32_t e = 0; e < 2; e++) {
            *l = whole;
            l->tp1 = tp, l->dp = whole.dp * (whole.tp1 / tp);
            l->etp = e ? (int32_t)tp : 1;
            if (l->ep > l->dp * l->cp * l->tp1 / l->etp) continue;
            if (!launch_writer_refuses(w, problem, l, NULL)) return;
        }
    }
    *l = whole;
}

int32_t kerf_framework_check(enum kerf_framework framework, const struct kerf_problem *problem,
                             const struct kerf_layout *layout, struct kerf_layout *ret_nearest,
                             struct kerf_error *err) {
    const struct launch_writer *writer;
    struct kerf_launch_model shape;
    struct kerf_text why = {0};
    int32_t code = find_writer(framework, &writer, err);
    if (ret_nearest) *ret_nearest = (struct kerf_layout){.dp = 0};
    if (code == KERF_OK) code = check_problem(writer, problem, &shape, err);
    if (code == KERF_OK && launch_writer_refuses(writer, problem, layout, &why)) {
        struct kerf_layout nearest = *layout;
        struct kerf_text text = {0};
        mend(writer, problem, &nearest);
        int is_found = !launch_writer_refuses(writer, problem, &nearest, NULL);
        if (is_found) layout_hybrid_text(&text, &nearest);
        code = kerf_error_set(err, KERF_EINVALID, "%s has no %s%s%s", kerf_framework_name(framework),
                              why.data ? why.data : "", is_found ? "; the nearest layout that it can run: " : "",
                              is_found && text.data ? text.data : "");
        if (is_found && ret_nearest) *ret_nearest = nearest;
        kerf_text_free(&text);
    }
    kerf_text_free(&why);
    return code;
}

/* ---- A space of layouts ------------------------------------------------------------------------------------------------ */

static int is_named(const struct kerf_values *values) { return values->count > 0 && !values->are_excluded; }

/* What is named must be something that the framework has. */
static int32_t check_named(const struct launch_writer *w, const struct kerf_space *space, struct kerf_error *err) {
    const char *name = kerf_framework_name(w->framework);
    for (int32_t i = 0; i < space->num_schedules; i++)
        if (!launch_writer_has_schedule(w, space->schedules[i]))
            return kerf_error_set(err, KERF_EINVALID, "%s has no schedule %s", name, space->schedules[i]);
    for (int32_t i = 0; is_named(&space->zero) && i < space->zero.count; i++)
        if (!launch_has_bit(w->zeros | w->zeros_of_stages, space->zero.of[i]))
            return kerf_error_set(err, KERF_EINVALID, "%s has no ZeRO stage %d", name, space->zero.of[i]);
    for (int32_t i = 0; is_named(&space->recompute) && i < space->recompute.count; i++) {
        int32_t kind = space->recompute.of[i] > 100 ? KERF_RECOMPUTE_BLOCK : space->recompute.of[i];
        if (!launch_has_bit(w->recomputes, kind))
            return kerf_error_set(err, KERF_EINVALID, "%s has no recomputation %s%s", name,
                                  kerf_recompute_name((enum kerf_recompute)kind),
                                  kind == KERF_RECOMPUTE_BLOCK ? " of some layers" : "");
    }
    for (int32_t i = 0; is_named(&space->cp_comm) && i < space->cp_comm.count; i++)
        if (!launch_has_bit(w->cp_comms, space->cp_comm.of[i]))
            return kerf_error_set(err, KERF_EINVALID, "%s has no cp_comm %s", name,
                                  kerf_cp_comm_name((enum kerf_cp_comm)space->cp_comm.of[i]));
    for (int32_t i = 0; is_named(&space->order) && i < space->order.count; i++)
        if (!launch_has_bit(w->orders, space->order.of[i]))
            return kerf_error_set(err, KERF_EINVALID, "%s has no order %s", name,
                                  kerf_order_name((enum kerf_order)space->order.of[i]));
    const struct {
        const char *key;
        const struct kerf_values *values;
        int has;
    } sizes[] = {{"vpp", &space->vpp, w->has_virtual_stages},
                 {"cp", &space->cp, w->cp_comms},
                 {"ep", &space->ep, w->has_experts}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!sizes[i].has && is_named(sizes[i].values) && sizes[i].values->of[0] > 1)
            return kerf_error_set(err, KERF_EINVALID, "%s has no %s above 1", name, sizes[i].key);
    if (space->stage_layers && w->runner.split)
        return kerf_error_set(err, KERF_EINVALID, "%s splits the layers by its own rule: leave out stage_layers", name);
    return KERF_OK;
}

int32_t kerf_framework_narrow(enum kerf_framework framework, const struct kerf_problem *problem,
                              struct kerf_space *space, struct kerf_error *err) {
    const struct launch_writer *writer;
    struct kerf_launch_model shape;
    int32_t code = find_writer(framework, &writer, err);
    if (code == KERF_OK) code = check_problem(writer, problem, &shape, err);
    if (code == KERF_OK) code = check_named(writer, space, err);
    if (code != KERF_OK) return code;
    space->runner = &writer->runner;
    return KERF_OK;
}

/* ---- The text ------------------------------------------------------------------------------------------------------------- */

/* The table's name of a key that is written; NULL: it is the launcher's. */
static const char *table_key(struct launch_writing *w, const struct launch_key *key) {
    if (key->group && strcmp(key->group, "LAUNCH_ARGS") == 0) return NULL;
    if (key->group == NULL || strcmp(key->group, "ds_config.json") != 0) return key->key;
    return arena_printf(w->arena, "ds.%s", key->key);
}

/* The release must have every key. */
static int32_t check_keys(enum kerf_framework framework, struct launch_writing *w, struct kerf_error *err) {
    const struct launch_flags *flags = launch_flags_of(framework);
    for (int32_t i = 0; flags && i < w->count; i++) {
        const char *name = table_key(w, &w->keys[i]);
        const struct launch_flag *flag = name ? launch_flags_find(flags, name) : NULL;
        if (flag && !launch_version_has(flags, w->version, flag))
            return kerf_error_set(err, KERF_EINVALID, "%s %s has no %s, which this layout needs: %s %s %s",
                                  kerf_framework_name(framework), flags->versions[w->version], flag->key,
                                  flag->until ? "the last with it is" : "it came with", kerf_framework_name(framework),
                                  flag->until ? flag->until : flag->since);
    }
    return KERF_OK;
}

/* The release must run what no key tells. */
static int32_t check_release(const struct launch_writer *writer, const struct launch_writing *w,
                             struct kerf_error *err) {
    const struct launch_flags *flags = launch_flags_of(writer->framework);
    const char *name = kerf_framework_name(writer->framework);
    struct kerf_text what = {0};
    int32_t code = KERF_OK;
    const char *since = writer->needs_release ? writer->needs_release(w, &what) : NULL;
    if (since && !launch_version_reaches(flags, w->version, since))
        code = kerf_error_set(err, KERF_EINVALID, "%s %s has no %s: it came with %s %s", name,
                              flags->versions[w->version], what.data ? what.data : "", name, since);
    kerf_text_free(&what);
    return code;
}

/* Begins the writing of a layout that can be written; its keys are there then. */
static int32_t write_keys(enum kerf_framework framework, const char *version, const struct kerf_problem *problem,
                          const struct kerf_layout *layout, struct arena *arena, struct launch_writing *ret,
                          const struct launch_writer **ret_writer, struct kerf_error *err) {
    *ret = (struct launch_writing){.arena = arena, .problem = problem, .layout = layout};
    int32_t code = kerf_framework_check(framework, problem, layout, NULL, err);
    if (code == KERF_OK) code = find_writer(framework, ret_writer, err);
    if (code == KERF_OK)
        code = launch_version(framework, version ? version : (*ret_writer)->version, &ret->version, err);
    if (code != KERF_OK) return code;
    launch_shape_of(problem, &ret->shape, NULL);
    if (layout->pp * layout->vpp > 1 && layout->stage_layers == NULL && !writing_is_even(ret))
        return kerf_error_set(
            err, KERF_EINVALID,
            "%lld layers do not divide over pp %lld x vpp %d, and the layout does not say which stage "
            "has how many: add stage_layers",
            (ll)problem->model.num_hidden_layers, (ll)layout->pp, layout->vpp);
    code = check_release(*ret_writer, ret, err);
    if (code != KERF_OK) return code;
    (*ret_writer)->add_keys(ret);
    return ret->failed ? error_no_memory(err, "a launch") : check_keys(framework, ret, err);
}

int32_t kerf_launch_write(enum kerf_framework framework, const char *version, const struct kerf_problem *problem,
                          const struct kerf_layout *layout, struct kerf_text *ret_text, struct kerf_error *err) {
    struct arena arena = {0};
    struct launch_writing writing;
    const struct launch_writer *writer;
    int32_t code = write_keys(framework, version, problem, layout, &arena, &writing, &writer, err);
    if (code == KERF_OK) writer->print(&writing, ret_text);
    if (code == KERF_OK && ret_text->failed) code = error_no_memory(err, "a launch");
    arena_free(&arena);
    return code;
}

/* ---- What changes ---------------------------------------------------------------------------------------------------------- */

static const struct launch_key *find_key(const struct launch_writing *w, const struct launch_key *wanted) {
    for (int32_t i = 0; i < w->count; i++) {
        const struct launch_key *key = &w->keys[i];
        int same_group =
            key->group && wanted->group ? strcmp(key->group, wanted->group) == 0 : key->group == wanted->group;
        if (same_group && strcmp(key->key, wanted->key) == 0) return key;
    }
    return NULL;
}

static int same_value(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

int32_t kerf_launch_changes(enum kerf_framework framework, const struct kerf_problem *problem,
                            const struct kerf_layout *from, const struct kerf_layout *to, kerf_launch_change tell,
                            void *context, struct kerf_error *err) {
    struct arena arena = {0};
    struct launch_writing before, after;
    const struct launch_writer *writer;
    int32_t code = write_keys(framework, NULL, problem, from, &arena, &before, &writer, err);
    if (code == KERF_OK) code = write_keys(framework, NULL, problem, to, &arena, &after, &writer, err);
    for (int32_t i = 0; code == KERF_OK && i < before.count; i++) {
        const struct launch_key *key = &before.keys[i], *other = find_key(&after, key);
        if (other == NULL)
            tell(context, key->key, key->value ? key->value : "", NULL);
        else if (!same_value(key->value, other->value))
            tell(context, key->key, key->value ? key->value : "", other->value ? other->value : "");
    }
    for (int32_t i = 0; code == KERF_OK && i < after.count; i++)
        if (!find_key(&before, &after.keys[i]))
            tell(context, after.keys[i].key, NULL, after.keys[i].value ? after.keys[i].value : "");
    arena_free(&arena);
    return code;
}
