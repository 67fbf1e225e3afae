/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in files, for all commands that take one. */
#ifndef KERF_CLI_LAUNCH_FILE_H
#define KERF_CLI_LAUNCH_FILE_H

#include "kerf/launch.h"

/* Reads a launch ("-": standard input) with the files that it names, which may stand beside it. framework NULL: recognised;
 * version NULL: not checked;
 * gpus 0: as it says. */
int32_t launch_file_read(const char *path, const char *framework, const char *version, int64_t gpus,
                         struct kerf_launch **ret_launch, struct kerf_error *err);

/* A launch that is to be written to this file has a form, and the name must not end in that of another. */
int32_t launch_file_check(enum kerf_framework framework, const char *path, struct kerf_error *err);

/* Says on standard error what is not certain about a launch that is going to be priced: what was assumed, and what the
 * framework would refuse. */
void launch_file_notes(const char *path, const struct kerf_launch *launch);

#endif
