/* SPDX-License-Identifier: Apache-2.0 */
/* Studies that were kept: the list of them, all measurements of one, and its decisions once more. */
#ifndef KERF_CLI_STUDIES_PRINT_H
#define KERF_CLI_STUDIES_PRINT_H

#include "cli/tune_print.h"

struct studies_list {
    struct kerf_study_record **records; /* [count] */
    int32_t count;
};
extern const struct render_format studies_list_formats[], studies_export_formats[];

/* Writers as struct render has them; what their context is stands behind them. */
int32_t print_studies_list(void *list, struct kerf_text *out, const struct render_format *format,
                           const struct render_style *style, struct kerf_error *err); /* struct studies_list * */
int32_t print_study_export(void *record, struct kerf_text *out, const struct render_format *format,
                           const struct render_style *style, struct kerf_error *err); /* struct kerf_study_record * */

/* What a policy would have measured before each measurement that was made. */
struct studies_replay {
    const struct kerf_study_record *record;
    const char *policy;
    struct kerf_tune_decision *decisions; /* [record->num_entries + 1] the last one comes after all of them */
    int32_t same; /* decisions that are the setting which was measured; warm-ups and repeats are left out */
    int32_t asked;
};
int32_t studies_replay_make(struct studies_replay *replay, struct kerf_error *err);
void studies_replay_free(struct studies_replay *replay);
int32_t print_study_replay(void *replay, struct kerf_text *out, const struct render_format *format,
                           const struct render_style *style, struct kerf_error *err); /* struct studies_replay * */

#endif
