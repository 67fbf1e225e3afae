/* SPDX-License-Identifier: Apache-2.0 */
/* Small languages inside Megatron-LM's flags. */
#ifndef KERF_LAUNCH_MEGATRON_PATTERNS_H
#define KERF_LAUNCH_MEGATRON_PATTERNS_H

#include <stdint.h>

/* --moe-layer-freq: "2", "[0,1,1]", "([0]*3+[1]*58)". How many dense layers come first, and each which of the others has
 * experts; 0: not of that kind. */
int launch_layer_pattern(const char *text, int64_t *ret_first_dense, int64_t *ret_step);

#endif
