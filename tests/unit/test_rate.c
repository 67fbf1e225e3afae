/* SPDX-License-Identifier: Apache-2.0 */
/* Token buckets by address, on a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include "server/access.h"

static struct network version_4(uint32_t number) {
    struct network address = {{[10] = 0xff, [11] = 0xff}};
    for (int i = 0; i < 4; i++) address.bytes[12 + i] = (unsigned char)(number >> (24 - 8 * i));
    return address;
}

/* How many go on at once. */
static int burst(struct rate_table *table, const struct network *address, double now_s) {
    int count = 0;
    while (count < 100000 && rate_take(table, address, now_s) == 0) count++;
    return count;
}

static void test_a_burst_and_what_fills_it(void **state) {
    (void)state;
    struct rate_table *table = rate_new(10, 1);
    const struct network a = version_4(1), b = version_4(2);
    assert_non_null(table);
    assert_int_equal(burst(table, &a, 100), 20);
    assert_int_equal(burst(table, &b, 100), 20); /* each address has its own */
    assert_true(rate_take(table, &a, 100) == 0.1);
    assert_true(rate_take(table, &a, 100.05) > 0.049);
    assert_true(rate_take(table, &a, 100.05) < 0.051); /* what was refused costs nothing */
    assert_int_equal(burst(table, &a, 100.5), 5);
    assert_int_equal(burst(table, &a, 101.5), 10);
    assert_int_equal(burst(table, &a, 1e6), 20); /* no more than the burst */
    rate_free(table);
}

static void test_over_time_no_more_than_the_rate(void **state) {
    (void)state;
    struct rate_table *table = rate_new(7, 2);
    const struct network a = version_4(1);
    int count = 0;
    for (int i = 0; i <= 100000; i++) count += rate_take(table, &a, 5 + i * 1e-3) == 0; /* 1000 a second, 100 s */
    assert_in_range(count, 700, 714);
    rate_free(table);
}

static void test_a_clock_that_stands_or_goes_back(void **state) {
    (void)state;
    struct rate_table *table = rate_new(1, 3);
    const struct network a = version_4(1);
    assert_int_equal(burst(table, &a, 50), 2);
    assert_int_equal(burst(table, &a, 20), 0);
    assert_int_equal(burst(table, &a, 50), 0); /* nothing was won by going back */
    assert_int_equal(burst(table, &a, 51), 1);
    rate_free(table);
}

static void test_charges(void **state) {
    (void)state;
    struct rate_table *table = rate_new(10, 4);
    const struct network a = version_4(1);
    rate_charge(table, &a, 15, 100);
    assert_int_equal(burst(table, &a, 100), 5);
    rate_charge(table, &a, 9, 100);
    assert_true(rate_take(table, &a, 100) == 1.0); /* 9 owed, and 1 to go on with */
    rate_charge(table, &a, 1e9, 100);
    assert_int_equal(burst(table, &a, 102.05), 0); /* it owes a burst, and no more */
    assert_int_equal(burst(table, &a, 102.15), 1);
    rate_free(table);
}

static struct network version_6(const char *text) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6};
    assert_int_equal(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
    return network_of((const struct sockaddr *)&address);
}

static void test_networks(void **state) {
    (void)state;
    struct rate_table *table = rate_new(1, 5);
    const struct network a = version_6("2001:db8::1"), b = version_6("2001:db8::9:1"), c = version_6("2001:db8:0:1::1");
    const struct network d = version_6("::ffff:10.0.0.1"), e = version_6("::ffff:10.0.0.2");
    assert_int_equal(burst(table, &a, 1), 2);
    assert_int_equal(burst(table, &b, 1), 0); /* the same /64 */
    assert_int_equal(burst(table, &c, 1), 2);
    assert_int_equal(burst(table, &d, 1), 2); /* IPv4 addresses in IPv6 ones are not a network */
    assert_int_equal(burst(table, &e, 1), 2);
    rate_free(table);
}

/* However many come by, who has used up what it had stays known: it owes more than all of them. */
static void test_a_flood_of_addresses(void **state) {
    (void)state;
    struct rate_table *table = rate_new(1, 6);
    const struct network a = version_4(1);
    assert_int_equal(burst(table, &a, 1), 2);
    for (uint32_t i = 2; i < 20 * RATE_PLACES; i++) {
        const struct network other = version_4(i * 2654435761u);
        if (memcmp(&other, &a, sizeof a) != 0) assert_true(rate_take(table, &other, 1) == 0);
    }
    assert_int_equal(burst(table, &a, 1), 0);
    rate_free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_burst_and_what_fills_it),
        cmocka_unit_test(test_over_time_no_more_than_the_rate),
        cmocka_unit_test(test_a_clock_that_stands_or_goes_back),
        cmocka_unit_test(test_charges),
        cmocka_unit_test(test_networks),
        cmocka_unit_test(test_a_flood_of_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
