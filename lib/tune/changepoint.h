/* SPDX-License-Identifier: Apache-2.0 */
/* Changepoints: runs with which the machine became faster or slower at once, as when a neighbour came or went or a
 * clock was capped. Between two of them the machine is on one level. */
#ifndef KERF_TUNE_CHANGEPOINT_H
#define KERF_TUNE_CHANGEPOINT_H

#include <stdint.h>

enum { CHANGEPOINTS_MAX = 6 };

struct changepoints {                 /* all zeros: none */
    int32_t starts[CHANGEPOINTS_MAX]; /* [num] observations with which a new level begins, ascending */
    int32_t num;
    int32_t judged;    /* observations before this one begin no level but those of `starts` */
    int32_t suspected; /* 1: a run of `setting` was farther off than noise explains */
    int32_t setting, slot;
    int32_t earliest, latest; /* the level may have begun with: the run after the one before it .. itself */
    double expected, off;     /* of that run, and how far it was from it */
};

struct changepoint_run {
    int32_t setting, slot;
    int32_t index;      /* of the observation */
    int32_t before;     /* the last observation of this setting */
    double y, expected; /* logarithms: of this run and of that one */
    double noise;       /* standard deviation */
};

/* Looks at the next observation. 1: a level may have begun, with `earliest` .. `latest`. */
int changepoint_look(struct changepoints *changepoints, const struct changepoint_run *run);

/* On which level an observation lies, 0 .. num. */
int32_t changepoint_level(const struct changepoints *changepoints, int32_t index);

#endif
