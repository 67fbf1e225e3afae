/* SPDX-License-Identifier: Apache-2.0 */
/* What `kerf tune llama --objective` measures: the work that llama.cpp is given, by which clock, and what is made of
 * the options of each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "cli/llama_question.h"

static const struct llama_objective objectives[] = {
    {"prompt", LLAMA_PROMPT, 0, "wall", LLAMA_PREFERENCE},
    {"cpu", LLAMA_PROMPT, 1, "wall", LLAMA_PREFERENCE},
    {"generate", LLAMA_GENERATE, 0, "wall", NULL},
    {"generate-cpu", LLAMA_GENERATE, 1, "wall", NULL},
    {"serve", LLAMA_SERVE, 0, "json:tokens_per_s", "smaller:parallel,ubatch"},
    {"serve-cpu", LLAMA_SERVE, 1, "cpu", "smaller:parallel,ubatch"},
};
enum { OBJECTIVES = sizeof objectives / sizeof *objectives, TOKENS_MAX = 1 << 24 };

int32_t llama_objective_find(const char *name, const struct llama_objective **ret_objective, struct kerf_error *err) {
    const char *names[OBJECTIVES];
    for (size_t i = 0; i < OBJECTIVES; i++) {
        names[i] = objectives[i].name;
        if (name && strcmp(name, names[i]) != 0) continue;
        *ret_objective = &objectives[i];
        return KERF_OK;
    }
    const char *nearest = nearest_name(name, names, OBJECTIVES);
    return kerf_error_set(
        err, KERF_EINVALID,
        "--objective '%.64s' of llama must be prompt, cpu, generate, generate-cpu, serve or serve-cpu%s%s%s", name,
        nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* The longest of "64,256": 0 where it is no list of numbers of tokens. */
static int64_t longest(const char *list) {
    int64_t most = 0;
    for (const char *c = list;; c++) {
        char *end;
        long long value = strtoll(c, &end, 10);
        if (end == c || value < 1 || value > TOKENS_MAX || (*end && *end != ',')) return 0;
        if (value > most) most = value;
        if (*end == 0) return most;
        c = end;
    }
}

static int32_t check_lengths(const char *option, const char *list, struct kerf_error *err) {
    if (longest(list) > 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "--%s '%.64s' must be numbers of tokens such as 64,256", option, list);
}

/* Which options belong to the work of one objective alone. */
static int32_t check_given(const struct llama_question *question, struct kerf_error *err) {
    const struct {
        const char *option, *objective;
        int is_given, is_meant;
    } checks[] = {
        {"tokens", "generate", question->tokens > 0, question->work == LLAMA_GENERATE},
        {"depth", "generate", question->depth > 0, question->work == LLAMA_GENERATE},
        {"sequences", "generate", question->sequences > 0, question->work == LLAMA_GENERATE},
        {"clients", "serve", question->clients > 0, question->work == LLAMA_SERVE},
        {"requests", "serve", question->requests > 0, question->work == LLAMA_SERVE},
        {"prompts", "serve", question->prompts != NULL, question->work == LLAMA_SERVE},
        {"outputs", "serve", question->answers != NULL, question->work == LLAMA_SERVE},
        {"conform-to-imatrix", "prompt", question->conform_to_imatrix, question->work == LLAMA_PROMPT},
        {"logits", "prompt", question->outputs != NULL, question->work == LLAMA_PROMPT},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (checks[i].is_given && !checks[i].is_meant)
            return kerf_error_set(err, KERF_EINVALID, "--%s belongs to --objective %s", checks[i].option,
                                  checks[i].objective);
    return KERF_OK;
}

int32_t llama_objective_complete(struct llama_question *question, struct kerf_error *err) {
    int64_t context = question->context;
    int32_t code = check_given(question, err);
    if (code != KERF_OK) return code;
    if (question->outputs == NULL) question->outputs = "all";
    switch (question->work) {
    case LLAMA_PROMPT:
        if (context == 0) return kerf_error_set(err, KERF_EINVALID, "--context is missing, such as --context 4096");
        return KERF_OK;
    case LLAMA_GENERATE:
        if (context > 0)
            return kerf_error_set(err, KERF_EINVALID,
                                  "with --objective generate --depth and --tokens make the context: "
                                  "leave out --context");
        if (question->tokens == 0) question->tokens = LLAMA_TOKENS;
        if (question->sequences == 0) question->sequences = 1;
        question->context = question->depth + question->tokens;
        return KERF_OK;
    case LLAMA_SERVE: break;
    }
    if (question->clients == 0) question->clients = LLAMA_CLIENTS;
    if (question->requests == 0) question->requests = 4 * question->clients;
    if (question->prompts == NULL) question->prompts = LLAMA_PROMPTS;
    if (question->answers == NULL) question->answers = LLAMA_ANSWERS;
    code = check_lengths("prompts", question->prompts, err);
    if (code == KERF_OK) code = check_lengths("outputs", question->answers, err);
    if (code != KERF_OK) return code;
    int64_t needed = longest(question->prompts) + longest(question->answers);
    if (context > 0 && context < needed)
        return kerf_error_set(err, KERF_EINVALID,
                              "--context %" PRId64 " is too small for a prompt and its answer of %" PRId64
                              " tokens together",
                              context, needed);
    if (context == 0) question->context = needed;
    question->longest_prompt = longest(question->prompts);
    return KERF_OK;
}
