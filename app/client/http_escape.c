/* SPDX-License-Identifier: Apache-2.0 */
/* What needs no library. */
#include <string.h>
#include "client/http.h"

void http_escape(struct kerf_text *out, const char *text) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *text; text++)
        if (strchr(plain, *text))
            kerf_text_write(out, text, 1);
        else
            kerf_text_printf(out, "%%%02X", (unsigned char)*text);
}
