/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tune/run/program.h"

enum { ROUNDS_MOST = 1000, PAUSE_US = 2000 };

static int is_first(const struct program_family *family, pid_t pid) {
    for (int32_t i = 0; i < 2 * family->slots; i++)
        if (family->roots[i] == pid) return 1;
    return pid == family->guard;
}

/* Whether it is an orphan that came to this process. */
static int is_orphan(const struct program_family *family, const struct process *process) {
    return process->parent == getpid() && process->session != getsid(0) && process->started >= family->since &&
           !is_first(family, process->pid);
}

void program_reaped(struct program_family *family, int32_t index, const struct rusage *usage) {
    int64_t peak = 1024 * (int64_t)usage->ru_maxrss;
    family->cpu_s[index] += (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
                            1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
    if (peak > family->peak_bytes[index]) family->peak_bytes[index] = peak;
}

/* A process whose environment is gone with its end is still whose it was when it was seen last. */
static void claim_as_before(struct descendants *all, const struct descendants *before) {
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < before->count; k++)
            if (before->list[k].pid == all->list[i].pid && before->list[k].started == all->list[i].started)
                all->list[i].root = before->list[k].root;
}

size_t program_family_read(struct program_family *family) {
    struct descendants *all = &family->all, before = *all;
    *all = (struct descendants){0};
    descendants_read(all);
    claim_as_before(all, &before);
    descendants_free(&before);
    for (int32_t i = 0; i < 2 * family->slots; i++)
        if (family->roots[i] > 0) descendants_claim(all, family->roots[i], i % 2 == 0 ? i / 2 : -1);
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct process *process = &all->list[i];
        struct rusage usage;
        if (process->is_zombie && is_orphan(family, process) &&
            wait4(process->pid, NULL, WNOHANG, &usage) == process->pid) {
            for (int32_t k = 0; k < 2 * family->slots; k++)
                if (process->root != 0 && family->roots[k] == process->root) program_reaped(family, k, &usage);
        } else {
            all->list[kept++] = *process;
        }
    }
    size_t taken = all->count - kept;
    all->count = kept;
    return taken;
}

void program_family_end(struct program_family *family) {
    for (int round = 0; round < ROUNDS_MOST; round++) {
        int left = program_family_read(family) > 0;
        for (size_t i = 0; i < family->all.count; i++) {
            const struct process *process = &family->all.list[i];
            int below = 0; /* of an orphan: it goes with it */
            for (size_t k = 0; k < i && !below; k++)
                below = family->all.list[k].pid == process->parent && family->all.list[k].root == -1;
            if (!below && !is_orphan(family, process)) continue;
            family->all.list[i].root = -1;
            left = 1;
            if (!process->is_zombie) kill(process->pid, SIGKILL);
        }
        if (!left) return;
        usleep(PAUSE_US);
    }
}
