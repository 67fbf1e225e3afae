/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long it takes to say how long a pipeline takes, on one thread: with a bound, without a schedule, and by making and
 * simulating one, in one run. Stages are those of a model: equal layers, an embedding before them, a head behind.
 *
 *     pipeline              all sizes
 *     pipeline --rounds N   1f1b on 8 devices N times without a word, for a program that counts instructions
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "measure.h"
#include "schedule/pipeline.h"

enum { STAGES_MAX = 512, ROUNDS = 1000 };

struct subject {
    struct pipeline_question question;
    double forward[STAGES_MAX], input[STAGES_MAX], weight[STAGES_MAX], bytes[STAGES_MAX], peaks[STAGES_MAX];
    double whole[STAGES_MAX];
    double sum; /* so that nothing is left out */
    struct arena arena;
    int32_t times; /* that one run asks */
    struct kerf_schedule *schedule;
};

/* The same question with other times, as a search asks it. */
static void change(struct subject *subject, int32_t round) {
    subject->forward[0] = 0.0101 + 1e-9 * round;
    subject->whole[0] = subject->input[0] + subject->weight[0];
}

static void ask(void *context) {
    struct subject *subject = context;
    struct pipeline_answer answer = {.peak_bytes = subject->peaks};
    for (int32_t round = 0; round < subject->times; round++) {
        change(subject, round);
        if (!pipeline_time(&subject->question, NULL, &subject->arena, &answer)) exit(1);
        subject->sum += answer.makespan_s;
        arena_reset(&subject->arena);
    }
}

static void bound(void *context) {
    struct subject *subject = context;
    for (int32_t round = 0; round < subject->times; round++) {
        change(subject, round);
        subject->sum += pipeline_least_of_rule_s(&subject->question);
    }
}

static void simulate(void *context) {
    struct subject *subject = context;
    const struct pipeline_question *question = &subject->question;
    const struct kerf_schedule_times times = {.forward_s = subject->forward,
                                              .backward_s = subject->whole,
                                              .backward_input_s = subject->input,
                                              .backward_weight_s = subject->weight,
                                              .activation_bytes = subject->bytes,
                                              .p2p_s = question->latency_s};
    const struct kerf_schedule_request request = {.rule = question->rule,
                                                  .devices = question->devices,
                                                  .chunks = question->chunks,
                                                  .microbatches = question->microbatches,
                                                  .times = &times,
                                                  .search_steps = KERF_PIPELINE_STEPS};
    struct kerf_schedule *schedule;
    struct kerf_timeline *timeline;
    if (kerf_schedule_make(&request, &schedule, NULL) != KERF_OK ||
        kerf_schedule_simulate(schedule, &times, &timeline, NULL) != KERF_OK)
        exit(1);
    subject->sum += timeline->makespan_s;
    kerf_timeline_free(timeline);
    kerf_schedule_free(schedule);
}

/* How the layers stand: as many on every stage; one more on the later half, so that its devices are the busiest; or
 * stages that differ by chance. */
enum layers { EQUAL, HALVES, CHANCE };

static void subject_make(struct subject *subject, const char *rule, int32_t p, int32_t v, int32_t m,
                         enum layers layers) {
    *subject = (struct subject){.question = {.rule = rule,
                                             .devices = p,
                                             .chunks = v,
                                             .microbatches = m,
                                             .forward_s = subject->forward,
                                             .backward_input_s = subject->input,
                                             .backward_weight_s = subject->weight,
                                             .activation_bytes = subject->bytes,
                                             .latency_s = 20e-6}};
    uint32_t chance = 1;
    for (int32_t k = 0; k < p * v; k++) {
        chance = chance * 1664525 + 1013904223;
        const int32_t more = layers == HALVES ? k >= p * v / 2 : layers == CHANCE ? (int32_t)(chance >> 30) : 0;
        const double size = 10 + more + (k == p * v - 1 ? 0.7 : 0);
        subject->forward[k] = 1e-3 * size;
        subject->input[k] = 1.1e-3 * size;
        subject->weight[k] = 0.9e-3 * size;
        subject->whole[k] = subject->input[k] + subject->weight[k];
        subject->bytes[k] = 1e8 * size;
    }
}

/* Runs of about a tenth of a millisecond each, many of them, for machines that do other things too. */
static struct measure measure_one(void (*work)(void *context), struct subject *subject) {
    subject->times = 1;
    const double once_s = measure_least(5, work, subject).seconds;
    subject->times = once_s > 1e-4 ? 1 : (int32_t)(1e-4 / once_s) + 1;
    struct measure all = measure_least(200, work, subject);
    all.seconds /= subject->times;
    all.instructions /= subject->times;
    return all;
}

static void report(struct subject *subject, const char *layers) {
    const struct pipeline_question *question = &subject->question;
    const struct measure asked = measure_one(ask, subject), bounded = measure_one(bound, subject);
    const struct measure plain = measure_least(5, simulate, subject);
    printf("%-17s %3d x %5d x %d  %-7s %8.0f ns %8.0f ns %12.0f ns %7.0fx", question->rule, question->devices,
           question->microbatches, question->chunks, layers, 1e9 * bounded.seconds, 1e9 * asked.seconds,
           1e9 * plain.seconds, plain.seconds / asked.seconds);
    if (asked.instructions)
        printf(" %8lld", (long long)asked.instructions);
    else
        printf(" %8s", "-");
    printf("\n");
}

static const struct {
    const char *rule;
    int32_t devices, chunks, microbatches;
} sizes[] = {
    {"1f1b", 4, 1, 64},
    {"1f1b", 8, 1, 128},
    {"1f1b", 16, 1, 256},
    {"1f1b", 64, 1, 1024},
    {"zb_h1", 8, 1, 128},
    {"interleaved_1f1b", 4, 2, 64},
    {"interleaved_1f1b", 8, 2, 128},
    {"interleaved_1f1b", 8, 4, 128},
    {"interleaved_1f1b", 16, 4, 256},
    {"interleaved_1f1b", 64, 2, 1024},
    {"eager_1f1b", 8, 1, 128},
    {"gpipe", 8, 1, 128},
    {"zb_v", 8, 2, 128},
};

int main(int argc, char **argv) {
    static const char *const names[] = {"equal", "halves", "chance"};
    static struct subject subject;
    if (argc > 2 && strcmp(argv[1], "--rounds") == 0) {
        subject_make(&subject, argc > 3 ? argv[3] : "1f1b", 8, argc > 4 ? atoi(argv[4]) : 1, 128, HALVES);
        subject.times = ROUNDS;
        for (int round = atoi(argv[2]); round > 0; round--) ask(&subject);
        return 0;
    }
    printf("%-43s %11s %11s %15s %8s %8s\n", "one thread, least of 200 runs", "bound", "answer", "make, simulate",
           "ratio", "instr.");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (enum layers layers = EQUAL; layers <= CHANCE; layers++) {
            subject_make(&subject, sizes[i].rule, sizes[i].devices, sizes[i].chunks, sizes[i].microbatches, layers);
            report(&subject, names[layers]);
            arena_free(&subject.arena);
        }
    int64_t instructions = measure_valgrind(argv[0], "--rounds");
    if (instructions)
        printf("instructions of an answer, 1f1b on 8 devices, halves, by valgrind: %.0f\n",
               (double)instructions / ROUNDS);
    else
        printf("instructions: not counted, as valgrind is not installed\n");
    return 0;
}
