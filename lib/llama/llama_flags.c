/* SPDX-License-Identifier: Apache-2.0 */
/* The options by which llama.cpp's programs take a setting: common/arg.cpp for all but llama-bench, and
 * llama-bench.cpp. */
#include <stdio.h>
#include <string.h>
#include "base/characters.h"
#include "kerf/llama.h"

enum tool_family { COMMON, BENCH };

static const struct tool {
    const char *name;
    enum tool_family family;
} tools[] = {{"llama-server", COMMON},     {"llama-cli", COMMON},     {"llama-completion", COMMON},
             {"llama-perplexity", COMMON}, {"llama-imatrix", COMMON}, {"llama-bench", BENCH}};
enum { TOOLS = sizeof tools / sizeof *tools };

const char *kerf_llama_tool_at(size_t index) { return index < TOOLS ? tools[index].name : NULL; }

static int32_t unknown(const char *name, struct kerf_error *err) {
    const char *names[TOOLS];
    for (size_t i = 0; i < TOOLS; i++) names[i] = tools[i].name;
    const char *nearest = nearest_name(name, names, TOOLS);
    return kerf_error_set(err, KERF_EUNKNOWN, "llama.cpp has no program '%.60s' that takes settings%s%s%s", name,
                          nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static void flag(struct kerf_text *out, int *first, const char *name, const char *value) {
    kerf_text_printf(out, "%s%s %s", *first ? "" : " ", name, value);
    *first = 0;
}

static void flag_number(struct kerf_text *out, int *first, const char *name, int64_t value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", (long long)value);
    flag(out, first, name, digits);
}

/* llama-bench has one number of threads for single tokens and for batches. */
static int32_t check_bench(const struct kerf_llama_setting *s, struct kerf_error *err) {
    if (s->context > 0) return kerf_error_set(err, KERF_EUNSUPPORTED, "llama-bench has no option for the context");
    if (s->sequences > 1) return kerf_error_set(err, KERF_EUNSUPPORTED, "llama-bench runs one sequence");
    if (s->threads > 0 && s->threads_batch > 0 && s->threads != s->threads_batch)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "llama-bench has one option for threads and threads_batch");
    return KERF_OK;
}

/* What is not named is the least of each, or 0. */
static int32_t check_setting(const struct kerf_llama_setting *s, struct kerf_error *err) {
    const struct {
        const char *name;
        int64_t value, least, most;
    } rows[] = {{"context", s->context, 0, INT64_MAX},
                {"batch", s->batch, 0, INT64_MAX},
                {"ubatch", s->ubatch, 0, INT64_MAX},
                {"sequences", s->sequences, 0, INT64_MAX},
                {"threads", s->threads, 0, INT32_MAX},
                {"threads_batch", s->threads_batch, 0, INT32_MAX},
                {"gpu_layers", s->gpu_layers, -2, INT64_MAX},
                {"flash_attention", s->flash_attention, KERF_LLAMA_ATTENTION_AUTO, KERF_LLAMA_ATTENTION_OFF},
                {"mmap", s->mmap, -1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
            return kerf_error_set(err, KERF_EINVALID, "%s cannot be %lld", rows[i].name, (long long)rows[i].value);
    return KERF_OK;
}

int32_t kerf_llama_flags(const char *name, const struct kerf_llama_setting *s, struct kerf_text *out,
                         struct kerf_error *err) {
    static const char *const attention[] = {"auto", "on", "off"};
    const struct tool *tool = NULL;
    for (size_t i = 0; i < TOOLS; i++)
        if (strcmp(tools[i].name, name) == 0) tool = &tools[i];
    if (tool == NULL) return unknown(name, err);
    int32_t code = check_setting(s, err);
    if (code == KERF_OK && tool->family == BENCH) code = check_bench(s, err);
    if (code != KERF_OK) return code;
    int first = 1;
    int32_t threads = tool->family == BENCH && s->threads == 0 ? s->threads_batch : s->threads;
    if (s->context > 0) flag_number(out, &first, "-c", s->context);
    /* without it llama-server chooses a number of its own */
    if (s->sequences > 0 && tool->family == COMMON) flag_number(out, &first, "-np", s->sequences);
    if (s->batch > 0) flag_number(out, &first, "-b", s->batch);
    if (s->ubatch > 0) flag_number(out, &first, "-ub", s->ubatch);
    if (threads > 0) flag_number(out, &first, "-t", threads);
    if (s->threads_batch > 0 && tool->family == COMMON) flag_number(out, &first, "-tb", s->threads_batch);
    if (s->flash_attention != KERF_LLAMA_ATTENTION_AUTO) flag(out, &first, "-fa", attention[s->flash_attention]);
    if (s->kv_type_k) flag(out, &first, "-ctk", s->kv_type_k);
    if (s->kv_type_v) flag(out, &first, "-ctv", s->kv_type_v);
    if (s->gpu_layers >= 0)
        flag_number(out, &first, "-ngl", s->gpu_layers);
    else if (s->gpu_layers == -1)
        flag(out, &first, "-ngl", tool->family == BENCH ? "-1" : "all");
    if (s->mmap >= 0) flag(out, &first, "-lm", s->mmap ? "mmap" : "none");
    return KERF_OK;
}
