/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One door to the engines: a verb and a JSON request in, the JSON answer out. For programs in other languages, and for
 * HTTP.
 *
 * The members of a request are the options of `kerf VERB`, with _ for -, and "model", "schedule" or, of score, "runs" (the
 * text of a table) for its argument: numbers, texts, true or false for a flag, an array where an option takes a list. "model"
 * and "system" may be a description itself, an object. A member that is null counts as left out.
 *
 * "schedule" also takes "files", an object with the text of each: its names stand for files in "schedule" ("mine.txt",
 * "torch.csv"), "plan" and "times", and for the file "trace" or those of the folder ("traces/rank0.json"). One that
 * nothing names is refused. The answer is what `kerf VERB --format json` prints.
 *
 * "launch" reads the launch in "text" ("name" tells its form, as the ending of a file would). With "write":"megatron" and
 * "plan" (the answer of plan or estimate) it answers {"kerf":...,"framework":...,"text":...}: in "text" what
 * `kerf launch write` prints.
 *
 * A study that asks and is told, for programs that measure by themselves:
 *
 *     struct kerf_asker *asker;
 *     kerf_asker_create("{\"params\":{\"batch\":[128,256]}}", 30, &asker, &err);
 *     kerf_asker_ask(asker, &answer, &err);             {"setting":{"batch":128},"reason":"...","stop":null}
 *     kerf_asker_tell(asker, "{\"setting\":{\"batch\":128},\"value\":2.5}", 37, &err);
 *     kerf_asker_free(asker);
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *     int main(void) {
 *         struct kerf_error err;
 *         char *answer = NULL;
 *         const char *request = "{\"schedule\":\"zb_h1\",\"devices\":4,\"microbatches\":8,\"no_ops\":true}";
 *         if (kerf_call("schedule", request, strlen(request), NULL, &answer, &err) != KERF_OK) return 1;
 *         puts(strstr(answer, "\"makespan_s\"") ? "simulated" : "no makespan");
 *         kerf_call_free(answer);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     simulated
 */
#ifndef KERF_CALL_H
#define KERF_CALL_H

#include "kerf/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a request is answered; all zeros but size: by names of the catalogue alone, and nobody is told. */
struct kerf_call_options {
    size_t size;            /* of this struct, as later versions may have more members; it must be set */
    int32_t files;          /* 1: names may be those of files, which are then read */
    kerf_progress progress; /* NULL: nobody is told how far it is; 1 from it ends the work with what is known */
    void *progress_context;
    /* NULL or "json"; "svg", a picture (plan, schedule and score); "html" (schedule): {"answer":...} without operations
     * and "html", the picture as KERF_PICTURE_HTML_PART has it; "text" and "csv" (schedule): the first schedule as a
     * file, kerf's or PyTorch's. */
    const char *format;
    int64_t operations; /* more of them a schedule may not have, nor that of an estimate; 0: any number */
    const char *trace;  /* the file or folder that "trace":"-" stands for; NULL: none */
};

/** The verbs one after the other, "plan", "estimate", "schedule", "launch", "score"; NULL behind the last. */
KERF_API const char *kerf_call_verb_at(size_t index);

/**
 * Answers one request. *ret_answer ends in NUL, and is given back with kerf_call_free. options may be NULL. Any number of
 * threads may call at once.
 *
 * KERF_EUNKNOWN names the nearest verb, member or name; KERF_ESYNTAX and KERF_EINVALID say what is wrong, with line and
 * column in the request where it is no JSON; KERF_EINFEASIBLE that there is no answer; KERF_EINVALID that the verb has no
 * such format, or that options have no size; KERF_EUNSUPPORTED that this version lacks an option.
 */
KERF_API int32_t kerf_call(const char *verb, const char *request, size_t length,
                           const struct kerf_call_options *options, char **ret_answer, struct kerf_error *err);
KERF_API void kerf_call_free(char *answer); /* NULL is fine */

/** The JSON Schema of a verb's requests, an object; given back with kerf_call_free. KERF_EUNKNOWN. */
KERF_API int32_t kerf_call_schema(const char *verb, char **ret_schema, struct kerf_error *err);

/* ---- Asking and telling ----------------------------------------------------------------------------------- */

/**
 * A study of kerf/tune.h in JSON. {"params":{"batch":[128,256],"kv":["f16","q8_0"],"threads":"1..16"}} names the space: a
 * list of numbers (sorted, near ones are alike), texts or booleans, or a range. "where" (an array of constraints), "when"
 * (an object: conditions under which parameters have an effect; settings lack those that they do not use),
 * "default" (a setting), "policy", "prefer", "within", "margin", "confidence", "seed" and "max_runs" are those of struct
 * kerf_tune_question, "maximize" and "time" its flags; "subject_to" is an array of limits, "p99_ms <= 50" (as of
 * kerf_trial_runner_limit), whose numbers are told as "outputs"; "pareto" names the output that is a second objective,
 * "p99_ms" or "more tokens_per_s". Numbers are at most 2^53 - 1, seed too, up to which doubles are exact.
 * KERF_ESYNTAX, KERF_EINVALID, KERF_EUNKNOWN, KERF_EINFEASIBLE.
 *
 * One thread at a time may use an asker. Answers are given back with kerf_call_free.
 */
struct kerf_asker;
KERF_API int32_t kerf_asker_create(const char *request, size_t length, struct kerf_asker **ret_asker,
                                   struct kerf_error *err);
KERF_API struct kerf_asker *kerf_asker_free(struct kerf_asker *asker);

/** What to measure next: {"setting":{...},"reason":"...","stop":null}; at the end "setting" is null and "stop" says why:
 * "confident", "too noisy", "done". No setting comes again while one was not measured. A setting counts as being measured, and
 * as one of "max_runs", until it is told, so that several may be measured at once. */
KERF_API int32_t kerf_asker_ask(struct kerf_asker *asker, char **ret_answer, struct kerf_error *err);

/** What was measured, asked for or not: {"setting":{...},"value":2.5}, or {"setting":{...},"failed":true}. With limits
 * "outputs":{"p99_ms":41} has the number of each, unless the setting failed; one that broke a limit twice is not the answer. */
KERF_API int32_t kerf_asker_tell(struct kerf_asker *asker, const char *observation, size_t length,
                                 struct kerf_error *err);

/** {"best":{...},"recommended":{...},"reason","observations","failed","noise","front":[{"setting","mean","second","unbeaten"}],
 * "probability" (both null without a second objective; as in struct kerf_tune_front),"settings":[{"setting","status","mean",
 * "low","high","probability_within",...}]}; what is unknown is null. */
KERF_API int32_t kerf_asker_answer(struct kerf_asker *asker, char **ret_answer, struct kerf_error *err);

/** What matters, as kerf_tune_importance_write has it: {"importance":[{"parameters":["batch"],"share","interval"},...],
 * "importance_of":{...}}. Takes as long as some decisions together. */
KERF_API int32_t kerf_asker_importance(struct kerf_asker *asker, char **ret_answer, struct kerf_error *err);

#ifdef __cplusplus
}
#endif
#endif
