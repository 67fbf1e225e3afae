/* SPDX-License-Identifier: Apache-2.0 */
/* What a program under trial may write. The input begins with w: lines for a worker's question 7; l: a path, a line
 * end, and lines of llama-bench; j: a path, a line end, and an output with JSON in it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "invariants.h"
#include "kerf/tune.h"
#include "trial/program_output.h"
#include "trial/trial_slot.h"
#include "trial/worker_answer.h"

struct taker {
    const char *path; /* of llama-bench; NULL: a worker's */
    size_t lines;
};

static void check_answer(const char *line, size_t length, int64_t id) {
    struct worker_answer answer;
    poison(&answer, sizeof answer);
    worker_answer_read(line, length, id, &answer);
    CHECK(answer.says <= WORKER_BAD && is_plain(answer.text));
    CHECK((answer.says == WORKER_BAD || answer.says == WORKER_ERROR) == (answer.text[0] != 0));
    CHECK(answer.says != WORKER_READY || id == 0);
    CHECK(id > 0 || answer.says == WORKER_READY || answer.says == WORKER_OTHER);
    if (answer.says == WORKER_VALUE || answer.says == WORKER_CENSORED) {
        CHECK(isfinite(answer.value));
        CHECK(isnan(answer.start_s) ? isnan(answer.end_s) : answer.end_s >= answer.start_s);
    }
    if (answer.says == WORKER_ERROR)
        CHECK(answer.failure > KERF_TUNE_FAILURE_NONE && answer.failure < KERF_TUNE_FAILURE_COUNT);
}

static void check_llama_bench(const char *line, size_t length, const char *path) {
    char why[160], plain[160];
    double value;
    poison(&value, sizeof value);
    enum llama_bench_kind kind = llama_bench_line(line, length, path, &value, why, sizeof why);
    CHECK(kind == LLAMA_BENCH_RESULT ? isfinite(value) : is_poisoned(&value, sizeof value));
    if (kind == LLAMA_BENCH_RESULT && path == NULL) CHECK(value > 0);
    if (kind != LLAMA_BENCH_BAD) return;
    quote_line(why, plain, sizeof plain);
    CHECK(plain[0] && is_plain(plain));
}

static void take(void *context, char *line, size_t length) {
    struct taker *taker = context;
    char quoted[120];
    CHECK(length > 0 && length <= LINE_MAX_BYTES && strlen(line) == length);
    CHECK(!memchr(line, '\n', length) && !memchr(line, '\r', length));
    taker->lines++;
    quote_line(line, quoted, sizeof quoted);
    CHECK(is_plain(quoted));
    says_out_of_memory(line);
    if (taker->path == NULL) {
        check_answer(line, length, 7);
        check_answer(line, length, 0);
    } else {
        check_llama_bench(line, length, NULL);
        if (json_path_is_valid(taker->path)) check_llama_bench(line, length, taker->path);
    }
}

/* The lines are the same however the bytes come. */
static void check_lines(struct taker *taker, const char *text, size_t size) {
    size_t found[2];
    for (int way = 0; way < 2; way++) {
        struct output_lines lines = {0};
        size_t step = way == 0 ? size + 1 : 3;
        taker->lines = 0;
        for (size_t at = 0; at < size; at += step)
            output_lines_feed(&lines, text + at, size - at < step ? size - at : step, take, taker);
        output_lines_end(&lines, take, taker);
        output_lines_free(&lines);
        found[way] = taker->lines;
    }
    CHECK(found[0] == found[1]);
}

static void check_json(const char *path, const char *text, size_t size) {
    char why[160];
    double value;
    json_t *root = json_last_value(text, size, size & 1, why, sizeof why);
    CHECK(root == NULL || ((json_is_object(root) || json_is_array(root)) && why[0] == 0));
    poison(&value, sizeof value);
    if (root && json_path_is_valid(path)) {
        int found = json_path_number(root, path, &value, why, sizeof why);
        CHECK(found > 0 ? isfinite(value) : is_poisoned(&value, sizeof value) && why[0]);
    }
    json_decref(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char nothing[1] = "";
    if (size < 1) return 0;
    const char *text = (const char *)data + 1, *end = (const char *)data + size;
    struct taker taker = {0};
    if (data[0] == 'w') {
        check_lines(&taker, text, size - 1);
    } else if (data[0] == 'l' || data[0] == 'j') {
        const char *newline = size > 1 ? memchr(text, '\n', size - 1) : NULL;
        char *path = strndup(text, (size_t)((newline ? newline : end) - text));
        const char *rest = newline ? newline + 1 : nothing;
        size_t length = newline ? (size_t)(end - rest) : 0;
        CHECK(path);
        taker.path = path;
        if (data[0] == 'l')
            check_lines(&taker, rest, length);
        else
            check_json(path, rest, length);
        free(path);
    }
    return 0;
}
