/* SPDX-License-Identifier: Apache-2.0 */
#include "call/launch_question.h"

#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "kerf/launch.h"
#include "kerf/plan.h"

#define LAUNCH_TEXT(member, option_name, what, words)                                                                  \
    {                                                                                                                  \
        .name = option_name, .type = OPTION_STRING, .offset = offsetof(struct launch_values, member), .value = what,   \
        .help = words                                                                                                  \
    }
const struct option launch_options[] = {
    LAUNCH_TEXT(framework, "framework", "NAME", "The framework of the text (default: recognised)."),
    LAUNCH_TEXT(version, "framework-version", "V", "The release of the framework, such as 0.15.0 or main."),
    LAUNCH_TEXT(name, "name", "NAME",
                "The text's name, whose ending tells its form: launch.sh, .toml, .yaml or .json."),
    {.name = "gpus",
     .type = OPTION_INTEGER,
     .offset = offsetof(struct launch_values, gpus),
     .value = "N",
     .minimum = 1,
     .maximum = KERF_COUNT_MAX,
     .help = "Accelerators of the job (default: as the text says)."},
    LAUNCH_TEXT(write, "write", "FRAMEWORK",
                "Write a launch of this framework for the plan instead of reading a text."),
    LAUNCH_TEXT(plan, "plan", "JSON", "The answer of plan or estimate, an object or its text."),
    {.name = "rank",
     .type = OPTION_INTEGER,
     .offset = offsetof(struct launch_values, rank),
     .value = "N",
     .minimum = 1,
     .maximum = KERF_TOP_MAX,
     .help = "Which of the plan's layouts (default: 1, the best)."},
    {.name = NULL},
};

/* What reading or writing would ignore. */
static int32_t check_launch(const struct launch_values *values, struct kerf_error *err) {
    const char *written = values->plan ? "plan" : values->rank ? "rank" : NULL;
    const char *read = values->texts.count ? "text"
                       : values->name      ? "name"
                       : values->framework ? "framework"
                       : values->gpus      ? "gpus"
                                           : NULL;
    if (values->write && read)
        return kerf_error_set(err, KERF_EINVALID, "\"%s\" is for a launch that is read, and \"write\" writes one",
                              read);
    if (!values->write && written)
        return kerf_error_set(err, KERF_EINVALID, "\"%s\" is for a launch that is written, and \"write\" is missing",
                              written);
    return KERF_OK;
}

static int32_t read_launch(const struct launch_values *values, struct kerf_json *json, struct kerf_error *err) {
    const struct kerf_launch_options how = {
        .framework = values->framework, .version = values->version, .gpus = values->gpus};
    struct kerf_launch *launch = NULL;
    if (values->texts.count != 1)
        return kerf_error_set(err, KERF_EINVALID, "\"text\" is missing: the launch that is to be read");
    const char *text = values->texts.items[0];
    int32_t code = kerf_launch_read(text, strlen(text), values->name ? values->name : "launch", &how, &launch, err);
    if (code == KERF_OK) kerf_launch_json(json, launch);
    kerf_launch_free(launch);
    return code;
}

static int32_t write_launch(const struct launch_values *values, struct kerf_json *json, struct kerf_error *err) {
    const char *plan = values->plan;
    struct kerf_problem *problem = calloc(1, sizeof *problem);
    struct kerf_layout layout = {.stage_layers = NULL};
    struct kerf_text text = {0};
    enum kerf_framework framework = KERF_FRAMEWORK_MEGATRON;
    int32_t code = problem ? kerf_framework_parse(values->write, &framework, err) : error_no_memory(err, "the launch");
    if (code == KERF_OK && plan == NULL)
        code = kerf_error_set(err, KERF_EINVALID, "\"plan\" is missing: the answer that is to be launched");
    if (code == KERF_OK && plan)
        code = kerf_launch_plan_parse(plan, strlen(plan), "plan", values->rank ? (int32_t)values->rank : 1, problem,
                                      &layout, err);
    if (code == KERF_OK) code = kerf_launch_write(framework, values->version, problem, &layout, &text, err);
    if (code == KERF_OK) {
        kerf_json_string(json, "framework", kerf_framework_name(framework));
        kerf_json_string(json, "text", text.data);
    }
    kerf_layout_release(&layout);
    kerf_text_free(&text);
    free(problem);
    return code;
}

int32_t launch_question_json(struct kerf_json *json, const struct launch_values *values, struct kerf_error *err) {
    int32_t code = check_launch(values, err);
    if (code != KERF_OK) return code;
    return values->write ? write_launch(values, json, err) : read_launch(values, json, err);
}
