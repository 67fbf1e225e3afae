/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests come from a page of another site, by the headers that browsers send. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "server/access.h"

static const char *const listed[] = {"kerf.example", "[2001:db8::1]"};
static const struct origin_rules loopback = {.checks_hosts = 1};
static const struct origin_rules with_list = {.checks_hosts = 1, .hosts = listed, .num_hosts = 2};
static const struct origin_rules anywhere = {.checks_hosts = 0};

static int allows(const struct origin_rules *rules, const char *host, const char *origin) {
    const struct head head = {.host = host, .origin = origin};
    char why[ORIGIN_WHY_BYTES] = "";
    int allowed = origin_allows(rules, &head, why);
    assert_int_equal(allowed, why[0] == 0);
    return allowed;
}

static void test_hosts(void **state) {
    (void)state;
    static const char *const good[] = {"localhost",      "localhost:8000", "LocalHost:1", "127.0.0.1",
                                       "127.0.0.1:8000", "127.255.0.3",    "[::1]",       "[::1]:8000"};
    static const char *const bad[] = {"",
                                      "evil.example",
                                      "evil.example:8000",
                                      "localhost.evil.example",
                                      "127.0.0.1.evil.example",
                                      "127.0.0",
                                      "127.0.0.256",
                                      "0127.0.0.1",
                                      "0x7f.0.0.1",
                                      "2130706433",
                                      "128.0.0.1",
                                      "10.0.0.1",
                                      "[::2]",
                                      "[::1",
                                      "[::1]x",
                                      "[::1]:80x",
                                      "localhost:80:80",
                                      "localhost:evil",
                                      " localhost",
                                      "user@localhost",
                                      "127.0.0.1,",
                                      "kerf.example:8000a",
                                      "[::ffff:7f00:1]",
                                      "0.0.0.0",
                                      "localhost/"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!allows(&loopback, good[i], NULL)) fail_msg("'%s' is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (allows(&loopback, bad[i], NULL)) fail_msg("'%s' is let in", bad[i]);
    assert_true(allows(&loopback, NULL, NULL)); /* HTTP/1.0, a program */
    assert_true(allows(&anywhere, "evil.example", NULL));
    assert_true(allows(&with_list, "Kerf.Example:443", NULL));
    assert_true(allows(&with_list, "[2001:db8::1]:8000", NULL));
    assert_true(allows(&with_list, "localhost:8000", NULL));
    assert_false(allows(&with_list, "x.kerf.example", NULL));
}

static void test_origins(void **state) {
    (void)state;
    static const struct {
        const char *host, *origin;
        int allowed;
    } cases[] = {{"localhost:8000", "http://localhost:8000", 1},
                 {"localhost:8000", "http://LOCALHOST:8000", 1},
                 {"localhost", "http://localhost", 1},
                 {"localhost:80", "http://localhost", 1},
                 {"localhost", "https://localhost:443", 1},
                 {"[::1]:8000", "http://[::1]:8000", 1},
                 {"localhost:8000", "http://localhost:3000", 0}, /* another program of this machine */
                 {"localhost:8000", "http://localhost", 0},
                 {"127.0.0.1:8000", "http://localhost:8000", 0},
                 {"localhost:8000", "http://evil.example", 0},
                 {"localhost:8000", "http://localhost:8000.evil.example", 0},
                 {"localhost:8000", "http://localhost.evil.example:8000", 0},
                 {"localhost:8000", "null", 0},
                 {"localhost:8000", "", 0},
                 {"localhost:8000", "file://", 0},
                 {"localhost:8000", "chrome-extension://abc", 0},
                 {NULL, "http://localhost:8000", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (allows(&loopback, cases[i].host, cases[i].origin) != cases[i].allowed)
            fail_msg("%s of %s", cases[i].origin, cases[i].host ? cases[i].host : "no host");
    assert_false(allows(&anywhere, "kerf.example", "https://evil.example")); /* wherever it listens */
    assert_true(allows(&anywhere, "kerf.example", "https://kerf.example"));
    /* behind a proxy that asks with a Host of its own */
    assert_true(allows(&with_list, "127.0.0.1:8000", "https://kerf.example"));
    assert_false(allows(&with_list, "127.0.0.1:8000", "https://evil.example"));
}

static void test_sites(void **state) {
    (void)state;
    static const struct {
        const char *site, *mode, *dest, *method;
        int is_foreign, is_link;
    } cases[] = {{NULL, NULL, NULL, "POST", 0, 0},
                 {"same-origin", "cors", "empty", "POST", 0, 0},
                 {"none", "navigate", "document", "GET", 0, 1},
                 {"same-site", "cors", "empty", "POST", 1, 0},
                 {"cross-site", "no-cors", "image", "GET", 1, 0},
                 {"cross-site", "navigate", "document", "GET", 1, 1},
                 {"cross-site", "navigate", "document", "POST", 1, 0}, /* a form */
                 {"cross-site", "navigate", "iframe", "GET", 1, 0},
                 {"unheard-of", NULL, NULL, "GET", 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct head head = {
            .fetch_site = cases[i].site, .fetch_mode = cases[i].mode, .fetch_dest = cases[i].dest};
        assert_int_equal(origin_is_foreign(&head), cases[i].is_foreign);
        assert_int_equal(origin_is_link(&head, cases[i].method), cases[i].is_link);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_sites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
