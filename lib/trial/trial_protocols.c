/* SPDX-License-Identifier: Apache-2.0 */
/* The protocols, each a file of its own; the first is the default. */
#include <string.h>
#include "trial/trial_slot.h"

static const struct trial_protocol *const protocols[] = {&exit_protocol, &lines_protocol, &worker_protocol,
                                                         &llama_bench_protocol};
enum { PROTOCOLS = sizeof protocols / sizeof protocols[0] };

const struct trial_protocol *trial_protocol_find(const char *name) {
    if (name == NULL) return protocols[0];
    for (int i = 0; i < PROTOCOLS; i++)
        if (strcmp(protocols[i]->about.name, name) == 0) return protocols[i];
    return NULL;
}

const struct kerf_trial_protocol *kerf_trial_protocol_at(size_t index) {
    return index < PROTOCOLS ? &protocols[index]->about : NULL;
}
