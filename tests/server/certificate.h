/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: certificates for 127.0.0.1 that sign themselves, and a client that speaks TLS. */
#ifndef KERF_TESTS_CERTIFICATE_H
#define KERF_TESTS_CERTIFICATE_H

#include <stddef.h>

/* Writes a new certificate and its key, valid for so many days from now (before 0: it ended so many days ago). Both may
 * be one file. */
void certificate_make(const char *certificate, const char *key, int days);

void certificate_make_rsa(const char *certificate, const char *key); /* the same, of an RSA key */

struct tls_client {
    int fd;
    void *session, *credentials;
};

/* 1 after a handshake with a server that shows a certificate out of this file; 0: there was none. */
int tls_open(struct tls_client *client, int port, const char *trusted);
/* With what the client takes, as GnuTLS writes priorities; NULL: its usual ones. */
int tls_open_with(struct tls_client *client, int port, const char *trusted, const char *priorities);
int tls_send(struct tls_client *client, const char *bytes);
/* What comes until the connection ends, or until `end` was read (NULL: never); the number of bytes, or -1 where TLS was
 * broken by bytes that are none. */
int tls_read_until(struct tls_client *client, const char *end, char *ret_bytes, size_t size);
void tls_close(struct tls_client *client);

#endif
