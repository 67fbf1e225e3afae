/* SPDX-License-Identifier: Apache-2.0 */
/* kerf jobs backup: a copy of the store itself, for which no server is asked. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/interrupt.h"
#include "cli/jobs_request.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "store/stores.h"

static int32_t check(const struct jobs_options *options, struct kerf_error *err) {
    if (options->words.count < 2)
        return kerf_error_set(err, KERF_EINVALID, "the file is missing, such as `kerf jobs backup kerf.backup.db`");
    if (options->outputs.count)
        return kerf_error_set(err, KERF_EINVALID,
                              "`kerf jobs backup` writes the file that it is given, without "
                              "--output");
    if (strstr(options->store, "://") == NULL && access(options->store, F_OK) != 0)
        return kerf_error_set(err, KERF_EINVALID, "there is no store %.200s; name the server's with --store",
                              options->store);
    return KERF_OK;
}

int jobs_backup(struct jobs_request *request) {
    const struct jobs_options *options = request->options;
    struct kerf_error err = {.code = KERF_OK};
    struct terminal_progress progress = {.what = "copying"};
    struct kerf_text out = {0};
    struct stat made = {0};
    int32_t code = check(options, &err);
    if (code == KERF_OK) {
        const char *to = options->words.items[1];
        interrupt_catch();
        code = store_backup(options->store, to, options->force, terminal_progress, &progress, &err);
        terminal_progress_end(&progress);
        if (code == KERF_OK && stat(to, &made) == 0)
            kerf_text_printf(&out, "%s: %" PRId64 " bytes\n", to, (int64_t)made.st_size);
    }
    if (code == KERF_EINTERRUPTED) return EXIT_INTERRUPTED;
    return code == KERF_OK ? output_print(&out) : jobs_fail(&err);
}
