/* SPDX-License-Identifier: Apache-2.0 */
/* kerf VERB ...: finds the command and hands over. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "cli/help_command.h"
#include "cli/output.h"

static const struct cli_command *const commands[] = {&plan_cli,  &estimate_cli, &schedule_cli, &tune_cli,
                                                     &bub_cli,   &studies_cli,  &serve_cli,    &jobs_cli,
                                                     &token_cli, &models_cli,   &systems_cli,  &help_cli};
static const struct command_list all = {commands, sizeof commands / sizeof *commands};

/* A standard stream that was closed would be the number of the next file that is opened. What takes its place is opened
 * the wrong way round, so that reading from it, and writing to it, is an error that is told. */
static void hold_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
        if (open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY) != fd) _exit(EXIT_FAILED);
    }
}

int main(int argc, char **argv) {
    hold_standard_streams();
    signal(SIGPIPE, SIG_IGN); /* a reader who has seen enough is told by write(2), */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that has reached its limit */
    if (argc < 2) {
        help_run(&all, 0, argv);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        struct kerf_text text = {0};
        kerf_text_printf(&text, "kerf %s\n", kerf_version());
        return output_print(&text);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return help_run(&all, argc - 2, argv + 2);
    const struct cli_command *command = command_find(&all, argv[1]);
    if (command == &help_cli) return help_run(&all, argc - 2, argv + 2);
    return command ? command->run(argc - 2, argv + 2) : command_unknown(&all, argv[1]);
}
