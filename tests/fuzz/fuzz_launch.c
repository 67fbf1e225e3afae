/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a launch; its first letter says of which form: s a script, t TOML, y YAML, j JSON. What is read holds what the
 * header promises, its JSON is JSON, and a refusal is one line. */
#include "invariants.h"

#include <jansson.h>
#include <string.h>
#include "kerf/launch.h"

static void check_launch(const struct kerf_launch *launch) {
    const struct kerf_layout *layout = &launch->layout;
    struct kerf_text text = {0};
    struct kerf_json json;
    struct kerf_problem problem;
    struct kerf_layout copy;
    struct kerf_error err;
    CHECK(launch->gpus >= 1 && launch->gpus <= KERF_COUNT_MAX);
    CHECK(layout->tp1 >= 1 && layout->pp >= 1 && layout->cp >= 1 && layout->vpp >= 1 && layout->ep >= 1);
    CHECK(layout->dp == 0 || kerf_layout_devices(layout) == launch->gpus);
    CHECK(layout->dp > 0 || launch->num_invalid > 0 || launch->num_assumed > 0);
    for (int64_t i = 0; launch->split && i < layout->pp * layout->vpp; i++) CHECK(launch->split[i] >= 1);
    CHECK(launch->ulysses >= 1 && layout->cp % launch->ulysses == 0);
    for (int32_t i = 0; i < launch->num_invalid; i++) CHECK(launch->invalid[i][0] != 0);
    if (kerf_launch_problem(launch, &problem, &copy, &err) == KERF_OK)
        CHECK(problem.global_batch >= 1 && problem.seq_length >= 1 && copy.micro_batch >= 1 && launch->has_model);
    if (launch->has_model) {
        int64_t layers = 0;
        for (int32_t i = 0; i < launch->model.num_runs; i++) layers += launch->model.runs[i].count;
        CHECK(layers == launch->model.num_hidden_layers);
    }
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_launch_json(&json, launch);
    kerf_json_close(&json, '}');
    json_t *root = json_loadb(text.data, text.length, JSON_REJECT_DUPLICATES, NULL);
    CHECK(json_is_object(root));
    json_decref(root);
    kerf_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct kerf_launch *launch = NULL;
    struct kerf_error err;
    if (size == 0) return 0;
    const char *name = data[0] == 't'   ? "launch.toml"
                       : data[0] == 'y' ? "launch.yaml"
                       : data[0] == 'j' ? "launch.json"
                                        : "launch.sh";
    for (int given = 0; given < 2; given++) {
        const struct kerf_launch_options options = {.gpus = given ? 64 : 0};
        if (kerf_launch_read((const char *)data + 1, size - 1, name, &options, &launch, &err) == KERF_OK)
            check_launch(launch);
        else
            CHECK(launch == NULL && err.message[0] && is_plain(err.message));
        launch = kerf_launch_free(launch);
    }
    return 0;
}
