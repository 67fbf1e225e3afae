/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording becomes a surface so: the truth of a setting is the mean of its contexts' means, drawn towards the mean
 * of its micro-batch (what differs between batches is mostly noise: SHRINK of it stays); the noise of a run is one of
 * the recorded ratios between contexts times one of those inside of contexts. Drift is a ramp of 15 % over some 60 runs
 * with an autoregressive part of 2 %, or steps of 8 %; spikes are 6 % of the runs that take 1.1 to 3 times as long; a
 * machine that has slowed down takes twice as long after twelve runs.
 */
#include "surface.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/number.h"

static const double SHRINK = 0.25;

static void refuse(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static void make_grid(struct surface *surface, const char *const *params, int32_t num_params, const char *where,
                      const char *defaults) {
    struct kerf_error err;
    if (kerf_tune_space_create(params, num_params, &where, where != NULL, defaults, &surface->space, &err) != KERF_OK)
        refuse(err.message);
    surface->truth = calloc((size_t)surface->space->num_settings, sizeof *surface->truth);
    surface->regret = calloc((size_t)surface->space->num_settings, sizeof *surface->regret);
}

static void make_space(struct surface *surface, int32_t least_batch, int32_t top) {
    char batch[64], ubatch[64], defaults[64];
    snprintf(batch, sizeof batch, "batch=%d..%d:x2", (int)least_batch, (int)top);
    snprintf(ubatch, sizeof ubatch, "ubatch=2..%d:x2", (int)top);
    snprintf(defaults, sizeof defaults, "batch=%d,ubatch=%d", (int)top, (int)(top < 512 ? top : 512));
    const char *params[] = {batch, ubatch}, *where = "ubatch <= batch";
    make_grid(surface, params, 2, where, defaults);
}

static int32_t value_of(const struct surface *surface, int32_t setting, int32_t param) {
    const struct kerf_tune_space *space = surface->space;
    return (int32_t)space->params[param].integers[space->values[2 * setting + param]];
}

static void finish(struct surface *surface) {
    int32_t n = surface->space->num_settings;
    surface->best = INFINITY;
    surface->least_ubatch = INT32_MAX;
    for (int32_t i = 0; i < n; i++) surface->best = fmin(surface->best, surface->truth[i]);
    for (int32_t i = 0; i < n; i++) {
        surface->regret[i] = surface->truth[i] / surface->best - 1;
        if (surface->space->num_params == 2 && surface->regret[i] <= 0.05 &&
            value_of(surface, i, 1) < surface->least_ubatch)
            surface->least_ubatch = value_of(surface, i, 1);
    }
}

void surface_free(struct surface *surface) {
    kerf_tune_space_free(surface->space);
    free(surface->truth);
    free(surface->regret);
    free(surface->slow);
    free(surface->others);
}

/* ---- Recordings -------------------------------------------------------------------------------------------- */

struct row {
    int32_t round, batch, ubatch;
    double value, wall, cpu, other;
};

static int by_place(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->batch != y->batch) return x->batch < y->batch ? -1 : 1;
    if (x->ubatch != y->ubatch) return x->ubatch < y->ubatch ? -1 : 1;
    return (x->round > y->round) - (x->round < y->round);
}

static FILE *open_csv(const char *path) {
    size_t length = strlen(path);
    char command[1100];
    if (length < 3 || strcmp(path + length - 3, ".gz") != 0) {
        snprintf(command, sizeof command, "exec cat '%.1000s' 2>/dev/null", path);
    } else {
        snprintf(command, sizeof command, "exec zcat '%.1000s' 2>/dev/null", path);
    }
    return popen(command, "r"); /* a bench, and paths of its user */
}

static int32_t read_rows(FILE *file, const char *column, struct row **ret_rows) {
    static const char *const names[] = {"round", "nb", "nub", "wall_ms", "cpu_ms", "other_ms", NULL};
    int at[7];
    char line[512];
    int32_t count = 0;
    struct row *rows = NULL;
    for (int k = 0; k < 7; k++) at[k] = -1;
    if (fgets(line, sizeof line, file) == NULL) return 0;
    int index = 0;
    for (char *word = strtok(line, ",\r\n"); word; word = strtok(NULL, ",\r\n"), index++)
        for (int k = 0; k < 7; k++)
            if (strcmp(word, k < 6 ? names[k] : column) == 0) at[k] = index;
    for (int k = 0; k < 7; k++)
        if (at[k] < 0) return 0;
    while (fgets(line, sizeof line, file)) {
        double field[32] = {0};
        int fields = 0;
        for (char *word = strtok(line, ",\r\n"); word && fields < 32; word = strtok(NULL, ",\r\n"))
            field[fields++] = number_read(word, NULL);
        if (isnan(field[at[3]])) continue;
        if (count % 1024 == 0) {
            struct row *more = realloc(rows, (size_t)(count + 1024) * sizeof *rows);
            if (more == NULL) break; /* what is there is a recording too */
            rows = more;
        }
        rows[count++] =
            (struct row){(int32_t)field[at[0]], (int32_t)field[at[1]], (int32_t)field[at[2]], field[at[6]] / 1e3,
                         field[at[3]] / 1e3,    field[at[4]] / 1e3,    field[at[5]] / 1e3};
    }
    *ret_rows = rows;
    return count;
}

static int same_setting(const struct row *a, const struct row *b) {
    return a->batch == b->batch && a->ubatch == b->ubatch;
}

static int32_t find(const struct surface *surface, int32_t batch, int32_t ubatch) {
    for (int32_t i = 0; i < surface->space->num_settings; i++)
        if (value_of(surface, i, 0) == batch && value_of(surface, i, 1) == ubatch) return i;
    return -1;
}

/* Rows of one setting: its mean of rounds' means, and the noise around it. */
static void add_setting(struct surface *surface, const struct row *rows, int32_t count) {
    int32_t setting = find(surface, rows->batch, rows->ubatch), rounds = 0;
    double means[256], sum = 0;
    for (int32_t from = 0, to; from < count; from = to, rounds++) {
        double total = 0;
        for (to = from; to < count && rows[to].round == rows[from].round; to++) total += rows[to].value;
        means[rounds] = total / (to - from);
        sum += means[rounds];
        for (int32_t i = from; i < to && to - from > 1; i++)
            surface->within[surface->num_within++ % SURFACE_NOISES] = rows[i].value / means[rounds];
    }
    if (setting < 0) refuse("a recording of a setting outside of its grid");
    surface->truth[setting] = sum / rounds;
    for (int32_t k = 0; k < rounds && rounds > 1; k++)
        surface->between[surface->num_between++ % SURFACE_NOISES] = means[k] / (sum / rounds);
}

static void shrink(struct surface *surface) {
    int32_t n = surface->space->num_settings;
    for (int32_t u = 1; u <= 1 << 20; u *= 2) {
        double sum = 0;
        int32_t count = 0;
        for (int32_t i = 0; i < n; i++)
            if (value_of(surface, i, 1) == u) sum += log(surface->truth[i]), count++;
        for (int32_t i = 0; i < n; i++)
            if (value_of(surface, i, 1) == u)
                surface->truth[i] = exp(sum / count + SHRINK * (log(surface->truth[i]) - sum / count));
    }
}

int surface_read(struct surface *surface, const char *path, const char *column) {
    struct row *rows = NULL;
    FILE *file = open_csv(path);
    memset(surface, 0, sizeof *surface);
    int32_t count = file ? read_rows(file, column, &rows) : 0, top = 0, least = INT32_MAX;
    if (file) pclose(file);
    if (count == 0 || rows == NULL) {
        free(rows);
        return 0;
    }
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    snprintf(surface->name, sizeof surface->name, "%.*s", (int)strcspn(name, "."), name);
    surface->slow = calloc((size_t)count, sizeof *surface->slow);
    surface->others = calloc((size_t)count, sizeof *surface->others);
    surface->num_slow = count;
    for (int32_t i = 0; i < count; i++) {
        surface->slow[i] = rows[i].cpu > 0 ? rows[i].wall / rows[i].cpu : 1;
        surface->others[i] = rows[i].wall > 0 ? rows[i].other / rows[i].wall : 0;
        top = rows[i].batch > top ? rows[i].batch : top;
        least = rows[i].batch < least ? rows[i].batch : least;
    }
    make_space(surface, least, top);
    qsort(rows, (size_t)count, sizeof *rows, by_place);
    for (int32_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && same_setting(&rows[to], &rows[from]);) to++;
        add_setting(surface, rows + from, to - from);
    }
    free(rows);
    shrink(surface);
    finish(surface);
    return 1;
}

/* ---- Made up ----------------------------------------------------------------------------------------------- */

/* Of Student's t with so many degrees, scaled to a standard deviation. */
static double heavy(struct pcg64 *rng, double sd, double tail) {
    double squares = 0;
    for (int k = 0; k < (int)tail; k++) squares += pow(random_normal(rng, 0, 1), 2);
    return sd * random_normal(rng, 0, 1) / sqrt(squares / (tail - 2));
}

static void make_noise(struct surface *surface, double between, double within, double tail, struct pcg64 *rng) {
    surface->num_between = surface->num_within = 1000;
    for (int32_t i = 0; i < 1000; i++) {
        surface->between[i] = exp(heavy(rng, between, tail));
        surface->within[i] = exp(heavy(rng, within, tail));
    }
}

void surface_make(struct surface *surface, const char *name, const double *by_ubatch, int32_t num_ubatches,
                  double between, double within, double tail, uint64_t seed) {
    struct pcg64 rng = random_seed(seed);
    memset(surface, 0, sizeof *surface);
    snprintf(surface->name, sizeof surface->name, "%s", name);
    make_space(surface, 16, 1 << num_ubatches);
    for (int32_t i = 0; i < surface->space->num_settings; i++)
        surface->truth[i] = by_ubatch[surface->space->values[2 * i + 1]] * exp(random_normal(&rng, 0, 0.15 * between));
    make_noise(surface, between, within, tail, &rng);
    finish(surface);
}

/* A valley along the micro-batch with a kink, a plateau, and in every third one an effect of the batch as well. */
void surface_random(struct surface *surface, uint64_t seed) {
    struct pcg64 rng = random_seed(seed * 77 + 5);
    char name[32];
    memset(surface, 0, sizeof *surface);
    snprintf(name, sizeof name, "random %d", (int)seed);
    snprintf(surface->name, sizeof surface->name, "%s", name);
    int32_t top = random_to(&rng, 1) ? 2048 : 512;
    make_space(surface, 16, top);
    double places = log2(top), valley = 3 + (places - 3) * random_double(&rng),
           steep = 0.05 + 0.4 * random_double(&rng);
    double rise = 0.12 * random_double(&rng), kink = random_double(&rng) < 0.5 ? 0.6 * random_double(&rng) : 0;
    double kink_at = 2 + (valley - 2) * random_double(&rng), flat = 1.5 * random_double(&rng);
    double by_batch = random_to(&rng, 2) == 0 ? 0.1 * random_double(&rng) : 0, batch_at = 4 + 7 * random_double(&rng);
    double noise = 0.003 * pow(25, random_double(&rng)), own = 0.1 * noise;
    double jag = 0.03 * random_double(&rng), jags[16];
    for (int k = 0; k < 16; k++) jags[k] = random_normal(&rng, 0, jag);
    for (int32_t i = 0; i < surface->space->num_settings; i++) {
        double u = log2(value_of(surface, i, 1)), b = log2(value_of(surface, i, 0)), off = u - valley;
        double y = off < 0 ? steep * fmax(-off - flat, 0) : rise * fmax(off - 0.5, 0);
        if (u < kink_at) y += kink;
        y += jags[(int)u] + by_batch * fabs(b - batch_at) / 4 + random_normal(&rng, 0, own);
        surface->truth[i] = 0.4 * exp(y);
    }
    make_noise(surface, 0.85 * noise, 0.5 * noise, 4 + 8 * random_double(&rng), &rng);
    finish(surface);
}

void surface_few(struct surface *surface, int32_t kind, double noise, uint64_t seed) {
    static const char *const params[] = {"a=1..2", "k=a,b,c,d,e,f,g,h", "batch=1..1024:x2"};
    static const char *const defaults[] = {"a=1", "k=a", "batch=512"};
    static const double steep[] = {0.01, 0.03, 0.1}, apart[] = {0.05, 0.1, 0.2};
    struct pcg64 rng = random_seed(seed * 991 + (uint64_t)kind);
    memset(surface, 0, sizeof *surface);
    snprintf(surface->name, sizeof surface->name, "%s", params[kind]);
    make_grid(surface, &params[kind], 1, NULL, defaults[kind]);
    double valley = 10 * random_double(&rng), bend = steep[random_to(&rng, 2)], step = apart[random_to(&rng, 2)];
    int32_t slower = (int32_t)random_to(&rng, 1);
    for (int32_t i = 0; i < surface->space->num_settings; i++)
        surface->truth[i] = kind == FEW_TWO     ? 1 + step * (i == slower)
                            : kind == FEW_WORDS ? 1 + 0.25 * random_double(&rng)
                                                : 1 + bend * (i - valley) * (i - valley);
    surface->num_between = SURFACE_NOISES;
    surface->num_within = 1;
    surface->within[0] = 1;
    for (int32_t i = 0; i < SURFACE_NOISES; i++)
        surface->between[i] = exp(random_normal(&rng, -0.5 * noise * noise, noise));
    finish(surface);
}

/* ---- Programs ---------------------------------------------------------------------------------------------- */

void program_start(struct program *program, const struct surface *surface, int32_t drift, uint64_t seed) {
    *program = (struct program){.surface = surface, .rng = random_seed(seed * 7919 + 13), .drift = drift, .last = -1};
    program->clock = 0.1 * surface->best;
    if (surface->num_slow) program->slow_at = (int32_t)random_to(&program->rng, (uint32_t)surface->num_slow - 1);
}

static double pick(struct pcg64 *rng, const double *of, int32_t count) {
    return of[random_to(rng, (uint32_t)(count < SURFACE_NOISES ? count : SURFACE_NOISES) - 1)];
}

static double drifted(struct program *program) {
    double runs = program->clock / program->surface->best;
    switch (program->drift) {
    case DRIFT_RAMP:
        program->ar = 0.9 * program->ar + random_normal(&program->rng, 0, 0.02 * sqrt(1 - 0.81));
        return (1 + 0.15 * (1 - exp(-runs / 60))) * exp(program->ar);
    case DRIFT_STEPS:
        if (random_double(&program->rng) < 1.0 / 15) program->step = 0.08 * random_normal(&program->rng, 0, 1);
        return exp(program->step);
    case DRIFT_SPIKES: return random_double(&program->rng) < 0.06 ? exp(0.1 + random_double(&program->rng)) : 1;
    case DRIFT_SLOWED: return runs > 12 ? 2 : 1;
    case DRIFT_INTERFERENCE:
        program->slow_at = (program->slow_at + 1) % program->surface->num_slow;
        program->busy = program->surface->others[program->slow_at];
        return program->surface->slow[program->slow_at];
    default: return 1;
    }
}

struct kerf_tune_observation program_run(struct program *program, int32_t setting, double limit) {
    const struct surface *surface = program->surface;
    if (!program->one_context || setting != program->last)
        program->context = pick(&program->rng, surface->between, surface->num_between);
    program->last = setting;
    double value =
        surface->truth[setting] * program->context * pick(&program->rng, surface->within, surface->num_within);
    program->clock += 0.02 * surface->best;
    value *= drifted(program);
    struct kerf_tune_observation o = {.setting = setting, .value = value, .start_s = program->clock};
    if (limit > 0 && value > limit) {
        o.outcome = KERF_TUNE_CENSORED;
        o.value = limit;
    }
    program->clock += o.value;
    o.end_s = program->clock;
    return o;
}
