/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vector_file.h"

enum { FIELDS_MAX = 40, ROWS_MAX = 4096 };

/* Cuts a line at its commas. */
static int split(char *line, char *fields[FIELDS_MAX]) {
    int count = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *rest = line; rest && count < FIELDS_MAX;) fields[count++] = strsep(&rest, ",");
    return count;
}

/* The next line that is no comment, cut into exactly `expected` fields; 0 at the end. */
static int next_row(FILE *file, char line[4096], char *fields[FIELDS_MAX], int expected) {
    while (fgets(line, 4096, file)) {
        if (line[0] == '#') continue;
        assert_int_equal(split(line, fields), expected);
        return 1;
    }
    return 0;
}

static FILE *open_file(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/reference/%s", KERF_TEST_DIR, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) fail_msg("cannot open %s", path);
    return file;
}

double relative_error(double a, double b) { return a == b ? 0 : fabs(a - b) / fmax(fabs(a), fabs(b)); }

static struct kerf_model find_shape(const char *name) {
    char line[4096], *fields[FIELDS_MAX];
    FILE *file = open_file("shapes.csv");
    struct kerf_model model = {.name = ""};
    while (next_row(file, line, fields, 6)) {
        if (strcmp(fields[0], name) != 0) continue;
        snprintf(model.name, sizeof model.name, "%s", name);
        model.max_position_embeddings = atoll(fields[1]);
        model.hidden_size = atoll(fields[2]);
        model.intermediate_size = atoll(fields[3]);
        model.num_attention_heads = atoll(fields[4]);
        model.num_hidden_layers = atoll(fields[5]);
    }
    fclose(file);
    assert_true(model.hidden_size > 0);
    return model;
}

static struct kerf_system find_system(const char *name) {
    struct kerf_system system;
    char lower[32];
    size_t i = 0;
    for (; name[i] && i + 1 < sizeof lower; i++) lower[i] = (char)tolower((unsigned char)name[i]);
    lower[i] = 0;
    assert_int_equal(kerf_system_load(lower, &system, NULL), KERF_OK);
    return system;
}

struct vector *read_vectors(size_t *ret_count) {
    char line[4096], *f[FIELDS_MAX];
    struct vector *vectors = calloc(ROWS_MAX, sizeof *vectors);
    assert_non_null(vectors);
    FILE *file = open_file("vectors.csv");
    assert_true(next_row(file, line, f, 31)); /* the header */
    size_t count = 0;
    while (next_row(file, line, f, 31)) {
        assert_true(count < ROWS_MAX);
        struct vector *v = &vectors[count++];
        assert_int_equal(kerf_attention_parse(f[0], &v->problem.attention, NULL), KERF_OK);
        assert_int_equal(kerf_strategy_parse(f[1], &v->problem.strategy, NULL), KERF_OK);
        v->problem.model = find_shape(f[2]);
        v->problem.system = find_system(f[3]);
        v->problem.system.scale_up.size = atoll(f[4]);
        v->problem.gpus = atoll(f[5]);
        v->problem.global_batch = atoll(f[6]);
        v->problem.seq_length = v->problem.model.max_position_embeddings;
        v->candidates = atoll(f[7]);
        int64_t *parts[] = {&v->layout.dp,           &v->layout.tp1,          &v->layout.tp2,
                            &v->layout.pp,           &v->layout.micro_batch,  &v->layout.summa_blocks,
                            &v->layout.scale_up.tp1, &v->layout.scale_up.tp2, &v->layout.scale_up.dp,
                            &v->layout.scale_up.pp};
        for (int i = 0; i < 10; i++) *parts[i] = atoll(f[8 + i]);
        v->t = strtod(f[18], NULL);
        v->memory = strtod(f[19], NULL);
        v->flops = strtod(f[20], NULL);
        for (int i = 0; i < 6; i++) v->time[i] = strtod(f[21 + i], NULL);
        for (int i = 0; i < 4; i++) v->memory_parts[i] = strtod(f[27 + i], NULL);
    }
    fclose(file);
    *ret_count = count;
    return vectors;
}

struct layer_row *read_layers(size_t *ret_count) {
    char line[4096], *f[FIELDS_MAX];
    struct layer_row *rows = calloc(ROWS_MAX, sizeof *rows);
    assert_non_null(rows);
    FILE *file = open_file("layers.csv");
    assert_true(next_row(file, line, f, 15));
    size_t count = 0;
    while (next_row(file, line, f, 15)) {
        assert_true(count < ROWS_MAX);
        struct layer_row *row = &rows[count++];
        row->vector = atoi(f[0]);
        row->is_mlp = strcmp(f[1], "mlp") == 0;
        snprintf(row->name, sizeof row->name, "%s", f[2]);
        for (int i = 0; i < 12; i++) row->values[i] = strtod(f[3 + i], NULL);
    }
    fclose(file);
    *ret_count = count;
    return rows;
}
