/* SPDX-License-Identifier: Apache-2.0 */
#include "mysql_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run(const char *command) { return system(command) == 0; }

/* Root is not let start it as itself. */
static int choose_user(const char *folder, char *ret_option, size_t size) {
    const struct passwd *known = getpwnam("mysql");
    if (geteuid() != 0) return 1;
    if (known == NULL || chown(folder, known->pw_uid, known->pw_gid) != 0) return 0;
    snprintf(ret_option, size, "--user=mysql");
    return 1;
}

int mysql_server_make(struct mysql_server *server, const char **ret_why) {
    char command[1024], user[32] = "";
    *server = (struct mysql_server){.is_up = 0};
    *ret_why = "mariadbd is not there (Debian's package is mariadb-server)";
    if (!run("command -v mariadbd mariadb-install-db mariadb mariadb-admin >/dev/null")) return 0;
    *ret_why = "no folder and user for a database";
    strcpy(server->folder, "/tmp/kerf-mysql-XXXXXX");
    if (mkdtemp(server->folder) == NULL || !choose_user(server->folder, user, sizeof user)) return 0;
    snprintf(command, sizeof command,
             "mariadb-install-db --no-defaults --datadir=%s/data --auth-root-authentication-method=normal "
             "--skip-test-db %s >%s/install.log 2>&1",
             server->folder, user, server->folder);
    *ret_why = "mariadb-install-db fails here";
    if (!run(command)) return 0;
    snprintf(command, sizeof command,
             "mariadbd --no-defaults --datadir=%s/data --socket=%s/socket --pid-file=%s/pid --skip-networking "
             "--innodb-flush-log-at-trx-commit=0 %s >%s/log 2>&1 &",
             server->folder, server->folder, server->folder, user, server->folder);
    *ret_why = "mariadbd does not start here";
    if (!run(command)) return 0;
    snprintf(command, sizeof command, "mariadb-admin --no-defaults -u root -S %s/socket --wait=60 ping >/dev/null 2>&1",
             server->folder);
    server->is_up = run(command);
    return server->is_up;
}

void mysql_server_clear(struct mysql_server *server) {
    char command[256];
    if (server->folder[0] == 0) return;
    snprintf(command, sizeof command, "mariadb-admin --no-defaults -u root -S %s/socket shutdown", server->folder);
    if (server->is_up && !run(command)) print_message("mariadbd did not stop\n");
    snprintf(command, sizeof command, "rm -rf %s", server->folder);
    if (!run(command)) print_message("%s is left over\n", server->folder);
}

void mysql_server_run(struct mysql_server *server, const char *database, const char *sql) {
    char command[256];
    snprintf(command, sizeof command,
             "mariadb --no-defaults --default-character-set=utf8mb4 -u root -S %s/socket "
             "--init-command=\"SET sql_mode='ANSI_QUOTES'\" %s",
             server->folder, database);
    FILE *to = popen(command, "w");
    if (to == NULL || fputs(sql, to) < 0 || pclose(to) != 0) fail_msg("mariadb fails: %.200s", sql);
}

void mysql_server_database(struct mysql_server *server, const char *name, char *ret_url, size_t size) {
    char sql[256];
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s; CREATE DATABASE %s CHARACTER SET utf8mb4;", name, name);
    mysql_server_run(server, "", sql);
    snprintf(ret_url, size, "mysql+asyncmy://root@localhost/%s?unix_socket=%s%%2Fsocket", name, server->folder);
}
