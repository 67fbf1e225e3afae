/* SPDX-License-Identifier: Apache-2.0 */
/* The hash is GnuTLS's, which libmicrohttpd brings. As tokens are random, it needs neither salt nor slowness. */
#include "server/token.h"

#include <gnutls/crypto.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

int32_t token_make(char ret_token[TOKEN_BYTES], struct kerf_error *err) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"; /* means nothing in
                                                                                                       URLs */
    enum { DIGITS = 43 }; /* 6 bits each: 258 */
    unsigned char random[DIGITS];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "the system has no random numbers");
    int length = snprintf(ret_token, TOKEN_BYTES, "kerf_");
    for (int i = 0; i < DIGITS; i++) ret_token[length++] = digits[random[i] & 63];
    ret_token[length] = 0;
    return KERF_OK;
}

int32_t token_hash(const char *token, unsigned char ret_hash[TOKEN_HASH]) {
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, token, strlen(token), ret_hash) == 0 ? KERF_OK : KERF_EUNSUPPORTED;
}

enum token_role token_role(const char *name) {
    static const char *const names[] = {[TOKEN_READ] = "read", [TOKEN_WRITE] = "write", [TOKEN_ADMIN] = "admin"};
    for (int role = TOKEN_READ; role <= TOKEN_ADMIN; role++)
        if (strcmp(name, names[role]) == 0) return (enum token_role)role;
    return TOKEN_NONE;
}
