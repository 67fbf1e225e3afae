/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as pictures. */
#include "cli/plan_print.h"
int32_t print_plan_picture(struct kerf_text *out, const struct kerf_plan *plan, enum kerf_picture_format format,
                           const struct print_style *style, struct kerf_error *err) { (void)out;(void)plan;(void)format;(void)style; return kerf_error_set(err, KERF_EUNSUPPORTED, "x"); }
