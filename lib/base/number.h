/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_BASE_NUMBER_H
#define KERF_BASE_NUMBER_H

/* strtod with a decimal point, whatever the program's locale is. */
double number_read(const char *text, char **ret_end);

#endif
