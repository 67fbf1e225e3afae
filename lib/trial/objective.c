/* SPDX-License-Identifier: Apache-2.0 */
/* Where the number of a trial comes from: a clock, the system's account of the program, or what the program printed. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/number.h"
#include "trial/trial_slot.h"

enum { SEARCHED_AT_ONCE = 1 << 18 }; /* bytes of lines in which the last match is looked for */

static const char *const objective_names[] = {"wall time", "CPU time", "memory", "regex", "JSON", "value"};

/* ---- Checking ------------------------------------------------------------------------------------------------ */

static int32_t check_regex(struct kerf_trial_runner *runner, struct kerf_error *err) {
    char why[200];
    int number = regcomp(&runner->regex, runner->command.pattern, REG_EXTENDED);
    if (number != 0) {
        regerror(number, &runner->regex, why, sizeof why);
        return kerf_error_set(err, KERF_EINVALID, "the expression \"%.100s\" cannot be read: %s",
                              runner->command.pattern, why);
    }
    runner->has_regex = 1;
    if (runner->regex.re_nsub > 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "the expression \"%.100s\" has no group; put the number in ( )",
                          runner->command.pattern);
}

int32_t objective_check(const struct trial_protocol *protocol, struct kerf_trial_runner *runner,
                        struct kerf_error *err) {
    int32_t objective = runner->command.objective;
    int has_pattern = runner->command.pattern && *runner->command.pattern;
    if (objective < KERF_TRIAL_WALL || objective > KERF_TRIAL_VALUE)
        return kerf_error_set(err, KERF_EINVALID, "there is no objective %d", (int)objective);
    if (!(protocol->objectives & OBJECTIVE_BIT(objective))) {
        struct kerf_text known = {0};
        for (int32_t i = 0; i <= KERF_TRIAL_VALUE; i++)
            if (protocol->objectives & OBJECTIVE_BIT(i))
                kerf_text_printf(&known, "%s%s", known.length ? ", " : "", objective_names[i]);
        kerf_error_set(err, KERF_EINVALID, "the protocol %s cannot measure %s; it can measure %s", protocol->about.name,
                       objective_names[objective], known.failed ? "something else" : known.data);
        kerf_text_free(&known);
        return KERF_EINVALID;
    }
    if (objective != KERF_TRIAL_REGEX && objective != KERF_TRIAL_JSON) return KERF_OK;
    if (!has_pattern)
        return kerf_error_set(err, KERF_EINVALID, "the objective %s needs %s", objective_names[objective],
                              objective == KERF_TRIAL_REGEX ? "an expression" : "a path");
    if (objective == KERF_TRIAL_REGEX) return check_regex(runner, err);
    runner->captures = 1;
    if (json_path_is_valid(runner->command.pattern)) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "\"%.100s\" is not a path; one is results.0.seconds",
                          runner->command.pattern);
}

/* ---- Lines --------------------------------------------------------------------------------------------------- */

/* Of a text that has blanks around it at most. 1: it is a finite number; -1: it is NaN, or infinite; 0: something else. */
static int whole_number(const char *text, double *ret_value) {
    char *end;
    *ret_value = number_read(text, &end);
    if (end == text || end[strspn(end, " \t")]) return 0;
    return isfinite(*ret_value) ? 1 : -1;
}

/* Of the last match in the line. 0: there is none; 1: its group is *ret_value; -1: it is not a number, as why says. */
static int match(const struct kerf_trial_runner *runner, const char *line, double *ret_value, char *why, size_t size) {
    regmatch_t groups[2];
    char text[128];
    const char *found = NULL;
    size_t length = 0;
    for (const char *at = line; regexec(&runner->regex, at, 2, groups, at > line ? REG_NOTBOL : 0) == 0;) {
        if (groups[1].rm_so >= 0) found = at + groups[1].rm_so, length = (size_t)(groups[1].rm_eo - groups[1].rm_so);
        at += groups[0].rm_eo > 0 ? groups[0].rm_eo : 1;
        if (at[-1] == 0 || *at == 0) break;
    }
    if (found == NULL) return 0;
    if (length >= sizeof text) length = sizeof text - 1;
    memcpy(text, found, length);
    text[length] = 0;
    if (whole_number(text, ret_value) > 0) return 1;
    char quoted[100];
    quote_line(text, quoted, sizeof quoted);
    snprintf(why, size, "the expression found \"%s\", which is not a number", quoted);
    return -1;
}

static void out_of_memory(struct slot *slot) {
    slot_failed(slot, KERF_TUNE_FAILURE_OTHER, "kerf has not enough memory for its output");
}

void objective_capture(struct slot *slot, const char *line, size_t length) {
    struct kerf_text *captured = &slot->trial.captured;
    int is_cut_line = length >= LINE_MAX_BYTES, is_full = captured->length + length > 2 * CAPTURED_MAX_BYTES;
    slot->trial.is_cut |= is_cut_line || is_full;
    if (is_cut_line) { /* no value before it is the last */
        kerf_text_clear(captured);
        return;
    }
    if (is_full) {
        memmove(captured->data, captured->data + captured->length - CAPTURED_MAX_BYTES, CAPTURED_MAX_BYTES);
        captured->length = CAPTURED_MAX_BYTES;
    }
    kerf_text_write(captured, line, length);
    kerf_text_write(captured, "\n", 1);
    if (captured->failed) out_of_memory(slot);
}

/* Only the last match counts: from the last line on back, a program may print megabytes of them. */
static void search_lines(struct slot *slot) {
    struct trial *trial = &slot->trial;
    struct kerf_text *lines = &trial->unsearched;
    int found = 0;
    for (size_t end = lines->length; end > 0 && found == 0;) {
        const char *nul = end > 1 ? memrchr(lines->data, 0, end - 1) : NULL, *line = nul ? nul + 1 : lines->data;
        found = match(slot->runner, line, &trial->found, trial->odd, sizeof trial->odd);
        end = (size_t)(line - lines->data);
    }
    if (found != 0) trial->has_found = found > 0;
    kerf_text_clear(lines);
}

void objective_line(struct slot *slot, enum program_stream stream, char *line, size_t length, double now_s) {
    (void)stream;
    (void)now_s;
    struct kerf_text *lines = &slot->trial.unsearched;
    if (slot->runner->command.objective != KERF_TRIAL_REGEX) return;
    kerf_text_write(lines, line, length + 1);
    if (lines->failed) out_of_memory(slot);
    if (lines->length >= SEARCHED_AT_ONCE) search_lines(slot);
}

int objective_sample(const struct slot *slot, const char *line, size_t length, double *ret_value, char *why,
                     size_t size) {
    const struct kerf_trial_runner *runner = slot->runner;
    int found = 0;
    switch (runner->command.objective) {
    case KERF_TRIAL_REGEX: return match(runner, line, ret_value, why, size);
    case KERF_TRIAL_JSON: {
        json_t *value = json_last_value(line, length, length >= LINE_MAX_BYTES, why, size);
        found = value ? json_path_number(value, runner->command.pattern, ret_value, why, size) : why[0] ? -1 : 0;
        json_decref(value);
        return found;
    }
    default:
        found = whole_number(line, ret_value);
        if (found < 0) snprintf(why, size, "%.60s is not a finite number", line);
        return found;
    }
}

/* ---- The end ------------------------------------------------------------------------------------------------- */

static void find_json(struct slot *slot) {
    char why[160];
    double number;
    json_t *value = slot_captured_json(slot, why, sizeof why);
    if (value && json_path_number(value, slot->runner->command.pattern, &number, why, sizeof why) > 0)
        slot_value(slot, number);
    else
        slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "%s", why);
    json_decref(value);
}

void objective_over(struct slot *slot) {
    struct trial *trial = &slot->trial;
    const struct kerf_trial_result *result = &trial->result;
    switch (slot->runner->command.objective) {
    case KERF_TRIAL_CPU: slot_value(slot, result->cpu_s); break;
    case KERF_TRIAL_MEMORY:
        if (result->peak_bytes > 0)
            slot_value(slot, (double)result->peak_bytes);
        else
            slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "the system does not report how much memory it used");
        break;
    case KERF_TRIAL_REGEX:
        search_lines(slot);
        if (trial->has_found)
            slot_value(slot, trial->found);
        else if (trial->odd[0])
            slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "%s", trial->odd);
        else
            slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "no line of its output matches the expression");
        break;
    case KERF_TRIAL_JSON: find_json(slot); break;
    default: slot_value(slot, result->wall_s); break;
    }
}
