/* SPDX-License-Identifier: Apache-2.0 */
/* Operations as PyTorch writes them. */
#include "kerf/schedule.h"

void kerf_op_text(struct kerf_text *out, const struct kerf_op *op) {
    static const char letters[KERF_OP_KINDS] = {'F', 'B', 'I', 'W', 0};
    if (op->kind == KERF_OP_FB)
        kerf_text_printf(out, "(%dF%d;%dB%d)", op->stage, op->microbatch, op->with_stage, op->with_microbatch);
    else
        kerf_text_printf(out, "%d%c%d", op->stage, letters[op->kind], op->microbatch);
    if (op->slice) kerf_text_printf(out, ".%d", op->slice);
}
