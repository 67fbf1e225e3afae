/* SPDX-License-Identifier: Apache-2.0 */
/* What of a command line of kerf tune cannot be meant; each is KERF_OK, or says in one line what would be right. */
#ifndef KERF_CLI_TUNE_CHECKS_H
#define KERF_CLI_TUNE_CHECKS_H

#include "cli/tune_options.h"

int32_t tune_check_name(const struct tune_options *values, struct kerf_error *err);
int32_t tune_check_resumed(const struct tune_options *values, struct kerf_error *err);
int32_t tune_check_llama(const struct tune_options *values, struct kerf_error *err);
int32_t tune_check_not_llama(const struct tune_options *values, struct kerf_error *err);

#endif
