/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a request to text, as CPython's json.detect_encoding and codecs with "surrogatepass" do: marks and
 * zero bytes tell the encoding, surrogates that are no pair pass, all else that is ill-formed does not. */
#include "zeus/python_text.h"

#include <string.h>

enum { LAST_CODE = 0x10FFFF, HIGH_SURROGATE = 0xD800, LOW_SURROGATE = 0xDC00 };

struct encoding {
    size_t unit;    /* bytes: 1, 2, 4 */
    int big;        /* the highest byte is the first */
    size_t skipped; /* bytes of the mark */
};

static int begins(const char *bytes, size_t length, const char *mark, size_t size) {
    return length >= size && memcmp(bytes, mark, size) == 0;
}

/* JSON begins with two characters of ASCII, or is one: where its zero bytes are tells the rest. */
static struct encoding detect(const char *b, size_t length) {
    if (begins(b, length, "\0\0\xFE\xFF", 4)) return (struct encoding){4, 1, 4};
    if (begins(b, length, "\xFF\xFE\0\0", 4)) return (struct encoding){4, 0, 4};
    if (begins(b, length, "\xFE\xFF", 2)) return (struct encoding){2, 1, 2};
    if (begins(b, length, "\xFF\xFE", 2)) return (struct encoding){2, 0, 2};
    if (begins(b, length, "\xEF\xBB\xBF", 3)) return (struct encoding){1, 0, 3};
    if (length >= 4) {
        if (b[0] == 0) return (struct encoding){b[1] ? 2 : 4, 1, 0};
        if (b[1] == 0) return (struct encoding){b[2] || b[3] ? 2 : 4, 0, 0};
    } else if (length == 2) {
        if (b[0] == 0) return (struct encoding){2, 1, 0};
        if (b[1] == 0) return (struct encoding){2, 0, 0};
    }
    return (struct encoding){1, 0, 0};
}

static int32_t check_utf8(const char *bytes, size_t length) {
    for (size_t at = 0, size; at < length; at += size) {
        size = python_text_well_formed(bytes + at, length - at);
        if (size == 0) return KERF_EINVALID;
    }
    return KERF_OK;
}

static uint32_t unit_at(const char *bytes, const struct encoding *encoding) {
    const unsigned char *c = (const unsigned char *)bytes;
    uint32_t value = 0;
    for (size_t i = 0; i < encoding->unit; i++) value = value << 8 | c[encoding->big ? i : encoding->unit - 1 - i];
    return value;
}

static int is_surrogate(uint32_t code, uint32_t from) { return code >= from && code < from + 0x400; }

/* Units of two or four bytes; a unit of two takes three bytes of UTF-8 at most. */
static int32_t recode(const char *bytes, size_t length, const struct encoding *encoding, struct pool *pool,
                      struct python_text *ret_text) {
    size_t unit = encoding->unit, used = 0;
    if (length % unit) return KERF_EINVALID;
    char *text = pool_take(pool, length / unit, unit == 2 ? 3 : 4);
    if (text == NULL) return KERF_ENOMEM;
    for (size_t at = 0; at < length; at += unit) {
        uint32_t code = unit_at(bytes + at, encoding);
        if (code > LAST_CODE) return KERF_EINVALID;
        if (unit == 2 && is_surrogate(code, HIGH_SURROGATE) && at + 2 < length) {
            uint32_t low = unit_at(bytes + at + 2, encoding);
            if (is_surrogate(low, LOW_SURROGATE)) {
                code = 0x10000 + ((code - HIGH_SURROGATE) << 10) + (low - LOW_SURROGATE);
                at += 2;
            }
        }
        used += python_text_put(text + used, code);
    }
    *ret_text = (struct python_text){text, used};
    return KERF_OK;
}

int32_t python_text_decode(const char *bytes, size_t length, struct pool *pool, struct python_text *ret_text) {
    struct encoding encoding = detect(bytes, length);
    bytes += encoding.skipped;
    length -= encoding.skipped;
    if (encoding.unit > 1) return recode(bytes, length, &encoding, pool, ret_text);
    if (check_utf8(bytes, length) != KERF_OK) return KERF_EINVALID;
    *ret_text = (struct python_text){bytes, length};
    return KERF_OK;
}
