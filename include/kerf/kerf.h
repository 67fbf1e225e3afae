/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that libkerf offers. */
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
