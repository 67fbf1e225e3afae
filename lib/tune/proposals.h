/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a large space that are not modelled yet and may be the best. */
#ifndef KERF_TUNE_PROPOSALS_H
#define KERF_TUNE_PROPOSALS_H

#include "tune/surface_model.h"

enum { PROPOSALS_MAX = 96, PROPOSALS_TAKEN = 60 }; /* taken: into the next active set */

struct proposals {
    int32_t settings[PROPOSALS_MAX]; /* [num] open, not modelled, the most promising first */
    int32_t num;
    /* How probable it is, as estimated, that a setting which is neither modelled nor taken is better than the best that was
     * measured by more than `within`. NAN: not known. */
    double unseen;
};

/* By a model that is up to date. Of a space that is modelled whole there are none. */
int32_t proposals_find(const struct surface_model *model, struct proposals *ret_proposals, struct kerf_error *err);

#endif
