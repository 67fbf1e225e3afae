/* SPDX-License-Identifier: Apache-2.0 */
/* libmicrohttpd asks for certificate and key at each handshake; mistakes in them are found here. */
#include "server/tls.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/error_fill.h"

enum { FILE_MAX = 1 << 20, ID_BYTES = 64, CHAIN_MAX = 16 };

const char tls_priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA"; /* -RSA: the key exchange */

struct shown {
    gnutls_pcert_st certificates[CHAIN_MAX];
    unsigned count;
    gnutls_privkey_t key;
    struct shown *before; /* handshakes that began with it may still use it */
};

struct tls {
    const char *certificate_path, *key_path;
    const struct log *log;
    pthread_mutex_t lock;
    struct shown *shown; /* the newest */
};

/* ---- Files -------------------------------------------------------------------------------------------------- */

static void wipe(char *text) {
    if (text) gnutls_memset(text, 0, strlen(text));
    free(text);
}

static int32_t read_file(const char *path, char **ret_text, struct kerf_error *err) {
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(FILE_MAX + 1) : NULL;
    size_t length = text ? fread(text, 1, FILE_MAX, file) : 0;
    int32_t code = KERF_OK;
    if (file == NULL || (text && ferror(file)))
        code = kerf_error_set(err, KERF_EINVALID, "%.200s cannot be read: %s", path, strerror(errno));
    else if (text == NULL)
        code = error_no_memory(err, path);
    if (text) text[length] = 0;
    if (file) fclose(file);
    if (code == KERF_OK && text)
        *ret_text = text;
    else
        wipe(text);
    return code;
}

static gnutls_datum_t bytes_of(char *text) {
    return (gnutls_datum_t){(unsigned char *)text, text ? (unsigned)strlen(text) : 0};
}

/* ---- What they hold ----------------------------------------------------------------------------------------- */

static int32_t import_certificate(const char *path, char *text, gnutls_x509_crt_t *ret_first, struct kerf_error *err) {
    const gnutls_datum_t bytes = bytes_of(text);
    gnutls_x509_crt_t *all = NULL;
    unsigned count = 0;
    int failed = gnutls_x509_crt_list_import2(&all, &count, &bytes, GNUTLS_X509_FMT_PEM, 0);
    if (failed < 0 || count == 0)
        return kerf_error_set(err, KERF_EINVALID, "%.200s holds no certificate in PEM: %s", path,
                              gnutls_strerror(failed));
    for (unsigned i = 1; i < count; i++) gnutls_x509_crt_deinit(all[i]);
    *ret_first = all[0]; /* the server's own; those behind it sign it */
    gnutls_free(all);
    return KERF_OK;
}

static int32_t import_key(const char *path, char *text, gnutls_x509_privkey_t key, struct kerf_error *err) {
    const gnutls_datum_t bytes = bytes_of(text);
    int failed = gnutls_x509_privkey_import2(key, &bytes, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (failed == GNUTLS_E_DECRYPTION_FAILED)
        return kerf_error_set(err, KERF_EINVALID, "the key in %.200s is encrypted; one without a password is needed",
                              path);
    if (failed < 0)
        return kerf_error_set(err, KERF_EINVALID, "%.200s holds no private key in PEM: %s", path,
                              gnutls_strerror(failed));
    return KERF_OK;
}

static int fits(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key) {
    unsigned char ids[2][ID_BYTES];
    size_t sizes[2] = {ID_BYTES, ID_BYTES};
    return gnutls_x509_crt_get_key_id(certificate, GNUTLS_KEYID_USE_SHA256, ids[0], &sizes[0]) == 0 &&
           gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, ids[1], &sizes[1]) == 0 &&
           sizes[0] == sizes[1] && memcmp(ids[0], ids[1], sizes[0]) == 0;
}

static void warn_of_dates(const char *path, gnutls_x509_crt_t certificate, const struct log *log) {
    time_t now = time(NULL), end = gnutls_x509_crt_get_expiration_time(certificate);
    char day[32];
    struct tm parts;
    gmtime_r(&end, &parts);
    strftime(day, sizeof day, "%Y-%m-%d %H:%M", &parts);
    if (now >= end) log_error(log, "tls", "the certificate in %s expired on %s UTC; clients will refuse it", path, day);
    if (now < gnutls_x509_crt_get_activation_time(certificate))
        log_error(log, "tls", "the certificate in %s is not valid yet; clients will refuse it", path);
}

static int32_t check(const char *certificate_path, char *certificate_text, const char *key_path, char *key_text,
                     const struct log *log, struct kerf_error *err) {
    gnutls_x509_crt_t certificate = NULL;
    gnutls_x509_privkey_t key = NULL;
    int32_t code = import_certificate(certificate_path, certificate_text, &certificate, err);
    if (code == KERF_OK && gnutls_x509_privkey_init(&key) < 0) code = error_no_memory(err, "a key");
    if (code == KERF_OK) code = import_key(key_path, key_text, key, err);
    if (code == KERF_OK && !fits(certificate, key))
        code = kerf_error_set(err, KERF_EINVALID, "the key in %.200s does not belong to the certificate in %.200s",
                              key_path, certificate_path);
    if (code == KERF_OK) warn_of_dates(certificate_path, certificate, log);
    if (key) gnutls_x509_privkey_deinit(key);
    if (certificate) gnutls_x509_crt_deinit(certificate);
    return code;
}

/* ---- What is shown ------------------------------------------------------------------------------------------ */

static void drop(struct shown *shown) {
    for (unsigned i = 0; i < shown->count; i++) gnutls_pcert_deinit(&shown->certificates[i]);
    if (shown->key) gnutls_privkey_deinit(shown->key);
    free(shown);
}

static int32_t make(const char *path, char *certificate, char *key, struct shown **ret_shown, struct kerf_error *err) {
    const gnutls_datum_t bytes = bytes_of(certificate), key_bytes = bytes_of(key);
    struct shown *shown = calloc(1, sizeof *shown);
    unsigned count = CHAIN_MAX;
    if (shown == NULL) return error_no_memory(err, "a certificate");
    int failed = gnutls_pcert_list_import_x509_raw(shown->certificates, &count, &bytes, GNUTLS_X509_FMT_PEM, 0);
    if (failed >= 0) shown->count = count;
    if (failed >= 0) failed = gnutls_privkey_init(&shown->key);
    if (failed >= 0) failed = gnutls_privkey_import_x509_raw(shown->key, &key_bytes, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (failed >= 0) {
        *ret_shown = shown;
        return KERF_OK;
    }
    drop(shown);
    return kerf_error_set(err, KERF_EINVALID, "the certificate in %.200s cannot be used: %s", path,
                          gnutls_strerror(failed));
}

int32_t tls_renew(struct tls *tls, struct kerf_error *err) {
    char *certificate = NULL, *key = NULL;
    struct shown *shown = NULL;
    int32_t code = read_file(tls->certificate_path, &certificate, err);
    if (code == KERF_OK) code = read_file(tls->key_path, &key, err);
    if (code == KERF_OK) code = check(tls->certificate_path, certificate, tls->key_path, key, tls->log, err);
    if (code == KERF_OK) code = make(tls->certificate_path, certificate, key, &shown, err);
    if (code == KERF_OK) {
        pthread_mutex_lock(&tls->lock);
        shown->before = tls->shown;
        tls->shown = shown;
        pthread_mutex_unlock(&tls->lock);
    }
    wipe(certificate);
    wipe(key);
    return code;
}

int tls_show(struct tls *tls, gnutls_pcert_st **ret_certificates, unsigned *ret_count, gnutls_privkey_t *ret_key) {
    pthread_mutex_lock(&tls->lock);
    struct shown *shown = tls->shown;
    pthread_mutex_unlock(&tls->lock);
    assert(shown && shown->count > 0 && shown->key);
    *ret_certificates = shown->certificates;
    *ret_count = shown->count;
    *ret_key = shown->key;
    return 0;
}

int32_t tls_load(const char *certificate, const char *key, const struct log *log, struct tls **ret_tls,
                 struct kerf_error *err) {
    if (MHD_is_feature_supported(MHD_FEATURE_HTTPS_CERT_CALLBACK2) != MHD_YES)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "this machine's libmicrohttpd was built without TLS");
    struct tls *tls = calloc(1, sizeof *tls);
    if (tls == NULL) return error_no_memory(err, "a certificate");
    *tls = (struct tls){.certificate_path = certificate, .key_path = key ? key : certificate, .log = log};
    pthread_mutex_init(&tls->lock, NULL);
    int32_t code = tls_renew(tls, err);
    if (code == KERF_OK)
        *ret_tls = tls;
    else
        tls_free(tls);
    return code;
}

struct tls *tls_free(struct tls *tls) {
    if (tls == NULL) return NULL;
    for (struct shown *shown = tls->shown, *before; shown; shown = before) {
        before = shown->before;
        drop(shown);
    }
    pthread_mutex_destroy(&tls->lock);
    free(tls);
    return NULL;
}
