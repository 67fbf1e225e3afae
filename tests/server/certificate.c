/* SPDX-License-Identifier: Apache-2.0 */
#include "certificate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 300, DAY_S = 86400 };

/* ---- Certificates ------------------------------------------------------------------------------------------- */

static void append(const char *path, const gnutls_datum_t *pem) {
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_int_equal(fwrite(pem->data, 1, pem->size, file), pem->size);
    assert_int_equal(fclose(file), 0);
}

static void make(const char *certificate, const char *key, int days, gnutls_pk_algorithm_t algorithm, unsigned bits) {
    const unsigned char address[4] = {127, 0, 0, 1}, serial[1] = {7};
    gnutls_x509_privkey_t secret;
    gnutls_x509_crt_t made;
    gnutls_datum_t pem;
    time_t now = time(NULL), end = now + (time_t)days * DAY_S;
    remove(certificate);
    remove(key);
    assert_int_equal(gnutls_x509_privkey_init(&secret), 0);
    assert_int_equal(gnutls_x509_privkey_generate(secret, algorithm, bits, 0), 0);
    assert_int_equal(gnutls_x509_crt_init(&made), 0);
    assert_int_equal(gnutls_x509_crt_set_version(made, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(made, serial, sizeof serial), 0);
    assert_int_equal(gnutls_x509_crt_set_dn_by_oid(made, GNUTLS_OID_X520_COMMON_NAME, 0, "kerf test", 9), 0);
    assert_int_equal(gnutls_x509_crt_set_subject_alt_name(made, GNUTLS_SAN_IPADDRESS, address, sizeof address, 0), 0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(made, (now < end ? now : end) - 2 * DAY_S), 0);
    assert_int_equal(gnutls_x509_crt_set_expiration_time(made, end), 0);
    assert_int_equal(gnutls_x509_crt_set_key(made, secret), 0);
    assert_int_equal(gnutls_x509_crt_sign2(made, made, secret, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(made, GNUTLS_X509_FMT_PEM, &pem), 0);
    append(certificate, &pem);
    gnutls_free(pem.data);
    assert_int_equal(gnutls_x509_privkey_export2(secret, GNUTLS_X509_FMT_PEM, &pem), 0);
    append(key, &pem);
    gnutls_free(pem.data);
    gnutls_x509_crt_deinit(made);
    gnutls_x509_privkey_deinit(secret);
}

void certificate_make(const char *certificate, const char *key, int days) {
    make(certificate, key, days, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1));
}

void certificate_make_rsa(const char *certificate, const char *key) { make(certificate, key, 2, GNUTLS_PK_RSA, 2048); }

/* ---- The client --------------------------------------------------------------------------------------------- */

int tls_open(struct tls_client *client, int port, const char *trusted) {
    return tls_open_with(client, port, trusted, NULL);
}

int tls_open_with(struct tls_client *client, int port, const char *trusted, const char *priorities) {
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    gnutls_certificate_credentials_t credentials;
    gnutls_session_t session;
    int failed;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(client->fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(gnutls_certificate_allocate_credentials(&credentials), 0);
    assert_true(gnutls_certificate_set_x509_trust_file(credentials, trusted, GNUTLS_X509_FMT_PEM) > 0);
    assert_int_equal(gnutls_init(&session, GNUTLS_CLIENT), 0);
    assert_int_equal(
        priorities ? gnutls_priority_set_direct(session, priorities, NULL) : gnutls_set_default_priority(session), 0);
    assert_int_equal(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials), 0);
    gnutls_session_set_verify_cert(session, NULL, 0);
    gnutls_transport_set_int(session, client->fd);
    client->session = session;
    client->credentials = credentials;
    while ((failed = gnutls_handshake(session)) < 0 && !gnutls_error_is_fatal(failed)) {
    }
    return failed == 0;
}

int tls_send(struct tls_client *client, const char *bytes) {
    return gnutls_record_send(client->session, bytes, strlen(bytes)) == (ssize_t)strlen(bytes);
}

int tls_read_until(struct tls_client *client, const char *end, char *ret_bytes, size_t size) {
    size_t have = 0;
    ret_bytes[0] = 0;
    while (have < size - 1 && (end == NULL || strstr(ret_bytes, end) == NULL)) {
        ssize_t got = gnutls_record_recv(client->session, ret_bytes + have, size - 1 - have);
        if (got == GNUTLS_E_INTERRUPTED || got == GNUTLS_E_AGAIN) return -1; /* PATIENCE_S are over */
        if (got == 0 || got == GNUTLS_E_PREMATURE_TERMINATION || got == GNUTLS_E_PULL_ERROR) break;
        if (got < 0) return -1;
        have += (size_t)got;
        ret_bytes[have] = 0;
    }
    return (int)have;
}

void tls_close(struct tls_client *client) {
    gnutls_deinit(client->session);
    gnutls_certificate_free_credentials(client->credentials);
    close(client->fd);
}
