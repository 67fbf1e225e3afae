/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks refutations: that no order of the operations ends within a goal, as a list of clauses each of which follows
 * from those before it by unit propagation (Goldberg and Novikov, Verification of proofs of unsatisfiability for CNF
 * formulas, DATE 2003), down to the empty one.
 *
 * The variables are the starts of the operations in whole ticks, and for each two operations of a device that may run
 * in either order one truth value, "the first of them runs first". A variable x has the codes 2x for x and 2x + 1 for
 * -x; a literal is "code >= value". What holds of every order and needs no step, as edges "x + lag <= y", some of them
 * under the condition of a truth value:
 *
 *   the units of a lane run one after the other; F, I and W of a unit in this order; a stage's input is there first,
 *   with its latency; F of a unit starts when the unit `places` before it is freed; of two operations of a device one
 *   ends first; a truth value implies that of the later units of the second lane and of the earlier ones of the first
 *
 * Times in ticks are rounded down: the start of every operation of an order divided by the tick and rounded down
 * obeys them too. A clause "m" says that a device would hold more than its cap: with all of its literals false, so many
 * units have their F before an operation F, and so few are freed before it, that F finds no room.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "schedule/proof/proof.h"

enum { VARIABLES_MAX = 4000000, FIRST = -1, SECOND = -2 };

struct link { /* an edge: to's bound is at least that of its beginning + lag, if the guard's code is true */
    int64_t lag;
    int32_t from, to, guard; /* guard -1: always */
};

struct watch {
    int32_t *items, count, room;
};

struct pair { /* a truth value: unit i of lane a runs before unit j of lane b */
    int32_t a, i, b, j;
};

struct clause {
    int64_t begin;
    int32_t count; /* 0: forgotten */
};

struct literal {
    int64_t value;
    int32_t code;
};

struct change {
    int64_t old;
    int32_t code;
};

struct refuter {
    const struct proof *proof;
    struct arena *arena;
    double tick_s;
    int64_t goal, *begin, *time, *hold, *come; /* [devices]; [lanes] */
    int32_t *first_of;                         /* [lanes] variable of unit 0's start */
    int32_t *on, *on_begin, *place;            /* streams by device; place of a lane among those of its device */
    int32_t **table;                           /* [lanes][places] entries of pairs, [units][units] */
    int32_t places, num_starts, num_variables, codes;
    struct pair *pairs; /* of variable num_starts + k */
    int64_t *bound;     /* [codes] */
    struct link *links;
    int32_t num_links, links_room, *link_begin, *guarded, *guarded_begin, *implied;
    struct change *trail;
    int64_t num_changes, trail_room, head;
    struct clause *clauses;
    int64_t num_clauses, clauses_room;
    struct literal *literals;
    int64_t num_literals, literals_room;
    struct watch *watches;
    int32_t refuted, no_memory; /* the empty clause follows */
};

/* ---- Lists ------------------------------------------------------------------------------------------------ */

/* Room for one more; 0: no memory. */
static int grow(struct refuter *refuter, void **items, int64_t count, int64_t *room, size_t size) {
    if (count < *room) return 1;
    const int64_t more = *room ? 2 * *room : 256;
    void *bigger = realloc(*items, (size_t)more * size);
    if (bigger == NULL) {
        refuter->no_memory = 1;
        return 0;
    }
    *items = bigger;
    *room = more;
    return 1;
}

static void watch(struct refuter *refuter, struct literal literal, int32_t clause) {
    struct watch *list = &refuter->watches[literal.code ^ 1];
    int64_t room = list->room;
    if (!grow(refuter, (void **)&list->items, list->count, &room, sizeof *list->items)) return;
    list->room = (int32_t)room;
    list->items[list->count++] = clause;
}

static void add_link(struct refuter *refuter, int32_t x, int32_t y, int64_t lag, int32_t guard) {
    for (int way = 0; way < 2; way++) {
        int64_t room = refuter->links_room;
        if (!grow(refuter, (void **)&refuter->links, refuter->num_links, &room, sizeof *refuter->links)) return;
        refuter->links_room = (int32_t)room;
        refuter->links[refuter->num_links++] =
            way ? (struct link){lag, 2 * y + 1, 2 * x + 1, guard} : (struct link){lag, 2 * x, 2 * y, guard};
    }
}

/* ---- What is sure of two operations ----------------------------------------------------------------------- */

static int32_t units(const struct refuter *refuter, int32_t lane) { return refuter->proof->units[lane / 3]; }

/* Units of a stream that the cap lets in before the first is freed. */
static int32_t places_of(const struct proof *proof, int32_t stream) {
    const double amount = proof->amount[proof_stage(proof, stream)];
    const double cap = proof->cap[proof->device_of[stream]] * (1 + 1e-12);
    return amount > 0 && cap / amount < proof->units[stream] ? (int32_t)floor(cap / amount) : proof->units[stream];
}

/* Whether a unit's operation in lane a comes before that in lane b: down through F, up through I, W behind its I. */
static int leads(const struct proof *proof, int32_t a, int32_t b) {
    const int32_t s = a / 3, t = b / 3, k = proof_stage(proof, s), l = proof_stage(proof, t);
    if (s / proof->stages != t / proof->stages || a % 3 == 2) return 0;
    if (a % 3 == 0 && b % 3 == 0) return k < l;
    if (a % 3 == 0) return 1;
    if (b % 3 == 0) return 0;
    return b % 3 == 1 ? k > l : k >= l;
}

static int32_t surely(const struct proof *proof, int32_t a, int32_t i, int32_t b, int32_t j) {
    if (i <= j && leads(proof, a, b)) return FIRST;
    if (j <= i && leads(proof, b, a)) return SECOND;
    if (a / 3 != b / 3) return 0;
    if (a % 3 == 0 && b % 3 <= proof->frees && i >= j + places_of(proof, a / 3)) return SECOND;
    if (b % 3 == 0 && a % 3 <= proof->frees && j >= i + places_of(proof, a / 3)) return FIRST;
    return 0;
}

static int32_t entry(const struct refuter *refuter, int32_t a, int32_t i, int32_t b, int32_t j) {
    return refuter->table[a * refuter->places + refuter->place[b]][(int64_t)i * units(refuter, b) + j];
}

/* The code that is true when unit i of lane a runs before unit j of lane b; FIRST: sure, SECOND: surely not. */
static int32_t before(const struct refuter *refuter, int32_t a, int32_t i, int32_t b, int32_t j) {
    const int swapped = refuter->place[a] > refuter->place[b];
    const int32_t e = swapped ? entry(refuter, b, j, a, i) : entry(refuter, a, i, b, j);
    if (e < 0) return swapped ? (e == FIRST ? SECOND : FIRST) : e;
    return 2 * e + swapped;
}

static int64_t truth(int32_t code) { return code & 1 ? 0 : 1; }

static int is_true(const struct refuter *refuter, int32_t code) {
    return code == FIRST || (code >= 0 && refuter->bound[code] >= truth(code));
}

/* ---- The problem ------------------------------------------------------------------------------------------ */

static int32_t start(const struct refuter *refuter, int32_t lane, int32_t unit) {
    return refuter->first_of[lane] + unit;
}

/* Lane number k of a device. */
static int32_t lane_at(const struct refuter *refuter, int32_t d, int32_t k) {
    return 3 * refuter->on[refuter->on_begin[d] + k / 3] + k % 3;
}

static int number_all(struct refuter *refuter) {
    const struct proof *proof = refuter->proof;
    int64_t count = 0, entries = 0;
    int32_t at = 0;
    for (int32_t lane = 0; lane < proof->lanes; lane++) {
        refuter->first_of[lane] = (int32_t)count;
        if ((count += units(refuter, lane)) > VARIABLES_MAX) return 0;
    }
    refuter->num_starts = (int32_t)count;
    for (int32_t d = 0; d < proof->devices; d++) {
        refuter->on_begin[d] = at;
        for (int32_t s = 0; s < proof->streams; s++) {
            if (proof->device_of[s] != d) continue;
            for (int32_t kind = 0; kind < 3; kind++)
                refuter->place[3 * s + kind] = 3 * (at - refuter->on_begin[d]) + kind;
            refuter->on[at++] = s;
        }
        if (3 * (at - refuter->on_begin[d]) > refuter->places) refuter->places = 3 * (at - refuter->on_begin[d]);
    }
    refuter->on_begin[proof->devices] = at;
    refuter->table = arena_alloc(refuter->arena, (size_t)proof->lanes * (size_t)refuter->places, sizeof(int32_t *));
    int64_t room = 0;
    for (int32_t d = 0; refuter->table && d < proof->devices; d++) {
        const int32_t lanes = 3 * (refuter->on_begin[d + 1] - refuter->on_begin[d]);
        for (int32_t k = 0; k < lanes; k++)
            for (int32_t l = k + 1; l < lanes; l++) {
                const int32_t a = lane_at(refuter, d, k), b = lane_at(refuter, d, l);
                const int64_t size = (int64_t)units(refuter, a) * units(refuter, b);
                if ((entries += size) > 40000000) return 0;
                int32_t *table = arena_alloc(refuter->arena, (size_t)size + 1, sizeof *table);
                if (table == NULL) return 0;
                refuter->table[a * refuter->places + l] = table;
                for (int32_t i = 0; i < units(refuter, a); i++)
                    for (int32_t j = 0; j < units(refuter, b); j++) {
                        const int32_t sure = surely(proof, a, i, b, j);
                        *table++ = sure ? sure : (int32_t)count;
                        if (sure) continue;
                        if (!grow(refuter, (void **)&refuter->pairs, count - refuter->num_starts, &room,
                                  sizeof *refuter->pairs))
                            return 0;
                        refuter->pairs[count++ - refuter->num_starts] = (struct pair){a, i, b, j};
                        if (count > VARIABLES_MAX) return 0;
                    }
            }
    }
    refuter->num_variables = (int32_t)count;
    refuter->codes = 2 * refuter->num_variables;
    return refuter->table != NULL;
}

static int64_t occupied(const struct refuter *refuter, int32_t lane) {
    return refuter->time[lane] + refuter->hold[lane];
}

static void link_lane(struct refuter *refuter, int32_t lane) {
    const struct proof *proof = refuter->proof;
    const int32_t input = proof_input(proof, lane), freed = 3 * (lane / 3) + proof->frees;
    const int32_t room = places_of(proof, lane / 3);
    for (int32_t j = 0; j < units(refuter, lane); j++) {
        const int32_t x = start(refuter, lane, j), device = proof->device_of[lane / 3];
        refuter->bound[2 * x] = 0;
        refuter->bound[2 * x + 1] = refuter->time[lane] - refuter->begin[device] - refuter->goal;
        if (j > 0) add_link(refuter, x - 1, x, occupied(refuter, lane), -1);
        if (lane % 3 > 0) add_link(refuter, start(refuter, lane - 1, j), x, occupied(refuter, lane - 1), -1);
        if (input >= 0) add_link(refuter, start(refuter, input, j), x, refuter->time[input] + refuter->come[lane], -1);
        if (lane % 3 == 0 && j >= room)
            add_link(refuter, start(refuter, freed, j - room), x, occupied(refuter, freed), -1);
    }
}

static void imply(struct refuter *refuter, int32_t z, int slot, int32_t other) {
    if (other < 0) return;
    refuter->implied[2 * (2 * z) + slot] = 2 * other;
    refuter->implied[2 * (2 * other + 1) + slot] = 2 * z + 1;
}

static void link_pair(struct refuter *refuter, int32_t z) {
    const struct pair *pair = &refuter->pairs[z - refuter->num_starts];
    const int32_t x = start(refuter, pair->a, pair->i), y = start(refuter, pair->b, pair->j);
    refuter->bound[2 * z] = 0;
    refuter->bound[2 * z + 1] = -1;
    add_link(refuter, x, y, occupied(refuter, pair->a), 2 * z);
    add_link(refuter, y, x, occupied(refuter, pair->b), 2 * z + 1);
    if (pair->i > 0) imply(refuter, z, 0, entry(refuter, pair->a, pair->i - 1, pair->b, pair->j));
    if (pair->j + 1 < units(refuter, pair->b))
        imply(refuter, z, 1, entry(refuter, pair->a, pair->i, pair->b, pair->j + 1));
}

static int compare_links(const void *left, const void *right) {
    const struct link *a = left, *b = right;
    return a->from != b->from ? (a->from < b->from ? -1 : 1) : a->to != b->to ? (a->to < b->to ? -1 : 1) : 0;
}

static int index_links(struct refuter *refuter) {
    const size_t codes = (size_t)refuter->codes;
    qsort(refuter->links, (size_t)refuter->num_links, sizeof *refuter->links, compare_links);
    refuter->link_begin = arena_alloc(refuter->arena, codes + 2, sizeof *refuter->link_begin);
    refuter->guarded_begin = arena_alloc(refuter->arena, codes + 3, sizeof *refuter->guarded_begin);
    refuter->guarded = arena_alloc(refuter->arena, (size_t)refuter->num_links + 1, sizeof *refuter->guarded);
    if (!refuter->link_begin || !refuter->guarded_begin || !refuter->guarded) return 0;
    for (int32_t e = 0; e < refuter->num_links; e++) {
        refuter->link_begin[refuter->links[e].from + 1]++;
        if (refuter->links[e].guard >= 0) refuter->guarded_begin[refuter->links[e].guard + 2]++;
    }
    for (size_t c = 0; c < codes; c++) {
        refuter->link_begin[c + 1] += refuter->link_begin[c];
        refuter->guarded_begin[c + 2] += refuter->guarded_begin[c + 1];
    }
    for (int32_t e = 0; e < refuter->num_links; e++)
        if (refuter->links[e].guard >= 0) refuter->guarded[refuter->guarded_begin[refuter->links[e].guard + 1]++] = e;
    return 1;
}

static int make_problem(struct refuter *refuter) {
    const struct proof *proof = refuter->proof;
    const size_t lanes = (size_t)proof->lanes, streams = (size_t)proof->streams, p = (size_t)proof->devices;
    refuter->first_of = arena_alloc(refuter->arena, lanes, sizeof *refuter->first_of);
    refuter->place = arena_alloc(refuter->arena, lanes, sizeof *refuter->place);
    refuter->on = arena_alloc(refuter->arena, streams, sizeof *refuter->on);
    refuter->on_begin = arena_alloc(refuter->arena, p + 1, sizeof *refuter->on_begin);
    if (!refuter->first_of || !refuter->place || !refuter->on || !refuter->on_begin || !number_all(refuter)) return 0;
    const size_t codes = (size_t)refuter->codes + 2;
    refuter->bound = arena_alloc(refuter->arena, codes, sizeof *refuter->bound);
    refuter->implied = arena_alloc(refuter->arena, 2 * codes, sizeof *refuter->implied);
    refuter->watches = calloc(codes, sizeof *refuter->watches);
    if (!refuter->bound || !refuter->implied || !refuter->watches) return 0;
    memset(refuter->implied, -1, 2 * codes * sizeof *refuter->implied);
    for (int32_t lane = 0; lane < proof->lanes; lane++) link_lane(refuter, lane);
    for (int32_t z = refuter->num_starts; z < refuter->num_variables; z++) link_pair(refuter, z);
    return !refuter->no_memory && index_links(refuter);
}

/* ---- Propagation ------------------------------------------------------------------------------------------ */

/* 0: a contradiction. */
static int raise(struct refuter *refuter, int32_t code, int64_t value) {
    if (value <= refuter->bound[code]) return 1;
    if (value + refuter->bound[code ^ 1] > 0) return 0;
    if (!grow(refuter, (void **)&refuter->trail, refuter->num_changes, &refuter->trail_room, sizeof *refuter->trail))
        return 1;
    refuter->trail[refuter->num_changes++] = (struct change){refuter->bound[code], code};
    refuter->bound[code] = value;
    return 1;
}

static int follow(struct refuter *refuter, const struct link *link) {
    const int64_t value = refuter->bound[link->from] + link->lag;
    if (link->guard < 0 || is_true(refuter, link->guard)) return raise(refuter, link->to, value);
    if (value + refuter->bound[link->to ^ 1] > 0) return raise(refuter, link->guard ^ 1, truth(link->guard ^ 1));
    return 1;
}

static int literal_false(const struct refuter *refuter, struct literal literal) {
    return refuter->bound[literal.code ^ 1] >= 1 - literal.value;
}

static int literal_true(const struct refuter *refuter, struct literal literal) {
    return refuter->bound[literal.code] >= literal.value;
}

/* The clauses of which a literal may have become false. */
static int visit(struct refuter *refuter, int32_t code) {
    struct watch *list = &refuter->watches[code];
    int32_t kept = 0, at = 0, fine = 1;
    for (; at < list->count && fine; at++) {
        const int32_t number = list->items[at];
        const struct clause clause = refuter->clauses[number];
        struct literal *literals = refuter->literals + clause.begin, swap;
        if (clause.count == 0) continue;
        list->items[kept++] = number;
        const int which = (literals[1].code ^ 1) == code && literal_false(refuter, literals[1]);
        if (!which && !((literals[0].code ^ 1) == code && literal_false(refuter, literals[0]))) continue;
        if (literal_true(refuter, literals[1 - which])) continue;
        int32_t k = 2;
        while (k < clause.count && literal_false(refuter, literals[k])) k++;
        if (k < clause.count) {
            swap = literals[which], literals[which] = literals[k], literals[k] = swap;
            if (literals[which].code == (code ^ 1)) continue; /* the same list watches it */
            kept--;
            watch(refuter, literals[which], number);
        } else {
            fine = raise(refuter, literals[1 - which].code, literals[1 - which].value);
        }
    }
    for (; at < list->count; at++) list->items[kept++] = list->items[at];
    list->count = kept;
    return fine;
}

/* 0: a contradiction. */
static int propagate(struct refuter *refuter) {
    for (; refuter->head < refuter->num_changes && !refuter->no_memory; refuter->head++) {
        const int32_t code = refuter->trail[refuter->head].code;
        if (!visit(refuter, code)) return 0;
        if (code >= 2 * refuter->num_starts) {
            for (int slot = 0; slot < 2; slot++) {
                const int32_t other = refuter->implied[2 * code + slot];
                if (other >= 0 && !raise(refuter, other, truth(other))) return 0;
            }
            for (int32_t k = refuter->guarded_begin[code]; k < refuter->guarded_begin[code + 1]; k++)
                if (!follow(refuter, &refuter->links[refuter->guarded[k]])) return 0;
        }
        for (int32_t e = refuter->link_begin[code]; e < refuter->link_begin[code + 1]; e++)
            if (!follow(refuter, &refuter->links[e])) return 0;
    }
    return 1;
}

static void undo(struct refuter *refuter) {
    while (refuter->num_changes > 0) {
        const struct change change = refuter->trail[--refuter->num_changes];
        refuter->bound[change.code] = change.old;
    }
    refuter->head = 0;
}

/* Keeps what was raised for good. */
static void settle(struct refuter *refuter) {
    if (!propagate(refuter)) refuter->refuted = 1;
    refuter->num_changes = refuter->head = 0;
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

/* Whether F of a unit finds no room, as far as the order is known. */
static int is_full(const struct refuter *refuter, int32_t lane, int32_t unit) {
    const struct proof *proof = refuter->proof;
    const int32_t device = proof->device_of[lane / 3];
    double held = 0;
    for (int32_t k = refuter->on_begin[device]; k < refuter->on_begin[device + 1]; k++) {
        const int32_t s = refuter->on[k], forward = 3 * s, freed = 3 * s + proof->frees;
        int32_t in = 0, out = 0;
        if (forward == lane)
            in = unit + 1;
        else
            while (in < proof->units[s] && is_true(refuter, before(refuter, forward, in, lane, unit))) in++;
        while (out < in) { /* freed units, unless surely later */
            const int32_t later = before(refuter, lane, unit, freed, out);
            if (is_true(refuter, later)) break;
            out++;
        }
        held += proof->amount[proof_stage(proof, s)] * (in - out);
    }
    return held > proof->cap[device] * (1 + 2e-12);
}

/* Whether the operations of the clause's first truth value break the cap. */
static int breaks_cap(const struct refuter *refuter, const struct literal *literals, int32_t count) {
    if (count == 0 || literals[0].code < 2 * refuter->num_starts) return 0;
    const struct pair *pair = &refuter->pairs[literals[0].code / 2 - refuter->num_starts];
    return (pair->a % 3 == 0 && is_full(refuter, pair->a, pair->i)) ||
           (pair->b % 3 == 0 && is_full(refuter, pair->b, pair->j));
}

/* Whether the clause follows: with all its literals false there is a contradiction, or for "m" no room. */
static int follows(struct refuter *refuter, const struct literal *literals, int32_t count, int memory) {
    int fine = 1;
    for (int32_t k = 0; k < count && fine; k++) fine = raise(refuter, literals[k].code ^ 1, 1 - literals[k].value);
    int found = !fine || !propagate(refuter);
    if (!found && memory) found = breaks_cap(refuter, literals, count);
    undo(refuter);
    return found;
}

/* Adds a clause; the two literals that it watches are not false, where there are two. After the refutation all
 * clauses follow, and it only counts. */
static int add_clause(struct refuter *refuter, int64_t begin, int32_t count) {
    struct literal *literals = refuter->literals + begin, swap;
    int32_t open = 0;
    for (int32_t k = 0; k < count && open < 2; k++) {
        if (literal_false(refuter, literals[k])) continue;
        swap = literals[open], literals[open] = literals[k], literals[k] = swap;
        open++;
    }
    if (!grow(refuter, (void **)&refuter->clauses, refuter->num_clauses, &refuter->clauses_room,
              sizeof *refuter->clauses))
        return 0;
    refuter->clauses[refuter->num_clauses++] = (struct clause){begin, open < 2 ? 0 : count};
    if (open < 2 || refuter->refuted) refuter->num_literals = begin; /* it is not looked at again */
    if (refuter->refuted) return 1;
    if (open == 0) {
        refuter->refuted = 1;
    } else if (open == 1) {
        if (!raise(refuter, literals[0].code, literals[0].value)) refuter->refuted = 1;
        settle(refuter);
    } else {
        watch(refuter, literals[0], (int32_t)(refuter->num_clauses - 1));
        watch(refuter, literals[1], (int32_t)(refuter->num_clauses - 1));
    }
    return 1;
}

/* One step: "a" or "m" and literals, or "d" and the number of a clause. NULL, or what is wrong with it. */
static const char *take_step(struct refuter *refuter, struct proof_reader *reader) {
    const int64_t most = (int64_t)1 << 60, begin = refuter->num_literals;
    int64_t code = 0, value = 0;
    if (proof_word(reader, "d")) {
        if (!proof_whole(reader, 0, refuter->num_clauses - 1, &code) || !proof_line_end(reader))
            return "a clause that there is not cannot be forgotten";
        refuter->clauses[code].count = 0;
        return NULL;
    }
    const int memory = proof_word(reader, "m");
    if (!memory && !proof_word(reader, "a")) return "a step must be 'a', 'm' or 'd'";
    while (!proof_line_end(reader)) {
        if (!proof_whole(reader, 0, refuter->codes - 1, &code) || !proof_whole(reader, -most, most, &value))
            return "a literal must be a code and a value";
        if (!grow(refuter, (void **)&refuter->literals, refuter->num_literals, &refuter->literals_room,
                  sizeof *refuter->literals))
            return NULL;
        refuter->literals[refuter->num_literals++] = (struct literal){value, (int32_t)code};
    }
    const int32_t count = (int32_t)(refuter->num_literals - begin);
    if (!refuter->refuted && !follows(refuter, refuter->literals + begin, count, memory))
        return memory ? "this clause does not follow from the cap" : "this clause does not follow from those before it";
    add_clause(refuter, begin, count);
    return NULL;
}

/* ---- Ticks ------------------------------------------------------------------------------------------------ */

static int read_ticks(struct refuter *refuter, struct proof_reader *reader, const char *name, int32_t count,
                      int64_t **ret) {
    *ret = arena_alloc(refuter->arena, (size_t)count, sizeof **ret);
    if (*ret == NULL || !proof_word(reader, name)) return 0;
    for (int32_t k = 0; k < count; k++)
        if (!proof_whole(reader, 0, (int64_t)1 << 50, &(*ret)[k])) return 0;
    return proof_line_end(reader);
}

static int is_within(const struct refuter *refuter, int64_t ticks, double time_s) {
    return (double)ticks * refuter->tick_s <= time_s * (1 + 1e-12);
}

/* No time may be shorter than its ticks. */
static int check_ticks(const struct refuter *refuter) {
    const struct proof *proof = refuter->proof;
    for (int32_t lane = 0; lane < proof->lanes; lane++) {
        const int32_t s = lane / 3, k = proof_stage(proof, s), kind = lane % 3, here = proof->device_of[s];
        const int32_t next = kind == 0 && k + 1 < proof->stages ? s + 1 : kind == 1 && k > 0 ? s - 1 : -1;
        const int32_t input = proof_input(proof, lane);
        const double come = input < 0 ? 0 : proof_latency(proof, proof->device_of[input / 3], here);
        const double hold = next < 0 || !proof->blocking ? 0 : proof_latency(proof, here, proof->device_of[next]);
        if (!is_within(refuter, refuter->time[lane], proof->time[kind][k])) return 0;
        if (!is_within(refuter, refuter->hold[lane], hold) || !is_within(refuter, refuter->come[lane], come)) return 0;
    }
    return 1;
}

/* By how much the devices' beginnings are rounded down; INFINITY where this form has no proof of a span. Each device
 * begins with F of micro-batch 0 in the stage of its own number, and nothing can delay that. */
static double loss_of(const struct refuter *refuter) {
    const struct proof *proof = refuter->proof;
    double loss = 0;
    for (int32_t d = 0; d < proof->devices; d++) {
        if (!proof->span && refuter->begin[d] != 0) return INFINITY;
        if (!proof->span) continue;
        if (proof->replicas != 1 || proof->stages < proof->devices || proof->device_of[d] != d) return INFINITY;
        loss = fmax(loss, proof_entry(proof, d) - (double)refuter->begin[d] * refuter->tick_s);
    }
    return loss;
}

static int read_head(struct refuter *refuter, struct proof_reader *reader) {
    const struct proof *proof = refuter->proof;
    if (!proof_word(reader, "tick_s") || !proof_real(reader, &refuter->tick_s) || !proof_line_end(reader)) return 0;
    if (!(refuter->tick_s > 0) || !proof_word(reader, "goal")) return 0;
    if (!proof_whole(reader, 0, (int64_t)1 << 52, &refuter->goal) || !proof_line_end(reader)) return 0;
    return read_ticks(refuter, reader, "begin", proof->devices, &refuter->begin) &&
           read_ticks(refuter, reader, "time", proof->lanes, &refuter->time) &&
           read_ticks(refuter, reader, "hold", proof->lanes, &refuter->hold) &&
           read_ticks(refuter, reader, "come", proof->lanes, &refuter->come);
}

/* ---- All of it -------------------------------------------------------------------------------------------- */

static int32_t check_steps(struct refuter *refuter, struct proof_reader *reader, int64_t *ret_steps,
                           struct kerf_error *err) {
    for (int32_t e = 0; e < refuter->num_links && !refuter->refuted; e++)
        if (!follow(refuter, &refuter->links[e])) refuter->refuted = 1;
    settle(refuter);
    *ret_steps = 0;
    while (!proof_word(reader, "end")) {
        const struct proof_reader line = *reader;
        const char *wrong = take_step(refuter, reader);
        if (wrong) return proof_wrong(&line, err, wrong);
        if (refuter->no_memory) return error_no_memory(err, "the certificate");
        ++*ret_steps;
    }
    if (!proof_line_end(reader) || reader->at != reader->end)
        return proof_wrong(reader, err, "nothing may follow the certificate's 'end'");
    return refuter->refuted ? KERF_OK : proof_wrong(reader, err, "the steps do not refute the goal");
}

static void free_lists(struct refuter *refuter) {
    for (int32_t c = 0; refuter->watches && c < refuter->codes; c++) free(refuter->watches[c].items);
    free(refuter->watches), free(refuter->pairs), free(refuter->links), free(refuter->trail), free(refuter->clauses);
    free(refuter->literals);
}

int32_t proof_refute(const struct proof *proof, struct arena *arena, double *ret_bound, int64_t *ret_steps,
                     struct kerf_error *err) {
    struct refuter refuter = {.proof = proof, .arena = arena};
    struct proof_reader reader = proof->steps;
    int32_t code = KERF_OK;
    if (!read_head(&refuter, &reader)) code = proof_wrong(&reader, err, "ticks are not what their form has here");
    const double loss = code == KERF_OK ? loss_of(&refuter) : 0;
    if (code == KERF_OK && (!check_ticks(&refuter) || isinf(loss)))
        code = proof_wrong(&reader, err, "the ticks are not those of the problem, rounded down");
    if (code == KERF_OK && !make_problem(&refuter))
        code = proof_wrong(&reader, err, "the problem is too large for a refutation");
    if (code == KERF_OK) code = check_steps(&refuter, &reader, ret_steps, err);
    if (code == KERF_OK) *ret_bound = (double)(refuter.goal + 1) * refuter.tick_s - loss;
    free_lists(&refuter);
    return code;
}
