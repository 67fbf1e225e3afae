/* SPDX-License-Identifier: Apache-2.0 */
/* The input is text of the command line. The whole of it, and each of its lines, is read as a layout, as a
 * quantity and as an assignment (--set), the assignments adding up on gpt3 x a100; every layout that can be
 * read is then tried on what the assignments made. */
#include "base/quantity.h"
#include "invariants.h"
#include "spec/layout.h"

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

/* ---- Layouts of hybrid ---------------------------------------------------------------------------------------- */

enum { HYBRID_KEYS = 14, ZERO = 7, RECOMPUTE = 9, SCHEDULE, ORDER, CP_COMM, STAGE_LAYERS, STAGES_MAX = 32767 };
static const char *const hybrid_keys[HYBRID_KEYS] = {"dp",       "tp",    "cp",      "pp",          "vpp",
                                                     "ep",       "etp",   "zero",    "micro_batch", "recompute",
                                                     "schedule", "order", "cp_comm", "stage_layers"};

struct plain_hybrid {
    int64_t values[HYBRID_KEYS]; /* of stage_layers: how many */
    int given[HYBRID_KEYS];
};

/* Digits alone, or -1; more than any limit is 2^40. */
static int64_t plain_number(const char *digit, const char *end) {
    int64_t value = 0;
    if (digit == end) return -1;
    for (; digit < end; digit++) {
        if (*digit < '0' || *digit > '9') return -1;
        value = value >= INT64_C(1) << 36 ? INT64_C(1) << 40 : 10 * value + (*digit - '0');
    }
    return value;
}

static int is_word(const char *text, const char *end, const char *word) {
    return (size_t)(end - text) == strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

static int plain_word(int key, const char *text, const char *end) {
    static const char *const words[HYBRID_KEYS][5] = {
        [RECOMPUTE] = {"none", "selective", "full"},
        [ORDER] = {"tp-cp-dp-pp", "tp-cp-pp-dp"},
        [CP_COMM] = {"any", "ring", "all_gather", "all_to_all"},
    };
    for (int i = 0; words[key][i]; i++)
        if (is_word(text, end, words[key][i])) return 1;
    if (key == RECOMPUTE && end - text > 5 && memcmp(text, "full:", 5) == 0) {
        int64_t layers = plain_number(text + 5, end);
        return layers >= 1 && layers <= 1 << 20;
    }
    if (key != SCHEDULE || text == end || end - text > 30) return 0;
    for (; text < end; text++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_", *text) || !*text) return 0;
    return 1;
}

/* How many stages "11/11/10" has; 0: it is something else. */
static int64_t plain_stages(const char *text, const char *end) {
    for (int64_t count = 1; count <= STAGES_MAX; count++) {
        const char *slash = memchr(text, '/', (size_t)(end - text)), *stop = slash ? slash : end;
        int64_t layers = plain_number(text, stop);
        if (layers < 1 || layers > 1 << 20) return 0;
        if (slash == NULL) return count;
        text = slash + 1;
    }
    return 0;
}

static int plain_hybrid_part(const char *part, const char *end, struct plain_hybrid *plain) {
    for (int i = 0; i < HYBRID_KEYS; i++) {
        size_t length = strlen(hybrid_keys[i]);
        if ((size_t)(end - part) <= length || strncmp(part, hybrid_keys[i], length) != 0 || part[length] != '=')
            continue;
        const char *value = part + length + 1;
        if (plain->given[i]) return 0;
        plain->given[i] = 1;
        if (i == STAGE_LAYERS) return (plain->values[i] = plain_stages(value, end)) > 0;
        if (i >= RECOMPUTE) return plain_word(i, value, end);
        if (end - value > DIGITS_MAX) return 0;
        plain->values[i] = plain_number(value, end);
        return plain->values[i] >= (i != ZERO) && plain->values[i] <= (i == ZERO ? 3 : 1 << 30);
    }
    return 0;
}

static int plain_hybrid(const char *text, struct plain_hybrid *plain) {
    memset(plain, 0, sizeof *plain);
    for (int i = 0; i < RECOMPUTE; i++) plain->values[i] = i != ZERO;
    for (;; text++) {
        const char *end = text + strcspn(text, ",");
        if (!plain_hybrid_part(text, end, plain)) return 0;
        if (*(text = end) == 0) break;
    }
    if (plain->given[STAGE_LAYERS] && plain->values[STAGE_LAYERS] != plain->values[3] * plain->values[4]) return 0;
    if (!plain->given[ZERO]) plain->values[ZERO] = plain->values[0] > 1 || plain->values[2] > 1;
    return 1;
}

/* What was read, written as text and as JSON and read again, is the same. */
static void check_written(const struct kerf_layout *layout) {
    struct kerf_text text = {0};
    struct kerf_json json;
    struct kerf_layout again;
    struct json_document document;
    struct json_object root;
    kerf_layout_text(&text, NULL, layout);
    CHECK(kerf_layout_parse(text.data, &again, NULL) == KERF_OK && kerf_layout_compare(&again, layout) == 0);
    kerf_layout_release(&again);
    kerf_text_clear(&text);
    kerf_json_begin(&json, &text);
    kerf_layout_json(&json, NULL, layout);
    CHECK(json_document_parse(&document, text.data, text.length, "layout", &root, NULL) == KERF_OK);
    CHECK(layout_from_object(&root, LAYOUT_ANY, &again, NULL) == KERF_OK);
    if (layout->cp == 1) again.cp_comm = layout->cp_comm; /* says nothing there, and is not written */
    CHECK(kerf_layout_compare(&again, layout) == 0);
    kerf_layout_release(&again);
    json_document_free(&document);
    kerf_text_free(&text);
}

static void try_hybrid(const struct kerf_problem *start, const struct kerf_layout *layout) {
    struct kerf_problem problem = *start;
    struct kerf_error err;
    problem.strategy = KERF_STRATEGY_HYBRID;
    problem.gpus = kerf_layout_devices(layout);
    problem.global_batch = layout->dp < 1 << 15 && layout->micro_batch < 1 << 15 ? layout->dp * layout->micro_batch : 1;
    problem.seq_length = problem.model.max_position_embeddings;
    poison(&err, sizeof err);
    int32_t code = kerf_layout_check(&problem, layout, &err);
    if (code != KERF_OK) check_error(code, &err, "", NULL, 0);
    CHECK(kerf_layout_check(&problem, layout, NULL) == code);
}

static int32_t read_hybrid(const char *text, const struct kerf_problem *problem) {
    struct kerf_layout layout;
    struct kerf_error err;
    struct plain_hybrid plain;
    poison(&layout, sizeof layout);
    poison(&err, sizeof err);
    int32_t code = kerf_layout_parse_as(text, KERF_STRATEGY_HYBRID, &layout, &err);
    CHECK((code == KERF_OK) == plain_hybrid(text, &plain));
    if (code != KERF_OK) {
        check_error(code, &err, "", NULL, 0);
        CHECK(is_poisoned(&layout, sizeof layout));
        return code;
    }
    const int64_t values[RECOMPUTE] = {layout.dp, layout.tp1, layout.cp,   layout.pp,         layout.vpp,
                                       layout.ep, layout.etp, layout.zero, layout.micro_batch};
    CHECK(memcmp(values, plain.values, sizeof values) == 0);
    CHECK((layout.stage_layers != NULL) == plain.given[STAGE_LAYERS]);
    check_written(&layout);
    try_hybrid(problem, &layout);
    kerf_layout_release(&layout);
    return code;
}

/* ---- Layouts of the others ---------------------------------------------------------------------------------- */

static int32_t read_tensor(const char *text, const struct kerf_problem *problem) {
    struct kerf_layout layout;
    struct kerf_error err;
    int64_t values[KEYS], plain[KEYS];
    poison(&layout, sizeof layout);
    poison(&err, sizeof err);
    int32_t code = kerf_layout_parse_as(text, KERF_STRATEGY_SEQP, &layout, &err);
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

/* Read as each kind; and, where the kind is open, as the one whose parts it has. */
static int32_t read_layout(const char *text, const struct kerf_problem *problem) {
    struct kerf_layout layout;
    int has_tensor_parts =
        strstr(text, "tp1") || strstr(text, "tp2") || strstr(text, "summa_blocks") || strstr(text, "scale_up");
    int32_t tensor = read_tensor(text, problem), hybrid = read_hybrid(text, problem);
    int32_t code = kerf_layout_parse(text, &layout, NULL);
    CHECK((code == KERF_OK) == (hybrid == KERF_OK || (tensor == KERF_OK && has_tensor_parts)));
    if (code != KERF_OK) return code;
    CHECK((layout.schedule[0] != 0) == (hybrid == KERF_OK));
    kerf_layout_release(&layout);
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
    read_layout(text, &problem);
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
