/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmicrohttpd before 1.0 cuts a line at its first NUL, takes one that begins with a NUL for the end of the headers,
 * and takes "Content-Length : 40" for a header of another name. Where the smuggled bytes were can still be seen: it
 * parses in place, and writes NULs only over the space behind the method and the target, over colons and line ends:
 *
 *     GET 0 /target 0 HTTP/1.1 0 0 Name 0 value 0 0 Name 0 value 0 0 0 0
 *
 * So each name has to begin where the line before it ended. Versions from 1.0 on refuse all of that themselves.
 */
#include "server/head.h"

#include <microhttpd.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct reader {
    struct head *head;
    const char *at; /* the end of what was read: a line's last byte; NULL: the bytes are not looked at */
    int hosts, lengths, encodings, is_valid;
};

/* ---- Names and values ---------------------------------------------------------------------------------------- */

/* A token of RFC 9110. */
static int is_name(const char *name) {
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (const char *c = name; *c; c++) {
        int is_letter = (*c | 0x20) >= 'a' && (*c | 0x20) <= 'z', is_digit = *c >= '0' && *c <= '9';
        if (!is_letter && !is_digit && strchr(others, *c) == NULL) return 0;
    }
    return name[0] != 0;
}

static int is_value(const char *value) {
    for (const char *c = value; *c; c++)
        if ((unsigned char)*c < ' ' ? *c != '\t' : *c == 0x7F) return 0;
    return 1;
}

static void note(struct reader *reader, const char *name, const char *value) {
    struct head *head = reader->head;
    const struct {
        const char *name, **value;
        int *count;
    } known[] = {{MHD_HTTP_HEADER_HOST, &head->host, &reader->hosts},
                 {MHD_HTTP_HEADER_CONTENT_LENGTH, &head->content_length, &reader->lengths},
                 {MHD_HTTP_HEADER_CONTENT_TYPE, &head->content_type, NULL},
                 {MHD_HTTP_HEADER_AUTHORIZATION, &head->authorization, NULL},
                 {"Access-Control-Request-Method", &head->cors_method, NULL},
                 {MHD_HTTP_HEADER_ACCEPT, &head->accept, NULL},
                 {MHD_HTTP_HEADER_ACCEPT_ENCODING, &head->accept_encoding, NULL},
                 {MHD_HTTP_HEADER_IF_NONE_MATCH, &head->if_none_match, NULL},
                 {MHD_HTTP_HEADER_ORIGIN, &head->origin, NULL},
                 {"Sec-Fetch-Site", &head->fetch_site, NULL},
                 {"Sec-Fetch-Mode", &head->fetch_mode, NULL},
                 {"Sec-Fetch-Dest", &head->fetch_dest, NULL},
                 {"X-Forwarded-Proto", &head->forwarded_proto, NULL}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcasecmp(name, known[i].name) != 0) continue;
        if (*known[i].value == NULL) *known[i].value = value;
        if (known[i].count) ++*known[i].count;
        return;
    }
    if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) != 0) return;
    reader->encodings++;
    reader->is_valid &= strcasecmp(value, "chunked") == 0;
}

/* ---- Where they stand ---------------------------------------------------------------------------------------- */

/* A line ends in CR LF, which are NULs now; the next one begins with name. A bare LF ends no line for some programs. */
static int follows(const char *end, const char *name) { return name == end + 2 && end[0] == 0 && end[1] == 0; }

static enum MHD_Result read_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct reader *reader = context;
    (void)kind;
    if (value == NULL) value = "";
    if (!is_name(name) || !is_value(value)) reader->is_valid = 0;
    if (reader->at) {
        const char *colon = name + strlen(name);
        if (!follows(reader->at, name) || value != colon + 1 + strspn(colon + 1, " \t")) reader->is_valid = 0;
        reader->at = value + strlen(value);
    }
    if (reader->is_valid) note(reader, name, value);
    return reader->is_valid ? MHD_YES : MHD_NO;
}

static int parses_leniently(void) { return MHD_get_version()[0] == '0'; }

/* Nothing stands between method, target and version but one NUL each. */
static int is_first_line(const char *method, struct text_view target, const char *version) {
    return is_name(method) && target.bytes == method + strlen(method) + 1 &&
           version == target.bytes + target.length + 1;
}

/* The last line is followed by the empty one and by nothing else. */
static int ends_at(struct MHD_Connection *connection, const char *method, const char *at) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const char *end = info ? method + info->header_size : NULL;
    return end == at + 4 && follows(at, at + 2) && follows(at + 2, end);
}

int head_read(struct MHD_Connection *connection, const char *method, struct text_view target, const char *version,
              struct head *ret_head) {
    struct reader reader = {.head = ret_head, .is_valid = 1};
    *ret_head = (struct head){0};
    if (parses_leniently()) {
        reader.is_valid = is_first_line(method, target, version);
        reader.at = version + strlen(version);
    }
    if (reader.is_valid) MHD_get_connection_values(connection, MHD_HEADER_KIND, read_header, &reader);
    if (reader.is_valid && reader.at) reader.is_valid = ends_at(connection, method, reader.at);
    return reader.is_valid && reader.hosts <= 1 && reader.lengths <= 1 && !(reader.lengths && reader.encodings);
}
