/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/best.h"
void best_improve(struct best_search *search) { (void)search; }
