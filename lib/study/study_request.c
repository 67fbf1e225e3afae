/* SPDX-License-Identifier: Apache-2.0 */
/* A request: its defaults, as JSON, as what runs trials and what decides are asked, and its key. */
#include "study/study_request.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "base/error_fill.h"
#include "base/output_limit.h"

void kerf_study_request_defaults(struct kerf_study_request *ret_request) {
    struct kerf_tune_question question;
    kerf_tune_question_defaults(&question);
    *ret_request = (struct kerf_study_request){.objective = "wall",
                                               .protocol = "exit",
                                               .policy = kerf_tune_policy_at(0)->name,
                                               .within = question.within,
                                               .margin = question.margin,
                                               .confidence = question.confidence,
                                               .slots = 1};
}

/* ---- As JSON ------------------------------------------------------------------------------------------------ */

/* The fields of a request, once for writing and reading. X(field) */
#define LISTS(X)   X(params) X(wheres) X(words) X(earlier) X(key_env)
#define STRINGS(X) X(preset) X(defaults) X(prefer) X(policy) X(objective) X(protocol) X(prepare) X(cleanup) X(launcher)
#define REALS(X)   X(within) X(margin) X(confidence) X(load_timeout_s) X(trial_timeout_s)
#define INTEGERS(X)                                                                                                    \
    X(memory_cap_bytes)                                                                                                \
    X(max_observations) X(seed) X(maximize) X(slots) X(warmups) X(ignore_interference) X(show_output)

static void write_list(struct kerf_json *json, const char *key, const struct kerf_study_strings *list) {
    kerf_json_open(json, key, '[');
    for (int32_t i = 0; i < list->count; i++) kerf_json_string(json, NULL, list->items[i]);
    kerf_json_close(json, ']');
}

void kerf_study_request_write(const struct kerf_study_request *request, struct kerf_json *json) {
#define WRITE(field) write_list(json, #field, &request->field);
    LISTS(WRITE)
#undef WRITE
#define WRITE(field) kerf_json_string(json, #field, request->field);
    STRINGS(WRITE)
#undef WRITE
#define WRITE(field) kerf_json_number(json, #field, request->field);
    REALS(WRITE)
#undef WRITE
#define WRITE(field) kerf_json_integer(json, #field, request->field);
    INTEGERS(WRITE)
#undef WRITE
}

/* An older journal may lack it: then it is empty. */
static int read_list(const json_t *array, struct kerf_study_strings *ret_list) {
    size_t count = json_array_size(array);
    if (array && !json_is_array(array)) return 0;
    const char **items = calloc(count + 1, sizeof *items);
    if (items == NULL) return 0;
    for (size_t i = 0; i < count; i++)
        if ((items[i] = json_string_value(json_array_get(array, i))) == NULL) {
            free(items);
            return 0;
        }
    *ret_list = (struct kerf_study_strings){items, (int32_t)count};
    return 1;
}

/* Text that is not there is null. */
static int read_text(const json_t *json, const char **ret_text) {
    *ret_text = json_string_value(json);
    return json == NULL || json_is_null(json) || json_is_string(json);
}

/* An older journal may lack it: then it is 0. */
static int read_integer(const json_t *json, int64_t *ret_value) {
    *ret_value = json_integer_value(json);
    return json == NULL || json_is_integer(json);
}

static int read_real(const json_t *json, double *ret_value) {
    if (!json_is_number(json)) return 0;
    *ret_value = json_number_value(json);
    return 1;
}

int32_t study_request_read(const json_t *document, struct kerf_study_request *ret_request, struct kerf_error *err) {
    struct kerf_study_request request;
    const char *at_fault = NULL;
    int64_t integer;
    kerf_study_request_defaults(&request);
#define READ(field)                                                                                                    \
    if (!read_list(json_object_get(document, #field), &request.field)) at_fault = #field;
    LISTS(READ)
#undef READ
#define READ(field)                                                                                                    \
    if (!read_text(json_object_get(document, #field), &request.field)) at_fault = #field;
    STRINGS(READ)
#undef READ
#define READ(field)                                                                                                    \
    if (!read_real(json_object_get(document, #field), &request.field)) at_fault = #field;
    REALS(READ)
#undef READ
#define READ(field)                                                                                                    \
    if (!read_integer(json_object_get(document, #field), &integer)) at_fault = #field;                                 \
    request.field = (__typeof__(request.field))integer;                                                                \
    if (request.field != integer) at_fault = #field;
    INTEGERS(READ)
#undef READ
    if (request.slots < 1 || request.slots > KERF_STUDY_SLOTS_MAX) at_fault = "slots";
    if (request.objective == NULL) at_fault = "objective";
    if (request.protocol == NULL) at_fault = "protocol";
    if (at_fault) {
        study_request_free(&request);
        return kerf_error_set(err, KERF_ESYNTAX, "\"%s\" in the first line is missing or of the wrong type", at_fault);
    }
    *ret_request = request;
    return KERF_OK;
}

void study_request_free(struct kerf_study_request *request) {
#define GIVE_BACK(field)                                                                                               \
    free(request->field.items);                                                                                        \
    request->field = (struct kerf_study_strings){0};
    LISTS(GIVE_BACK)
#undef GIVE_BACK
}

/* ---- As the library takes it -------------------------------------------------------------------------------- */

int32_t kerf_study_request_space(const struct kerf_study_request *request, struct kerf_tune_space **ret_space,
                                 struct kerf_error *err) {
    return kerf_tune_space_create(request->params.items, request->params.count, request->wheres.items,
                                  request->wheres.count, request->defaults, ret_space, err);
}

struct objective {
    const char *name; /* ends with ':' where a pattern follows */
    int32_t code;
    const char *unit;
};
static const struct objective objectives[] = {{"wall", KERF_TRIAL_WALL, "s"},     {"cpu", KERF_TRIAL_CPU, "s"},
                                              {"memory", KERF_TRIAL_MEMORY, "B"}, {"value", KERF_TRIAL_VALUE, ""},
                                              {"regex:", KERF_TRIAL_REGEX, ""},   {"json:", KERF_TRIAL_JSON, ""}};

/* The limits come last: behind the last of these words, as a regular expression may have them too. */
static const char SUBJECT_TO[] = " subject to ";
static const char *limits_of(const char *text) {
    const char *limits = text + strlen(text);
    for (const char *at = text; (at = strstr(at, SUBJECT_TO)) != NULL; at++) limits = at;
    return limits;
}

/* The second objective stands before them: a name behind one of these. */
static const char *const AND[] = {" and less ", " and more "};

/* Where the objective itself ends; *ret_name: the second one's name, of so many characters; NULL: there is none. */
static const char *end_of(const char *text, const char **ret_name, size_t *ret_length, int32_t *ret_maximize) {
    const char *limits = limits_of(text), *end = limits;
    *ret_name = NULL;
    for (int32_t more = 0; more < 2; more++)
        for (const char *at = text; (at = strstr(at, AND[more])) != NULL && at < limits; at++) {
            const char *name = at + strlen(AND[more]);
            size_t length = output_name_length(name);
            if (length == 0 || name + length != limits) continue;
            *ret_name = name;
            *ret_length = length;
            *ret_maximize = more;
            end = at;
        }
    return end;
}

static const char *objective_end(const char *text) {
    const char *name;
    size_t length;
    int32_t maximize;
    return end_of(text, &name, &length, &maximize);
}

int32_t kerf_study_request_second(const struct kerf_study_request *request, char name[KERF_STUDY_NAME_SIZE],
                                  int32_t *ret_maximize) {
    const char *found;
    size_t length;
    end_of(request->objective, &found, &length, ret_maximize);
    if (found == NULL || length >= KERF_STUDY_NAME_SIZE) return 0;
    memcpy(name, found, length);
    name[length] = 0;
    return 1;
}

const char *kerf_study_second_unit(const char *name) {
    for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++)
        if (strcmp(objectives[i].name, name) == 0) return objectives[i].unit;
    return "";
}

static const struct objective *objective_of(const char *text, const char **ret_pattern) {
    const char *end = objective_end(text);
    for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++) {
        const struct objective *objective = &objectives[i];
        size_t length = strlen(objective->name);
        int has_pattern = objective->name[length - 1] == ':';
        if (strncmp(text, objective->name, length) != 0 || (!has_pattern && text + length != end)) continue;
        *ret_pattern = has_pattern ? text + length : NULL;
        return objective;
    }
    return NULL;
}

/* Where more is better, a worker's value and a program's lines are not times: "wall" then means their number, in a unit
 * of their own. */
static const struct objective *objective_told(const struct kerf_study_request *request, const char **ret_pattern) {
    const struct objective *objective = objective_of(request->objective, ret_pattern);
    int tells = strcmp(request->protocol, "worker") == 0 || strcmp(request->protocol, "lines") == 0;
    if (objective && objective->code == KERF_TRIAL_WALL && request->maximize && tells)
        return objective_of("value", ret_pattern);
    return objective;
}

int study_request_is_local(const struct kerf_study_request *request) {
    const char *pattern;
    const struct objective *objective = objective_told(request, &pattern);
    return objective && (objective->code == KERF_TRIAL_CPU || objective->code == KERF_TRIAL_MEMORY);
}

/* Whether the second objective's name is that of the first: "wall", or the key of "json:p99_ms". */
static int is_objective(const char *objective, const char *second) {
    size_t length = (size_t)(objective_end(objective) - objective);
    size_t json = strncmp(objective, "json:", 5) == 0 ? 5 : 0;
    return length - json == strlen(second) && memcmp(objective + json, second, length - json) == 0;
}

int32_t study_request_limit(const struct kerf_study_request *request, struct kerf_trial_runner *runner,
                            struct kerf_error *err) {
    const char *at = limits_of(request->objective);
    char limit[200], second[KERF_STUDY_NAME_SIZE];
    int32_t maximize;
    if (kerf_study_request_second(request, second, &maximize)) {
        if (is_objective(request->objective, second))
            return kerf_error_set(err, KERF_EINVALID, "'%s' is the objective already; a Pareto front is of two",
                                  second);
        int32_t code = kerf_trial_runner_tell(runner, second, err);
        if (code != KERF_OK) return code;
    }
    for (at += *at ? sizeof SUBJECT_TO - 1 : 0; *at;) {
        size_t length = strcspn(at, ",");
        snprintf(limit, sizeof limit, "%.*s", (int)length, at);
        int32_t code = kerf_trial_runner_limit(runner, limit, err);
        if (code != KERF_OK) return code;
        at += length + (at[length] == ',');
    }
    return KERF_OK;
}

int32_t study_request_command(const struct kerf_study_request *request, struct arena *arena,
                              struct kerf_trial_command *ret_command, struct kerf_error *err) {
    const char *pattern = NULL;
    const struct objective *objective = objective_told(request, &pattern);
    if (pattern) {
        pattern = arena_copy(arena, pattern, (size_t)(objective_end(request->objective) - pattern));
        if (pattern == NULL) return error_no_memory(err, "the objective");
    }
    if (objective == NULL || (pattern && *pattern == 0))
        return kerf_error_set(err, KERF_EINVALID,
                              "--objective '%.64s' must be wall, cpu, memory, value, regex:EXPRESSION or json:PATH",
                              request->objective);
    int is_of_estimate = request->preset != NULL; /* the cap left settings out by it, and weights are beside it */
    *ret_command =
        (struct kerf_trial_command){.words = request->words.items,
                                    .num_words = request->words.count,
                                    .protocol = request->protocol,
                                    .fresh_worker = request->policy && strcmp(request->policy, "best_bub") == 0,
                                    .objective = objective->code,
                                    .pattern = pattern,
                                    .prepare = request->prepare,
                                    .cleanup = request->cleanup,
                                    .launcher = request->launcher,
                                    .slots = request->slots,
                                    .load_timeout_s = request->load_timeout_s,
                                    .trial_timeout_s = request->trial_timeout_s,
                                    .memory_cap_bytes = is_of_estimate ? 0 : request->memory_cap_bytes,
                                    .show_output = request->show_output,
                                    .watch_machine = !request->ignore_interference && request->launcher == NULL,
                                    .root = getenv("KERF_FSROOT")};
    return KERF_OK;
}

const char *kerf_study_request_unit(const struct kerf_study_request *request) {
    const char *pattern;
    const struct objective *objective = objective_told(request, &pattern);
    return objective ? objective->unit : "";
}

/* A slow run can be stopped early where the objective is a time, and less of it is better. */
static int is_time(const struct kerf_study_request *request) {
    return !request->maximize && strcmp(kerf_study_request_unit(request), "s") == 0;
}

void study_request_question(const struct kerf_study_request *request, const struct kerf_tune_space *space,
                            struct kerf_tune_question *ret_question) {
    kerf_tune_question_defaults(ret_question);
    ret_question->space = space;
    ret_question->policy = request->policy;
    ret_question->prefer = request->prefer;
    ret_question->within = request->within;
    ret_question->margin = request->margin;
    ret_question->confidence = request->confidence;
    ret_question->maximize = request->maximize;
    ret_question->is_time = is_time(request);
    ret_question->max_observations = (int32_t)request->max_observations;
    ret_question->seed = request->seed;
}

/* ---- The key --------------------------------------------------------------------------------------------------- */

/* Which studies measured the same thing: FNV-1a over the command, the files that it names, the objective, the
 * environment variables that change the speed of many programs, and the machine. It only has to tell one user's studies
 * apart and protects nothing. */

#define FNV_BASIS UINT64_C(14695981039346656037)

struct key {
    uint64_t hash;
};

static void add(struct key *key, const char *text) {
    const char *c = text ? text : "";
    do {
        key->hash = (key->hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    } while (*c++); /* with the NUL, so that "a", "bc" differs from "ab", "c" */
}

/* A program rebuilt or a model replaced is another one. */
static void add_file(struct key *key, const char *path) {
    struct stat status;
    char text[96];
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return;
    snprintf(text, sizeof text, "%" PRId64 " %" PRId64 ".%09ld", (int64_t)status.st_size,
             (int64_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    add(key, text);
}

static void add_program(struct key *key, const char *name) {
    const char *path = getenv("PATH");
    char file[4096];
    if (strchr(name, '/') || path == NULL) return; /* add_file has it */
    for (const char *end; *path; path = *end ? end + 1 : end) {
        end = path + strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)(end - path), path, name);
        if (access(file, X_OK) != 0) continue;
        add_file(key, file);
        return;
    }
}

/* The first line of a file of /proc that holds `word`, all of it where word is NULL. */
static void add_line(struct key *key, const char *path, const char *word) {
    char line[512];
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file))
        if (word == NULL || strncmp(line, word, strlen(word)) == 0) {
            add(key, line);
            if (word) break;
        }
    fclose(file);
}

static void add_machine(struct key *key) {
    struct utsname name;
    cpu_set_t set;
    char text[32];
    if (uname(&name) == 0) {
        add(key, name.nodename);
        add(key, name.machine);
    }
    add_line(key, "/proc/cpuinfo", "model name");
    add_line(key, "/proc/driver/nvidia/version", NULL);
    snprintf(text, sizeof text, "%d", sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0);
    add(key, text);
}

/* ---- The environment ----------------------------------------------------------------------------------------- */

static int is_name(const char *name, size_t length) {
    for (size_t i = 0; i < length; i++) {
        int is_digit = name[i] >= '0' && name[i] <= '9', is_lower = name[i] >= 'a' && name[i] <= 'z';
        int is_upper = name[i] >= 'A' && name[i] <= 'Z';
        if (!is_lower && !is_upper && name[i] != '_' && !(is_digit && i > 0)) return 0;
    }
    return length > 0;
}

int32_t study_key_check(const struct kerf_study_request *request, struct kerf_error *err) {
    for (int32_t i = 0; i < request->key_env.count; i++)
        for (const char *at = request->key_env.items[i];; at++) {
            size_t length = strcspn(at, ",");
            if (!is_name(at, length))
                return kerf_error_set(err, KERF_EINVALID,
                                      "--key-env '%.64s' must be names of environment variables, such as HF_HOME,MODE",
                                      request->key_env.items[i]);
            if (at[length] == 0) break;
            at += length;
        }
    return KERF_OK;
}

/* Whether "NAME=value" has this name. */
static int is_variable(const char *entry, const char *name, size_t length) {
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static int is_in_list(const struct kerf_study_strings *list, const char *entry) {
    for (int32_t i = 0; i < list->count; i++)
        for (const char *at = list->items[i];; at++) {
            size_t length = strcspn(at, ",");
            if (is_variable(entry, at, length)) return 1;
            if (at[length] == 0) break;
            at += length;
        }
    return 0;
}

static int is_of_key(const char *entry, const struct kerf_study_strings *key_env) {
    static const char *const always[] = {"CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (is_variable(entry, always[i], strlen(always[i]))) return 1;
    return strncmp(entry, "OMP_", 4) == 0 || is_in_list(key_env, entry);
}

/* The order of variables does not matter: their hashes are added. Without any of them nothing is added. */
static void add_environment(struct key *key, const struct kerf_study_strings *key_env) {
    uint64_t sum = 0;
    int32_t count = 0;
    char text[32];
    for (char **entry = environ; *entry; entry++) {
        struct key own = {FNV_BASIS};
        if (!is_of_key(*entry, key_env)) continue;
        add(&own, *entry);
        sum += own.hash;
        count++;
    }
    if (count == 0) return;
    snprintf(text, sizeof text, "%016" PRIx64, sum);
    add(key, text);
}

void study_key(const struct kerf_study_request *request, char key[KERF_STUDY_KEY_SIZE]) {
    struct key sum = {FNV_BASIS};
    for (int32_t i = 0; i < request->words.count; i++) {
        add(&sum, request->words.items[i]);
        add_file(&sum, request->words.items[i]);
    }
    if (request->words.count > 0) add_program(&sum, request->words.items[0]);
    for (int32_t i = 0; i < request->params.count; i++) { /* a flag's words are the command's too */
        const char *text = strchr(request->params.items[i], '=');
        if (text && text > request->params.items[i] && text[-1] == '?') add(&sum, request->params.items[i]);
    }
    add(&sum, request->objective);
    if (request->maximize && kerf_study_request_unit(request)[0] == 0) add(&sum, "more"); /* a score is no time */
    add(&sum, request->protocol);
    add(&sum, request->launcher);
    add(&sum, request->prepare);
    add_environment(&sum, &request->key_env);
    add_machine(&sum);
    snprintf(key, KERF_STUDY_KEY_SIZE, "%016" PRIx64, sum.hash);
}
