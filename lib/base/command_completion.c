/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a completion script for bash from the option tables. The script needs nothing but bash, 3.2 (the
 * one of macOS) included: two functions, and no list of words that bash would expand once more. */
#include "base/option.h"

#include <string.h>

static const char script_begin[] =
    "# shellcheck shell=bash\n"
    "# Completion of kerf " KERF_VERSION_TEXT " in bash: source this file.\n"
    "\n"
    "# Offers those of the given words that go on from what was typed, and no files.\n"
    "_kerf_words() {\n"
    "    local word\n"
    "    compopt +o bashdefault +o default 2>/dev/null # bash 3.2 has no compopt and offers files as well\n"
    "    for word in \"$@\"; do\n"
    "        if [[ $word == \"$current\"* ]]; then COMPREPLY+=(\"$prefix$word\"); fi\n"
    "    done\n"
    "}\n"
    "\n"
    "_kerf() {\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local prefix='' i\n"
    "    COMPREPLY=()\n"
    "\n"
    "    # --name=value is three words where \"=\" is in COMP_WORDBREAKS, as it is by default, and else "
    "one.\n"
    "    if [[ $current == '=' ]]; then\n"
    "        current=''\n"
    "    elif [[ $previous == '=' ]]; then\n"
    "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    elif [[ $current == --*=* ]]; then\n"
    "        prefix=${current%%=*}=\n"
    "        previous=${current%%=*}\n"
    "        current=${current#*=}\n"
    "    fi\n"
    "\n";

/* A space and the text as one word of the shell. */
static void shell_word(struct kerf_text *out, const char *text, size_t length) {
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.:/";
    kerf_text_add(out, " ");
    if (strspn(text, safe) >= length) {
        kerf_text_write(out, text, length);
        return;
    }
    kerf_text_add(out, "'");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            kerf_text_add(out, "'\\''");
        else
            kerf_text_write(out, text + i, 1);
    }
    kerf_text_add(out, "'");
}

static void command_names(struct kerf_text *out, const struct command *const *commands, size_t count) {
    int has_help = 0;
    for (size_t i = 0; i < count; i++) {
        shell_word(out, commands[i]->name, strlen(commands[i]->name));
        has_help |= strcmp(commands[i]->name, "help") == 0;
    }
    if (!has_help) kerf_text_add(out, " help");
}

static void choices(struct kerf_text *out, const struct option *option) {
    kerf_text_add(out, "_kerf_words");
    for (const char *choice = option->choices; *choice;) {
        size_t length = strcspn(choice, ",");
        shell_word(out, choice, length);
        choice += length + (choice[length] == ',');
    }
    kerf_text_add(out, " ;;\n");
}

/* A branch that matches "command option" where the option takes a value: offers its choices, files where it
 * is text, nothing where it is a number. */
static void value_branch(struct kerf_text *out, const struct command *command, const struct option *option) {
    if (option->type == OPTION_FLAG) return;
    kerf_text_printf(out, "    '%s --%s'", command->name, option->name);
    if (option->letter) kerf_text_printf(out, " | '%s -%c'", command->name, option->letter);
    kerf_text_add(out, ") ");
    if (option->type == OPTION_CHOICE)
        choices(out, option);
    else if (option->type == OPTION_INTEGER || option->type == OPTION_NUMBER || option->type == OPTION_DURATION)
        kerf_text_add(out, "_kerf_words ;;\n");
    else
        kerf_text_add(out, ";;\n");
}

static void option_names(struct kerf_text *out, const struct command *command) {
    kerf_text_printf(out, "    '%s -'*) _kerf_words", command->name);
    for (const struct option *option = command->options; option && option->name; option++)
        kerf_text_printf(out, " --%s", option->name);
    kerf_text_add(out, " --help ;;\n");
}

void commands_bash(struct kerf_text *out, const struct command *const *commands, size_t count) {
    kerf_text_add(out, script_begin);
    kerf_text_add(out, "    # the name of a command\n"
                       "    if ((COMP_CWORD == 1)) && [[ $current == -* ]]; then\n"
                       "        _kerf_words --help --version\n"
                       "        return\n"
                       "    elif ((COMP_CWORD == 1)) ||\n"
                       "        [[ ${COMP_WORDS[1]} == help && $current != -* ]]; then\n"
                       "        _kerf_words");
    command_names(out, commands, count);
    kerf_text_add(out, "\n"
                       "        return\n"
                       "    fi\n"
                       "\n"
                       "    # arguments alone, which are files: after --\n"
                       "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
                       "        if [[ ${COMP_WORDS[i]} == -- ]]; then return; fi\n"
                       "    done\n"
                       "\n"
                       "    # the value of an option\n"
                       "    case \"${COMP_WORDS[1]} $previous\" in\n");
    for (size_t i = 0; i < count; i++)
        for (const struct option *option = commands[i]->options; option && option->name; option++)
            value_branch(out, commands[i], option);
    kerf_text_add(out, "    *)\n"
                       "        # the name of an option\n"
                       "        case \"${COMP_WORDS[1]} $current\" in\n");
    for (size_t i = 0; i < count; i++) {
        kerf_text_add(out, "    ");
        option_names(out, commands[i]);
    }
    kerf_text_add(out, "        esac\n"
                       "        ;;\n"
                       "    esac\n"
                       "}\n"
                       "\n"
                       "complete -o bashdefault -o default -F _kerf kerf\n");
}
