/* SPDX-License-Identifier: Apache-2.0 */
/* A program whose functions have the names of some inside libkerf. Linked with the static library, it has to keep its
 * own, and the library the library's. */
#include <stdio.h>
#include <kerf/kerf.h>

static int calls;

int arena_alloc(void);
int arena_free(void);
int input_read(void);
int program_start(void);
int arena_alloc(void) { return ++calls; }
int arena_free(void) { return ++calls; }
int input_read(void) { return ++calls; }
int program_start(void) { return ++calls; }

int main(void) {
    struct kerf_error err;
    struct kerf_model model;
    int32_t code = kerf_model_load("gpt3_1t", &model, &err);
    printf("%s: %d layers, %d calls\n", code == KERF_OK ? "loaded" : "failed", (int)model.num_hidden_layers, calls);
    arena_alloc(), arena_free(), input_read(), program_start();
    return code != KERF_OK || calls != 4;
}
