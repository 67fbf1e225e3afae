/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk that is full for a while: a file system of its own in memory, which the store shares with a file that grows.
 * Mounting it needs root, or user namespaces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>
#include "ledger.h"

enum { THREADS = 4, PATIENCE_MS = 600000, PAUSE_MS = 5, FULL_TIMES = 3, LEFT_BYTES = 300000 };
#define DISK "size=64m" /* more than the store's log takes before it begins anew, or that alone fills it */

static struct place place;
static struct ledger ledger;
static char ballast[128];
static _Atomic int is_over, num_refused, num_done, num_wrong;

/* ---- The disk ------------------------------------------------------------------------------------------------ */

static int write_file(const char *path, const char *words) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int done = fd >= 0 && write(fd, words, strlen(words)) == (ssize_t)strlen(words);
    if (fd >= 0) close(fd);
    return done;
}

/* What is mounted from here on, nobody else sees. */
static int is_alone(void) {
    char map[64];
    snprintf(map, sizeof map, "0 %d 1", (int)geteuid());
    if (unshare(CLONE_NEWNS) != 0 &&
        (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !write_file("/proc/self/uid_map", map)))
        return 0;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static int can_mount(void) {
    char folder[] = "/tmp/kerf-disk-XXXXXX";
    int can = is_alone() && mkdtemp(folder) && mount("tmpfs", folder, "tmpfs", 0, "size=64k") == 0;
    if (can) umount(folder);
    rmdir(folder);
    return can;
}

/* Nothing is left but so much. */
static void fill(long left) {
    static const char bytes[4096];
    int fd = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    while (write(fd, bytes, sizeof bytes) > 0) {
    }
    off_t end = lseek(fd, 0, SEEK_END);
    assert_int_equal(ftruncate(fd, end > left ? end - left : 0), 0);
    close(fd);
}

/* ---- Clients ------------------------------------------------------------------------------------------------- */

/* Until it is answered with something else than 503. */
static int insist(struct client *client, struct reply *reply, const char *method, const char *path, const char *body) {
    for (int ms = 0; ms < PATIENCE_MS; ms += PAUSE_MS) {
        if (client_ask(client, reply, method, path, body) != 503) return reply->status;
        if (strstr(reply->body, "full") == NULL) num_wrong++; /* it says why */
        num_refused++;
        pause_ms(PAUSE_MS);
    }
    return 503;
}

static void *work(void *context) {
    struct client client;
    struct reply reply;
    char body[256];
    (void)context;
    client_open(&client, place.port);
    while (!is_over && insist(&client, &reply, "GET", "/jobs/batch_size?job_id=j", NULL) == 200) {
        int64_t trial = reply_integer(&reply, "trial_number"), size = reply_integer(&reply, "batch_size");
        double energy = 100 + (double)(trial % 5);
        ledger_give(&ledger, trial, size);
        snprintf(body, sizeof body,
                 "{\"job_id\":\"j\",\"batch_size\":%d,\"trial_number\":%d,\"time\":1,\"energy\":%.17g,\"metric\":0.9,"
                 "\"current_epoch\":1}",
                 (int)size, (int)trial, energy);
        if (insist(&client, &reply, "POST", "/report", body) != 200 || strstr(reply.body, "already")) break;
        ledger_report(&ledger, trial, energy, 1, 1);
        num_done++;
    }
    if (!is_over) num_wrong++;
    client_close(&client);
    return NULL;
}

static void wait_until_more(_Atomic int *count, int than) {
    int ms = 0;
    for (; *count <= than && ms < PATIENCE_MS; ms += PAUSE_MS) pause_ms(PAUSE_MS);
    if (ms >= PATIENCE_MS) fail_msg("it did not come to that");
}

/* It still reads. */
static void look_while_full(void) {
    struct client client;
    struct reply reply;
    client_open(&client, place.port);
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/j/trials?limit=5", NULL), 200);
    client_close(&client);
}

/* Whether it is ready follows whether it can write, within about a second. */
static void wait_until_ready(int status) {
    struct client client;
    struct reply reply;
    client_open(&client, place.port);
    for (int ms = 0; client_ask(&client, &reply, "GET", "/readyz", NULL) != status && ms < PATIENCE_MS; ms += PAUSE_MS)
        pause_ms(PAUSE_MS);
    assert_int_equal(reply.status, status);
    client_close(&client);
}

static void compare(void) {
    struct client client;
    client_open(&client, place.port);
    assert_int_equal(ledger_compare(&ledger, &client, 1), ledger.last); /* of what was refused, nothing is there */
    assert_int_equal(ledger.num_reported, ledger.last);
    client_close(&client);
}

static void test_full_for_a_while(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    struct client client;
    place_run(&place, 0, NULL);
    client_open(&client, place.port);
    assert_int_equal(register_job(&client, "j", "64,128", ",\"beta_knob\":null"), 201);
    client_close(&client);
    ledger_begin(&ledger, "j");
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < FULL_TIMES; i++) {
        wait_until_more(&num_done, num_done + 20);
        fill(i == 0 ? LEFT_BYTES : 0);
        wait_until_more(&num_refused, num_refused + 20);
        look_while_full();
        wait_until_ready(503);
        assert_int_equal(unlink(ballast), 0);
        wait_until_ready(200);
    }
    wait_until_more(&num_done, num_done + 20);
    is_over = 1;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(num_wrong, 0);
    compare();
    place_end(&place, SIGKILL);
    fill(0);
    place_run(&place, 0, NULL); /* it starts on a full disk, and knows all */
    compare();
    print_message("%d reports were taken, %d requests refused\n", num_done, num_refused);
}

static int make(void **state) {
    (void)state;
    place_make(&place);
    snprintf(ballast, sizeof ballast, "%s/ballast", place.folder);
    return mount("tmpfs", place.folder, "tmpfs", 0, DISK) == 0 ? 0 : -1;
}

static int clear(void **state) {
    (void)state;
    is_over = 1;
    if (place.program > 0) place_end(&place, SIGKILL);
    umount2(place.folder, MNT_DETACH);
    place_clear(&place);
    ledger_clear(&ledger);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_full_for_a_while, make, clear)};
    signal(SIGPIPE, SIG_IGN);
    if (!can_mount()) {
        printf("skipped: no file system can be mounted here\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
