/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is a question and what programs do: values of any size, bounds, failures, busy machines, clocks that step,
 * trials in parallel. Whatever happens, what is asked for is a setting of the space that may be measured, the answer
 * holds together, a second study that is told the same decides the same, and a study ends.
 */
#include "invariants.h"

#include <math.h>
#include <string.h>
#include "kerf/tune.h"

enum { STEPS = 60, ENDS_AFTER = 3000 };

struct input {
    const uint8_t *at;
    size_t left;
};

static unsigned byte(struct input *input) {
    if (input->left == 0) return 0;
    input->left--;
    return *input->at++;
}

static struct kerf_tune_space *make_space(unsigned shape) {
    static const char *const params[] = {"a=1..3", "kv=f16,q8", "f?=-f", "b=-4,9", "c=16..64:x4"};
    static const char *const wheres[] = {"a >= 1", "a + c < 60 || kv == 'f16'"};
    struct kerf_tune_space *space;
    const char *where = wheres[shape >> 2 & 1];
    int32_t first = (int32_t)(shape & 3) % 3, count = where == wheres[1] ? 5 : 2;
    if (count == 5) first = 0;
    if (first > 0) where = NULL;
    CHECK(kerf_tune_space_create(params + first, count, &where, where != NULL, NULL, &space, NULL) == KERF_OK);
    if (shape & 8) space->default_setting = (int32_t)(shape >> 4) % space->num_settings;
    return space;
}

/* second: NAN where there is one objective. */
static void observe(struct kerf_tune_study *study, const struct kerf_tune_observation *o, double second) {
    int32_t code =
        isnan(second) ? kerf_tune_study_observe(study, o, NULL) : kerf_tune_study_observe_both(study, o, second, NULL);
    CHECK(code == KERF_OK);
}

static void check_front(struct kerf_tune_study *study, const struct kerf_tune_space *space) {
    struct kerf_tune_front front = {.size = sizeof front};
    if (kerf_tune_study_front(study, &front, NULL) != KERF_OK) return; /* one objective */
    CHECK(front.num >= 0 && front.num <= space->num_settings && front.probability >= 0 && front.probability <= 1);
    for (int32_t m = 0; m < front.num; m++) {
        CHECK(front.settings[m] >= 0 && front.settings[m] < space->num_settings);
        CHECK(front.unbeaten[m] >= 0 && front.unbeaten[m] <= 1);
    }
}

static void check_answer(struct kerf_tune_study *study, const struct kerf_tune_space *space) {
    struct kerf_tune_answer answer;
    CHECK(kerf_tune_study_answer(study, &answer, NULL) == KERF_OK);
    check_front(study, space);
    struct kerf_tune_importance importance = {.size = sizeof importance};
    CHECK(kerf_tune_study_importance(study, &importance, NULL) == KERF_OK);
    for (int32_t k = 0; k < importance.num_effects; k++) {
        const struct kerf_tune_effect *of = &importance.effects[k];
        CHECK(isnan(of->share) || (of->interval[0] >= 0 && of->interval[0] <= of->interval[1] && of->interval[1] <= 1));
        CHECK(!(of->share < 0 || of->share > 1));
    }
    CHECK(answer.best >= -1 && answer.best < space->num_settings);
    CHECK(answer.recommended >= -1 && answer.recommended < space->num_settings);
    CHECK((answer.best < 0) == (answer.recommended < 0) && strchr(answer.reason, '\n') == NULL);
    for (int32_t i = 0; i < space->num_settings; i++) {
        const struct kerf_tune_estimate *of = &answer.settings[i];
        CHECK(of->status >= 0 && of->status <= KERF_TUNE_SKIPPED && of->reason != NULL);
        CHECK(isnan(of->probability_within) || (of->probability_within >= 0 && of->probability_within <= 1));
        CHECK(!(of->interval[0] > of->interval[1]));
    }
}

static struct kerf_tune_observation observation(struct input *input, const struct kerf_tune_space *space,
                                                const struct kerf_tune_decision *decision, double clock, int is_time) {
    static const double values[] = {1, 1.01, 0.99, 2, 1e-300, 1e300, 5, 1.5, 0, -1, -1e9, 1, 1.02, 0.97, 3, 1e6};
    unsigned what = byte(input), value = byte(input);
    struct kerf_tune_observation o = {.setting = decision->setting, .value = values[value % 16], .start_s = clock};
    if (is_time && !(o.value > 0)) o.value = 1;
    if (value & 128) o.value *= 1 + (double)(value & 15) / 100;
    if (!isfinite(o.value)) o.value = 1;
    o.end_s = clock + 1;
    if (what & 1 && what & 2)
        o.outcome = KERF_TUNE_FAILED, o.failure = (int32_t)(1 + (what >> 2) % 6);
    else if (decision->limit > 0 && o.value > decision->limit)
        o.outcome = KERF_TUNE_CENSORED, o.value = decision->limit;
    o.disturbed = (what & 0x70) == 0x70;
    o.warmup = (what & 0x6c) == 0x6c;
    o.slot = (int32_t)(what >> 7) * 2;
    if (what & 8 && what & 16 && what & 4) o.setting = (int32_t)(value % (unsigned)space->num_settings);
    return o;
}

static void same_decision(const struct kerf_tune_decision *a, const struct kerf_tune_decision *b) {
    CHECK(a->action == b->action && a->setting == b->setting && a->stop == b->stop &&
          strcmp(a->reason, b->reason) == 0);
    CHECK(a->limit == b->limit);
}

/* To the end, with values that are all alike. */
static void finish(struct kerf_tune_study *study, double clock, double second) {
    struct kerf_tune_decision decision;
    for (int step = 0;; step++) {
        CHECK(step < ENDS_AFTER);
        CHECK(kerf_tune_study_next(study, NULL, 0, 0, &decision, NULL) == KERF_OK);
        if (decision.action == KERF_TUNE_STOP) return;
        struct kerf_tune_observation o = {
            .setting = decision.setting, .value = 1, .start_s = clock, .end_s = clock + 1};
        if (decision.limit > 0 && decision.limit < 1) o.outcome = KERF_TUNE_CENSORED, o.value = decision.limit;
        observe(study, &o, second);
        clock += 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input input = {data, size};
    static const double clocks[] = {1, 1, 1, 0, -5, 1e9, 1e-9, 3};
    struct kerf_tune_space *space = make_space(byte(&input));
    unsigned how = byte(&input), policies = 0;
    while (kerf_tune_policy_at(policies)) policies++;
    struct kerf_tune_question question;
    kerf_tune_question_defaults(&question);
    question.space = space;
    question.policy = kerf_tune_policy_at(how & 8 ? (how >> 4) % policies : 0)->name;
    question.is_time = !(how & 1);
    question.maximize = (how & 3) == 3;
    question.max_observations = 40;
    question.seed = (int64_t)byte(&input);
    question.prefer = how & 4 ? "larger:a" : NULL;
    if (question.prefer && strcmp(space->params[0].name, "a") != 0) question.prefer = NULL;
    int has_second = (how & 0x78) == 0x40 && question.prefer == NULL; /* of the policy kerf */
    struct kerf_tune_study *study, *twin;
    CHECK(kerf_tune_study_create(&question, &study, NULL) == KERF_OK);
    CHECK(kerf_tune_study_create(&question, &twin, NULL) == KERF_OK);
    if (has_second)
        CHECK(kerf_tune_study_trade(study, how >> 7, NULL) == KERF_OK &&
              kerf_tune_study_trade(twin, how >> 7, NULL) == KERF_OK);
    unsigned char skipped[1000] = {0};
    double clock = 0;
    for (int step = 0; step < STEPS && input.left > 0; step++) {
        struct kerf_tune_decision decision, other;
        unsigned extra = byte(&input);
        int32_t pending[2] = {0, space->num_settings - 1}, num_pending = extra & 1 ? (int32_t)(extra >> 1 & 1) + 1 : 0;
        if ((extra & 0xf0) == 0xf0) {
            int32_t setting = (int32_t)(extra % (unsigned)space->num_settings);
            kerf_tune_study_skip(study, setting, "a reason");
            kerf_tune_study_skip(twin, setting, "a reason");
            skipped[setting] = 1;
        }
        if (extra & 2) CHECK(kerf_tune_study_next(twin, pending, num_pending, 0, &other, NULL) == KERF_OK); /* or not */
        CHECK(kerf_tune_study_next(study, pending, num_pending, 0, &decision, NULL) == KERF_OK);
        if (extra & 2) same_decision(&decision, &other);
        CHECK(decision.reason[0] && strchr(decision.reason, '\n') == NULL && decision.limit >= 0);
        if (decision.action == KERF_TUNE_STOP) break;
        CHECK(decision.setting >= 0 && decision.setting < space->num_settings && !skipped[decision.setting]);
        clock += clocks[extra >> 2 & 7];
        struct kerf_tune_observation o = observation(&input, space, &decision, clock, question.is_time);
        double second = has_second ? (double)(byte(&input) % 16) - 4 : NAN;
        observe(study, &o, second);
        observe(twin, &o, second);
        if (extra & 4) check_answer(study, space);
    }
    check_answer(study, space);
    finish(study, clock, has_second ? 1 : NAN);
    check_answer(study, space);
    kerf_tune_study_free(study);
    kerf_tune_study_free(twin);
    kerf_tune_space_free(space);
    return 0;
}
