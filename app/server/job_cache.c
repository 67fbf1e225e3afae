/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table of entries, a list of them by last use, and in each entry a queue. One mutex; nothing slow is done
 * under it. */
#include "server/job_cache.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BUCKETS = 256, ENTRY_BYTES = sizeof(struct job_entry) + 64 };

struct job_cache {
    pthread_mutex_t lock;
    struct job_entry **buckets;
    size_t num_buckets; /* a power of two */
    struct job_entry *newest, *oldest;
    size_t most_bytes;
    struct job_cache_counts counts;
};

struct job_cache *job_cache_new(size_t most_bytes) {
    struct job_cache *cache = calloc(1, sizeof *cache);
    struct job_entry **buckets = calloc(FIRST_BUCKETS, sizeof *buckets);
    if (cache == NULL || buckets == NULL) {
        free(cache);
        free(buckets);
        return NULL;
    }
    pthread_mutex_init(&cache->lock, NULL);
    cache->buckets = buckets;
    cache->num_buckets = FIRST_BUCKETS;
    cache->most_bytes = most_bytes;
    return cache;
}

/* ---- Entries ----------------------------------------------------------------------------------------------- */

static uint64_t hash_text(const char *text) { /* FNV-1a */
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

static struct job_entry **bucket_of(struct job_cache *cache, uint64_t hash) {
    return &cache->buckets[(hash ^ hash >> 32) & (cache->num_buckets - 1)];
}

static void grow(struct job_cache *cache) {
    size_t num_before = cache->num_buckets;
    struct job_entry **before = cache->buckets, **more = calloc(2 * num_before, sizeof *more);
    if (more == NULL) return; /* slower, but right */
    cache->buckets = more;
    cache->num_buckets = 2 * num_before;
    for (size_t i = 0; i < num_before; i++)
        for (struct job_entry *entry = before[i], *next; entry; entry = next) {
            struct job_entry **bucket = bucket_of(cache, entry->hash);
            next = entry->chain;
            entry->chain = *bucket;
            *bucket = entry;
        }
    free(before);
}

static void unlink_use(struct job_cache *cache, struct job_entry *entry) {
    *(entry->newer ? &entry->newer->older : &cache->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &cache->oldest) = entry->newer;
}

static void link_newest(struct job_cache *cache, struct job_entry *entry) {
    entry->newer = NULL;
    entry->older = cache->newest;
    *(entry->older ? &entry->older->newer : &cache->oldest) = entry;
    cache->newest = entry;
}

static void remove_entry(struct job_cache *cache, struct job_entry *entry) {
    struct job_entry **link = bucket_of(cache, entry->hash);
    while (*link != entry) link = &(*link)->chain;
    *link = entry->chain;
    assert(!entry->is_taken && entry->first == NULL); /* not in use, and no request waits for it */
    assert(cache->counts.jobs > 0 && cache->counts.bytes >= entry->bytes);
    unlink_use(cache, entry);
    cache->counts.jobs--;
    cache->counts.bytes -= entry->bytes;
    kerf_job_free(entry->job);
    free(entry->job_id);
    free(entry);
}

static struct job_entry *find(struct job_cache *cache, const char *job_id, uint64_t hash) {
    struct job_entry *entry = *bucket_of(cache, hash);
    while (entry && (entry->hash != hash || strcmp(entry->job_id, job_id) != 0)) entry = entry->chain;
    return entry;
}

static struct job_entry *add(struct job_cache *cache, const char *job_id, uint64_t hash) {
    struct job_entry *entry = calloc(1, sizeof *entry);
    char *copy = strdup(job_id);
    if (entry == NULL || copy == NULL) {
        free(entry);
        free(copy);
        return NULL;
    }
    if (cache->counts.jobs >= cache->num_buckets) grow(cache);
    struct job_entry **bucket = bucket_of(cache, hash);
    *entry = (struct job_entry){.job_id = copy, .hash = hash, .chain = *bucket, .bytes = ENTRY_BYTES};
    entry->last = &entry->first;
    *bucket = entry;
    link_newest(cache, entry);
    cache->counts.jobs++;
    cache->counts.bytes += entry->bytes;
    return entry;
}

static void evict(struct job_cache *cache) {
    struct job_entry *entry = cache->oldest;
    while (entry && cache->counts.bytes > cache->most_bytes) {
        struct job_entry *newer = entry->newer;
        if (!entry->is_taken) {
            remove_entry(cache, entry);
            cache->counts.evicted++;
        }
        entry = newer;
    }
}

struct job_cache *job_cache_free(struct job_cache *cache) {
    if (cache == NULL) return NULL;
    while (cache->oldest) remove_entry(cache, cache->oldest);
    pthread_mutex_destroy(&cache->lock);
    free(cache->buckets);
    free(cache);
    return NULL;
}

void job_cache_count(struct job_cache *cache, struct job_cache_counts *ret_counts) {
    pthread_mutex_lock(&cache->lock);
    *ret_counts = cache->counts;
    pthread_mutex_unlock(&cache->lock);
}

/* ---- Turns ------------------------------------------------------------------------------------------------- */

static int take_or_wait(struct job_cache *cache, struct job_entry *entry, struct job_turn *turn) {
    unlink_use(cache, entry);
    link_newest(cache, entry);
    if (!entry->is_taken) {
        entry->is_taken = 1;
        turn->entry = entry;
        return 1;
    }
    turn->next = NULL;
    turn->waits(turn);
    *entry->last = turn;
    entry->last = &turn->next;
    return 0;
}

int job_turn_take(struct job_cache *cache, const char *job_id, struct job_turn *turn) {
    uint64_t hash = hash_text(job_id);
    pthread_mutex_lock(&cache->lock);
    struct job_entry *entry = find(cache, job_id, hash);
    *(entry && entry->has_job ? &cache->counts.hits : &cache->counts.misses) += 1;
    if (entry == NULL) entry = add(cache, job_id, hash);
    int taken = entry ? take_or_wait(cache, entry, turn) : -1;
    pthread_mutex_unlock(&cache->lock);
    return taken;
}

static struct job_turn *pass_on(struct job_cache *cache, struct job_entry *entry) {
    struct job_turn *next = entry->first;
    if (next) {
        entry->first = next->next;
        if (entry->first == NULL) entry->last = &entry->first;
        next->entry = entry;
        return next;
    }
    entry->is_taken = 0;
    if (entry->job == NULL) remove_entry(cache, entry); /* a job that there is not */
    return NULL;
}

void job_turn_release(struct job_cache *cache, struct job_turn *turn) {
    struct job_entry *entry = turn->entry;
    assert(entry && entry->is_taken);
    int has_job = entry->job != NULL;
    size_t bytes = ENTRY_BYTES + (has_job ? kerf_job_memory(entry->job) : 0);
    turn->entry = NULL;
    pthread_mutex_lock(&cache->lock);
    cache->counts.bytes += bytes - entry->bytes;
    entry->bytes = bytes;
    entry->has_job = has_job;
    struct job_turn *next = pass_on(cache, entry);
    evict(cache);
    pthread_mutex_unlock(&cache->lock);
    if (next) next->granted(next);
}

/* ---- What an entry holds ----------------------------------------------------------------------------------- */

void job_entry_forget(struct job_entry *entry) {
    entry->job = kerf_job_free(entry->job);
    entry->key = entry->version = 0;
    entry->num_trials = 0;
}

struct kerf_trial *job_entry_trial(struct job_entry *entry, int64_t number) {
    for (int32_t i = 0; i < entry->num_trials; i++)
        if (entry->trials[i].number == number) return &entry->trials[i];
    return NULL;
}

static void drop(struct job_entry *entry, int32_t at) {
    assert(at >= 0 && at < entry->num_trials && entry->num_trials <= JOB_TRIALS);
    size_t behind = (size_t)(--entry->num_trials - at);
    memmove(&entry->trials[at], &entry->trials[at + 1], behind * sizeof *entry->trials);
    memmove(&entry->stored_seen_s[at], &entry->stored_seen_s[at + 1], behind * sizeof *entry->stored_seen_s);
}

void job_entry_keep_trial(struct job_entry *entry, const struct kerf_trial *trial) {
    job_entry_drop_trial(entry, trial->number);
    if (entry->num_trials == JOB_TRIALS) drop(entry, 0);
    entry->stored_seen_s[entry->num_trials] = trial->seen_s;
    entry->trials[entry->num_trials++] = *trial;
}

void job_entry_drop_trial(struct job_entry *entry, int64_t number) {
    struct kerf_trial *trial = job_entry_trial(entry, number);
    if (trial) drop(entry, (int32_t)(trial - entry->trials));
}
