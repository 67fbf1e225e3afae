/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas: what they hand out is aligned, zeroed, apart from everything else, and gone at once; and errors,
 * whose words often come from one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "kerf/error.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static int all_are(const unsigned char *bytes, unsigned char value, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != value) return 0;
    return 1;
}

/* Sizes of all kinds: aligned, zeroed, and what was written into one is still there after the others. */
static void aligned_zeroed_and_apart(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    static unsigned char *pieces[COUNT];
    static size_t sizes[COUNT];
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT; i++) {
        sizes[i] = i % 97 == 0 ? i * 50 : i * 2654435761U % 130;
        pieces[i] = arena_alloc(&arena, sizes[i], 1);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        assert_true(all_are(pieces[i], 0, sizes[i]));
        memset(pieces[i], (int)(i % 255 + 1), sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++) assert_true(all_are(pieces[i], (unsigned char)(i % 255 + 1), sizes[i]));
    arena_free(&arena);
    assert_null(arena.blocks);
}

static void counts_times_size(void **state) {
    (void)state;
    struct arena arena = {0};
    unsigned char *bytes = arena_alloc(&arena, 1000, 8);
    assert_non_null(bytes);
    memset(bytes, 1, 8000);
    assert_non_null(arena_alloc(&arena, 0, 8));
    assert_non_null(arena_alloc(&arena, 8, 0));
    unsigned char *more = arena_alloc(&arena, 1, 1);
    assert_non_null(more);
    assert_true(all_are(bytes, 1, 8000));
    arena_free(&arena);
}

static void overflow_is_null(void **state) {
    (void)state;
    struct arena arena = {0};
    static const size_t sizes[][2] = {
        {SIZE_MAX, 1},
        {SIZE_MAX, SIZE_MAX},
        {SIZE_MAX / 2 + 1, 2},
        {SIZE_MAX / 8 + 2, 8},
        {(size_t)1 << 33, (size_t)1 << 33},
        {SIZE_MAX - 8, 1},
        {SIZE_MAX / 2, 1},
        {1, SIZE_MAX / 4 + 1},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_null(arena_alloc(&arena, sizes[i][0], sizes[i][1]));
        assert_null(arena.blocks);
    }
    char *kept = arena_strdup(&arena, "kept");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_null(arena_alloc(&arena, sizes[i][0], sizes[i][1]));
    assert_string_equal(kept, "kept");
    assert_non_null(arena_alloc(&arena, 1, 1)); /* and it goes on */
    arena_free(&arena);
}

static void reset_keeps_usable(void **state) {
    (void)state;
    struct arena arena = {0};
    arena_reset(&arena); /* of nothing */
    assert_null(arena.blocks);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 1000; i++) {
            unsigned char *bytes = arena_alloc(&arena, 100, 1);
            assert_non_null(bytes);
            assert_true(all_are(bytes, 0, 100)); /* also where the round before wrote */
            memset(bytes, 0xff, 100);
        }
        arena_reset(&arena);
        assert_non_null(arena.blocks);
    }
    arena_free(&arena);
    arena_free(&arena);
}

/* The kept block is enough for the same work again: in a loop nothing is taken from the system. */
static void reset_settles(void **state) {
    (void)state;
    struct arena arena = {0};
    for (int i = 0; i < 5000; i++) assert_non_null(arena_alloc(&arena, 100, 1));
    arena_reset(&arena);
    struct arena_block *kept = arena.blocks;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2000; i++) assert_non_null(arena_alloc(&arena, 100, 1));
        assert_ptr_equal(arena.blocks, kept);
        arena_reset(&arena);
        assert_ptr_equal(arena.blocks, kept);
    }
    arena_free(&arena);
}

static void large_allocations(void **state) {
    (void)state;
    struct arena arena = {0};
    char *small = arena_strdup(&arena, "small");
    size_t size = (size_t)40 << 20;
    unsigned char *large = arena_alloc(&arena, size / 8, 8);
    assert_non_null(large);
    assert_int_equal((uintptr_t)large % _Alignof(max_align_t), 0);
    assert_true(all_are(large, 0, size));
    memset(large, 1, size);
    unsigned char *after = arena_alloc(&arena, 3, 1);
    assert_non_null(after);
    assert_true(all_are(after, 0, 3));
    memset(after, 2, 3);
    assert_string_equal(small, "small");
    assert_true(all_are(large, 1, size));
    arena_free(&arena);
}

/* After a large allocation a small one must not fail only because twice as much is not to be had. */
static void small_after_large_near_the_limit(void **state) {
    (void)state;
    if (SANITIZED) skip(); /* sanitizers reserve terabytes of addresses */
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm == NULL) skip();
    int found = fscanf(statm, "%ld", &pages);
    fclose(statm);
    assert_int_equal(found, 1);

    struct rlimit before, tight;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    tight = before;
    tight.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)96 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    struct arena arena = {0};
    void *large = arena_alloc(&arena, (size_t)64 << 20, 1);
    void *small = arena_alloc(&arena, 16, 1);
    void *too_large = arena_alloc(&arena, (size_t)64 << 20, 1);
    void *still = arena_alloc(&arena, 16, 1);
    setrlimit(RLIMIT_AS, &before);
    assert_non_null(large);
    assert_non_null(small);
    assert_null(too_large);
    assert_non_null(still);
    arena_free(&arena);
}

static void strings(void **state) {
    (void)state;
    struct arena arena = {0};
    assert_string_equal(arena_strdup(&arena, ""), "");
    char original[] = "a string";
    char *copy = arena_strdup(&arena, original);
    original[0] = 'X';
    assert_string_equal(copy, "a string");
    assert_string_equal(arena_printf(&arena, "%s", ""), "");
    assert_string_equal(arena_printf(&arena, "%s-%d", copy, 42), "a string-42");
    char *wide = arena_printf(&arena, "%*d", 100000, 7); /* longer than the first block */
    assert_int_equal(strlen(wide), 100000);
    assert_int_equal(wide[99999], '7');
    for (int i = 15; i <= 17; i++) /* the NUL has its own byte, also where a piece is full */
        assert_int_equal(strlen(arena_printf(&arena, "%*d", i, 1)), i);
    assert_string_equal(copy, "a string");
    arena_free(&arena);
}

static void errors_take_words_from_themselves(void **state) {
    (void)state;
    struct kerf_error err;
    memset(&err, 0x5a, sizeof err);
    assert_int_equal(kerf_error_set(&err, KERF_EINVALID, "%s = %d", "tp", 3), KERF_EINVALID);
    assert_string_equal(err.message, "tp = 3");
    assert_int_equal(err.line, 0);
    assert_string_equal(err.file, "");
    assert_int_equal(kerf_error_set(&err, KERF_ESYNTAX, "model: %s", err.message), KERF_ESYNTAX);
    assert_string_equal(err.message, "model: tp = 3");
    assert_int_equal(err.code, KERF_ESYNTAX);
    assert_int_equal(kerf_error_set(NULL, KERF_EIO, "nobody listens"), KERF_EIO);
}

static void errors_are_one_line(void **state) {
    (void)state;
    struct kerf_error err;
    char text[1024], small[8];
    kerf_error_set(&err, KERF_EINVALID, "%s", "a\nb\x1b[31m\x7f");
    assert_string_equal(err.message, "a?b?[31m?");
    memset(text, 'x', sizeof text);
    kerf_error_set(&err, KERF_EINVALID, "%.*s", (int)sizeof text, text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);

    kerf_error_set(&err, KERF_EUNKNOWN, "no such model");
    kerf_error_format(&err, text, sizeof text);
    assert_string_equal(text, "no such model");
    strcpy(err.file, "m.json");
    kerf_error_format(&err, text, sizeof text);
    assert_string_equal(text, "m.json: no such model");
    err.line = 3;
    kerf_error_format(&err, text, sizeof text);
    assert_string_equal(text, "m.json:3: no such model");
    err.column = 7;
    kerf_error_format(&err, text, sizeof text);
    assert_string_equal(text, "m.json:3:7: no such model");
    kerf_error_format(&err, small, sizeof small);
    assert_string_equal(small, "m.json:");
    small[0] = '!';
    kerf_error_format(&err, small, 0);
    assert_int_equal(small[0], '!');

    assert_string_equal(kerf_error_name(KERF_OK), "KERF_OK");
    assert_string_equal(kerf_error_name(KERF_EINTERRUPTED), "KERF_EINTERRUPTED");
    assert_string_equal(kerf_error_name(1), "?");
}

static void copies_end_with_a_nul(void **state) {
    (void)state;
    struct arena arena = {0};
    arena_alloc(&arena, 15, 1); /* what a copy is put behind */
    char *copy = arena_copy(&arena, "bytes", 3);
    assert_string_equal(copy, "byt");
    assert_string_equal(arena_copy(&arena, NULL, 0), "");
    char *whole = arena_copy(&arena, "a\0b", 3);
    assert_memory_equal(whole, "a\0b", 4);
    assert_string_equal(copy, "byt");
    assert_null(arena_copy(&arena, "", SIZE_MAX));
    assert_null(arena_copy(&arena, "", SIZE_MAX / 2));
    arena_free(&arena);
}

static void trim_keeps_small_blocks_alone(void **state) {
    (void)state;
    enum { MOST = 1 << 20 };
    struct arena arena = {0};
    arena_trim(&arena, MOST);
    assert_null(arena.blocks);
    unsigned char *small = arena_alloc(&arena, 100, 1);
    memset(small, 7, 100);
    arena_trim(&arena, MOST);
    assert_non_null(arena.blocks); /* as arena_reset: the same block, for the next use */
    unsigned char *again = arena_alloc(&arena, 100, 1);
    assert_ptr_equal(again, small);
    assert_true(all_are(again, 0, 100));
    arena_alloc(&arena, 3, MOST);
    arena_trim(&arena, MOST);
    assert_null(arena.blocks); /* one that is too large is given back */
    assert_non_null(arena_alloc(&arena, 100, 1));
    arena_trim(&arena, 0);
    assert_null(arena.blocks);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligned_zeroed_and_apart),
        cmocka_unit_test(counts_times_size),
        cmocka_unit_test(overflow_is_null),
        cmocka_unit_test(reset_keeps_usable),
        cmocka_unit_test(reset_settles),
        cmocka_unit_test(large_allocations),
        cmocka_unit_test(small_after_large_near_the_limit),
        cmocka_unit_test(strings),
        cmocka_unit_test(copies_end_with_a_nul),
        cmocka_unit_test(trim_keeps_small_blocks_alone),
        cmocka_unit_test(errors_take_words_from_themselves),
        cmocka_unit_test(errors_are_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
