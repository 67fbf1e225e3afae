/* SPDX-License-Identifier: Apache-2.0 */
/* The input is text of the command line. The whole of it, and each of its lines, is read as a layout, as a
 * quantity and as an assignment (--set), the assignments adding up on gpt3 x a100; every layout that can be
 * read is then tried on what the assignments made. */
#include "base/quantity.h"
#include "invariants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Layouts: the reader against a plain one ----------------------------------------------------------------- */

static const char *const keys[] = {"dp",           "tp1",          "tp2",          "pp",          "micro_batch",
                                   "summa_blocks", "scale_up.tp1", "scale_up.tp2", "scale_up.dp", "scale_up.pp"};
enum { KEYS = sizeof keys / sizeof *keys, SUMMA_BLOCKS = 5 /* and behind it the placement */, DIGITS_MAX = 31 };

static void values_of(const struct kerf_layout *layout, int64_t values[KEYS]) {
    const int64_t list[KEYS] = {layout->dp,          layout->tp1,          layout->tp2,          layout->pp,
                                layout->micro_batch, layout->summa_blocks, layout->scale_up.tp1, layout->scale_up.tp2,
                                layout->scale_up.dp, layout->scale_up.pp};
    memcpy(values, list, sizeof list);
}

/* Reads "key=digits" that ends at end; 0 when it is something else or out of bounds. */
static int plain_part(const char *part, const char *end, int64_t values[KEYS], int given[KEYS]) {
    for (int i = 0; i < KEYS; i++) {
        size_t length = strlen(keys[i]);
        if ((size_t)(end - part) <= length || strncmp(part, keys[i], length) != 0 || part[length] != '=') continue;
        const char *digit = part + length + 1;
        if (digit == end || end - digit > DIGITS_MAX || given[i]) return 0;
        int64_t value = 0;
        for (; digit < end; digit++) {
            if (*digit < '0' || *digit > '9') return 0;
            value = 10 * value + (*digit - '0');
            if (value > 1 << 30) return 0;
        }
        if (value < (i == SUMMA_BLOCKS ? 0 : 1)) return 0;
        values[i] = value;
        given[i] = 1;
        return 1;
    }
    return 0;
}

static int plain_layout(const char *text, int64_t values[KEYS]) {
    int given[KEYS] = {0};
    for (int i = 0; i < KEYS; i++) values[i] = i < SUMMA_BLOCKS;
    for (;;) {
        const char *end = text + strcspn(text, ",");
        if (!plain_part(text, end, values, given)) return 0;
        if (*end == 0) return 1;
        text = end + 1;
    }
}

/* Whatever a layout is tried on, it is refused with one line or estimated. */
static void try_layout(const struct kerf_problem *start, const struct kerf_layout *layout) {
    const struct kerf_cost_model *cost_model;
    struct kerf_problem problem = *start;
    struct kerf_estimate estimate;
    struct kerf_error err;
    CHECK(kerf_cost_model_find("reference", &cost_model, NULL) == KERF_OK);
    if (__builtin_mul_overflow(layout->dp * layout->tp1, layout->tp2, &problem.gpus) ||
        __builtin_mul_overflow(problem.gpus, layout->pp, &problem.gpus))
        problem.gpus = 1;
    problem.global_batch = layout->dp * layout->micro_batch;
    problem.seq_length = problem.model.max_position_embeddings;
    for (int s = 0; s < KERF_STRATEGY_COUNT; s++)
        for (int a = 0; a < KERF_ATTENTION_COUNT; a++) {
            problem.strategy = (enum kerf_strategy)s;
            problem.attention = (enum kerf_attention)a;
            poison(&estimate, sizeof estimate);
            poison(&err, sizeof err);
            int32_t code = kerf_layout_estimate(cost_model, &problem, layout, &estimate, &err);
            CHECK(kerf_layout_check(&problem, layout, NULL) == code);
            if (code == KERF_OK) {
                check_estimate(&problem, layout, &estimate);
            } else {
                check_error(code, &err, "", NULL, 0);
                CHECK(is_poisoned(&estimate, sizeof estimate));
            }
        }
}

static int32_t read_layout(const char *text, const struct kerf_problem *problem) {
    struct kerf_layout layout;
    struct kerf_error err;
    int64_t values[KEYS], plain[KEYS];
    poison(&layout, sizeof layout);
    poison(&err, sizeof err);
    int32_t code = kerf_layout_parse(text, &layout, &err);
    CHECK((code == KERF_OK) == plain_layout(text, plain));
    if (code != KERF_OK) {
        check_error(code, &err, "", NULL, 0);
        CHECK(is_poisoned(&layout, sizeof layout));
        return code;
    }
    values_of(&layout, values);
    CHECK(memcmp(values, plain, sizeof values) == 0);
    CHECK(kerf_layout_compare(&layout, &layout) == 0);
    try_layout(problem, &layout);
    return code;
}

/* ---- Quantities and assignments ------------------------------------------------------------------------------ */

static void read_quantity(const char *text) {
    static const char *const units[] = {"B", "B/s", "FLOP/s", "s", ""};
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        double value;
        struct kerf_error err;
        poison(&value, sizeof value);
        poison(&err, sizeof err);
        int32_t code = quantity_parse(text, units[u], &value, &err);
        if (code != KERF_OK) {
            check_error(code, &err, "", NULL, 0);
            CHECK(is_poisoned(&value, sizeof value));
            continue;
        }
        CHECK(isfinite(value));
        CHECK(text[0] && strchr("+-.0123456789", text[0]));
        CHECK((value < 0) <= (text[0] == '-'));
        /* what it is, written without a prefix, is the same quantity */
        struct kerf_text plain = {0};
        double again;
        kerf_text_number(&plain, value);
        CHECK(quantity_parse(plain.data, units[u], &again, NULL) == KERF_OK && again == value);
        kerf_text_printf(&plain, " %s", units[u]);
        CHECK(quantity_parse(plain.data, units[u], &again, NULL) == KERF_OK && again == value);
        kerf_text_free(&plain);
    }
}

static int32_t assign(const char *text, struct kerf_problem *problem) {
    struct kerf_problem before = *problem;
    struct kerf_error err;
    poison(&err, sizeof err);
    int32_t code = kerf_problem_set(&problem->model, &problem->system, text, &err);
    if (code == KERF_OK) {
        check_model(&problem->model);
        check_system(&problem->system);
        CHECK(strcmp(problem->model.name, before.model.name) == 0);
    } else {
        check_error(code, &err, "", NULL, 0);
        CHECK(err.file[0] == 0);
        CHECK(memcmp(&before.model, &problem->model, sizeof before.model) == 0);
        CHECK(memcmp(&before.system, &problem->system, sizeof before.system) == 0);
    }
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { LINES_MAX = 24 };
    static struct kerf_problem start; /* gpt3 x a100, read once */
    if (start.model.hidden_size == 0) {
        CHECK(kerf_model_load("gpt3", &start.model, NULL) == KERF_OK);
        CHECK(kerf_system_load("a100", &start.system, NULL) == KERF_OK);
    }
    struct kerf_problem problem = start;
    char *text = malloc(size + 1);
    CHECK(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    /* nobody has to want to know why */
    struct kerf_layout layout;
    CHECK(kerf_layout_parse(text, &layout, NULL) == read_layout(text, &problem));
    CHECK(kerf_problem_set(&problem.model, &problem.system, text, NULL) == assign(text, &problem));
    read_quantity(text);
    char *rest = text, *line;
    for (int i = 0; i < LINES_MAX && (line = strsep(&rest, "\n")); i++) assign(line, &problem);
    memcpy(text, data, size);
    rest = text;
    for (int i = 0; i < LINES_MAX && (line = strsep(&rest, "\n")); i++) {
        read_layout(line, &problem);
        read_quantity(line);
    }
    free(text);
    return 0;
}
