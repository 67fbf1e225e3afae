/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/schedule_file.h"
int32_t kerf_schedule_parse_text(const char *text, size_t length, const char *name,
                                 const struct kerf_schedule_file_request *request, struct kerf_schedule **ret_schedule,
                                 struct kerf_error *err) {
    (void)text, (void)length, (void)name, (void)request, (void)ret_schedule;
    return kerf_error_set(err, KERF_EUNSUPPORTED, "not yet");
}
