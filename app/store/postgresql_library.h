/* SPDX-License-Identifier: Apache-2.0 */
/* libpq, which is opened on first use: with all it needs, it would slow down every start of kerf. */
#ifndef KERF_STORE_POSTGRESQL_LIBRARY_H
#define KERF_STORE_POSTGRESQL_LIBRARY_H

#include <libpq-fe.h>
#include "kerf/error.h"

/* X(name): PQname */
#define LIBPQ_FUNCTIONS(X)                                                                                             \
    X(clear)                                                                                                           \
    X(cmdTuples)                                                                                                       \
    X(conninfoFree)                                                                                                    \
    X(conninfoParse)                                                                                                   \
    X(consumeInput)                                                                                                    \
    X(connectdbParams)                                                                                                 \
    X(enterPipelineMode)                                                                                               \
    X(errorMessage)                                                                                                    \
    X(exec)                                                                                                            \
    X(execParams)                                                                                                      \
    X(finish)                                                                                                          \
    X(ftype)                                                                                                           \
    X(getResult)                                                                                                       \
    X(getisnull)                                                                                                       \
    X(getlength)                                                                                                       \
    X(getvalue)                                                                                                        \
    X(isBusy)                                                                                                          \
    X(nfields)                                                                                                         \
    X(ntuples)                                                                                                         \
    X(pipelineSync)                                                                                                    \
    X(resultErrorField)                                                                                                \
    X(resultStatus)                                                                                                    \
    X(sendPrepare)                                                                                                     \
    X(sendQueryPrepared)                                                                                               \
    X(setNoticeProcessor)                                                                                              \
    X(socket)                                                                                                          \
    X(status)                                                                                                          \
    X(transactionStatus)

struct libpq {
#define LIBPQ_FIELD(name) __typeof__(&PQ##name) name;
    LIBPQ_FUNCTIONS(LIBPQ_FIELD)
#undef LIBPQ_FIELD
};

extern struct libpq pq; /* after libpq_open */
int32_t libpq_open(struct kerf_error *err);

#endif
