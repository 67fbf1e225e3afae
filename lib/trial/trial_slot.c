/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/program_output.h"
#include "trial/trial_slot.h"

#include <assert.h>
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "trial/placeholders.h"

static const double CLOSED_S = 1;   /* between a worker's closing of its output and its end */
static const double CLEANUP_S = 10; /* of cleanup, when everything ends */

/* A gap as long as the trial tells as much about others as the trial does. GAP_MAX_S is enough: others that only just
 * disturb use five ticks of the kernel's clock in it. The gap is watched for GAP_SPARE times the trial, because it is
 * also the gap before the next trial, which may take longer. */
static const double GAP_MAX_S = 0.5, GAP_SPARE = 2;

/* ---- What a trial took: processor time is that of all processes of the program, living or waited for ------------- */

static double kerf_cpu_s(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Processor time of kerf and of all trials on the slot's processors, which is not others'. A slot with processors of
 * its own shares them with no other slot. */
static double own_s(const struct slot *slot) {
    const struct kerf_trial_runner *runner = slot->runner;
    double sum_s = kerf_cpu_s();
    for (int32_t i = 0; i < runner->command.slots; i++) {
        const struct slot *other = &runner->slots[i];
        if (other == slot || runner->share == 0) sum_s += program_cpu_s(&other->program) + program_cpu_s(&other->shell);
    }
    return sum_s;
}

/* Resident memory at its peak: that of the cgroup, else of the largest process. */
static int64_t peak_of_living(const struct program *program) {
    const struct descendants *all = &program->family->all;
    int64_t most = memory_cap_peak(&program->cap);
    if (most > 0 || program->pid == 0) return most;
    for (size_t i = 0; i < all->count; i++) {
        int64_t peak = all->list[i].root == program->pid ? process_peak(all->list[i].pid) : 0;
        if (peak > most) most = peak;
    }
    return most;
}

static void measure_begin(struct slot *slot, double now_s) {
    struct kerf_trial_runner *runner = slot->runner;
    struct trial *trial = &slot->trial;
    const struct descendants *all = &runner->family.all;
    program_family_read(&runner->family);
    for (size_t i = 0; slot->program.pid > 0 && i < all->count; i++)
        if (all->list[i].root == slot->program.pid) process_peak_reset(all->list[i].pid);
    if (slot->program.pid > 0) memory_cap_peak_reset(&slot->program.cap);
    trial->is_measured = 0;
    trial->memory_kills = machine_memory_kills(runner->root);
    trial->before = machine_load_read(runner->root, &slot->processors, now_s);
    trial->own_before_s = own_s(slot);
    trial->cpu_before_s = program_cpu_s(&slot->program);
    trial->start_s = trial->before.at_s = clock_ticks_s();
}

double measure_cpu_s(struct slot *slot) {
    program_family_read(&slot->runner->family);
    return program_cpu_s(&slot->program) - slot->trial.cpu_before_s;
}

void measure_end(struct slot *slot, double now_s) {
    struct kerf_trial_runner *runner = slot->runner;
    struct trial *trial = &slot->trial;
    struct kerf_trial_result *result = &trial->result;
    if (trial->is_measured) return;
    assert(now_s >= trial->start_s);
    trial->is_measured = 1;
    result->wall_s = now_s - trial->start_s;
    result->observation.start_s = trial->start_s - runner->created_s;
    result->observation.end_s = now_s - runner->created_s;
    result->cpu_s = measure_cpu_s(slot);
    result->peak_bytes = peak_of_living(&slot->program);
    if (!runner->command.watch_machine) return;
    const struct machine_load after = machine_load_read(runner->root, &slot->processors, clock_ticks_s());
    machine_load_compare(&trial->before, &after, own_s(slot) - trial->own_before_s, &result->machine);
    result->machine.frequency = machine_frequency(runner->root, &slot->processors);
}

/* it is gone, and all of its time is known */
static void measure_gone(struct slot *slot) {
    const struct program_family *family = &slot->runner->family;
    struct trial *trial = &slot->trial;
    int32_t index = slot->program.index;
    trial->result.cpu_s = family->cpu_s[index] - trial->cpu_before_s;
    if (family->peak_bytes[index] > 0) trial->result.peak_bytes = family->peak_bytes[index];
}

/* ---- The gaps between trials --------------------------------------------------------------------------------- */

/* for how long the gap after the trial is watched */
static double measure_gap_s(const struct slot *slot) { return fmin(GAP_SPARE * slot->trial.result.wall_s, GAP_MAX_S); }

/* The gap after a trial begins; the next trial takes it as the gap before it; the gap after the trial has been
 * watched. */
static void measure_gap_begin(struct slot *slot, double now_s) {
    program_family_read(&slot->runner->family);
    slot->gap.since = machine_load_read(slot->runner->root, &slot->processors, now_s);
    slot->gap.own_before_s = own_s(slot);
    slot->gap.is_open = 1;
}

/* Others in the gap until now, in processors. */
static double gap_others(struct slot *slot, double now_s) {
    struct kerf_trial_machine machine;
    assert(slot->gap.is_open && now_s >= slot->gap.since.at_s);
    program_family_read(&slot->runner->family);
    const struct machine_load now = machine_load_read(slot->runner->root, &slot->processors, now_s);
    machine_load_compare(&slot->gap.since, &now, own_s(slot) - slot->gap.own_before_s, &machine);
    return machine.others;
}

static void measure_gap_before(struct slot *slot, double now_s) {
    if (!slot->gap.is_open) return;
    slot->trial.gap_s = now_s - slot->gap.since.at_s;
    slot->trial.gap_others = gap_others(slot, now_s);
    slot->gap.is_open = 0;
}

static void measure_gap_after(struct slot *slot, double now_s) {
    struct trial *trial = &slot->trial;
    double least_s = fmin(trial->result.wall_s, GAP_MAX_S);
    if (trial->gap_s < least_s || now_s - slot->gap.since.at_s < least_s) return;
    trial->result.machine.between = fmax(trial->gap_others, gap_others(slot, now_s));
}

/* ---- Deciding ------------------------------------------------------------------------------------------------ */

int slot_measures_time(const struct slot *slot) {
    int32_t objective = slot->runner->command.objective;
    return objective == KERF_TRIAL_WALL || objective == KERF_TRIAL_CPU;
}

static int decide(struct slot *slot, int32_t outcome, double value) {
    struct trial *trial = &slot->trial;
    assert(trial->phase != PHASE_NONE && trial->phase != PHASE_DONE);
    if (trial->is_decided) return 0; /* what happens first counts */
    trial->is_decided = 1;
    trial->result.observation.outcome = outcome;
    trial->result.observation.value = value;
    return 1;
}

/* A worker whose command is the same for every setting, and which was not told a setting yet. */
static int is_of_no_setting(const struct slot *slot) {
    const struct kerf_trial_runner *runner = slot->runner;
    return runner->protocol->is_persistent && !runner->knows_setting && slot->trial.request == 0;
}

void slot_failed(struct slot *slot, int32_t failure, const char *format, ...) {
    struct kerf_trial_result *result = &slot->trial.result;
    char message[sizeof result->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (!decide(slot, KERF_TUNE_FAILED, (double)NAN)) return;
    result->observation.failure = failure;
    result->is_of_no_setting = is_of_no_setting(slot);
    quote_line(message, result->message, sizeof result->message);
}

json_t *slot_captured_json(const struct slot *slot, char *why, size_t size) {
    const struct kerf_text *captured = &slot->trial.captured;
    json_t *value =
        json_last_value(captured->data ? captured->data : "", captured->length, slot->trial.is_cut, why, size);
    if (value == NULL && why[0] == 0) snprintf(why, size, "no line of its output begins a JSON object or array");
    return value;
}

/* Whether the run keeps the limits; if not, it failed. */
static int keeps_limits(struct slot *slot) {
    const struct kerf_trial_runner *runner = slot->runner;
    char words[160], silence[160] = "";
    json_t *last = runner->captures ? slot_captured_json(slot, silence, sizeof silence) : NULL;
    int32_t failure = limits_check(&runner->limits, &slot->trial.result, last ? last : slot->trial.answer, silence,
                                   &slot->trial.wanted, words, sizeof words);
    json_decref(last);
    if (failure != KERF_TUNE_FAILURE_NONE) slot_failed(slot, failure, "%s", words);
    return failure == KERF_TUNE_FAILURE_NONE;
}

void slot_value(struct slot *slot, double value) {
    if (!isfinite(value) || (slot_measures_time(slot) && !(value > 0)))
        slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "%g is not a %s", value,
                    slot_measures_time(slot) ? "time" : "number");
    else if (!limits_are_asked(&slot->runner->limits) || keeps_limits(slot))
        decide(slot, KERF_TUNE_VALUE, value);
}

void slot_censored(struct slot *slot, double value) { decide(slot, KERF_TUNE_CENSORED, value); }

/* Whether memory ran out: the program said so, or the kernel says that it killed processes for it. */
static int ran_out_of_memory(const struct slot *slot) {
    const struct program *program = &slot->program;
    int status = program->wait_status;
    if (slot->trial.memory[0] || program->cap_kills > 0) return 1;
    if (status == -1 || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL || program->is_killed) return 0;
    return machine_memory_kills(slot->runner->root) > slot->trial.memory_kills;
}

/* Where a program that stays had come to when it ended. */
static const char *how_far(const struct slot *slot) {
    const struct trial_protocol *protocol = slot->runner->protocol;
    const struct trial *trial = &slot->trial;
    if (!protocol->is_persistent) return "";
    if (protocol->has_client) return trial->is_ready ? " while it was measured" : " before it was ready";
    return trial->request > 0 ? " before it answered" : " before it was ready";
}

static void program_died(struct slot *slot) {
    const struct trial *trial = &slot->trial;
    const struct program *program = &slot->program;
    const char *last = trial->said[STREAM_ERR][0] ? trial->said[STREAM_ERR] : trial->said[STREAM_OUT];
    int status = program->wait_status;
    char words[64];
    if (status == -1) {
        slot_failed(slot, KERF_TUNE_FAILURE_CRASH, "it ended, and another process took its exit status");
        return;
    }
    status_words(status, words, sizeof words);
    if (ran_out_of_memory(slot))
        slot_failed(slot, KERF_TUNE_FAILURE_MEMORY, "%s: %s", words,
                    trial->memory[0]         ? trial->memory
                    : program->cap_kills > 0 ? "its memory reached the cap"
                                             : "the kernel had no memory left");
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        slot_failed(slot, KERF_TUNE_FAILURE_CRASH, "%s, from outside", words);
    else
        slot_failed(slot, KERF_TUNE_FAILURE_CRASH, "%s%s%s%s", words, how_far(slot), last[0] ? ": " : "", last);
}

/* The program ended with status 0, and is gone. */
static void program_was_good(struct slot *slot) {
    struct trial *trial = &slot->trial;
    struct kerf_trial_result *result = &trial->result;
    slot->runner->protocol->over(slot);
    if (result->observation.failure == KERF_TUNE_FAILURE_OUTPUT && trial->memory[0]) {
        result->observation.failure = KERF_TUNE_FAILURE_MEMORY;
        quote_line(trial->memory, result->message, sizeof result->message);
    }
}

void slot_stray_line(const struct slot *slot, char *line, size_t length) {
    if (slot->runner->command.show_output) return; /* it is there already */
    line[length] = '\n'; /* in the place of its NUL: one write, as a worker may print millions of lines */
    program_pass_on(line, length + 1);
    line[length] = 0;
}

/* ---- Starting programs --------------------------------------------------------------------------------------- */

static int is_ours(const char *variable) {
    static const char *const names[] = {"KERF_SLOT=", "KERF_SETTING=", "KERF_WARMUP=", TRIAL_MARK "="};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0) return 1;
    return 0;
}

/* This process's environment and KERF_SLOT; for a shell also KERF_SETTING, for a program its mark, and for the client
 * that warms up KERF_WARMUP. A program's
 * environment is the same for all settings, because its size alone can change how fast a program is. */
enum environment { ENVIRONMENT, ENVIRONMENT_WARMUP, ENVIRONMENT_SHELL };

static char **make_environment(struct slot *slot, enum environment kind) {
    size_t count = 0, kept = 0;
    while (environ[count]) count++;
    char **list = arena_alloc(&slot->arena, count + 4, sizeof *list);
    if (list == NULL) return NULL;
    for (size_t i = 0; i < count; i++)
        if (!is_ours(environ[i])) list[kept++] = environ[i];
    list[kept] = arena_printf(&slot->arena, "KERF_SLOT=%d", (int)slot->index);
    if (list[kept++] == NULL) return NULL;
    if (kind == ENVIRONMENT_SHELL) {
        struct kerf_text text = {0};
        struct kerf_json json;
        kerf_json_begin(&json, &text);
        kerf_tune_setting_json(&json, NULL, slot->runner->space, slot->trial.result.observation.setting);
        list[kept] = text.data ? arena_printf(&slot->arena, "KERF_SETTING=%s", text.data) : NULL;
        kerf_text_free(&text);
    } else {
        list[kept] = arena_printf(&slot->arena, TRIAL_MARK "=%d", (int)slot->index);
        if (list[kept] && kind == ENVIRONMENT_WARMUP) list[++kept] = arena_strdup(&slot->arena, "KERF_WARMUP=1");
    }
    return list[kept] ? list : NULL;
}

static int start_shell(struct slot *slot, const char *text, double now_s) {
    int32_t setting = slot->trial.result.observation.setting;
    char sh[] = "sh", dash_c[] = "-c";
    char *words[] = {sh, dash_c, placeholders_fill_shell(slot->runner->space, text, setting, &slot->arena), NULL};
    struct program_launch start = {.words = words,
                                   .environment = make_environment(slot, ENVIRONMENT_SHELL),
                                   .root = slot->runner->root,
                                   .processors = slot->runner->share ? &slot->processors : NULL};
    if (words[2] == NULL || start.environment == NULL) return ENOMEM;
    slot->trial.until_s = now_s + (slot->runner->is_ending ? CLEANUP_S : slot->runner->command.load_timeout_s);
    slot->shell.leaves_rest = 1;
    return program_launch(&slot->shell, &start, now_s);
}

int slot_start_client(struct slot *slot, int is_warmup, double now_s) {
    struct kerf_trial_runner *runner = slot->runner;
    struct command_part part = runner->client;
    part.port = slot->port;
    char **words =
        placeholders_fill(runner->space, &runner->command, &part, slot->trial.result.observation.setting, &slot->arena);
    struct program_launch start = {.words = words,
                                   .environment = make_environment(slot, is_warmup ? ENVIRONMENT_WARMUP : ENVIRONMENT),
                                   .root = runner->root,
                                   .processors = runner->share ? &slot->processors : NULL};
    if (words == NULL || start.environment == NULL) return ENOMEM;
    slot->shell.leaves_rest = 0;
    slot->trial.client_said[0] = 0;
    return program_launch(&slot->shell, &start, now_s);
}

static void joined(char **words, struct kerf_text *out) {
    kerf_text_clear(out);
    for (size_t i = 0; words[i]; i++) kerf_text_write(out, words[i], strlen(words[i]) + 1);
}

static int was_started_with(const struct slot *slot, char **words) {
    struct kerf_text text = {0};
    joined(words, &text);
    int same =
        !text.failed && text.length == slot->words.length && memcmp(text.data, slot->words.data, text.length) == 0;
    kerf_text_free(&text);
    return same;
}

static void run(struct slot *slot, double now_s) {
    struct kerf_trial_runner *runner = slot->runner;
    struct trial *trial = &slot->trial;
    double timeout_s = runner->command.trial_timeout_s;
    trial->phase = PHASE_RUN;
    trial->until_s = timeout_s > 0 ? now_s + timeout_s : (double)INFINITY;
    if (!runner->protocol->is_persistent && runner->protocol->has_load)
        trial->until_s = now_s + runner->command.load_timeout_s;
    runner->protocol->begin(slot, now_s);
}

static void start_program(struct slot *slot, char **words, double now_s) {
    struct kerf_trial_runner *runner = slot->runner;
    const struct trial_protocol *protocol = runner->protocol;
    struct trial *trial = &slot->trial;
    const struct program_launch start = {.words = words,
                                         .environment = make_environment(slot, ENVIRONMENT),
                                         .has_input = protocol->is_asked,
                                         .wants_group = runner->command.objective == KERF_TRIAL_MEMORY,
                                         .cap_bytes = runner->command.memory_cap_bytes,
                                         .root = runner->root,
                                         .death_signal = runner->command.launcher ? SIGTERM : SIGKILL,
                                         .processors = runner->share ? &slot->processors : NULL};
    int number = ENOMEM;
    joined(words, &slot->words);
    slot->setting = trial->result.observation.setting;
    measure_begin(slot, now_s);
    if (start.environment && !slot->words.failed) number = program_launch(&slot->program, &start, trial->start_s);
    if (number != 0) {
        slot_failed(slot, KERF_TUNE_FAILURE_OTHER, "%.100s cannot be started: %s", words[0], strerror(number));
        return;
    }
    runner->loads++;
    if (protocol->is_persistent) {
        trial->phase = PHASE_LOAD;
        trial->until_s = now_s + runner->command.load_timeout_s;
        trial->silent_s = runner->command.warn ? now_s + runner->command.silence_s : (double)INFINITY;
    } else {
        run(slot, now_s);
    }
}

void slot_loaded(struct slot *slot, double load_s, double now_s) {
    struct kerf_trial_runner *runner = slot->runner;
    struct trial *trial = &slot->trial;
    double timeout_s = runner->command.trial_timeout_s;
    if (trial->was_loaded) return;
    trial->was_loaded = trial->is_ready = 1;
    trial->result.load_s = load_s;
    trial->until_s = timeout_s > 0 ? now_s + timeout_s : (double)INFINITY;
}

/* ---- Phases: each step returns 1 when the next phase can begin at once -------------------------------------- */

/* Whether others disturbed the trial, by what is known so far. */
static int is_disturbed(const struct slot *slot) {
    char reason[100];
    return kerf_trial_disturbed(&slot->trial.result, reason, sizeof reason);
}

/* The slot is idle from here on: now it shows whether others kept the machine busy or the trial's own server did. */
static int begin_listening(struct slot *slot, double now_s) {
    struct trial *trial = &slot->trial;
    trial->phase = PHASE_DONE;
    if (trial->result.observation.outcome == KERF_TUNE_FAILED || slot->runner->is_ending) return 1;
    if (!slot->runner->command.watch_machine || !(slot->has_server || is_disturbed(slot))) return 1;
    measure_gap_begin(slot, now_s);
    trial->until_s = now_s + measure_gap_s(slot);
    trial->phase = PHASE_LISTEN;
    return 1;
}

static int listen_step(struct slot *slot, double now_s) {
    struct trial *trial = &slot->trial;
    int was_disturbed = is_disturbed(slot);
    if (now_s < trial->until_s && !slot->runner->is_ending) return 0;
    measure_gap_after(slot, now_s);
    if (was_disturbed && !is_disturbed(slot)) slot->has_server = 1;
    trial->phase = PHASE_DONE;
    return 1;
}

static int begin_cleanup(struct slot *slot, double now_s) {
    const char *cleanup = slot->runner->command.cleanup;
    if (cleanup == NULL || start_shell(slot, cleanup, now_s) != 0) return begin_listening(slot, now_s);
    slot->trial.phase = PHASE_CLEANUP;
    return 1;
}

/* The slot's program runs further trials. */
static int lives_on(const struct slot *slot) {
    return slot->runner->protocol->is_persistent && !slot->trial.must_end && slot->program.pid > 0 &&
           slot->program.stage == STAGE_LIVE && !slot->program.is_over;
}

/* The trial is decided, or its program has ended. */
static int begin_ending(struct slot *slot, double now_s) {
    measure_end(slot, now_s);
    if (slot->shell.pid > 0) program_end(&slot->shell, STAGE_TERMINATED, now_s); /* a client */
    if (slot->program.pid > 0 && (slot->trial.must_end || !slot->runner->protocol->is_persistent))
        program_end(&slot->program, STAGE_TERMINATED, now_s);
    slot->trial.phase = PHASE_ENDING;
    return 1;
}

/* Ends a shell that takes too long. 1: it is gone. */
static int shell_is_gone(struct slot *slot, double now_s) {
    if (slot->shell.pid > 0 && now_s >= slot->trial.until_s) {
        slot->shell.leaves_rest = 0;
        program_end(&slot->shell, STAGE_TERMINATED, now_s);
    }
    return slot->shell.pid == 0;
}

static int prepare_step(struct slot *slot, double now_s) {
    int status = slot->shell.wait_status;
    char words[64];
    if (!shell_is_gone(slot, now_s)) return 0;
    if (status == 0) {
        slot->trial.said[STREAM_ERR][0] = 0;
        slot->trial.phase = PHASE_REPLACE;
        return 1;
    }
    status_words(status, words, sizeof words);
    if (slot->shell.stage != STAGE_LIVE)
        slot_failed(slot, KERF_TUNE_FAILURE_OTHER, "prepare did not end within %g s",
                    slot->runner->command.load_timeout_s);
    else
        slot_failed(slot, KERF_TUNE_FAILURE_OTHER, "prepare %s%s%s", words, slot->trial.said[STREAM_ERR][0] ? ": " : "",
                    slot->trial.said[STREAM_ERR]);
    return begin_cleanup(slot, now_s);
}

/* A port of this machine on which nobody listens: the one that a server had before, if it is free again. */
static int32_t free_port(int32_t before) {
    for (int32_t port = before;; port = 0) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        socklen_t length = sizeof address;
        const int yes = 1;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        int is_free = fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0 &&
                      getsockname(fd, (struct sockaddr *)&address, &length) == 0;
        if (fd >= 0) close(fd);
        if (is_free) return ntohs(address.sin_port);
        if (port == 0) return 0; /* {port} stays, and the server says what it thinks of it */
    }
}

static int is_used_up(const struct slot *slot) {
    return slot->runner->command.fresh_worker && slot->setting != slot->trial.result.observation.setting;
}

static int replace_step(struct slot *slot, double now_s) {
    struct program *program = &slot->program;
    struct kerf_trial_runner *runner = slot->runner;
    struct trial *trial = &slot->trial;
    int32_t setting = slot->trial.result.observation.setting;
    int is_live = program->pid > 0 && program->stage == STAGE_LIVE && !program->is_over;
    if (program->pid > 0 && !is_live) return 0;
    struct command_part part = runner->main;
    if (part.has_port && !is_live) slot->port = free_port(slot->port);
    part.port = slot->port;
    char **words = placeholders_fill(runner->space, &runner->command, &part, setting, &slot->arena);
    if (words == NULL) {
        slot_failed(slot, KERF_TUNE_FAILURE_OTHER, "kerf has not enough memory for the command");
    } else if (is_live && (!was_started_with(slot, words) || is_used_up(slot))) {
        program_end(program, runner->protocol->is_asked ? STAGE_ASKED : STAGE_TERMINATED, now_s);
        return 0;
    } else if (is_live) {
        trial->is_ready = 1;
        measure_begin(slot, now_s);
        run(slot, slot->trial.start_s);
    } else {
        start_program(slot, words, now_s);
    }
    return slot->trial.is_decided ? begin_cleanup(slot, now_s) : 1;
}

static void time_out(struct slot *slot) {
    const struct kerf_trial_command *command = &slot->runner->command;
    struct trial *trial = &slot->trial;
    int is_worker = slot->runner->protocol->is_asked;
    int is_server = slot->runner->protocol->has_client;
    trial->must_end = 1;
    if (trial->is_closed)
        slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "the worker closed its output but still runs");
    else if (trial->phase == PHASE_LOAD && is_server)
        slot_failed(slot, KERF_TUNE_FAILURE_LOAD, "the server is not ready within %g s: its client %s%s",
                    command->load_timeout_s, trial->client_said[0] ? "says " : "says nothing", trial->client_said);
    else if (trial->phase == PHASE_LOAD || (slot->runner->protocol->has_load && !is_worker && !trial->was_loaded))
        slot_failed(slot, KERF_TUNE_FAILURE_LOAD,
                    is_worker ? "not ready within %g s: a worker must print {\"ready\":true} when it has loaded"
                              : "no sample within %g s",
                    command->load_timeout_s);
    else
        slot_failed(slot, KERF_TUNE_FAILURE_HANG, is_worker ? "no answer within %g s" : "no end within %g s",
                    command->trial_timeout_s);
}

/* The author of the worker may not know that kerf waits for this line, and would see nothing until the time-out. */
static void tell_silence(struct slot *slot) {
    struct kerf_trial_runner *runner = slot->runner;
    char line[400];
    slot->trial.silent_s = (double)INFINITY;
    if (runner->is_silence_told) return;
    runner->is_silence_told = 1;
    if (runner->protocol->has_client)
        snprintf(
            line, sizeof line,
            "the server is not ready after %g s: kerf runs the client until it ends with status 0, for %g s in all "
            "(--load-timeout); it %s%s",
            runner->command.silence_s, runner->command.load_timeout_s,
            slot->trial.client_said[0] ? "says " : "says nothing", slot->trial.client_said);
    else
        snprintf(
            line, sizeof line,
            "the worker is not ready after %g s: kerf waits for the line {\"ready\":true} on its standard output, for "
            "%g s in all (--load-timeout)",
            runner->command.silence_s, runner->command.load_timeout_s);
    runner->command.warn(runner->command.warn_context, line);
}

static int run_step(struct slot *slot, double now_s) {
    const struct trial_protocol *protocol = slot->runner->protocol;
    struct trial *trial = &slot->trial;
    struct program *program = &slot->program;
    if (trial->is_decided) return begin_ending(slot, now_s);
    if (program->is_over || program->pid == 0) return begin_ending(slot, now_s);
    if (trial->phase == PHASE_LOAD && trial->was_loaded) {
        measure_begin(slot, now_s);
        run(slot, trial->start_s);
        return 1;
    }
    if (protocol->client) protocol->client(slot, now_s);
    if (trial->is_decided || (trial->phase == PHASE_LOAD && trial->was_loaded)) return 1;
    if (protocol->is_asked && program->out[STREAM_OUT] < 0 && !trial->is_closed) {
        trial->is_closed = 1;
        trial->until_s = fmin(trial->until_s, now_s + CLOSED_S);
    }
    if (trial->phase == PHASE_LOAD && now_s >= trial->silent_s) tell_silence(slot);
    int is_cut = now_s >= trial->cut_s && trial->cut_s <= trial->until_s; /* if both are due, the earlier one counts */
    if (is_cut)
        protocol->cut(slot, now_s);
    else if (now_s >= trial->until_s)
        time_out(slot);
    return trial->is_decided;
}

/* A worker that ended before it read the question says nothing about the setting: another one is asked, once. */
static int ask_again(struct slot *slot) {
    struct trial *trial = &slot->trial;
    if (trial->is_decided || trial->is_asked_again || trial->asked_bytes == 0) return 0;
    if (slot->program.unheard < trial->asked_bytes) return 0;
    trial->is_asked_again = 1;
    trial->was_loaded = trial->is_closed = 0;
    trial->asked_bytes = 0;
    trial->request = 0;
    trial->until_s = (double)INFINITY;
    trial->phase = PHASE_REPLACE;
    return 1;
}

static int ending_step(struct slot *slot, double now_s) {
    struct trial *trial = &slot->trial;
    if (slot->shell.pid > 0) return 0;
    if (trial->is_decided && lives_on(slot)) return begin_cleanup(slot, now_s);
    if (slot->program.pid > 0) return 0;
    if (ask_again(slot)) return 1;
    if (!slot->runner->protocol->is_persistent || slot->program.is_over) {
        measure_gone(slot);
        trial->result.status = slot->program.wait_status;
    }
    if (!trial->is_decided) {
        if (slot->program.wait_status == 0 && !slot->runner->protocol->is_persistent)
            program_was_good(slot);
        else
            program_died(slot);
    }
    return begin_cleanup(slot, now_s);
}

static int cleanup_step(struct slot *slot, double now_s) {
    struct kerf_trial_result *result = &slot->trial.result;
    char words[64];
    if (!shell_is_gone(slot, now_s)) return 0;
    if (slot->shell.wait_status != 0 && result->message[0] == 0) {
        status_words(slot->shell.wait_status, words, sizeof words);
        snprintf(result->message, sizeof result->message, "cleanup %s", words);
    }
    return begin_listening(slot, now_s);
}

void slot_step(struct slot *slot, double now_s) {
    int again = 1;
    program_step(&slot->program, now_s);
    program_step(&slot->shell, now_s);
    while (again) {
        switch (slot->trial.phase) {
        case PHASE_PREPARE: again = prepare_step(slot, now_s); break;
        case PHASE_REPLACE: again = replace_step(slot, now_s); break;
        case PHASE_LOAD:
        case PHASE_RUN: again = run_step(slot, now_s); break;
        case PHASE_ENDING: again = ending_step(slot, now_s); break;
        case PHASE_CLEANUP: again = cleanup_step(slot, now_s); break;
        case PHASE_LISTEN: again = listen_step(slot, now_s); break;
        default: again = 0; break;
        }
    }
}

double slot_until(const struct slot *slot) {
    const struct trial *trial = &slot->trial;
    switch (trial->phase) {
    case PHASE_LOAD: return fmin(trial->retry_s, fmin(trial->until_s, trial->silent_s));
    case PHASE_LISTEN: return trial->until_s;
    case PHASE_PREPARE:
    case PHASE_CLEANUP: return slot->shell.stage == STAGE_LIVE ? trial->until_s : (double)INFINITY;
    case PHASE_RUN: return fmin(trial->until_s, trial->cut_s);
    default: return (double)INFINITY;
    }
}

/* ---- The beginning, and an early end --------------------------------------------------------------------------- */

void slot_begin(struct slot *slot, int32_t id, int32_t setting, double limit, double now_s) {
    const char *prepare = slot->runner->command.prepare;
    struct kerf_text captured = slot->trial.captured, unsearched = slot->trial.unsearched;
    assert(slot->trial.phase == PHASE_NONE && setting >= 0 && setting < slot->runner->space->num_settings);
    kerf_text_clear(&captured);
    kerf_text_clear(&unsearched);
    arena_reset(&slot->arena);
    slot->trial = (struct trial){.phase = PHASE_REPLACE,
                                 .limit = limit,
                                 .until_s = (double)INFINITY,
                                 .silent_s = (double)INFINITY,
                                 .cut_s = (double)INFINITY,
                                 .retry_s = (double)INFINITY,
                                 .start_s = now_s,
                                 .wanted = (double)NAN,
                                 .captured = captured,
                                 .unsearched = unsearched};
    slot->trial.result =
        (struct kerf_trial_result){.observation = {.setting = setting, .slot = slot->index, .value = (double)NAN},
                                   .cpu_s = (double)NAN,
                                   .id = id,
                                   .status = -1,
                                   .machine = machine_unknown()};
    slot->trial.result.observation.start_s = slot->trial.result.observation.end_s = now_s - slot->runner->created_s;
    measure_gap_before(slot, now_s);
    if (prepare == NULL) return;
    int number = start_shell(slot, prepare, now_s);
    slot->trial.phase = PHASE_PREPARE;
    if (number == 0) return;
    slot_failed(slot, KERF_TUNE_FAILURE_OTHER, "prepare cannot be started: %s", strerror(number));
    begin_cleanup(slot, now_s);
}

void slot_interrupt(struct slot *slot, double now_s) {
    enum trial_phase phase = slot->trial.phase;
    int is_idle = phase == PHASE_NONE || phase >= PHASE_CLEANUP;
    slot->trial.must_end = 1;
    if (phase == PHASE_CLEANUP) slot->trial.until_s = fmin(slot->trial.until_s, now_s + CLEANUP_S);
    program_end(&slot->program, is_idle && slot->runner->protocol->is_asked ? STAGE_ASKED : STAGE_TERMINATED, now_s);
    if (!is_idle) {
        slot->shell.leaves_rest = 0;
        program_end(&slot->shell, STAGE_TERMINATED, now_s);
    }
    if (is_idle) return;
    slot_failed(slot, KERF_TUNE_FAILURE_OTHER, "interrupted");
    slot->trial.phase = PHASE_ENDING;
}
