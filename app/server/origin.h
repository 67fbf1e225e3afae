/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that a page of another site makes in somebody's browser. Such a page cannot read the answers, but its
 * requests arrive, with what the browser knows of passwords; and when its name is made to mean this machine (DNS
 * rebinding), it is a page of this server for the browser. Three headers tell, which pages cannot set:
 *
 *     Host             the name that the browser asked for; on loopback it is a loopback name, or one that is allowed
 *     Origin           the site of the page; it is this server
 *     Sec-Fetch-Site   same-origin, or none where somebody typed the address. Others may follow a link to a page
 *
 * A program sends none of them but Host.
 */
#ifndef KERF_SERVER_ORIGIN_H
#define KERF_SERVER_ORIGIN_H

#include <stddef.h>
#include "server/head.h"

struct origin_rules {
    int checks_hosts;         /* 1: Host is a loopback name or one of these */
    const char *const *hosts; /* names without a port */
    size_t num_hosts;
};

enum { ORIGIN_WHY_BYTES = 256 };

/* 1, or 0 and a sentence that says why the request is refused (403). */
int origin_allows(const struct origin_rules *rules, const struct head *head, char ret_why[ORIGIN_WHY_BYTES]);

/* 1 when a page of another site asks: it may only be sent to a page, by a link. */
int origin_is_foreign(const struct head *head);
int origin_is_link(const struct head *head, const char *method);

#endif
