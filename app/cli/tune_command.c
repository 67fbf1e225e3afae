/* SPDX-License-Identifier: Apache-2.0 */
/* kerf tune: the fastest setting of a program, found by running it. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/llama_preset.h"
#include "cli/tune_checks.h"
#include "cli/tune_options.h"
#include "cli/tune_run.h"

static const char *const examples[] = {
    "Batch and micro-batch of a benchmark",
    "kerf tune --param batch=16..2048:x2 --param ubatch=2..2048:x2 -w 'ubatch <= batch' -d batch=2048,ubatch=512 "
    "--prefer smaller:ubatch,batch -- ./bench -b {batch} -ub {ubatch}",
    "Threads and a compiler's flag, ten minutes at most",
    "kerf tune --param threads=1..16 --param 'lto?=-flto' --budget 10m -- make -j{threads} CFLAGS={lto}",
    "Tokens per second that a program prints",
    "kerf tune --param batch=1..64:x2 --objective 'regex:([0-9.]+) tokens/s' --maximize -- ./serve --batch {batch}",
    "Batch and ubatch of a model",
    "kerf tune llama model.gguf --context 4096",
    "Where it was",
    "kerf tune --resume",
    NULL,
};

static const struct command_use uses[] = {{"COMMAND", "-- COMMAND..."}, {"llama", "llama MODEL.gguf"}, {NULL, NULL}};

static const struct command_exit exits[] = {
    {"0", "confident of the answer"},
    {"1", "the budget was spent, or the machine is too noisy to tell: what is known was printed"},
    {"2", "bad usage or input"},
    {"3", "nothing could be measured"},
    {"130", "interrupted with Ctrl-C: what is known was printed, and --resume goes on"},
    {NULL, NULL},
};

static const struct command table = {
    .name = "tune",
    .summary = "the fastest setting of a program, found in few runs",
    .description =
        "Runs COMMAND with one setting after the other, and decides by what it saw which to measure next, until the "
        "answer is within --within of the best of all settings with the probability --confidence. It then says so in "
        "words: the setting, the gain over the default, what is as good, and how many measurements it took.\n\n"
        "Every measurement is a fresh run, or a fresh context of a worker (docs/workers.md). Those that something else "
        "disturbed are made again. Each is in a journal before the next begins: `kerf studies` lists them, --resume "
        "goes on after whatever happened.\n\n"
        "`llama` is COMMAND made ready for llama.cpp: it loads the model once, makes a fresh context for each "
        "measurement, "
        "tunes batch and ubatch up to the context, recommends the smallest that are within the margin, and ends with "
        "the "
        "options for llama.cpp's programs.",
    .options = tune_option_table,
    .examples = examples,
    .arguments_offset = offsetof(struct tune_options, words),
    .uses = uses,
    .exits = exits,
};

/* ---- Which study --------------------------------------------------------------------------------------------- */

/* The study to go on with: the one that was named, or the newest. */
static int32_t read_resumed(const struct tune_options *values, struct kerf_study_record **ret_record,
                            struct kerf_error *err) {
    struct kerf_study_strings ids = {0};
    struct kerf_study_record *record = NULL;
    int32_t code = tune_check_resumed(values, err);
    if (code == KERF_OK && values->study == NULL) {
        code = kerf_study_ids(&ids, err);
        if (code == KERF_OK && ids.count == 0)
            code = kerf_error_set(err, KERF_EUNKNOWN, "there is no study to go on with");
    }
    if (code == KERF_OK) code = kerf_study_record_read(values->study ? values->study : ids.items[0], &record, err);
    kerf_study_ids_free(&ids);
    if (code != KERF_OK) return code;
    if (values->max_observations) record->request.max_observations = values->max_observations;
    if (values->show_output) record->request.show_output = 1;
    *ret_record = record;
    return KERF_OK;
}

/* ---- llama --------------------------------------------------------------------------------------------------- */

static int is_llama(const struct tune_options *values) {
    return values->words.count > 0 && strcmp(values->words.items[0], "llama") == 0;
}

/* Fills in what the preset knows. */
static int32_t read_llama(const struct tune_options *values, struct llama_preset *preset,
                          struct kerf_study_request *request, struct kerf_error *err) {
    const struct llama_question question = {.model = values->words.items[1],
                                            .context = values->context,
                                            .threads = values->threads,
                                            .gpu_layers = values->gpu_layers == TUNE_NOT_GIVEN ? 0 : values->gpu_layers,
                                            .also = values->also,
                                            .conform_to_imatrix = values->conform_to_imatrix,
                                            .outputs = values->logits ? values->logits : "all"};
    if (request->prefer == NULL) request->prefer = LLAMA_PREFERENCE;
    return llama_preset_make(&question, preset, request, err);
}

/* ---- Running it ---------------------------------------------------------------------------------------------- */

/* What a study is made of until it has ended. */
struct tune_sources {
    struct kerf_study_request request;
    struct kerf_study_record *record; /* of the study that goes on; NULL: a new one */
    struct llama_preset llama;
    struct kerf_tune_space *space;
};

static int32_t read_sources(const struct tune_options *values, struct tune_sources *sources, struct kerf_error *err) {
    int32_t code = tune_check_name(values, err);
    if (code != KERF_OK) return code;
    if (values->resume) {
        code = read_resumed(values, &sources->record, err);
        if (code != KERF_OK || sources->record->request.preset == NULL) return code;
        code = llama_preset_recall(&sources->record->request, &sources->llama, err);
        return code == KERF_OK
                   ? llama_preset_skip(&sources->llama, &sources->record->request, sources->record->space, err)
                   : code;
    }
    code = is_llama(values) ? tune_check_llama(values, err) : tune_check_not_llama(values, err);
    if (code == KERF_OK) code = tune_options_request(values, &sources->request, err);
    if (code != KERF_OK || !is_llama(values)) return code;
    code = read_llama(values, &sources->llama, &sources->request, err);
    if (code == KERF_OK) code = kerf_study_request_space(&sources->request, &sources->space, err);
    return code == KERF_OK ? llama_preset_skip(&sources->llama, &sources->request, sources->space, err) : code;
}

static int32_t answer(const struct tune_options *values, int *ret_status, struct kerf_error *err) {
    struct tune_sources sources = {.record = NULL};
    struct tune_run run = {.plan = {.keep_journal = !values->no_journal,
                                    .use_earlier = !values->fresh,
                                    .budget_s = values->budget_s,
                                    .patience_s = values->patience_s},
                           .format = values->format,
                           .outputs = &values->outputs};
    int32_t code = read_sources(values, &sources, err);
    if (code == KERF_OK) {
        run.plan.request = sources.record ? &sources.record->request : &sources.request;
        run.plan.resumed = sources.record;
        run.plan.skipped = sources.llama.skipped;
        if (run.plan.request->preset) run.llama = &sources.llama;
        if (values->study && !sources.record) snprintf(run.plan.id, sizeof run.plan.id, "%s", values->study);
        code = tune_run(&run, ret_status, err);
    }
    kerf_tune_space_free(sources.space);
    llama_preset_free(&sources.llama);
    kerf_study_record_free(sources.record);
    return code;
}

static int run(int argc, char **argv) {
    struct tune_options values = tune_options_unset;
    struct kerf_error err;
    int ended, status = cli_parse(&tune_cli, argc, argv, &values);
    if (status >= 0) return status;
    interrupt_catch();
    int32_t code = answer(&values, &ended, &err);
    options_free(&table, &values);
    if (code == KERF_EINFEASIBLE) err.code = KERF_EINVALID; /* a grid without settings: the question is at fault */
    return code == KERF_OK ? ended : cli_fail(&err);
}

const struct cli_command tune_cli = {&table, run};
