/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of processes: both ways of reading it find the same, and everybody's root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "trial/process_family.h"

/* A child with a child of its own, in a session; both sleep. */
static pid_t start_pair(pid_t *ret_child) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        pid_t child = fork();
        if (child == 0) setpgid(0, 0);
        if (child > 0 && write(ends[1], &child, sizeof child) != (ssize_t)sizeof child) _exit(1);
        for (;;) pause();
    }
    assert_int_equal(read(ends[0], ret_child, sizeof *ret_child), sizeof *ret_child);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static const struct process *find(const struct descendants *all, pid_t pid) {
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].pid == pid) return &all->list[i];
    return NULL;
}

static void tree(void **state) {
    (void)state;
    struct descendants all = {0}, plain = {0};
    pid_t children[2], pids[2] = {start_pair(&children[0]), start_pair(&children[1])};
    uint64_t now = descendants_now();
    descendants_read(&all);
    descendants_read_plainly(&plain);
    assert_int_equal(all.count, 4);
    assert_int_equal(plain.count, 4);
    descendants_claim(&all, pids[0]);
    descendants_claim(&all, pids[1]);
    for (int i = 0; i < 2; i++) {
        const struct process *first = find(&all, pids[i]), *below = find(&all, children[i]);
        assert_non_null(first);
        assert_non_null(below);
        assert_true(first < below);
        assert_int_equal(first->parent, getpid());
        assert_int_equal(below->parent, pids[i]);
        assert_int_equal(first->session, pids[i]);
        assert_int_equal(first->root, pids[i]);
        assert_int_equal(below->root, pids[i]);
        assert_true(first->cpu_s >= 0 && first->started <= now && now < first->started + 100000);
        assert_true(process_peak(pids[i]) > 0);
        assert_non_null(find(&plain, pids[i]));
        assert_true(find(&plain, pids[i]) < find(&plain, children[i]));
    }
    assert_true(descendants_cpu_s(&all, pids[0]) >= find(&all, children[0])->cpu_s);
    for (int i = 0; i < 2; i++) {
        kill(children[i], SIGKILL);
        kill(pids[i], SIGKILL);
        assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
    }
    descendants_free(&plain);
    descendants_read(&all);
    assert_int_equal(all.count, 0);
    descendants_free(&all);
}

/* Its parent has no mark, as a process that is ending has lost its environment: it is found by its own. */
static void a_mark_below_an_unmarked_process(void **state) {
    (void)state;
    int ends[2];
    char byte;
    char *words[] = {(char[]){"sleep"}, (char[]){"1000"}, NULL}, *marked[] = {(char[]){TRIAL_MARK "=3"}, NULL};
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t parent = fork();
    assert_true(parent >= 0);
    if (parent == 0) {
        setsid();
        if (fork() == 0) {
            execve("/bin/sleep", words, marked);
            _exit(1);
        }
        close(ends[1]);
        for (;;) pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* when the child became another program */
    close(ends[0]);
    struct descendants all = {0};
    descendants_read(&all);
    assert_int_equal(all.count, 2);
    descendants_claim_marked(&all, 12345, 2);
    assert_int_equal(all.list[1].root, 0);
    descendants_claim_marked(&all, 12345, 3);
    assert_int_equal(all.list[0].pid, parent);
    assert_int_equal(all.list[0].root, 0);
    assert_int_equal(all.list[1].root, 12345);
    kill(all.list[1].pid, SIGKILL);
    kill(parent, SIGKILL);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    descendants_free(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tree), cmocka_unit_test(a_mark_below_an_unmarked_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
