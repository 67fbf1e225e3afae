/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate and key that the server shows, and whether they are any good. */
#ifndef KERF_SERVER_TLS_H
#define KERF_SERVER_TLS_H

#include "server/log.h"
#include "kerf/error.h"

struct tls_files { /* PEM; as long as the library runs */
    char *certificate, *key;
};

/* The versions that clients may speak. */
extern const char tls_priorities[];

/* key NULL: it stands in the certificate's file. What is expired is logged, and used. KERF_EINVALID: a file cannot be
 * read, holds something else, or the key is not that of the certificate; KERF_EUNSUPPORTED: libmicrohttpd lacks TLS. */
int32_t tls_read(const char *certificate, const char *key, const struct log *log, struct tls_files *ret_files,
                 struct kerf_error *err);
void tls_free(struct tls_files *files); /* the key's bytes are wiped; zeros are fine */

#endif
