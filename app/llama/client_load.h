/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A closed loop of clients against llama-server: each sends a request to POST /completion as soon as its last one was
 * answered, until a given number of requests is answered. Request i is the same in every run with the same seed: its
 * lengths are taken from the lists in a shuffled order, each list gone through before any length comes twice; its prompt
 * is random tokens. The server is asked to end at the length alone (ignore_eos), and to reuse no earlier prompt.
 */
#ifndef KERF_LLAMA_CLIENT_LOAD_H
#define KERF_LLAMA_CLIENT_LOAD_H

#include <stdint.h>
#include "kerf/error.h"

enum { LENGTHS_MAX = 64 };

struct lengths { /* of prompts, or of answers: tokens */
    int32_t count;
    int32_t of[LENGTHS_MAX];
};

struct client_load {
    int32_t port; /* on 127.0.0.1 */
    int32_t clients, requests;
    struct lengths prompts, answers;
    int32_t vocabulary; /* tokens are below it */
    uint64_t seed;
    double timeout_s; /* of one request */
};

/* How long half and 95 % of the requests (or tokens) took at most. */
struct load_times {
    double p50_s, p95_s;
};

struct load_result {
    int64_t prompt_tokens, tokens;
    double elapsed_s;           /* from the first request to the last answer */
    struct load_times whole;    /* from a request to the end of its answer */
    struct load_times first;    /* from a request to its first token */
    struct load_times token;    /* between the first and the last token of an answer, over the tokens in between */
    int32_t has_tokens_between; /* some answer had two tokens at least, so that `token` is known */
};

/* KERF_EIO: GET /health is not answered with 200; what it is answered with is in the message. */
int32_t client_load_health(const struct client_load *load, struct kerf_error *err);

/* KERF_EIO: a request was not answered, or not with as many tokens as were asked for. */
int32_t client_load_run(const struct client_load *load, struct load_result *ret_result, struct kerf_error *err);

#endif
