/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version: of the headers that a program was compiled with, and of the library that it runs with.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *     int main(void) {
 *         printf("compiled with %s, ", KERF_VERSION_TEXT);
 *         puts(strcmp(kerf_version(), KERF_VERSION_TEXT) == 0 ? "runs with the same" : kerf_version());
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     compiled with 0.2.0, runs with the same
 */
#ifndef KERF_VERSION_H
#define KERF_VERSION_H

/** Of the headers. */
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

/** Of the library that is linked: "0.2.0". */
KERF_API const char *kerf_version(void);

#ifdef __cplusplus
}
#endif
#endif
