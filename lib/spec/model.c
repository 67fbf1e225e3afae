/* SPDX-License-Identifier: Apache-2.0 */
/* Models: reading a config.json as its family, and the rules that every model obeys. */
#include "base/quantity.h"
#include "kerf/spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "spec/description.h"
#include "spec/families/family.h"
#include "spec/parameters.h"

/* ---- Reading ------------------------------------------------------------------------------------------ */

/* Where the file says what it is. */
struct identity {
    const char *type, *architecture;
    struct json_object text[4]; /* text_config within text_config, the innermost last */
};

/* The architecture's name, the first of the list. */
static const char *architecture_of(const struct json_object *object) {
    return json_string_value(json_array_get(json_object_get(object->json, "architectures"), 0));
}

/* The first architecture is the model's: others must be of its family. */
static int32_t check_architectures(const struct json_object *object, struct kerf_error *err) {
    const json_t *names = json_object_get(object->json, "architectures"), *name;
    size_t i;
    if (names && !json_is_array(names) && !json_is_null(names))
        return json_fail(object, "architectures", KERF_EINVALID, err,
                         "\"architectures\" must be a list of names, such as [\"LlamaForCausalLM\"]");
    json_array_foreach(names, i, name) {
        const char *text = json_string_value(name), *first = architecture_of(object);
        if (text == NULL)
            return json_fail(object, "architectures", KERF_EINVALID, err,
                             "\"architectures\" must be a list of names, and number %zu of it is none", i + 1);
        if (family_of_architecture(text) != family_of_architecture(first))
            return json_fail(object, "architectures", KERF_EINVALID, err,
                             "\"architectures\" names different families, '%.64s' and '%.64s': keep one of them", first,
                             text);
    }
    return KERF_OK;
}

/* Goes down to the decoder's own config; the outer names stay where the inner ones are missing. */
static int32_t find_decoder(const struct json_object *root, struct identity *identity,
                            const struct json_object **ret_object, struct kerf_error *err) {
    static const char *const keys[] = {"text_config", "llm_config", "language_config"};
    enum { DEPTH = sizeof identity->text / sizeof *identity->text };
    const struct json_object *object = root;
    for (int depth = 0;; depth++) {
        const char *inner = NULL, *type = json_string_value(json_object_get(object->json, "model_type"));
        int32_t code = check_architectures(object, err);
        if (code != KERF_OK) return code;
        if (type && type[0]) identity->type = type;
        if (architecture_of(object)) identity->architecture = architecture_of(object);
        for (size_t i = 0; i < sizeof keys / sizeof *keys && inner == NULL; i++)
            if (json_has(object, keys[i])) inner = keys[i];
        *ret_object = object;
        if (inner == NULL) return KERF_OK;
        if (depth == DEPTH)
            return json_fail(object, inner, KERF_EINVALID, err, "\"%s\" nests more than %d deep", inner, DEPTH);
        code = json_get_object(object, inner, JSON_REQUIRED, &identity->text[depth], err);
        if (code != KERF_OK) return code;
        if (json_object_size(identity->text[depth].json) == 0)
            return json_fail(object, inner, KERF_EINVALID, err,
                             "\"%s\" is empty: it describes the decoder, or is left out", inner);
        object = &identity->text[depth];
    }
}

static int32_t refuse(const struct json_object *object, const struct identity *identity, struct kerf_error *err) {
    const char *name = identity->type ? identity->type : identity->architecture;
    const char *lacks = family_lacking(identity->type, identity->architecture), *nearest = family_nearest(name);
    const char *key = identity->type ? "model_type" : "architectures";
    if (lacks)
        return json_fail(object, key, KERF_EUNKNOWN, err, "'%.64s' has %s, which kerf cannot price", name, lacks);
    int has_both = identity->type && identity->architecture;
    return json_fail(object, key, KERF_EUNKNOWN, err,
                     "unknown architecture '%.64s'%s%.64s%s; %s%s%sdocs/models.md lists those that kerf can price",
                     name, has_both ? " (" : "", has_both ? identity->architecture : "", has_both ? ")" : "",
                     nearest ? "did you mean " : "", nearest ? nearest : "", nearest ? "? " : "");
}

/* Both names must be of one family; what is unknown of them is told as ignored. */
static void check_names(struct config *config, const struct identity *identity) {
    const struct family *by_type = family_of_type(identity->type);
    const struct family *by_architecture = family_of_architecture(identity->architecture);
    const char *lacks = family_lacking(identity->type, identity->architecture);
    const json_t *type = json_object_get(config->object->json, "model_type");
    int is_text = config->object != config->root; /* the outer names are those of the whole */
    if (type && !json_is_string(type) && !json_is_null(type))
        config_fail(config, "model_type", KERF_EINVALID, "\"model_type\" must be a text");
    if (lacks && identity->type && identity->architecture)
        config_fail(config, "model_type", KERF_EUNKNOWN, "'%.64s' (%.64s) has %s, which kerf cannot price",
                    identity->type, identity->architecture, lacks);
    if (by_type && by_architecture && by_type != by_architecture)
        config_fail(config, "model_type", KERF_EINVALID,
                    "\"model_type\" '%.64s' and \"architectures\" '%.64s' are of different families: leave one out",
                    identity->type, identity->architecture);
    if (by_type || !identity->type || is_text) config_has(config, "model_type");
    if (by_architecture || !identity->architecture || is_text) config_has(config, "architectures");
}

/* Parts beside the layers that a config may switch on, and that kerf cannot price. */
static void refuse_parts(struct config *config) {
    if (config_boolean(config, "is_encoder_decoder", 0))
        config_fail(config, "is_encoder_decoder", KERF_EUNKNOWN, "an encoder beside the decoder cannot be priced");
    if (config_boolean(config, "add_cross_attention", 0))
        config_fail(config, "add_cross_attention", KERF_EUNKNOWN, "cross-attention cannot be priced");
}

/* The keys around a text_config: the name of the model, and towers that are not counted. */
static void note_outer(const struct json_object *root, struct kerf_model *model) {
    struct config outer = {.object = root, .root = root};
    static const char *const known[] = {"model_type", "architectures",   "text_config",
                                        "llm_config", "language_config", "tie_word_embeddings"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) config_has(&outer, known[i]);
    config_note_ignored(&outer, model);
}

int32_t model_from_object(const struct json_object *root, const char *name, struct kerf_model *ret_model,
                          struct kerf_error *err) {
    struct kerf_model model = {.name = ""};
    struct identity identity = {.type = NULL};
    const struct json_object *object;
    const char *own_name = "";
    int32_t code = KERF_OK;
    if (json_has(root, "name")) code = json_get_string(root, "name", JSON_REQUIRED, &own_name, err);
    if (code == KERF_OK) code = find_decoder(root, &identity, &object, err);
    if (code != KERF_OK) return code;
    const struct family *family = family_find(identity.type, identity.architecture);
    if (family == NULL) return refuse(object, &identity, err);

    struct config config = {.object = object, .root = root, .err = err};
    check_names(&config, &identity);
    config_has(&config, "name");
    refuse_parts(&config);
    family_read(family, &config, &model);
    if (config.code != KERF_OK) return config.code;
    config_note_ignored(&config, &model);
    if (object != root) note_outer(root, &model);
    const char *architecture = identity.architecture ? identity.architecture : family->architectures[0];
    name_copy(model.architecture, architecture ? architecture : family->types[0]);
    name_copy(model.name, own_name[0] ? own_name : name);
    struct kerf_error why;
    if (model_check(&model, &why) != KERF_OK) return json_fail(object, NULL, KERF_EINVALID, err, "%s", why.message);
    *ret_model = model;
    return KERF_OK;
}

static int32_t read_model(const struct json_object *object, const char *name, void *ret, struct kerf_error *err) {
    return model_from_object(object, name, ret, err);
}

int32_t kerf_model_parse(const char *json, size_t length, const char *source, struct kerf_model *ret_model,
                         struct kerf_error *err) {
    return description_parse(json, length, source, read_model, ret_model, err);
}

int32_t kerf_model_load(const char *name_or_file, struct kerf_model *ret_model, struct kerf_error *err) {
    return description_load(name_or_file, "models", read_model, ret_model, err);
}

/* ---- Fields that may be set --------------------------------------------------------------------------- */

static const struct model_field {
    const char *name;
    size_t offset;
    int64_t least, most;
} fields[] = {
#define FIELD(field, least, most)                                                                                      \
    { #field, offsetof(struct kerf_model, field), least, most }
    FIELD(hidden_size, 1, HIDDEN_MAX),
    FIELD(intermediate_size, 1, WIDTH_MAX),
    FIELD(num_hidden_layers, 1, LAYERS_MAX),
    FIELD(num_attention_heads, 1, HEADS_MAX),
    FIELD(max_position_embeddings, 0, KERF_COUNT_MAX),
    FIELD(vocab_size, 0, KERF_COUNT_MAX),
};
enum { FIELDS = sizeof fields / sizeof *fields };
_Static_assert(FIELDS <= 32, "a bit of kerf_model.overridden for each field");

static int64_t *value_of(struct kerf_model *model, const struct model_field *field) {
    return (int64_t *)(void *)((char *)model + field->offset);
}

int model_has_field(const char *key) {
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(fields[i].name, key) == 0) return 1;
    return 0;
}

int32_t model_set_field(struct kerf_model *model, const char *key, double value, struct kerf_error *err) {
    for (size_t i = 0; i < FIELDS; i++) {
        const struct model_field *field = &fields[i];
        if (strcmp(field->name, key) != 0) continue;
        if (value != floor(value) || value < 1 || value > (double)field->most)
            return kerf_error_set(err, KERF_EINVALID, "%s must be a whole number from 1 to %lld, not %.17g", key,
                                  (long long)field->most, value);
        *value_of(model, field) = (int64_t)value;
        model->overridden |= 1u << i;
        return KERF_OK;
    }
    return kerf_error_set(err, KERF_EUNKNOWN, "a model has no field '%.64s'", key);
}

void model_overridden_json(struct kerf_json *json, const struct kerf_model *model) {
    struct kerf_model copy = *model;
    for (size_t i = 0; i < FIELDS; i++)
        if (model->overridden & 1u << i) kerf_json_integer(json, fields[i].name, *value_of(&copy, &fields[i]));
}

void model_overridden_text(struct kerf_text *out, const struct kerf_model *model, const char *gap) {
    struct kerf_model copy = *model;
    for (size_t i = 0; i < FIELDS; i++) {
        if (!(model->overridden & 1u << i)) continue;
        kerf_text_printf(out, "%s%s ", gap, fields[i].name);
        quantity_count(out, *value_of(&copy, &fields[i]));
        gap = ", ";
    }
}

static void replace(int64_t *value, int64_t before, int64_t now) {
    if (*value == before) *value = now;
}

/* Layers are cut at the end; more of them repeat the last run, which must not be part of a pattern. */
static int32_t refit_layers(const struct kerf_model *before, struct kerf_model *model, struct kerf_error *err) {
    int64_t missing = model->num_hidden_layers - before->num_hidden_layers;
    if (missing > 0 && model->num_runs > 2)
        return kerf_error_set(err, KERF_EINVALID,
                              "the layers of %s alternate: set num_hidden_layers to at most %lld, or edit its file",
                              model->name, (long long)before->num_hidden_layers);
    for (; missing < 0; model->num_runs--) {
        struct kerf_layer_run *last = &model->runs[model->num_runs - 1];
        if (last->count > -missing) break;
        missing += last->count;
        last->count = 0;
    }
    model->runs[model->num_runs - 1].count += (int32_t)missing;
    return KERF_OK;
}

int32_t model_refit(const struct kerf_model *before, struct kerf_model *model, struct kerf_error *err) {
    if (model->num_runs == 0) return KERF_OK;
    int64_t heads = model->num_attention_heads, own = model->hidden_size / heads;
    replace(&model->embedding_size, before->hidden_size, model->hidden_size);
    if (model->position_rows > 0)
        model->position_rows += model->max_position_embeddings - before->max_position_embeddings;
    for (int32_t i = 0; i < model->num_kinds; i++) {
        struct kerf_layer_kind *kind = &model->kinds[i];
        int is_own = kind->attention.kv_rank == 0 && kind->attention.heads == before->num_attention_heads &&
                     kind->attention.qk_size * kind->attention.heads == before->hidden_size;
        int changes = heads != before->num_attention_heads || model->hidden_size != before->hidden_size;
        if (is_own && changes && own * heads != model->hidden_size)
            return kerf_error_set(err, KERF_EINVALID, "%lld heads do not divide hidden_size %lld", (long long)heads,
                                  (long long)model->hidden_size);
        if (is_own && changes) kind->attention.qk_size = kind->attention.v_size = own;
        if (kind->attention.kv_heads == kind->attention.heads)
            replace(&kind->attention.kv_heads, before->num_attention_heads, heads);
        replace(&kind->attention.heads, before->num_attention_heads, heads);
        replace(&kind->mlp.width, before->intermediate_size, model->intermediate_size);
        replace(&kind->mlp.expert_width, before->intermediate_size, model->intermediate_size);
    }
    return refit_layers(before, model, err);
}

/* ---- Rules -------------------------------------------------------------------------------------------- */

static int within(int64_t value, int64_t least, int64_t most) { return value >= least && value <= most; }

static int kind_is_sound(const struct kerf_layer_kind *kind) {
    int64_t heads = kind->attention.heads, kv_heads = kind->attention.kv_heads;
    int is_latent = kind->attention.kv_rank > 0, is_mixture = kind->mlp.experts > 0;
    return within(heads, 1, HEADS_MAX) && within(kv_heads, 1, heads) && heads % kv_heads == 0 &&
           within(kind->attention.qk_size, 1, 2 * (int64_t)WIDTH_MAX) && within(kind->attention.v_size, 1, WIDTH_MAX) &&
           within(kind->attention.q_rank, 0, WIDTH_MAX) && within(kind->attention.kv_rank, 0, WIDTH_MAX) &&
           within(kind->attention.rope_size, 0, WIDTH_MAX) &&
           (!is_latent || kind->attention.qk_size > kind->attention.rope_size) &&
           within(kind->attention.window, 0, KERF_COUNT_MAX) &&
           within(kind->attention.qk_norm, 0, KERF_QK_NORM_COUNT - 1) &&
           within(kind->mlp.width, is_mixture ? 0 : 1, WIDTH_MAX) && within(kind->mlp.experts, 0, EXPERTS_MAX) &&
           within(kind->mlp.top_k, is_mixture, kind->mlp.experts) &&
           within(kind->mlp.expert_width, is_mixture, WIDTH_MAX) &&
           within(kind->mlp.shared_width, 0, (int64_t)WIDTH_MAX * EXPERTS_MAX) && within(kind->mlp.router_bias, 0, 2) &&
           within(kind->norms, 0, 8);
}

static int32_t check_layers(const struct kerf_model *model, struct kerf_error *err) {
    int64_t layers = 0;
    if (!within(model->num_kinds, 1, KERF_KINDS_MAX) || !within(model->num_runs, 1, KERF_RUNS_MAX))
        return kerf_error_set(err, KERF_EINVALID, "%d kinds of layers in %d runs are too few or too many",
                              model->num_kinds, model->num_runs);
    for (int32_t i = 0; i < model->num_kinds; i++) {
        const struct kerf_layer_kind *kind = &model->kinds[i];
        if (kind->attention.kv_heads > 0 && kind->attention.heads % kind->attention.kv_heads != 0)
            return kerf_error_set(err, KERF_EINVALID, "%lld key-value heads do not divide %lld heads",
                                  (long long)kind->attention.kv_heads, (long long)kind->attention.heads);
        if (!kind_is_sound(kind))
            return kerf_error_set(err, KERF_EINVALID, "a size of layer kind %d is out of range", i);
    }
    for (int32_t i = 0; i < model->num_runs; i++) {
        const struct kerf_layer_run *run = &model->runs[i];
        if (!within(run->count, 1, LAYERS_MAX) || !within(run->kind, 0, model->num_kinds - 1))
            return kerf_error_set(err, KERF_EINVALID, "run %d of the layers cannot be %d layers of kind %d", i,
                                  run->count, run->kind);
        layers += run->count;
    }
    if (layers != model->num_hidden_layers)
        return kerf_error_set(err, KERF_EINVALID, "the runs hold %lld layers, num_hidden_layers is %lld",
                              (long long)layers, (long long)model->num_hidden_layers);
    return KERF_OK;
}

int32_t model_check(const struct kerf_model *model, struct kerf_error *err) {
    for (size_t i = 0; i < FIELDS; i++) {
        struct kerf_model copy = *model;
        int64_t value = *value_of(&copy, &fields[i]);
        if (!within(value, fields[i].least, fields[i].most))
            return kerf_error_set(err, KERF_EINVALID, "%s must lie between 1 and %lld, not %lld", fields[i].name,
                                  (long long)fields[i].most, (long long)value);
    }
    if (model->num_runs == 0 && model->hidden_size % model->num_attention_heads != 0)
        return kerf_error_set(err, KERF_EINVALID, "%lld heads do not divide hidden_size %lld",
                              (long long)model->num_attention_heads, (long long)model->hidden_size);
    if (model->num_runs == 0) return KERF_OK;
    if (!within(model->embedding_size, 1, HIDDEN_MAX) || !within(model->position_rows, 0, KERF_COUNT_MAX + 2) ||
        !within(model->mtp_layers, 0, LAYERS_MAX) || !within(model->norm, 0, KERF_NORM_COUNT - 1))
        return kerf_error_set(err, KERF_EINVALID, "a size beside the layers is out of range");
    int32_t code = check_layers(model, err);
    if (code == KERF_OK && parameters_are_too_many(model))
        code = kerf_error_set(err, KERF_EINVALID, "the model has more than 2^62 parameters");
    return code;
}
