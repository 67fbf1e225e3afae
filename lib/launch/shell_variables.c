/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of the shell share: its variables, how deep it may nest, and how it gives up. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/error_fill.h"
#include "launch/shell.h"

int32_t shell_fail(struct shell *shell, int32_t line, const char *format, ...) {
    char message[256];
    va_list args;
    if (shell->code != KERF_OK) return shell->code;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return shell->code = launch_fail(shell->err, shell->name, line, KERF_ESYNTAX, "%s", message);
}

int shell_enter(struct shell *shell, int32_t line) {
    if (shell->code != KERF_OK) return 0;
    if (shell->depth == LAUNCH_DEPTH_MAX) {
        shell_fail(shell, line, "quotes, groups or functions are nested more than %d deep", LAUNCH_DEPTH_MAX);
        return 0;
    }
    shell->depth++;
    return 1;
}

void shell_leave(struct shell *shell) { shell->depth--; }

int shell_is_name(char c, int is_first) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (!is_first && c >= '0' && c <= '9');
}

struct shell_variable *shell_variable(struct shell *shell, const char *name, size_t length) {
    for (int32_t i = 0; i < shell->num_variables; i++)
        if (strncmp(shell->variables[i].name, name, length) == 0 && shell->variables[i].name[length] == 0)
            return &shell->variables[i];
    return NULL;
}

void shell_set(struct shell *shell, const char *name, size_t length, const char *const *items, int32_t count,
               int is_array) {
    if (!shell->is_reached || shell->code != KERF_OK) return;
    struct shell_variable *variable = shell_variable(shell, name, length);
    if (variable == NULL && shell->num_variables == SHELL_VARIABLES_MAX) {
        shell_fail(shell, 0, "the script has more than %d variables", SHELL_VARIABLES_MAX);
        return;
    }
    const char **copy = arena_alloc(shell->arena, (size_t)count + 1, sizeof *copy);
    const char *kept = variable ? variable->name : arena_copy(shell->arena, name, length);
    for (int32_t i = 0; copy && i < count; i++)
        if ((copy[i] = arena_strdup(shell->arena, items[i])) == NULL) copy = NULL;
    if (copy == NULL || kept == NULL) {
        shell->code = error_no_memory(shell->err, "a script");
        return;
    }
    for (int32_t i = 0; i < count; i++) shell->bytes += (int64_t)strlen(copy[i]) + 16;
    if (shell->bytes > 4 * (int64_t)LAUNCH_BYTES_MAX) shell_fail(shell, 0, "the script's values take more than 64 MiB");
    if (variable == NULL) variable = &shell->variables[shell->num_variables++];
    *variable = (struct shell_variable){kept, copy, count, (int8_t)is_array};
}
