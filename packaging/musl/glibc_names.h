/* SPDX-License-Identifier: Apache-2.0 */
/* What kerf uses of glibc that musl 1.2.3 has not; scripts/musl-build includes it before every file. */
#ifndef KERF_MUSL_GLIBC_NAMES_H
#define KERF_MUSL_GLIBC_NAMES_H

int close_range(unsigned first, unsigned last, int flags);
const char *sigabbrev_np(int signal);
#define W_EXITCODE(status, signal) ((status) << 8 | (signal))

#endif
