/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The space of strategy hybrid against an enumeration written from docs/space.md with nothing clever in it: the same
 * layouts, each once, each one that kerf_layout_check takes and whose text reads back; and the counts of every prefix.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/strategy.h"
#include "kerf/cost.h"

/* ---- Problems --------------------------------------------------------------------------------------------- */

static const char *const llama =
    "{\"model_type\":\"llama\",\"hidden_size\":4096,\"intermediate_size\":14336,\"num_hidden_layers\":32,"
    "\"num_attention_heads\":32,\"num_key_value_heads\":8,\"vocab_size\":128256,\"max_position_embeddings\":8192}";
static const char *const odd =
    "{\"model_type\":\"llama\",\"hidden_size\":1536,\"intermediate_size\":4608,\"num_hidden_layers\":13,"
    "\"num_attention_heads\":12,\"num_key_value_heads\":4,\"vocab_size\":50000,\"max_position_embeddings\":4096}";
static const char *const moe =
    "{\"model_type\":\"mixtral\",\"hidden_size\":2048,\"intermediate_size\":7168,\"num_hidden_layers\":16,"
    "\"num_attention_heads\":32,\"num_key_value_heads\":8,\"num_local_experts\":8,\"num_experts_per_tok\":2,"
    "\"vocab_size\":32000,\"max_position_embeddings\":8192}";
static const char *const small_moe =
    "{\"model_type\":\"mixtral\",\"hidden_size\":768,\"intermediate_size\":1024,\"num_hidden_layers\":6,"
    "\"num_attention_heads\":12,\"num_key_value_heads\":6,\"num_local_experts\":6,\"num_experts_per_tok\":2,"
    "\"vocab_size\":32000,\"max_position_embeddings\":8192}";

static struct kerf_problem problem_of(const char *json, int64_t gpus, int64_t batch, int64_t seq) {
    struct kerf_problem problem;
    struct kerf_error err;
    memset(&problem, 0, sizeof problem);
    if (kerf_model_parse(json, strlen(json), "m.json", &problem.model, &err) != KERF_OK) fail_msg("%s", err.message);
    assert_int_equal(kerf_system_load("a100", &problem.system, NULL), KERF_OK);
    problem.strategy = KERF_STRATEGY_HYBRID;
    problem.gpus = gpus, problem.global_batch = batch, problem.seq_length = seq;
    return problem;
}

/* Schedules of an invented room: each takes what the real one of its name would, or something odder. */
static const char *const rules[] = {"zb_v", "1f1b", "gpipe", "interleaved_1f1b", "eager_1f1b", "looped_bfs", NULL};
enum { RULES = sizeof rules / sizeof *rules - 1 };

static int takes(const char *rule, int32_t devices, int32_t chunks, int32_t microbatches) {
    if (strcmp(rule, "zb_v") == 0) return chunks == 2 && microbatches >= devices;
    if (strcmp(rule, "gpipe") == 0) return chunks == 1;
    if (strcmp(rule, "eager_1f1b") == 0) return chunks == 1 && microbatches >= 2 * devices - 1;
    if (strcmp(rule, "looped_bfs") == 0) return chunks > 1 && devices > 1;
    fail_msg("the space asks about %s", rule);
    return 0;
}

static const struct pipeliner pipeliner = {.schedules = rules, .takes = takes};

/* ---- The plain enumeration -------------------------------------------------------------------------------- */

struct set {
    struct kerf_layout *layouts;
    size_t count, room;
};

static void add(struct set *set, const struct kerf_layout *layout) {
    if (set->count == set->room) {
        set->room = set->room ? 2 * set->room : 1024;
        set->layouts = realloc(set->layouts, set->room * sizeof *set->layouts);
        assert_non_null(set->layouts);
    }
    set->layouts[set->count++] = *layout;
}

static int has(const struct kerf_values *values, int64_t value) {
    int found = 0;
    for (int32_t i = 0; i < values->count; i++) found |= values->of[i] == value;
    return values->count == 0 || found;
}

static int takes_all(const struct kerf_space *space, const char *rule, int64_t pp, int64_t vpp, int64_t m) {
    int is_1f1b = strcmp(rule, "1f1b") == 0, is_interleaved = strcmp(rule, "interleaved_1f1b") == 0;
    if (is_1f1b || is_interleaved) return is_1f1b ? vpp == 1 : vpp > 1;
    if (pp == 1 || (space->num_schedules == 0 && !space->is_wide)) return 0;
    return takes(rule, (int32_t)pp, (int32_t)vpp, (int32_t)m);
}

static int names_rule(const struct kerf_space *space, const char *rule) {
    for (int32_t i = 0; i < space->num_schedules; i++)
        if (strcmp(space->schedules[i], rule) == 0) return 1;
    return space->num_schedules == 0;
}

/* Recomputation, ZeRO, schedule, order: all that follows once the products are known. */
static void enumerate_choices(struct set *set, const struct kerf_problem *problem, const struct kerf_space *s,
                              struct kerf_layout l, int64_t experts) {
    int64_t m = problem->global_batch / (l.dp * l.micro_batch), layers = problem->model.num_hidden_layers;
    int64_t fullest = (layers + l.pp * l.vpp - 1) / (l.pp * l.vpp), orders = 0;
    if (s->stage_layers) {
        fullest = 0;
        for (int32_t i = 0; i < s->num_stage_layers; i++)
            if (s->stage_layers[i] > fullest) fullest = s->stage_layers[i];
    }
    for (int8_t order = 0; order < 2; order++) {
        if (s->order.count ? !has(&s->order, order) : order && !s->is_wide) continue;
        if (order && l.pp > 1 && experts && (int64_t)l.ep * l.etp != l.tp1 * l.cp) continue;
        if (orders && (l.pp == 1 || l.dp == 1)) continue; /* both are the same */
        orders++;
        for (size_t r = 0; r < RULES; r++) {
            if (!names_rule(s, rules[r]) || !takes_all(s, rules[r], l.pp, l.vpp, m)) continue;
            for (int64_t recompute = 0; recompute < 100 + layers; recompute++) {
                if (recompute > 2 && recompute <= 100) continue;
                if (recompute > 100 && recompute - 100 >= fullest) continue;
                if (s->recompute.count ? !has(&s->recompute, recompute) : recompute > 2 && !s->is_wide) continue;
                for (int8_t zero = 0; zero < 4; zero++) {
                    if (zero > 0 && l.dp * l.cp == 1) continue;
                    if (s->zero.count ? !has(&s->zero, zero) : zero > 1 && l.pp > 1 && !s->is_wide) continue;
                    l.order = order, l.zero = zero;
                    l.recompute = (int8_t)(recompute > 100 ? KERF_RECOMPUTE_BLOCK : recompute);
                    l.recompute_layers = (int32_t)(recompute > 100 ? recompute - 100 : 0);
                    snprintf(l.schedule, sizeof l.schedule, "%s", rules[r]);
                    add(set, &l);
                }
            }
        }
    }
}

static void enumerate_experts(struct set *set, const struct kerf_problem *problem, const struct kerf_space *s,
                              struct kerf_layout l, int64_t experts) {
    int64_t devices = l.dp * l.cp * l.tp1;
    for (int32_t ep = 1; ep <= (experts ? experts : 1); ep++) {
        if ((experts && experts % ep) || !has(&s->ep, ep)) continue;
        for (int32_t etp = 1; etp <= (experts ? devices : 1); etp++) {
            if (s->etp.count ? !has(&s->etp, etp) : etp != 1 && etp != l.tp1) continue;
            if (devices % (ep * etp)) continue;
            l.ep = ep, l.etp = etp;
            enumerate_choices(set, problem, s, l, experts);
        }
    }
}

static void enumerate_stages(struct set *set, const struct kerf_problem *problem, const struct kerf_space *s,
                             struct kerf_layout l, int64_t experts) {
    int64_t layers = problem->model.num_hidden_layers, batch = problem->global_batch;
    for (l.vpp = 1; l.vpp <= layers; l.vpp++) {
        if (l.vpp > 1 && (l.pp == 1 || l.pp * l.vpp > layers)) continue;
        if (s->vpp.count ? !has(&s->vpp, l.vpp) : l.vpp > 8) continue;
        if (s->stage_layers && s->num_stage_layers != l.pp * l.vpp) continue;
        for (l.micro_batch = 1; l.micro_batch <= batch; l.micro_batch++) {
            int is_default = (l.micro_batch & (l.micro_batch - 1)) == 0 && l.micro_batch <= 64;
            if (s->micro_batch.count ? !has(&s->micro_batch, l.micro_batch) : !is_default) continue;
            if (batch % (l.dp * l.micro_batch)) continue;
            if (l.vpp > 1 && batch / (l.dp * l.micro_batch) % l.pp) continue;
            enumerate_experts(set, problem, s, l, experts);
        }
    }
}

static void enumerate(struct set *set, const struct kerf_problem *problem, int64_t experts) {
    static const struct kerf_space all_default;
    const struct kerf_space *s = problem->space ? problem->space : &all_default;
    const struct kerf_layer_kind *kind = &problem->model.kinds[0];
    int64_t heads = kind->attention.heads, kv = kind->attention.kv_heads;
    struct kerf_layout l = {.tp2 = 1, .stage_layers = s->stage_layers};
    for (l.tp1 = 1; l.tp1 <= problem->gpus; l.tp1++)
        for (l.cp = 1; l.cp <= problem->gpus / l.tp1; l.cp++)
            for (l.pp = 1; l.pp <= problem->gpus / l.tp1 / l.cp && l.pp <= problem->model.num_hidden_layers; l.pp++) {
                if (problem->gpus % (l.tp1 * l.cp * l.pp)) continue;
                l.dp = problem->gpus / (l.tp1 * l.cp * l.pp);
                if (heads % l.tp1 || (kv % l.tp1 && l.tp1 % kv)) continue;
                if (l.cp > 1 && problem->seq_length % (2 * l.cp)) continue;
                if (problem->seq_length / l.cp % l.tp1) continue;
                if (!has(&s->tp, l.tp1) || !has(&s->cp, l.cp) || !has(&s->pp, l.pp) || !has(&s->dp, l.dp)) continue;
                for (int8_t comm = 0; comm < KERF_CP_COMM_COUNT; comm++) {
                    int is_open = l.cp == 1 || (s->cp_comm.count == 0 && !s->is_wide);
                    if (is_open ? comm > 0 : s->cp_comm.count ? !has(&s->cp_comm, comm) : comm == 0) continue;
                    if (comm == KERF_CP_COMM_ALL_TO_ALL && heads / l.tp1 % l.cp) continue;
                    l.cp_comm = comm;
                    enumerate_stages(set, problem, s, l, experts);
                }
            }
}

/* ---- kerf's ------------------------------------------------------------------------------------------------- */

struct listing {
    struct space space;
    const struct strategy *strategy;
    struct arena arena;
    struct set found;
};

/* Whether a list, as far as its members are chosen, rises in the order of layouts. */
static void expect_rising(const struct kerf_layout *choices, int32_t count) {
    for (int32_t i = 1; i < count; i++) {
        struct kerf_layout a = choices[i - 1], b = choices[i];
        if (a.schedule[0] == 0) strcpy(a.schedule, "x"), strcpy(b.schedule, "x");
        assert_true(kerf_layout_compare(&a, &b) < 0);
    }
}

/* Returns how many there are below, and expects that every prefix counts as many. */
static int64_t list_below(struct listing *listing, int32_t level, const struct kerf_layout *prefix) {
    const struct strategy *strategy = listing->strategy;
    int32_t count;
    int64_t sum = 0;
    if (level == strategy->num_levels) {
        const struct kerf_layout *variants = strategy->variants(&listing->space, prefix, &listing->arena, &count);
        assert_non_null(variants);
        expect_rising(variants, count);
        for (int32_t i = 0; i < count; i++) add(&listing->found, &variants[i]);
        sum = count;
    } else {
        const struct kerf_layout *choices = strategy->choices(&listing->space, level, prefix, &listing->arena, &count);
        assert_non_null(choices);
        expect_rising(choices, count);
        for (int32_t i = 0; i < count; i++) sum += list_below(listing, level + 1, &choices[i]);
    }
    assert_true(strategy->count(&listing->space, level, prefix) == sum);
    return sum;
}

static int compare(const void *a, const void *b) { return kerf_layout_compare(a, b); }

static void expect_layout(const struct kerf_problem *problem, const struct kerf_layout *layout) {
    struct kerf_text text = {0};
    struct kerf_layout again;
    struct kerf_error err;
    if (kerf_layout_check(problem, layout, &err) != KERF_OK) fail_msg("%s", err.message);
    kerf_layout_text(&text, problem, layout);
    if (kerf_layout_parse(text.data, &again, &err) != KERF_OK) fail_msg("%s: %s", text.data, err.message);
    if (kerf_layout_compare(layout, &again) != 0) fail_msg("%s reads as another layout", text.data);
    kerf_layout_release(&again);
    kerf_text_free(&text);
}

/* Compares the two; returns how many layouts there are. */
static int64_t expect_same(const struct kerf_problem *problem, int64_t experts, int remembers) {
    static const struct kerf_layout nothing_chosen;
    struct listing listing = {.space = {.problem = problem, .pipeliner = &pipeliner},
                              .strategy = strategy_of(KERF_STRATEGY_HYBRID)};
    struct set expected = {NULL, 0, 0};
    struct kerf_error err;
    if (listing.strategy->check_problem(problem, &err) != KERF_OK) fail_msg("%s", err.message);
    if (remembers) listing.space.memory = listing.strategy->remember(&listing.space, &listing.arena);
    int64_t count = list_below(&listing, 0, &nothing_chosen);
    enumerate(&expected, problem, experts);
    if (expected.count) qsort(expected.layouts, expected.count, sizeof *expected.layouts, compare);
    if (listing.found.count) qsort(listing.found.layouts, listing.found.count, sizeof *expected.layouts, compare);
    assert_int_equal(listing.found.count, count);
    for (size_t i = 0; i < listing.found.count; i++) {
        if (i && compare(&listing.found.layouts[i - 1], &listing.found.layouts[i]) == 0)
            fail_msg("%zu is listed twice", i);
        if (i < expected.count && compare(&listing.found.layouts[i], &expected.layouts[i]) != 0) {
            struct kerf_text text = {0};
            kerf_layout_text(&text, problem, &listing.found.layouts[i]);
            kerf_text_add(&text, " for ");
            kerf_layout_text(&text, problem, &expected.layouts[i]);
            fail_msg("%zu differs: %s", i, text.data);
        }
        if (i % (1 + listing.found.count / 3000) == 0) expect_layout(problem, &listing.found.layouts[i]);
    }
    if (listing.found.count != expected.count) fail_msg("%zu layouts for %zu", listing.found.count, expected.count);
    free(listing.found.layouts);
    free(expected.layouts);
    arena_free(&listing.arena);
    return count;
}

/* ---- Tests ------------------------------------------------------------------------------------------------ */

/* Counts that were found with another program, written from the same words in another language. */
static void counts_of_another_program(void **state) {
    (void)state;
    static const struct {
        const char *const *model;
        int64_t experts, gpus, batch, seq, count;
    } cases[] = {
        {&llama, 0, 8, 16, 4096, 1707}, {&llama, 0, 24, 96, 8192, 5688}, {&llama, 0, 32, 64, 4096, 7188},
        {&odd, 0, 12, 36, 3072, 1173},  {&moe, 8, 16, 64, 4096, 21354},  {&moe, 8, 64, 128, 4096, 61893},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_problem problem = problem_of(*cases[i].model, cases[i].gpus, cases[i].batch, cases[i].seq);
        assert_int_equal(expect_same(&problem, cases[i].experts, 1), cases[i].count);
    }
}

static void wide_spaces(void **state) {
    (void)state;
    struct kerf_space wide = {.is_wide = 1};
    struct kerf_problem a = problem_of(odd, 12, 12, 96), b = problem_of(small_moe, 24, 12, 96);
    struct kerf_problem narrow = a;
    a.space = b.space = &wide;
    int64_t count = expect_same(&a, 0, 1);
    assert_true(count > 4 * expect_same(&narrow, 0, 0));
    assert_int_equal(expect_same(&a, 0, 0), count); /* with and without a memory */
    assert_true(expect_same(&b, 6, 1) > 0);
}

static uint64_t seed = 0x9E3779B97F4A7C15;

static uint64_t below(uint64_t n) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed % n;
}

/* One to three of the values, rising. */
static void name_some(struct kerf_values *values, const int32_t *of, size_t count, int is_named) {
    for (size_t i = 0; is_named && i < count && values->count < 3; i++)
        if (below(2) || (i + 1 == count && values->count == 0)) values->of[values->count++] = of[i];
}
#define NAME(values, ...)                                                                                              \
    name_some(&(values), (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t),     \
              below(3) == 0)

static void random_spaces(void **state) {
    (void)state;
    enum { SPACES = 80, WITH_LAYOUTS = 30 };
    static const int32_t splits[][4] = {{4, 2, 0, 0}, {1, 1, 3, 1}, {6, 0, 0, 0}};
    static const int32_t lengths[] = {2, 4, 1};
    int with_layouts = 0;
    for (int i = 0; i < SPACES; i++) {
        int is_moe = below(2) == 0;
        struct kerf_space space = {.is_wide = below(2) == 0};
        struct kerf_problem problem =
            problem_of(is_moe ? small_moe : odd, is_moe ? 24 : 12, is_moe ? 24 : 36, below(2) ? 96 : 72);
        NAME(space.tp, 1, 2, 12);
        NAME(space.cp, 1, 2, 3);
        NAME(space.pp, 1, 2, 3, 4);
        NAME(space.vpp, 1, 2, 3);
        NAME(space.dp, 1, 2, 4, 12);
        NAME(space.zero, 0, 1, 2, 3);
        NAME(space.micro_batch, 1, 2, 3, 4);
        NAME(space.recompute, 0, 1, 2, 101, 102, 104);
        NAME(space.order, 0, 1);
        NAME(space.cp_comm, 0, 1, 2, 3);
        if (is_moe) {
            NAME(space.ep, 1, 2, 3, 6);
            NAME(space.etp, 1, 2, 4, 3);
        }
        if (is_moe && space.etp.count) space.etp.count = 1; /* 4, 3 do not rise */
        for (size_t r = 0; below(3) == 0 && r < RULES; r += 1 + below(2))
            strcpy(space.schedules[space.num_schedules++], rules[r]);
        if (is_moe && below(4) == 0) {
            size_t split = below(3);
            space.stage_layers = splits[split], space.num_stage_layers = lengths[split];
        }
        problem.space = &space;
        /* such as --pp 1 --order tp-cp-pp-dp: tests/cli/plan_hybrid_refused */
        if (strategy_of(KERF_STRATEGY_HYBRID)->check_problem(&problem, NULL) != KERF_OK) continue;
        with_layouts += expect_same(&problem, is_moe ? 6 : 0, below(2) == 0) > 0;
    }
    assert_true(with_layouts >= WITH_LAYOUTS); /* else this says little */
}

/* The value that a layout has of a dimension whose list is at this place of struct kerf_space. */
static int32_t value_of(const struct kerf_layout *l, size_t place) {
    const struct {
        size_t place;
        int64_t value;
    } all[] = {
        {offsetof(struct kerf_space, tp), l->tp1},
        {offsetof(struct kerf_space, cp), l->cp},
        {offsetof(struct kerf_space, pp), l->pp},
        {offsetof(struct kerf_space, vpp), l->vpp},
        {offsetof(struct kerf_space, ep), l->ep},
        {offsetof(struct kerf_space, etp), l->etp},
        {offsetof(struct kerf_space, dp), l->dp},
        {offsetof(struct kerf_space, zero), l->zero},
        {offsetof(struct kerf_space, micro_batch), l->micro_batch},
        {offsetof(struct kerf_space, recompute), l->recompute},
        {offsetof(struct kerf_space, order), l->order},
        {offsetof(struct kerf_space, cp_comm), l->cp_comm},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].place == place) return (int32_t)all[i].value;
    fail_msg("no dimension at %zu", place);
    return 0;
}

/* A space without a value has the layouts of the whole space that have another. */
static void values_can_be_excluded(void **state) {
    (void)state;
    static const struct kerf_layout nothing_chosen;
    static const struct {
        size_t place;
        int32_t value;
        int32_t is_wide;
    } cases[] = {
        {offsetof(struct kerf_space, tp), 2, 0},
        {offsetof(struct kerf_space, cp), 1, 0},
        {offsetof(struct kerf_space, pp), 2, 0},
        {offsetof(struct kerf_space, vpp), 1, 0},
        {offsetof(struct kerf_space, ep), 3, 0},
        {offsetof(struct kerf_space, etp), 1, 0},
        {offsetof(struct kerf_space, etp), 2, 0},
        {offsetof(struct kerf_space, dp), 4, 0},
        {offsetof(struct kerf_space, zero), 1, 0},
        {offsetof(struct kerf_space, micro_batch), 1, 0},
        {offsetof(struct kerf_space, recompute), 0, 0},
        {offsetof(struct kerf_space, cp_comm), 1, 1},
        {offsetof(struct kerf_space, recompute), KERF_RECOMPUTE_BLOCK, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_space space = {.is_wide = cases[i].is_wide};
        struct kerf_problem problem = problem_of(small_moe, 24, 12, 96);
        struct kerf_problem whole = problem;
        struct kerf_space wide = {.is_wide = 1};
        if (cases[i].is_wide) whole.space = &wide;
        struct kerf_values *values = (struct kerf_values *)(void *)((char *)&space + cases[i].place);
        *values = (struct kerf_values){.count = 1, .of = {cases[i].value}, .are_excluded = 1};
        problem.space = &space;
        struct set others = {NULL, 0, 0};
        enumerate(&others, &whole, 6);
        size_t kept = 0;
        for (size_t k = 0; k < others.count; k++)
            if (value_of(&others.layouts[k], cases[i].place) != cases[i].value)
                others.layouts[kept++] = others.layouts[k];
        struct listing listing = {.space = {.problem = &problem, .pipeliner = &pipeliner},
                                  .strategy = strategy_of(KERF_STRATEGY_HYBRID)};
        assert_int_equal(listing.strategy->check_problem(&problem, NULL), KERF_OK);
        assert_int_equal(list_below(&listing, 0, &nothing_chosen), kept);
        assert_true(kept > 0 && kept < others.count);
        qsort(others.layouts, kept, sizeof *others.layouts, compare);
        qsort(listing.found.layouts, kept, sizeof *others.layouts, compare);
        for (size_t k = 0; k < kept; k++) assert_int_equal(compare(&others.layouts[k], &listing.found.layouts[k]), 0);
        free(others.layouts);
        free(listing.found.layouts);
        arena_free(&listing.arena);
    }
}

/* Counting lists nothing: the largest spaces take no longer than small ones. */
static void large_spaces_are_counted(void **state) {
    (void)state;
    struct kerf_space wide = {.is_wide = 1};
    struct kerf_problem problem;
    memset(&problem, 0, sizeof problem);
    assert_int_equal(kerf_model_load("deepseek_v3", &problem.model, NULL), KERF_OK);
    problem.strategy = KERF_STRATEGY_HYBRID;
    problem.gpus = 2048, problem.global_batch = 15360, problem.seq_length = 4096;
    const struct strategy *strategy = strategy_of(KERF_STRATEGY_HYBRID);
    struct space space = {.problem = &problem, .pipeliner = &pipeliner};
    assert_int_equal(strategy->count(&space, 0, NULL), 704919);
    problem.space = &wide;
    assert_true(strategy->count(&space, 0, NULL) > INT64_C(10000000));
}

static void says_what_cannot_be_named(void **state) {
    (void)state;
    struct kerf_problem dense = problem_of(llama, 64, 128, 4096), experts = problem_of(moe, 64, 128, 4096);
    static const int32_t short_split[] = {16, 15}, empty_stage[] = {32, 0};
    struct {
        const struct kerf_problem *problem;
        struct kerf_space space;
        const char *line;
    } cases[] = {
        {&dense, {.tp = {.count = 1, .of = {3}}}, "tp 3 does not divide 32 attention heads; 2 and 4 do"},
        {&dense, {.tp = {.count = 2, .of = {4, 2}}}, "tp: the values must rise, and 2 comes behind 4"},
        {&dense, {.tp = {.count = 1, .of = {0}}}, "tp 0 must lie between 1 and 1073741824"},
        {&dense,
         {.cp = {.count = 1, .of = {3}}},
         "cp 3 cuts a sequence into 6 equal parts, two for each shard, and 4096 tokens do not "
         "divide so"},
        {&dense, {.pp = {.count = 1, .of = {3}}}, "pp 3 does not divide 64 accelerators; 2 and 4 do"},
        {&dense, {.pp = {.count = 1, .of = {64}}}, "pp 64 is more stages than the 32 layers; each needs one"},
        {&dense, {.dp = {.count = 1, .of = {3}}}, "dp 3 does not divide 64 accelerators; 2 and 4 do"},
        {&dense,
         {.vpp = {.count = 1, .of = {17}}},
         "vpp 17 is for 2 or more pipeline stages, which would be 34 virtual stages for 32 layers"},
        {&dense, {.ep = {.count = 1, .of = {2}}}, "ep 2: the model has no experts"},
        {&experts, {.ep = {.count = 1, .of = {3}}}, "ep 3 does not divide 8 experts; 2 and 4 do"},
        {&experts, {.etp = {.count = 1, .of = {3}}}, "etp 3 does not divide 64 accelerators; 2 and 4 do"},
        {&dense, {.zero = {.count = 1, .of = {4}}}, "zero 4 must lie between 0 and 3"},
        {&dense,
         {.micro_batch = {.count = 1, .of = {3}}},
         "micro_batch 3 does not divide 128 samples of the global batch; 2 and 4 do"},
        {&dense, {.recompute = {.count = 1, .of = {3}}}, "recompute 3 does not exist"},
        {&dense,
         {.recompute = {.count = 1, .of = {132}}},
         "recompute full:32: the model has 32 layers, and full is all of them"},
        {&dense,
         {.stage_layers = short_split, .num_stage_layers = 2},
         "stage_layers add up to 31 layers, and the model has 32"},
        {&dense,
         {.stage_layers = empty_stage, .num_stage_layers = 2},
         "stage_layers: virtual stage 1 has 0 layers; each needs one"},
        {&dense, {.num_schedules = 1}, "schedules: a name must have 1 to 30 letters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_problem problem = *cases[i].problem;
        struct kerf_error err;
        const struct strategy *strategy = strategy_of(KERF_STRATEGY_HYBRID);
        problem.space = &cases[i].space;
        assert_int_equal(strategy->check_problem(&problem, &err), KERF_EINVALID);
        assert_string_equal(err.message, cases[i].line);
        assert_int_equal(strategy->check_problem(&problem, NULL), KERF_EINVALID);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_another_program),
        cmocka_unit_test(wide_spaces),
        cmocka_unit_test(random_spaces),
        cmocka_unit_test(values_can_be_excluded),
        cmocka_unit_test(large_spaces_are_counted),
        cmocka_unit_test(says_what_cannot_be_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
