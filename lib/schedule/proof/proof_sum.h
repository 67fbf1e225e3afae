/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of a certificate's bytes (64-bit FNV-1a), which tells damage from forgery: the latter has a right sum and is
 * found by checking the proof. */
#ifndef KERF_SCHEDULE_PROOF_PROOF_SUM_H
#define KERF_SCHEDULE_PROOF_PROOF_SUM_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t proof_sum(const char *bytes, size_t length) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t k = 0; k < length; k++) hash = (hash ^ (unsigned char)bytes[k]) * 0x100000001B3u;
    return hash;
}

#endif
