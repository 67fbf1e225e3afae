/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/status.h"

#include <stdio.h>

int cli_fail(const struct kerf_error *err) {
    char line[sizeof err->file + sizeof err->message + 32];
    kerf_error_format(err, line, sizeof line);
    fprintf(stderr, "kerf: %s\n", line);
    switch (err->code) {
    case KERF_ENOMEM:
    case KERF_EUNSUPPORTED: return EXIT_FAILED;
    case KERF_EINTERRUPTED: return EXIT_INTERRUPTED;
    case KERF_EINFEASIBLE: return EXIT_NO_ANSWER;
    default: return EXIT_USAGE;
    }
}
