/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a completion script for bash from the option tables. The script needs nothing but bash, 3.2 (the
 * one of macOS) included: two functions, and no list of words that bash would expand once more. */
#include "base/completion.h"

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
    "# Offers the names of a kind that kerf lists. Where none goes on from what was typed, bash offers files.\n"
    "_kerf_names() {\n"
    "    local line kerf=${COMP_WORDS[0]}\n"
    "    local -a server=()\n"
    "    if [[ $kerf == '~/'* ]]; then kerf=$HOME/${kerf:2}; fi\n"
    "    if [[ $COMP_LINE =~ --server[=\\ ]+([^\\ ]+) ]]; then server=(--server \"${BASH_REMATCH[1]}\"); fi\n"
    "    while read -r line; do\n"
    "        if [[ $line == \"$current\"* ]]; then COMPREPLY+=(\"$prefix$line\"); fi\n"
    "    done < <(\n"
    "        case $1 in\n"
    "        (models | systems | stacks) \"$kerf\" \"$1\" ;;\n"
    "        (schedules) \"$kerf\" schedule --list ;;\n"
    "        (studies) \"$kerf\" studies --format csv ;;\n"
    "        (jobs) \"$kerf\" jobs list --format csv --timeout 2 ${server[@]+\"${server[@]}\"} ;;\n"
    "        esac 2>/dev/null | case $1 in\n"
    "        (models | systems | stacks) read -r line && while read -r line _; do printf '%s\\n' \"$line\"; done ;;\n"
    "        (schedules) while read -r line _; do if [[ $line == *: ]]; then printf '%s\\n' \"${line%:}\"; fi; done "
    ";;\n"
    "        (*) read -r line && while IFS=, read -r line _; do printf '%s\\n' \"$line\"; done ;;\n"
    "        esac\n"
    "    )\n"
    "}\n"
    "\n"
    "# Does the same for the last one of a list with commas: _kerf_list _kerf_names models.\n"
    "_kerf_list() {\n"
    "    if [[ $current == *,* ]]; then\n"
    "        prefix=$prefix${current%,*},\n"
    "        current=${current##*,}\n"
    "    fi\n"
    "    \"$@\"\n"
    "}\n"
    "\n"
    "_kerf_folders() {\n"
    "    compopt +o bashdefault +o default -o dirnames 2>/dev/null\n"
    "}\n"
    "\n"
    "_kerf() {\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local prefix='' use='' word i\n"
    "    local -a uses=()\n"
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

static void command_names(struct kerf_text *out, const struct command *const *commands, size_t count) {
    int has_help = 0;
    for (size_t i = 0; i < count; i++) {
        completion_word(out, commands[i]->name, strlen(commands[i]->name));
        has_help |= strcmp(commands[i]->name, "help") == 0;
    }
    if (!has_help) kerf_text_add(out, " help");
}

/* What is offered for a value or an argument. bash offers files itself where nothing else goes on from what was typed,
 * unless the words say that there are none. */
static void offer(struct kerf_text *out, const struct completion_value *value) {
    if (value->names) {
        kerf_text_printf(out, "%s_kerf_names %s ;;\n", value->is_list ? "_kerf_list " : "", value->names);
    } else if (value->takes_folders) {
        kerf_text_add(out, "_kerf_folders ;;\n");
    } else if (value->takes_files) {
        kerf_text_add(out, ";;\n");
    } else {
        kerf_text_add(out, value->is_list && value->choices ? "_kerf_list _kerf_words" : "_kerf_words");
        for (const char *choice = value->choices; choice && *choice;) {
            size_t length = strcspn(choice, ",");
            completion_word(out, choice, length);
            choice += length + (choice[length] == ',');
        }
        kerf_text_add(out, " ;;\n");
    }
}

/* A branch that matches "command option" where the option takes a value. */
static void value_branch(struct kerf_text *out, const struct command *command, const struct option *option) {
    if (option->type == OPTION_FLAG) return;
    const struct completion_value value = completion_of_option(option);
    kerf_text_printf(out, "    '%s --%s'", command->name, option->name);
    if (option->letter) kerf_text_printf(out, " | '%s -%c'", command->name, option->letter);
    kerf_text_add(out, ") ");
    offer(out, &value);
}

/* A branch that matches "command use" and offers arguments; files are bash's own way. */
static void arguments_branch(struct kerf_text *out, const struct command *command, const struct command_use *use) {
    const struct completion_value value = completion_of_arguments(command, use);
    if (value.names == NULL && value.choices == NULL && !value.takes_folders) return;
    kerf_text_printf(out, "            '%s %s') ", command->name, use ? use->name : "");
    offer(out, &value);
}

/* ---- Names of options, by use ------------------------------------------------------------------------------ */

static void option_names(struct kerf_text *out, const struct command *command, const struct command_use *behind) {
    kerf_text_printf(out, "        '%s %s -'*) _kerf_words", command->name, behind ? behind->name : "");
    for (const struct option *option = command->options; option && option->name; option++)
        if (completion_offers(command, option, behind)) kerf_text_printf(out, " --%s", option->name);
    kerf_text_add(out, " --help ;;\n");
}

/* The uses of a command, as words for the place of its first argument. */
static void use_names(struct kerf_text *out, const struct command *command) {
    int is_first = 1;
    for (const struct command_use *use = command->uses; use && use->name; use++) {
        if (!completion_is_typed(use)) continue;
        if (is_first) kerf_text_printf(out, "    %s) uses=(", command->name);
        kerf_text_printf(out, is_first ? "%s" : " %s", use->name);
        is_first = 0;
    }
    if (!is_first) kerf_text_add(out, ") ;;\n");
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
                       "    # which use of the command it is\n"
                       "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < count; i++) use_names(out, commands[i]);
    kerf_text_add(out, "    esac\n"
                       "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
                       "        for word in \"${uses[@]}\"; do\n"
                       "            if [[ -z $use && ${COMP_WORDS[i]} == \"$word\" ]]; then use=$word; fi\n"
                       "        done\n"
                       "    done\n"
                       "\n"
                       "    # the value of an option\n"
                       "    case \"${COMP_WORDS[1]} $previous\" in\n");
    for (size_t i = 0; i < count; i++)
        for (const struct option *option = commands[i]->options; option && option->name; option++)
            value_branch(out, commands[i], option);
    kerf_text_add(out, "    *)\n"
                       "        # the name of an option, or of a use\n"
                       "        case \"${COMP_WORDS[1]} $use $current\" in\n");
    for (size_t i = 0; i < count; i++) {
        for (const struct command_use *use = commands[i]->uses; use && use->name; use++)
            if (completion_is_typed(use)) option_names(out, commands[i], use);
        option_names(out, commands[i], NULL);
    }
    kerf_text_add(out, "        *)\n"
                       "            # an argument, or the name of a use\n"
                       "            case \"${COMP_WORDS[1]} $use\" in\n");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(commands[i]->name, "help") == 0) continue;
        for (const struct command_use *use = commands[i]->uses; use && use->name; use++)
            if (completion_is_typed(use)) arguments_branch(out, commands[i], use);
        arguments_branch(out, commands[i], NULL);
    }
    kerf_text_add(out, "            esac\n"
                       "            if ((COMP_CWORD == 2 && ${#uses[@]} > 0)); then\n"
                       "                for word in \"${uses[@]}\"; do\n"
                       "                    if [[ $word == \"$current\"* ]]; then COMPREPLY+=(\"$word\"); fi\n"
                       "                done\n"
                       "            fi\n"
                       "            ;;\n"
                       "        esac\n"
                       "        ;;\n"
                       "    esac\n"
                       "}\n"
                       "\n"
                       "complete -o bashdefault -o default -F _kerf kerf\n");
}
