/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy's default_rng, after numpy/random: bit_generator.pyx (SeedSequence), src/pcg64 (PCG64 XSL-RR 128/64: O'Neill,
 * "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms", 2014), src/distributions (Lemire's
 * bounded integers, the ziggurat) and _generator.pyx (choice). This file is compiled without fused multiply-add, as all
 * of kerf is: NumPy's numbers have none.
 */
#include "base/random.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/random_ziggurat.h"

enum {
    POOL_WORDS = 4,   /* of SeedSequence */
    SEED_WORDS = 8,   /* that PCG64 takes of it */
    FLOYD_MAX = 10000 /* choice draws larger populations by a shuffle */
};

/* ---- SeedSequence ------------------------------------------------------------------------------------------ */

static uint32_t hash_word(uint32_t word, uint32_t *constant, uint32_t factor) {
    word ^= *constant;
    *constant *= factor;
    word *= *constant;
    return word ^ word >> 16;
}

static uint32_t mix_words(uint32_t x, uint32_t y) {
    uint32_t mixed = UINT32_C(0xca01f9dd) * x - UINT32_C(0x4973f715) * y;
    return mixed ^ mixed >> 16;
}

static void seed_words(uint64_t seed, uint32_t ret_words[SEED_WORDS]) {
    uint32_t pool[POOL_WORDS] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, constant = 0x43b0d7e5;
    for (int i = 0; i < POOL_WORDS; i++) pool[i] = hash_word(pool[i], &constant, 0x931e8875);
    for (int from = 0; from < POOL_WORDS; from++)
        for (int to = 0; to < POOL_WORDS; to++)
            if (from != to) pool[to] = mix_words(pool[to], hash_word(pool[from], &constant, 0x931e8875));
    constant = 0x8b51f9dd;
    for (int i = 0; i < SEED_WORDS; i++) ret_words[i] = hash_word(pool[i % POOL_WORDS], &constant, 0x58f38ded);
}

/* ---- PCG64 ------------------------------------------------------------------------------------------------- */

static unsigned __int128 pair(uint64_t high, uint64_t low) { return (unsigned __int128)high << 64 | low; }

static void step(struct pcg64 *rng) {
    rng->state = rng->state * pair(0x2360ed051fc65da4, 0x4385df649fccf645) + rng->increment;
}

struct pcg64 random_seed(uint64_t seed) {
    uint32_t word[SEED_WORDS];
    seed_words(seed, word);
    uint64_t wide[SEED_WORDS / 2];
    for (int i = 0; i < SEED_WORDS / 2; i++) wide[i] = word[2 * i] | (uint64_t)word[2 * i + 1] << 32;
    struct pcg64 rng = {.increment = pair(wide[2], wide[3]) << 1 | 1};
    step(&rng);
    rng.state += pair(wide[0], wide[1]);
    step(&rng);
    return rng;
}

uint64_t random_bits(struct pcg64 *rng) {
    step(rng);
    uint64_t folded = (uint64_t)(rng->state >> 64) ^ (uint64_t)rng->state;
    unsigned turn = (unsigned)(rng->state >> 122);
    return folded >> turn | folded << (-turn & 63);
}

/* 32 bits, from half a draw. */
static uint32_t random_bits32(struct pcg64 *rng) {
    if (rng->has_uint32) {
        rng->has_uint32 = 0;
        return rng->uinteger;
    }
    uint64_t bits = random_bits(rng);
    rng->has_uint32 = 1;
    rng->uinteger = (uint32_t)(bits >> 32);
    return (uint32_t)bits;
}

double random_double(struct pcg64 *rng) { return (double)(random_bits(rng) >> 11) * 0x1p-53; }

/* ---- What a Generator makes of it -------------------------------------------------------------------------- */

/* Lemire, "Fast Random Integer Generation in an Interval", 2019. */
uint32_t random_to(struct pcg64 *rng, uint32_t most) {
    if (most == 0) return 0;
    if (most == UINT32_MAX) return random_bits32(rng);
    uint32_t count = most + 1;
    uint64_t product = (uint64_t)random_bits32(rng) * count;
    if ((uint32_t)product < count) {
        uint32_t unfair = -count % count;
        while ((uint32_t)product < unfair) product = (uint64_t)random_bits32(rng) * count;
    }
    return (uint32_t)(product >> 32);
}

/* Floyd's sampling, of as many as there are, and then a shuffle; a large population is only shuffled. */
void random_order(struct pcg64 *rng, int32_t n, int32_t *ret_order, unsigned char *taken) {
    memset(taken, 0, (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        int32_t pick = i;
        if (n <= FLOYD_MAX) {
            pick = (int32_t)random_to(rng, (uint32_t)i);
            if (taken[pick]) pick = i;
            taken[pick] = 1;
        }
        ret_order[i] = pick;
    }
    for (int32_t i = n - 1; i > 0; i--) {
        int32_t other = (int32_t)random_to(rng, (uint32_t)i), kept = ret_order[other];
        ret_order[other] = ret_order[i];
        ret_order[i] = kept;
    }
}

/* The ziggurat's last layer has no end: Marsaglia's tail beyond R. */
static double tail(struct pcg64 *rng, int negative) {
    for (;;) {
        double x = -RANDOM_ZIGGURAT_INV_R * log1p(-random_double(rng));
        double y = -log1p(-random_double(rng));
        if (y + y > x * x) return negative ? -(RANDOM_ZIGGURAT_R + x) : RANDOM_ZIGGURAT_R + x;
    }
}

static double standard_normal(struct pcg64 *rng) {
    for (;;) {
        uint64_t bits = random_bits(rng), within = bits >> 9 & 0x000fffffffffffff;
        unsigned layer = bits & 0xff;
        double x = (double)within * ziggurat_edge[layer];
        if (bits >> 8 & 1) x = -x;
        if (within < ziggurat_inside[layer]) return x; /* 99 in 100 */
        if (layer == 0) return tail(rng, within >> 8 & 1);
        double low = ziggurat_height[layer], high = ziggurat_height[layer - 1];
        if ((high - low) * random_double(rng) + low < exp(-0.5 * x * x)) return x;
    }
}

double random_normal(struct pcg64 *rng, double mean, double sd) { return mean + sd * standard_normal(rng); }

/* ---- The state as text ------------------------------------------------------------------------------------- */

static void write_integer(struct kerf_text *out, unsigned __int128 value) {
    char digits[40], *at = digits + sizeof digits;
    do *--at = (char)('0' + (int)(value % 10));
    while (value /= 10);
    kerf_text_write(out, at, (size_t)(digits + sizeof digits - at));
}

void random_write(const struct pcg64 *rng, struct kerf_text *out) {
    kerf_text_add(out, "{\"bit_generator\": \"PCG64\", \"state\": {\"state\": ");
    write_integer(out, rng->state);
    kerf_text_add(out, ", \"inc\": ");
    write_integer(out, rng->increment);
    kerf_text_printf(out, "}, \"has_uint32\": %" PRIu32 ", \"uinteger\": %" PRIu32 "}", rng->has_uint32, rng->uinteger);
}

static const char *skip_space(const char *at) {
    while (isspace((unsigned char)*at)) at++;
    return at;
}

/* Passes over `pattern`, whose spaces stand for any or none; NULL where the text is another, and after NULL. */
static const char *pass(const char *at, const char *pattern) {
    for (; at && *pattern; pattern++) {
        if (*pattern == ' ') {
            at = skip_space(at);
        } else {
            at = *at == *pattern ? at + 1 : NULL;
        }
    }
    return at;
}

static const char *pass_integer(const char *at, unsigned __int128 most, unsigned __int128 *ret_value) {
    unsigned __int128 value = 0;
    if (at == NULL || !isdigit((unsigned char)*at)) return NULL;
    for (; isdigit((unsigned char)*at); at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (digit > most || value > (most - digit) / 10) return NULL;
        value = value * 10 + digit;
    }
    *ret_value = value;
    return at;
}

int32_t random_read(const char *text, struct pcg64 *ret_rng, struct kerf_error *err) {
    unsigned __int128 all = ~(unsigned __int128)0, state = 0, increment = 0, half = 0, left = 0;
    const char *at = pass(text, " { \"bit_generator\" : \"PCG64\" , \"state\" : { \"state\" : ");
    at = pass(pass_integer(at, all, &state), " , \"inc\" : ");
    at = pass(pass_integer(at, all, &increment), " } , \"has_uint32\" : ");
    at = pass(pass_integer(at, 1, &half), " , \"uinteger\" : ");
    at = pass(pass_integer(at, UINT32_MAX, &left), " } ");
    if (at == NULL || *at || !(increment & 1))
        return kerf_error_set(err, KERF_ESYNTAX, "not a state of NumPy's PCG64: \"%.60s\"", text);
    *ret_rng = (struct pcg64){state, increment, (uint32_t)half, (uint32_t)left};
    return KERF_OK;
}
