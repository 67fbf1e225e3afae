/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree is walked down by /proc/PID/task/TID/children, whose cost grows with the threads below this process and not
 * with the processes of the machine. Where the kernel has no such files, all of /proc is read.
 */
#include "trial/process_family.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- One process -------------------------------------------------------------------------------------------- */

/* Reads up to size - 1 bytes of the file, and adds a NUL; -1 where it cannot be read. */
static ssize_t read_file(const char *path, char *bytes, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t count = read(fd, bytes, size - 1);
    close(fd);
    if (count >= 0) bytes[count] = 0;
    return count;
}

/* Its clock tells the processor time of its threads exactly; /proc tells it in ticks. */
static double own_cpu_s(pid_t pid, double from_ticks_s) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return from_ticks_s;
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int read_process(pid_t pid, struct process *ret_process) {
    char path[64], text[1024], state;
    double ticks = (double)sysconf(_SC_CLK_TCK);
    unsigned long long user, system, started;
    long long children_user, children_system;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (read_file(path, text, sizeof text) <= 0) return 0;
    const char *name_end = strrchr(text, ')'); /* a name may hold anything */
    *ret_process = (struct process){.pid = pid};
    if (name_end == NULL ||
        sscanf(name_end + 1, " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*d %*d %*d %*d %llu",
               &state, &ret_process->parent, &ret_process->group, &ret_process->session, &user, &system, &children_user,
               &children_system, &started) != 9)
        return 0;
    ret_process->is_zombie = state == 'Z' || state == 'X';
    ret_process->started = started;
    double own_s = (double)(user + system) / ticks;
    if (!ret_process->is_zombie) own_s = own_cpu_s(pid, own_s);
    ret_process->cpu_s = own_s + (double)(children_user + children_system) / ticks;
    return 1;
}

/* Whether its environment has the slot's mark. */
static int has_mark(pid_t pid, int32_t slot) {
    char path[64], mark[64], text[1 << 16];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    snprintf(mark, sizeof mark, TRIAL_MARK "=%d", (int)slot);
    ssize_t count = read_file(path, text, sizeof text);
    for (ssize_t at = 0; at < count; at += (ssize_t)strlen(text + at) + 1)
        if (strcmp(text + at, mark) == 0) return 1;
    return 0;
}

int64_t process_peak(pid_t pid) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (read_file(path, text, sizeof text) <= 0) return 0;
    const char *peak = strstr(text, "\nVmHWM:");
    return peak ? 1024 * (int64_t)strtoll(peak + 7, NULL, 10) : 0;
}

void process_peak_reset(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/clear_refs", (int)pid);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t done = write(fd, "5", 1);
    (void)done; /* if it fails, the peak is that of its whole life */
    close(fd);
}

uint64_t descendants_now(void) {
    struct timespec time = {0};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (uint64_t)(((double)time.tv_sec + 1e-9 * (double)time.tv_nsec) * (double)sysconf(_SC_CLK_TCK));
}

/* ---- All of them -------------------------------------------------------------------------------------------- */

static int is_known(const struct descendants *all, pid_t pid) {
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].pid == pid) return 1;
    return 0;
}

static int add(struct descendants *all, const struct process *process) {
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? 2 * all->capacity : 32;
        struct process *list = realloc(all->list, capacity * sizeof *list);
        if (list == NULL) return 0;
        all->list = list;
        all->capacity = capacity;
    }
    all->list[all->count++] = *process;
    return 1;
}

/* Adds the children of all threads of pid. 0 where the kernel does not tell them. */
static int add_children(struct descendants *all, pid_t pid) {
    char path[96];
    int found = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *entry; threads && (entry = readdir(threads));) {
        int thread = atoi(entry->d_name), child;
        if (thread <= 0) continue;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, thread);
        FILE *children = fopen(path, "re");
        if (children == NULL) continue;
        found = 1;
        while (fscanf(children, "%d", &child) == 1) {
            struct process process;
            if (read_process(child, &process) && !is_known(all, child)) add(all, &process);
        }
        fclose(children);
    }
    if (threads) closedir(threads);
    return found;
}

void descendants_read_plainly(struct descendants *all) {
    pid_t self = getpid();
    DIR *folder = opendir("/proc");
    struct descendants others = {0};
    all->count = 0;
    if (folder == NULL) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct process process;
        if (atoi(entry->d_name) > 0 && read_process(atoi(entry->d_name), &process)) add(&others, &process);
    }
    closedir(folder);
    for (size_t before = SIZE_MAX; before != all->count;) { /* level by level */
        before = all->count;
        for (size_t i = 0; i < others.count; i++) {
            const struct process *process = &others.list[i];
            if ((process->parent == self || is_known(all, process->parent)) && !is_known(all, process->pid))
                add(all, process);
        }
    }
    descendants_free(&others);
}

void descendants_read(struct descendants *all) {
    pid_t self = getpid();
    all->count = 0;
    if (!add_children(all, self)) {
        descendants_read_plainly(all);
        return;
    }
    for (size_t i = 0; i < all->count; i++)
        if (!all->list[i].is_zombie) add_children(all, all->list[i].pid);
}

void descendants_free(struct descendants *all) {
    free(all->list);
    *all = (struct descendants){0};
}

static pid_t root_of(const struct descendants *all, size_t before, pid_t pid) {
    for (size_t i = before; i-- > 0;)
        if (all->list[i].pid == pid) return all->list[i].root;
    return 0;
}

static int is_of(const struct descendants *all, size_t i, pid_t root) {
    const struct process *process = &all->list[i];
    return process->pid == root || process->session == root || process->group == root ||
           root_of(all, i, process->parent) == root;
}

void descendants_claim(struct descendants *all, pid_t root) {
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].root == 0 && is_of(all, i, root)) all->list[i].root = root;
}

/* A process that is ending has lost its environment before its children: these have theirs. */
void descendants_claim_marked(struct descendants *all, pid_t root, int32_t slot) {
    pid_t session = getsid(0);
    for (size_t i = 0; i < all->count; i++) {
        struct process *process = &all->list[i];
        if (process->root != 0 || process->session == session) continue;
        if (root_of(all, i, process->parent) == root || has_mark(process->pid, slot)) process->root = root;
    }
}

double descendants_cpu_s(const struct descendants *all, pid_t root) {
    double cpu_s = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].root == root) cpu_s += all->list[i].cpu_s;
    return cpu_s;
}

/* ---- The family --------------------------------------------------------------------------------------------- */

enum { ROUNDS_MAX = 1000, PAUSE_US = 2000 };

static int is_first(const struct program_family *family, pid_t pid) {
    for (int32_t i = 0; i < 2 * family->slots; i++)
        if (family->roots[i] == pid) return 1;
    return pid == family->guard;
}

/* Whether it is an orphan whose parent this process became. */
static int is_orphan(const struct program_family *family, const struct process *process) {
    return process->parent == getpid() && process->session != getsid(0) && process->started >= family->since &&
           !is_first(family, process->pid);
}

void program_reaped(struct program_family *family, int32_t index, const struct rusage *usage) {
    int64_t peak = 1024 * (int64_t)usage->ru_maxrss;
    assert(index >= 0 && index < 2 * family->slots);
    family->cpu_s[index] += (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
                            1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
    if (peak > family->peak_bytes[index]) family->peak_bytes[index] = peak;
}

/* A process that has ended has no environment; it keeps the root that it had when it was read before. */
static void claim_as_before(struct descendants *all, const struct descendants *before) {
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < before->count; k++)
            if (before->list[k].pid == all->list[i].pid && before->list[k].started == all->list[i].started)
                all->list[i].root = before->list[k].root;
}

/* Whether it was an orphan without a root when the list was read before. */
static int was_rootless(const struct descendants *before, const struct process *process) {
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
    descendants_read(all); /* without /proc only the group is known */
    claim_as_before(all, &before);
    for (int32_t i = 0; i < 2 * family->slots; i++)
        if (family->roots[i] > 0) descendants_claim(all, family->roots[i]);
    for (int32_t slot = 0; slot < family->slots; slot++)
        if (family->roots[2 * slot] > 0) descendants_claim_marked(all, family->roots[2 * slot], slot);
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
            if (process.root == 0 && !was_rootless(&before, &process)) is_sure = 0;
            all->list[kept++] = process;
        }
    }
    all->count = kept;
    descendants_free(&before);
    return is_sure;
}

void program_family_end(struct program_family *family) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
        int left = !program_family_read(family);
        for (size_t i = 0; i < family->all.count; i++) {
            const struct process *process = &family->all.list[i];
            int below = 0; /* below an orphan that is killed */
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
