/* SPDX-License-Identifier: Apache-2.0 */
/* random.csv, recorded from NumPy: half a million normals, permutations, generator states, and sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"

enum { LINE = 512, ORDER_MAX = 20000, SUM_MAX = 65536 };

static uint64_t digest_bits(uint64_t digest, uint64_t bits) {
    for (int i = 0; i < 8; i++, bits >>= 8) digest = (digest ^ (bits & 0xff)) * UINT64_C(0x100000001b3);
    return digest;
}

static uint64_t digest_double(uint64_t digest, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return digest_bits(digest, bits);
}

static const uint64_t digest_start = UINT64_C(0xcbf29ce484222325);

static uint64_t digest_order(uint64_t digest, struct pcg64 *rng, int32_t n) {
    static int32_t order[ORDER_MAX];
    static unsigned char taken[ORDER_MAX];
    assert_true(n <= ORDER_MAX);
    random_order(rng, n, order, taken);
    for (int32_t i = 0; i < n; i++) digest = digest_bits(digest, (uint64_t)order[i]);
    return digest;
}

static int64_t check_stream(const char *rest) {
    uint64_t seed, want, digest = digest_start;
    int64_t rounds, normals, drawn = 0;
    char state[64], inc[64], half[16], left[16];
    assert_int_equal(sscanf(rest, "%" SCNu64 ",%" SCNd64 ",%" SCNd64 ",%" SCNx64 ",%63[0-9],%63[0-9],%15[0-9],%15[0-9]",
                            &seed, &rounds, &normals, &want, state, inc, half, left),
                     8);
    struct pcg64 rng = random_seed(seed);
    for (int r = 0; r < rounds; r++) {
        int32_t k = 1 + r % 39;
        digest = digest_order(digest, &rng, k);
        for (int32_t i = 0; i < k; i++, drawn++)
            digest = digest_double(digest, random_normal(&rng, r - 50, r % 3 ? r / 7.0 : 0.0));
    }
    assert_int_equal(drawn, normals);
    assert_int_equal(digest, want);

    char text[LINE];
    snprintf(
        text, sizeof text,
        "{\"bit_generator\": \"PCG64\", \"state\": {\"state\": %s, \"inc\": %s}, \"has_uint32\": %s, \"uinteger\": %s}",
        state, inc, half, left);
    struct kerf_text written = {0};
    random_write(&rng, &written);
    assert_string_equal(written.data, text);
    struct pcg64 again;
    assert_int_equal(random_read(text, &again, NULL), KERF_OK);
    assert_true(again.state == rng.state && again.increment == rng.increment);
    assert_int_equal(again.has_uint32, rng.has_uint32);
    assert_int_equal(again.uinteger, rng.uinteger);
    assert_true(random_bits(&again) == random_bits(&rng));
    kerf_text_free(&written);
    return drawn;
}

static void check_order(const char *rest) {
    uint64_t seed, want;
    int32_t n;
    assert_int_equal(sscanf(rest, "%" SCNu64 ",%" SCNd32 ",%" SCNx64, &seed, &n, &want), 3);
    struct pcg64 rng = random_seed(seed);
    assert_int_equal(digest_order(digest_start, &rng, n), want);
}

static void check_sums(const char *rest) {
    static double values[SUM_MAX];
    uint64_t seed, want, digest = digest_start;
    int32_t least, most;
    assert_int_equal(sscanf(rest, "%" SCNu64 ",%" SCNd32 ",%" SCNd32 ",%" SCNx64, &seed, &least, &most, &want), 4);
    assert_true(most <= SUM_MAX);
    struct pcg64 rng = random_seed(seed);
    for (int32_t n = least; n <= most; n++) {
        for (int32_t i = 0; i < n; i++) values[i] = random_normal(&rng, 100, 30);
        double sum = pairwise_sum(values, n);
        digest = digest_double(digest, sum);
        digest = digest_double(digest, pairwise_sum_squares(values, n, sum / n) / n);
    }
    assert_int_equal(digest, want);
}

static void equals_numpy(void **unused) {
    (void)unused;
    char line[LINE];
    FILE *file = fopen(KERF_TEST_DIR "/reference/random.csv", "r");
    assert_non_null(file);
    int64_t normals = 0, orders = 0, sums = 0;
    while (fgets(line, sizeof line, file)) {
        char *comma = strchr(line, ',');
        if (line[0] == '#' || comma == NULL) continue;
        *comma = 0;
        if (strcmp(line, "stream") == 0) normals += check_stream(comma + 1);
        if (strcmp(line, "order") == 0) check_order(comma + 1), orders++;
        if (strcmp(line, "sums") == 0) check_sums(comma + 1), sums++;
    }
    fclose(file);
    printf("%" PRId64 " normals\n", normals);
    assert_true(normals > 500000 && orders == 9 && sums == 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_numpy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
