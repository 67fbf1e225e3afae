/* SPDX-License-Identifier: Apache-2.0 */
/* Runners: they start the programs of a command, wait for all of them in one poll(2), and leave no process behind. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/characters.h"
#include "base/clock.h"
#include "base/error_fill.h"
#include "trial/placeholders.h"
#include "trial/processors.h"
#include "trial/trial_slot.h"

enum { SLOTS_MAX = 1024, WORDS_MAX = 100000 };
static const double LOAD_TIMEOUT_S = 600, GRACE_S = 2, SILENCE_S = 10;
static const double LAUNCHER_GRACE_S = 10; /* it has to end what runs elsewhere */

/* ---- Protocols: each is a file of its own ------------------------------------------------------------------------ */

static const struct trial_protocol *const protocols[] = {&exit_protocol, &lines_protocol, &worker_protocol,
                                                         &llama_bench_protocol, &bench_protocol};
enum { PROTOCOLS = sizeof protocols / sizeof protocols[0] };

/* The first is the default. */
static const struct trial_protocol *find_protocol(const char *name) {
    if (name == NULL) return protocols[0];
    for (int i = 0; i < PROTOCOLS; i++)
        if (strcmp(protocols[i]->about.name, name) == 0) return protocols[i];
    return NULL;
}

const struct kerf_trial_protocol *kerf_trial_protocol_at(size_t index) {
    return index < PROTOCOLS ? &protocols[index]->about : NULL;
}

/* ---- What programs write ------------------------------------------------------------------------------------ */

static void remember(struct trial *trial, enum program_stream stream, const char *line) {
    quote_line(line, trial->said[stream], sizeof trial->said[stream]);
    if (says_out_of_memory(line)) quote_line(line, trial->memory, sizeof trial->memory);
}

static void program_line(void *context, enum program_stream stream, char *line, size_t length) {
    struct slot *slot = context;
    struct trial *trial = &slot->trial;
    int is_answer = stream == STREAM_OUT && slot->runner->protocol->is_asked && *line == '{';
    int is_heard = (trial->phase == PHASE_LOAD || trial->phase == PHASE_RUN) && !trial->is_decided;
    int is_late = is_answer && trial->must_end; /* to a request that was given up: nobody needs to see it */
    if (!is_heard && !is_late && stream == STREAM_OUT && slot->runner->protocol->is_asked)
        slot_stray_line(slot, line, length);
    if (trial->phase != PHASE_LOAD && trial->phase != PHASE_RUN) return;
    if (!is_answer) remember(trial, stream, line);
    if (slot->runner->protocol->has_client) return; /* what a server prints measures nothing */
    if (!trial->is_decided && slot->runner->captures && stream == STREAM_OUT) objective_capture(slot, line, length);
    if (!trial->is_decided) slot->runner->protocol->line(slot, stream, line, length, clock_ticks_s());
}

static void client_line(struct slot *slot, enum program_stream stream, char *line, size_t length) {
    struct trial *trial = &slot->trial;
    quote_line(line, trial->client_said, sizeof trial->client_said);
    if (trial->phase != PHASE_RUN || trial->is_decided) return; /* the warm-up of a server measures nothing */
    if (slot->runner->captures && stream == STREAM_OUT) objective_capture(slot, line, length);
    slot->runner->protocol->line(slot, stream, line, length, clock_ticks_s());
}

static void shell_line(void *context, enum program_stream stream, char *line, size_t length) {
    struct slot *slot = context;
    enum trial_phase phase = slot->trial.phase;
    if (phase == PHASE_PREPARE) quote_line(line, slot->trial.said[STREAM_ERR], sizeof slot->trial.said[0]);
    if (phase == PHASE_LOAD || phase == PHASE_RUN) client_line(slot, stream, line, length);
}

/* ---- Making one ---------------------------------------------------------------------------------------------- */

static int32_t check_number(double value, const char *name, struct kerf_error *err) {
    if (isfinite(value) && value >= 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s must be a number of seconds, 0 or more, not %g", name, value);
}

static int32_t check_command(struct kerf_trial_runner *runner, struct kerf_error *err) {
    const struct kerf_trial_command *command = &runner->command;
    int32_t code = KERF_OK;
    if (command->num_words < 1 || command->num_words > WORDS_MAX || command->words == NULL)
        return kerf_error_set(err, KERF_EINVALID, "the command is missing");
    if (runner->protocol == NULL) {
        const char *names[8];
        size_t count = 0;
        for (const struct kerf_trial_protocol *known; count < 8 && (known = kerf_trial_protocol_at(count));)
            names[count++] = known->name;
        const char *nearest = nearest_name(command->protocol, names, count);
        return kerf_error_set(err, KERF_EUNKNOWN, "there is no protocol \"%.64s\"%s%s%s", command->protocol,
                              nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    }
    if (command->slots < 1 || command->slots > SLOTS_MAX)
        return kerf_error_set(err, KERF_EINVALID, "slots must lie between 1 and %d, not %d", SLOTS_MAX, command->slots);
    if (command->launcher && command->launcher[strspn(command->launcher, " \t")] == 0)
        return kerf_error_set(err, KERF_EINVALID, "the launcher is empty; leave it out to run the command as it is");
    if (command->memory_cap_bytes < 0)
        return kerf_error_set(err, KERF_EINVALID, "the memory cap must be 0 bytes or more");
    code = check_number(command->load_timeout_s, "the load time-out", err);
    if (code == KERF_OK) code = check_number(command->trial_timeout_s, "the trial time-out", err);
    if (code == KERF_OK) code = check_number(command->grace_s, "the grace", err);
    if (code == KERF_OK) code = check_number(command->silence_s, "the silence of a worker", err);
    if (code == KERF_OK) code = objective_check(runner->protocol, runner, err);
    if (code == KERF_OK)
        code =
            placeholders_check(runner->space, command, runner->protocol->is_asked, runner->protocol->has_client, err);
    return code;
}

/* A server and its client are divided by the first word that is --. */
static int32_t divide_command(struct kerf_trial_runner *runner, struct kerf_error *err) {
    const struct kerf_trial_command *command = &runner->command;
    runner->main = (struct command_part){.to = command->num_words};
    if (!runner->protocol->has_client) return KERF_OK;
    int32_t at = 0;
    while (at < command->num_words && strcmp(command->words[at], "--") != 0) at++;
    if (at == 0 || at + 1 >= command->num_words)
        return kerf_error_set(err, KERF_EINVALID,
                              "the protocol %s needs two commands with -- between them: the server, then its client",
                              runner->protocol->about.name);
    if (command->launcher)
        return kerf_error_set(err, KERF_EINVALID,
                              "the protocol %s takes no launcher: kerf runs the server and its "
                              "client on this machine",
                              runner->protocol->about.name);
    runner->main = (struct command_part){.to = at, .has_port = 1};
    runner->client = (struct command_part){.from = at + 1, .to = command->num_words, .has_port = 1};
    return KERF_OK;
}

/* Looks for the program at once, unless its name depends on the setting. */
static int32_t check_program(const struct kerf_trial_runner *runner, const struct command_part *part,
                             struct kerf_error *err) {
    struct arena arena = {0};
    const struct kerf_trial_command *command = &runner->command;
    char **words = placeholders_fill(runner->space, command, part, 0, &arena);
    int32_t code = words ? KERF_OK : error_no_memory(err, "the command");
    if (words && (command->launcher || !strchr(command->words[part->from], '{'))) {
        char *path = child_find_program(words[0]);
        if (path == NULL)
            code = kerf_error_set(err, KERF_EIO, "%.200s cannot be run: %s", words[0],
                                  errno == ENOENT ? "there is no such program" : strerror(errno));
        free(path);
    }
    arena_free(&arena);
    return code;
}

static int32_t watch_processes(struct kerf_trial_runner *runner, struct kerf_error *err) {
    struct program_family *family = &runner->family;
    int32_t slots = runner->command.slots;
    int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0U);
    if (pidfd < 0)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "trials need Linux 5.3 (pidfd_open): %s", strerror(errno));
    close(pidfd);
    int number = trial_guard_start(&runner->guard, 2 * slots, runner->command.launcher ? runner->command.grace_s : 0);
    if (number != 0) return kerf_error_set(err, KERF_EIO, "a process cannot be started: %s", strerror(number));
    prctl(PR_GET_CHILD_SUBREAPER, &runner->subreaper_before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    family->slots = slots;
    family->grace_s = runner->command.grace_s;
    family->show_output = runner->command.show_output;
    family->since = descendants_now();
    family->guard = runner->guard.pid;
    family->roots = runner->guard.sessions;
    return KERF_OK;
}

static int32_t make_slots(struct kerf_trial_runner *runner, struct kerf_error *err) {
    size_t count = (size_t)runner->command.slots;
    cpu_set_t allowed, share;
    processors_allowed(&allowed);
    CPU_ZERO(&share);
    runner->slots = calloc(count, sizeof *runner->slots);
    runner->fds = calloc(1 + 2 * count * PROGRAM_FDS, sizeof *runner->fds);
    runner->family.cpu_s = calloc(2 * count, sizeof *runner->family.cpu_s);
    runner->family.peak_bytes = calloc(2 * count, sizeof *runner->family.peak_bytes);
    if (!runner->slots || !runner->fds || !runner->family.cpu_s || !runner->family.peak_bytes)
        return kerf_error_set(err, KERF_ENOMEM, "not enough memory for %zu slots", count);
    for (int32_t i = 0; i < runner->command.slots; i++) {
        struct slot *slot = &runner->slots[i];
        slot->runner = runner;
        slot->index = i;
        slot->processors = allowed;
        if (runner->command.slots > 1 && !runner->command.launcher)
            runner->share = processor_share(runner->root, &allowed, runner->command.slots, i, &share);
        if (runner->share > 0) slot->processors = share;
        slot->program = (struct program){
            .family = &runner->family, .index = 2 * i, .rest_fd = -1, .line = program_line, .context = slot};
        slot->shell = (struct program){.family = &runner->family,
                                       .index = 2 * i + 1,
                                       .leaves_rest = 1,
                                       .rest_fd = -1,
                                       .line = shell_line,
                                       .context = slot};
    }
    return KERF_OK;
}

int32_t kerf_trial_runner_create(const struct kerf_tune_space *space, const struct kerf_trial_command *command,
                                 struct kerf_trial_runner **ret_runner, struct kerf_error *err) {
    struct kerf_trial_runner *runner = calloc(1, sizeof *runner);
    if (runner == NULL) return error_no_memory(err, "trials");
    runner->space = space;
    runner->command = *command;
    runner->root = command->root ? command->root : "";
    runner->guard.pipe = -1;
    runner->told = (double)NAN;
    runner->created_s = clock_ticks_s();
    runner->protocol = find_protocol(command->protocol);
    if (runner->command.slots == 0) runner->command.slots = 1;
    if (runner->command.load_timeout_s == 0) runner->command.load_timeout_s = LOAD_TIMEOUT_S;
    if (runner->command.silence_s == 0) runner->command.silence_s = SILENCE_S;
    if (runner->command.grace_s == 0) runner->command.grace_s = command->launcher ? LAUNCHER_GRACE_S : GRACE_S;
    int32_t code = check_command(runner, err);
    if (code == KERF_OK) runner->knows_setting = command->prepare || placeholders_any(command);
    if (code == KERF_OK) code = divide_command(runner, err);
    if (code == KERF_OK) code = check_program(runner, &runner->main, err);
    if (code == KERF_OK && runner->client.to > 0) code = check_program(runner, &runner->client, err);
    if (code == KERF_OK) code = make_slots(runner, err);
    if (code == KERF_OK) code = watch_processes(runner, err);
    if (code == KERF_OK)
        *ret_runner = runner;
    else
        kerf_trial_runner_free(runner);
    return code;
}

static void capture_what_limits_are_of(struct kerf_trial_runner *runner) {
    runner->captures |= runner->limits.are_told && !runner->protocol->is_asked;
}

int32_t kerf_trial_runner_limit(struct kerf_trial_runner *runner, const char *limit, struct kerf_error *err) {
    int32_t code = limits_add(&runner->limits, limit, err);
    capture_what_limits_are_of(runner);
    return code;
}

int32_t kerf_trial_runner_tell(struct kerf_trial_runner *runner, const char *name, struct kerf_error *err) {
    int32_t code = limits_want(&runner->limits, name, err);
    capture_what_limits_are_of(runner);
    return code;
}

double kerf_trial_told(const struct kerf_trial_runner *runner) { return runner->told; }

/* ---- Waiting ------------------------------------------------------------------------------------------------- */

/* Sleeps until something happens, and until until_s at the latest. 1 when wake_fd became readable. */
static int sleep_until(struct kerf_trial_runner *runner, double until_s, int wake_fd) {
    struct pollfd *fds = runner->fds;
    nfds_t count = 0;
    if (wake_fd >= 0) fds[count++] = (struct pollfd){wake_fd, POLLIN, 0};
    for (int32_t i = 0; i < runner->command.slots; i++) {
        until_s = fmin(until_s, slot_until(&runner->slots[i]));
        count += (nfds_t)program_poll(&runner->slots[i].program, fds + count, &until_s);
        count += (nfds_t)program_poll(&runner->slots[i].shell, fds + count, &until_s);
    }
    double left_s = fmax(0, until_s - clock_ticks_s());
    const struct timespec left = {(time_t)fmin(left_s, 1e6), (long)(1e9 * (left_s - floor(left_s)))};
    ppoll(fds, count, isfinite(until_s) ? &left : NULL, NULL);
    return wake_fd >= 0 && fds[0].revents != 0;
}

static void step_all(struct kerf_trial_runner *runner) {
    for (int32_t i = 0; i < runner->command.slots; i++) slot_step(&runner->slots[i], clock_ticks_s());
}

static struct slot *find_phase(struct kerf_trial_runner *runner, int is_done) {
    for (int32_t i = 0; i < runner->command.slots; i++) {
        enum trial_phase phase = runner->slots[i].trial.phase;
        if (is_done ? phase == PHASE_DONE : phase != PHASE_NONE) return &runner->slots[i];
    }
    return NULL;
}

/* With several slots kerf's clock counts: their workers' clocks differ. */
static void place_in_time(struct slot *slot) {
    const struct kerf_trial_runner *runner = slot->runner;
    struct kerf_tune_observation *seen = &slot->trial.result.observation;
    struct time_span kerfs = {seen->start_s, seen->end_s};
    if (!runner->protocol->is_asked || runner->command.slots > 1) return;
    struct time_span span = slot->trial.has_told
                                ? worker_clock_answer(&slot->clock, runner->loads, slot->trial.told, kerfs)
                                : worker_clock_silence(&slot->clock, kerfs);
    seen->start_s = span.start_s;
    seen->end_s = span.end_s;
}

int32_t kerf_trial_wait(struct kerf_trial_runner *runner, double timeout_s, int32_t wake_fd,
                        struct kerf_trial_result *ret_result, int32_t *ret_ended, struct kerf_error *err) {
    double until_s = timeout_s < 0 ? (double)INFINITY : clock_ticks_s() + timeout_s;
    if (find_phase(runner, 0) == NULL) return kerf_error_set(err, KERF_EINVALID, "no trial is running");
    for (;;) {
        step_all(runner);
        struct slot *done = find_phase(runner, 1);
        if (done) {
            assert(done->trial.is_decided && done->trial.result.observation.slot == done->index);
            place_in_time(done);
            *ret_result = done->trial.result;
            *ret_ended = 1;
            runner->told = done->trial.wanted;
            done->trial.phase = PHASE_NONE;
            return KERF_OK;
        }
        if (clock_ticks_s() >= until_s) {
            *ret_ended = 0;
            return KERF_OK;
        }
        if (sleep_until(runner, until_s, wake_fd))
            return kerf_error_set(err, KERF_EINTERRUPTED, "interrupted while a trial ran");
    }
}

int32_t kerf_trial_start(struct kerf_trial_runner *runner, int32_t slot, int32_t id, int32_t setting, double limit,
                         struct kerf_error *err) {
    if (slot < 0 || slot >= runner->command.slots)
        return kerf_error_set(err, KERF_EINVALID, "slots are 0 to %d, not %d", runner->command.slots - 1, slot);
    if (setting < 0 || setting >= runner->space->num_settings)
        return kerf_error_set(err, KERF_EINVALID, "there is no setting %d", setting);
    if (runner->slots[slot].trial.phase != PHASE_NONE)
        return kerf_error_set(err, KERF_EINVALID, "slot %d already runs a trial", slot);
    double now_s = clock_ticks_s();
    slot_step(&runner->slots[slot], now_s); /* a worker may have died since */
    slot_begin(&runner->slots[slot], id, setting, limit, now_s);
    slot_step(&runner->slots[slot], now_s);
    return KERF_OK;
}

void kerf_trial_timeout(struct kerf_trial_runner *runner, double trial_timeout_s) {
    runner->command.trial_timeout_s = trial_timeout_s > 0 && isfinite(trial_timeout_s) ? trial_timeout_s : 0;
}

const char *kerf_trial_memory_cap(const struct kerf_trial_runner *runner) {
    struct memory_cap cap;
    if (runner->command.memory_cap_bytes == 0) return "";
    int is_group = memory_cap_open(&cap, runner->root, -1, runner->command.memory_cap_bytes);
    memory_cap_close(&cap);
    return is_group ? "cgroup" : "RLIMIT_AS";
}

int32_t kerf_trial_processors(const struct kerf_trial_runner *runner) { return runner->share; }

int64_t kerf_trial_loads(const struct kerf_trial_runner *runner) { return runner->loads; }

/* ---- The end ------------------------------------------------------------------------------------------------- */

static int is_quiet(const struct kerf_trial_runner *runner) {
    for (int32_t i = 0; i < runner->command.slots; i++) {
        const struct slot *slot = &runner->slots[i];
        if (slot->program.pid > 0 || slot->shell.pid > 0) return 0;
        if (slot->trial.phase != PHASE_NONE && slot->trial.phase != PHASE_DONE) return 0;
    }
    return 1;
}

static void end_all(struct kerf_trial_runner *runner) {
    runner->is_ending = 1;
    step_all(runner);
    for (int32_t i = 0; i < runner->command.slots; i++) slot_interrupt(&runner->slots[i], clock_ticks_s());
    for (step_all(runner); !is_quiet(runner); step_all(runner)) sleep_until(runner, (double)INFINITY, -1);
    program_family_end(&runner->family);
    prctl(PR_SET_CHILD_SUBREAPER, runner->subreaper_before);
}

struct kerf_trial_runner *kerf_trial_runner_free(struct kerf_trial_runner *runner) {
    if (runner == NULL) return NULL;
    if (runner->family.roots) end_all(runner);
    trial_guard_stop(&runner->guard);
    for (int32_t i = 0; runner->slots && i < runner->command.slots; i++) {
        struct slot *slot = &runner->slots[i];
        program_free(&slot->program);
        program_free(&slot->shell);
        kerf_text_free(&slot->words);
        kerf_text_free(&slot->trial.captured);
        kerf_text_free(&slot->trial.unsearched);
        arena_free(&slot->arena);
    }
    if (runner->has_regex) regfree(&runner->regex);
    descendants_free(&runner->family.all);
    free(runner->family.cpu_s);
    free(runner->family.peak_bytes);
    free(runner->slots);
    free(runner->fds);
    free(runner);
    return NULL;
}
