/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "trial/program.h"

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

/* Whether it was nobody's orphan when all was read before. */
static int was_nobodys(const struct descendants *before, const struct process *process) {
    for (size_t i = 0; i < before->count; i++)
        if (before->list[i].pid == process->pid && before->list[i].started == process->started)
            return before->list[i].root == 0 && before->list[i].parent == process->parent;
    return 0;
}

static void count_usage(struct program_family *family, const struct process *process, const struct rusage *usage) {
    for (int32_t k = 0; k < 2 * family->slots; k++)
        if (process->root != 0 && family->roots[k] == process->root) program_reaped(family, k, usage);
}

int program_family_read(struct program_family *family) {
    struct descendants *all = &family->all, before = *all;
    int is_sure = 1;
    *all = (struct descendants){0};
    descendants_read(all); /* without /proc there is but the group */
    claim_as_before(all, &before);
    for (int32_t i = 0; i < 2 * family->slots; i++)
        if (family->roots[i] > 0) descendants_claim(all, family->roots[i], i % 2 == 0 ? i / 2 : -1);
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct process process = all->list[i];
        struct rusage usage;
        if (!is_orphan(family, &process)) {
            all->list[kept++] = process;
        } else if (process.is_zombie && wait4(process.pid, NULL, WNOHANG, &usage) == process.pid) {
            count_usage(family, &process, &usage);
            is_sure = 0;
        } else {
            if (process.root == 0 && !was_nobodys(&before, &process)) is_sure = 0;
            all->list[kept++] = process;
        }
    }
    all->count = kept;
    descendants_free(&before);
    return is_sure;
}

void program_family_end(struct program_family *family) {
    for (int round = 0; round < ROUNDS_MOST; round++) {
        int left = !program_family_read(family);
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
