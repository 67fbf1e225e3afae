/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llama_program.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Finding it ---------------------------------------------------------------------------------------------- */

static const char *beside_kerf(struct sketch *sketch, const char *relative) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return NULL;
    path[length] = 0;
    char *slash = strrchr(path, '/');
    if (slash) *slash = 0;
    const char *worker = sketch_printf(sketch, "%s/%s", path, relative);
    return access(worker, X_OK) == 0 ? worker : NULL;
}

static const char *find_worker(struct sketch *sketch) {
    const char *own = getenv("KERF_LLAMA_WORKER");
    const char *worker = own && *own ? own : beside_kerf(sketch, "kerf-llama-worker");
    return worker ? worker : beside_kerf(sketch, "../libexec/kerf/kerf-llama-worker");
}

static int is_in_path(const char *name) {
    const char *path = getenv("PATH");
    char file[PATH_MAX];
    for (const char *end; path && *path; path = *end ? end + 1 : end) {
        end = path + strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)(end - path), path, name);
        if (access(file, X_OK) == 0) return 1;
    }
    return 0;
}

int32_t llama_program_find(struct sketch *sketch, struct llama_program *ret_program, struct kerf_error *err) {
    const char *worker = find_worker(sketch);
    if (worker == NULL && !is_in_path("llama-bench"))
        return kerf_error_set(err, KERF_EUNSUPPORTED,
                              "there is neither kerf-llama-worker (built where pkg-config finds llama, or for "
                              "$KERF_LLAMA_DIR) nor llama-bench in $PATH: nothing runs llama.cpp");
    *ret_program = (struct llama_program){worker};
    return KERF_OK;
}

/* ---- Its command --------------------------------------------------------------------------------------------- */

enum { WORDS_MOST = 32 };

static void add(struct kerf_study_strings *words, const char *word) { words->items[words->count++] = word; }

static void add_option(struct kerf_study_strings *words, struct sketch *sketch, const char *option, int64_t value) {
    add(words, option);
    add(words, sketch_printf(sketch, "%" PRId64, value));
}

static void worker_words(const char *worker, const struct llama_question *question, struct sketch *sketch,
                         const char *policy, struct kerf_study_strings *words) {
    add(words, worker);
    add(words, "--model");
    add(words, question->model);
    add_option(words, sketch, "--context", question->context);
    add_option(words, sketch, "--threads", question->threads);
    add_option(words, sketch, "--gpu-layers", question->gpu_layers);
    add(words, "--logits");
    add(words, question->outputs);
    if (policy && strcmp(policy, "best_bub") == 0) add(words, "--no-warmup"); /* as there */
}

/* llama-bench's own options for the parameters of the grid; its other ones come first. */
static void bench_words(const struct llama_question *question, const struct kerf_tune_space *space,
                        struct sketch *sketch, struct kerf_study_strings *words) {
    static const struct {
        const char *name, *option;
    } options[] = {{"batch", "-b"},     {"ubatch", "-ub"},   {"threads", "-t"},          {"gpu_layers", "-ngl"},
                   {"kv_type", "-ctk"}, {"kv_type", "-ctv"}, {"flash_attention", "-fa"}, {"mmap", "-lm"}};
    static const char *const fixed[] = {"-n", "0", "-r", "1", "-o", "jsonl"};
    int has_threads = 0, has_layers = 0;
    add(words, "llama-bench");
    add(words, "-m");
    add(words, question->model);
    add_option(words, sketch, "-p", question->context - 1);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) add(words, fixed[i]);
    for (int32_t p = 0; p < space->num_params; p++)
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            if (strcmp(space->params[p].name, options[i].name) != 0) continue;
            add(words, options[i].option);
            add(words, sketch_printf(sketch, "{%s}", options[i].name));
            has_threads |= strcmp(options[i].name, "threads") == 0;
            has_layers |= strcmp(options[i].name, "gpu_layers") == 0;
        }
    if (!has_threads) add_option(words, sketch, "-t", question->threads);
    if (!has_layers) add_option(words, sketch, "-ngl", question->gpu_layers);
}

void llama_program_command(const struct llama_program *program, const struct llama_question *question,
                           const struct kerf_tune_space *space, struct sketch *sketch,
                           struct kerf_study_request *request) {
    struct kerf_study_strings words = {sketch_alloc(sketch, WORDS_MOST, sizeof *words.items), 0};
    request->protocol = program->worker ? "worker" : "llama-bench";
    if (words.items == NULL) return;
    if (program->worker)
        worker_words(program->worker, question, sketch, request->policy, &words);
    else
        bench_words(question, space, sketch, &words);
    request->words = words;
}

/* ---- The question of a command ------------------------------------------------------------------------------- */

static const char *word_after(const struct kerf_study_request *request, const char *of_worker, const char *of_bench) {
    for (int32_t i = 0; i + 1 < request->words.count; i++)
        if (strcmp(request->words.items[i], of_worker) == 0 || strcmp(request->words.items[i], of_bench) == 0)
            return request->words.items[i + 1];
    return NULL;
}

int32_t llama_program_recall(const struct kerf_study_request *request, struct llama_question *ret_question,
                             struct kerf_error *err) {
    const char *model = word_after(request, "--model", "-m"), *context = word_after(request, "--context", "-p");
    const char *threads = word_after(request, "--threads", "-t"), *layers = word_after(request, "--gpu-layers", "-ngl");
    const char *outputs = word_after(request, "--logits", "--logits");
    if (model == NULL || context == NULL)
        return kerf_error_set(err, KERF_ESYNTAX, "the study's command names no model");
    int is_bench = strcmp(request->protocol, "llama-bench") == 0;
    *ret_question = (struct llama_question){.model = model,
                                            .context = strtoll(context, NULL, 10) + is_bench,
                                            .threads = threads ? strtoll(threads, NULL, 10) : 0,
                                            .gpu_layers = layers ? strtoll(layers, NULL, 10) : 0,
                                            .outputs = outputs ? outputs : "all"};
    return KERF_OK;
}
