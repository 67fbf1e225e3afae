/* SPDX-License-Identifier: Apache-2.0 */
/* Bearer tokens: 256 random bits behind "kerf_", of which the store has the SHA-256 alone. */
#ifndef KERF_SERVER_TOKEN_H
#define KERF_SERVER_TOKEN_H

#include "kerf/error.h"

enum token_role { TOKEN_NONE, TOKEN_READ, TOKEN_WRITE, TOKEN_ADMIN }; /* each may do what those before it may */

enum { TOKEN_BYTES = 64, TOKEN_HASH = 32 };

int32_t token_make(char ret_token[TOKEN_BYTES], struct kerf_error *err);
int32_t token_hash(const char *token, unsigned char ret_hash[TOKEN_HASH]); /* KERF_OK or KERF_EUNSUPPORTED */
enum token_role token_role(const char *name);                              /* "read"; TOKEN_NONE for others */

#endif
