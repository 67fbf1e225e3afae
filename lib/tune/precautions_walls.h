/* SPDX-License-Identifier: Apache-2.0 */
/* Precautions: behind a wall, such as memory that is full. */
#ifndef KERF_TUNE_PRECAUTIONS_WALLS_H
#define KERF_TUNE_PRECAUTIONS_WALLS_H

#include "tune/neighbours.h"

/* A value of a parameter behind a wall, with an end of another parameter or another of its words: memory that is full
 * beside one context may not be beside a shorter one. */
precaution_find precaution_behind_wall;

/* Over a wall that ends in failures on one axis, and a step back on another: a wall may slant. */
precaution_find precaution_around_wall;

/* One with a next value of one parameter, or of two, that is skipped only because something else ran out of memory. */
precaution_find precaution_presumed_out;

#endif
