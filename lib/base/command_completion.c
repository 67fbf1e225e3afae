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

/* ---- Names of options, by use ------------------------------------------------------------------------------ */

/* Is the name one of a list, "show,export"? */
static int has_name(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *c = list; c; c = strchr(c, ',')) {
        if (*c == ',') c++;
        if (strcspn(c, ",") == length && memcmp(c, name, length) == 0) return 1;
    }
    return 0;
}

static int is_typed(const struct command_use *use) { return use->name[0] >= 'a' && use->name[0] <= 'z'; }

/* Whether the option is offered after a use; NULL: no use was typed. An option whose uses are not in the table belongs
 * to the user's own word, such as a schedule, and is offered everywhere. */
static int is_offered(const struct command *command, const struct option *option, const struct command_use *behind) {
    int is_known = 0, is_behind_none = 0;
    if (option->uses == NULL) return 1;
    if (behind && has_name(option->uses, behind->name)) return 1;
    for (const struct command_use *use = command->uses; use && use->name; use++) {
        int takes = has_name(option->uses, use->name);
        is_known |= takes;
        is_behind_none |= takes && !is_typed(use);
    }
    return !is_known || (behind == NULL && is_behind_none);
}

static void option_names(struct kerf_text *out, const struct command *command, const struct command_use *behind) {
    kerf_text_printf(out, "        '%s %s -'*) _kerf_words", command->name, behind ? behind->name : "");
    for (const struct option *option = command->options; option && option->name; option++)
        if (is_offered(command, option, behind)) kerf_text_printf(out, " --%s", option->name);
    kerf_text_add(out, " --help ;;\n");
}

/* The uses of a command, as words for the place of its first argument. */
static void use_names(struct kerf_text *out, const struct command *command) {
    int is_first = 1;
    for (const struct command_use *use = command->uses; use && use->name; use++) {
        if (!is_typed(use)) continue;
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
            if (is_typed(use)) option_names(out, commands[i], use);
        option_names(out, commands[i], NULL);
    }
    kerf_text_add(out, "        *)\n"
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
