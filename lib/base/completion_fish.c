/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a completion script for fish, 3 and later, from the option tables: one `complete` for each option of each
 * command, under the condition that this command, and one of the option's uses, was typed. */
#include "base/completion.h"

#include <string.h>

static const char script_begin[] =
    "# Completion of kerf " KERF_VERSION_TEXT " in fish: kerf.fish in a folder for completions.\n"
    "\n"
    "# The uses of a command that are typed.\n"
    "function __kerf_uses\n"
    "    switch $argv[1]\n";

static const char script_functions[] =
    "    end\n"
    "end\n"
    "\n"
    "# Whether the command, and one of the uses if any are named, was typed; '' is no use.\n"
    "function __kerf_at\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) -ge 2; and test \"$words[2]\" = $argv[1]; or return 1\n"
    "    set -e words[1..2]\n"
    "    contains -- -- $words; and return 1\n"
    "    test (count $argv) -eq 1; and return 0\n"
    "    set -l use ''\n"
    "    set -l uses (__kerf_uses $argv[1])\n"
    "    for word in $words\n"
    "        if contains -- $word $uses\n"
    "            set use $word\n"
    "            break\n"
    "        end\n"
    "    end\n"
    "    contains -- \"$use\" $argv[2..-1]\n"
    "end\n"
    "\n"
    "# Whether a program's command line is typed, after --.\n"
    "function __kerf_program\n"
    "    contains -- -- (commandline -opc)\n"
    "end\n"
    "\n"
    "# The names of a kind that kerf lists.\n"
    "function __kerf_names\n"
    "    set -l words (commandline -opc)\n"
    "    set -l kerf (string replace -r '^~' $HOME -- $words[1])\n"
    "    switch $argv[1]\n"
    "        case models systems stacks\n"
    "            $kerf $argv[1] 2>/dev/null | string match -rg '^(\\S+)' | tail -n +2\n"
    "        case schedules\n"
    "            $kerf schedule --list 2>/dev/null | string match -rg '^(\\w+):'\n"
    "        case studies\n"
    "            $kerf studies --format csv 2>/dev/null | string match -rg '^([^,]+)' | tail -n +2\n"
    "        case jobs\n"
    "            set -l server (string match -rg -- '--server[= ]+(\\S+)' (commandline -p | string collect))\n"
    "            if set -q server[1]\n"
    "                set server --server $server[1]\n"
    "            end\n"
    "            $kerf jobs list --format csv --timeout 2 $server 2>/dev/null | string match -rg '^([^,]+)' | tail -n "
    "+2\n"
    "    end\n"
    "end\n"
    "\n"
    "# Words behind what was typed of a list with commas.\n"
    "function __kerf_list\n"
    "    set -l typed (commandline -ct | string replace -r '^--[^=]*=' '' | string replace -r '[^,]*$' '')\n"
    "    for name in $argv\n"
    "        echo $typed$name\n"
    "    end\n"
    "end\n"
    "\n"
    "complete -c kerf -f\n"
    "complete -c kerf -n __kerf_program -F\n"
    "complete -c kerf -s h -l help -d 'Print help'\n"
    "complete -c kerf -n __fish_use_subcommand -l version -d 'Print the version'\n";

/* In single quotes, where a backslash and a quote have a meaning. */
static void quoted(struct kerf_text *out, const char *text, size_t length) {
    kerf_text_add(out, "'");
    for (size_t i = 0; i < length; i++) kerf_text_printf(out, strchr("'\\", text[i]) ? "\\%c" : "%c", text[i]);
    kerf_text_add(out, "'");
}

/* What is offered: -a 'table json', -a '(__kerf_names models)', -F for files. */
static void offer(struct kerf_text *out, const struct completion_value *value) {
    if (value->names) {
        kerf_text_printf(out, value->is_list ? " -a '(__kerf_list (__kerf_names %s))'" : " -a '(__kerf_names %s)'",
                         value->names);
    } else if (value->choices) {
        struct kerf_text words = {0};
        kerf_text_add(&words, value->choices);
        for (size_t i = 0; i < words.length; i++)
            if (words.data[i] == ',') words.data[i] = ' ';
        kerf_text_add(out, value->is_list ? " -a '(__kerf_list " : " -a '");
        kerf_text_add(out, words.data ? words.data : "");
        kerf_text_add(out, value->is_list ? ")'" : "'");
        out->failed |= words.failed;
        kerf_text_free(&words);
    } else if (value->takes_folders) {
        kerf_text_add(out, " -a '(__fish_complete_directories)'");
    }
    if (value->takes_files) kerf_text_add(out, " -F");
}

/* The condition: the command, and those of its uses, as far as they are typed, that offer the option. */
static void condition(struct kerf_text *out, const struct command *command, const struct option *option) {
    kerf_text_printf(out, "complete -c kerf -n '__kerf_at %s", command->name);
    if (option->uses && completion_has_uses(command)) {
        if (completion_offers(command, option, NULL)) kerf_text_add(out, " \"\"");
        for (const struct command_use *use = command->uses; use->name; use++)
            if (completion_is_typed(use) && completion_offers(command, option, use))
                kerf_text_printf(out, " %s", use->name);
    }
    kerf_text_add(out, "'");
}

static void option_line(struct kerf_text *out, const struct command *command, const struct option *option) {
    condition(out, command, option);
    kerf_text_printf(out, " -l %s", option->name);
    if (option->letter) kerf_text_printf(out, " -s %c", option->letter);
    if (option->type != OPTION_FLAG) {
        const struct completion_value value = completion_of_option(option);
        kerf_text_add(out, value.takes_files ? " -r" : " -x");
        offer(out, &value);
    }
    kerf_text_add(out, " -d ");
    quoted(out, option->help, completion_sentence(option->help));
    kerf_text_add(out, "\n");
}

/* Names of uses before one is typed, then what a use takes. */
static void argument_lines(struct kerf_text *out, const struct command *command) {
    const int has_uses = completion_has_uses(command);
    for (const struct command_use *use = command->uses; use && use->name; use++) {
        if (!completion_is_typed(use)) continue;
        kerf_text_printf(out, "complete -c kerf -n '__kerf_at %s \"\"' -a %s\n", command->name, use->name);
        const struct completion_value value = completion_of_arguments(command, use);
        if (!value.names && !value.choices && !value.takes_files && !value.takes_folders) continue;
        kerf_text_printf(out, "complete -c kerf -n '__kerf_at %s %s'", command->name, use->name);
        offer(out, &value);
        kerf_text_add(out, "\n");
    }
    const struct completion_value value = completion_of_arguments(command, NULL);
    if (!value.names && !value.choices && !value.takes_files && !value.takes_folders) return;
    if (value.names && strcmp(value.names, "commands") == 0) return; /* written by who has the list */
    kerf_text_printf(out, "complete -c kerf -n '__kerf_at %s%s'", command->name, has_uses ? " \"\"" : "");
    offer(out, &value);
    kerf_text_add(out, "\n");
}

void commands_fish(struct kerf_text *out, const struct command *const *commands, size_t count) {
    kerf_text_add(out, script_begin);
    for (size_t i = 0; i < count; i++) {
        if (!completion_has_uses(commands[i])) continue;
        kerf_text_printf(out, "        case %s\n            printf '%%s\\n'", commands[i]->name);
        for (const struct command_use *use = commands[i]->uses; use->name; use++)
            if (completion_is_typed(use)) kerf_text_printf(out, " %s", use->name);
        kerf_text_add(out, "\n");
    }
    kerf_text_add(out, script_functions);
    for (size_t i = 0; i < count; i++) {
        kerf_text_printf(out, "complete -c kerf -n __fish_use_subcommand -a %s -d ", commands[i]->name);
        quoted(out, commands[i]->summary, strlen(commands[i]->summary));
        kerf_text_printf(out, "\ncomplete -c kerf -n '__kerf_at help' -a %s\n", commands[i]->name);
    }
    for (size_t i = 0; i < count; i++) {
        kerf_text_printf(out, "\n# kerf %s\n", commands[i]->name);
        argument_lines(out, commands[i]);
        for (const struct option *option = commands[i]->options; option && option->name; option++)
            option_line(out, commands[i], option);
    }
}
