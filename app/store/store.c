/* SPDX-License-Identifier: Apache-2.0 */
/* The stores there are, and which of them a name means. */
#include "store/store.h"

#include <stdlib.h>
#include <string.h>
#include "store/stores.h"

static const struct store_methods *const stores[] = {&store_sqlite}; /* the one for any file comes last */

int32_t store_open(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err) {
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        if (stores[i]->scheme == NULL || strncmp(where, stores[i]->scheme, strlen(stores[i]->scheme)) == 0) {
            if (stores[i]->scheme == NULL && strstr(where, "://") != NULL) break;
            return stores[i]->open(where, flags, ret_store, err);
        }
    return kerf_error_set(err, KERF_EUNSUPPORTED, "%.200s is no store that this build of kerf can open", where);
}

void store_close(struct store *store) {
    if (store) store->methods->close(store);
}

int32_t store_costs_add(struct store_costs *costs, int64_t number, double cost) {
    if (costs->count == costs->room) {
        int64_t room = costs->room ? 2 * costs->room : 64;
        int64_t *numbers = realloc(costs->numbers, (size_t)room * sizeof *numbers);
        if (numbers) costs->numbers = numbers;
        double *values = numbers ? realloc(costs->costs, (size_t)room * sizeof *values) : NULL;
        if (values == NULL) return KERF_ENOMEM;
        costs->costs = values;
        costs->room = room;
    }
    costs->numbers[costs->count] = number;
    costs->costs[costs->count++] = cost;
    return KERF_OK;
}

void store_costs_free(struct store_costs *costs) {
    free(costs->numbers);
    free(costs->costs);
    *costs = (struct store_costs){0};
}
