/* SPDX-License-Identifier: Apache-2.0 */
/* What kerf open was given: server.h takes it and service.h has it, of which neither includes the other. */
#ifndef KERF_SERVER_OPENED_H
#define KERF_SERVER_OPENED_H

/* A file that the page shows at first (kerf open). */
struct server_opened {
    const char *path, *name;
    const char *kind; /* "plan", "config", "schedule", "trace" or "study"; NULL: there is none */
};

#endif
