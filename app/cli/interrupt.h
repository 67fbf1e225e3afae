/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C (and SIGTERM, and a terminal that is closed): the first asks the work to end with what is known, the second ends the program. */
#ifndef KERF_CLI_INTERRUPT_H
#define KERF_CLI_INTERRUPT_H

void interrupt_catch(void);
int interrupted(void);

/* Waits until there is something to read, or the work is asked to end; returns interrupted(). After interrupt_catch. */
int interrupt_wait(int fd);

/* Readable once the work is asked to end: for those who wait on more than one thing. */
int interrupt_fd(void);

#endif
