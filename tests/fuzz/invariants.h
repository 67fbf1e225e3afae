/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold for every input, checked with an abort so that a fuzzer sees it. */
#ifndef KERF_FUZZ_INVARIANTS_H
#define KERF_FUZZ_INVARIANTS_H

#include <jansson.h>
#include "kerf/plan.h"

/* Says what does not hold, and aborts. */
_Noreturn void broken(const char *condition, const char *file, int line);
#define CHECK(condition) ((condition) ? (void)0 : broken(#condition, __FILE__, __LINE__))

/* Fills an output before a call; after one that failed it must be as it was. */
void poison(void *output, size_t size);
int is_poisoned(const void *output, size_t size);

/* One line of UTF-8 without control characters. */
int is_plain(const char *text);

/* After a call that failed with code. text is what source names in errors (NULL: the input has no lines), and
 * a place in it lies inside. */
void check_error(int32_t code, const struct kerf_error *err, const char *source, const char *text, size_t length);

void check_model(const struct kerf_model *model);
void check_system(const struct kerf_system *system);

/* The estimate of this layout: sums, signs, finite numbers. */
void check_estimate(const struct kerf_problem *problem, const struct kerf_layout *layout,
                    const struct kerf_estimate *estimate);

/* Whether two estimates are the same to the last bit. */
int same_estimate(const struct kerf_estimate *a, const struct kerf_estimate *b);

/* Parses what kerf printed; given back with json_decref. */
json_t *read_back(const struct kerf_text *text);
/* The object holds this number under key: the same double, or null for one that is not finite. */
void check_number(const json_t *object, const char *key, double value);
/* The members of the object are those of the estimate. */
void check_estimate_json(const json_t *object, const struct kerf_estimate *estimate);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
