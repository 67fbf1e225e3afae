/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All of libkerf. Each header is the manual of what it declares, and opens with a program that runs.
 *
 *     cc program.c $(pkg-config --cflags --libs kerf)
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *     int main(void) {
 *         const char *request = "{\"model\":\"llama2-7b\",\"system\":\"h100\",\"gpus\":8,\"global_batch\":64}";
 *         struct kerf_error err;
 *         char *answer = NULL, line[1024];
 *         if (kerf_call("plan", request, strlen(request), NULL, &answer, &err) != KERF_OK) {
 *             kerf_error_format(&err, line, sizeof line);
 *             puts(line);
 *         }
 *         kerf_call_free(answer);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     no model 'llama2-7b' in the catalogue; did you mean llama2_7b?
 */
#ifndef KERF_KERF_H
#define KERF_KERF_H

#include "kerf/call.h"
#include "kerf/cost.h"
#include "kerf/draw.h"
#include "kerf/error.h"
#include "kerf/gguf.h"
#include "kerf/jobs.h"
#include "kerf/json.h"
#include "kerf/launch.h"
#include "kerf/llama.h"
#include "kerf/model.h"
#include "kerf/plan.h"
#include "kerf/schedule.h"
#include "kerf/setting.h"
#include "kerf/spec.h"
#include "kerf/study.h"
#include "kerf/text.h"
#include "kerf/trace.h"
#include "kerf/trial.h"
#include "kerf/tune.h"
#include "kerf/version.h"

#endif
