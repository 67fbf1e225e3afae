/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a launch: its form, the command in it that starts the training, the framework, and the number of accelerators.
 * The rest is the framework's reader. Of several commands the one that a reader is surest of counts, of equals the last.
 */
#include <ctype.h>
#include <string.h>
#include "base/error_fill.h"
#include "launch/launch_flags.h"
#include "launch/launch_reading.h"
#include "launch/shell.h"

static const struct launch_reader *const launch_readers[KERF_FRAMEWORK_COUNT] = {
    [KERF_FRAMEWORK_MEGATRON] = &launch_megatron,
    [KERF_FRAMEWORK_MEGATRON_DEEPSPEED] = &launch_megatron_deepspeed,
    [KERF_FRAMEWORK_TORCHTITAN] = &launch_torchtitan,
    [KERF_FRAMEWORK_NANOTRON] = &launch_nanotron,
    [KERF_FRAMEWORK_DEEPSPEED_HF] = &launch_deepspeed_hf,
    [KERF_FRAMEWORK_MLPERF_NEMO] = &launch_mlperf_nemo,
    [KERF_FRAMEWORK_MEGATRON_BRIDGE] = &launch_megatron_bridge,
};

/* ---- The form of a text ------------------------------------------------------------------------------------------ */

static int ends_with(const char *name, const char *ending) {
    size_t length = strlen(name), of_ending = strlen(ending);
    return length > of_ending && strcmp(name + length - of_ending, ending) == 0;
}

/* By the file's name, else by the first line that is no comment. */
static enum launch_form form_of(const char *name, const char *text, size_t length) {
    const char *end = text + length;
    int is_named_script = ends_with(name, ".sh") || ends_with(name, ".slurm"); /* which may hold what --emit wrote */
    if (ends_with(name, ".toml")) return LAUNCH_TOML;
    if (ends_with(name, ".yaml") || ends_with(name, ".yml")) return LAUNCH_YAML;
    if (ends_with(name, ".json")) return LAUNCH_JSON;
    if (length > 1 && text[0] == '#' && text[1] == '!') return LAUNCH_SCRIPT;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (stop == NULL) stop = end;
        while (text < stop && isspace((unsigned char)*text)) text++;
        if (text == stop || *text == '#') {
            text = stop + (stop < end);
            continue;
        }
        if (*text == '{') return is_named_script ? LAUNCH_SCRIPT : LAUNCH_JSON;
        if (*text == '[' && text + 1 < stop && isalpha((unsigned char)text[1])) return LAUNCH_TOML;
        const char *key = text;
        while (text < stop && (isalnum((unsigned char)*text) || *text == '_')) text++;
        int is_key =
            text > key && text < stop && *text == ':' && (text + 1 == stop || text[1] == ' ' || text[1] == '\r');
        return is_key ? LAUNCH_YAML : LAUNCH_SCRIPT;
    }
    return LAUNCH_SCRIPT;
}

/* The lines of comments, and what stands behind '#' in others. */
static const char *gather_comments(struct arena *arena, const char *text, size_t length) {
    const char *end = text + length;
    struct kerf_text all = {0};
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (stop == NULL) stop = end;
        const char *mark = memchr(text, '#', (size_t)(stop - text));
        if (mark) {
            kerf_text_write(&all, mark, (size_t)(stop - mark));
            kerf_text_add(&all, "\n");
        }
        text = stop + (stop < end);
    }
    const char *copy = all.failed ? NULL : arena_copy(arena, all.data ? all.data : "", all.length);
    kerf_text_free(&all);
    return copy;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

/* -5 and -1e-3 are values, --lr and -N flags. */
static int is_flag(const char *word) {
    return word[0] == '-' && word[1] != 0 && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

/* Adds --key value ..., --key=value and key=value. */
static int add_flags(struct launch_table *table, const char *const *words, int32_t count, int32_t line) {
    for (int32_t i = 0; i < count;) {
        const char *word = words[i], *equal = strchr(word, '=');
        int32_t next = i + 1;
        if (!is_flag(word) && equal == NULL) {
            i = next;
            continue;
        }
        word += strspn(word, "-+");
        struct launch_entry *added = NULL;
        if (equal) {
            const char *key = arena_copy(table->arena, word, equal > word ? (size_t)(equal - word) : 0),
                       *value = equal + 1;
            if (key) added = launch_add(table, key, &value, 1, line);
        } else {
            while (next < count && !is_flag(words[next])) next++;
            added = launch_add(table, word, words + i + 1, next - i - 1, line);
        }
        if (added == NULL) return 0;
        i = next;
    }
    return 1;
}

/* The index of the word that is the program: a .py or .sh file, the module behind -m; count: there is none. */
static int32_t find_program(const char *const *words, int32_t count) {
    if (count && is_flag(words[0])) return -1;
    for (int32_t i = 0; i < count; i++) {
        if (ends_with(words[i], ".py")) return i;
        if (ends_with(words[i], ".sh") && (i == 0 || i + 1 == count || !is_flag(words[i]))) return i;
        if (i && strcmp(words[i - 1], "-m") == 0 && strncmp(words[i], "torch.distributed", 17) != 0 &&
            strncmp(words[i], "accelerate", 10) != 0 && strncmp(words[i], "deepspeed", 9) != 0)
            return i;
    }
    return count;
}

static int take_command(struct launch_reading *r, const struct shell *shell, int32_t index) {
    const struct shell_command *command = &shell->commands[index];
    int32_t at = find_program(command->words, command->num_words);
    r->table = r->launcher = r->variables = (struct launch_table){.arena = r->arena};
    r->program = at >= 0 && at < command->num_words ? command->words[at] : "";
    int is_fine = 1;
    if (at < command->num_words)
        is_fine = add_flags(&r->table, command->words + at + 1, command->num_words - at - 1, command->line);
    if (at > 0) is_fine = is_fine && add_flags(&r->launcher, command->words, at, command->line);
    if (at > 0) {
        const char *slash = strrchr(command->words[0], '/');
        const char *value = slash ? slash + 1 : command->words[0];
        is_fine = is_fine && launch_add(&r->launcher, "launcher", &value, 1, command->line) != NULL;
    }
    for (int32_t i = 0; is_fine && i < shell->num_variables; i++) {
        const struct shell_variable *variable = &shell->variables[i];
        is_fine = launch_add(&r->variables, variable->name, variable->items, variable->count, 0) != NULL;
    }
    for (int32_t i = 0; is_fine && i < command->num_settings; i++) {
        const char *equal = strchr(command->settings[i], '=');
        if (equal == NULL) continue;
        const char *value = equal + 1;
        const char *key = arena_copy(r->arena, command->settings[i], (size_t)(equal - command->settings[i]));
        is_fine = key && launch_add(&r->variables, key, &value, 1, command->line) != NULL;
    }
    return is_fine;
}

/* Slurm's flags, in lines #SBATCH and in srun commands around the one that counts. */
static int add_slurm(struct launch_reading *r, const struct shell *shell) {
    const char *line = r->comments;
    int is_fine = 1;
    for (int32_t i = 0; i < shell->num_commands; i++) {
        const struct shell_command *command = &shell->commands[i];
        if (strcmp(command->words[0], "srun") != 0 && strcmp(command->words[0], "mpirun") != 0) continue;
        int32_t program = find_program(command->words, command->num_words);
        is_fine = is_fine && add_flags(&r->launcher, command->words, program > 0 ? program : 0, command->line);
    }
    while (is_fine && (line = strstr(line, "#SBATCH")) != NULL) {
        enum { WORDS = 64 };
        const char *words[WORDS];
        int32_t count = 0;
        size_t length = strcspn(line, "\n");
        char *copy = arena_copy(r->arena, line + 7, length - 7), *rest = NULL;
        if (copy == NULL) return 0;
        for (char *word = strtok_r(copy, " \t\r", &rest); word && count < WORDS;
             word = strtok_r(NULL, " \t\r", &rest)) {
            if (word[0] == '#') break;
            words[count++] = word;
        }
        is_fine = add_flags(&r->launcher, words, count, 0);
        line += length;
    }
    return is_fine;
}

/* Which reader is surest of what has been taken; NULL: none is. The reader that the caller named is sure of all that has
 * flags. */
static const struct launch_reader *recognise(struct launch_reading *r, const struct launch_reader *wanted,
                                             int32_t *ret_score) {
    const struct launch_reader *best = NULL;
    *ret_score = 0;
    for (int32_t i = 0; i < KERF_FRAMEWORK_COUNT; i++) {
        if (wanted && launch_readers[i] != wanted) continue;
        int32_t score = launch_readers[i]->score(r);
        if (score > *ret_score) *ret_score = score, best = launch_readers[i];
    }
    return best;
}

static const struct launch_reader *read_script(struct launch_reading *r, const struct launch_reader *wanted,
                                               const char *text, size_t length) {
    struct shell *shell = arena_alloc(r->arena, 1, sizeof *shell);
    const struct launch_reader *best = NULL;
    int32_t best_score = 0, best_at = -1, score = 0, most = 0, most_at = -1;
    if (shell == NULL) {
        r->code = error_no_memory(r->err, "a launch");
        return NULL;
    }
    shell->arena = r->arena;
    shell->name = r->name;
    shell->err = r->err;
    shell->assumed = &r->assumed;
    if ((r->code = shell_follow(shell, text, length)) != KERF_OK) return NULL;
    r->files = shell->files;
    r->num_files = shell->num_files;
    if (shell->num_commands == SHELL_COMMANDS_MAX) shell->num_commands--; /* the place of the empty one */
    const char *nothing[] = {""};
    int32_t count = shell->num_commands;
    shell->commands[count] = (struct shell_command){.words = nothing, .num_words = 1};
    int is_fine = 1;
    for (int32_t i = 0; is_fine && i <= count; i++) {
        is_fine = take_command(r, shell, i);
        const struct launch_reader *reader = recognise(r, wanted, &score);
        if (reader && score >= best_score) best = reader, best_score = score, best_at = i;
        if (r->table.count >= most && r->table.count) most = r->table.count, most_at = i;
    }
    if (best == NULL && wanted && most_at >= 0) best = wanted, best_at = most_at;
    if (best == NULL) best_at = count;
    if (is_fine) is_fine = take_command(r, shell, best_at) && add_slurm(r, shell);
    if (!is_fine)
        r->code = kerf_error_set(r->err, KERF_EINVALID, "%.200s: the launch has more flags than kerf reads", r->name);
    return best;
}

/* ---- Accelerators ------------------------------------------------------------------------------------------------ */

/* The number that the launcher's flag has; "2:4" is 4, "gpu:h100:8" 8. 0: not there, or not known. */
static int64_t launcher_number(struct launch_reading *r, const char *const *keys) {
    for (; *keys; keys++) {
        const struct launch_entry *entry = launch_find(&r->launcher, *keys);
        int64_t value = 0;
        if (entry == NULL || entry->num_values == 0) continue;
        const char *word = entry->values[0], *colon = strrchr(word, ':');
        if (launch_whole_number(colon ? colon + 1 : word, &value) && value > 0 && value <= KERF_COUNT_MAX) return value;
    }
    return 0;
}

static int64_t from_launcher(struct launch_reading *r) {
    static const char *const nodes_keys[] = {"nnodes", "num_nodes", "num_machines", "nodes", "N", NULL};
    static const char *const each_keys[] = {"nproc_per_node", "num_gpus",        "gpus-per-node",
                                            "gres",           "ntasks-per-node", NULL};
    static const char *const all_keys[] = {"num_processes", "ntasks", "np", "n", NULL};
    const struct launch_entry *launcher = launch_find(&r->launcher, "launcher");
    int64_t nodes = launcher_number(r, nodes_keys), each = launcher_number(r, each_keys), product = 0;
    if (nodes == 0 && each == 0) return launcher_number(r, all_keys);
    if (each == 0 && launcher && strcmp(launcher->values[0], "deepspeed") == 0) {
        each = 8;
        reading_assume(r, "gpus_per_node", "8");
    }
    if (nodes == 0 && each && launch_find(&r->launcher, "nnodes") == NULL && launcher &&
        strcmp(launcher->values[0], "srun") != 0) {
        nodes = 1;
        reading_assume(r, "nodes", "1, the launcher's default");
    }
    return __builtin_mul_overflow(nodes, each, &product) || product > KERF_COUNT_MAX ? 0 : product;
}

/* "NUM_GPUS=64" or "64 A100 GPUs" of a comment. */
static int64_t from_comments(struct launch_reading *r) {
    for (const char *at = r->comments; *at; at++) {
        if (strncasecmp(at, "gpus", 4) != 0) continue;
        const char *after = at + 4 + strspn(at + 4, " "), *before = at;
        int64_t value = 0;
        if (*after == '=' || *after == ':')
            for (after += 1 + strspn(after + 1, " "); isdigit((unsigned char)*after) && value < KERF_COUNT_MAX; after++)
                value = value * 10 + (*after - '0');
        for (int words = 0; words < 2 && value == 0; words++) { /* one word may stand between */
            while (before > r->comments && before[-1] == ' ') before--;
            const char *end = before;
            while (before > r->comments && !isspace((unsigned char)before[-1]) && before[-1] != '#') before--;
            char number[16] = "";
            if (end > before && end - before < (ptrdiff_t)sizeof number) memcpy(number, before, (size_t)(end - before));
            if (!launch_whole_number(number, &value)) value = 0;
        }
        if (value > 0 && value <= KERF_COUNT_MAX) {
            reading_assume(r, "gpus", "%lld, from a comment", (long long)value);
            return value;
        }
    }
    return 0;
}

static int64_t from_variables(struct launch_reading *r) {
    static const char *const names[] = {"WORLD_SIZE", "NGPU", "NUM_GPUS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *word = reading_variable_word(r, names[i]);
        int64_t value = 0;
        if (word && launch_whole_number(word, &value) && value > 0 && value <= KERF_COUNT_MAX) return value;
    }
    return 0;
}

/* ---- The layout --------------------------------------------------------------------------------------------------- */

/* Whether all degrees are numbers that a job can have. */
static int check_degrees(struct launch_reading *r) {
    const struct kerf_layout *layout = &r->launch->layout;
    const struct {
        const char *name;
        int64_t value, most;
    } degrees[] = {
        {"tensor-parallel size", layout->tp1, 1 << 20},   {"pipeline-parallel size", layout->pp, KERF_PP_MAX},
        {"context-parallel size", layout->cp, 1 << 20},   {"number of virtual stages", layout->vpp, KERF_PP_MAX},
        {"expert-parallel size", layout->ep, 1 << 20},    {"expert-tensor-parallel size", layout->etp, 1 << 20},
        {"micro-batch", layout->micro_batch + 1, 1 << 30}};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (degrees[i].value < 1 || degrees[i].value > degrees[i].most) {
            reading_fail(r, 0, "the %s must be at least 1 and at most %lld", degrees[i].name,
                         (long long)degrees[i].most);
            return 0;
        }
    return 1;
}

static void lay_out(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    struct kerf_layout *layout = &l->layout;
    int64_t model = launch_product(layout->tp1, layout->pp, layout->cp, 1);
    layout->tp2 = 1;
    layout->dp = model && l->gpus % model == 0 ? l->gpus / model : 0;
    if (layout->dp == 0)
        reading_refuse_gpus(r, "initialize_model_parallel",
                            "tp %lld x pp %lld x cp %d does not divide %lld accelerators", (long long)layout->tp1,
                            (long long)layout->pp, layout->cp, (long long)l->gpus);
    if (layout->schedule[0] == 0) strcpy(layout->schedule, layout->vpp > 1 ? "interleaved_1f1b" : "1f1b");
}

/* torchtitan's default: embedding and head count as layers (generate_llm_fqn_per_model_part). */
static void split_with_ends(struct launch_reading *r, int64_t layers, int64_t stages, int32_t *ret_layers) {
    int64_t first = reading_integer(r, "parallelism.pipeline_parallel_first_stage_less_layers", 1);
    int64_t last = reading_integer(r, "parallelism.pipeline_parallel_last_stage_less_layers", 1);
    int64_t all = layers + first + last;
    for (int64_t i = 0; i < stages; i++) {
        int64_t here = all / stages + (i < all % stages) - (i == 0 ? first : 0) - (i == stages - 1 ? last : 0);
        ret_layers[i] = (int32_t)here;
    }
}

/* Which layers the framework puts on which virtual stage, where its rule is known. */
static int lay_split(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    const struct kerf_layout *layout = &l->layout;
    const struct kerf_runner *runner = kerf_framework_runner((enum kerf_framework)l->framework);
    int64_t stages = layout->pp * layout->vpp, layers = l->config.num_hidden_layers;
    if (l->split || stages == 1 || stages > layers || stages > KERF_STAGES_MAX) return 1;
    int32_t *split = arena_alloc(r->arena, (size_t)stages, sizeof *split);
    if (split == NULL) return 0;
    if (l->framework == KERF_FRAMEWORK_NANOTRON && l->has_model) {
        struct kerf_problem *problem = arena_alloc(r->arena, 1, sizeof *problem);
        if (problem == NULL) return 0;
        problem->model = l->model;
        runner->split(problem, layout, split);
    } else if (l->framework == KERF_FRAMEWORK_TORCHTITAN) {
        split_with_ends(r, layers, stages, split);
    } else if (layers % stages == 0) {
        for (int64_t i = 0; i < stages; i++) split[i] = (int32_t)(layers / stages);
    } else {
        return 1;
    }
    for (int64_t i = 0; i < stages; i++)
        if (split[i] < 1) return 1;
    l->split = split;
    return 1;
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

struct launch_whole {
    struct kerf_launch launch;
    struct arena arena;
};

struct kerf_launch *kerf_launch_free(struct kerf_launch *launch) {
    if (launch == NULL) return NULL;
    struct arena arena = ((struct launch_whole *)launch)->arena; /* which holds the launch as well */
    arena_free(&arena);
    return NULL;
}

static const struct launch_reader *read_form(struct launch_reading *r, const struct launch_reader *wanted,
                                             const char *text, size_t length) {
    int32_t score = 0;
    if (r->form == LAUNCH_SCRIPT) return read_script(r, wanted, text, length);
    r->code = r->form == LAUNCH_TOML   ? launch_toml(&r->table, text, length, r->name, r->err)
              : r->form == LAUNCH_YAML ? launch_yaml(&r->table, text, length, r->name, r->err)
                                       : launch_json(&r->table, text, length, r->name, r->err);
    if (r->code != KERF_OK) return NULL;
    const struct launch_reader *reader = recognise(r, wanted, &score);
    return reader ? reader : wanted;
}

/* Keys that the release does not have, where one is named. */
static void check_version(struct launch_reading *r) {
    enum kerf_framework framework = (enum kerf_framework)r->launch->framework;
    const struct launch_flags *flags = launch_flags_of(framework);
    if (r->options->version == NULL || flags == NULL) return;
    for (int32_t i = 0; i < r->table.count; i++) {
        const struct launch_flag *flag = launch_flags_find(flags, r->table.entries[i].key);
        if (flag && !launch_version_has(flags, r->version, flag))
            reading_refuse(r, "argparse", "%s has no %s: %s %s", flags->versions[r->version], flag->key,
                           flag->until ? "the last with it is" : "it came with",
                           flag->until ? flag->until : flag->since);
    }
}

static int32_t read_all(struct launch_reading *r, const struct launch_reader *wanted, const char *text, size_t length) {
    struct kerf_launch *l = r->launch;
    if (memchr(text, 0, length))
        return launch_fail(r->err, r->name, 0, KERF_ESYNTAX, "the launch holds a byte 0: it is not text");
    r->form = form_of(r->name, text, length);
    r->comments = gather_comments(r->arena, text, length);
    if (r->comments == NULL) return error_no_memory(r->err, "a launch");
    const struct launch_reader *reader = read_form(r, wanted, text, length);
    if (r->code != KERF_OK) return r->code;
    if (reader == NULL)
        return launch_fail(r->err, r->name, 0, KERF_EUNKNOWN,
                           r->options->framework ? "no launch of %.32s is in it"
                                                 : "no launch of a framework that kerf knows is in it: name it "
                                                   "with --framework, or give the script that starts it",
                           r->options->framework);
    l->framework = (int32_t)reader->framework;
    r->code = launch_version(reader->framework, r->options->version, &r->version, r->err);
    if (r->code != KERF_OK) return r->code;
    l->gpus = r->options->gpus;
    if (l->gpus == 0) l->gpus = from_launcher(r);
    if (l->gpus == 0) l->gpus = from_variables(r);
    reader->read(r);
    if (r->code != KERF_OK) return r->code;
    if (r->options->gpus) l->gpus = r->options->gpus;
    if (l->gpus <= 0) l->gpus = from_comments(r);
    if (l->gpus <= 0 || l->gpus > KERF_COUNT_MAX)
        return launch_fail(r->err, r->name, 0, KERF_EINVALID,
                           "the launch does not say on how many accelerators it runs: "
                           "give them with --gpus");
    if (!check_degrees(r)) return r->code;
    lay_out(r);
    if (l->layout.tp1 > 1 && !l->has_sequence_parallel)
        reading_assume(r, "sequence_parallel", "on, for kerf prices no tensor parallelism without it");
    reader->check(r);
    check_version(r);
    if (r->code != KERF_OK) return r->code;
    launch_model(l);
    if (!lay_split(r)) return error_no_memory(r->err, "a launch");
    for (int32_t i = 0; i < r->table.count; i++)
        if (!r->table.entries[i].is_used) reading_ignore(r, r->table.entries[i].key);
    return r->code;
}

int32_t kerf_launch_has_key(const struct kerf_launch *launch, const char *key) {
    for (int32_t i = 0; i < launch->num_keys; i++)
        if (launch_key_equal(launch->keys[i], key)) return 1;
    return 0;
}

static int32_t keep_notes(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    struct kerf_launch_assumption *assumed = arena_alloc(r->arena, (size_t)r->assumed.count + 1, sizeof *assumed);
    if (assumed == NULL) return error_no_memory(r->err, "a launch");
    for (int32_t i = 0; i < r->assumed.count; i++) {
        const struct launch_entry *entry = &r->assumed.entries[i];
        int is_later = 0; /* the last of a key counts */
        for (int32_t j = i + 1; j < r->assumed.count; j++)
            is_later |= strcmp(r->assumed.entries[j].key, entry->key) == 0;
        if (!is_later && entry->num_values)
            assumed[l->num_assumed++] = (struct kerf_launch_assumption){entry->key, entry->values[0]};
    }
    const char **keys = arena_alloc(r->arena, (size_t)r->table.count + 1, sizeof *keys);
    if (keys == NULL) return error_no_memory(r->err, "a launch");
    for (int32_t i = 0; i < r->table.count; i++) keys[i] = r->table.entries[i].key;
    l->keys = keys;
    l->num_keys = r->table.count;
    l->assumed = assumed;
    l->ignored = r->ignored.items;
    l->num_ignored = r->ignored.count;
    l->invalid = r->invalid.items;
    l->num_invalid = r->invalid.count;
    return KERF_OK;
}

int32_t kerf_launch_read(const char *text, size_t length, const char *name, const struct kerf_launch_options *options,
                         struct kerf_launch **ret_launch, struct kerf_error *err) {
    static const struct kerf_launch_options none = {0};
    enum kerf_framework framework = KERF_FRAMEWORK_COUNT;
    struct arena arena = {0};
    int32_t code = KERF_OK;
    if (options == NULL) options = &none;
    if (length > LAUNCH_BYTES_MAX)
        return launch_fail(err, name, 0, KERF_EINVALID, "a launch has at most %d MiB", LAUNCH_BYTES_MAX >> 20);
    if (options->gpus < 0 || options->gpus > KERF_COUNT_MAX)
        return launch_fail(err, name, 0, KERF_EINVALID, "gpus must lie between 1 and %d, or be 0: as the launch says",
                           KERF_COUNT_MAX);
    if (options->framework) code = kerf_framework_parse(options->framework, &framework, err);
    if (code != KERF_OK) return code;
    struct launch_whole *whole = arena_alloc(&arena, 1, sizeof *whole);
    struct launch_reading *r = arena_alloc(&arena, 1, sizeof *r);
    if (whole == NULL || r == NULL) {
        arena_free(&arena);
        return error_no_memory(err, "a launch");
    }
    *r = (struct launch_reading){
        .arena = &arena, .launch = &whole->launch, .name = name, .options = options, .err = err, .program = ""};
    r->table.arena = r->launcher.arena = r->variables.arena = r->assumed.arena = &arena;
    struct kerf_layout *layout = &whole->launch.layout;
    layout->tp1 = layout->tp2 = layout->pp = layout->cp = layout->vpp = layout->ep = layout->etp = 1;
    layout->zero = -1;
    layout->recompute = -1;
    whole->launch.ulysses = 1;
    code = read_all(r, framework == KERF_FRAMEWORK_COUNT ? NULL : launch_readers[framework], text, length);
    if (code == KERF_OK) code = keep_notes(r);
    if (code != KERF_OK) {
        arena_free(&arena);
        return code;
    }
    whole->arena = arena;
    *ret_launch = &whole->launch;
    return KERF_OK;
}
