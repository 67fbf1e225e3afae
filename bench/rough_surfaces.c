/* SPDX-License-Identifier: Apache-2.0 */
#include "rough_surfaces.h"

#include <math.h>
#include <string.h>
#include "base/random.h"

static double throughput(double n, double a, double b) { return (1 + a * (n - 1) + b * n * (n - 1)) / n; }
static int divides(double value, int by) { return (int64_t)value % by == 0; }

double rough_unit(uint64_t x) {
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
    for (int32_t k = 0; k < n; k++) effects[k] = (k % 3 ? 0.01 : -0.01) * (1 + 4 * rough_unit((uint64_t)k + 30));
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
    return 1 + rough_unit((uint64_t)v[0]);
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

static double between(struct pcg64 *rng, double least, double most) {
    return least + (most - least) * random_double(rng);
}

/* Threads of 8 fast cores with two threads each, and 16 slow ones. Static shares are as slow as the slowest; those that are
 * handed out lose a little everywhere. */
static double any_shares(const double *v, uint64_t seed) {
    struct pcg64 rng = random_seed(seed * 104729 + 51);
    double slow = between(&rng, 0.4, 0.75), twin = between(&rng, 0, 0.3), serial = between(&rng, 0, 0.03);
    double dynamic = between(&rng, 1, 1.15), guided = between(&rng, 1, 1.15);
    double t = v[0], all = fmin(t, 8) + slow * fmin(fmax(t - 8, 0), 16) + twin * fmin(fmax(t - 24, 0), 8);
    double least = t > 32 ? 0.25 : t > 24 ? 0.5 : t > 8 ? slow : 1;
    return serial + (v[1] == 0 ? 1 / (least * t) : (v[1] == 1 ? dynamic : guided) / all);
}

/* A collective: algorithm, protocol, channels, kB of a buffer. */
static double any_collective(const double *v, uint64_t seed) {
    static const double steps[] = {30, 8, 4, 10}, lag[] = {1, 1.4, 3.5}, width[] = {0.25, 0.92, 1};
    struct pcg64 rng = random_seed(seed * 104729 + 52);
    double bytes = exp(between(&rng, log(2e5), log(2e9))), link = exp(between(&rng, log(1e10), log(2e11)));
    double each = link * exp(between(&rng, log(0.03), 0)), latency = between(&rng, 3e-6, 2e-5);
    double volume[] = {1.9, 2, between(&rng, 1.1, 2.6), 1.7};
    int algorithm = (int)v[0], protocol = (int)v[1];
    double rate = link * width[protocol] / (1 + pow(link / (each * v[2]), 4)), buffer = 1024 * v[3];
    return steps[algorithm] * lag[protocol] * latency + volume[algorithm] * bytes / rate +
           ceil(bytes / v[2] / buffer) * latency / 2 + buffer / rate * steps[algorithm] / 4 + 1e-7 * v[2];
}

/* Rows that are padded, and a tile: none of the padding is slow, and multiples of a power of two are fast. */
static double any_padded(const double *v, uint64_t seed) {
    struct pcg64 rng = random_seed(seed * 104729 + 53);
    int by = 4 << random_to(&rng, 2);
    double best = 16 * exp(between(&rng, 0, log(6))), bowl = between(&rng, 0.05, 0.25), gain = between(&rng, 0.05, 0.2);
    double tile = log2(v[1] / best);
    return (1 + bowl * tile * tile) * (v[0] == 0 ? 5 : divides(v[0], by) ? 1 : 1 + gain) * (1 + 1e-4 * v[0]);
}

/* Two basins, of which the narrower one is as often the deeper. */
static double any_basins(const double *v, uint64_t seed) {
    struct pcg64 rng = random_seed(seed * 104729 + 54);
    double y = 1;
    for (int k = 0; k < 2; k++) {
        double at = between(&rng, 20, 180), wide = k ? between(&rng, 8, 30) : between(&rng, 25, 60);
        double beside = between(&rng, 3, 18), deep = between(&rng, 0.2, 0.5);
        double a = (v[0] - at) / wide, b = (v[1] - beside) / (k ? 3 : 5);
        y = fmin(y, 1 - deep * exp(-(a * a + b * b) / 2));
    }
    return y;
}

#define FLAG6 "f0?=x", "f1?=x", "f2?=x", "f3?=x", "f4?=x", "f5?=x"
#define FLAGS30                                                                                                        \
    FLAG6, "f6?=x", "f7?=x", "f8?=x", "f9?=x", "f10?=x", "f11?=x", "f12?=x", "f13?=x", "f14?=x", "f15?=x", "f16?=x",   \
        "f17?=x", "f18?=x", "f19?=x", "f20?=x", "f21?=x", "f22?=x", "f23?=x", "f24?=x", "f25?=x", "f26?=x", "f27?=x",  \
        "f28?=x", "f29?=x"
#define KVFA    "kv=f16,q8,q4", "fa?=x", "ub=16..2048:x2"
#define WORDS8  "o=o0,o1,o2,o3,o4,o5,o6,o7"
#define WORDS12 WORDS8 ",o8,o9,o10,o11"
const struct rough rough_cases[] = {
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
    {"shares", {"t=1..40", "schedule=static,dynamic,guided"}, NULL, 0.015, PLAIN, 1},
    {"collective",
     {"algorithm=ring,tree,nvls,collnet", "protocol=ll,ll128,simple", "channels=1..32", "kb=64..16384:x2"},
     NULL,
     0.015,
     PLAIN,
     1},
    {"padded", {"pad=0..63", "tile=8..128:+8"}, NULL, 0.01, PLAIN, 1},
    {"basins", {"x=1..200", "y=1..20"}, NULL, 0.01, PLAIN, 1},
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
const int32_t rough_num_cases = sizeof rough_cases / sizeof *rough_cases;

static const struct {
    const char *of, *sizes;
} machines[] = {{"nodes28", "28,56,112"}, {"node22", "22,44,88"}, {"shares", "8,24,32"}};

const char *rough_sizes(const struct rough *rough) {
    for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
        if (strcmp(machines[k].of, rough->name) == 0) return machines[k].sizes;
    return NULL;
}

/* Surfaces of which each study has another one, by how their names begin. */
typedef double (*drawn_surface)(const double *values, uint64_t seed);
static const struct {
    const char *of;
    drawn_surface surface;
} drawn[] = {{"any", any_kvfa},
             {"few", any_few},
             {"switches", any_flags},
             {"shares", any_shares},
             {"collective", any_collective},
             {"padded", any_padded},
             {"basins", any_basins}};

double rough_value(const struct rough *rough, const double *value, int32_t num, uint64_t seed) {
    size_t k = 0;
    if (rough->surface) return rough->surface(value, num);
    while (strncmp(drawn[k].of, rough->name, strlen(drawn[k].of)) != 0) k++;
    return drawn[k].surface(value, seed);
}
