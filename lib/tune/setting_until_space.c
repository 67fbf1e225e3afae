/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in until lib/tune has the space itself, whose definition is stronger than a weak one: then it goes. */
#include "kerf/tune.h"

__attribute__((weak)) void kerf_tune_setting_json(const struct kerf_tune_space *space, int32_t setting,
                                                  struct kerf_json *json) {
    kerf_json_open(json, NULL, '{');
    for (int32_t i = 0; i < space->num_params; i++) {
        const struct kerf_tune_param *param = &space->params[i];
        int32_t value = space->values[(size_t)setting * (size_t)space->num_params + (size_t)i];
        if (param->kind == KERF_TUNE_INTEGER)
            kerf_json_integer(json, param->name, param->integers[value]);
        else if (param->kind == KERF_TUNE_FLAG)
            kerf_json_boolean(json, param->name, value);
        else
            kerf_json_string(json, param->name, param->texts[value]);
    }
    kerf_json_close(json, '}');
}
