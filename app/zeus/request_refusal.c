/* SPDX-License-Identifier: Apache-2.0 */
#include "zeus/request_refusal.h"

#include "zeus/python_text.h"

int32_t refuse_no_memory(struct request_refusal *refusal) {
    kerf_text_clear(&refusal->document);
    kerf_text_add(&refusal->document, "Internal Server Error");
    refusal->status = 500;
    refusal->plain = 1;
    return KERF_ENOMEM;
}

int32_t refuse_internal_error(struct request_refusal *refusal) {
    refuse_no_memory(refusal);
    return KERF_EINVALID;
}

int32_t refuse_with(struct request_refusal *refusal, int32_t status, const char *document) {
    kerf_text_clear(&refusal->document);
    kerf_text_add(&refusal->document, document);
    if (refusal->document.failed) return refuse_no_memory(refusal);
    refusal->status = status;
    refusal->plain = 0;
    return KERF_EINVALID;
}

int32_t refuse_message(struct request_refusal *refusal, const char *message) {
    kerf_text_clear(&refusal->document);
    request_write_message(message, &refusal->document);
    if (refusal->document.failed) return refuse_no_memory(refusal);
    refusal->status = 500;
    refusal->plain = 0;
    return KERF_EINVALID;
}

void request_write_message(const char *message, struct kerf_text *out) {
    kerf_text_add(out, "{\"message\":");
    python_string_quote(message, out);
    kerf_text_add(out, "}");
}

void request_refusal_free(struct request_refusal *refusal) { kerf_text_free(&refusal->document); }
