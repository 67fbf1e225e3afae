/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a certificate (docs/schedule-proofs.md): its sum, then line by line the problem, the order, the bound and the
 * argument. A refutation's steps are left to proof_refute.c. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/number.h"
#include "schedule/proof/proof.h"

/* ---- Words ------------------------------------------------------------------------------------------------ */

int32_t proof_wrong(const struct proof_reader *reader, struct kerf_error *err, const char *what) {
    kerf_error_set(err, KERF_ESYNTAX, "%s", what);
    error_set_file(err, reader->name);
    if (err) err->line = reader->line, err->column = reader->line > 0;
    return KERF_ESYNTAX;
}

static void skip_blanks(struct proof_reader *reader) {
    while (reader->at < reader->end && *reader->at == ' ') reader->at++;
}

/* Whether a word ends here. */
static int at_gap(const char *at, const char *end) { return at >= end || *at == ' ' || *at == '\n'; }

int proof_word(struct proof_reader *reader, const char *word) {
    const size_t length = strlen(word);
    skip_blanks(reader);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0) return 0;
    if (!at_gap(reader->at + length, reader->end)) return 0;
    reader->at += length;
    return 1;
}

int proof_whole(struct proof_reader *reader, int64_t least, int64_t most, int64_t *ret) {
    int64_t value = 0;
    skip_blanks(reader);
    const char *at = reader->at;
    const int minus = at < reader->end && *at == '-';
    at += minus;
    if (at >= reader->end || !isdigit((unsigned char)*at)) return 0;
    for (; at < reader->end && isdigit((unsigned char)*at); at++) {
        if (value > ((int64_t)1 << 60) / 10) return 0;
        value = 10 * value + (*at - '0');
    }
    if (!at_gap(at, reader->end)) return 0;
    if (minus) value = -value;
    if (value < least || value > most) return 0;
    reader->at = at;
    *ret = value;
    return 1;
}

static const double LARGEST = 1e18; /* sums of products of three such numbers are finite */

int proof_real(struct proof_reader *reader, double *ret) {
    char word[64];
    size_t length = 0;
    if (proof_word(reader, "none")) {
        *ret = INFINITY;
        return 1;
    }
    skip_blanks(reader);
    while (!at_gap(reader->at + length, reader->end) && length + 1 < sizeof word) length++;
    memcpy(word, reader->at, length);
    word[length] = '\0';
    char *end = word;
    const double value = length ? number_read(word, &end) : 0;
    if (length == 0 || *end != '\0' || !(fabs(value) <= LARGEST)) return 0;
    reader->at += length;
    *ret = value;
    return 1;
}

int proof_line_end(struct proof_reader *reader) {
    skip_blanks(reader);
    if (reader->at >= reader->end || *reader->at != '\n') return 0;
    reader->at++;
    reader->line++;
    return 1;
}

/* ---- The problem ------------------------------------------------------------------------------------------ */

static int read_count(struct proof_reader *reader, const char *name, int32_t most, int32_t *ret) {
    int64_t value = 0;
    if (!proof_word(reader, name) || !proof_whole(reader, 1, most, &value) || !proof_line_end(reader)) return 0;
    *ret = (int32_t)value;
    return 1;
}

static int read_reals(struct proof_reader *reader, const char *name, int64_t count, double most, double *values) {
    if (!proof_word(reader, name)) return 0;
    for (int64_t k = 0; k < count; k++)
        if (!proof_real(reader, &values[k]) || !(values[k] >= 0 && values[k] <= most)) return 0;
    return proof_line_end(reader);
}

static int read_finite(struct proof_reader *reader, const char *name, int64_t count, double *values) {
    return read_reals(reader, name, count, LARGEST, values);
}

static int read_sizes(struct proof *proof, struct proof_reader *reader) {
    enum { DEVICES = 4096, STAGES = 32767, MICROBATCHES = 1 << 20 };
    const int64_t ops_max = (int64_t)1 << 27;
    if (!read_count(reader, "devices", DEVICES, &proof->devices)) return 0;
    if (!read_count(reader, "stages", STAGES, &proof->stages)) return 0;
    if (!read_count(reader, "microbatches", MICROBATCHES, &proof->microbatches)) return 0;
    if (!read_count(reader, "replicas", 2, &proof->replicas)) return 0;
    proof->streams = proof->stages * proof->replicas;
    proof->lanes = 3 * proof->streams;
    return (int64_t)proof->stages * proof->microbatches <= ops_max;
}

static int read_problem(struct proof *proof, struct arena *arena, struct proof_reader *reader) {
    static const char *const times[] = {"forward_s", "input_s", "weight_s"};
    const size_t streams = (size_t)proof->streams, stages = (size_t)proof->stages, p = (size_t)proof->devices;
    proof->device_of = arena_alloc(arena, streams, sizeof *proof->device_of);
    proof->units = arena_alloc(arena, streams, sizeof *proof->units);
    proof->amount = arena_alloc(arena, stages, sizeof *proof->amount);
    proof->cap = arena_alloc(arena, p, sizeof *proof->cap);
    for (int kind = 0; kind < 3; kind++)
        if ((proof->time[kind] = arena_alloc(arena, stages, sizeof(double))) == NULL) return 0;
    if (!proof->device_of || !proof->units || !proof->amount || !proof->cap) return 0;
    if (!proof_word(reader, "device_of")) return 0;
    const int32_t half = proof->replicas == 2 ? proof->microbatches / 2 : proof->microbatches;
    for (int32_t s = 0; s < proof->streams; s++) {
        int64_t device = 0;
        if (!proof_whole(reader, 0, proof->devices - 1, &device)) return 0;
        proof->device_of[s] = (int32_t)device;
        proof->units[s] = s < proof->stages ? half : proof->microbatches - half;
    }
    if (!proof_line_end(reader)) return 0;
    for (int kind = 0; kind < 3; kind++)
        if (!read_finite(reader, times[kind], proof->stages, proof->time[kind])) return 0;
    if (!read_finite(reader, "latency_s", 1, &proof->latency)) {
        proof->latency_of = arena_alloc(arena, p * p, sizeof(double));
        if (proof->latency_of == NULL) return 0;
        if (!read_finite(reader, "latency_of_s", (int64_t)(p * p), proof->latency_of)) return 0;
    }
    if (!read_finite(reader, "amount", proof->stages, proof->amount)) return 0;
    if (!read_reals(reader, "cap", proof->devices, INFINITY, proof->cap)) return 0;
    if (!proof_word(reader, "frees")) return 0;
    proof->frees = proof_word(reader, "I") ? 1 : proof_word(reader, "W") ? 2 : 0;
    if (!proof->frees || !proof_line_end(reader) || !proof_word(reader, "sends")) return 0;
    proof->blocking = proof_word(reader, "blocking");
    if (!proof->blocking && !proof_word(reader, "asynchronous")) return 0;
    if (!proof_line_end(reader) || !proof_word(reader, "objective")) return 0;
    proof->span = proof_word(reader, "span");
    if (!proof->span && !proof_word(reader, "makespan")) return 0;
    return proof_line_end(reader);
}

/* ---- The order -------------------------------------------------------------------------------------------- */

/* "F3": an operation of a stream, as a lane; -1 where it is not one. */
static int32_t read_lane(const struct proof *proof, struct proof_reader *reader) {
    static const char kinds[] = "FIW";
    int64_t stream = 0;
    skip_blanks(reader);
    const char *kind = reader->at < reader->end ? strchr(kinds, *reader->at) : NULL;
    if (kind == NULL || *kind == '\0') return -1;
    reader->at++;
    if (reader->at >= reader->end || !isdigit((unsigned char)*reader->at)) return -1;
    if (!proof_whole(reader, 0, proof->streams - 1, &stream)) return -1;
    return (int32_t)(3 * stream + (kind - kinds));
}

static int read_order(struct proof *proof, struct arena *arena, struct proof_reader *reader) {
    if (!proof_word(reader, "order")) return 1;
    proof->order = arena_alloc(arena, (size_t)proof->devices, sizeof *proof->order);
    proof->length = arena_alloc(arena, (size_t)proof->devices, sizeof *proof->length);
    if (!proof->order || !proof->length) return 0;
    for (int32_t s = 0; s < proof->streams; s++) proof->length[proof->device_of[s]] += 3 * proof->units[s];
    for (int32_t d = 0; d < proof->devices; d++) {
        int64_t device = 0;
        if (d > 0 && !proof_word(reader, "order")) return 0;
        if (!proof_whole(reader, d, d, &device)) return 0;
        if (proof->length[d] > (reader->end - reader->at) / 3) return 0; /* an operation has three characters */
        proof->order[d] = arena_alloc(arena, (size_t)proof->length[d] + 1, sizeof **proof->order);
        if (proof->order[d] == NULL) return 0;
        for (int32_t k = 0; k < proof->length[d]; k++) {
            const int32_t lane = read_lane(proof, reader);
            if (lane < 0 || proof->device_of[lane / 3] != d) return 0;
            proof->order[d][k] = lane;
        }
        if (!proof_line_end(reader)) return 0;
    }
    return read_finite(reader, "takes_s", 1, &proof->takes);
}

/* ---- The argument ----------------------------------------------------------------------------------------- */

static int read_end(const struct proof *proof, struct proof_reader *reader, const char *word, int32_t *ret_stage,
                    int32_t *ret_kind) {
    *ret_stage = -1;
    if (!proof_word(reader, word)) return 1;
    const int32_t lane = read_lane(proof, reader);
    if (lane < 0 || lane % 3 == 2 || lane / 3 >= proof->stages) return 0;
    *ret_stage = lane / 3;
    *ret_kind = lane % 3;
    return 1;
}

static int read_argument(struct proof *proof, struct proof_reader *reader) {
    static const char *const names[] = {"chain", "residence", "way_back", "ends", "rounds", "refutation"};
    enum { KINDS = sizeof names / sizeof *names };
    int32_t kind = 0;
    int64_t at = 0, rounds = 0;
    if (!read_finite(reader, "bound_s", 1, &proof->bound) || !proof_word(reader, "argument")) return 0;
    while (kind < KINDS && !proof_word(reader, names[kind])) kind++;
    if (kind == KINDS) return 0;
    proof->argument = (enum proof_argument)kind;
    proof->head = proof->tail = -1;
    if (proof->argument != PROOF_REFUTATION &&
        !proof_whole(reader, 0, (proof->argument == PROOF_CHAIN ? proof->streams : proof->devices) - 1, &at))
        return 0;
    proof->at = (int32_t)at;
    if (proof->argument == PROOF_ROUNDS && !proof_whole(reader, 1, proof->microbatches, &rounds)) return 0;
    proof->rounds = (int32_t)rounds;
    if (proof->argument == PROOF_ENDS && (!read_end(proof, reader, "before", &proof->head, &proof->head_kind) ||
                                          !read_end(proof, reader, "behind", &proof->tail, &proof->tail_kind)))
        return 0;
    if (!proof_line_end(reader)) return 0;
    proof->steps = *reader;
    return proof->argument == PROOF_REFUTATION || (proof_word(reader, "end") && proof_line_end(reader));
}

/* ---- All of it -------------------------------------------------------------------------------------------- */

/* The last line has the sum of all before it. */
static int32_t check_sum(struct proof_reader *reader, const char *text, struct kerf_error *err) {
    enum { LINE = 21 }; /* "sum ", 16 digits, the end of the line */
    char line[LINE + 1];
    const size_t length = (size_t)(reader->end - text);
    const int32_t first_line = reader->line;
    reader->line = 0; /* damage can be anywhere */
    if (length <= LINE || memcmp(reader->end - LINE, "sum ", 4) != 0)
        return proof_wrong(reader, err, "not a whole certificate: its last line must be the sum");
    const unsigned long long sum = proof_sum(text, length - LINE);
    snprintf(line, sizeof line, "sum %016llx\n", sum);
    if (memcmp(line, reader->end - LINE, LINE) != 0)
        return proof_wrong(reader, err, "the certificate is damaged: its sum is another");
    reader->end -= LINE;
    reader->line = first_line;
    return KERF_OK;
}

int32_t proof_read(struct proof *proof, struct arena *arena, const char *text, size_t length, const char *name,
                   struct kerf_error *err) {
    struct proof_reader reader = {.at = text, .end = text + length, .name = name, .line = 1};
    *proof = (struct proof){.takes = NAN};
    if (!proof_word(&reader, "kerf schedule proof 1") || !proof_line_end(&reader))
        return proof_wrong(&reader, err, "not a certificate: its first line must be 'kerf schedule proof 1'");
    int32_t code = check_sum(&reader, text, err);
    if (code != KERF_OK) return code;
    if (!read_sizes(proof, &reader) || !read_problem(proof, arena, &reader) || !read_order(proof, arena, &reader) ||
        !read_argument(proof, &reader))
        return proof_wrong(&reader, err, "this line of the certificate is not what its form has here");
    if (proof->argument != PROOF_REFUTATION && reader.at != reader.end)
        return proof_wrong(&reader, err, "nothing may follow the certificate's 'end'");
    return KERF_OK;
}
