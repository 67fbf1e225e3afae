/* SPDX-License-Identifier: Apache-2.0 */
/* kerf open: the page of kerf serve on a port of its own, with a file that it shows, in the browser. */
#include <ctype.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/input.h"
#include "cli/command.h"
#include "cli/serving.h"
#ifdef KERF_ZEUS
#include "zeus/zeus.h"
#endif

extern char **environ;

struct open_options {
    struct string_list files;
    const char *listen, *store;
    int32_t no_browser;
};

#define AT(field) .offset = offsetof(struct open_options, field)
static const struct option options[] = {
    {.name = "listen",
     .type = OPTION_STRING,
     AT(listen),
     .value = "HOST:PORT",
     .help = "The address to listen on (default: 127.0.0.1:0, any free port)."},
    {.name = "store",
     .type = OPTION_STRING,
     AT(store),
     .value = "STORE",
     .help =
         "Show the jobs of this store, as `kerf serve` has them (default: an empty one, which is removed at the end)."},
    {.name = "no-browser", .type = OPTION_FLAG, AT(no_browser), .help = "Print the address, and open no browser."},
    {.name = NULL},
};

static const char *const examples[] = {
    "Look at a plan",
    "kerf plan llama3_70b -s h100 -n 512 -b 1024 -o plan.json && kerf open plan.json",
    "A measured pipeline run beside its simulation",
    "kerf open traces/",
    "The page alone",
    "kerf open",
    NULL,
};

static const struct command_exit exits[] = {{"0", "ended by SIGTERM or Ctrl-C"},
                                            {"2", "bad usage, or a file that the page cannot show"},
                                            {"3", "failed while starting"},
                                            {NULL, NULL}};

static const struct command table = {
    .name = "open",
    .summary = "the page with plans, schedules, studies and jobs, in the browser",
    .arguments = "[FILE]",
    .description =
        "Starts a server on a free port of this machine and opens its page in the browser ($BROWSER, else xdg-open), "
        "until Ctrl-C. Without a browser it prints the address.\n\n"
        "FILE is shown at first: what `kerf plan --format json` wrote, a model's config.json, a schedule (text, or "
        "PyTorch's CSV), a folder or file of traces, or a study's journal (.jsonl).",
    .options = options,
    .examples = examples,
    .exits = exits,
    .arguments_offset = offsetof(struct open_options, files),
};

/* ---- The file ------------------------------------------------------------------------------------------------ */

static int ends_in(const char *name, const char *ending) {
    size_t length = strlen(name), end = strlen(ending);
    return length >= end && strcmp(name + length - end, ending) == 0;
}

/* What a JSON file is, by the members that tell it. */
static int32_t kind_of_json(const char *path, const char **ret_kind, struct kerf_error *err) {
    enum { BYTES_MAX = 64 << 20 };
    struct kerf_text text = {0};
    int32_t code = input_read(path, BYTES_MAX, &text, err);
    if (code == KERF_OK) {
        const char *data = text.data ? text.data : "";
        while (isspace((unsigned char)*data)) data++;
        int is_plan = strstr(data, "\"searches\"") != NULL || strstr(data, "\"layout_text\"") != NULL;
        int is_config = strstr(data, "\"hidden_size\"") || strstr(data, "\"model_type\"") || strstr(data, "\"n_embd\"");
        *ret_kind = is_plan                                       ? "plan"
                    : is_config                                   ? "config"
                    : *data == '[' || strstr(data, "traceEvents") ? "trace"
                                                                  : NULL;
        if (*ret_kind == NULL)
            code =
                kerf_error_set(err, KERF_EINVALID, "%.200s: neither a plan, nor a model's config, nor a trace", path);
    }
    kerf_text_free(&text);
    return code;
}

/* Where the page shows it; the journal's folder becomes that of the studies. */
static int32_t look_at(const char *path, struct server_opened *opened, char view[1024], struct kerf_error *err) {
    struct stat status;
    const char *slash = strrchr(path, '/');
    int32_t code = KERF_OK;
    *opened = (struct server_opened){.path = path, .name = slash && slash[1] ? slash + 1 : path};
    if (stat(path, &status) != 0) return kerf_error_set(err, KERF_EIO, "%.200s: no such file", path);
    if (S_ISDIR(status.st_mode) || ends_in(path, ".json.gz"))
        opened->kind = "trace";
    else if (ends_in(path, ".jsonl"))
        opened->kind = "study";
    else if (ends_in(path, ".json"))
        code = kind_of_json(path, &opened->kind, err);
    else
        opened->kind = "schedule";
    if (code != KERF_OK) return code;
    if (strcmp(opened->kind, "study") != 0) {
        int is_plan = strcmp(opened->kind, "plan") == 0 || strcmp(opened->kind, "config") == 0;
        snprintf(view, 1024, "/%s?opened=1", is_plan ? "plan" : "schedule");
        return KERF_OK;
    }
    char folder[4096];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    setenv("KERF_STUDIES", folder[0] ? folder : "/", 1);
    snprintf(view, 1024, "/studies?study=%.*s", (int)(strlen(opened->name) - strlen(".jsonl")), opened->name);
    return KERF_OK;
}

/* ---- The browser --------------------------------------------------------------------------------------------- */

struct opening {
    const char *host, *view;
    int no_browser;
};

/* Whether a browser was asked; its words go nowhere. */
static int open_browser(const char *url) {
    const char *own = getenv("BROWSER");
    const char *const names[] = {own && *own ? own : "xdg-open", "open"};
    int has_screen = (own && *own) || getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
    posix_spawn_file_actions_t actions;
    pid_t pid;
    if (!has_screen) return 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    int done = 0;
    for (int i = 0; i < 2 && !done; i++) {
        char *const argv[] = {(char *)(uintptr_t)names[i], (char *)(uintptr_t)url, NULL};
        done = posix_spawnp(&pid, names[i], &actions, NULL, argv, environ) == 0;
    }
    posix_spawn_file_actions_destroy(&actions);
    return done;
}

static void started(void *context, int32_t port) {
    const struct opening *opening = context;
    char url[1400];
    snprintf(url, sizeof url, "http://%s:%d%s", opening->host, (int)port, opening->view);
    printf("%s\n", url);
    fflush(stdout);
    if (!opening->no_browser && !open_browser(url))
        fprintf(stderr, "kerf: no browser was found: open the address yourself\n");
}

/* ---- The command --------------------------------------------------------------------------------------------- */

static int show(const struct open_options *values, const struct server_opened *opened, const char *view) {
    const char *temporary = getenv("TMPDIR");
    char folder[512], store[544] = "", host[256];
    snprintf(folder, sizeof folder, "%.400s/kerf-open-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    struct kerf_error err;
    if (values->store == NULL && mkdtemp(folder) == NULL) {
        kerf_error_set(&err, KERF_EIO, "no temporary folder can be made as %.200s; set $TMPDIR, or give --store",
                       folder);
        return cli_fail(&err);
    }
    if (values->store == NULL) snprintf(store, sizeof store, "%s/jobs.db", folder);
    const char *colon = strrchr(values->listen, ':');
    snprintf(host, sizeof host, "%.*s", colon ? (int)(colon - values->listen) : 9,
             colon ? values->listen : "127.0.0.1");
    struct opening opening = {.host = host, .view = view, .no_browser = values->no_browser};
    const struct server_options how = {
#ifdef KERF_ZEUS
        .addition = &zeus_api,
#endif
        .opened = *opened,
        .listen = values->listen,
        .store = values->store ? values->store : store,
        .is_quiet = 1,
        .connections = 256,
        .connections_an_address = -1,
        .rate = -1,
        .cache_mib = 16,
        .idle_s = 75,
        .request_s = 30,
        .write_s = 20};
    int status = serving_run(&how, started, &opening);
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; values->store == NULL && i < sizeof endings / sizeof *endings; i++) {
        char path[560];
        snprintf(path, sizeof path, "%s%s", store, endings[i]);
        unlink(path);
    }
    if (values->store == NULL) rmdir(folder);
    return status;
}

static int run(int argc, char **argv) {
    struct open_options values = {.listen = "127.0.0.1:0"};
    struct server_opened opened = {.kind = NULL};
    struct kerf_error err = {.code = KERF_OK};
    char view[1024] = "/";
    int status = cli_parse(&open_cli, argc, argv, &values);
    if (status >= 0) return status;
    int32_t code = KERF_OK;
    if (values.files.count > 1)
        code = kerf_error_set(&err, KERF_EINVALID, "give one file, not also '%.64s'", values.files.items[1]);
    else if (values.files.count == 1)
        code = look_at(values.files.items[0], &opened, view, &err);
    status = code == KERF_OK ? show(&values, &opened, view) : cli_fail(&err);
    options_free(&table, &values);
    return status;
}

const struct cli_command open_cli = {&table, run};
