/* SPDX-License-Identifier: Apache-2.0 */
/* A launch while it is read: where its facts stand, and what is noted about them. Each framework is one file and one entry
 * of launch_readers. */
#ifndef KERF_LAUNCH_READING_H
#define KERF_LAUNCH_READING_H

#include "kerf/launch.h"
#include "launch/launch_table.h"

struct launch_notes { /* a list of lines */
    const char **items;
    int32_t count, capacity;
};

struct launch_reading {
    struct arena *arena;
    struct kerf_launch *launch; /* what is filled in */
    const char *name;           /* of the text, for errors */
    const struct kerf_launch_options *options;
    struct kerf_error *err;
    int32_t code;    /* the first error */
    int32_t version; /* of the framework's releases: the one that is named, else the newest that kerf knows */

    enum launch_form { LAUNCH_SCRIPT, LAUNCH_TOML, LAUNCH_YAML, LAUNCH_JSON } form;
    struct launch_table table;     /* of the program's flags, or of the config file */
    struct launch_table launcher;  /* of what starts the program: torchrun, srun, #SBATCH */
    struct launch_table variables; /* of the script and before the command */
    struct launch_table assumed;
    const char *program;  /* "pretrain_gpt.py", "torchtitan.train"; "" */
    const char *comments; /* all of them, a line each */
    struct launch_notes ignored, invalid;
    const struct shell_text *files; /* that the script writes */
    int32_t num_files;
};

struct launch_reader {
    enum kerf_framework framework;
    int32_t (*score)(struct launch_reading *reading); /* how sure it is that the launch is its own; 0: it is not */
    void (*read)(struct launch_reading *reading);     /* fills in all but gpus, dp and what follows from them */
    void (*check)(struct launch_reading *reading);    /* once these are known: what follows, and what is refused */
};

extern const struct launch_reader launch_megatron, launch_megatron_deepspeed, launch_torchtitan, launch_nanotron,
    launch_deepspeed_hf, launch_mlperf_nemo, launch_megatron_bridge;

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

/* Whether the key is there, of that value. */
int reading_has(struct launch_reading *reading, const char *key);
/* The value of the key, NULL: it is not there, or null. One that the script does not know is an error. */
const char *reading_word(struct launch_reading *reading, const char *key);
/* The same, a word that is not known is NULL. */
const char *reading_word_if_known(struct launch_reading *reading, const char *key);
/* A whole number, perhaps with '_' between digits; otherwise where the key is not there. */
int64_t reading_integer(struct launch_reading *reading, const char *key, int64_t otherwise);
/* A switch: a flag without a value, or true, yes, on, 1. */
int reading_flag(struct launch_reading *reading, const char *key);
int64_t reading_variable(struct launch_reading *reading, const char *name, int64_t otherwise);
const char *reading_variable_word(struct launch_reading *reading, const char *name); /* NULL: not set */
int launch_whole_number(const char *text, int64_t *ret_value);
int launch_is_known(const char *text); /* it holds no mark */

/* ---- Notes ------------------------------------------------------------------------------------------------------- */

void reading_ignore(struct launch_reading *reading, const char *key);
void reading_assume(struct launch_reading *reading, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What the framework would refuse; rule names where it says so. */
void reading_refuse(struct launch_reading *reading, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same of a rule that the number of accelerators breaks: where the launch does not say it, it is not the launch's
 * mistake, and goes to what is assumed. */
void reading_refuse_gpus(struct launch_reading *reading, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int32_t reading_fail(struct launch_reading *reading, int32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- What frameworks share ---------------------------------------------------------------------------------------- */

/* Adds the keys of a file that the launch names to the table, each behind "prefix."; 0: it cannot be had. */
int reading_file(struct launch_reading *reading, const char *file, enum launch_form form, const char *prefix,
                 struct launch_table *table);
/* Sets the shape from a model's or a recipe's name; 0: kerf knows none of it. What is set already stays. */
int launch_shape(struct kerf_launch_model *model, const char *name);
/* The model that kerf can price, of what the launch says of it. */
void launch_model(struct kerf_launch *launch);
/* The product; 0 where it is too large. */
int64_t launch_product(int64_t a, int64_t b, int64_t c, int64_t d);
/* The gradients and the global batch that follow from a micro-batch and a number of them, and its own rules. */
void launch_batch_rule(struct launch_reading *reading, const char *rule);
/* Megatron-LM's flags, which Megatron-DeepSpeed has too. */
void launch_megatron_flags(struct launch_reading *reading);
/* How context parallelism communicates, by the words of TransformerEngine. */
void launch_cp_comm(struct launch_reading *reading, const char *key);
/* The tokens that the window behind the key, "4095,0", "(4095,0)" or a list, shows each token; 0: there is none. */
int64_t launch_window(struct launch_reading *reading, const char *key);
void launch_megatron_rules(struct launch_reading *reading);
/* The stages of --pipeline-model-parallel-layout: decoder layers of each; the number of stages, 0: not understood. */
int32_t launch_pipeline_layout(const char *text, int32_t *ret_layers, int32_t most);
/* Lays the layers over the stages as ret_layers says, where kerf can have it so. */
void launch_stage_layers(struct launch_reading *reading, const int32_t *layers, int32_t stages);

#endif
