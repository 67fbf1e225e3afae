/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a plan's JSON. What is read of it can be written for a framework or is refused in one line, and what is written
 * can be read again. */
#include "invariants.h"

#include <string.h>
#include "kerf/launch.h"

static void check_written(enum kerf_framework framework, const struct kerf_problem *problem,
                          const struct kerf_layout *layout) {
    struct kerf_text text = {0};
    struct kerf_error err;
    struct kerf_launch *launch = NULL;
    const struct kerf_launch_options options = {.framework = kerf_framework_name(framework), .gpus = problem->gpus};
    if (kerf_launch_write(framework, NULL, problem, layout, &text, &err) == KERF_OK) {
        const char *name = framework == KERF_FRAMEWORK_TORCHTITAN ? "launch.toml"
                           : framework == KERF_FRAMEWORK_NANOTRON || framework == KERF_FRAMEWORK_MEGATRON_BRIDGE
                               ? "launch.yaml"
                               : "launch.sh";
        CHECK(kerf_launch_read(text.data, text.length, name, &options, &launch, &err) == KERF_OK);
        CHECK(launch->layout.tp1 == layout->tp1 && launch->layout.pp == layout->pp && launch->layout.dp == layout->dp);
        CHECK(launch->global_batch == problem->global_batch && launch->seq_length == problem->seq_length);
        launch = kerf_launch_free(launch);
    } else {
        CHECK(err.message[0] && is_plain(err.message));
    }
    kerf_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct kerf_problem problem;
    struct kerf_layout layout;
    struct kerf_error err;
    for (int32_t rank = 1; rank <= 2; rank++) {
        if (kerf_launch_plan_parse((const char *)data, size, "plan", rank, &problem, &layout, &err) != KERF_OK) {
            CHECK(err.message[0] && is_plain(err.message));
            continue;
        }
        for (int i = 0; i < KERF_FRAMEWORK_COUNT; i++) check_written((enum kerf_framework)i, &problem, &layout);
        kerf_layout_release(&layout);
    }
    return 0;
}
