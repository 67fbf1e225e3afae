/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/launch_file.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/input.h"
#include "cli/command.h"

enum { FILE_BYTES_MAX = 16 << 20 };

/* A file that the launch names: as it is named, else beside the launch. */
static int32_t read_beside(void *context, const char *name, struct kerf_text *ret_text, struct kerf_error *err) {
    const char *launch = context, *slash = strrchr(launch, '/'), *of_name = strrchr(name, '/');
    struct kerf_text path = {0};
    if (slash && name[0] != '/') kerf_text_write(&path, launch, (size_t)(slash + 1 - launch));
    kerf_text_add(&path, name);
    int32_t code = path.failed ? KERF_ENOMEM : input_read(path.data, FILE_BYTES_MAX, ret_text, err);
    if (code != KERF_OK && !path.failed && of_name) {
        kerf_text_clear(&path);
        if (slash) kerf_text_write(&path, launch, (size_t)(slash + 1 - launch));
        kerf_text_add(&path, of_name + 1);
        kerf_text_clear(ret_text);
        code = path.failed ? KERF_ENOMEM : input_read(path.data, FILE_BYTES_MAX, ret_text, err);
    }
    kerf_text_free(&path);
    return code;
}

int32_t launch_file_read(const char *path, const char *framework, const char *version, int64_t gpus,
                         struct kerf_launch **ret_launch, struct kerf_error *err) {
    struct kerf_text text = {0};
    union {
        const char *given;
        void *context;
    } name = {.given = path};
    const struct kerf_launch_options how = {
        .framework = framework, .version = version, .gpus = gpus, .file = read_beside, .context = name.context};
    int32_t code = input_read(path, FILE_BYTES_MAX, &text, err);
    if (code == KERF_OK) code = kerf_launch_read(text.data ? text.data : "", text.length, path, &how, ret_launch, err);
    kerf_text_free(&text);
    return code;
}

int32_t launch_file_check(enum kerf_framework framework, const char *path, struct kerf_error *err) {
    static const char *const forms[] = {"sh", "toml", "yaml", "json", "csv"};
    const char *right = kerf_framework_ending(framework), *ending = output_ending(path);
    if (right == NULL || output_is_special(path) || strcasecmp(ending, right) == 0) return KERF_OK;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcasecmp(ending, forms[i]) == 0)
            return kerf_error_set(err, KERF_EINVALID,
                                  "--output %.200s: end the name in .%s, the form of launches of %s", path, right,
                                  kerf_framework_name(framework));
    return KERF_OK;
}

void launch_file_notes(const char *path, const struct kerf_launch *launch) {
    for (int32_t i = 0; i < launch->num_assumed; i++)
        fprintf(stderr, "kerf: %s: assumed: %s: %s\n", path, launch->assumed[i].key, launch->assumed[i].value);
    if (launch->num_ignored > 0) fprintf(stderr, "kerf: %s", path);
    for (int32_t i = 0; i < launch->num_ignored; i++) fprintf(stderr, i ? ", %s" : ": ignored: %s", launch->ignored[i]);
    if (launch->num_ignored > 0) fprintf(stderr, "\n");
    for (int32_t i = 0; i < launch->num_invalid; i++)
        fprintf(stderr, "kerf: %s: %s would refuse it: %s\n", path,
                kerf_framework_name((enum kerf_framework)launch->framework), launch->invalid[i]);
}
