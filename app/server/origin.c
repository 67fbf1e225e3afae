/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "server/access.h"
#include "server/head.h"

/* ---- Names --------------------------------------------------------------------------------------------------- */

/* "[::1]:8000" into "[::1]"; ret_port: what stands behind the colon, "" where there is none. */
static struct text_view name_of(const char *host, const char **ret_port) {
    size_t length = host[0] == '[' ? strcspn(host, "]") : strcspn(host, ":");
    if (host[length] == ']') length++;
    *ret_port = host[length] == ':' ? host + length + 1 : "";
    if (host[length] != 0 && host[length] != ':') length = 0; /* "[::1]x" */
    return (struct text_view){host, length};
}

static int is(struct text_view name, const char *other) {
    return strlen(other) == name.length && strncasecmp(name.bytes, other, name.length) == 0;
}

/* 127.0.0.0/8 as four numbers: other ways to write it may be names elsewhere. */
static int is_loopback_address(struct text_view name) {
    unsigned part[4];
    int length = 0;
    char text[16];
    if (name.length >= sizeof text) return 0;
    memcpy(text, name.bytes, name.length);
    text[name.length] = 0;
    if (strspn(text, "0123456789.") != name.length) return 0;
    if (sscanf(text, "%3u.%3u.%3u.%3u%n", &part[0], &part[1], &part[2], &part[3], &length) != 4) return 0;
    return (size_t)length == name.length && part[0] == 127 && part[1] < 256 && part[2] < 256 && part[3] < 256;
}

static int is_loopback_name(struct text_view name) {
    return is(name, "localhost") || is(name, "[::1]") || is_loopback_address(name);
}

static int is_listed(const struct origin_rules *rules, struct text_view name) {
    for (size_t i = 0; i < rules->num_hosts; i++)
        if (is(name, rules->hosts[i])) return 1;
    return 0;
}

static int is_port(const char *port) { return port[strspn(port, "0123456789")] == 0; }

/* ---- Origin -------------------------------------------------------------------------------------------------- */

static int same_port(const char *a, const char *b, const char *usual) {
    return strcmp(a[0] ? a : usual, b[0] ? b : usual) == 0;
}

/* The origin's name and port are those of Host; or its name is listed, as behind a proxy that sends a Host of its
 * own. */
static int is_own(const struct origin_rules *rules, const char *origin, const char *host) {
    int is_https = strncasecmp(origin, "https://", 8) == 0, is_http = strncasecmp(origin, "http://", 7) == 0;
    const char *port, *host_port;
    if (!is_http && !is_https) return 0;
    struct text_view name = name_of(origin + (is_https ? 8 : 7), &port);
    if (name.length == 0 || !is_port(port)) return 0;
    if (is_listed(rules, name)) return 1;
    struct text_view asked = name_of(host ? host : "", &host_port);
    return asked.length == name.length && strncasecmp(asked.bytes, name.bytes, name.length) == 0 &&
           same_port(port, host_port, is_https ? "443" : "80");
}

int origin_is_named(const struct origin_rules *rules, const struct head *head) {
    for (size_t i = 0; head->origin && i < rules->num_origins; i++)
        if (strcasecmp(head->origin, rules->origins[i]) == 0) return 1;
    return 0;
}

int origin_allows(const struct origin_rules *rules, const struct head *head, char ret_why[ORIGIN_WHY_BYTES]) {
    const char *port;
    if (rules->checks_hosts && head->host) {
        struct text_view name = name_of(head->host, &port);
        if (!is_port(port) || (!is_loopback_name(name) && !is_listed(rules, name))) {
            snprintf(ret_why, ORIGIN_WHY_BYTES,
                     "This server does not answer for the host '%.100s'; start it with --allow-host to change that",
                     head->host);
            return 0;
        }
    }
    if (head->origin && !is_own(rules, head->origin, head->host) && !origin_is_named(rules, head)) {
        snprintf(ret_why, ORIGIN_WHY_BYTES, "Pages of another site ('%.100s') may not use this server", head->origin);
        return 0;
    }
    return 1;
}

int origin_is_foreign(const struct head *head) {
    const char *site = head->fetch_site;
    return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

int origin_is_link(const struct head *head, const char *method) {
    return strcmp(method, "GET") == 0 && head->fetch_mode && strcmp(head->fetch_mode, "navigate") == 0 &&
           (head->fetch_dest == NULL || strcmp(head->fetch_dest, "document") == 0);
}
