/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokens, and what each lets one do. A token is a bearer token, or either half of Basic credentials, which is what
 * clients make of http://TOKEN@host and http://TOKEN:@host.
 */
#ifndef KERF_SERVER_ACCESS_H
#define KERF_SERVER_ACCESS_H

#include "base/arena.h"
#include "server/log.h"
#include "server/token.h"
#include "store/store.h"

struct MHD_Connection;
struct access;

/* Reads the tokens now, and about once a second from then on, so that `kerf token` needs no restart. */
int32_t access_open(struct store *store, const struct log *log, struct access **ret_access, struct kerf_error *err);
void access_close(struct access *access); /* NULL is fine */

/* What the credentials of a request let it do, and the name of its token, copied, or NULL. authorization: the header;
 * NULL: none. access NULL: everybody may do everything. */
enum token_role access_role(struct access *access, struct MHD_Connection *connection, const char *authorization,
                            struct arena *arena, const char **ret_name);

#endif
