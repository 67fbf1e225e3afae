/* SPDX-License-Identifier: Apache-2.0 */
/* Token buckets in a set-associative table. An IPv6 network of 64 bits is one address: who has one has all of it. */
#include "server/rate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 8, SETS = RATE_PLACES / WAYS, NETWORK_BYTES = 8 };

struct bucket {
    struct rate_address address;
    double left;   /* requests, at */
    double filled; /* this time; 0: nobody has this place */
};

struct rate_table {
    pthread_mutex_t lock;
    double per_s, burst;
    uint64_t seed;
    struct bucket buckets[RATE_PLACES];
};

struct rate_table *rate_new(double per_s, uint64_t seed) {
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

static struct rate_address network_of(const struct rate_address *address) {
    static const unsigned char version_4[12] = {[10] = 0xff, [11] = 0xff};
    struct rate_address network = *address;
    if (memcmp(address, version_4, sizeof version_4) != 0)
        memset(network.bytes + NETWORK_BYTES, 0, sizeof network.bytes - NETWORK_BYTES);
    return network;
}

static uint64_t mix(uint64_t x) { /* MurmurHash3's finalizer */
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static struct bucket *set_of(struct rate_table *table, const struct rate_address *address) {
    uint64_t halves[2];
    memcpy(halves, address, sizeof halves);
    return &table->buckets[WAYS * (mix(mix(halves[0] ^ table->seed) ^ halves[1]) % SETS)];
}

static double left_in(const struct rate_table *table, const struct bucket *bucket, double now_s) {
    if (bucket->filled == 0) return table->burst;
    double left = bucket->left + (now_s > bucket->filled ? now_s - bucket->filled : 0) * table->per_s;
    return left < table->burst ? left : table->burst;
}

/* The address's bucket, filled up to now. */
static struct bucket *find(struct rate_table *table, const struct rate_address *address, double now_s) {
    const struct rate_address network = network_of(address);
    struct bucket *set = set_of(table, &network), *fullest = set;
    for (struct bucket *bucket = set; bucket < set + WAYS; bucket++) {
        if (bucket->filled > 0 && memcmp(&bucket->address, &network, sizeof network) == 0) {
            bucket->left = left_in(table, bucket, now_s);
            if (now_s > bucket->filled) bucket->filled = now_s;
            return bucket;
        }
        if (left_in(table, bucket, now_s) > left_in(table, fullest, now_s)) fullest = bucket;
    }
    *fullest = (struct bucket){.address = network, .left = table->burst, .filled = now_s};
    return fullest;
}

double rate_take(struct rate_table *table, const struct rate_address *address, double now_s) {
    pthread_mutex_lock(&table->lock);
    struct bucket *bucket = find(table, address, now_s);
    double wait_s = bucket->left >= 1 ? 0 : (1 - bucket->left) / table->per_s;
    if (wait_s == 0) bucket->left--;
    pthread_mutex_unlock(&table->lock);
    return wait_s;
}

void rate_charge(struct rate_table *table, const struct rate_address *address, double requests, double now_s) {
    pthread_mutex_lock(&table->lock);
    struct bucket *bucket = find(table, address, now_s);
    bucket->left -= requests;
    if (bucket->left < -table->burst) bucket->left = -table->burst;
    pthread_mutex_unlock(&table->lock);
}
