/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SPEC_HARMLESS_H
#define KERF_SPEC_HARMLESS_H

/* Whether the key is known to change neither the number of parameters nor the time of a training step. */
int key_is_harmless(const char *key);

#endif
