/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs in memory, and whose turn it is: one request at a time decides about a job, and the next one begins when
 * what the one before it changed is durable. So no request sees what may still be lost, and a failed commit undoes no
 * second decision. Requests about different jobs don't wait for each other.
 *
 * The size of the cache is bounded: the jobs that were not used for the longest time are forgotten first.
 */
#ifndef KERF_SERVER_JOB_CACHE_H
#define KERF_SERVER_JOB_CACHE_H

#include "kerf/jobs.h"

struct job_cache;

enum { JOB_TRIALS = 8 }; /* the rows of running trials that are kept with a job */

struct job_entry {
    /* For the one whose turn it is: */
    int64_t key, version;                 /* in the store; 0: not known */
    struct kerf_job *job;                 /* NULL: not in memory */
    struct kerf_trial trials[JOB_TRIALS]; /* as they are stored, but seen_s, which may be later */
    double stored_seen_s[JOB_TRIALS];
    int32_t num_trials;

    /* The cache's own */
    char *job_id;
    uint64_t hash;
    struct job_entry *chain, *newer, *older;
    struct job_turn *first, **last; /* those who wait */
    size_t bytes;
    int32_t is_taken, has_job; /* has_job: when the last turn ended */
};

struct job_turn {
    struct job_entry *entry; /* NULL: it is not this one's turn */
    struct job_turn *next;
    void (*waits)(struct job_turn *turn);   /* called before the turn can be granted */
    void (*granted)(struct job_turn *turn); /* called by any thread, once, after waits */
};

struct job_cache_counts {
    uint64_t hits, misses, evicted;
    size_t jobs, bytes;
};

/* NULL: no memory */
struct job_cache *job_cache_new(size_t most_bytes);
struct job_cache *job_cache_free(struct job_cache *cache);
void job_cache_count(struct job_cache *cache, struct job_cache_counts *ret_counts);

/* 1: it is this one's turn. 0: it waits. -1: no memory. */
int job_turn_take(struct job_cache *cache, const char *job_id, struct job_turn *turn);
void job_turn_release(struct job_cache *cache, struct job_turn *turn);

/* What the entry holds is out of date: it is loaded anew by the next one. */
void job_entry_forget(struct job_entry *entry);

/* The trial with this number, or NULL; the new one pushes out the oldest. */
struct kerf_trial *job_entry_trial(struct job_entry *entry, int64_t number);
void job_entry_keep_trial(struct job_entry *entry, const struct kerf_trial *trial);
void job_entry_drop_trial(struct job_entry *entry, int64_t number);

#endif
