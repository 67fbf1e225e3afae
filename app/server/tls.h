/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate and the key that the server shows, and whether they are any good. */
#ifndef KERF_SERVER_TLS_H
#define KERF_SERVER_TLS_H

#include <gnutls/abstract.h>
#include "server/log.h"

struct tls;

/* TLS 1.3, and 1.2 with forward secrecy: who learns the key later cannot read what was recorded. */
extern const char tls_priorities[];

/* key NULL: it stands in the certificate's file. An expired certificate is logged, and used. KERF_EINVALID: a file
 * cannot be read, holds something else, or the key is not that of the certificate; KERF_EUNSUPPORTED: libmicrohttpd
 * lacks TLS. The paths stay the caller's, and live as long. */
int32_t tls_load(const char *certificate, const char *key, const struct log *log, struct tls **ret_tls,
                 struct kerf_error *err);
struct tls *tls_free(struct tls *tls); /* always NULL; the keys are wiped */

/* Reads both files again: handshakes from now on show what is in them. Where that fails the old ones stay. */
int32_t tls_renew(struct tls *tls, struct kerf_error *err);

/* For a handshake: as gnutls_certificate_retrieve_function3 has it. What it gives lives as long as tls. */
int tls_show(struct tls *tls, gnutls_pcert_st **ret_certificates, unsigned *ret_count, gnutls_privkey_t *ret_key);

#endif
