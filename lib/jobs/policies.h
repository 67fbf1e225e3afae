/* SPDX-License-Identifier: Apache-2.0 */
/* The policies there are. */
#ifndef KERF_JOBS_POLICIES_H
#define KERF_JOBS_POLICIES_H

#include "jobs/job_state.h"

const struct policy *policy_find(const char *name); /* NULL: there is none; of NULL the default */

#endif
