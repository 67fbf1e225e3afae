/* SPDX-License-Identifier: Apache-2.0 */
#include "call/software.h"

#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "call/score_question.h"
#include "score/constants_file.h"

/* The stack of this name as the calibration has it; 0: it has none. */
static int take_calibrated(struct software *software, const char *name) {
    const struct score_constants *constants = software->constants;
    for (int32_t i = 0; constants && i < constants->num_stacks; i++)
        if (strcmp(constants->stacks[i].name, name) == 0 && (software->stack = malloc(sizeof *software->stack))) {
            *software->stack = constants->stacks[i];
            return 1;
        }
    return 0;
}

int32_t software_read(const struct call_sources *sources, const char *stack, const char *calibration,
                      struct software *ret_software, struct kerf_error *err) {
    struct software software = {.stack = NULL};
    int32_t code = KERF_OK;
    *ret_software = software;
    if (calibration && sources->catalogue_only)
        return kerf_error_set(err, KERF_EINVALID, "the calibration is a file, and files may not be read here");
    if (calibration) {
        software.constants = malloc(sizeof *software.constants);
        code = software.constants ? score_constants_read(calibration, NULL, software.constants, err)
                                  : error_no_memory(err, "the calibration");
    }
    if (code == KERF_OK && !(calibration && take_calibrated(&software, stack ? stack : KERF_STACK_DEFAULT)) && stack)
        code = call_stack(sources, stack, &software.stack, err);
    if (code == KERF_OK)
        *ret_software = software;
    else
        software_free(&software);
    return code;
}

void software_apply(const struct software *software, struct kerf_problem *problem) {
    const struct score_constants *constants = software->constants;
    problem->stack = software->stack;
    for (int32_t i = 0; constants && i < constants->num_systems; i++)
        if (strcmp(constants->systems[i].name, problem->system.name) == 0)
            constants_copy(&constants->systems[i], &problem->system);
}

void software_free(struct software *software) {
    kerf_stack_free(software->stack);
    free(software->constants);
    *software = (struct software){.stack = NULL};
}
