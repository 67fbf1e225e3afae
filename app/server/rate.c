/* SPDX-License-Identifier: Apache-2.0 */
/* Token buckets in a set-associative table. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "server/access.h"

enum { WAYS = 8, SETS = RATE_PLACES / WAYS };

struct bucket {
    struct network network;
    double left;   /* requests, at the time `filled` */
    double filled; /* when; 0: the place is free */
};

struct rate_table {
    pthread_mutex_t lock;
    double per_s, burst;
    uint64_t seed;
    struct bucket buckets[RATE_PLACES];
};

struct rate_table *rate_new(double per_s, uint64_t seed) {
    assert(per_s >= 1);
    struct rate_table *table = calloc(1, sizeof *table);
    if (table == NULL) return NULL;
    pthread_mutex_init(&table->lock, NULL);
    table->per_s = per_s;
    table->burst = RATE_BURST_S * per_s;
    table->seed = seed;
    return table;
}

void rate_free(struct rate_table *table) {
    if (table == NULL) return;
    pthread_mutex_destroy(&table->lock);
    free(table);
}

static struct bucket *set_of(struct rate_table *table, const struct network *network) {
    return &table->buckets[WAYS * (network_hash(network, table->seed) % SETS)];
}

static double left_in(const struct rate_table *table, const struct bucket *bucket, double now_s) {
    if (bucket->filled == 0) return table->burst;
    double left = bucket->left + (now_s > bucket->filled ? now_s - bucket->filled : 0) * table->per_s;
    return left < table->burst ? left : table->burst;
}

/* The network's bucket, filled up to now. */
static struct bucket *find(struct rate_table *table, const struct network *network, double now_s) {
    struct bucket *set = set_of(table, network), *fullest = set;
    for (struct bucket *bucket = set; bucket < set + WAYS; bucket++) {
        if (bucket->filled > 0 && network_same(&bucket->network, network)) {
            bucket->left = left_in(table, bucket, now_s);
            if (now_s > bucket->filled) bucket->filled = now_s;
            return bucket;
        }
        if (left_in(table, bucket, now_s) > left_in(table, fullest, now_s)) fullest = bucket;
    }
    *fullest = (struct bucket){.network = *network, .left = table->burst, .filled = now_s};
    return fullest;
}

double rate_take(struct rate_table *table, const struct network *network, double now_s) {
    pthread_mutex_lock(&table->lock);
    struct bucket *bucket = find(table, network, now_s);
    double wait_s = bucket->left >= 1 ? 0 : (1 - bucket->left) / table->per_s;
    if (wait_s == 0) bucket->left--;
    assert(wait_s >= 0 && bucket->left >= -table->burst && bucket->left <= table->burst);
    pthread_mutex_unlock(&table->lock);
    return wait_s;
}

void rate_charge(struct rate_table *table, const struct network *network, double requests, double now_s) {
    pthread_mutex_lock(&table->lock);
    struct bucket *bucket = find(table, network, now_s);
    bucket->left -= requests;
    if (bucket->left < -table->burst) bucket->left = -table->burst;
    pthread_mutex_unlock(&table->lock);
}
