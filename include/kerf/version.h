/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_VERSION_H
#define KERF_VERSION_H

#define KERF_VERSION_MAJOR 0
#define KERF_VERSION_MINOR 2
#define KERF_VERSION_PATCH 0
#define KERF_VERSION_TEXT  "0.2.0"
#define KERF_VERSION_DATE  "November 23, 2026"

#if defined(__GNUC__)
#define KERF_API            __attribute__((visibility("default")))
#define KERF_PRINTF(fmt, a) __attribute__((format(printf, fmt, a)))
#else
#define KERF_API
#define KERF_PRINTF(fmt, a)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the library that is linked, such as "0.2.0": compare with KERF_VERSION_TEXT. */
KERF_API const char *kerf_version(void);

#ifdef __cplusplus
}
#endif
#endif
