/* SPDX-License-Identifier: Apache-2.0 */
/* The flags and keys of frameworks that decide what a job costs: one table a framework, with the releases that have them. */
#ifndef KERF_LAUNCH_LAUNCH_FLAGS_H
#define KERF_LAUNCH_LAUNCH_FLAGS_H

#include "kerf/launch.h"
#include "launch/flag_tables.h"

/* NULL: kerf has no table of the framework. */
const struct launch_flags *launch_flags_of(enum kerf_framework framework);
const struct launch_flag *launch_flags_find(const struct launch_flags *flags, const char *key);

/* The index of a release: "0.15.0", also as "0.15", "v0.15.0", "core_v0.15.0" or "core_r0.15.0". NULL is the newest. An
 * unknown one is KERF_EUNKNOWN, and the error names those there are. */
int32_t launch_version(enum kerf_framework framework, const char *version, int32_t *ret_index, struct kerf_error *err);

/* Whether that release is `since` or a later one. */
int launch_version_reaches(const struct launch_flags *flags, int32_t version, const char *since);

/* Whether that release has the flag. */
int launch_version_has(const struct launch_flags *flags, int32_t version, const struct launch_flag *flag);

#endif
