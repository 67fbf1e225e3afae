/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predictions of runs and constants from runs: what a row becomes, that nothing measured is looked at, that a fit finds
 * constants that were changed on purpose and that a few rows or an outlier do not make it worse, and files of constants.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "score/constants_file.h"
#include "score/figures.h"
#include "score/priors.h"
#include "spec/description.h"

static struct score_constants *constants; /* that come with kerf */
static struct runs *published;

static int load(void **state) {
    struct kerf_error err;
    (void)state;
    constants = malloc(sizeof *constants);
    assert_non_null(constants);
    if (constants_load(constants, &err) != KERF_OK) fail_msg("%s", err.message);
    if (runs_parse(catalogue_runs[0].json, catalogue_runs[0].length, "published", &published, &err) != KERF_OK)
        fail_msg("%s", err.message);
    return 0;
}

static int unload(void **state) {
    (void)state;
    free(constants);
    runs_free(published);
    return 0;
}

static struct runs *parse(const char *csv) {
    struct runs *runs = NULL;
    struct kerf_error err;
    if (runs_parse(csv, strlen(csv), "x.csv", &runs, &err) != KERF_OK) fail_msg("%d: %s", err.line, err.message);
    return runs;
}

/* ---- A row -------------------------------------------------------------------------------------------------- */

#define HEADER                                                                                                         \
    "id,source,provenance,gpu,gpus,gpus_per_node,framework,model,params_b,layers,hidden,ffn,glu,heads,kv_heads,vocab," \
    "experts,topk,seq,gbs,mbs,tp,pp,vpp,cp,ep,dp,zero,seqpar,recompute,attn,precision,step_s,tflops_gpu,tflops_kind,"  \
    "tok_s_gpu,mfu_pct,mem_gib,status,notes\n"

static struct job job_of(const char *row, struct arena *arena) {
    char csv[2048];
    struct job job;
    snprintf(csv, sizeof csv, "%s%s\n", HEADER, row);
    struct runs *runs = parse(csv);
    assert_int_equal(runs->count, 1);
    assert_true(job_of_run(&runs->rows[0], arena, &job));
    runs_free(runs);
    return job;
}

static void what_a_row_leaves_out(void **state) {
    struct arena arena = {NULL};
    (void)state;
    struct job job =
        job_of("a-1,s,repo-file,H100,64,8,NeMo 24.09,llama3-8b,,,,,,,,,,,8192,128,1,2,2,,,,,,,,,fp8,,,,,,,,", &arena);
    assert_null(job.why);
    assert_string_equal(job.system, "h100");
    assert_string_equal(job.stack, "nemo");
    assert_int_equal(job.problem->model.num_hidden_layers, 32); /* of the catalogue */
    assert_int_equal(job.layout.dp, 16);
    assert_int_equal(job.layout.zero, 1);
    assert_int_equal(job.layout.vpp, 16); /* a layer each */
    assert_int_equal(job.precision, JOB_FP8);
    assert_false(job.lacks_sequence_parallel);
    assert_true(job.recompute_is_open);

    job = job_of("a-1,s,repo-file,A100-80GB-SXM,16,8,Megatron-LM,x,,24,2048,8192,0,16,16,50257,,,2048,64,2,8,2,1,,,,,,"
                 "full,,fp16,,,,,,,,",
                 &arena);
    assert_null(job.why);
    assert_string_equal(job.stack, "megatron-2022");
    assert_int_equal(job.layout.recompute, KERF_RECOMPUTE_FULL);
    assert_true(job.lacks_sequence_parallel);
    assert_int_equal(job.problem->attention, KERF_ATTENTION_UNFUSED);
    assert_int_equal(job.layout.stage_layers[0] + job.layout.stage_layers[1], 24);

    /* an uneven pipeline counts embedding and head as layers */
    job = job_of(
        "a-1,s,repo-file,H100,64,8,NeMo,x,,126,16384,53248,1,128,8,128256,,,8192,128,1,8,8,8,,,,,,,,bf16,,,,,,,,",
        &arena);
    assert_null(job.why);
    assert_int_equal(job.layout.stage_layers[0], 1);
    assert_int_equal(job.layout.stage_layers[1], 2);
    assert_int_equal(job.layout.stage_layers[63], 1);
    arena_free(&arena);
}

static void names_of_machines_and_models(void **state) {
    static const struct {
        const char *gpu, *model, *system;
        double billions;
    } cases[] = {
        {"NVIDIA H100 80GB HBM3", "GPT3-175B bf16", "h100", 175},
        {"A100-SXM4-40GB", "Llama 3.1 70B Instruct", "a100-40", 70.6},
        {"A100 40GB", "Llama-4-Scout-17B-16E", "a100-40", 108},
        {"a100_80gb", "mixtral-8x7b", "a100-80", 46.7},
        {"GB200 NVL72", "grok1 314B", "gb200", 316},
        {"H200", "Qwen3-30B-A3B-FP8", "h200-hgx", 30.5},
        {"MI300X", "bloom-176b", "mi300x", 176},
    };
    struct arena arena = {NULL};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char row[512];
        struct kerf_model_counts counts;
        snprintf(row, sizeof row, "a-1,s,f,%s,64,8,NeMo,%s,,,,,,,,,,,2048,128,1,8,1,1,,,,,,,,bf16,,,,,,,,",
                 cases[i].gpu, cases[i].model);
        struct job job = job_of(row, &arena);
        if (job.why) fail_msg("%s: %s", row, job.why);
        assert_string_equal(job.system, cases[i].system);
        kerf_model_count(&job.problem->model, &counts);
        assert_true(fabs((double)counts.parameters / 1e9 / cases[i].billions - 1) < 0.02);
    }
    arena_free(&arena);
}

static void rows_that_cannot_be_priced(void **state) {
    static const struct {
        const char *row, *why;
    } cases[] = {
        {"a-1,s,f,TPUv4,8,8,MaxText,x,,24,2048,8192,0,16,16,50257,,,2048,64,2,8,1,1,,,,,,full,,bf16,,,,,,,,",
         "system file"},
        {"a-1,s,f,H100 PCIe,8,8,NeMo,llama3-8b,,,,,,,,,,,8192,64,1,8,1,1,,,,,,,,bf16,,,,,,,,", "system file"},
        {"a-1,s,f,GH200,8,8,NeMo,llama3-8b,,,,,,,,,,,8192,64,1,8,1,1,,,,,,,,bf16,,,,,,,,", "system file"},
        {"a-1,s,f,H100,8,8,NeMo,gpt3-13b,,,,,,,,,,,2048,64,1,8,1,1,,,,,,,,bf16,,,,,,,,", "no model of this name"},
        {"a-1,s,f,H100,8,8,NeMo,bloom-7b1,,,,,,,,,,,2048,64,1,8,1,1,,,,,,,,bf16,,,,,,,,", "no model of this name"},
        {"a-1,s,f,H100,8,8,NeMo,deepseek-v2-lite,,,,,,,,,,,8192,64,1,8,1,1,,,,,,,,bf16,,,,,,,,",
         "no model of this name"},
        {"a-1,s,f,A100,8,8,NeMo,x,,24,2048,8192,0,16,16,50257,,,2048,64,2,8,1,1,,,,,,full,,fp8,,,,,,,,", "8 bits"},
        {"a-1,s,f,H100,8,8,NeMo,x,,24,99999999,8192,0,16,16,50257,,,2048,64,2,8,1,1,,,,,,full,,fp8,,,,,,,,",
         "larger than"},
        {"a-1,s,f,H100,8,8,NeMo,Nemotron-H 56B,,,,,,,,,,,8192,64,1,8,1,1,,,,,,,,bf16,,,,,,,,", "state-space"},
        {"a-1,s,f,H100,8,8,NeMo,nobody-7b,,,,,,,,,,,8192,64,1,8,1,1,,,,,,,,bf16,,,,,,,,", "no model of this name"},
        {"a-1,s,f,H100,8,8,NeMo,x,,4,2048,8192,0,16,16,50257,,,2048,64,2,1,8,1,,,,,,,,bf16,,,,,,,,",
         "more stages than layers"},
        {"a-1,s,f,H100,8,8,NeMo,x,,24,2048,8192,0,12,12,50257,,,2048,64,2,8,1,1,,,,,,,,bf16,,,,,,,,", "hidden"},
        {"a-1,s,f,H100,64,8,NeMo,x,,24,2048,8192,0,16,16,50257,,,2048,4,1,1,1,1,,,,,,,,bf16,,,,,,,,",
         "number of replicas"},
    };
    struct arena arena = {NULL};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job = job_of(cases[i].row, &arena);
        if (job.why == NULL || strstr(job.why, cases[i].why) == NULL)
            fail_msg("'%s' instead of '%s'", job.why ? job.why : "it is priced", cases[i].why);
    }
    arena_free(&arena);
}

/* ---- Predictions -------------------------------------------------------------------------------------------- */

static struct prediction *predict(const struct runs *runs, const struct score_constants *with) {
    struct kerf_error err;
    struct prediction *predictions = calloc(runs->count, sizeof *predictions);
    assert_non_null(predictions);
    if (predict_runs(with, runs, NULL, predictions, &err) != KERF_OK) fail_msg("%s", err.message);
    return predictions;
}

static struct figures figures_of(const struct runs *runs, const struct prediction *predictions) {
    struct figures figures;
    size_t *which = calloc(runs->count, sizeof *which);
    for (size_t i = 0; i < runs->count; i++) which[i] = i;
    assert_int_equal(figures_compute(runs, predictions, which, runs->count, &figures, NULL), KERF_OK);
    free(which);
    return figures;
}

static void published_runs_are_met(void **state) {
    (void)state;
    struct prediction *predictions = predict(published, constants);
    struct figures figures = figures_of(published, predictions);
    assert_int_equal(figures.refused, 0);
    assert_true(figures.timed >= 60);
    assert_true(figures.mean < 0.07);
    assert_true(figures.recall >= 0.8 && figures.precision >= 0.8);
    for (size_t i = 0; i < published->count; i++) {
        const struct prediction *p = &predictions[i];
        double sum = 0;
        for (int32_t part = 0; part < p->time_s.count; part++) sum += p->time_s.of[part].value;
        assert_true(fabs(sum / p->step_s - 1) < 1e-9);
        assert_true(p->step_low_s < p->step_s && p->step_s < p->step_high_s);
        assert_true(p->p_oom >= 0 && p->p_oom <= 1);
    }
    free(predictions);
}

static void what_was_measured_is_not_looked_at(void **state) {
    (void)state;
    struct prediction *seen = predict(published, constants);
    struct runs blind = *published;
    blind.rows = calloc(published->count, sizeof *blind.rows);
    for (size_t i = 0; i < published->count; i++) {
        blind.rows[i] = published->rows[i];
        memset(&blind.rows[i].measured, 0, sizeof blind.rows[i].measured);
        blind.rows[i].measured.step_s = blind.rows[i].measured.mem_gib = NAN;
        blind.rows[i].notes = "";
    }
    struct prediction *unseen = predict(&blind, constants);
    for (size_t i = 0; i < published->count; i++) {
        assert_true(seen[i].step_s == unseen[i].step_s && seen[i].p_oom == unseen[i].p_oom);
        assert_true(seen[i].memory_bytes == unseen[i].memory_bytes && seen[i].step_low_s == unseen[i].step_low_s);
    }
    free(seen), free(unseen), free(blind.rows);
}

/* ---- Fits --------------------------------------------------------------------------------------------------- */

/* Runs whose times are those of other constants: a machine 12 % slower at products, with a third of the network. */
static struct runs *slower_site(double factor_of_one) {
    struct kerf_text csv = {0};
    static const struct {
        int gpus, tp, pp, mbs, layers, hidden;
    } rows[] = {{8, 8, 1, 2, 24, 4096},  {16, 4, 1, 1, 32, 4096}, {64, 8, 2, 1, 40, 5120},
                {64, 4, 4, 2, 40, 5120}, {32, 2, 1, 1, 24, 2048}, {128, 8, 1, 4, 32, 4096}};
    struct score_constants *other = malloc(sizeof *other);
    *other = *constants;
    for (int32_t i = 0; i < other->num_systems; i++) other->systems[i].gemm.efficiency *= 0.88;
    for (int32_t i = 0; i < other->num_stacks; i++) other->stacks[i].site_network *= 0.33;
    kerf_text_add(&csv, HEADER);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        kerf_text_printf(&csv,
                         "site-%zu,s,repo-file,H100,%d,8,NeMo,x,,%d,%d,%d,1,32,32,32000,,,4096,256,%d,%d,%d,1,1,,,1,1,"
                         "none,,bf16,1,,,,,,ok,\n",
                         i, rows[i].gpus, rows[i].layers, rows[i].hidden, 4 * rows[i].hidden, rows[i].mbs, rows[i].tp,
                         rows[i].pp);
    struct runs *runs = parse(csv.data);
    struct prediction *predictions = predict(runs, other);
    for (size_t i = 0; i < runs->count; i++) {
        assert_null(predictions[i].why);
        runs->rows[i].measured.step_s = predictions[i].step_s * (i == 2 ? factor_of_one : 1);
    }
    free(predictions), free(other);
    kerf_text_free(&csv);
    return runs;
}

static double error_with(const struct runs *runs, const struct score_constants *with, size_t but) {
    struct prediction *predictions = predict(runs, with);
    double sum = 0;
    for (size_t i = 0; i < runs->count; i++)
        if (i != but) sum += fabs(predictions[i].step_s / runs->rows[i].measured.step_s - 1);
    free(predictions);
    return sum / (double)(runs->count - (but < runs->count));
}

static void a_site_is_found(void **state) {
    struct kerf_error err;
    struct calibration *made = malloc(sizeof *made);
    (void)state;
    struct runs *runs = slower_site(1);
    double before = error_with(runs, constants, runs->count);
    if (calibrate_site(runs, NULL, constants, "h100", NULL, made, &err) != KERF_OK) fail_msg("%s", err.message);
    assert_int_equal(made->rows, 6);
    assert_true(before > 0.05 && fabs(made->error_before - before) < 1e-12);
    assert_true(error_with(runs, &made->constants, runs->count) < 0.4 * before);
    assert_true(made->error_after < before);
    for (int32_t k = 0; k < made->times.count; k++) {
        const struct fit_knob *knob = &made->times.knobs[k];
        if (strcmp(knob->name, "compute") == 0) assert_true(knob->factor < 0.95);
        assert_true(knob->evidence > -1e-9 && knob->evidence < 1);
    }
    for (int32_t i = 0; i < constants->num_systems; i++)
        assert_int_equal(made->constants.fitted_systems[i], strcmp(constants->systems[i].name, "h100") == 0);
    runs_free(runs);
    free(made);
}

static void an_outlier_does_not_decide(void **state) {
    struct kerf_error err;
    struct calibration *made = malloc(sizeof *made);
    (void)state;
    struct runs *runs = slower_site(3);
    double before = error_with(runs, constants, 2);
    if (calibrate_site(runs, NULL, constants, "h100", NULL, made, &err) != KERF_OK) fail_msg("%s", err.message);
    assert_true(error_with(runs, &made->constants, 2) < before);
    runs_free(runs);
    free(made);
}

static void a_site_without_its_rows(void **state) {
    struct kerf_error err;
    struct calibration *made = malloc(sizeof *made);
    (void)state;
    struct runs *runs = slower_site(1);
    assert_int_equal(calibrate_site(runs, NULL, constants, "b200", NULL, made, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "b200"));
    runs_free(runs);
    free(made);
}

static int32_t end_it(void *context, double done) {
    double *last = context;
    assert_true(done >= *last && done <= 1);
    *last = done;
    return done > 0.02;
}

static void a_fit_can_be_ended(void **state) {
    struct kerf_error err;
    double last = 0;
    const struct calibrate_without nothing = {.set = NULL};
    const struct fit_watch watch = {.tell = end_it, .context = &last};
    struct calibration *made = malloc(sizeof *made);
    (void)state;
    assert_int_equal(calibrate_all(published, &nothing, &watch, made, &err), KERF_EINTERRUPTED);
    assert_true(last > 0.02 && last < 0.2);
    free(made);
}

/* The fit of all constants, on the published table: twice the same, better than its priors. */
static void all_constants_are_fitted(void **state) {
    struct kerf_error err;
    const struct calibrate_without nothing = {.set = "none"};
    const struct fit_watch nobody = {.tell = NULL};
    struct calibration *first = malloc(sizeof *first), *second = malloc(sizeof *second);
    struct score_constants *priors = malloc(sizeof *priors);
    (void)state;
    assert_int_equal(calibrate_all(published, &nothing, &nobody, first, &err), KERF_OK);
    assert_int_equal(calibrate_all(published, &nothing, &nobody, second, &err), KERF_OK);
    assert_int_equal(priors_load(priors, &err), KERF_OK);
    assert_true(first->times.loss_after < first->times.loss_before);
    struct prediction *predictions = predict(published, &first->constants);
    assert_true(figures_of(published, predictions).mean < 0.06);
    free(predictions);
    for (int32_t k = 0; k < first->times.count; k++)
        assert_true(first->times.knobs[k].factor == second->times.knobs[k].factor);
    for (int32_t s = 0; s < priors->num_stacks; s++)
        assert_string_equal(priors->stacks[s].name, first->constants.stacks[s].name);
    free(first), free(second), free(priors);
}

/* ---- Files -------------------------------------------------------------------------------------------------- */

static void a_file_is_read_as_it_was_written(void **state) {
    struct kerf_error err;
    struct kerf_text text = {0};
    struct kerf_json json;
    struct calibration *made = calloc(1, sizeof *made);
    struct score_constants *read = malloc(sizeof *read);
    (void)state;
    made->constants = *constants;
    made->constants.systems[3].gemm.efficiency = 0.4321;
    made->constants.fitted_systems[3] = made->constants.fitted_stacks[1] = 1;
    kerf_json_begin(&json, &text);
    constants_file_write(&json, made);
    *read = *constants;
    if (constants_file_read(text.data, text.length, "all.json", read, &err) != KERF_OK) fail_msg("%s", err.message);
    assert_true(read->systems[3].gemm.efficiency == 0.4321);
    assert_memory_equal(read->fitted_systems, made->constants.fitted_systems, sizeof read->fitted_systems);
    assert_memory_equal(read->fitted_stacks, made->constants.fitted_stacks, sizeof read->fitted_stacks);
    struct prediction *a = predict(published, &made->constants), *b = predict(published, read);
    for (size_t i = 0; i < published->count; i++) assert_true(fabs(a[i].step_s / b[i].step_s - 1) < 1e-4);
    free(a), free(b), free(made), free(read);
    kerf_text_free(&text);
}

/* "fitted" names what a fit moved. Where it does not, as in older files, all that the file has may be fitted. */
static void a_file_says_what_is_fitted(void **state) {
    static const struct {
        const char *text;
        int a100, h100;
    } cases[] = {
        {"{\"fitted\":{\"systems\":[\"h100\"],\"stacks\":[\"nemo\"]},\"systems\":{\"a100\":{},\"h100\":{}}}", 0, 1},
        {"{\"fitted\":{\"systems\":[]},\"systems\":{\"a100\":{},\"h100\":{}}}", 0, 0},
        {"{\"fitted\":{\"rows\":3},\"systems\":{\"a100\":{}}}", 1, 0},
        {"{\"systems\":{\"h100\":{}}}", 0, 1},
    };
    struct score_constants *read = malloc(sizeof *read);
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct kerf_error err;
        *read = *constants;
        if (constants_file_read(cases[c].text, strlen(cases[c].text), "x.json", read, &err) != KERF_OK)
            fail_msg("%s", err.message);
        for (int32_t i = 0; i < read->num_systems; i++) {
            const char *name = read->systems[i].name;
            int is_a100 = strcmp(name, "a100") == 0, is_h100 = strcmp(name, "h100") == 0;
            int expected = is_a100 ? cases[c].a100 : is_h100 ? cases[c].h100 : 0;
            if (read->fitted_systems[i] != expected) fail_msg("%s: %s", cases[c].text, name);
        }
    }
    free(read);
}

static void files_that_are_wrong(void **state) {
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{\"systems\":{\"nobody\":{}}}", "no system 'nobody'"},
        {"{\"systems\":{\"h100\":{\"gemm.efficiency\":1.5}}}", "at most 1"},
        {"{\"systems\":{\"h100\":{\"gemm.efficency\":0.5}}}", "gemm.efficiency"},
        {"{\"stacks\":{\"nemo\":{\"hidden_passes\":-1}}}", "hidden_passes"},
        {"{\"stacks\":{\"mine\":{\"hidden_passes\":1}}}", "missing"},
        {"{\"stacks\":{\"nemo\":{\"spread\":[{\"system\":\"h100\",\"experts\":false,\"rows\":3,\"half_width\":0}]}}}",
         "half_width"},
        {"{\"stack\":{}}", "stack"},
        {"[]", "object"},
    };
    struct score_constants *read = malloc(sizeof *read);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_error err = {.code = KERF_OK};
        *read = *constants;
        if (constants_file_read(cases[i].text, strlen(cases[i].text), "x.json", read, &err) == KERF_OK)
            fail_msg("taken: %s", cases[i].text);
        if (strstr(err.message, cases[i].why) == NULL) fail_msg("%s: %s", cases[i].text, err.message);
    }
    free(read);
}

static void fits_without_a_set_come_with_kerf(void **state) {
    struct kerf_error err;
    struct score_constants *without = malloc(sizeof *without);
    (void)state;
    for (const struct kerf_catalogue_entry *entry = catalogue_fits; entry->name; entry++) {
        *without = *constants;
        if (constants_without(entry->name + strlen("without-"), without, &err) != KERF_OK) fail_msg("%s", err.message);
    }
    assert_int_equal(constants_without("nobody", without, &err), KERF_EUNKNOWN);
    free(without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_row_leaves_out),
        cmocka_unit_test(names_of_machines_and_models),
        cmocka_unit_test(rows_that_cannot_be_priced),
        cmocka_unit_test(published_runs_are_met),
        cmocka_unit_test(what_was_measured_is_not_looked_at),
        cmocka_unit_test(a_site_is_found),
        cmocka_unit_test(an_outlier_does_not_decide),
        cmocka_unit_test(a_site_without_its_rows),
        cmocka_unit_test(a_fit_can_be_ended),
        cmocka_unit_test(all_constants_are_fitted),
        cmocka_unit_test(a_file_is_read_as_it_was_written),
        cmocka_unit_test(a_file_says_what_is_fitted),
        cmocka_unit_test(files_that_are_wrong),
        cmocka_unit_test(fits_without_a_set_come_with_kerf),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
