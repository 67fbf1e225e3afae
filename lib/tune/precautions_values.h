/* SPDX-License-Identifier: Apache-2.0 */
/* Precautions: a value that may be fast although none like it is. */
#ifndef KERF_TUNE_PRECAUTIONS_VALUES_H
#define KERF_TUNE_PRECAUTIONS_VALUES_H

#include "tune/neighbours.h"

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

#endif
