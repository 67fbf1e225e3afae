/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded operation of the reference, in each strategy and each kind of attention. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "vector_file.h"

static const double RELATIVE = 1e-12, ABSOLUTE = 6e-16; /* the file is rounded to 15 decimals in its units */

static void check(const struct layer_row *row, const struct kerf_layer *layer) {
    const double got[12] = {layer->flops_fwd / 1e12,       layer->flops_bwd / 1e12, layer->weights_bytes / 1e9,
                            layer->activation_bytes / 1e9, layer->t_fwd_s,          layer->t_bwd_s,
                            layer->t_fwd_comp_s,           layer->t_fwd_mem_s,      layer->t_fwd_comm_s,
                            layer->t_bwd_comp_s,           layer->t_bwd_mem_s,      layer->t_bwd_comm_s};
    assert_string_equal(layer->name, row->name);
    assert_int_equal(layer->module == KERF_MODULE_MLP, row->is_mlp);
    for (int i = 0; i < 12; i++)
        if (!(relative_error(got[i], row->values[i]) <= RELATIVE) && !(fabs(got[i] - row->values[i]) <= ABSOLUTE))
            fail_msg("vector %d, %s, column %d: %.17g, recorded %.17g", row->vector, row->name, i + 1, got[i],
                     row->values[i]);
}

static void test_every_operation(void **state) {
    (void)state;
    size_t num_vectors, num_rows;
    struct vector *vectors = read_vectors(&num_vectors);
    struct layer_row *rows = read_layers(&num_rows);
    const struct kerf_cost_model *reference;
    int kinds[KERF_STRATEGY_COUNT][KERF_ATTENTION_COUNT] = {{0}};
    assert_int_equal(kerf_cost_model_find("reference", &reference, NULL), KERF_OK);
    for (size_t i = 0; i < num_rows;) {
        const struct vector *v = &vectors[rows[i].vector - 1];
        struct kerf_layer layers[KERF_LAYERS_MAX];
        int32_t count;
        assert_int_equal(kerf_layout_estimate_layers(reference, &v->problem, &v->layout, layers, &count, NULL),
                         KERF_OK);
        kinds[v->problem.strategy][v->problem.attention]++;
        for (int32_t k = 0; k < count; k++, i++) {
            assert_true(i < num_rows && rows[i].vector == v - vectors + 1);
            check(&rows[i], &layers[k]);
        }
    }
    const int expected[KERF_STRATEGY_COUNT][KERF_ATTENTION_COUNT] = {{1, 1, 1, 0}, {1, 1, 0, 1}, {1, 1, 0, 0}};
    for (int s = 0; s < KERF_STRATEGY_COUNT; s++)
        for (int a = 0; a < KERF_ATTENTION_COUNT; a++) assert_int_equal(kinds[s][a] > 0, expected[s][a]);
    free(rows);
    free(vectors);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_operation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
