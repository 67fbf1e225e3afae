/* SPDX-License-Identifier: Apache-2.0 */
/* Reading whole inputs: what is too large, not there, or no file; and names that are fit to print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_fill.h"
#include "base/input.h"
#include "base/characters.h"

static char folder[] = "/tmp/kerf-test-input-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static const char *path_of(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *write_file(const char *name, const char *bytes, size_t length) {
    const char *path = path_of(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void expect_refused(const char *path, size_t limit, const char *words) {
    struct kerf_text text = {0};
    struct kerf_error err;
    assert_int_equal(input_read(path, limit, &text, &err), KERF_EIO);
    assert_int_equal(err.code, KERF_EIO);
    assert_string_equal(err.file, path);
    assert_int_equal(err.line, 0);
    assert_int_equal(err.column, 0);
    assert_non_null(strstr(err.message, words));
    assert_int_equal(input_read(path, limit, &text, NULL), KERF_EIO);
    kerf_text_free(&text);
}

static void reads_every_byte(void **state) {
    (void)state;
    enum { LENGTH = 100000 };
    char *bytes = malloc(LENGTH);
    for (int i = 0; i < LENGTH; i++) bytes[i] = (char)(i * 31 + i / 256);
    const char *path = write_file("bytes", bytes, LENGTH);
    struct kerf_text text = {0};
    struct kerf_error err;
    assert_int_equal(input_read(path, LENGTH, &text, &err), KERF_OK); /* as long as it may be */
    assert_int_equal(text.length, LENGTH);
    assert_memory_equal(text.data, bytes, LENGTH);
    kerf_text_free(&text);
    expect_refused(path, LENGTH - 1, "larger than");
    unlink(path);
    path = write_file("empty", "", 0);
    assert_int_equal(input_read(path, 10, &text, &err), KERF_OK);
    assert_int_equal(text.length, 0);
    kerf_text_free(&text);
    unlink(path);
    free(bytes);
}

static void reads_standard_input(void **state) {
    (void)state;
    int before = dup(STDIN_FILENO), ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "from a pipe", 11), 11);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    struct kerf_text text = {0};
    struct kerf_error err;
    int32_t code = input_read("-", 11, &text, &err), again = 0;
    assert_int_equal(code, KERF_OK);
    assert_string_equal(text.data, "from a pipe");
    kerf_text_free(&text);
    int zero = open("/dev/zero", O_RDONLY);
    dup2(zero, STDIN_FILENO);
    again = input_read("-", 1 << 20, &text, &err);
    kerf_text_free(&text);
    dup2(before, STDIN_FILENO);
    close(zero), close(before), close(ends[0]);
    assert_int_equal(again, KERF_EIO);
    assert_string_equal(err.file, "standard input");
    assert_string_equal(err.message, "larger than 1 MiB, the limit for such a file; is it the right file?");
}

static void refuses_what_is_no_description(void **state) {
    (void)state;
    expect_refused("/dev/zero", 16 << 20, "larger than 16 MiB, the limit for such a file; is it the right file?");
    expect_refused(folder, 100, "a folder; name a file in it");
    expect_refused(path_of("none"), 100, "no such file");
    expect_refused("", 100, "the name of a file is empty");
    const char *path = write_file("plain", "x", 1);
    char below[300];
    snprintf(below, sizeof below, "%s/x", path);
    expect_refused(below, 100, "Not a directory");
    if (getuid() != 0) {
        chmod(path, 0);
        expect_refused(path, 100, "Permission denied");
    }
    unlink(path);
    path = path_of("sparse");
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(ftruncate(fd, (off_t)1 << 30), 0); /* refused by its size, unread */
    close(fd);
    expect_refused(path, 16 << 20, "larger than 16 MiB");
    unlink(path);
}

static void keeps_the_end_of_a_long_name(void **state) {
    (void)state;
    struct kerf_error err = {.code = KERF_EIO};
    char name[600];
    for (size_t i = 0; i < sizeof name; i++) name[i] = (char)('a' + i % 26);
    name[sizeof name - 1] = 0;
    error_set_file(&err, name);
    assert_int_equal(strlen(err.file), sizeof err.file - 1);
    assert_string_equal(err.file, name + sizeof name - sizeof err.file);
    error_set_file(&err, "short");
    assert_string_equal(err.file, "short");
    error_set_file(&err, "two\nlines \033[31m \xff");
    assert_string_equal(err.file, "two?lines ?[31m ?");
    error_set_file(NULL, "nobody asks");
}

static void cleans_text(void **state) {
    (void)state;
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"", ""},
        {"plain ~", "plain ~"},
        {"a\nb\tc\rd\x7f", "a?b?c?d?"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xc2\xa0 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", /* the ends of
                                                                                                          each range */
         "\xc2\xa0 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"},
        {"cut \xe2\x82", "cut ??"},
        {"cut \xf0\x9f\x98", "cut ???"},
        {"\xa9 alone", "? alone"},
        {"\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf", "?? ??? ????"}, /* overlong */
        {"\xed\xa0\x80", "???"},                                   /* half of a pair */
        {"\xf4\x90\x80\x80 \xf5\xff", "???? ??"},
        {"\xc2\x9b"
         "1m \xc2\xa0",
         "??1m \xc2\xa0"}, /* a terminal's other escape; a space that does not break */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        strcpy(text, cases[i].before);
        utf8_clean(text);
        assert_string_equal(text, cases[i].after);
    }
    /* whatever the bytes, what is left is UTF-8 and the same length */
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        char text[24];
        size_t length = 1 + (size_t)round % 16;
        for (size_t i = 0; i < length; i++) {
            random = random * 1664525 + 1013904223;
            unsigned char byte = (unsigned char)(random >> 24);
            text[i] = (char)(byte ? byte : 1);
        }
        text[length] = 0;
        utf8_clean(text);
        json_t *utf8 = json_string(text);
        assert_non_null(utf8);
        json_decref(utf8);
        assert_int_equal(strlen(text), length);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_byte),
        cmocka_unit_test(reads_standard_input),
        cmocka_unit_test(refuses_what_is_no_description),
        cmocka_unit_test(keeps_the_end_of_a_long_name),
        cmocka_unit_test(cleans_text),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
