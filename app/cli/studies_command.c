/* SPDX-License-Identifier: Apache-2.0 */
/* kerf studies: what `kerf tune` measured and kept. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/command.h"
#include "cli/llama_preset.h"
#include "cli/studies_print.h"
#include "cli/terminal.h"

struct studies_options {
    struct string_list words, outputs;
    const char *format, *policy;
};

#define AT(field) .offset = offsetof(struct studies_options, field)
static const struct option options[] = {
    {.name = "policy",
     .type = OPTION_CHOICE,
     AT(policy),
     .value = "NAME",
     .choices = "kerf,race,exhaustive,random,halving,best_bub,null",
     .uses = "replay",
     .help = "What decides (default: what decided then)."},
    {.name = "format",
     .letter = 'f',
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORM",
     .choices = "table,json,csv,markdown",
     .help = "What is printed (default: table); of `export` csv, or json, which is its default."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_STRINGS,
     AT(outputs),
     .value = "FILE",
     .help =
         "Write FILE too, in the format of its name; `show` draws .svg .png .pdf .html. May be given several times."},
    {.name = NULL},
};

static const char *const examples[] = {
    "What there is",
    "kerf studies",
    "What one of them found",
    "kerf studies show 20261121-213002-5f1c",
    "Every measurement of it, for another program",
    "kerf studies export 20261121-213002-5f1c --format csv",
    "Whether today's kerf decides as that one did",
    "kerf studies replay 20261121-213002-5f1c",
    NULL,
};

static const struct command_use uses[] = {
    {"list", "[list]"}, {"show", "show STUDY"}, {"export", "export STUDY"}, {"replay", "replay STUDY"}, {NULL, NULL}};

static const struct command_exit exits[] = {
    {"0", "answered"}, {"2", "bad usage, or there is no such study"}, {"3", "failed while running"}, {NULL, NULL}};

static const struct command table = {
    .name = "studies",
    .summary = "what kerf tune measured, and what it found",
    .description =
        "`kerf tune` keeps each study as a file of JSON lines in $KERF_STUDIES, else in $XDG_STATE_HOME/kerf/studies, "
        "else in ~/.local/state/kerf/studies; a study is deleted by deleting its file. STUDY is its name, or the path "
        "of such a file.\n\n"
        "`show` prints what the study found, as `kerf tune` did. `export` prints every measurement. `replay` tells the "
        "decision one measurement after the other again, and prints what it would have measured next beside what was "
        "measured.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct studies_options, words),
    .uses = uses,
    .exits = exits,
};

/* ---- list ---------------------------------------------------------------------------------------------------- */

static int32_t list(const struct render *asked, struct kerf_error *err) {
    struct studies_list found = {0};
    struct kerf_study_strings ids;
    struct render render = *asked;
    int32_t code = kerf_study_ids(&ids, err);
    if (code != KERF_OK) return code;
    found.records = calloc((size_t)ids.count + 1, sizeof(void *));
    if (found.records == NULL) code = kerf_error_set(err, KERF_ENOMEM, "not enough memory");
    for (int32_t i = 0; i < ids.count && code == KERF_OK; i++) {
        struct kerf_error why;
        char line[sizeof why.file + sizeof why.message + 32];
        if (kerf_study_record_read(ids.items[i], &found.records[found.count], &why) == KERF_OK) {
            found.count++;
            continue;
        }
        kerf_error_format(&why, line, sizeof line);
        fprintf(stderr, "kerf: %s\n", line);
    }
    render.formats = studies_list_formats;
    render.write = print_studies_list;
    render.context = &found;
    if (code == KERF_OK) code = render_check(&render, err);
    if (code == KERF_OK) code = render_all(&render, err);
    for (int32_t i = 0; i < found.count; i++) kerf_study_record_free(found.records[i]);
    free(found.records);
    kerf_study_ids_free(&ids);
    return code;
}

/* ---- One study ------------------------------------------------------------------------------------------------ */

static int32_t show(const struct render *asked, const struct kerf_study_record *record, struct kerf_error *err) {
    struct tune_report report = {0};
    struct llama_preset llama = {0};
    struct kerf_study_state *state = NULL;
    struct render render = *asked;
    render.formats = tune_formats;
    render.write = print_tune;
    render.context = &report;
    int32_t code = render_check(&render, err);
    if (code == KERF_OK) code = kerf_study_replay(record, NULL, &state, err);
    if (code == KERF_OK && record->stopped[0] == 0)
        snprintf(state->reason, sizeof state->reason, "it was killed, or runs still");
    if (code == KERF_OK) code = tune_report_make(state, &report, err);
    if (record->request.preset && llama_preset_recall(&record->request, &llama, NULL) == KERF_OK) report.llama = &llama;
    if (code == KERF_OK) code = render_all(&render, err);
    kerf_study_state_free(state);
    llama_preset_free(&llama);
    return code;
}

static int32_t export(const struct render *asked, const struct kerf_study_record *record, struct kerf_error *err) {
    struct render render = *asked;
    render.formats = studies_export_formats;
    render.write = print_study_export;
    render.context = (void *)(uintptr_t)record;
    if (asked->format == NULL) render.format = "json";
    int32_t code = render_check(&render, err);
    return code == KERF_OK ? render_all(&render, err) : code;
}

static int32_t replay(const struct render *asked, const struct kerf_study_record *record, const char *policy,
                      struct kerf_error *err) {
    struct studies_replay steps = {.record = record, .policy = policy ? policy : record->request.policy};
    struct render render = *asked;
    render.formats = studies_list_formats;
    render.write = print_study_replay;
    render.context = &steps;
    int32_t code = render_check(&render, err);
    if (code == KERF_OK) code = studies_replay_make(&steps, err);
    if (code == KERF_OK) code = render_all(&render, err);
    studies_replay_free(&steps);
    return code;
}

static int32_t answer(const struct studies_options *values, struct kerf_error *err) {
    const struct string_list *words = &values->words;
    struct render render = {.format = values->format, .outputs = &values->outputs};
    const char *verb = words->count ? words->items[0] : "list";
    struct kerf_study_record *record = NULL;
    int is_show = strcmp(verb, "show") == 0, is_export = strcmp(verb, "export") == 0;
    if (!is_export && render.format == NULL) render.format = "table";
    if (strcmp(verb, "list") == 0) {
        if (words->count > 1)
            return kerf_error_set(err, KERF_EINVALID, "`kerf studies list` takes no '%.64s'; `kerf studies show` does",
                                  words->items[1]);
        return list(&render, err);
    }
    if (!is_show && !is_export && strcmp(verb, "replay") != 0)
        return kerf_error_set(err, KERF_EUNKNOWN,
                              "kerf studies lists, shows, exports or replays, and does not know '%.64s'", verb);
    if (words->count != 2)
        return kerf_error_set(err, KERF_EINVALID, "name one study: kerf studies %s STUDY; `kerf studies` lists them",
                              verb);
    int32_t code = kerf_study_record_read(words->items[1], &record, err);
    if (code == KERF_OK)
        code = is_show     ? show(&render, record, err)
               : is_export ? export(&render, record, err)
                           : replay(&render, record, values->policy, err);
    kerf_study_record_free(record);
    return code;
}

static int run(int argc, char **argv) {
    struct studies_options values = {.format = NULL};
    struct kerf_error err;
    int status = cli_parse(&studies_cli, argc, argv, &values);
    if (status >= 0) return status;
    int32_t code = answer(&values, &err);
    options_free(&table, &values);
    return code == KERF_OK ? EXIT_ANSWERED : cli_fail(&err);
}

const struct cli_command studies_cli = {&table, run};
