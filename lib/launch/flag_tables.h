/* SPDX-License-Identifier: Apache-2.0 */
/* What a table of a framework's flags holds. */
#ifndef KERF_LAUNCH_FLAG_TABLES_H
#define KERF_LAUNCH_FLAG_TABLES_H

#include <stddef.h>

struct launch_flag {
    const char *key;  /* without dashes; '-' and '_' are the same */
    const char *type; /* "flag" (no value), "bool", "int", "float", "word"; "ints", "words" (several), "list", "lists",
                             "layers", "window" (languages of their own) */
    const char *standard; /* what it is where it is not written; NULL: nothing */
    const char *choices;  /* "full|selective"; NULL: any */
    const char *since;    /* the release that brought it, of those that are known */
    const char *until;    /* the last one that has it; NULL: it is still there */
};

struct launch_flags {
    const char *const *versions;     /* from the oldest that is known to the newest; NULL behind the last */
    const struct launch_flag *flags; /* ended by a key that is NULL */
};

extern const struct launch_flags launch_flags_megatron, launch_flags_megatron_deepspeed, launch_flags_torchtitan,
    launch_flags_nanotron;

#endif
