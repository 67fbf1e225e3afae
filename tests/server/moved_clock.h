/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the servers in the test's process, CLOCK_REALTIME, as the test moves it. */
#ifndef KERF_TESTS_MOVED_CLOCK_H
#define KERF_TESTS_MOVED_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

extern _Atomic int64_t clock_ahead_s; /* below 0: it was set back */

#endif
