/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often the policy `kerf` is right, and how often it says so, on surfaces that are not smooth: tiles, cores, caches,
 * flags that matter together, one fast value among many, noise of several kinds. Nothing runs and nothing sleeps: a
 * study asks for a setting and gets a number.
 *
 *     rough                       every case, 20 seeds each
 *     rough SEEDS [FIRST [CASE]]  so many seeds from FIRST on, of the cases whose name begins with CASE ("all")
 *     rough --play CASE SEED      runs that case for another program, such as bench/rough_optuna
 *
 * ROUGH_SIZES=28,56 in its environment: what is known of the machine, instead of what the case says.
 *
 * right: the answer is truly within 3 % of the best of the space; said: the mean probability that was stated; runs: the
 * median; random: the share of random searches that are right with as many runs, one of each setting. A case is marked
 * where right is below said by more than 4 points and the chance of so few seeds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/random.h"
#include "base/threads.h"
#include "kerf/tune.h"

enum { PARAMS_MAX = 30, SIZES_MAX = 4, SEEDS_MAX = 400 };

/* value[k]: the integer of parameter k, or the index of its word; of a flag 0 or 1. */
typedef double (*surface)(const double *value, int32_t num);

static double throughput(double n, double a, double b) { return (1 + a * (n - 1) + b * n * (n - 1)) / n; }
static int divides(double value, int by) { return (int64_t)value % by == 0; }

static double noise_of(uint64_t x) {
    struct pcg64 rng = random_seed(x + 77);
    return random_double(&rng);
}

static double tensor(const double *v, int32_t n) {
    (void)n;
    return (1 + 4 / v[0] + 0.004 * v[0]) * (divides(v[0], 8) ? 1 : 1.15);
}

static double saw(const double *v, int32_t n) {
    (void)n;
    double bowl = 1 + 0.0002 * (v[0] - 90) * (v[0] - 90) + 0.0001 * (v[1] - 40) * (v[1] - 40);
    return bowl * (divides(v[0], 16) ? 1 : 1.15) * (divides(v[1], 8) ? 1 : 1.1);
}

static double saw3(const double *v, int32_t n) {
    double third = 1 + 0.0001 * (v[2] - 300) * (v[2] - 300) / (1 + 0.01 * fabs(v[2] - 300));
    return saw(v, n) * third * (divides(v[2], 4) ? 1 : 1.08);
}

static double flags(const double *v, int32_t n, const double *effects, int a, int b, double both) {
    double y = 1;
    for (int32_t k = 0; k < n; k++)
        if (v[k] > 0) y *= 1 + effects[k];
    return v[a] > 0 && v[b] > 0 ? y * both : y;
}

/* Every third flag helps by 1 to 5 %, every other one hurts as much, and two together help more. */
static double flags30(const double *v, int32_t n) {
    double effects[PARAMS_MAX];
    for (int32_t k = 0; k < n; k++) effects[k] = (k % 3 ? 0.01 : -0.01) * (1 + 4 * noise_of((uint64_t)k + 30));
    return flags(v, n, effects, 4, 9, 0.85);
}

static double flags8(const double *v, int32_t n) {
    static const double effects[] = {-0.05, 0.03, -0.02, 0, 0.06, -0.08, 0.01, 0};
    return flags(v, n, effects, 3, 7, 0.85);
}

static double flags6(const double *v, int32_t n) {
    static const double effects[] = {-0.03, 0.04, -0.05, 0.02, -0.02, 0.06};
    return flags(v, n, effects, 1, 3, 0.8);
}

static double flags10(const double *v, int32_t n) {
    static const double effects[] = {0.02, -0.04, 0.01, 0, -0.06, 0.05, 0, 0.03, -0.02, 0.01};
    double y = flags(v, n, effects, 0, 6, 0.9);
    return v[3] > 0 && v[8] > 0 ? y * 1.2 : y;
}

static double needle(const double *v, int32_t n) {
    (void)n;
    return v[0] == 37 ? 0.8 : 1;
}

static double six(const double *v, int32_t n) {
    double b = log2(v[0]) - 5, y = 1 + 0.08 * b * b;
    (void)n;
    y *= throughput(v[1], 0.05, 0.002) / throughput(12, 0.05, 0.002) * (1 + 0.01 * (32 - v[2]));
    if (v[3] > 0) y *= 0.9;
    if (v[4] > 0) y *= v[0] > 32 ? 0.95 : 1.07;
    return v[5] == 1 ? y * 1.2 : v[5] == 2 ? y * (v[3] > 0 ? 0.94 : 1.15) : y;
}

static double smt(const double *v, int32_t n) {
    (void)n;
    return throughput(v[0], 0.02, 0.0015) * (!divides(v[0], 2) && v[0] > 1 ? 1.08 : 1) * (v[0] > 24 ? 1.1 : 1);
}

static double cores(const double *v, int32_t n) { /* as many threads as cores, and a cliff behind them */
    (void)n;
    return throughput(fmin(v[0], 8), 0.03, 0) * (v[0] > 8 ? 1.6 + 0.05 * (v[0] - 8) : 1);
}

static double dozen(const double *v, int32_t n) { /* nodes of six cores: multiples of 6 and 12 */
    (void)n;
    return throughput(v[0], 0.01, 0.0006) * (divides(v[0], 12) ? 0.9 : divides(v[0], 6) ? 0.95 : 1);
}

/* Two nodes of 28 cores: whole nodes are shared evenly, more threads than cores get in each other's way. */
static double nodes28(const double *v, int32_t n) {
    (void)n;
    return throughput(v[0], 0.02, 0.0003) * (divides(v[0], 28) ? 0.92 : 1) * (v[0] > 56 ? 1.2 : 1);
}

/* The same without a step: the best of the rest are 40 threads. */
static double even28(const double *v, int32_t n) {
    (void)n;
    return throughput(v[0], 0.02, 0.0006) * (divides(v[0], 28) ? 0.92 : 1);
}

/* One node of 22 cores: the second one is far, and one thread less than all leaves room for others. */
static double node22(const double *v, int32_t n) {
    (void)n;
    return throughput(v[0], 0.03, 0.0005) * (v[0] > 22 ? 1.3 : 1) * (v[0] > 44 ? 1.2 : 1);
}

static double smooth(const double *v, int32_t n) {
    (void)n;
    return throughput(v[0], 0.02, 0.0008);
}

static double kvfa(const double *v, int32_t n) {
    double u = log2(v[2]) - 8, y = v[1] > 0 ? 0.97 : 1;
    (void)n;
    if (v[0] == 1) y *= v[1] > 0 ? 0.93 : 1.1;
    if (v[0] == 2) y *= v[1] > 0 ? 0.9 : 1.3;
    return y * (1 + 0.04 * u * u);
}

/* Words and a flag that matter together, by chance, and a bowl in the sizes: another one for each seed. */
static double any_kvfa(const double *v, uint64_t seed) {
    struct pcg64 rng = random_seed(seed * 104729 + 4242);
    double of[6], best = 5 + 6 * random_double(&rng), curve = 0.02 + 0.04 * random_double(&rng);
    for (int k = 0; k < 6; k++) of[k] = random_normal(&rng, 0, 0.08);
    double u = log2(v[2]) - best;
    return exp(of[(int)v[0]] + (v[1] > 0 ? of[3 + (int)v[0]] : 0)) * (1 + curve * u * u);
}

/* Six flags, a third of which have no effect, and two of them matter together. */
static double any_flags(const double *v, uint64_t seed) {
    enum { FLAGS = 6 };
    struct pcg64 rng = random_seed(seed * 104729 + 777);
    double y = 0, both = random_normal(&rng, 0, 0.12);
    int one = (int)random_to(&rng, FLAGS - 1), other = (one + 1 + (int)random_to(&rng, FLAGS - 2)) % FLAGS;
    for (int k = 0; k < FLAGS; k++) {
        double effect = random_normal(&rng, 0, 0.05);
        if (random_to(&rng, 2) > 0 && v[k] > 0) y += effect;
    }
    return exp(v[one] > 0 && v[other] > 0 ? y + both : y);
}

/* Up to three parameters of up to seven values: each value has an effect by chance, and so has each setting. */
static double any_few(const double *v, uint64_t seed) {
    uint64_t place = 0;
    double y = 0;
    for (int k = 0; k < 3; k++) {
        place = 7 * place + (uint64_t)v[k];
        struct pcg64 rng = random_seed(seed * 104729 + 8 * (uint64_t)v[k] + (uint64_t)k);
        y += random_normal(&rng, 0, 0.05);
    }
    struct pcg64 rng = random_seed(seed * 7919 + 1000 + place);
    return exp(y + random_normal(&rng, 0, 0.02));
}

static double words12(const double *v, int32_t n) {
    static const double of[] = {1.3, 1.1, 1.12, 1, 1.25, 1.08, 1.4, 1.04, 1.9, 1.15, 1.2, 1.06};
    (void)n;
    return of[(int)v[0]];
}

static double pair(const double *v, int32_t n) {
    (void)n;
    return v[0] > 0 ? 1.06 : 1;
}

static double two(const double *v, int32_t n) { /* just beyond what counts as right */
    (void)n;
    return v[0] > 1 ? 1.04 : 1;
}

static double cache(const double *v, int32_t n) {
    (void)n;
    return 3 / pow(v[0], 0.1) * (v[0] > 512 ? 1.5 : 1) * (v[0] > 8192 ? 1.5 : 1);
}

static double scattered(const double *v, int32_t n) {
    (void)n;
    return 1 + noise_of((uint64_t)v[0]);
}

static double flat(const double *v, int32_t n) {
    (void)v;
    (void)n;
    return 1;
}

/* No setting tells of another. */
static double disorder(const double *v, int32_t n) {
    uint64_t place = 0;
    for (int32_t k = 0; k < n; k++) place = 64 * place + (uint64_t)v[k];
    struct pcg64 rng = random_seed(place);
    return exp(random_normal(&rng, 0, 0.08));
}

static double valleys(const double *v, int32_t n) {
    (void)n;
    return v[0] <= 8 ? 1 + 0.1 * fabs(log2(v[0]) - 1) : 0.94 + 0.1 * fabs(log2(v[0]) - 8);
}

/* A matrix product: tiles m, n, k, and of a warp m, n. */
static double tiles(const double *v, int32_t num) {
    double m = v[0], n = v[1], k = v[2], wm = v[3], wn = v[4];
    (void)num;
    if (wm > m || wn > n) return 5;
    double registers = wm * wn / 256 + wm / 4 + wn / 4, memory = (m + n) * k * 4 / 49152, warps = m / wm * (n / wn);
    double occupied = fmax(registers / 128, 1) * (memory > 1 ? memory * memory : 1);
    double idle = warps < 4 ? 4 / warps : warps > 16 ? warps / 16 : 1;
    return (0.3 + 20 * (1 / m + 1 / n)) * pow(occupied, 0.7) * sqrt(idle) * (1 + 4 / k);
}

static double pages(const double *v, int32_t n) { /* a bowl in two sizes, where multiples of 64 and 4 are faster */
    double a = log2(v[0] / 640), b = log2(v[1] / 20);
    (void)n;
    return (1 + 0.1 * a * a + 0.08 * b * b) * (divides(v[0], 64) ? 1 : 1.12) * (divides(v[1], 4) ? 1 : 1.06);
}

/* A batch whose memory grows with a context, behind whose capacity it is slow: the last batch before it is not the same one
 * for each context. */
static double wall(const double *v, int32_t n) {
    (void)n;
    double memory = v[0] * (1 + 0.6 * v[1] / 8);
    return (1 + 14 / v[0]) * (1 + 0.005 * fabs(v[1] - 6)) * (memory > 60 ? 1.5 : 1);
}

enum noise { PLAIN, HEAVY, MODES, UNEQUAL, SKEW, DRIFT };

struct rough {
    const char *name, *params[PARAMS_MAX];
    surface surface; /* NULL: each study has one of its own, see drawn */
    double noise;
    int32_t kind, is_own; /* is_own: of this file alone, not of the contract */
};

#define FLAG6 "f0?=x", "f1?=x", "f2?=x", "f3?=x", "f4?=x", "f5?=x"
#define FLAGS30                                                                                                        \
    FLAG6, "f6?=x", "f7?=x", "f8?=x", "f9?=x", "f10?=x", "f11?=x", "f12?=x", "f13?=x", "f14?=x", "f15?=x", "f16?=x",   \
        "f17?=x", "f18?=x", "f19?=x", "f20?=x", "f21?=x", "f22?=x", "f23?=x", "f24?=x", "f25?=x", "f26?=x", "f27?=x",  \
        "f28?=x", "f29?=x"
#define KVFA    "kv=f16,q8,q4", "fa?=x", "ub=16..2048:x2"
#define WORDS8  "o=o0,o1,o2,o3,o4,o5,o6,o7"
#define WORDS12 WORDS8 ",o8,o9,o10,o11"
static const struct rough cases[] = {
    {"tensor64", {"b=1..64"}, tensor, 0.01, PLAIN, 0},
    {"tensor512", {"b=1..512"}, tensor, 0.01, PLAIN, 0},
    {"saw192", {"a=80..95", "b=34..45"}, saw, 0.02, PLAIN, 0},
    {"saw16k", {"a=1..128", "b=1..128"}, saw, 0.02, PLAIN, 0},
    {"flags8", {FLAG6, "f6?=x", "f7?=x"}, flags8, 0.01, PLAIN, 0},
    {"flags6", {FLAG6}, flags6, 0.02, PLAIN, 0},
    {"needle64", {"x=1..64"}, needle, 0.01, PLAIN, 0},
    {"six", {"b=1..128:x2", "t=1..16", "l=0..32:+8", "f1?=x", "f2?=x", "k=a,b,c"}, six, 0.02, PLAIN, 0},
    {"smt", {"t=1..32"}, smt, 0.02, PLAIN, 0},
    {"kvfa", {KVFA}, kvfa, 0.02, PLAIN, 0},
    {"words12", {WORDS12}, words12, 0.05, PLAIN, 0},
    {"cache", {"kb=1..65536:x2"}, cache, 0.03, PLAIN, 0},
    {"saw1M", {"a=1..1000", "b=1..1000"}, saw, 0.02, PLAIN, 1},
    {"saw1G", {"a=1..1000", "b=1..1000", "c=1..1000"}, saw3, 0.02, PLAIN, 1},
    {"flags30", {FLAGS30}, flags30, 0.01, PLAIN, 1},
    {"flags10", {FLAG6, "f6?=x", "f7?=x", "f8?=x", "f9?=x"}, flags10, 0.01, PLAIN, 1},
    {"cores", {"t=1..32"}, cores, 0.02, PLAIN, 1},
    {"cores/modes", {"t=1..32"}, cores, 0.02, MODES, 1},
    {"dozen", {"t=1..96"}, dozen, 0.01, PLAIN, 1},
    {"nodes28", {"t=1..112"}, nodes28, 0.02, PLAIN, 1},
    {"nodes28/unknown", {"t=1..112"}, nodes28, 0.02, PLAIN, 1},
    {"even28/unknown", {"t=1..112"}, even28, 0.02, PLAIN, 1},
    {"node22", {"t=1..88"}, node22, 0.02, PLAIN, 1},
    {"node22/unknown", {"t=1..88"}, node22, 0.02, PLAIN, 1},
    {"smooth", {"t=1..64"}, smooth, 0.02, PLAIN, 1},
    {"needle64/5%", {"x=1..64"}, needle, 0.05, PLAIN, 1},
    {"flat64", {"x=1..64"}, flat, 0.01, PLAIN, 1},
    {"flat12", {"x=1..2048:x2"}, flat, 0.01, PLAIN, 1},
    {"scattered40", {"x=1..40"}, scattered, 0.02, PLAIN, 1},
    {"disorder16", {"x=33..48"}, disorder, 0.02, PLAIN, 1},
    {"disorder36", {"x=1..6", "y=1..6"}, disorder, 0.02, PLAIN, 1},
    {"disorder36/5%", {"x=1..6", "y=1..6"}, disorder, 0.05, PLAIN, 1},
    {"disorder64", {"x=1..4", "y=1..4", "z=1..4"}, disorder, 0.02, PLAIN, 1},
    {"disorder100", {"x=1..10", "y=1..10"}, disorder, 0.02, PLAIN, 1},
    {"valleys", {"a=1..1024:x2"}, valleys, 0.02, PLAIN, 1},
    {"tiles",
     {"bm=16..256:x2", "bn=16..256:x2", "bk=16..256:x2", "wm=16..256:x2", "wn=16..256:x2"},
     tiles,
     0.02,
     PLAIN,
     1},
    {"pages", {"a=32..2048:+32", "b=1..64"}, pages, 0.01, PLAIN, 1},
    {"wall", {"b=8..256:+8", "c=0..8"}, wall, 0.02, PLAIN, 1},
    {"pair/10%", {"o=o0,o1"}, pair, 0.1, PLAIN, 1},
    {"pair/20%", {"o=o0,o1"}, pair, 0.2, PLAIN, 1},
    {"two/5%", {"x=1..2"}, two, 0.05, PLAIN, 1},
    {"two/modes", {"x=1..2"}, two, 0.05, MODES, 1},
    {"flags6/5%", {FLAG6}, flags6, 0.05, PLAIN, 1},
    {"few2/2%", {"x=1..2"}, NULL, 0.02, PLAIN, 1},
    {"few2/5%", {"x=1..2"}, NULL, 0.05, PLAIN, 1},
    {"few2/20%", {"x=1..2"}, NULL, 0.2, PLAIN, 1},
    {"few3/2%", {"x=1..3"}, NULL, 0.02, PLAIN, 1},
    {"few3/5%", {"x=1..3"}, NULL, 0.05, PLAIN, 1},
    {"few4/5%", {"x=1..4"}, NULL, 0.05, PLAIN, 1},
    {"few6/2%", {"x=1..6"}, NULL, 0.02, PLAIN, 1},
    {"few6/5%", {"x=1..6"}, NULL, 0.05, PLAIN, 1},
    {"few2x2/5%", {"x=1..2", "y=1..2"}, NULL, 0.05, PLAIN, 1},
    {"few2x3/2%", {"x=1..2", "y=1..3"}, NULL, 0.02, PLAIN, 1},
    {"few2x3/5%", {"x=1..2", "y=1..3"}, NULL, 0.05, PLAIN, 1},
    {"few3x4/2%", {"x=1..3", "y=1..4"}, NULL, 0.02, PLAIN, 1},
    {"few3x4/5%", {"x=1..3", "y=1..4"}, NULL, 0.05, PLAIN, 1},
    {"few4x6/2%", {"x=1..4", "y=1..6"}, NULL, 0.02, PLAIN, 1},
    {"few4x6/5%", {"x=1..4", "y=1..6"}, NULL, 0.05, PLAIN, 1},
    {"few6x6/2%", {"x=1..6", "y=1..6"}, NULL, 0.02, PLAIN, 1},
    {"few6x6/5%", {"x=1..6", "y=1..6"}, NULL, 0.05, PLAIN, 1},
    {"words8/10%", {WORDS8}, words12, 0.1, PLAIN, 1},
    {"words8/20%", {WORDS8}, words12, 0.2, PLAIN, 1},
    {"sizes11/10%", {"a=1..1024:x2"}, valleys, 0.1, PLAIN, 1},
    {"sizes11/20%", {"a=1..1024:x2"}, valleys, 0.2, PLAIN, 1},
    {"words12/20%", {WORDS12}, words12, 0.2, PLAIN, 1},
    {"words12/heavy", {WORDS12}, words12, 0.03, HEAVY, 1},
    {"words12/modes", {WORDS12}, words12, 0.02, MODES, 1},
    {"smt/modes", {"t=1..32"}, smt, 0.02, MODES, 1},
    {"smt/unequal", {"t=1..32"}, smt, 0.03, UNEQUAL, 1},
    {"smt/heavy", {"t=1..32"}, smt, 0.03, HEAVY, 1},
    {"smt/skew", {"t=1..32"}, smt, 0.05, SKEW, 1},
    {"kvfa/modes", {KVFA}, kvfa, 0.02, MODES, 1},
    {"kvfa/unequal", {KVFA}, kvfa, 0.03, UNEQUAL, 1},
    {"kvfa/drift", {KVFA}, kvfa, 0.02, DRIFT, 1},
    {"kvfa/6%", {KVFA}, kvfa, 0.06, PLAIN, 1},
    {"any/6%", {KVFA}, NULL, 0.06, PLAIN, 1},
    {"any/2%", {KVFA}, NULL, 0.02, PLAIN, 1},
    {"switches/2%", {FLAG6}, NULL, 0.02, PLAIN, 1},
    {"switches/5%", {FLAG6}, NULL, 0.05, PLAIN, 1},
    {"switches/10%", {FLAG6}, NULL, 0.1, PLAIN, 1},
    {"flags6/modes", {FLAG6}, flags6, 0.02, MODES, 1},
    {"flags6/heavy", {FLAG6}, flags6, 0.02, HEAVY, 1},
    {"tensor64/modes", {"b=1..64"}, tensor, 0.01, MODES, 1},
    {"tensor64/drift", {"b=1..64"}, tensor, 0.01, DRIFT, 1},
    {"saw192/heavy", {"a=80..95", "b=34..45"}, saw, 0.02, HEAVY, 1},
    {"words12/skew", {WORDS12}, words12, 0.05, SKEW, 1},
    {"words12/unequal", {WORDS12}, words12, 0.03, UNEQUAL, 1},
    {"words12/drift", {WORDS12}, words12, 0.02, DRIFT, 1},
    {"cache/20%", {"kb=1..65536:x2"}, cache, 0.2, PLAIN, 1},
    {"cache/drift", {"kb=1..65536:x2"}, cache, 0.03, DRIFT, 1},
};
enum { CASES = sizeof cases / sizeof *cases };

/* What is known of the machine: processors of a node, cores, processors. */
static const struct { const char *of, *sizes; } machines[] = {{"nodes28", "28,56,112"}, {"node22", "22,44,88"}};

/* Surfaces of which each study has another one, by how their names begin. */
typedef double (*drawn_surface)(const double *values, uint64_t seed);
static const struct {
    const char *of;
    drawn_surface surface;
} drawn[] = {{"any", any_kvfa}, {"few", any_few}, {"switches", any_flags}};

static double drawn_value(const char *name, const double *values, uint64_t seed) {
    size_t k = 0;
    while (strncmp(drawn[k].of, name, strlen(drawn[k].of)) != 0) k++;
    return drawn[k].surface(values, seed);
}

struct outcome {
    double right, said, runs, random, seconds;
};

struct batch {
    const struct rough *rough;
    struct kerf_tune_space *space;
    double *truth, best; /* of its surface; truth NULL: of each study another one, or the grid is large */
    const char *policy;
    int64_t first, sizes[SIZES_MAX];
    int32_t num_sizes;
    struct outcome *outcomes; /* of each seed */
};

struct machine {
    struct pcg64 rng;
    double clock, ar;
};

static void need(int32_t code, const struct kerf_error *err) {
    if (code == KERF_OK) return;
    fprintf(stderr, "bench: %s\n", err->message);
    exit(1);
}

static int is_large(const struct batch *batch) { return batch->space->has_unused == KERF_TUNE_GROWS; }

static double value_at(const struct batch *batch, const int32_t *at, uint64_t seed) {
    const struct kerf_tune_space *space = batch->space;
    double value[PARAMS_MAX] = {0};
    for (int32_t k = 0; k < space->num_params; k++) {
        const struct kerf_tune_param *param = &space->params[k];
        value[k] = param->kind == KERF_TUNE_INTEGER ? (double)param->integers[at[k]] : at[k];
    }
    surface of = batch->rough->surface;
    return of ? of(value, space->num_params) : drawn_value(batch->rough->name, value, seed);
}

static double truth_of(const struct batch *batch, int32_t setting) {
    if (batch->truth) return batch->truth[setting];
    return value_at(batch, batch->space->values + (int64_t)setting * batch->space->num_params, 0);
}

static double factor(struct machine *machine, const struct rough *rough, int32_t setting) {
    double sd = rough->noise, z = random_normal(&machine->rng, 0, 1), odd = random_double(&machine->rng);
    switch (rough->kind) {
    case HEAVY: return odd < 0.1 ? exp(3 * sd * fabs(z) + sd) : exp(sd * z);
    case MODES: return exp(sd * z) * (odd < 0.3 ? 1.25 : 1);
    case UNEQUAL: return exp(sd * z * (0.2 + 3 * noise_of((uint64_t)setting)));
    case SKEW: return 1 - sd * log(1 - odd);
    case DRIFT:
        machine->ar = 0.9 * machine->ar + 0.02 * sqrt(1 - 0.81) * random_normal(&machine->rng, 0, 1);
        return exp(sd * z + machine->ar) * (1 + 0.15 * (1 - exp(-machine->clock / 60)));
    default: return exp(sd * z);
    }
}

static struct kerf_tune_observation run(struct machine *machine, const struct batch *batch, int32_t setting,
                                        double limit) {
    double value = truth_of(batch, setting) * factor(machine, batch->rough, setting);
    int32_t stopped = limit > 0 && value > limit;
    struct kerf_tune_observation o = {.setting = setting,
                                      .outcome = stopped ? KERF_TUNE_CENSORED : KERF_TUNE_VALUE,
                                      .value = stopped ? limit : value,
                                      .start_s = machine->clock};
    o.end_s = machine->clock + o.value;
    machine->clock = o.end_s + 0.02;
    return o;
}

static int is_right(const struct batch *batch, int32_t setting) {
    return setting >= 0 && truth_of(batch, setting) <= 1.03 * batch->best + 1e-12;
}

static void make_space(struct batch *batch) {
    struct kerf_error err;
    int32_t num = 0;
    while (num < PARAMS_MAX && batch->rough->params[num]) num++;
    need(kerf_tune_space_create(batch->rough->params, num, NULL, 0, NULL, &batch->space, &err), &err);
}

/* One run each of `runs` settings at random. */
static int random_search(const struct batch *of, int32_t runs, uint64_t seed) {
    struct batch own = *of, *batch = &own;
    if (is_large(of)) make_space(batch); /* without what the study met */
    struct machine machine = {random_seed(seed + 500000), 1, 0};
    struct pcg64 rng = random_seed(seed + 900000);
    int32_t best = -1, count = batch->space->num_settings;
    double least = INFINITY;
    for (int32_t i = 0; i < runs; i++) {
        int32_t setting = (int32_t)random_to(&rng, (uint32_t)count - 1);
        if (runs >= count) setting = i % count;
        double value = run(&machine, batch, setting, 0).value;
        if (value < least) least = value, best = setting;
    }
    int right = is_right(batch, best);
    if (is_large(of)) kerf_tune_space_free(own.space);
    return right;
}

/* Of the batch's surface, or of that of one seed. */
static void find_truth(struct batch *batch, uint64_t seed) {
    const struct kerf_tune_space *space = batch->space;
    batch->best = INFINITY;
    batch->truth = malloc((size_t)space->num_settings * sizeof *batch->truth);
    if (batch->truth == NULL) exit(1);
    for (int32_t i = 0; i < space->num_settings; i++) {
        batch->truth[i] = value_at(batch, space->values + (int64_t)i * space->num_params, seed);
        batch->best = fmin(batch->best, batch->truth[i]);
    }
}

/* The best of a large grid: down along the axes, and along pairs of short ones, from the settings that are drawn at first. */
static void find_best(struct batch *batch) {
    const struct kerf_tune_space *space = batch->space;
    enum { STARTS = 64, SHORT = 4 };
    batch->best = INFINITY;
    for (int32_t start = 0; start < STARTS; start++) {
        int32_t at[PARAMS_MAX], better = 1;
        memcpy(at, space->values + (int64_t)start * space->num_params, (size_t)space->num_params * sizeof *at);
        double least = value_at(batch, at, 0);
        while (better--)
            for (int32_t k = 0; k < space->num_params; k++)
                for (int32_t l = 0; l <= k; l++) {
                    int32_t rows = l < k ? space->params[l].num_values : 1, best[] = {at[k], at[l]};
                    if (l < k && (rows > SHORT || space->params[k].num_values > SHORT)) continue;
                    for (int32_t cell = 0; cell < rows * space->params[k].num_values; cell++) {
                        at[l] = l < k ? cell % rows : at[l];
                        at[k] = cell / rows;
                        double value = value_at(batch, at, 0);
                        if (value < least) least = value, best[0] = at[k], best[1] = at[l], better = 1;
                    }
                    at[l] = best[1];
                    at[k] = best[0];
                }
        batch->best = fmin(batch->best, least);
    }
}

static void make(struct batch *batch, const struct rough *rough) {
    *batch = (struct batch){.rough = rough};
    const char *told = getenv("ROUGH_SIZES");
    for (size_t k = 0; told == NULL && k < sizeof machines / sizeof *machines; k++)
        if (strcmp(machines[k].of, rough->name) == 0) told = machines[k].sizes;
    for (char *end; told && *told && batch->num_sizes < SIZES_MAX; told = *end == ',' ? end + 1 : end)
        batch->sizes[batch->num_sizes++] = strtoll(told, &end, 10);
    make_space(batch);
    if (is_large(batch))
        find_best(batch);
    else if (rough->surface)
        find_truth(batch, 0);
}

static void study_one(void *context, size_t task, int32_t worker) {
    const struct batch *all = context;
    struct batch own = *all, *batch = &own;
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_decision decision;
    struct kerf_tune_answer answer;
    struct kerf_error err;
    struct timespec began, ended;
    (void)worker;
    if (is_large(batch)) make_space(batch); /* each study has its own, which grows */
    kerf_tune_question_defaults(&question);
    question.space = batch->space;
    question.policy = batch->policy;
    question.is_time = 1;
    question.seed = (int64_t)task + batch->first;
    if (batch->rough->surface == NULL) find_truth(batch, (uint64_t)question.seed);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    need(kerf_tune_study_create(&question, &study, &err), &err);
    need(kerf_tune_study_sizes(study, batch->sizes, batch->num_sizes, &err), &err);
    struct machine machine = {random_seed((uint64_t)question.seed * 7919 + 13), 1, 0};
    for (;;) {
        need(kerf_tune_study_next(study, NULL, 0, 0, &decision, &err), &err);
        if (decision.action == KERF_TUNE_STOP) break;
        struct kerf_tune_observation o = run(&machine, batch, decision.setting, decision.limit);
        if (getenv("ROUGH_TRACE")) {
            struct kerf_text text = {0};
            kerf_tune_setting_write(batch->space, decision.setting, &text);
            printf("%3d %-40s %.4f %s | %s\n", (int)task, text.data, o.value, o.outcome ? ">" : " ", decision.reason);
            kerf_text_free(&text);
        }
        need(kerf_tune_study_observe(study, &o, &err), &err);
    }
    need(kerf_tune_study_answer(study, &answer, &err), &err);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    if (getenv("ROUGH_TRACE"))
        printf("%3d %s; truly %.4f of %.4f; missed %d of %d, unseen %.3g\n", (int)task, answer.reason,
               truth_of(batch, answer.best), batch->best, answer.predictions_missed, answer.predictions,
               answer.chance_unseen);
    struct outcome *of = &batch->outcomes[task];
    of->right = is_right(batch, answer.best);
    of->said = answer.settings[answer.best].probability_within;
    of->runs = answer.observations;
    of->random = random_search(batch, answer.observations, (uint64_t)question.seed);
    of->seconds = (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec);
    kerf_tune_study_free(study);
    if (batch->rough->surface == NULL) free(own.truth);
    if (is_large(batch)) kerf_tune_space_free(own.space);
}

static int by_runs(const void *a, const void *b) {
    const struct outcome *x = a, *y = b;
    return (x->runs > y->runs) - (x->runs < y->runs);
}

/*
 * Writes of each parameter its number of values and whether it is of words ("w") or integers ("n"). For each line of input, the
 * index of the value of each parameter, it writes the objective of a run and how often that of the best setting the true one
 * is.
 */
static int play(const char *name, uint64_t seed) {
    struct batch batch;
    const struct rough *rough = NULL;
    for (int32_t i = 0; i < CASES; i++)
        if (strcmp(cases[i].name, name) == 0) rough = &cases[i];
    if (rough == NULL) return fprintf(stderr, "bench: there is no case '%s'\n", name), 2;
    make(&batch, rough);
    if (batch.truth == NULL && rough->surface == NULL) find_truth(&batch, seed);
    struct machine machine = {random_seed(seed * 7919 + 13), 1, 0};
    int32_t num = batch.space->num_params, at[PARAMS_MAX], read = 0;
    for (int32_t k = 0; k < num; k++)
        printf("%d %c%c", (int)batch.space->params[k].num_values,
               batch.space->params[k].kind == KERF_TUNE_INTEGER ? 'n' : 'w', k + 1 < num ? ' ' : '\n');
    for (fflush(stdout); scanf("%d", &at[read]) == 1;) {
        if (++read < num) continue;
        int32_t setting = 0;
        while (setting < batch.space->num_settings &&
               memcmp(batch.space->values + (int64_t)setting * num, at, (size_t)num * sizeof *at) != 0)
            setting++;
        if (setting == batch.space->num_settings) return fprintf(stderr, "bench: there is no such setting\n"), 2;
        printf("%.9g %.9g\n", run(&machine, &batch, setting, 0).value, truth_of(&batch, setting) / batch.best);
        fflush(stdout);
        read = 0;
    }
    free(batch.truth);
    kerf_tune_space_free(batch.space);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--play") == 0) return play(argv[2], (uint64_t)atoi(argv[3]));
    int32_t seeds = argc > 1 ? atoi(argv[1]) : 20, all = 0, right = 0, sure = 0, sure_right = 0;
    const char *only = argc > 3 ? argv[3] : "";
    double said = 0;
    if (seeds < 1 || seeds > SEEDS_MAX) seeds = SEEDS_MAX;
    printf("%-15s %9s  %6s %6s %6s %7s %9s\n", "case", "settings", "right", "said", "runs", "random", "decision");
    for (int32_t i = 0; i < CASES; i++) {
        struct batch batch;
        struct outcome outcomes[SEEDS_MAX];
        struct outcome sum = {0};
        if (strcmp(only, "all") != 0 && strncmp(cases[i].name, only, strlen(only)) != 0) continue;
        make(&batch, &cases[i]);
        batch.outcomes = outcomes;
        batch.policy = argc > 4 ? argv[4] : NULL;
        batch.first = argc > 2 ? atoi(argv[2]) : 0;
        threads_run(threads_available(), (size_t)seeds, study_one, &batch);
        double total = 0;
        for (int32_t k = 0; k < seeds; k++) {
            const struct outcome *of = &batch.outcomes[k];
            sum.right += of->right / seeds;
            sum.said += of->said / seeds;
            sum.random += of->random / seeds;
            sum.seconds += of->seconds;
            total += of->runs + 1;
            sure += of->said >= 0.95;
            sure_right += of->said >= 0.95 && of->right > 0;
        }
        qsort(batch.outcomes, (size_t)seeds, sizeof *batch.outcomes, by_runs);
        double few = 1.5 / seeds;
        printf("%-15s %9.0f  %4.0f %% %4.0f %% %6.0f %5.0f %% %6.1f ms %s%s\n", cases[i].name,
               kerf_tune_space_size(batch.space), 100 * sum.right, 100 * sum.said, batch.outcomes[seeds / 2].runs,
               100 * sum.random, 1e3 * sum.seconds / total, cases[i].is_own ? "" : "*",
               sum.right < sum.said - 0.04 - few ? " <" : "");
        fflush(stdout);
        all++;
        right += (int32_t)(sum.right * seeds + 0.5);
        said += sum.said;
        free(batch.truth);
        kerf_tune_space_free(batch.space);
    }
    if (all)
        printf("all: right %.1f %%, said %.1f %%; where 95 %% or more is said %d of %d are right\n",
               100.0 * right / (all * seeds), 100 * said / all, (int)sure_right, (int)sure);
    return 0;
}
