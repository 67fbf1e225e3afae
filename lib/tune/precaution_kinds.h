/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of precautions that precautions.c asks one after another, and the bounds that several of them share. */
#ifndef KERF_TUNE_PRECAUTION_KINDS_H
#define KERF_TUNE_PRECAUTION_KINDS_H

#include "tune/neighbours.h"

enum { WORDS_MAX = 4 }; /* of a parameter, all of which are looked at */

/* Of a logarithm. */
#define FAR_SLOWER  0.25 /* no size of a machine is known to gain that much */
#define NEAR_LEADER 0.1
#define LEAST_RISE  0.06 /* of a step, or of a slow mode */

/* What is to be run beside the leader `of`; -1: nothing. */
typedef int32_t precaution_find(struct kerf_tune_study *study, const struct surface_model *model, int32_t of);

/* ---- A value that may be fast although none like it is (precautions_values.c) ------------------------------------ */

/* This setting with another of a parameter's few words, where no run that has nearly all else in common with it had that
 * word. */
precaution_find precaution_word;

/* With the nearest multiple of 2, 4, .. or 128, where none was tried that would have shown: tiles, pages and vectors make
 * multiples fast, and a study that tried none may be sure of a smooth surface. */
precaution_find precaution_multiple;

/* With a size of the machine as the value of a parameter, which was not tried there yet and is not expected to be far
 * slower, also with another word. A value can be fast there although none beside it is: threads that share a node evenly. */
precaution_find precaution_size;

/* The middle of the gap between two tried values of a parameter, of which the one is near to this setting and the other
 * far slower, and more so than beyond it: a step, behind as many threads as cores, and the best may be just before it. */
precaution_find precaution_step;

/* ---- Behind a wall, such as memory that is full (precautions_walls.c) -------------------------------------------- */

/* A value of a parameter behind a wall, with an end of another parameter or another of its words: memory that is full
 * beside one context may not be beside a shorter one. */
precaution_find precaution_behind_wall;

/* Over a wall that ends in failures on one axis, and a step back on another: a wall may slant. */
precaution_find precaution_around_wall;

/* One with a next value of one parameter, or of two, that is skipped only because something else ran out of memory. */
precaution_find precaution_presumed_out;

/* ---- What may have been luck (precautions_luck.c) ---------------------------------------------------------------- */

/* The next tried setting on either side, where it is slower by 6 to 28 % and was run once, or twice before a cliff: on a
 * machine of two modes those may have been slow runs. */
precaution_find precaution_run_seldom;

/* One that was run once, at least 10 % slower than this setting, and might be as fast by all that the others tell of it. */
precaution_find precaution_slow_once;

/* One that was once faster than this setting ever was, and was run less than five times. */
precaution_find precaution_once_faster;

#endif
