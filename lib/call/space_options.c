/* SPDX-License-Identifier: Apache-2.0 */
#include "call/space_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/quantity.h"
#include "call/ranges.h"

/* ---- Strategy and cost model ------------------------------------------------------------------------------------- */

static int32_t add_strategy(void *context, const char *word, struct kerf_error *err) {
    struct strategy_choice *choice = context;
    enum kerf_strategy strategy = KERF_STRATEGY_1D;
    int all = strcmp(word, "all") == 0;
    if (!all) {
        int32_t code = kerf_strategy_parse(word, &strategy, err);
        if (code != KERF_OK) return code;
    }
    for (int s = 0; s < KERF_STRATEGY_COUNT; s++) {
        if (all ? s == KERF_STRATEGY_HYBRID : s != (int)strategy) continue;
        if (choice->count == STRATEGY_CHOICES_MAX)
            return kerf_error_set(err, KERF_EINVALID, "--strategy names too many");
        choice->of[choice->count++] = (enum kerf_strategy)s;
    }
    return KERF_OK;
}

/* "hybrid goes with --cost-model analytic; 1d, summa and seqp with reference" */
static int32_t refuse_pair(const char *what, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID,
                          "%s: strategy hybrid goes with --cost-model analytic; 1d, summa and seqp go with reference",
                          what);
}

static int32_t check_pairs(const struct strategy_choice *choice, const char *cost_model, struct kerf_error *err) {
    for (int32_t i = 0; i < choice->count; i++) {
        char what[128];
        if (kerf_cost_model_has(choice->cost_model, choice->of[i])) continue;
        if (cost_model)
            snprintf(what, sizeof what, "--strategy %s and --cost-model %.32s do not go together",
                     kerf_strategy_name(choice->of[i]), cost_model);
        else
            snprintf(what, sizeof what, "--strategy %s and %s are priced by different cost models",
                     kerf_strategy_name(choice->of[0]), kerf_strategy_name(choice->of[i]));
        return refuse_pair(what, err);
    }
    return KERF_OK;
}

static const char *name_of(const struct kerf_cost_model *cost_model) {
    for (size_t i = 0; i < kerf_cost_model_count(); i++) {
        const struct kerf_cost_model *one;
        const char *name = kerf_cost_model_name(i);
        if (kerf_cost_model_find(name, &one, NULL) == KERF_OK && one == cost_model) return name;
    }
    return "";
}

int32_t strategy_choose(const char *strategies, const char *cost_model, struct strategy_choice *ret_choice,
                        struct kerf_error *err) {
    struct strategy_choice choice = {.count = 0};
    int32_t code = KERF_OK;
    if (cost_model) code = kerf_cost_model_find(cost_model, &choice.cost_model, err);
    if (code == KERF_OK && (strategies || !cost_model))
        code = words_each(strategies ? strategies : kerf_strategy_name(KERF_STRATEGY_HYBRID), "--strategy",
                          add_strategy, &choice, err);
    for (int s = 0; code == KERF_OK && !strategies && cost_model && s < KERF_STRATEGY_COUNT; s++)
        if (kerf_cost_model_has(choice.cost_model, (enum kerf_strategy)s))
            choice.of[choice.count++] = (enum kerf_strategy)s;
    if (code == KERF_OK && !cost_model) choice.cost_model = kerf_cost_model_of(choice.of[0]);
    if (code == KERF_OK) code = check_pairs(&choice, cost_model, err);
    if (code != KERF_OK) return code;
    choice.cost_model_name = name_of(choice.cost_model);
    *ret_choice = choice;
    return KERF_OK;
}

int32_t strategy_of_layout(const char *layout_text, const char *strategy, const char *cost_model,
                           struct kerf_layout *ret_layout, struct strategy_choice *ret_choice, struct kerf_error *err) {
    struct kerf_layout layout;
    int32_t code;
    if (strategy || cost_model) {
        code = strategy_choose(strategy, cost_model, ret_choice, err);
        if (code == KERF_OK) code = kerf_layout_parse_as(layout_text, ret_choice->of[0], &layout, err);
    } else {
        code = kerf_layout_parse(layout_text, &layout, err);
    }
    if (code != KERF_OK) return code;
    if (!strategy) { /* the layout says which of those that go with the cost model */
        code = strategy_choose(kerf_strategy_name(kerf_layout_strategy(&layout)), cost_model, ret_choice, err);
        if (code != KERF_OK) kerf_layout_release(&layout);
    }
    if (code == KERF_OK) *ret_layout = layout;
    return code;
}

/* ---- Hybrid layouts ---------------------------------------------------------------------------------------------- */

enum { BLOCK = 100 }; /* of kerf_space.recompute: full:K is 100 + K */

/* Adds a value in its place; a value that is there already changes nothing. */
static int32_t add_value(struct kerf_values *values, const char *what, int32_t value, struct kerf_error *err) {
    int32_t at = 0;
    while (at < values->count && values->of[at] < value) at++;
    if (at < values->count && values->of[at] == value) return KERF_OK;
    if (values->count == KERF_VALUES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "%s has more than %d values", what, KERF_VALUES_MAX);
    memmove(&values->of[at + 1], &values->of[at], (size_t)(values->count - at) * sizeof *values->of);
    values->of[at] = value;
    values->count++;
    return KERF_OK;
}

static int32_t read_numbers(const char *text, const char *what, int64_t least, int64_t most, struct kerf_values *values,
                            struct kerf_error *err) {
    struct range range;
    if (text == NULL) return KERF_OK;
    int32_t code = range_parse(text, what, least, most, &range, err);
    if (code != KERF_OK) return code;
    for (int32_t i = 0; i < range.count && code == KERF_OK; i++)
        code = add_value(values, what, (int32_t)range.values[i], err);
    range_free(&range);
    return code;
}

/* ---- Words ------------------------------------------------------------------------------------------------ */

/* The message of a word's reader, behind the name of the option. */
static int32_t of_option(const char *what, int32_t code, const struct kerf_error *why, struct kerf_error *err) {
    return code == KERF_OK ? KERF_OK : kerf_error_set(err, code, "%s: %s", what, why->message);
}

static int32_t add_recompute(void *context, const char *word, struct kerf_error *err) {
    struct kerf_space *space = context;
    struct kerf_error why;
    enum kerf_recompute recompute;
    int32_t layers, code = kerf_recompute_parse(word, &recompute, &layers, &why);
    if (code != KERF_OK) return of_option("--recompute", code, &why, err);
    return add_value(&space->recompute, "--recompute", layers ? BLOCK + layers : (int32_t)recompute, err);
}

static int32_t add_order(void *context, const char *word, struct kerf_error *err) {
    struct kerf_space *space = context;
    struct kerf_error why;
    enum kerf_order order;
    int32_t code = kerf_order_parse(word, &order, &why);
    if (code != KERF_OK) return of_option("--order", code, &why, err);
    return add_value(&space->order, "--order", (int32_t)order, err);
}

static int32_t add_cp_comm(void *context, const char *word, struct kerf_error *err) {
    struct kerf_space *space = context;
    struct kerf_error why;
    enum kerf_cp_comm cp_comm;
    int32_t code = kerf_cp_comm_parse(word, &cp_comm, &why);
    if (code != KERF_OK) return of_option("--cp-comm", code, &why, err);
    return add_value(&space->cp_comm, "--cp-comm", (int32_t)cp_comm, err);
}

/* The library checks that the schedule exists. */
static int32_t add_schedule(void *context, const char *word, struct kerf_error *err) {
    struct kerf_space *space = context;
    for (int32_t i = 0; i < space->num_schedules; i++)
        if (strcmp(space->schedules[i], word) == 0) return KERF_OK;
    if (strlen(word) >= sizeof space->schedules[0])
        return kerf_error_set(err, KERF_EUNKNOWN, "--schedules: no schedule is called '%.64s'", word);
    if (space->num_schedules == KERF_VALUES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "--schedules has more than %d names", KERF_VALUES_MAX);
    strcpy(space->schedules[space->num_schedules++], word);
    return KERF_OK;
}

static int32_t read_words(const char *text, const char *what,
                          int32_t (*each)(void *context, const char *word, struct kerf_error *err),
                          struct kerf_space *space, struct kerf_error *err) {
    return text ? words_each(text, what, each, space, err) : KERF_OK;
}

static int32_t read_stage_layers(const char *text, struct kerf_space *space, int32_t **ret_stage_layers,
                                 struct kerf_error *err) {
    struct range range;
    if (text == NULL) return KERF_OK;
    int32_t code = range_parse(text, "--stage-layers", 1, 1 << 20, &range, err);
    if (code != KERF_OK) return code;
    int32_t *layers = calloc((size_t)range.count, sizeof *layers);
    for (int32_t i = 0; layers && i < range.count; i++) layers[i] = (int32_t)range.values[i];
    space->stage_layers = *ret_stage_layers = layers;
    space->num_stage_layers = range.count;
    range_free(&range);
    return layers ? KERF_OK : error_no_memory(err, "--stage-layers");
}

/* ---- All of them ------------------------------------------------------------------------------------------ */

int32_t space_read(const struct space_options *options, struct kerf_space *ret_space, int32_t **ret_stage_layers,
                   struct kerf_error *err) {
    struct kerf_space space;
    memset(&space, 0, sizeof space);
    *ret_stage_layers = NULL;
    const struct {
        const char *text, *what;
        int64_t least, most;
        struct kerf_values *values;
    } numbers[] = {
        {options->tp, "--tp", 1, KERF_COUNT_MAX, &space.tp},
        {options->cp, "--cp", 1, KERF_COUNT_MAX, &space.cp},
        {options->pp, "--pp", 1, KERF_COUNT_MAX, &space.pp},
        {options->vpp, "--vpp", 1, KERF_COUNT_MAX, &space.vpp},
        {options->ep, "--ep", 1, KERF_COUNT_MAX, &space.ep},
        {options->etp, "--etp", 1, KERF_COUNT_MAX, &space.etp},
        {options->dp, "--dp", 1, KERF_COUNT_MAX, &space.dp},
        {options->zero, "--zero", 0, 3, &space.zero},
        {options->micro_batch, "--micro-batch", 1, KERF_COUNT_MAX, &space.micro_batch},
    };
    int32_t code = KERF_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && code == KERF_OK; i++)
        code =
            read_numbers(numbers[i].text, numbers[i].what, numbers[i].least, numbers[i].most, numbers[i].values, err);
    if (code == KERF_OK) code = read_words(options->recompute, "--recompute", add_recompute, &space, err);
    if (code == KERF_OK) code = read_words(options->order, "--order", add_order, &space, err);
    if (code == KERF_OK) code = read_words(options->cp_comm, "--cp-comm", add_cp_comm, &space, err);
    if (code == KERF_OK) code = read_words(options->schedules, "--schedules", add_schedule, &space, err);
    if (code == KERF_OK) code = read_stage_layers(options->stage_layers, &space, ret_stage_layers, err);
    space.is_wide = options->space && strcmp(options->space, "wide") == 0;
    if (code == KERF_OK) *ret_space = space;
    return code;
}

/* "15T", "300B", "2e12": a number of tokens. */
static int32_t read_tokens(const char *text, double *ret_tokens, struct kerf_error *err) {
    struct kerf_error why;
    char digits[64];
    size_t length = strlen(text);
    double scale = 1, tokens = 0;
    snprintf(digits, sizeof digits, "%s", text);
    if (length > 0 && length < sizeof digits && (text[length - 1] == 'B' || text[length - 1] == 'b'))
        digits[length - 1] = 0, scale = 1e9; /* billions, as people write them */
    int32_t code = length < sizeof digits ? quantity_parse(digits, "", &tokens, &why) : KERF_EINVALID;
    if (code != KERF_OK || !(tokens * scale >= 1) || tokens * scale > 1e18)
        return kerf_error_set(err, KERF_EINVALID, "--tokens '%.32s' must be a number of tokens such as 15T or 300B",
                              text);
    *ret_tokens = tokens * scale;
    return KERF_OK;
}

int32_t training_read(const struct training_options *options, struct kerf_problem *problem, struct kerf_error *err) {
    int32_t code = KERF_OK;
    problem->device_hour_price = options->price;
    if (options->gradients) problem->has_bf16_gradients = strcmp(options->gradients, "bf16") == 0;
    if (options->mtp_layers >= 0) problem->mtp_layers = options->mtp_layers;
    if (options->price > 0 && options->tokens == NULL)
        return kerf_error_set(err, KERF_EINVALID,
                              "--price is the price of a run: also say its length, such as "
                              "--tokens 15T");
    if (options->tokens) code = read_tokens(options->tokens, &problem->training_tokens, err);
    if (code == KERF_OK && options->precision)
        code = kerf_precision_parse(options->precision, &problem->precision, err);
    return code;
}

const char *space_first_given(const struct space_options *options) {
    return options->tp             ? "--tp"
           : options->cp           ? "--cp"
           : options->pp           ? "--pp"
           : options->vpp          ? "--vpp"
           : options->ep           ? "--ep"
           : options->etp          ? "--etp"
           : options->dp           ? "--dp"
           : options->zero         ? "--zero"
           : options->micro_batch  ? "--micro-batch"
           : options->recompute    ? "--recompute"
           : options->schedules    ? "--schedules"
           : options->order        ? "--order"
           : options->cp_comm      ? "--cp-comm"
           : options->stage_layers ? "--stage-layers"
           : options->space        ? "--space"
                                   : NULL;
}

const char *training_first_given(const struct training_options *options) {
    return options->precision         ? "--precision"
           : options->gradients       ? "--gradients"
           : options->mtp_layers >= 0 ? "--mtp-layers"
           : options->stack           ? "--stack"
           : options->calibration     ? "--calibration"
                                      : NULL;
}
