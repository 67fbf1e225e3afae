/* SPDX-License-Identifier: Apache-2.0 */
#include "store/postgresql_library.h"

#include <dlfcn.h>
#include <pthread.h>

static const char library[] = "libpq.so.5";
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *missing; /* what is; NULL: nothing */
struct libpq pq;

static void look_up(void) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    missing = handle ? NULL : library;
#define LIBPQ_LOOK_UP(name)                                                                                            \
    if (missing == NULL && (pq.name = (__typeof__(pq.name))dlsym(handle, "PQ" #name)) == NULL) missing = "PQ" #name;
    LIBPQ_FUNCTIONS(LIBPQ_LOOK_UP)
#undef LIBPQ_LOOK_UP
}

int32_t libpq_open(struct kerf_error *err) {
    pthread_once(&once, look_up);
    if (missing == NULL) return KERF_OK;
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "a PostgreSQL database needs libpq 14 or newer (Debian's package libpq5), and here is no %s",
                          missing);
}
