/* SPDX-License-Identifier: Apache-2.0 */
/* System files, their bounds and errors; and --set, which changes fields of a system or model by their keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerf/spec.h"
#include "spec/description.h"

/* The fields in the order of the file below, with a value as it is written there. */
static const struct field {
    const char *group, *key, *value;
    size_t offset;
    int is_whole, is_share, may_be_zero;
    const char *unit; /* NULL: numbers alone */
} fields[] = {
#define TOP(key, value, unit)                                                                                          \
    { NULL, #key, value, offsetof(struct kerf_system, key), 0, 0, 0, unit }
#define IN(group, key, value, w, s, z, unit)                                                                           \
    { #group, #key, value, offsetof(struct kerf_system, group.key), w, s, z, unit }
    TOP(matrix_flops_per_s, "1e15", "FLOP/s"),
    TOP(vector_flops_per_s, "2e14", "FLOP/s"),
    TOP(memory_bandwidth_bytes_per_s, "3e12", "B/s"),
    TOP(memory_capacity_bytes, "8e10", "B"),
    IN(scale_up, size, "8", 1, 0, 0, NULL),
    IN(scale_up, bandwidth_bytes_per_s, "4.5e11", 0, 0, 0, "B/s"),
    IN(scale_up, efficiency, "0.75", 0, 1, 0, NULL),
    IN(scale_up, latency_s, "2.5e-6", 0, 0, 1, "s"),
    IN(scale_out, bandwidth_bytes_per_s, "5e10", 0, 0, 0, "B/s"),
    IN(scale_out, efficiency, "0.5", 0, 1, 0, NULL),
    IN(scale_out, latency_s, "5e-6", 0, 0, 1, "s"),
    IN(scale_out, nics_per_device, "0.25", 0, 0, 0, NULL),
};
enum { FIELDS = sizeof fields / sizeof *fields };

static const char *line_of(const struct kerf_error *err) {
    static char line[1024];
    kerf_error_format(err, line, sizeof line);
    return line;
}

/* A file with `value` in the place of field number `changed`'s own (FIELDS: none); NULL leaves the field out. One field
 * a line, so that field i of the top is on line 2 + i, and so on. *ret_line is the changed field's. */
static char *file_with(size_t changed, const char *value, int *ret_line) {
    static char text[4096];
    int line = 2;
    strcpy(text, "{\n");
    for (size_t i = 0; i < FIELDS; i++) {
        const char *group = fields[i].group, *before = i ? fields[i - 1].group : NULL;
        if (group && (before == NULL || strcmp(group, before) != 0)) {
            sprintf(text + strlen(text), "%s  \"%s\": {\n", before ? "  },\n" : "", group);
            line += before ? 2 : 1;
        }
        const char *written = i == changed ? value : fields[i].value;
        int last = i + 1 == FIELDS || (group && strcmp(group, fields[i + 1].group ? fields[i + 1].group : "") != 0);
        if (i == changed && ret_line) *ret_line = line;
        if (written == NULL && last) { /* the comma before it goes too */
            char *comma = strrchr(text, ',');
            memmove(comma, comma + 1, strlen(comma));
        }
        if (written == NULL) continue;
        sprintf(text + strlen(text), "    \"%s\": %s%s\n", fields[i].key, written, last ? "" : ",");
        line++;
    }
    strcat(text, "  }\n}\n");
    return text;
}

static double value_of(const struct kerf_system *system, size_t i) {
    const char *place = (const char *)system + fields[i].offset;
    if (fields[i].is_whole) return (double)*(const int64_t *)(const void *)place;
    return *(const double *)(const void *)place;
}

static int32_t parse(const char *json, struct kerf_system *system, struct kerf_error *err) {
    return kerf_system_parse(json, strlen(json), "folder/s.json", system, err);
}

static void expect_taken(size_t i, const char *value, double expected) {
    struct kerf_system system;
    struct kerf_error err;
    if (parse(file_with(i, value, NULL), &system, &err) != KERF_OK)
        fail_msg("%s = %s: %s", fields[i].key, value, line_of(&err));
    if (value_of(&system, i) != expected)
        fail_msg("%s = %s is %.17g, not %.17g", fields[i].key, value, value_of(&system, i), expected);
}

static void expect_refused(size_t i, const char *value, const char *words) {
    struct kerf_system system, before;
    struct kerf_error err;
    int line = 0;
    memset(&system, 0x5A, sizeof system);
    before = system;
    const char *text = file_with(i, value, &line);
    assert_int_equal(parse(text, &system, &err), KERF_EINVALID);
    assert_memory_equal(&system, &before, sizeof system);
    assert_string_equal(err.file, "folder/s.json");
    if (err.line != line || err.column != (int)strlen(fields[i].key) + 9)
        fail_msg("%s = %s: %s, not %d:%zu", fields[i].key, value, line_of(&err), line, strlen(fields[i].key) + 9);
    if (!strstr(err.message, words) || !strstr(err.message, fields[i].key))
        fail_msg("%s = %s: '%s' lacks '%s'", fields[i].key, value, err.message, words);
}

/* ---- Values ------------------------------------------------------------------------------------------- */

static void reads_every_field(void **state) {
    (void)state;
    struct kerf_system system;
    struct kerf_error err;
    assert_int_equal(parse(file_with(FIELDS, NULL, NULL), &system, &err), KERF_OK);
    assert_string_equal(system.name, "s");
    for (size_t i = 0; i < FIELDS; i++)
        if (value_of(&system, i) != strtod(fields[i].value, NULL)) fail_msg("%s", fields[i].key);
    assert_int_equal(system.scale_up.size, 8);
}

static void every_field_has_its_bounds(void **state) {
    (void)state;
    for (size_t i = 0; i < FIELDS; i++) {
        const struct field *field = &fields[i];
        if (field->is_whole) {
            expect_taken(i, "1", 1);
            expect_taken(i, "1048576", 1048576);
            expect_taken(i, "6.4e1", 64);
            expect_refused(i, "0", "must be a whole number from 1 to 1048576, not 0");
            expect_refused(i, "1048577", "must be a whole number from 1 to 1048576");
            expect_refused(i, "2.5", "must be a whole number from 1 to 1048576, not 2.5");
            expect_refused(i, "-4", "must be a whole number from 1 to 1048576, not -4");
        } else if (field->is_share) {
            expect_taken(i, "1", 1);
            expect_taken(i, "0.001", 0.001);
            expect_refused(i, "0", "must be above 0 and at most 1, not 0");
            expect_refused(i, "1.0001", "must be above 0 and at most 1, not 1.0001");
            expect_refused(i, "7", "must be above 0 and at most 1, not 7");
            expect_refused(i, "-0.5", "must be above 0 and at most 1, not -0.5");
        } else if (field->may_be_zero) {
            expect_taken(i, "0", 0);
            expect_taken(i, "1e-9", 1e-9);
            expect_refused(i, "-1e-9", "must be 0 or above, not -1e-09");
        } else {
            expect_taken(i, "1e-3", 1e-3);
            expect_taken(i, "1e20", 1e20);
            expect_refused(i, "0", "must be above 0, not 0");
            expect_refused(i, "-1", "must be above 0, not -1");
            expect_refused(i, "1e300", "must be from 1e-30 to 1e30, not 1e+300");
            expect_refused(i, "1e-300", "must be from 1e-30 to 1e30, not 1e-300");
        }
        expect_refused(i, "null", field->unit ? "must be a number or text with a unit, in " : "must be a number");
        expect_refused(i, "true", "must be a number");
        expect_refused(i, "[1]", "must be a number");
        expect_refused(i, "{}", "must be a number");
    }
}

static void quantities_may_be_text(void **state) {
    (void)state;
    for (size_t i = 0; i < FIELDS; i++) {
        const struct field *field = &fields[i];
        if (field->unit == NULL) {
            expect_refused(i, "\"1\"", "must be a number");
            continue;
        }
        char value[64];
        snprintf(value, sizeof value, "\"2.5 %s\"", field->unit);
        expect_taken(i, value, 2.5);
        snprintf(value, sizeof value, "\"25 G%s\"", field->unit);
        expect_taken(i, value, 25e9);
        snprintf(value, sizeof value, "\"5 m%s\"", field->unit);
        if (strcmp(field->unit, "s") == 0)
            expect_taken(i, value, 5e-3);
        else
            expect_refused(i, value, "is not a quantity in "); /* millibytes are a slip */
        expect_taken(i, "\"7\"", 7);
        expect_refused(i, "\"80 GX\"", "'80 GX' is not a quantity in ");
        expect_refused(i, "\"\"", "'' is not a quantity in ");
        expect_refused(i, "\"nan\"", "'nan' is not a quantity in ");
        expect_refused(i, strcmp(field->unit, "s") == 0 ? "\"80 GB\"" : "\"1 us\"", " is not a quantity in ");
        expect_refused(i, "\"-1\"", field->may_be_zero ? "must be 0 or above, not -1" : "must be above 0, not -1");
    }
}

static void every_field_is_needed(void **state) {
    (void)state;
    for (size_t i = 0; i < FIELDS; i++) {
        struct kerf_system system;
        struct kerf_error err;
        char words[100];
        snprintf(words, sizeof words, "\"%s\" is missing", fields[i].key);
        assert_int_equal(parse(file_with(i, NULL, NULL), &system, &err), KERF_EINVALID);
        assert_string_equal(err.message, words);
        int line = fields[i].group == NULL ? 1 : strcmp(fields[i].group, "scale_up") == 0 ? 6 : 12;
        if (err.line != line) fail_msg("%s: line %d", fields[i].key, err.line);
        assert_int_equal(err.column, fields[i].group == NULL ? 1 : strcmp(fields[i].group, "scale_up") == 0 ? 15 : 16);
    }
}

static void unknown_keys_name_the_nearest(void **state) {
    (void)state;
    static const struct {
        const char *old, *new, *line;
    } cases[] = {
        {"\"memory_capacity_bytes\"", "\"memory_capcity_bytes\"",
         "folder/s.json:5:5: unknown key \"memory_capcity_bytes\"; did you mean \"memory_capacity_bytes\"?"},
        {"\"efficiency\"", "\"eficiency\"",
         "folder/s.json:9:5: unknown key \"eficiency\"; did you mean \"efficiency\"?"},
        {"\"size\"", "\"sise\"", "folder/s.json:7:5: unknown key \"sise\"; did you mean \"size\"?"},
        {"\"nics_per_device\"", "\"nic_per_device\"",
         "folder/s.json:16:5: unknown key \"nic_per_device\"; did you mean \"nics_per_device\"?"},
        {"\"scale_out\"", "\"scaleout\"", "folder/s.json:12:3: unknown key \"scaleout\"; did you mean \"scale_out\"?"},
        {"\"scale_up\"", "\"color\"",
         "folder/s.json:6:3: unknown key \"color\"; the keys here are name, summary, sources, scale_up, scale_out, "
         "gemm, "
         "attention, matrix_flops_per_s, "
         "vector_flops_per_s, bf16_flops_per_s, fp8_flops_per_s, fp4_flops_per_s, memory_bandwidth_bytes_per_s, "
         "memory_capacity_bytes"},
        {"\"size\"", "\"nics_per_device\"", /* a key of another group */
         "folder/s.json:7:5: unknown key \"nics_per_device\"; the keys here are size, bandwidth_bytes_per_s, "
         "efficiency, latency_s, bus_bytes_per_s, start_s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_system system;
        struct kerf_error err;
        char text[4096];
        const char *good = file_with(FIELDS, NULL, NULL);
        char *at = strstr(good, cases[i].old);
        if (strcmp(cases[i].old, "\"nics_per_device\"") == 0) at = strstr(strstr(good, "\"scale_out\""), cases[i].old);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, cases[i].new, at + strlen(cases[i].old));
        assert_int_equal(parse(text, &system, &err), KERF_EUNKNOWN);
        assert_string_equal(line_of(&err), cases[i].line);
    }
}

static void groups_must_be_objects(void **state) {
    (void)state;
    struct kerf_system system;
    struct kerf_error err;
    assert_int_equal(parse("{\"scale_up\": 8}", &system, &err), KERF_EINVALID);
    assert_string_equal(line_of(&err), "folder/s.json:1:14: \"scale_up\" must be an object {...}, not a number");
    assert_int_equal(parse("{\"name\": [], \"scale_up\": {}}", &system, &err), KERF_EINVALID);
    assert_string_equal(line_of(&err), "folder/s.json:1:10: \"name\" must be text, not an array");
    assert_int_equal(parse("{}", &system, &err), KERF_EINVALID);
    assert_string_equal(line_of(&err), "folder/s.json:1:1: \"scale_up\" is missing");
}

static void loads_names_and_files(void **state) {
    (void)state;
    struct kerf_system system, file;
    struct kerf_error err;
    assert_int_equal(kerf_system_load("a100", &system, &err), KERF_OK);
    assert_string_equal(system.name, "a100");
    assert_true(system.memory_capacity_bytes == 80e9);
    assert_int_equal(kerf_system_load(KERF_SOURCE_DIR "/share/systems/a100.json", &file, &err), KERF_OK);
    assert_memory_equal(&system, &file, sizeof system);
    assert_int_equal(kerf_system_load("a101", &system, &err), KERF_EUNKNOWN);
    assert_string_equal(line_of(&err), "no system or file 'a101'; did you mean a100? `kerf systems` lists the names");
    assert_int_equal(kerf_system_load("none/s.json", &system, &err), KERF_EIO);
    assert_string_equal(line_of(&err), "none/s.json: no such file");
}

static void writes_what_it_reads(void **state) {
    (void)state;
    struct kerf_system system, again;
    struct kerf_error err;
    struct kerf_text text = {0};
    struct kerf_json json;
    assert_int_equal(parse(file_with(FIELDS, NULL, NULL), &system, &err), KERF_OK);
    kerf_json_begin(&json, &text);
    system_json(&json, &system);
    assert_int_equal(kerf_system_parse(text.data, text.length, "x", &again, &err), KERF_OK);
    assert_memory_equal(&system, &again, sizeof system);
    kerf_text_free(&text);
}

/* What the cost model "analytic" measures of a system may be missing, and is then not written. */
static void measured_fields_may_be_missing(void **state) {
    (void)state;
    static const struct {
        const char *gemm, *error; /* NULL: taken */
    } cases[] = {
        {"{\"efficiency\": 0.7, \"edge\": 86, \"start_s\": \"3 us\"}", NULL},
        {"{}", NULL},
        {"{\"efficiency\": 0}", NULL},
        {"{\"efficiency\": 1.5}", "\"efficiency\" must be from 0 to 1, not 1.5"},
        {"{\"edge\": -1}", "\"edge\" must be 0 or above, not -1"},
        {"{\"start_s\": \"3 GB\"}", "is not a quantity in s"},
        {"{\"effciency\": 0.7}", "did you mean \"efficiency\"?"},
        {"7", "\"gemm\" must be an object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_system system;
        struct kerf_error err;
        char text[4096];
        const char *plain = file_with(FIELDS, NULL, NULL);
        snprintf(text, sizeof text, "%.*s,\"gemm\": %s}", (int)(strrchr(plain, '}') - plain), plain, cases[i].gemm);
        int32_t code = parse(text, &system, &err);
        if (cases[i].error) {
            assert_int_not_equal(code, KERF_OK);
            if (!strstr(err.message, cases[i].error)) fail_msg("'%s', not '%s'", err.message, cases[i].error);
            continue;
        }
        if (code != KERF_OK) fail_msg("%s: %s", cases[i].gemm, line_of(&err));
        assert_true(system.gemm.efficiency == (i == 0 ? 0.7 : 0) && system.gemm.start_s == (i == 0 ? 3e-6 : 0));
        assert_true(system.attention.fused_efficiency == 0 && system.scale_up.bus_bytes_per_s == 0);
        struct kerf_text written = {0};
        struct kerf_json json;
        kerf_json_begin(&json, &written);
        system_json(&json, &system);
        assert_int_equal(strstr(written.data, "\"gemm\":{\"efficiency\":0.7,\"edge\":86,\"start_s\":") != NULL, i == 0);
        assert_null(strstr(written.data, "attention"));
        assert_null(strstr(written.data, "bus_share"));
        kerf_text_free(&written);
    }
}

/* ---- --set -------------------------------------------------------------------------------------------- */

static struct kerf_model model;
static struct kerf_system system_;

static int load_both(void **state) {
    (void)state;
    return kerf_model_load("gpt3", &model, NULL) == KERF_OK && kerf_system_load("a100", &system_, NULL) == KERF_OK ? 0
                                                                                                                   : -1;
}

/* A file that gives no peak at bfloat16 has that of its matrix units; sources are checked and not used. */
static void reads_peaks_by_precision_and_sources(void **state) {
    (void)state;
    struct kerf_system h100, v100, a100, unsourced;
    struct kerf_error err;
    assert_int_equal(kerf_system_load("h100", &h100, NULL), KERF_OK);
    assert_true(h100.bf16_flops_per_s == h100.matrix_flops_per_s && h100.fp8_flops_per_s == 1978.9e12);
    assert_int_equal(kerf_system_load("v100-32", &v100, NULL), KERF_OK);
    assert_true(v100.bf16_flops_per_s == 0 && v100.fp8_flops_per_s == 0);
    assert_int_equal(kerf_system_load("a100", &a100, NULL), KERF_OK);
    assert_true(a100.bf16_flops_per_s == 312e12 && a100.fp8_flops_per_s == 0);
    static const struct {
        const char *sources, *line;
    } cases[] = {
        {"{\"scale_up.size\":\"a datasheet\"}", NULL},
        {"{\"scale_up.sise\":\"a datasheet\"}",
         "s.json:1:13: unknown key \"scale_up.sise\"; did you mean \"scale_up.size\"?"},
        {"{\"scale_up.size\":7}", "s.json:1:29: \"scale_up.size\" must be text, not a number"},
        {"\"a datasheet\"", "s.json:1:12: \"sources\" must be an object {...}, not text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_text text = {0}, sourced = {0};
        struct kerf_json json;
        kerf_json_begin(&json, &text);
        system_json(&json, &a100);
        kerf_text_printf(&sourced, "{\"sources\":%s,%s", cases[i].sources, text.data + 1);
        int32_t code = kerf_system_parse(sourced.data, sourced.length, "s.json", &unsourced, &err);
        assert_int_equal(code == KERF_OK, cases[i].line == NULL);
        if (cases[i].line) assert_string_equal(line_of(&err), cases[i].line);
        kerf_text_free(&text);
        kerf_text_free(&sourced);
    }
}

static void sets_every_field(void **state) {
    (void)state;
    struct kerf_error err;
    for (size_t i = 0; i < FIELDS; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s%s%s=%s", fields[i].group ? fields[i].group : "", fields[i].group ? "." : "",
                 fields[i].key, fields[i].value);
        if (kerf_problem_set(&model, &system_, text, &err) != KERF_OK) fail_msg("%s: %s", text, line_of(&err));
        if (value_of(&system_, i) != strtod(fields[i].value, NULL)) fail_msg("%s", text);
    }
    assert_int_equal(kerf_problem_set(&model, &system_, "scale_up.bandwidth_bytes_per_s=450 GB/s", &err), KERF_OK);
    assert_true(system_.scale_up.bandwidth_bytes_per_s == 450e9);
    assert_int_equal(kerf_problem_set(&model, &system_, "num_hidden_layers=48", &err), KERF_OK);
    assert_int_equal(model.num_hidden_layers, 48);
    assert_int_equal(kerf_problem_set(&model, &system_, "num_hidden_layers=1,num_attention_heads=1", &err), KERF_OK);
    assert_int_equal(kerf_problem_set(&model, &system_,
                                      "hidden_size=16777216,intermediate_size=67108864,num_hidden_layers=1024,"
                                      "num_attention_heads=1048576,max_position_embeddings=1073741824",
                                      &err),
                     KERF_OK);
    assert_int_equal(model.intermediate_size, 67108864);
    assert_int_equal(kerf_problem_set(&model, &system_, "intermediate_size=67108865", &err), KERF_EINVALID);
    assert_int_equal(kerf_problem_set(&model, &system_, "max_position_embeddings=4k", &err), KERF_OK);
    assert_int_equal(model.max_position_embeddings, 4000);
    assert_string_equal(model.name, "gpt3");
}

/* 5,120 features need not be divided by 96 heads on the way to 40. */
static void sets_fields_together(void **state) {
    (void)state;
    struct kerf_error err;
    assert_int_equal(kerf_problem_set(&model, &system_,
                                      "hidden_size=5120,num_attention_heads=40,memory_capacity_bytes=141 GB", &err),
                     KERF_OK);
    assert_int_equal(model.hidden_size, 5120);
    assert_int_equal(model.num_attention_heads, 40);
    assert_true(system_.memory_capacity_bytes == 141e9);
    assert_int_equal(kerf_problem_set(&model, &system_, "num_hidden_layers=1,num_hidden_layers=2", &err), KERF_OK);
    assert_int_equal(model.num_hidden_layers, 2); /* the later one */
}

/* What a collective moves goes over the links, and follows them. */
static void keeps_the_bus_within_the_links(void **state) {
    (void)state;
    static const char most[] = "scale_up.bus_bytes_per_s, what an all-gather moves, must be at most "
                               "scale_up.bandwidth_bytes_per_s, 3e+11, which is what the links carry, not 3.1e+11";
    struct kerf_system a100;
    struct kerf_error err;
    assert_int_equal(kerf_system_load("a100", &a100, &err), KERF_OK);
    double share = a100.scale_up.bus_bytes_per_s / a100.scale_up.bandwidth_bytes_per_s;
    assert_int_equal(kerf_problem_set(&model, &a100, "scale_up.bus_bytes_per_s=310GB/s", &err), KERF_EINVALID);
    assert_string_equal(err.message, most);
    assert_int_equal(kerf_problem_set(&model, &a100, "scale_up.bandwidth_bytes_per_s=30GB/s", &err), KERF_OK);
    assert_true(fabs(a100.scale_up.bus_bytes_per_s - share * 30e9) < 1);
    assert_int_equal(kerf_problem_set(&model, &a100, "scale_up.efficiency=0.1", &err), KERF_OK);
    assert_int_equal(kerf_problem_set(&model, &a100, "scale_up.efficiency=1", &err), KERF_OK);
    assert_true(a100.scale_up.bus_bytes_per_s <= a100.scale_up.bandwidth_bytes_per_s);

    struct kerf_text text = {0};
    struct kerf_json json;
    assert_int_equal(kerf_system_load("a100", &a100, &err), KERF_OK);
    a100.scale_up.bus_bytes_per_s = 310e9;
    kerf_json_begin(&json, &text);
    system_json(&json, &a100);
    assert_int_equal(kerf_system_parse(text.data, text.length, "s.json", &a100, &err), KERF_EINVALID);
    assert_non_null(strstr(line_of(&err), most));
    kerf_text_free(&text);
}

static void refuses_to_set(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int32_t code;
        const char *line;
    } cases[] = {
        {"", KERF_EINVALID, "'' must be KEY=VALUE, such as memory_capacity_bytes=80GB"},
        {"memory_capacity_bytes", KERF_EINVALID,
         "'memory_capacity_bytes' must be KEY=VALUE, such as memory_capacity_bytes=80GB"},
        {"=80GB", KERF_EINVALID, "'=80GB' must be KEY=VALUE, such as memory_capacity_bytes=80GB"},
        {"num_hidden_layers=2,", KERF_EINVALID, "'' must be KEY=VALUE, such as memory_capacity_bytes=80GB"},
        {"memory_capcity_bytes=1", KERF_EUNKNOWN,
         "no field 'memory_capcity_bytes' of a model or system; did you mean memory_capacity_bytes?"},
        {"scale_up.sise=1", KERF_EUNKNOWN,
         "no field 'scale_up.sise' of a model or system; did you mean scale_up.size?"},
#define FIELDS_OF                                                                                                      \
    "; `kerf systems a100` shows a system's, a model's are hidden_size, intermediate_size, num_hidden_layers, "        \
    "num_attention_heads, max_position_embeddings and vocab_size"
        {"num_layer=1", KERF_EUNKNOWN, "no field 'num_layer' of a model or system" FIELDS_OF},
        {"name=x", KERF_EUNKNOWN, "no field 'name' of a model or system" FIELDS_OF},
        {"gemm.start_s=0", KERF_EINVALID, "gemm.start_s must be above 0: 0 stands for the default"},
        {"scale_out.bus_share=0", KERF_EINVALID, "scale_out.bus_share must be above 0: 0 stands for the default"},
        {"memory_capacity_bytes=80GX", KERF_EINVALID,
         "memory_capacity_bytes: '80GX' is not a quantity in B; write for example \"80 GB\""},
        {"memory_capacity_bytes=", KERF_EINVALID,
         "memory_capacity_bytes: '' is not a quantity in B; write for example \"80 GB\""},
        {"scale_up.efficiency=7", KERF_EINVALID, "scale_up.efficiency must be above 0 and at most 1, not 7"},
        {"scale_out.latency_s=-1us", KERF_EINVALID, "scale_out.latency_s must be 0 or above, not -1e-06"},
        {"scale_up.size=2.5", KERF_EINVALID, "scale_up.size must be a whole number from 1 to 1048576, not 2.5"},
        {"num_hidden_layers=0", KERF_EINVALID, "num_hidden_layers must be a whole number from 1 to 1048576, not 0"},
        {"num_hidden_layers=1e30", KERF_EINVALID,
         "num_hidden_layers must be a whole number from 1 to 1048576, not 1e+30"},
        {"num_hidden_layers=2.5", KERF_EINVALID, "num_hidden_layers must be a whole number from 1 to 1048576, not 2.5"},
        {"num_hidden_layers=two", KERF_EINVALID,
         "num_hidden_layers: 'two' is not a number; write for example 64 or 0.5"},
        {"num_attention_heads=7", KERF_EINVALID, "7 heads do not divide hidden_size 12288"},
        {"num_hidden_layers=7,hidden_size=5120", KERF_EINVALID, "96 heads do not divide hidden_size 5120"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_model model_before = model;
        struct kerf_system system_before = system_;
        struct kerf_error err;
        assert_int_equal(kerf_problem_set(&model, &system_, cases[i].text, &err), cases[i].code);
        assert_int_equal(err.code, cases[i].code);
        assert_int_equal(err.line, 0);
        assert_int_equal(err.column, 0);
        assert_string_equal(line_of(&err), cases[i].line);
        assert_memory_equal(&model, &model_before, sizeof model);
        assert_memory_equal(&system_, &system_before, sizeof system_);
        assert_int_equal(kerf_problem_set(&model, &system_, cases[i].text, NULL), cases[i].code);
    }
    char text[400];
    memset(text, 'x', sizeof text);
    text[300] = '=', text[399] = 0;
    assert_int_equal(kerf_problem_set(&model, &system_, text, NULL), KERF_EINVALID);
    strcpy(text, "memory_capacity_bytes=1");
    memset(text + 23, '0', 300), text[323] = 0;
    assert_int_equal(kerf_problem_set(&model, &system_, text, NULL), KERF_EINVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_field),
        cmocka_unit_test(every_field_has_its_bounds),
        cmocka_unit_test(quantities_may_be_text),
        cmocka_unit_test(every_field_is_needed),
        cmocka_unit_test(unknown_keys_name_the_nearest),
        cmocka_unit_test(groups_must_be_objects),
        cmocka_unit_test(loads_names_and_files),
        cmocka_unit_test(reads_peaks_by_precision_and_sources),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(measured_fields_may_be_missing),
        cmocka_unit_test_setup(sets_every_field, load_both),
        cmocka_unit_test_setup(sets_fields_together, load_both),
        cmocka_unit_test_setup(keeps_the_bus_within_the_links, load_both),
        cmocka_unit_test_setup(refuses_to_set, load_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
