/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <stdlib.h>

#include "base/error_fill.h"
#include "cli/output.h"
#include "cli/terminal.h"

int cli_parse(const struct cli_command *command, int argc, char **argv, void *values) {
    struct kerf_error err;
    int32_t help = 0;
    if (options_parse(command->table, argc, argv, values, &help, &err) != KERF_OK) {
        options_free(command->table, values);
        return cli_fail(&err);
    }
    if (!help) return -1;
    options_free(command->table, values);
    struct kerf_text text = {0};
    command_help(&text, command->table, terminal_columns(), terminal_colour());
    return output_print(&text);
}

void cli_use_catalogue(const char *folder) {
    if (folder) setenv("KERF_CATALOGUE", folder, 1);
}

int32_t cli_set(struct kerf_model *model, struct kerf_system *system, const struct string_list *sets,
                struct kerf_error *err) {
    struct kerf_text all = {0};
    struct kerf_error why;
    if (sets->count == 0) return KERF_OK;
    for (int32_t i = 0; i < sets->count; i++) kerf_text_printf(&all, "%s%s", i ? "," : "", sets->items[i]);
    int32_t code =
        all.failed ? error_no_memory(&why, "--set") : kerf_problem_set(model, system, all.data ? all.data : "", &why);
    kerf_text_free(&all);
    return code == KERF_OK ? KERF_OK : kerf_error_set(err, code, "--set: %s", why.message);
}
