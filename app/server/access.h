/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is let in. gate.c looks at the head of each request, and then asks the other three: from which site a browser
 * sends it, how much its network has asked for, and which token it has.
 */
#ifndef KERF_SERVER_ACCESS_H
#define KERF_SERVER_ACCESS_H

#include <stddef.h>
#include "kerf/error.h"
#include "server/head.h"
#include "server/network.h"

struct access;
struct exchange;
struct log;
struct MHD_Connection;
struct store;

/* ---- Tokens (token.c) -------------------------------------------------------------------------------------------- */

/* Bearer tokens: 256 random bits behind "kerf_". The store has only their SHA-256. */

enum token_role { TOKEN_NONE, TOKEN_READ, TOKEN_WRITE, TOKEN_ADMIN }; /* each may do what those before it may */

enum { TOKEN_BYTES = 64, TOKEN_HASH = 32 };

int32_t token_make(char ret_token[TOKEN_BYTES], struct kerf_error *err);
int32_t token_hash(const char *token, unsigned char ret_hash[TOKEN_HASH]); /* KERF_OK or KERF_EUNSUPPORTED */

/* Reads the tokens now, and about once a second from then on, so that `kerf token` needs no restart. */
int32_t access_open(struct store *store, const struct log *log, struct access **ret_access, struct kerf_error *err);
void access_close(struct access *access); /* NULL is fine */

/* What the credentials of a request allow, and the name of its token, copied, or NULL. A token is a bearer token, or
 * either half of Basic credentials, which is what clients make of http://TOKEN@host and http://TOKEN:@host.
 * authorization: the header; NULL: none. access NULL: everybody may do everything. */
enum token_role access_role(struct access *access, struct MHD_Connection *connection, const char *authorization,
                            struct arena *arena, const char **ret_name);

/* ---- Rates (rate.c) ---------------------------------------------------------------------------------------------- */

/*
 * How many requests each network may send: one token bucket per network, which fills at `per_s` and holds RATE_BURST_S
 * of that. The time is an argument. The memory does not grow with the number of networks: the table has sets of a few
 * places, and a network that finds its set full replaces the fullest bucket there, which loses least by it.
 */

struct rate_table;

enum { RATE_BURST_S = 2, RATE_PLACES = 32768 };

/* per_s: 1 or more. seed: random, so that nobody knows which networks share a set. NULL: not enough memory. */
struct rate_table *rate_new(double per_s, uint64_t seed);
void rate_free(struct rate_table *table); /* NULL is fine */

/* 0: the request may go on, and is counted. Otherwise: the seconds until the next one may. */
double rate_take(struct rate_table *table, const struct network *network, double now_s);

/* Counts more requests, which happened already: the bucket may owe up to one burst. */
void rate_charge(struct rate_table *table, const struct network *network, double requests, double now_s);

/* ---- Origins (origin.c) ------------------------------------------------------------------------------------------ */

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

struct origin_rules {
    int checks_hosts;         /* 1: Host is a loopback name or one of these */
    const char *const *hosts; /* names without a port */
    size_t num_hosts;
    const char *const *origins; /* "https://example.com": other sites whose pages may use this server */
    size_t num_origins;
};

enum { ORIGIN_WHY_BYTES = 256 };

/* 1, or 0 and a sentence that says why the request is refused (403). */
int origin_allows(const struct origin_rules *rules, const struct head *head, char ret_why[ORIGIN_WHY_BYTES]);

/* 1 when the page is of a site that was named as one that may use this server. */
int origin_is_named(const struct origin_rules *rules, const struct head *head);

/* 1 when a page of another site asks: it may only be sent to a page, by a link. */
int origin_is_foreign(const struct head *head);
int origin_is_link(const struct head *head, const char *method);

/* ---- The gate (gate.c) ------------------------------------------------------------------------------------------- */

/* When the head is there: what is not let in gets a refusal, and its body is not kept. version: as head_read. */
void gate_look(struct exchange *exchange, const char *version);

/* When the request is whole: 1 after its route was found and it may ask it, or 0 after an answer in its place. */
int gate_pass(struct exchange *exchange);

#endif
