/* SPDX-License-Identifier: Apache-2.0 */
/* When the machine became faster or slower at once: a neighbour came or went, a clock was capped. */
#ifndef KERF_TUNE_JUMPS_H
#define KERF_TUNE_JUMPS_H

#include <stdint.h>

enum { JUMPS_MOST = 6 };

struct jumps {                  /* all zeros: none */
    int32_t starts[JUMPS_MOST]; /* [num] observations with which a new level begins, ascending */
    int32_t num;
    int32_t judged;    /* observations before this one begin no level but those of `starts` */
    int32_t suspected; /* 1: a run of `setting` came out as no noise explains */
    int32_t setting, slot;
    int32_t earliest, latest; /* what the level may have begun with: the run after the one before it .. itself */
    double expected, off;     /* of that run, and how far it was from it */
};

struct jump_run {
    int32_t setting, slot;
    int32_t index;      /* of the observation */
    int32_t before;     /* the last observation of this setting */
    double y, expected; /* logarithms: what it came out as, and that one */
    double noise;       /* standard deviation */
};

/* Looks at the next observation. 1: a level may have begun, with `earliest` .. `latest`. */
int jumps_see(struct jumps *jumps, const struct jump_run *run);

/* On which level an observation lies, 0 .. num. */
int32_t jumps_level(const struct jumps *jumps, int32_t index);

#endif
