/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fastest setting of a program: which one to measure next, when to stop, and how sure the answer is.
 *
 * A study asks one question: of all settings in a space, which has the least objective (a time, or any number)? It
 * is told one observation after another and says what to do next. What is here only decides: no clock, process, file
 * or random number of the system is in it. The same question, seed and observations give the same decisions; that is
 * how a study is resumed and replayed. Running a program is in kerf/trial.h.
 *
 * One observation is one fresh context of the program (a process, or a context of a persistent worker), never a part
 * of one: what differs between contexts is larger than what differs inside of one, and not averaged out there.
 *
 * One thread at a time may use a study; different studies are independent.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         const char *params[] = {"batch=64..512:x2"};
 *         struct kerf_tune_question question;
 *         struct kerf_tune_decision decision;
 *         struct kerf_tune_answer answer;
 *         struct kerf_tune_study *study;
 *         struct kerf_tune_space *space;
 *         struct kerf_error err;
 *         kerf_tune_question_defaults(&question);
 *         if (kerf_tune_space_create(params, 1, NULL, 0, NULL, &space, &err) != KERF_OK) return 1;
 *         question.space = space;
 *         if (kerf_tune_study_create(&question, &study, &err) != KERF_OK) return 1;
 *         while (kerf_tune_study_next(study, NULL, 0, 0, &decision, &err) == KERF_OK && decision.action == KERF_TUNE_MEASURE) {
 *             struct kerf_tune_observation seen = {.setting = decision.setting};
 *             seen.value = decision.setting == 2 ? 1 : 2;
 *             if (kerf_tune_study_observe(study, &seen, &err) != KERF_OK) return 1;
 *         }
 *         if (kerf_tune_study_answer(study, &answer, &err) != KERF_OK) return 1;
 *         printf("batch=%s\n", kerf_tune_value_word(&space->params[0], answer.best));
 *         kerf_tune_study_free(study);
 *         kerf_tune_space_free(space);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     batch=256
 */
#ifndef KERF_TUNE_H
#define KERF_TUNE_H

#include "kerf/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Settings: what they and observations are is in kerf/setting.h -------------------------------------------- */

/**
 * A space from what a command line says.
 *     params    "batch=16..2048:x2"  16, 32, ... 2048 (times 2)       "threads=1..16"  1, 2, ... 16
 *               "layers=0..32:+8"    0, 8, ... 32                     "kv=f16,q8_0"    a choice; integers alone, as
 *               "batch=64,96,128", are an integer parameter           "map?=--no-mmap" a flag
 *               "rate=0.1,0.2,0.5"   numbers that ascend              "lr=1e-5..1e-1:x10" and "p=0.1..0.9:+0.2" likewise
 *               "lr=1e-5..1e-1:log9" nine values, each as many times the one before; "p=0..1:lin5" five, each as much above
 *               it; both ends are among them; between whole ends values are whole, each once
 *               "draft=4,8 when spec" has an effect only where the condition holds, which is written as in wheres; elsewhere
 *               the setting stands there once, with its first value
 *     wheres    "ubatch <= batch", "kv == \"f16\" || fa": + - * / %, comparisons, && || !, parentheses, integers,
 *               names of parameters; all have to hold
 *     defaults  "batch=2048,ubatch=512"; NULL: none
 * A grid of up to 1,000,000 points is listed. A larger one grows as it is searched (KERF_TUNE_GROWS), though the space is const
 * to those who search it: it is for one study, or one after the other, and one thread. Only the policies `kerf` and `random`
 * search it. There a constraint that cannot be computed for a setting does not hold.
 * KERF_ESYNTAX, KERF_EINVALID (an empty range, a name twice or "setting", more than 10^18 points, a default outside of
 * the grid, a constraint that cannot be computed for a setting, as 8 / (a - 2) for a = 2), KERF_EINFEASIBLE where the
 * constraints leave no setting, or of a large grid less than one of a thousand points. kerf_tune_space_free gives it back.
 */
KERF_API int32_t kerf_tune_space_create(const char *const *params, int32_t num_params, const char *const *wheres,
                                        int32_t num_wheres, const char *defaults, struct kerf_tune_space **ret_space,
                                        struct kerf_error *err);
KERF_API struct kerf_tune_space *kerf_tune_space_free(struct kerf_tune_space *space);

/** The setting with these values of the parameters (indexes), or -1; KERF_TUNE_NOT_MET: a large grid has it, and it has no number
 * yet. */
KERF_API int32_t kerf_tune_space_find(const struct kerf_tune_space *space, const int32_t *values);
#define KERF_TUNE_NOT_MET (-2)

/** How many settings there are: num_settings; of a large grid with constraints an estimate, by the share of points drawn at random
 * that satisfy them. */
KERF_API double kerf_tune_space_size(const struct kerf_tune_space *space);

/** The largest that num_settings may become: num_settings, or KERF_TUNE_GROWN_MAX. */
KERF_API int32_t kerf_tune_space_capacity(const struct kerf_tune_space *space);

/** "batch=512,ubatch=128", as `defaults` is read; of a flag its words, or off, no, false, 0, on, yes, true, 1.
 * KERF_EUNKNOWN where it is none of the space. A setting of a large grid gets a number. */
KERF_API int32_t kerf_tune_setting_read(const struct kerf_tune_space *space, const char *text, int32_t *ret_setting,
                                        struct kerf_error *err);

/* ---- A study ---------------------------------------------------------------------------------------------- */

struct kerf_tune_policy {
    const char *name; /* kerf, race, exhaustive, random, halving, best_bub, null */
    const char *summary;
    const char *source;
    int32_t uses_earlier; /* 1: observations of earlier studies help it */
};
/** One after the other, the default first; NULL behind the last. */
KERF_API const struct kerf_tune_policy *kerf_tune_policy_at(size_t index);

struct kerf_tune_question {
    const struct kerf_tune_space *space; /* stays the caller's, and as long as the study */
    const char *policy;                  /* NULL: kerf */
    const char *prefer;       /* "smaller:ubatch,batch" or "larger:threads": of what is within `margin` of the best, the
                                 first by these parameters; several lists are joined by ';'. NULL: the best */
    double within;            /* 0.03: the answer is to be within 3 % of the best of all settings */
    double margin;            /* 0.05: for `prefer`: a setting within 5 % of the best is equivalent */
    double confidence;        /* 0.95 */
    int32_t maximize;         /* 1: more is better */
    int32_t is_time;          /* 1: a slow run can be stopped early, and that it was stopped is known */
    int32_t max_observations; /* 0: the policy's own bound (kerf: 200; race: 100 and 40 a setting; others end by
                                 themselves). Three times as many may be disturbed. Then it is TOO_NOISY */
    int64_t seed;
    const double *prior_log; /* [num_settings] what is expected of each, as a logarithm of the objective up to a
                                constant; NAN where nothing is. NULL: nothing is known */
    const struct kerf_tune_observation *earlier; /* of earlier studies of the same program on the same machine, one
                                                    after the other; slot: which of them, 0 .. */
    int32_t num_earlier;
};
/** within 0.03, margin 0.05, confidence 0.95, the rest 0. */
KERF_API void kerf_tune_question_defaults(struct kerf_tune_question *ret_question);

enum kerf_tune_action { KERF_TUNE_MEASURE, KERF_TUNE_STOP };
enum kerf_tune_stop { KERF_TUNE_CONFIDENT, KERF_TUNE_TOO_NOISY, KERF_TUNE_NOTHING_LEFT };

struct kerf_tune_decision {
    int32_t action;   /* enum kerf_tune_action */
    int32_t setting;  /* to measure */
    int32_t stop;     /* enum kerf_tune_stop; NOTHING_LEFT: every setting fails, or the policy has run its course */
    double limit;     /* stop the run there, in the objective's unit; 0: no limit */
    char reason[200]; /* one line: "nearest rival of batch=128,ubatch=128" */
};

struct kerf_tune_study;
KERF_API int32_t kerf_tune_study_create(const struct kerf_tune_question *question, struct kerf_tune_study **ret_study,
                                        struct kerf_error *err);
KERF_API struct kerf_tune_study *kerf_tune_study_free(struct kerf_tune_study *study);

/** Adds one observation. KERF_EINVALID for a setting outside of the space, an outcome or a failure that does not exist,
 * and for times and a value that are not finite; of a time, a value that is not above 0. */
KERF_API int32_t kerf_tune_study_observe(struct kerf_tune_study *study, const struct kerf_tune_observation *observation,
                                         struct kerf_error *err);

/** What must not be measured, and why (as long as the study): what a memory estimate rules out. */
KERF_API void kerf_tune_study_skip(struct kerf_tune_study *study, int32_t setting, const char *reason);

/** Sizes of the machine at which programs change, as the cores of a node, in any order: where an integer parameter has such a
 * value, the policy `kerf` tries it beside its answer before it is sure. Before the first kerf_tune_study_next. */
KERF_API int32_t kerf_tune_study_sizes(struct kerf_tune_study *study, const int64_t *sizes, int32_t num_sizes,
                                       struct kerf_error *err);

/** What to do now, while the settings in `pending` [num_pending] are being measured elsewhere, on `slot`. */
KERF_API int32_t kerf_tune_study_next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending,
                                      int32_t slot, struct kerf_tune_decision *ret_decision, struct kerf_error *err);

/** The most observations that the question, or else its policy, allows; disturbed ones are not counted. */
KERF_API int32_t kerf_tune_study_max_observations(const struct kerf_tune_study *study);

/* ---- The answer ------------------------------------------------------------------------------------------- */

enum kerf_tune_status {
    KERF_TUNE_NOT_MEASURED,
    KERF_TUNE_MEASURED,
    KERF_TUNE_ALL_CENSORED, /* every run was stopped early */
    KERF_TUNE_ALL_FAILED,
    KERF_TUNE_SKIPPED
};
KERF_API const char *kerf_tune_status_word(int32_t status); /* "measured", "censored", "failed", ... */

/** What is known of one setting. Of one that was not measured mean and interval are what the model expects, if the
 * policy has one. */
struct kerf_tune_estimate {
    int32_t status; /* enum kerf_tune_status */
    int32_t observations, censored, failed;
    double mean;               /* of the objective as the policy estimates it; NAN where nothing can be said */
    double observed_mean;      /* plain mean of the runs that ended by themselves; NAN: none did */
    double interval[2];        /* holds the mean with `confidence` */
    double bound;              /* the most that a run of it was stopped at, as the machine was then; NAN: none was */
    double probability_within; /* that it is within `within` of the best of all settings; NAN: the policy tells none */
    double probability_within_margin;
    const char *reason; /* why it failed or was skipped; "" */
};

struct kerf_tune_answer {
    int32_t best;        /* setting, -1 while nothing was measured */
    int32_t recommended; /* the preferred one of those that are within the margin; else best */
    int32_t observations, censored, failed, disturbed;
    int32_t earlier;         /* observations of earlier studies that count */
    int32_t earlier_dropped; /* earlier studies that this study's observations contradict, and that do not count */
    int32_t open;            /* settings that may still be measured: neither skipped nor left out after failures */
    int32_t predictions;     /* runs that the policy's model predicted before they were made; 0: it has no model */
    /* of these, outside of the interval that was to hold 95 %. Where they are too many, what is stated is less sure
     * than the model: `widened` */
    int32_t predictions_missed;
    double widened;         /* by which factor deviations are larger than the model had them; 1: as it had them */
    double chance_isolated; /* how probable it is that one of the values that were not tried is better although nothing
                               around it is: on a flat surface, or one without order. Probabilities have it already */
    /* of a large space: that a setting that was not looked at is better than the best by more than `within`, as
     * estimated. Probabilities have it already. NAN: all were looked at */
    double chance_unseen;
    int32_t looked_at; /* settings among which `best` was sought: all, or a part of a large space */
    double noise;      /* how much two runs of one setting differ: standard deviation over mean; NAN: none was repeated;
                     0: repeated runs agreed exactly, and means are those observed */
    double drift; /* by what the objective of one setting changed from the first run to the last, as a factor; 1: not */
    double default_gain;     /* default's mean over best's (for maximize best's over default's): 1.04; NAN: unknown */
    double gain_interval[2]; /* with `confidence` */
    char reason[240];        /* of the recommendation, one line */
    const struct kerf_tune_estimate *settings; /* [num_settings], until the study changes or is freed */
};
KERF_API int32_t kerf_tune_study_answer(struct kerf_tune_study *study, struct kerf_tune_answer *ret_answer,
                                        struct kerf_error *err);

/* ---- Two objectives --------------------------------------------------------------------------------------- */

/** Before the first observation: each run tells a second number, and what is sought is the Pareto front of both. Of the second
 * one less is better, or with maximize more. Runs are not stopped early, and observations of earlier studies do not count.
 * KERF_EINVALID: there were observations already, the question has earlier ones or a preference, the space has more than 200 settings,
 * or the policy is none of kerf, exhaustive and random. */
KERF_API int32_t kerf_tune_study_trade(struct kerf_tune_study *study, int32_t maximize, struct kerf_error *err);

/** In the place of kerf_tune_study_observe. second: where the run has a value, its second number, which must be finite. */
KERF_API int32_t kerf_tune_study_observe_both(struct kerf_tune_study *study,
                                              const struct kerf_tune_observation *observation, double second,
                                              struct kerf_error *err);

/** For every setting of the space one of the front is at most `within` worse in either objective, with `probability`. */
struct kerf_tune_front {
    size_t size;             /* of this struct, as later versions may have more members; it must be set */
    const int32_t *settings; /* [num] measured settings, the best by the first objective first */
    const double
        *unbeaten; /* [num] the probability that no setting is better than this one by more than `within` in both */
    int32_t num;   /* 0: nothing was measured */
    double probability;
    const struct kerf_tune_estimate *second; /* [num_settings] what is known of the second objective of each */
    double noise;                            /* of the second objective, as in kerf_tune_answer */
};

/** The arrays live until the study changes or is freed, or the next call. KERF_EINVALID: no size, or one objective. */
KERF_API int32_t kerf_tune_study_front(struct kerf_tune_study *study, struct kerf_tune_front *ret_front,
                                       struct kerf_error *err);

/* ---- What matters ------------------------------------------------------------------------------------------ */

/** What one parameter does, or two together beyond what each does: a part of the differences between settings. It does not
 * grow. */
struct kerf_tune_effect {
    int32_t params[2];  /* of the space, ascending; [1]: -1 where it is one parameter alone */
    double share;       /* 0 .. 1 of the variance; NAN: too few settings have these values in common */
    double interval[2]; /* with 90 %: what is not known of the surface makes it wide */
};

/** A functional analysis of variance of the surface, as the study knows it, over `settings` of the same weight: of its
 * logarithm where all objectives are above 0, else of the objective itself. The surface is drawn from the model again and again;
 * a share is the mean of its draws. The policy race has a model without neighbours, all others that of the policy kerf. */
struct kerf_tune_importance {
    size_t size; /* of this struct, as later versions may have more members; it must be set */
    const struct kerf_tune_effect *effects; /* [num_effects] parameters, then pairs, the larger share first; until the
                                               next call, and as long as the study */
    int32_t num_effects; /* 0: nothing was measured, or there is one setting. A parameter with one value has none */
    int32_t settings;    /* those that may be measured: neither skipped nor left out after failures */
    int32_t is_sample;   /* 1: of a space with more than 256 of these, so many at random; values of an ordered parameter
                            that has more than 16 are taken together in 16 groups */
    int32_t is_ratio;    /* 1: `spread` is of the logarithm, 0.1 for differences of about 10 % */
    double spread, spread_interval[2]; /* standard deviation over the settings */
    double rest, rest_interval[2];     /* share of what three or more do together; NAN where an effect's is */
};

/** KERF_EINVALID: no size. Takes as long as some decisions together, so ask at the end. */
KERF_API int32_t kerf_tune_study_importance(struct kerf_tune_study *study, struct kerf_tune_importance *ret_importance,
                                            struct kerf_error *err);

/** Two members of an object that is open: "importance":[{"parameters":["batch"],"share":0.8,"interval":[0.7,0.9]},...] and
 * "importance_of":{"settings":39,"sample":false,"ratio":true,"spread":0.35,"spread_interval":[0.33,0.4],"rest":0.01,
 * "rest_interval":[0,0.02]}; null in the place of NAN. */
KERF_API void kerf_tune_importance_write(const struct kerf_tune_importance *importance,
                                         const struct kerf_tune_space *space, struct kerf_json *json);

/** Two modes of the machine: `share` of the runs take `slower` times as long as the others, by chance and whichever the
 * setting is, as where memory lies on the other node. Settings are compared within one mode. */
struct kerf_tune_modes {
    size_t size;   /* of this struct, as later versions may have more members; it must be set */
    double share;  /* estimated roughly, from the repeats; 0: the runs do not suggest two modes */
    double slower; /* a ratio above 1, or of rates below 1; 1: no two modes */
};

/** As of the last kerf_tune_study_answer. KERF_EINVALID: no size. */
KERF_API int32_t kerf_tune_study_modes(const struct kerf_tune_study *study, struct kerf_tune_modes *ret_modes,
                                       struct kerf_error *err);

#ifdef __cplusplus
}
#endif
#endif
