/* SPDX-License-Identifier: Apache-2.0 */
/* What earlier studies of the same command, files and machine measured. */
#ifndef KERF_STUDY_STUDY_EARLIER_H
#define KERF_STUDY_STUDY_EARLIER_H

#include "kerf/study.h"

/* The newest of them, a few; to be given back with study_ids_free. None where there is no folder of studies. Journals
 * that cannot be read are passed over. */
int32_t study_earlier_ids(const struct kerf_study_request *request, struct kerf_study_strings *ret_ids,
                          struct kerf_error *err);

struct study_earlier {
    struct kerf_tune_observation *items; /* [count] settings of the space that was asked for; slot: 0, 1, .. by study */
    int32_t count, studies;
};

/* Their observations of settings that are in the space; studies that are gone are passed over. */
int32_t study_earlier_load(const struct kerf_study_strings *ids, const struct kerf_tune_space *space,
                           struct study_earlier *ret_earlier, struct kerf_error *err);
void study_earlier_free(struct study_earlier *earlier);

#endif
