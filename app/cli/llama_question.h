/* SPDX-License-Identifier: Apache-2.0 */
/* What `kerf tune llama` and `kerf bub` ask about llama.cpp on a model, and what they make of it. */
#ifndef KERF_CLI_LLAMA_QUESTION_H
#define KERF_CLI_LLAMA_QUESTION_H

#include "base/arena.h"
#include "kerf/gguf.h"
#include "kerf/llama.h"
#include "kerf/study.h"
#include "kerf/tune.h"

enum llama_work {
    LLAMA_PROMPT,   /* a prompt in a context of its own */
    LLAMA_GENERATE, /* tokens after a prompt */
    LLAMA_SERVE     /* llama-server under the requests of several clients */
};

struct llama_question {
    const char *model; /* a GGUF file */
    enum llama_work work;
    int32_t takes_cpu;                /* 1: processor time, not time by the clock */
    int64_t context;                  /* tokens, of each sequence; 0 before llama_objective_complete: not said */
    int64_t tokens, depth, sequences; /* of LLAMA_GENERATE: generated ones, those before them; 0: not said, as below */
    int64_t clients, requests;        /* of LLAMA_SERVE */
    const char *prompts, *answers;    /* of LLAMA_SERVE: lengths, "64,256" */
    int64_t longest_prompt;           /* of LLAMA_SERVE, filled in by llama_objective_complete */
    int64_t threads;                  /* 0: one for each processor */
    int32_t threads_are_given;        /* filled in by llama_preset_make */
    int32_t one_thread_less;          /* 1: with threads 0 one less */
    int64_t gpu_layers;               /* -1: all */
    int32_t gpu_layers_are_given;
    const char *also;           /* "threads,flash_attention": also tuned, beside batch and ubatch; NULL: nothing */
    const char *outputs;        /* "all" or "last": tokens whose logits are computed; NULL: not said */
    int32_t outputs_are_given;  /* filled in by llama_preset_make */
    int32_t conform_to_imatrix; /* 1: only settings that llama-imatrix runs as they were measured */
    int32_t max_batch_exponent; /* the largest batch is 2 to this power; 0: the context */
};

/* ---- What is measured (llama_objective.c) ------------------------------------------------------------------------ */

struct llama_objective {
    const char *name;
    enum llama_work work;
    int32_t takes_cpu;
    const char *measured; /* as kerf_study_request.objective */
    const char *prefers;  /* of equally good settings that which needs the least memory; NULL: none */
};

/* What is used where the options do not say it. */
#define LLAMA_PROMPTS "32,128,512"
#define LLAMA_ANSWERS "16,64"
enum { LLAMA_TOKENS = 32, LLAMA_CLIENTS = 4 };

/* name NULL: the first. KERF_EINVALID. */
int32_t llama_objective_find(const char *name, const struct llama_objective **ret_objective, struct kerf_error *err);

/* Fills in what was not said, and the context. KERF_EINVALID: an option that belongs to another objective, or is
 * missing. */
int32_t llama_objective_complete(struct llama_question *question, struct kerf_error *err);

/* ---- The question -------------------------------------------------------------------------------------------- */

/* Reads the model's file. A file that kerf or llama.cpp cannot read is bad input. */
int32_t llama_question_model(const char *path, struct kerf_gguf **ret_gguf, struct kerf_error *err);

/* Checks that the model was trained with the context, and that `also` names parameters that exist. */
int32_t llama_question_check(const struct llama_question *question, const struct kerf_gguf *gguf,
                             struct kerf_error *err);

/* Checks that llama-bench, or else the worker, would measure what outputs and conform_to_imatrix promise. */
int32_t llama_question_check_logits(const struct llama_question *question, int is_bench, struct kerf_error *err);

/* ---- Parameters and values ------------------------------------------------------------------------------------- */

/* Checks that each --param names a parameter of llama.cpp. */
int32_t llama_values_check_names(const struct kerf_study_strings *params, enum llama_work work, struct kerf_error *err);

/* Checks that llama-bench, or else the worker, takes each value; with conform_to_imatrix also that the value does not
 * change the matrix. */
int32_t llama_values_check(const struct kerf_tune_space *space, int is_bench, int conform_to_imatrix,
                           struct kerf_error *err);

/* The settings of llama.cpp that a study of a model measures: the values of each parameter, the conditions between
 * them, and llama.cpp's own default. */
struct llama_grid {
    const struct llama_question *question;
    const struct kerf_gguf *gguf;
    const struct kerf_study_request *request; /* its params and wheres replace the usual ones */
    int is_bench;                             /* 1: values are words of llama.cpp's command lines */
    struct sketch *sketch;                    /* holds what the lists point to */
    struct kerf_study_strings params, wheres;
};

/* How many processors this process may run on. */
int64_t llama_grid_processors(void);

/* Fills in params and wheres; sketch->failed is 1 where memory ran out. */
void llama_grid_make(struct llama_grid *grid);

/* That --threads and --gpu-layers are among the values that are tried, where there are such, and the default's own.
 * KERF_EINVALID. */
int32_t llama_grid_check(const struct llama_grid *grid, const struct kerf_tune_space *space, struct kerf_error *err);

/* llama.cpp's own default, or the numbers that were asked for, such as "batch=2048,ubatch=512"; NULL where the space does
 * not have it. */
const char *llama_grid_default(const struct llama_grid *grid, const struct kerf_tune_space *space);

/* One setting of the space with all parts; fixed: the parts that are the same for all settings. */
struct kerf_llama_setting llama_grid_setting(const struct kerf_llama_setting *fixed,
                                             const struct kerf_tune_space *space, int32_t setting);

/* ---- The preset (llama_preset.c) --------------------------------------------------------------------------------- */

/* What `kerf tune llama` and `kerf bub` make of a model: the request of a study, and the settings that it leaves
 * out. */

/* Of equally good settings for prompts the one that needs the least memory. */
#define LLAMA_PREFERENCE "smaller:ubatch,batch"

struct llama_preset {
    struct kerf_gguf *gguf;          /* NULL: the file is gone */
    struct kerf_llama_setting fixed; /* parts that are the same for all settings */
    const char **skipped;            /* [num_settings] as struct kerf_study_plan; NULL: nothing is */
    struct sketch sketch;            /* holds what the request points to */
};

/* Reads the model and fills in the request: params that it does not name itself, wheres, default, command and protocol.
 * KERF_EUNSUPPORTED: there is no program that runs llama.cpp. */
int32_t llama_preset_make(const struct llama_question *question, struct llama_preset *ret_preset,
                          struct kerf_study_request *request, struct kerf_error *err);

/* The preset of a study that was kept; without the model if its file is gone. */
int32_t llama_preset_recall(const struct kerf_study_request *request, struct llama_preset *ret_preset,
                            struct kerf_error *err);

/* Marks the settings that llama.cpp refuses, and those that do not fit into this machine's memory or the request's
 * cap. */
int32_t llama_preset_skip(struct llama_preset *preset, const struct kerf_study_request *request,
                          const struct kerf_tune_space *space, struct kerf_error *err);

void llama_preset_free(struct llama_preset *preset);

#endif
