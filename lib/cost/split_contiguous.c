/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One virtual stage a device: the layers are cut into contiguous pieces, one for each device.
 *
 * A limit of time and of memory can be kept if stages that take as many layers as they can, one after the other, reach the
 * end. This greedy test is exact as long as stage k has room for any one of the layers k .. reach, with which it may begin:
 * then it can also take fewer. The least limit is found from below: where the test fails, the limit must rise at least to what the first stage that could
 * have taken one more would need. That takes a few tests; if it takes many, bisection helps.
 *
 * Where some stage has no such room, dynamic programming over (stage, layers so far) is exact: O(stages layers^2).
 */
#include "cost/split_contiguous.h"

#include <assert.h>
#include <math.h>
#include "cost/split_equal.h"

enum { LAYERS_MAX = 2048 /* for dynamic programming */ };

struct stage_costs {
    double fixed_s, fixed_bytes;
    double layer_bytes[KERF_KINDS_MAX];
};

struct cutter {
    const struct stage_split_question *question;
    struct stage_costs *stages; /* [num_stages] */
    int32_t *reach; /* [num_stages + 1] layers before each stage at most, if those before take all they can */
    int32_t *need;  /* [num_stages + 1] layers before each stage at least, for those behind to manage */
    int32_t num_stages, num_layers, kinds; /* kinds: a bit for each that occurs */
    double most_s, most_bytes;             /* the limits, tolerance included */
};

/* ---- Runs of layers --------------------------------------------------------------------------------------------- */

/* A place between two layers. */
struct place {
    int32_t layer, run, in_run; /* layers before it: of all, and of its run */
};

/* Layers of one stage: how much they need, and what one more would. */
struct piece {
    double s, bytes;           /* fixed ones included */
    double next_s, next_bytes; /* INFINITY: there is no other */
};

static int32_t at_most(double room, double of, int32_t most) {
    if (of <= 0) return room >= 0 ? most : 0;
    return room / of >= most ? most : room > 0 ? (int32_t)(room / of) : 0;
}

/* Takes layers from `place` on, forwards (step 1) or backwards (step -1), until a limit or `most` is reached. */
static struct piece take(const struct cutter *cutter, int32_t stage, int step, int32_t most, struct place *place) {
    const struct stage_split_question *q = cutter->question;
    const struct stage_costs *costs = &cutter->stages[stage];
    struct piece piece = {costs->fixed_s, costs->fixed_bytes, INFINITY, INFINITY};
    int32_t left = most;
    for (;;) {
        int32_t here = step > 0 ? q->runs[place->run].count - place->in_run : place->in_run;
        if (here == 0) {
            if (place->run + step < 0 || place->run + step == q->num_runs) return piece;
            place->run += step;
            place->in_run = step > 0 ? 0 : q->runs[place->run].count;
            continue;
        }
        int32_t kind = q->runs[place->run].kind;
        double layer_s = q->layer_s[kind], layer_bytes = costs->layer_bytes[kind];
        int32_t count = here < left ? here : left;
        count = at_most(cutter->most_s - piece.s, layer_s, count);
        count = at_most(cutter->most_bytes - piece.bytes, layer_bytes, count);
        piece.s += count * layer_s, piece.bytes += count * layer_bytes;
        place->layer += step * count, place->in_run += step * count, left -= count;
        if (count < here) {
            piece.next_s = piece.s + layer_s, piece.next_bytes = piece.bytes + layer_bytes;
            return piece;
        }
    }
}

/* ---- The greedy test -------------------------------------------------------------------------------------------- */

/* What limits must rise to at least, where the test fails. */
struct next_limits {
    double s, bytes;
};

/* Whether stage k has room for each one of the layers from `first` to `last`. */
static int has_room(const struct cutter *cutter, int32_t k, const struct place *first, const struct place *last) {
    const struct stage_split_question *q = cutter->question;
    int32_t seen = 0, end = last->run + (last->in_run == q->runs[last->run].count);
    for (int32_t r = first->run; r <= end && r < q->num_runs; r++) {
        int32_t kind = q->runs[r].kind;
        if (seen >> kind & 1) continue;
        if (cutter->stages[k].fixed_s + q->layer_s[kind] > cutter->most_s ||
            cutter->stages[k].fixed_bytes + cutter->stages[k].layer_bytes[kind] > cutter->most_bytes)
            return 0;
        seen |= 1 << kind;
        if (seen == cutter->kinds) return 1;
    }
    return 1;
}

/* Whether the limits can be kept; fills in reach. -1: the test is not exact. */
static int reaches_end(struct cutter *cutter, struct next_limits *ret_next) {
    struct place place = {0, 0, 0}, first = {0, 0, 0};
    struct next_limits next = {INFINITY, INFINITY};
    cutter->reach[0] = 0;
    for (int32_t k = 0; k < cutter->num_stages; k++) {
        while (first.in_run == cutter->question->runs[first.run].count) first.run++, first.in_run = 0;
        if (!has_room(cutter, k, &first, &place)) return -1;
        struct piece piece = take(cutter, k, 1, cutter->num_layers, &place);
        cutter->reach[k + 1] = place.layer;
        first.layer++, first.in_run++;
        int has_time = piece.next_s <= cutter->most_s, has_room = piece.next_bytes <= cutter->most_bytes;
        if (!has_time && has_room && piece.next_s < next.s) next.s = piece.next_s;
        if (has_time && !has_room && piece.next_bytes < next.bytes) next.bytes = piece.next_bytes;
    }
    *ret_next = next;
    return place.layer == cutter->num_layers;
}

static void find_need(struct cutter *cutter) {
    const struct stage_split_question *q = cutter->question;
    struct place place = {cutter->num_layers, q->num_runs - 1, q->runs[q->num_runs - 1].count};
    cutter->need[cutter->num_stages] = cutter->num_layers;
    for (int32_t k = cutter->num_stages - 1; k >= 0; k--) {
        take(cutter, k, -1, cutter->num_layers, &place);
        cutter->need[k] = place.layer;
    }
}

/* Raises one limit from `least` until the test passes; -1: the test would not be exact. `most` is enough. */
static int raise_limit(struct cutter *cutter, double *limit, int is_of_time, double least, double most,
                       double *ret_found) {
    const int steps = is_of_time ? 6 : 2; /* bounds of memory are wider */
    struct next_limits next;
    double lower = least;
    for (int step = 0;; step++) {
        /* bisection, once steps from below take long; a middle that passes is no answer, but a better upper end */
        int is_middle = step >= steps && step % 2 == 1 && lower < most;
        double tried = is_middle ? lower + (most - lower) / 2 : lower;
        *limit = tried * (1 + SPLIT_TOLERANCE);
        int reaches = reaches_end(cutter, &next);
        if (reaches < 0) return -1;
        if (reaches) {
            if (!is_middle) {
                *ret_found = tried;
                return 1;
            }
            most = tried;
            continue;
        }
        lower = is_of_time ? next.s : next.bytes;
        if (!(lower <= most * (1 + SPLIT_TOLERANCE))) return -1; /* cannot be, but for the other limit */
    }
}

/* ---- By greedy tests -------------------------------------------------------------------------------------------- */

/* The bytes of the layers from `from` to `to` on a stage. */
static double bytes_of(const struct cutter *cutter, int32_t stage, int32_t from, int32_t to) {
    const struct stage_split_question *q = cutter->question;
    double bytes = cutter->stages[stage].fixed_bytes;
    for (int32_t r = 0, start = 0; r < q->num_runs && start < to; start += q->runs[r++].count) {
        int32_t a = from > start ? from : start, end = start + q->runs[r].count, b = to < end ? to : end;
        if (b > a) bytes += (b - a) * cutter->stages[stage].layer_bytes[q->runs[r].kind];
    }
    return bytes;
}

static void bounds_of_times(const struct cutter *cutter, double *ret_least, double *ret_most) {
    const struct stage_split_question *q = cutter->question;
    double sum = 0, most_fixed = 0, least_layer = INFINITY, most_layer = 0;
    for (int32_t r = 0; r < q->num_runs; r++) {
        double layer_s = q->layer_s[q->runs[r].kind];
        sum += q->runs[r].count * layer_s;
        if (layer_s < least_layer) least_layer = layer_s;
        if (layer_s > most_layer) most_layer = layer_s;
    }
    for (int32_t k = 0; k < cutter->num_stages; k++) {
        sum += cutter->stages[k].fixed_s;
        if (cutter->stages[k].fixed_s > most_fixed) most_fixed = cutter->stages[k].fixed_s;
    }
    double mean = sum / cutter->num_stages, needed = most_fixed + least_layer;
    *ret_least = mean > needed ? mean : needed;
    *ret_most = *ret_least + most_layer;
}

/* The split that comes first within the limits: its length on stage k, which begins at `from`. */
static int32_t first_piece(const struct cutter *cutter, int32_t k, int32_t from) {
    int32_t to = cutter->need[k + 1] > from ? cutter->need[k + 1] : from + 1;
    assert(to <= cutter->num_layers - (cutter->num_stages - 1 - k));
    return to - from;
}

/* Every stage must have at least what those before it cannot take and those behind it neither; the first split within the
 * least time shows what is enough. */
static void bounds_of_bytes(const struct cutter *cutter, double *ret_least, double *ret_most) {
    *ret_least = *ret_most = 0;
    for (int32_t k = 0, from = 0; k < cutter->num_stages; k++) {
        const struct stage_costs *costs = &cutter->stages[k];
        double least = INFINITY;
        for (int32_t kind = 0; kind < KERF_KINDS_MAX; kind++)
            if ((cutter->kinds >> kind & 1) && costs->layer_bytes[kind] < least) least = costs->layer_bytes[kind];
        least += costs->fixed_bytes;
        if (cutter->reach[k] < cutter->need[k + 1]) {
            double alone = bytes_of(cutter, k, cutter->reach[k], cutter->need[k + 1]);
            if (alone > least) least = alone;
        }
        int32_t count = first_piece(cutter, k, from);
        double enough = bytes_of(cutter, k, from, from + count);
        if (least > *ret_least) *ret_least = least;
        if (enough > *ret_most) *ret_most = enough;
        from += count;
    }
}

/* 1: done. -1: the test is not exact. */
static int cut_greedily(struct cutter *cutter, int32_t *ret_layers) {
    double least, most, largest_s, largest_bytes;
    cutter->most_bytes = INFINITY;
    bounds_of_times(cutter, &least, &most);
    if (raise_limit(cutter, &cutter->most_s, 1, least, most, &largest_s) < 0) return -1;
    find_need(cutter);
    bounds_of_bytes(cutter, &least, &most);
    if (raise_limit(cutter, &cutter->most_bytes, 0, least, most, &largest_bytes) < 0) return -1;
    find_need(cutter);
    for (int32_t k = 0, from = 0; k < cutter->num_stages; k++) {
        ret_layers[k] = first_piece(cutter, k, from);
        from += ret_layers[k];
    }
    return 1;
}

/* ---- By dynamic programming ------------------------------------------------------------------------------------- */

struct table {
    double *s, *state_bytes, *activation_bytes; /* [layers + 1] sums of the layers before */
    double *best;                               /* [stages + 1][layers + 1] */
};

static double piece_s(const struct cutter *cutter, const struct table *table, int32_t k, int32_t a, int32_t b) {
    return cutter->stages[k].fixed_s + (table->s[b] - table->s[a]);
}

static double piece_bytes(const struct cutter *cutter, const struct table *table, int32_t k, int32_t a, int32_t b) {
    double in_flight = cutter->question->in_flight[k];
    return cutter->stages[k].fixed_bytes + (table->state_bytes[b] - table->state_bytes[a]) +
           in_flight * (table->activation_bytes[b] - table->activation_bytes[a]);
}

/* The least largest cost of stages k .. last for the layers from a on: of time, or of bytes within most_s. */
static void fill_table(const struct cutter *cutter, struct table *table, int is_of_time) {
    const int32_t n = cutter->num_stages, layers = cutter->num_layers;
    const size_t row = (size_t)layers + 1;
    for (int32_t a = n; a <= layers; a++) table->best[(size_t)n * row + (size_t)a] = a == layers ? 0 : INFINITY;
    for (int32_t k = n - 1; k >= 0; k--)
        for (int32_t a = k; a <= layers - (n - k); a++) { /* each stage has a layer */
            double best = INFINITY;
            for (int32_t b = a + 1; b <= layers - (n - 1 - k); b++) {
                double s = piece_s(cutter, table, k, a, b);
                double cost = is_of_time ? s : piece_bytes(cutter, table, k, a, b);
                if (cost > best || s > cutter->most_s) break;
                double rest = table->best[(size_t)(k + 1) * row + (size_t)b];
                if (rest > cost) cost = rest;
                if (cost < best) best = cost;
            }
            table->best[(size_t)k * row + (size_t)a] = best;
        }
}

static int make_table(const struct cutter *cutter, struct arena *arena, struct table *table) {
    const struct stage_split_question *q = cutter->question;
    size_t row = (size_t)cutter->num_layers + 1;
    double *room = arena_take(arena, row * (3 + (size_t)cutter->num_stages + 1), sizeof *room);
    if (room == NULL) return 0;
    *table = (struct table){room, room + row, room + 2 * row, room + 3 * row};
    table->s[0] = table->state_bytes[0] = table->activation_bytes[0] = 0;
    for (int32_t r = 0, at = 0; r < q->num_runs; r++)
        for (int32_t i = 0; i < q->runs[r].count; i++, at++) {
            int32_t kind = q->runs[r].kind;
            table->s[at + 1] = table->s[at] + q->layer_s[kind];
            table->state_bytes[at + 1] = table->state_bytes[at] + q->layer_bytes[kind];
            table->activation_bytes[at + 1] = table->activation_bytes[at] + q->activation_bytes[kind];
        }
    return 1;
}

static int cut_by_table(struct cutter *cutter, struct arena *arena, int32_t *ret_layers) {
    struct table table;
    const size_t row = (size_t)cutter->num_layers + 1;
    if (!make_table(cutter, arena, &table)) return 0;
    cutter->most_s = INFINITY;
    fill_table(cutter, &table, 1);
    cutter->most_s = table.best[0] * (1 + SPLIT_TOLERANCE);
    fill_table(cutter, &table, 0);
    cutter->most_bytes = table.best[0] * (1 + SPLIT_TOLERANCE);
    for (int32_t k = 0, a = 0; k < cutter->num_stages; k++) {
        int32_t b = a + 1;
        while (piece_s(cutter, &table, k, a, b) > cutter->most_s ||
               piece_bytes(cutter, &table, k, a, b) > cutter->most_bytes ||
               table.best[(size_t)(k + 1) * row + (size_t)b] > cutter->most_bytes) {
            b++;
            assert(b <= cutter->num_layers);
        }
        ret_layers[k] = b - a;
        a = b;
    }
    return 1;
}

/* ---- The door --------------------------------------------------------------------------------------------------- */

int split_contiguous(const struct stage_split_question *question, struct arena *arena, int32_t *ret_layers,
                     int32_t *ret_is_exact) {
    const struct stage_split_question *q = question;
    size_t n = (size_t)q->num_stages;
    struct cutter cutter = {.question = q, .num_stages = q->num_stages};
    char *room = arena_take(arena, 1, n * sizeof *cutter.stages + 2 * (n + 1) * sizeof *cutter.reach);
    if (room == NULL) return 0;
    cutter.stages = (struct stage_costs *)(void *)room;
    cutter.reach = (int32_t *)(void *)(cutter.stages + n);
    cutter.need = cutter.reach + n + 1;
    for (int32_t r = 0; r < q->num_runs; r++) {
        cutter.num_layers += q->runs[r].count;
        cutter.kinds |= 1 << q->runs[r].kind;
    }
    for (int32_t k = 0; k < q->num_stages; k++) {
        struct stage_costs *stage = &cutter.stages[k];
        stage->fixed_s = q->stage_s + (k == 0 ? q->first_s : 0) + (k == q->num_stages - 1 ? q->last_s : 0);
        stage->fixed_bytes = q->device_bytes[q->device_of[k]];
        for (int32_t i = 0; i < KERF_KINDS_MAX; i++)
            stage->layer_bytes[i] = q->layer_bytes[i] + q->in_flight[k] * q->activation_bytes[i];
    }
    *ret_is_exact = 1;
    if (cut_greedily(&cutter, ret_layers) > 0) return 1;
    if (cutter.num_layers <= LAYERS_MAX) return cut_by_table(&cutter, arena, ret_layers);
    *ret_is_exact = 0;
    for (int32_t k = 0; k < q->num_stages; k++)
        ret_layers[k] = cutter.num_layers / q->num_stages + (k < cutter.num_layers % q->num_stages);
    return 1;
}
