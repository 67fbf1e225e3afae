/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a completion function for zsh from the option tables: a function for each command, whose specifications
 * _arguments reads (zshcompsys(1)). Needs zsh 5 and the functions that come with it. */
#include "base/completion.h"

#include <string.h>

static const char script_begin[] =
    "#compdef kerf\n"
    "# Completion of kerf " KERF_VERSION_TEXT " in zsh: _kerf in a folder of $fpath.\n"
    "\n"
    "# The names of a kind that kerf lists, behind what compadd is told; _kerf_list: the last one of a list with "
    "commas.\n"
    "_kerf_names() {\n"
    "    setopt localoptions extendedglob\n"
    "    local line kind=$argv[-1]\n"
    "    local -a names server\n"
    "    argv[-1]=()\n"
    "    if [[ \"$words\" == (#b)*--server[=\\ ]([^\\ ]##)* ]]; then server=(--server $match[1]); fi\n"
    "    case $kind in\n"
    "    models|systems|stacks) names=(${${(f)\"$($kerf $kind 2>/dev/null)\"}[2,-1]%% *}) ;;\n"
    "    schedules) for line in ${(f)\"$($kerf schedule --list 2>/dev/null)\"}; do\n"
    "            if [[ $line == [^\\ ]*:* ]]; then names+=(${line%%:*}); fi\n"
    "        done ;;\n"
    "    studies) names=(${${(f)\"$($kerf studies --format csv 2>/dev/null)\"}[2,-1]%%,*}) ;;\n"
    "    jobs) names=(${${(f)\"$($kerf jobs list --format csv --timeout 2 $server 2>/dev/null)\"}[2,-1]%%,*}) ;;\n"
    "    esac\n"
    "    compadd \"$@\" -a names\n"
    "}\n"
    "\n"
    "_kerf_list() {\n"
    "    compset -P '*,'\n"
    "    _kerf_names -q -S '' \"$@\"\n"
    "}\n"
    "\n"
    "_kerf_list_of_words() {\n"
    "    compset -P '*,'\n"
    "    compadd -q -S '' \"$@\"\n"
    "}\n"
    "\n"
    "_kerf_names_or_files() { _kerf_names \"$@\" || _files; }\n"
    "\n"
    "_kerf_list_or_files() { _kerf_list \"$@\" || _files; }\n"
    "\n"
    "# The first of the given uses that was typed, in $use.\n"
    "_kerf_use() {\n"
    "    local word\n"
    "    use=''\n"
    "    for word in ${words[2,CURRENT-1]}; do\n"
    "        if (( ${@[(Ie)$word]} )); then use=$word; return; fi\n"
    "    done\n"
    "}\n";

/* Text between quotes of a specification, where colons and brackets have a meaning. */
static void description(struct kerf_text *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            kerf_text_add(out, "'\\''");
        else if (strchr("[]:\\", text[i]))
            kerf_text_printf(out, "\\%c", text[i]);
        else
            kerf_text_write(out, text + i, 1);
    }
}

/* What _arguments does to complete the value; a space: it shows only what is wanted. Between quotes. */
static void action(struct kerf_text *out, const struct completion_value *value) {
    if (value->names && strcmp(value->names, "commands") == 0) {
        kerf_text_add(out, "_kerf_commands");
    } else if (value->names) {
        kerf_text_printf(out, "_kerf_%s%s %s", value->is_list ? "list" : "names", value->takes_files ? "_or_files" : "",
                         value->names);
    } else if (value->choices) {
        kerf_text_add(out, value->is_list ? "_kerf_list_of_words " : "(");
        for (const char *c = value->choices; *c; c++) {
            if (*c == ',')
                kerf_text_add(out, " ");
            else
                description(out, c, 1);
        }
        if (!value->is_list) kerf_text_add(out, ")");
    } else {
        kerf_text_add(out, value->takes_folders ? "_files -/" : value->takes_files ? "_files" : " ");
    }
}

/* One line of the list: '(-o --output)'{-o+,--output=}'[Where it goes]:FILE:_files'. */
static void option_line(struct kerf_text *out, const struct option *option) {
    const int is_flag = option->type == OPTION_FLAG, is_many = option->type == OPTION_STRINGS;
    const struct completion_value value = completion_of_option(option);
    kerf_text_add(out, "        ");
    if (option->letter) {
        if (is_many)
            kerf_text_add(out, "'*'");
        else
            kerf_text_printf(out, "'(-%c --%s)'", option->letter, option->name);
        kerf_text_printf(out, "{-%c%s,--%s%s}'", option->letter, is_flag ? "" : "+", option->name, is_flag ? "" : "=");
    } else {
        kerf_text_printf(out, "'%s--%s%s", is_many ? "*" : "", option->name, is_flag ? "" : "=");
    }
    kerf_text_add(out, "[");
    description(out, option->help, completion_sentence(option->help));
    kerf_text_add(out, "]");
    if (!is_flag) {
        kerf_text_add(out, ":");
        description(out, option->value, strlen(option->value));
        kerf_text_add(out, ":");
        action(out, &value);
    }
    kerf_text_add(out, "'\n");
}

/* The arguments and options of one use; NULL: none was typed. */
static void use_lines(struct kerf_text *out, const struct command *command, const struct command_use *use) {
    const int has_uses = completion_has_uses(command), runs = completion_runs_a_program(command, use);
    const struct completion_value value = completion_of_arguments(command, use);
    const int takes = value.names || value.choices || value.takes_files || value.takes_folders;
    kerf_text_add(out, "        _arguments -s -S $help \\\n");
    if (use == NULL && has_uses) {
        kerf_text_printf(out, "            '1: :_kerf_%s_first' \\\n", command->name);
        if (runs) kerf_text_add(out, "            '*:: :_normal' \\\n");
    } else {
        const char *first = "1";
        if (use) {
            kerf_text_printf(out, "            '1: :(%s)' \\\n", use->name);
            first = "2";
        }
        if (takes) {
            kerf_text_printf(out, "            '%s: :", runs ? first : "*");
            action(out, &value);
            kerf_text_add(out, "' \\\n");
        }
        if (runs) kerf_text_add(out, "            '*:: :_normal' \\\n");
    }
    kerf_text_add(out, "            $options\n");
}

static void options_of(struct kerf_text *out, const struct command *command, const struct command_use *use) {
    kerf_text_add(out, "        options=(\n");
    for (const struct option *option = command->options; option && option->name; option++) {
        if (!completion_offers(command, option, use)) continue;
        kerf_text_add(out, "    ");
        option_line(out, option);
    }
    kerf_text_add(out, "        )\n");
    use_lines(out, command, use);
}

/* What the first argument can be before a use is typed: the names of uses, and what the command takes itself. */
static void first_function(struct kerf_text *out, const struct command *command) {
    const struct completion_value value = completion_of_arguments(command, NULL);
    kerf_text_printf(out, "\n_kerf_%s_first() {\n    local -a uses=(", command->name);
    const char *space = "";
    for (const struct command_use *use = command->uses; use && use->name; use++) {
        if (!completion_is_typed(use)) continue;
        kerf_text_printf(out, "%s%s", space, use->name);
        space = " ";
    }
    kerf_text_add(out, ")\n    compadd \"$@\" -a uses\n");
    if (value.names)
        kerf_text_printf(out, "    _kerf_names%s \"$@\" %s\n", value.takes_files ? "_or_files" : "", value.names);
    else if (value.takes_files)
        kerf_text_add(out, "    _files\n");
    kerf_text_add(out, "}\n");
}

static void command_function(struct kerf_text *out, const struct command *command) {
    if (completion_has_uses(command)) first_function(out, command);
    kerf_text_printf(out, "\n_kerf_%s() {\n    local use\n    local -a options\n    _kerf_use", command->name);
    for (const struct command_use *use = command->uses; use && use->name; use++)
        if (completion_is_typed(use)) kerf_text_printf(out, " %s", use->name);
    kerf_text_add(out, "\n    case $use in\n");
    for (const struct command_use *use = command->uses; use && use->name; use++) {
        if (!completion_is_typed(use)) continue;
        kerf_text_printf(out, "    %s)\n", use->name);
        options_of(out, command, use);
        kerf_text_add(out, "        ;;\n");
    }
    kerf_text_add(out, "    *)\n");
    options_of(out, command, NULL);
    kerf_text_add(out, "        ;;\n    esac\n}\n");
}

void commands_zsh(struct kerf_text *out, const struct command *const *commands, size_t count) {
    kerf_text_add(out, script_begin);
    kerf_text_add(out, "\n_kerf_commands() {\n    local -a commands=(\n");
    for (size_t i = 0; i < count; i++) {
        kerf_text_printf(out, "        '%s:", commands[i]->name);
        description(out, commands[i]->summary, strlen(commands[i]->summary));
        kerf_text_add(out, "'\n");
    }
    kerf_text_add(out, "    )\n    _describe -t commands command commands\n}\n");
    for (size_t i = 0; i < count; i++) command_function(out, commands[i]);
    kerf_text_add(out, "\n_kerf() {\n"
                       "    local kerf=${(Q)words[1]} curcontext=$curcontext\n"
                       "    local -a help=('(- *)'{-h,--help}'[Print help.]')\n"
                       "    kerf=${kerf/#\\~/$HOME}\n"
                       "    if (( CURRENT == 2 )); then\n"
                       "        _arguments -s -S $help '(- *)--version[Print the version.]' '1: :_kerf_commands'\n"
                       "        return\n"
                       "    fi\n"
                       "    shift words\n"
                       "    (( CURRENT-- ))\n"
                       "    case $words[1] in\n");
    for (size_t i = 0; i < count; i++)
        kerf_text_printf(out, "    %s) _kerf_%s ;;\n", commands[i]->name, commands[i]->name);
    kerf_text_add(out, "    esac\n"
                       "}\n"
                       "\n"
                       "if [[ $funcstack[1] == _kerf ]]; then _kerf \"$@\"; else compdef _kerf kerf; fi\n");
}
