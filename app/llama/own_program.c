/* SPDX-License-Identifier: Apache-2.0 */
#include "own_program.h"

#include <stdio.h>
#include <string.h>

int own_program_refuse(const struct command *table, int status, const char *message) {
    fprintf(stderr, "kerf-%s: %s\n", table->name, message);
    return status;
}

void own_program_help(const struct command *table) {
    struct kerf_text text = {0}, command = {0};
    command_help(&text, table, 0, 0);
    kerf_text_printf(&command, "kerf %s", table->name);
    char *name = text.data && command.data ? strstr(text.data, command.data) : NULL;
    for (; name; name = strstr(name, command.data)) name[4] = '-';
    if (text.data) fputs(text.data, stdout);
    kerf_text_free(&text);
    kerf_text_free(&command);
}
