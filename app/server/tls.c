/* SPDX-License-Identifier: Apache-2.0 */
/* libmicrohttpd takes PEM in memory, and says no more than that it cannot start: what is wrong is found out here. */
#include "server/tls.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/error.h"

enum { FILE_MOST = 1 << 20, ID_BYTES = 64 };

const char tls_priorities[] = "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1";

/* ---- Files -------------------------------------------------------------------------------------------------- */

static void wipe(char *text) {
    if (text) gnutls_memset(text, 0, strlen(text));
    free(text);
}

static int32_t read_file(const char *path, char **ret_text, struct kerf_error *err) {
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(FILE_MOST + 1) : NULL;
    size_t length = text ? fread(text, 1, FILE_MOST, file) : 0;
    int32_t code = KERF_OK;
    if (file == NULL || (text && ferror(file)))
        code = kerf_error_set(err, KERF_EINVALID, "%.200s cannot be read: %s", path, strerror(errno));
    else if (text == NULL)
        code = kerf_error_set(err, KERF_ENOMEM, "not enough memory for %.200s", path);
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

static int32_t check(const struct tls_files *files, const char *certificate_path, const char *key_path,
                     const struct log *log, struct kerf_error *err) {
    gnutls_x509_crt_t certificate = NULL;
    gnutls_x509_privkey_t key = NULL;
    int32_t code = import_certificate(certificate_path, files->certificate, &certificate, err);
    if (code == KERF_OK && gnutls_x509_privkey_init(&key) < 0) code = error_no_memory(err, "a key");
    if (code == KERF_OK) code = import_key(key_path, files->key, key, err);
    if (code == KERF_OK && !fits(certificate, key))
        code = kerf_error_set(err, KERF_EINVALID, "the key in %.200s is not that of the certificate in %.200s",
                              key_path, certificate_path);
    if (code == KERF_OK) warn_of_dates(certificate_path, certificate, log);
    if (key) gnutls_x509_privkey_deinit(key);
    if (certificate) gnutls_x509_crt_deinit(certificate);
    return code;
}

/* ---- Both --------------------------------------------------------------------------------------------------- */

int32_t tls_read(const char *certificate, const char *key, const struct log *log, struct tls_files *ret_files,
                 struct kerf_error *err) {
    struct tls_files files = {0};
    const char *key_path = key ? key : certificate;
    if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "this machine's libmicrohttpd was built without TLS");
    int32_t code = read_file(certificate, &files.certificate, err);
    if (code == KERF_OK) code = read_file(key_path, &files.key, err);
    if (code == KERF_OK) code = check(&files, certificate, key_path, log, err);
    if (code == KERF_OK)
        *ret_files = files;
    else
        tls_free(&files);
    return code;
}

void tls_free(struct tls_files *files) {
    wipe(files->certificate);
    wipe(files->key);
    *files = (struct tls_files){0};
}
