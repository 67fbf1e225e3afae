/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers in what a program printed as JSON.
 *
 * A path is keys and indexes joined by dots: results.0.tokens_per_s. What is a number in it is an index where the value
 * is an array, from the end when it is negative, and a key where it is an object. A backslash takes the next character
 * as it is: a\.b is one key.
 */
#ifndef KERF_TRIAL_JSON_PATH_H
#define KERF_TRIAL_JSON_PATH_H

#include <jansson.h>

/* 1: *ret_value is the finite number there. 0: why says what is there instead. */
int json_path_number(const json_t *root, const char *path, double *ret_value, char *why, size_t size);

/* 1 when it can be a path: no key is empty. */
int json_path_is_valid(const char *path);

/* The last object or array that begins a line of the text, which may hold anything else; NULL: there is none. The
 * work is bounded by a multiple of the length. json_decref gives it back. */
json_t *json_last_value(const char *text, size_t length);

#endif
