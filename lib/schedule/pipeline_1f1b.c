/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The makespan of 1f1b and zb_h1, exactly, in time that does not grow with the micro-batches where it need not.
 *
 * Slots. Device i starts with w = p - 1 - i forwards and then has one slot for each micro-batch t: F of w + t, the
 * backward pass I of t, in zb_h1 W of t - i. (In 1f1b I is the whole backward pass and there is no W.) The slots before 0
 * have F alone, those behind m - 1 - w none. A longest path, which is the makespan, goes on from
 *
 *     F(i, slot t)  to F(i + 1, slot t + 1), with a latency L, or to I(i, slot t)
 *     I(i, slot t)  to I(i - 1, slot t), with L, or through W to F(i, slot t + 1)
 *
 * Let X_i(t) be when F of slot t can start, plus E_i = sum over s < i of (I_s + L): the least time from there to the end.
 * This shift makes the way down free, and what is left is a walk over the devices, one for each slot,
 *
 *     X_i(t + 1) = max( max over a >= i of (X_a(t) + u_a) + W_i,  X_{i-1}(t) + u_{i-1} + 2 L ),   u = F + I :
 *
 * a slot on a costs u_a; then the walk goes up by one device for 2 L, or to any device i below, or stays, with W_i. That
 * is a linear recurrence in the (max, +) algebra, X(t + 1) = M X(t), two additions and two comparisons for each device.
 *
 * Its ends. In the warm-up all passes of a device are alike, so that the longest path takes its p - 1 - i steps on the
 * slowest device up to i: X_i(0) = sum over s < i of (u_s + 2 L) + (p - 1 - i) max over s <= i of F_s. Y_i is the longest
 * path from F of slot n = m - p + 1 to the end, from the same recurrence backwards over the p - 1 slots in which the F end
 * one device after the other. The makespan is the maximum over i of X_i(n) + Y_i.
 *
 * Extrapolation. The cycles of M are the ways from i up to k and back, c = k - i + 1 slots and of weight
 * u_i + ... + u_k + 2 L (k - i) + W_i; let C be the weight of one of largest mean. Let n - t be n' c. If
 *
 *     (1)  X(t) <= X(t - c) + C  on every device, and
 *     (2)  the maximum of X(t) + Y, the makespan of a run with n' c micro-batches less, is that of a device of the cycle,
 *
 * then the makespan is that maximum + n' C. It is not more: M keeps <= (it is monotone, and commutes with adding a number
 * to all), so that (1) holds for every later slot, and X(n) <= X(t) + n' C. It is not less: a walk that is on the cycle
 * at slot t can go round it n' times more. No other device needs to be in its steady state, which may take very long
 * where one is only a little faster than the slowest. Where (1) and (2) do not come to hold, all n slots are run.
 */
#include <math.h>
#include <string.h>
#include "schedule/pipeline_orders.h"

enum { PAD = 4 };

struct walk {
    int32_t p, m;
    const double *forward, *input; /* [p] */
    double *weight;                /* [-PAD .. p + PAD - 1]; NULL: none */
    double latency;
    double *u, *x;           /* [-PAD .. p + PAD - 1]; u is -infinity where there is no device */
    double *y;               /* [p] */
    double *before;          /* [p] X one cycle ago */
    unsigned char *on_cycle; /* [p] whether the device is on a cycle of largest mean, of one length */
    int32_t cycle_slots;     /* c */
    double cycle_s;          /* C */
    double *after;           /* [p] what follows I */
};

#define SPECIALISED static inline __attribute__((always_inline))

SPECIALISED double larger(double a, double b) { return a > b ? a : b; }

/* Of sums of other order. */
static const double ROUNDING = 4e-15;

/* ---- A run with fewer micro-batches than devices: every operation --------------------------------------------- */

static double run_all(const struct walk *walk) {
    const int32_t p = walk->p, m = walk->m;
    double *free_s = walk->u, *forward_there = walk->x, *input_there = walk->y, last = 0;
    memset(free_s, 0, (size_t)p * sizeof *free_s);
    for (int32_t t = 1 - p; t < m; t++) {
        for (int32_t i = p; i-- > 0;) {
            const int32_t k = t + p - 1 - i;
            if (k < 0 || k >= m) continue;
            free_s[i] = larger(free_s[i], i > 0 ? forward_there[i - 1] : 0) + walk->forward[i];
            forward_there[i] = free_s[i] + walk->latency;
        }
        for (int32_t i = p; t >= 0 && i-- > 0;) {
            free_s[i] = larger(free_s[i], i + 1 < p ? input_there[i + 1] : 0) + walk->input[i];
            input_there[i] = free_s[i] + walk->latency;
            if (walk->weight && t >= i) free_s[i] += walk->weight[i];
        }
    }
    for (int32_t i = 0; i < p; i++)
        last = larger(last, free_s[i] + (walk->weight ? (i < m ? i : m) * walk->weight[i] : 0));
    return last;
}

/* ---- The ends ------------------------------------------------------------------------------------------------- */

static void start(const struct walk *walk) {
    double ramp = 0, slowest = 0;
    for (int32_t i = 0; i < walk->p; i++) {
        walk->u[i] = walk->forward[i] + walk->input[i];
        slowest = larger(slowest, walk->forward[i]);
        walk->x[i] = ramp + (walk->p - 1 - i) * slowest;
        ramp += walk->u[i] + 2 * walk->latency;
    }
}

/* Y of 1f1b. From I of slot m - p + k on device k, its last with an F in front of it, there are p - 1 - k steps on the
 * slowest device up to k; the way down is free. */
static void end_whole(const struct walk *walk) {
    const int32_t p = walk->p;
    const double hop = 2 * walk->latency;
    double *y = walk->y, *leave = walk->after, slowest = 0;
    for (int32_t k = 0; k < p; k++) {
        slowest = larger(slowest, walk->input[k]);
        leave[k] = (p - 1 - k) * slowest;
    }
    for (int32_t k = p - 1; k > 0; k--) { /* slot m - p + k: F on devices k to p - 1 */
        double below = leave[k];
        for (int32_t a = k; a < p; a++) {
            if (a > k) below = larger(below, y[a]);
            y[a] = walk->u[a] + (a + 1 < p ? larger(below, y[a + 1] + hop) : below);
        }
    }
    y[0] = leave[0];
}

/* Y of zb_h1: as many W as a device has I before its first are left behind its last I. */
static void end_split(const struct walk *walk) {
    const int32_t p = walk->p, m = walk->m;
    const double hop = 2 * walk->latency;
    double *y = walk->y, *after = walk->after, down = 0; /* after[c]: from the end of I of the slot on c to the end */
    double shift = 0;
    for (int32_t c = 0; c < p; c++) {
        const double own = (c + 1) * walk->weight[c] - shift;
        down = c > 0 ? larger(down, own) : own;
        after[c] = down;
        shift += walk->input[c] + walk->latency;
    }
    if (p > 1) y[p - 1] = walk->u[p - 1] + after[p - 1];
    for (int32_t k = p - 2; k > 0; k--) {
        const int32_t t = m - p + k;
        for (int32_t c = 0; c < p; c++) {
            const double own = (t >= c ? walk->weight[c] : 0) + (c > k ? y[c] : walk->input[c] + after[c]);
            down = c > 0 ? larger(down, own) : own;
            after[c] = down;
            if (c > k) y[c - 1] = walk->u[c - 1] + larger(after[c - 1], y[c] + hop);
        }
        y[p - 1] = walk->u[p - 1] + after[p - 1];
    }
    y[0] = p > 1 ? walk->input[0] + after[0] : 0;
}

/* ---- The cycles ----------------------------------------------------------------------------------------------- */

SPECIALISED double cycle_weight(const struct walk *walk, int32_t first, int32_t slots) {
    double sum = walk->weight ? walk->weight[first] : 0;
    for (int32_t k = first; k < first + slots; k++) sum += walk->u[k];
    return sum + 2 * walk->latency * (slots - 1);
}

static void find_cycle(struct walk *walk) {
    const int32_t p = walk->p;
    const double hop = 2 * walk->latency;
    double best = 0, best_slots = 1;
    for (int32_t first = 0; first < p; first++) {
        double sum = (walk->weight ? walk->weight[first] : 0) - hop, slots = 0;
        for (int32_t k = first; k < p; k++) {
            sum += walk->u[k] + hop;
            slots++;
            if (sum * best_slots > best * slots * (1 + ROUNDING)) best = sum, best_slots = slots;
        }
    }
    walk->cycle_slots = (int32_t)best_slots;
    walk->cycle_s = best;
    memset(walk->on_cycle, 0, (size_t)p);
    for (int32_t first = 0; first + walk->cycle_slots <= p; first++)
        if (cycle_weight(walk, first, walk->cycle_slots) >= best * (1 - ROUNDING))
            memset(walk->on_cycle + first, 1, (size_t)walk->cycle_slots);
}

/* ---- The walk ------------------------------------------------------------------------------------------------- */

/*
 * A slot as a stream over the devices from the last to the first: what comes in is X of device i, what goes out is the
 * next X of device i + 1, which needs no device below.
 */
SPECIALISED double slot(double *from_above, double weight, double x, double u, double hop) {
    const double here = x + u, out = larger(*from_above + weight, here + hop);
    *from_above = larger(*from_above, here);
    return out;
}

/* One slot more. W are those of devices up to `last`. */
SPECIALISED void step(const struct walk *walk, int with_weight, int32_t last) {
    double *x = walk->x, from_above = -INFINITY;
    for (int32_t i = walk->p; i-- > -1;) { /* device -1 brings out X of device 0 */
        const double weight = with_weight && i + 1 <= last ? walk->weight[i + 1] : 0;
        x[i + 1] = slot(&from_above, weight, x[i], walk->u[i], 2 * walk->latency);
    }
}

/* Four slots more: each takes what the one before it gives, a device later, so that the processor has four independent
 * chains of comparisons. Devices beyond both ends have u = -infinity. */
SPECIALISED void four_steps(const struct walk *walk, int with_weight) {
    const double hop = 2 * walk->latency, *u = walk->u, *w = with_weight ? walk->weight : walk->u;
    double *x = walk->x, above[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = walk->p; i-- > -PAD;) {
        const double a = slot(&above[0], with_weight ? w[i + 1] : 0, x[i], u[i], hop);
        const double b = slot(&above[1], with_weight ? w[i + 2] : 0, a, u[i + 1], hop);
        const double c = slot(&above[2], with_weight ? w[i + 3] : 0, b, u[i + 2], hop);
        x[i + 4] = slot(&above[3], with_weight ? w[i + 4] : 0, c, u[i + 3], hop);
    }
}

SPECIALISED void steps(const struct walk *walk, int with_weight, int32_t count) {
    for (; count >= 4; count -= 4) four_steps(walk, with_weight);
    for (; count > 0; count--) step(walk, with_weight, INT32_MAX);
}

static double largest(const struct walk *walk) {
    double most = 0;
    for (int32_t i = 0; i < walk->p; i++) most = larger(most, walk->x[i] + walk->y[i]);
    return most;
}

/* Whether (1) and (2) hold; then *ret_s is the makespan without the slots that are left. */
static int is_settled(const struct walk *walk, double *ret_s) {
    const double limit = 1 + ROUNDING;
    double all = 0, on_cycle = 0;
    int below = 1;
    for (int32_t i = 0; i < walk->p; i++) below &= walk->x[i] <= (walk->before[i] + walk->cycle_s) * limit;
    if (!below) return 0;
    for (int32_t i = 0; i < walk->p; i++) {
        const double sum = walk->x[i] + walk->y[i];
        all = larger(all, sum);
        if (walk->on_cycle[i]) on_cycle = larger(on_cycle, sum);
    }
    *ret_s = on_cycle;
    return on_cycle * limit >= all;
}

SPECIALISED double run(struct walk *walk, int with_weight) {
    const int32_t slots = walk->m - walk->p + 1, c = walk->cycle_slots;
    int32_t done = 0, between = 0; /* slots; cycles between two looks */
    double makespan_s;
    if (with_weight)
        for (; done < walk->p - 1 && done < slots; done++) step(walk, 1, done);
    if (slots - done > 2 * c + 1) {
        int32_t first = (slots - done) % c;
        if (first == 0) first = c;
        steps(walk, with_weight, first);
        done += first;
        while (slots - done > (int64_t)(between + 1) * c) {
            steps(walk, with_weight, between * c);
            memcpy(walk->before, walk->x, (size_t)walk->p * sizeof *walk->x);
            steps(walk, with_weight, c);
            done += (between + 1) * c;
            if (is_settled(walk, &makespan_s)) return makespan_s + (slots - done) / c * walk->cycle_s;
            between += 1 + between / 2;
        }
    }
    steps(walk, with_weight, slots - done);
    return largest(walk);
}

/* ---- From the question ---------------------------------------------------------------------------------------- */

enum { ARRAYS = 7 }; /* of p + 2 PAD doubles each */

/* with_weight: W apart from I. */
static int walk_make(const struct pipeline_question *question, int with_weight, struct walk *ret, double *stack,
                     struct arena *arena) {
    const size_t p = (size_t)question->devices, row = p + 2 * PAD;
    const size_t need = ARRAYS * row + (p + sizeof(double) - 1) / sizeof(double);
    double *room = need <= PIPELINE_STACK ? stack : arena_take(arena, need, sizeof *room);
    if (room == NULL) return 0;
    *ret = (struct walk){.p = question->devices,
                         .m = question->microbatches,
                         .forward = question->forward_s,
                         .input = room + 5 * row,
                         .weight = with_weight ? room + 6 * row + PAD : NULL,
                         .latency = question->latency_s,
                         .u = room + PAD,
                         .x = room + row + PAD,
                         .y = room + 2 * row,
                         .before = room + 3 * row,
                         .after = room + 4 * row,
                         .on_cycle = (unsigned char *)(room + ARRAYS * row)};
    double *input = room + 5 * row;
    for (size_t k = 0; k < PAD; k++) {
        room[k] = room[PAD + p + k] = -INFINITY;
        room[row + k] = room[row + PAD + p + k] = 0;
        if (with_weight) ret->weight[(int32_t)k - PAD] = ret->weight[p + k] = 0;
    }
    for (size_t i = 0; i < p; i++) {
        input[i] = question->backward_input_s[i] + (with_weight ? 0 : question->backward_weight_s[i]);
        if (with_weight) ret->weight[i] = question->backward_weight_s[i];
    }
    return 1;
}

int pipeline_1f1b(const struct pipeline_question *question, struct arena *arena, double *ret_makespan_s) {
    double stack[PIPELINE_STACK];
    struct walk walk;
    if (!walk_make(question, 0, &walk, stack, arena)) return 0;
    if (walk.m < walk.p) {
        *ret_makespan_s = run_all(&walk);
        return 1;
    }
    start(&walk);
    end_whole(&walk);
    find_cycle(&walk);
    *ret_makespan_s = run(&walk, 0);
    return 1;
}

int pipeline_zb_h1(const struct pipeline_question *question, struct arena *arena, double *ret_makespan_s) {
    double stack[PIPELINE_STACK];
    struct walk walk;
    if (!walk_make(question, 1, &walk, stack, arena)) return 0;
    if (walk.m < walk.p) {
        *ret_makespan_s = run_all(&walk);
        return 1;
    }
    start(&walk);
    end_split(&walk);
    find_cycle(&walk);
    *ret_makespan_s = run(&walk, 1);
    return 1;
}

/* All F, then all B. All passes of a device are alike, so that the longest path goes up through F of the first micro-
 * batch and down through B of one, with m - 1 steps on the slowest device each way. */
int pipeline_gpipe(const struct pipeline_question *question, struct arena *arena, double *ret_makespan_s) {
    double ramp = 0, forward = 0, backward = 0;
    (void)arena;
    for (int32_t i = 0; i < question->devices; i++) {
        const double f = question->forward_s[i], b = question->backward_input_s[i] + question->backward_weight_s[i];
        ramp += f + b;
        forward = larger(forward, f);
        backward = larger(backward, b);
    }
    *ret_makespan_s =
        ramp + 2 * question->latency_s * (question->devices - 1) + (question->microbatches - 1) * (forward + backward);
    return 1;
}
