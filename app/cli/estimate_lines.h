/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_CLI_ESTIMATE_LINES_H
#define KERF_CLI_ESTIMATE_LINES_H

/* Answers one JSON request a line of standard input with one line on standard output, in constant memory, until the
 * input ends; answers are out before the next request is waited for. Returns an exit_status. */
int estimate_lines(const char *default_cost_model);

#endif
