/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of constants, as `kerf calibrate` writes it and --calibration takes it:
 *
 *   {"kerf":"0.2.0","fitted":{"rows":1522,"sets":["..."],"systems":["h100"],"stacks":["nemo"]},
 *    "systems":{"h100":{"gemm.efficiency":0.7,...}},"stacks":{"nemo":{"hidden_passes":12.3,...,"spread":[...]}}}
 */
#ifndef KERF_SCORE_CONSTANTS_FILE_H
#define KERF_SCORE_CONSTANTS_FILE_H

#include "score/calibrate.h"

/* Appends the file of a calibration: all systems and stacks, of which "fitted" names those that a fit moved. */
void constants_file_write(struct kerf_json *json, const struct calibration *calibration);

/* What the file says takes the place of what is there; a system or stack that is not there is an error. source names the
 * text in errors. */
int32_t constants_file_read(const char *text, size_t length, const char *source, struct score_constants *constants,
                            struct kerf_error *err);

/* The figures that are fitted, from one system to another. */
void constants_copy(const struct kerf_system *from, struct kerf_system *to);

/* The constants that were fitted without this set, which come with kerf (share/fits); KERF_EUNKNOWN names those there are. */
int32_t constants_without(const char *set, struct score_constants *constants, struct kerf_error *err);

#endif
