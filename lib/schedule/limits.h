/* SPDX-License-Identifier: Apache-2.0 */
/* How large a schedule may be, whether a rule makes it or a file says it. */
#ifndef KERF_SCHEDULE_LIMITS_H
#define KERF_SCHEDULE_LIMITS_H

enum {
    DEVICES_MAX = 4096,
    MICROBATCHES_MAX = 1 << 20,
    OPS_MAX = 1 << 27, /* of a kind */
    STAGES_MAX = 32767,
    SLICES_MAX = 4096,
    SCHEDULE_FILE_MAX = 256 << 20 /* bytes */
};

#endif
