/* SPDX-License-Identifier: Apache-2.0 */
/* kerf studies list and export. */
#include <math.h>
#include <string.h>
#include "base/quantity.h"
#include "cli/flat_cells.h"
#include "cli/studies_print.h"
#include "cli/terminal.h"

const struct render_format studies_list_formats[] = {{.name = "table", .ending = "txt"},
                                                     {.name = "json", .ending = "json"},
                                                     {.name = "csv", .ending = "csv"},
                                                     {.name = "markdown", .ending = "md"},
                                                     {.name = NULL}};
const struct render_format studies_export_formats[] = {
    {.name = "json", .ending = "json"}, {.name = "csv", .ending = "csv"}, {.name = NULL}};

static const char *stopped(const struct kerf_study_record *record) {
    return record->stopped[0] ? record->stopped : "unfinished";
}

/* The words of the command as one, with a mark in the place of what could break a line. */
static void command_words(struct kerf_text *out, const struct kerf_study_record *record, const char *bad) {
    for (int32_t i = 0; i < record->request.words.count; i++) {
        if (i) kerf_text_add(out, " ");
        for (const char *c = record->request.words.items[i]; *c; c++)
            kerf_text_write(out, strchr(bad, *c) ? "?" : c, 1);
    }
}

/* ---- The list ------------------------------------------------------------------------------------------------ */

static void list_rows(const struct studies_list *list, struct kerf_text *cells) {
    kerf_text_add(cells, "study\tbegan\tended\truns\ttime\tcommand\n");
    for (int32_t i = 0; i < list->count; i++) {
        const struct kerf_study_record *record = list->records[i];
        char began[KERF_STUDY_TIME_SIZE];
        kerf_study_time_write(record->began_s, began);
        kerf_text_printf(cells, "%s\t%s\t%s\t%d\t", record->id, began, stopped(record), record->num_entries);
        quantity_seconds(cells, record->elapsed_s);
        kerf_text_add(cells, "\t");
        command_words(cells, record, "\t\n\r\033");
        kerf_text_add(cells, "\n");
    }
}

/* style NULL: as Markdown */
static void list_table(const struct studies_list *list, struct kerf_text *out, const struct render_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {0, 2}, {0, 0}, {1, 1}, {1, 3}, {0, 0}};
    struct kerf_text cells = {0};
    if (list->count == 0) {
        kerf_text_add(out, "No studies yet; `kerf help tune` tells how to make one.\n");
        return;
    }
    list_rows(list, &cells);
    if (style)
        terminal_table(out, &cells, columns, style->columns, style->colour, -1);
    else
        markdown_table(out, &cells);
    if (cells.failed) out->failed = 1;
    kerf_text_free(&cells);
}

static void list_json(const struct studies_list *list, struct kerf_text *out) {
    struct kerf_json json = {0};
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_open(&json, "studies", '[');
    for (int32_t i = 0; i < list->count; i++) {
        const struct kerf_study_record *record = list->records[i];
        char began[KERF_STUDY_TIME_SIZE];
        kerf_study_time_write(record->began_s, began);
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "study", record->id);
        kerf_json_string(&json, "key", record->key);
        kerf_json_string(&json, "began", began);
        kerf_json_string(&json, "stopped", record->stopped[0] ? record->stopped : NULL);
        kerf_json_integer(&json, "observations", record->num_entries);
        kerf_json_number(&json, "elapsed_s", record->elapsed_s);
        kerf_json_open(&json, "request", '{');
        kerf_study_request_write(&record->request, &json);
        kerf_json_close(&json, '}');
        kerf_json_close(&json, '}');
    }
    kerf_json_close(&json, ']');
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}

static void list_csv(const struct studies_list *list, struct kerf_text *out) {
    struct kerf_text command = {0};
    kerf_text_add(out, "study,began,stopped,observations,elapsed_s,command\n");
    for (int32_t i = 0; i < list->count; i++) {
        const struct kerf_study_record *record = list->records[i];
        char began[KERF_STUDY_TIME_SIZE];
        kerf_study_time_write(record->began_s, began);
        kerf_text_printf(out, "%s,%s,%s,%d,", record->id, began, stopped(record), record->num_entries);
        kerf_text_number(out, record->elapsed_s);
        kerf_text_add(out, ",");
        kerf_text_clear(&command);
        command_words(&command, record, "");
        csv_text(out, command.data ? command.data : "");
        kerf_text_add(out, "\n");
    }
    if (command.failed) out->failed = 1;
    kerf_text_free(&command);
}

int32_t print_studies_list(void *context, struct kerf_text *out, const struct render_format *format,
                           const struct render_style *style, struct kerf_error *err) {
    (void)err;
    if (strcmp(format->name, "json") == 0)
        list_json(context, out);
    else if (strcmp(format->name, "csv") == 0)
        list_csv(context, out);
    else
        list_table(context, out, strcmp(format->name, "markdown") == 0 ? NULL : style);
    return KERF_OK;
}

/* ---- Every measurement --------------------------------------------------------------------------------------- */

static void export_json(const struct kerf_study_record *record, struct kerf_text *out) {
    struct kerf_json json = {0};
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_string(&json, "study", record->id);
    kerf_json_string(&json, "stopped", record->stopped[0] ? record->stopped : NULL);
    kerf_json_open(&json, "request", '{');
    kerf_study_request_write(&record->request, &json);
    kerf_json_close(&json, '}');
    kerf_json_open(&json, "observations", '[');
    for (int32_t i = 0; i < record->num_entries; i++) {
        kerf_json_open(&json, NULL, '{');
        kerf_json_integer(&json, "n", i + 1);
        kerf_tune_setting_json(&json, "setting", record->space, record->entries[i].result.observation.setting);
        kerf_study_entry_members(&json, &record->entries[i]);
        kerf_json_close(&json, '}');
    }
    kerf_json_close(&json, ']');
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}

static void export_csv(const struct kerf_study_record *record, struct kerf_text *out) {
    const struct kerf_tune_space *space = record->space;
    static const char titles[] = "n,outcome,failure,value,start_s,end_s,slot,warmup,disturbed,load_s,wall_s,cpu_s,"
                                 "peak_bytes,others,steal,pressure,frequency,others_between";
    kerf_text_add(out, "n,");
    for (int32_t p = 0; p < space->num_params; p++) {
        csv_param(out, space->params[p].name, titles);
        kerf_text_add(out, ",");
    }
    kerf_text_printf(out, "%s\n", titles + 2);
    for (int32_t i = 0; i < record->num_entries; i++) {
        const struct kerf_trial_result *result = &record->entries[i].result;
        const struct kerf_tune_observation *seen = &result->observation;
        kerf_text_printf(out, "%d", i + 1);
        for (int32_t p = 0; p < space->num_params; p++) {
            int32_t value = space->values[seen->setting * space->num_params + p];
            kerf_text_add(out, ",");
            csv_text(out, kerf_tune_value_word(&space->params[p], value));
        }
        kerf_text_printf(out, ",%s,%s", kerf_study_outcome_word(seen->outcome), kerf_tune_failure_word(seen->failure));
        csv_number(out, seen->outcome == KERF_TUNE_FAILED ? NAN : seen->value);
        csv_number(out, seen->start_s);
        csv_number(out, seen->end_s);
        kerf_text_printf(out, ",%d,%d,%d", seen->slot, seen->warmup, seen->disturbed);
        csv_number(out, result->load_s);
        csv_number(out, result->wall_s);
        csv_number(out, result->cpu_s);
        csv_number(out, result->peak_bytes ? (double)result->peak_bytes : NAN);
        csv_number(out, result->machine.others);
        csv_number(out, result->machine.steal);
        csv_number(out, result->machine.pressure);
        csv_number(out, result->machine.frequency);
        csv_number(out, result->machine.between);
        kerf_text_add(out, "\n");
    }
}

int32_t print_study_export(void *context, struct kerf_text *out, const struct render_format *format,
                           const struct render_style *style, struct kerf_error *err) {
    (void)style;
    (void)err;
    if (strcmp(format->name, "csv") == 0)
        export_csv(context, out);
    else
        export_json(context, out);
    return KERF_OK;
}
