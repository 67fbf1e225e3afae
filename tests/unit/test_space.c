/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidate sets against the generators of the reference (execution.py), transcribed here one by one with nothing
 * clever in them, on random small problems; and what a search counts against both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerf/plan.h"
#include "cost/strategy.h"

struct set {
    struct kerf_layout *layouts;
    size_t count, room;
};

static void add(struct set *set, int64_t dp, int64_t tp1, int64_t tp2, int64_t pp, int64_t b, int64_t nb, int64_t n1,
                int64_t n2, int64_t n3, int64_t n4) {
    if (set->count == set->room) {
        set->room = set->room ? 2 * set->room : 1024;
        set->layouts = realloc(set->layouts, set->room * sizeof *set->layouts);
        assert_non_null(set->layouts);
    }
    set->layouts[set->count++] = (struct kerf_layout){
        .dp = dp, .tp1 = tp1, .tp2 = tp2, .pp = pp, .micro_batch = b, .summa_blocks = nb, .scale_up = {n1, n2, n3, n4}};
}

/* ---- The reference's generators ----------------------------------------------------------------------- */

struct shape {
    int64_t l, e, h, depth, nvs, n, global_batch;
};

#define FACTORS(c, n)                                                                                                  \
    for (int64_t c = 1; c <= (n); c++)                                                                                 \
        if ((n) % c == 0)

/* nv_candidates_1d */
static void nv_1d(struct set *set, const struct shape *s, int64_t tp, int64_t dp, int64_t pp, int64_t b) {
    if (tp * dp * pp <= s->nvs) {
        add(set, dp, tp, 1, pp, b, 0, tp, 1, dp, pp);
        return;
    }
    FACTORS(n1, s->nvs) {
        int64_t rem = s->nvs / n1;
        FACTORS(n2, rem) {
            int64_t n3 = rem / n2;
            if (tp % n1 == 0 && dp % n2 == 0 && pp % n3 == 0) add(set, dp, tp, 1, pp, b, 0, n1, 1, n2, n3);
        }
    }
}

/* nv_candidates_2d */
static void nv_2d(struct set *set, const struct shape *s, int64_t tp1, int64_t tp2, int64_t dp, int64_t pp, int64_t b,
                  int64_t nb) {
    if (tp1 * tp2 * dp * pp <= s->nvs) {
        add(set, dp, tp1, tp2, pp, b, nb, tp1, tp2, dp, pp);
        return;
    }
    FACTORS(n1, s->nvs) {
        int64_t rem = s->nvs / n1;
        FACTORS(n2, rem) {
            int64_t rem2 = rem / n2;
            FACTORS(n3, rem2) {
                int64_t n4 = rem2 / n3;
                if (tp1 % n1 == 0 && tp2 % n2 == 0 && dp % n3 == 0 && pp % n4 == 0)
                    add(set, dp, tp1, tp2, pp, b, nb, n1, n2, n3, n4);
            }
        }
    }
}

/* execute_1d */
static void candidates_1d(struct set *set, const struct shape *s) {
    FACTORS(tp, s->n) {
        if (s->h % tp != 0 || s->e % tp != 0) continue; /* tp1d_candidates */
        if (3 * s->e / tp < 128) continue;
        int64_t max_pp = s->n / tp < s->depth ? s->n / tp : s->depth; /* pp_candidates */
        FACTORS(pp, max_pp) {
            if (s->n % (tp * pp) != 0 || s->depth % pp != 0) continue;
            int64_t dp = s->n / (tp * pp);
            if (dp > s->global_batch || s->global_batch % dp != 0) continue;
            FACTORS(b, s->global_batch / dp) /* micro_batch_size_candidates */
            if (b * s->l % tp == 0) nv_1d(set, s, tp, dp, pp, b);
        }
    }
}

/* summa_nb_candidates; none where embed is start, which stops the reference with an error */
static size_t summa_nb(const struct shape *s, int64_t tp1, int64_t tp2, int64_t nbs[64]) {
    int64_t start = tp1 > tp2 ? tp1 : tp2, range[64];
    double end = log2((double)(s->e / start));
    size_t in_range = 0, count = 0;
    for (int64_t i = 0; (double)i < end; i++) range[in_range++] = start << i;
    if (in_range == 0) return 0;
    if ((double)s->e / (double)range[0] < 512) {
        nbs[count++] = range[0];
    } else {
        for (size_t i = 0; i < in_range; i++)
            if (s->e % range[i] == 0 && s->e / range[i] >= 512) nbs[count++] = range[i];
    }
    return count;
}

/* execute_2d and execute_seqp with their candidate filters */
static void candidates_2d(struct set *set, const struct shape *s, int is_summa) {
    FACTORS(tp1, s->n) {
        if (s->h % tp1 != 0 || s->e % tp1 != 0) continue;
        int64_t rest = s->n / tp1;
        FACTORS(tp2, rest) {
            if (is_summa && s->e % tp2 != 0) continue;
            if (s->e / tp1 < 128 || s->l / tp2 < 128) continue;
            int64_t tp = tp1 * tp2, max_pp = s->n / tp < s->depth ? s->n / tp : s->depth;
            FACTORS(pp, max_pp) {
                if (s->n % (tp * pp) != 0 || s->depth % pp != 0) continue;
                int64_t dp = s->n / (tp * pp);
                if (dp > s->global_batch || s->global_batch % dp != 0) continue;
                FACTORS(b, s->global_batch / dp) {
                    if (b * s->l % (is_summa ? tp2 : tp) != 0) continue;
                    int64_t nbs[64] = {0};
                    size_t num_nbs = is_summa ? summa_nb(s, tp1, tp2, nbs) : 1;
                    for (size_t i = 0; i < num_nbs; i++) nv_2d(set, s, tp1, tp2, dp, pp, b, nbs[i]);
                }
            }
        }
    }
}

/* ---- kerf's levels ------------------------------------------------------------------------------------ */

static void list_below(struct set *set, const struct space *space, const struct strategy *strategy, int32_t level,
                       const struct kerf_layout *prefix, const struct kerf_layout *variants, int32_t num_variants,
                       struct arena *arena) {
    int32_t count;
    int is_last = level + 1 == strategy->num_levels;
    const struct kerf_layout *choices = strategy->choices(space, level, prefix, arena, &count);
    if (is_last) variants = strategy->variants(space, prefix, arena, &num_variants);
    assert_true(choices != NULL && (!is_last || variants != NULL));
    for (int32_t i = 0; i < count; i++) {
        if (i > 0) assert_true(memcmp(&choices[i], &choices[i - 1], sizeof *choices) != 0);
        if (!is_last) list_below(set, space, strategy, level + 1, &choices[i], NULL, 0, arena);
        for (int32_t v = 0; is_last && v < num_variants; v++) {
            const struct kerf_layout *l = &variants[v];
            assert_true(l->dp == choices[i].dp && l->pp == choices[i].pp && l->tp1 == choices[i].tp1);
            add(set, l->dp, l->tp1, l->tp2, l->pp, choices[i].micro_batch, l->summa_blocks, l->scale_up.tp1,
                l->scale_up.tp2, l->scale_up.dp, l->scale_up.pp);
        }
    }
}

static void candidates_of_kerf(struct set *set, const struct kerf_problem *problem) {
    static const struct kerf_layout nothing_chosen;
    struct arena arena = {NULL};
    struct divisors *batches = malloc(sizeof *batches);
    const struct space space = {.problem = problem, .batches = batches};
    divisors_find(problem->global_batch, batches);
    list_below(set, &space, strategy_of(problem->strategy), 0, &nothing_chosen, NULL, 0, &arena);
    free(batches);
    arena_free(&arena);
}

static int compare(const void *a, const void *b) { return kerf_layout_compare(a, b); }

/* Sorts, and takes out what occurs twice, as Python's set does. */
static void settle(struct set *set) {
    size_t kept = 0;
    if (set->count) qsort(set->layouts, set->count, sizeof *set->layouts, compare);
    for (size_t i = 0; i < set->count; i++)
        if (i == 0 || compare(&set->layouts[i], &set->layouts[kept - 1]) != 0) set->layouts[kept++] = set->layouts[i];
    set->count = kept;
}

static size_t expect_same(const struct shape *shape, enum kerf_strategy strategy) {
    struct kerf_problem problem;
    memset(&problem, 0, sizeof problem);
    problem.model = (struct kerf_model){.name = "m",
                                        .hidden_size = shape->e,
                                        .intermediate_size = 4 * shape->e,
                                        .num_hidden_layers = shape->depth,
                                        .num_attention_heads = shape->h,
                                        .max_position_embeddings = shape->l};
    assert_int_equal(kerf_system_load("a100", &problem.system, NULL), KERF_OK);
    problem.system.scale_up.size = shape->nvs;
    problem.strategy = strategy;
    problem.gpus = shape->n;
    problem.global_batch = shape->global_batch;
    problem.seq_length = shape->l;

    struct set expected = {NULL, 0, 0}, found = {NULL, 0, 0};
    if (strategy == KERF_STRATEGY_1D)
        candidates_1d(&expected, shape);
    else
        candidates_2d(&expected, shape, strategy == KERF_STRATEGY_SUMMA);
    candidates_of_kerf(&found, &problem);
    size_t listed = found.count;
    settle(&expected);
    settle(&found);
    char words[200];
    snprintf(words, sizeof words, "%s l %lld e %lld h %lld depth %lld nvs %lld n %lld batch %lld",
             kerf_strategy_name(strategy), (long long)shape->l, (long long)shape->e, (long long)shape->h,
             (long long)shape->depth, (long long)shape->nvs, (long long)shape->n, (long long)shape->global_batch);
    if (listed != found.count) fail_msg("%s: %zu of %zu are listed twice", words, listed - found.count, listed);
    if (found.count != expected.count) fail_msg("%s: %zu candidates, not %zu", words, found.count, expected.count);
    for (size_t i = 0; i < found.count; i++) {
        if (compare(&found.layouts[i], &expected.layouts[i]) != 0) fail_msg("%s: number %zu differs", words, i);
        struct kerf_error err; /* every candidate is a layout that obeys the rules */
        if (kerf_layout_check(&problem, &found.layouts[i], &err) != KERF_OK) fail_msg("%s: %s", words, err.message);
    }

    struct kerf_plan_options options = {.top = 1, .threads = 1};
    struct kerf_plan *plan = NULL;
    assert_int_equal(kerf_cost_model_find("reference", &options.cost_model, NULL), KERF_OK);
    assert_int_equal(kerf_plan_search(&problem, 1, &options, &plan, NULL), KERF_OK);
    if (plan->searches[0].candidates != (int64_t)expected.count)
        fail_msg("%s: the search counts %lld, not %zu", words, (long long)plan->searches[0].candidates, expected.count);
    kerf_plan_free(plan);
    size_t count = expected.count;
    free(expected.layouts);
    free(found.layouts);
    return count;
}

/* ---- Problems ----------------------------------------------------------------------------------------- */

static uint64_t seed = 0x9E3779B97F4A7C15;

static int64_t one_of(const int64_t *values, size_t count) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return values[seed % count];
}

#define ONE_OF(...) one_of((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void random_problems(void **state) {
    (void)state;
    enum { PROBLEMS = 80, WITH_CANDIDATES = 25 };
    for (int strategy = 0; strategy < KERF_STRATEGY_HYBRID; strategy++) {
        int with_candidates = 0;
        for (int i = 0; i < PROBLEMS; i++) {
            int64_t h = ONE_OF(1, 4, 6, 12, 16, 24, 25, 40), head = ONE_OF(64, 96, 100, 128, 200);
            struct shape shape = {
                .l = ONE_OF(1, 96, 100, 512, 1024, 1536, 2048, 8100),
                .e = h * head,
                .h = h,
                .depth = ONE_OF(1, 7, 12, 16, 24, 36),
                .nvs = ONE_OF(1, 2, 3, 4, 6, 8, 12, 16, 64),
                .n = ONE_OF(1, 2, 6, 7, 8, 12, 24, 60, 64, 96, 128, 144, 256),
                .global_batch = ONE_OF(1, 2, 5, 12, 16, 60, 64, 96, 128),
            };
            with_candidates += expect_same(&shape, (enum kerf_strategy)strategy) > 0;
        }
        assert_true(with_candidates >= WITH_CANDIDATES); /* else this says little */
    }
}

static void corners(void **state) {
    (void)state;
    static const struct shape shapes[] = {
        {128, 128, 1, 1, 1, 1, 1},      /* one of everything */
        {2048, 42, 1, 4, 4, 8, 8},      /* 3 e below 128: no tensor parallelism is wide enough */
        {2048, 43, 1, 4, 4, 8, 8},      /* 3 e just above it, e below */
        {127, 1024, 8, 4, 4, 8, 8},     /* a sample too short to be cut */
        {256, 1024, 8, 4, 8, 8, 8},     /* all in one domain */
        {256, 1024, 8, 4, 7, 8, 8},     /* a domain that nothing divides */
        {2048, 1024, 8, 4, 4, 8, 7},    /* a batch that nothing divides */
        {65536, 512, 1, 1, 4, 512, 64}, /* tp2 may be e itself, where SUMMA has no number of blocks */
        {65536, 512, 4, 1, 4, 256, 64},      {2048, 12288, 96, 96, 8, 64, 64}, /* several numbers of blocks */
        {2048, 12288, 96, 96, 256, 128, 64}, {65536, 1536, 12, 3, 6, 384, 6},
    };
    for (int strategy = 0; strategy < KERF_STRATEGY_HYBRID; strategy++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            expect_same(&shapes[i], (enum kerf_strategy)strategy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems),
        cmocka_unit_test(corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
