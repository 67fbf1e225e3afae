/* SPDX-License-Identifier: Apache-2.0 */
/* Any schedule in the text form, each operation with its micro-batch: for editing by hand. */
#include <stdlib.h>
#include <string.h>
#include "schedule/build.h"
#include "schedule/order.h"

enum { WIDTH = 100 };

/* Whether the placement has the schedule's replicas without their number: ring never has. */
static int has_replicas(enum kerf_placement placement, int32_t replicas) {
    return placements[placement].replicas == replicas;
}

static int is_placed(const struct kerf_schedule *schedule, enum kerf_placement placement) {
    const int32_t stages = schedule->stages, devices = schedule->devices, replicas = schedule->replicas;
    if (stages % devices != 0) return 0;
    if (!has_replicas(placement, replicas) && (placements[placement].replicas > 1 || replicas % 2 == 1)) return 0;
    if (placements[placement].fixed_chunks && stages != placements[placement].default_chunks * devices) return 0;
    if (replicas > 2 && devices % (replicas / 2) != 0) return 0;
    for (int32_t at = 0; at < stages * replicas; at++)
        if (schedule->device_of[at] != placement_device(placement, devices, replicas, at / stages, at % stages))
            return 0;
    return 1;
}

/* A schedule's name as the text form has them. */
static void write_name(struct kerf_text *out, const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.";
    if (name == NULL || name[0] == 0) return;
    kerf_text_add(out, "schedule ");
    for (; *name; name++) kerf_text_write(out, strchr(allowed, *name) ? name : "_", 1);
    kerf_text_add(out, "\n");
}

/* A named placement with its own number of replicas, where there is one, before one with a number behind its name. */
static int write_named(struct kerf_text *out, const struct kerf_schedule *schedule, int numbered) {
    for (int placement = KERF_PLACE_LOOP; placement < KERF_PLACEMENTS; placement++) {
        const struct placement *place = &placements[placement];
        if (place->word == NULL || !is_placed(schedule, (enum kerf_placement)placement)) continue;
        if (numbered == has_replicas((enum kerf_placement)placement, schedule->replicas)) continue;
        if (!place->fixed_chunks) kerf_text_printf(out, "chunks %d\n", schedule->stages / schedule->devices);
        kerf_text_printf(out, "placement %s", place->word);
        if (numbered) kerf_text_printf(out, " %d", schedule->replicas);
        kerf_text_add(out, "\n");
        return 1;
    }
    return 0;
}

static void write_placement(struct kerf_text *out, const struct kerf_schedule *schedule) {
    if (write_named(out, schedule, 0) || write_named(out, schedule, 1)) return;
    kerf_text_add(out, "placement");
    for (int32_t k = 0; k < schedule->stages * schedule->replicas; k++)
        kerf_text_printf(out, k > 0 && k % schedule->stages == 0 ? " / %d" : " %d", schedule->device_of[k]);
    kerf_text_add(out, "\n");
}

struct chunks {
    int32_t *of;     /* [replicas * stages] which of its device's chunks it is */
    int32_t *counts; /* [devices] */
};

static int number_chunks(const struct kerf_schedule *schedule, struct chunks *chunks) {
    int32_t all = schedule->stages * schedule->replicas;
    *chunks = (struct chunks){calloc((size_t)all, sizeof(int32_t)), calloc((size_t)schedule->devices, sizeof(int32_t))};
    for (int32_t at = 0; chunks->of && chunks->counts && at < all; at++)
        chunks->of[at] = chunks->counts[schedule->device_of[at]]++;
    return chunks->of && chunks->counts;
}

/* "F1@3", "B@0.2" */
static void write_part(struct kerf_text *out, const struct kerf_schedule *schedule, const struct chunks *chunks,
                       char letter, int32_t stage, int32_t microbatch, int32_t slice) {
    int32_t replica = order_replica(schedule, microbatch);
    int32_t device = order_device(schedule, stage, microbatch);
    kerf_text_write(out, &letter, 1);
    if (chunks->counts[device] > 1) kerf_text_printf(out, "%d", chunks->of[replica * schedule->stages + stage]);
    kerf_text_printf(out, "@%d", microbatch);
    if (schedule->slices > 1) kerf_text_printf(out, ".%d", slice);
}

static void write_op(struct kerf_text *out, const struct kerf_schedule *schedule, const struct chunks *chunks,
                     const struct kerf_op *op) {
    static const char letters[KERF_OP_KINDS] = {'F', 'B', 'I', 'W', 'F', 'R', 'O', 'L'};
    write_part(out, schedule, chunks, letters[op->kind], op->stage, op->microbatch, op->slice);
    if (op->kind != KERF_OP_FB) return;
    kerf_text_add(out, "+");
    write_part(out, schedule, chunks, 'B', op->with_stage, op->with_microbatch, 0);
}

static void write_device(struct kerf_text *out, const struct kerf_schedule *schedule, const struct chunks *chunks,
                         int32_t device) {
    size_t line = out->length;
    kerf_text_printf(out, "\ndevice %d {", device);
    for (int32_t k = 0; k < schedule->num_ops[device]; k++) {
        int wraps = k == 0 || out->length - line > WIDTH;
        kerf_text_add(out, wraps ? "\n    " : " ");
        if (wraps) line = out->length;
        write_op(out, schedule, chunks, &schedule->ops[device][k]);
    }
    kerf_text_add(out, "\n}\n");
}

int32_t kerf_schedule_text(struct kerf_text *out, const struct kerf_schedule *schedule, struct kerf_error *err) {
    struct chunks chunks;
    size_t before = out->length;
    write_name(out, schedule->name);
    kerf_text_printf(out, "devices %d\nmicrobatches %d\n", schedule->devices, schedule->microbatches);
    if (schedule->slices > 1) kerf_text_printf(out, "slices %d\n", schedule->slices);
    int32_t code = KERF_OK;
    write_placement(out, schedule);
    if (number_chunks(schedule, &chunks))
        for (int32_t i = 0; i < schedule->devices; i++) write_device(out, schedule, &chunks, i);
    else
        code = kerf_error_set(err, KERF_ENOMEM, "not enough memory to write the schedule");
    free(chunks.of);
    free(chunks.counts);
    if (code != KERF_OK && out->data) { /* nothing is written after an error */
        out->length = before;
        out->data[before] = 0;
    }
    return code;
}
