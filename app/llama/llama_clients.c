/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kerf-llama-clients: clients of a llama-server on this machine, for `kerf tune llama --objective serve`. One run is one
 * window: the requests of client_load.h, and then one JSON object on standard output:
 *
 *     {"requests":32,"tokens":1024,"tokens_per_s":310.2,"p50_s":1.1,"p95_s":1.7,"ttft_p50_s":0.2,...}
 *
 * With KERF_WARMUP=1 in its environment it first asks for GET /health, and then only sends as many requests as there are
 * clients. Status 0: every request was answered as asked; 3: one was not, and the reason is on standard error.
 */
#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "kerf/json.h"
#include "client_load.h"
#include "own_program.h"

struct clients_options {
    struct string_list words;
    const char *prompts, *outputs;
    int64_t port, clients, requests, vocab, seed;
    double timeout_s;
};

#define AT(field) .offset = offsetof(struct clients_options, field)
#define NUMBER(option, field, least, most, what)                                                                       \
    { .name = option, .type = OPTION_INTEGER, AT(field), .value = "N", .minimum = least, .maximum = most, .help = what }
static const struct option options[] = {
    NUMBER("port", port, 1, 65535, "The port of llama-server on 127.0.0.1."),
    NUMBER("clients", clients, 1, 4096, "Requests at a time (default: 4)."),
    NUMBER("requests", requests, 1, 1000000, "Requests in all (default: four for each client)."),
    {.name = "prompts",
     .type = OPTION_STRING,
     AT(prompts),
     .value = "N[,N]",
     .help = "Tokens of prompts (default: 128)."},
    {.name = "outputs",
     .type = OPTION_STRING,
     AT(outputs),
     .value = "N[,N]",
     .help = "Tokens of answers (default: 32)."},
    NUMBER("vocab", vocab, 1, INT_MAX, "Tokens of prompts are below it (default: 256)."),
    NUMBER("seed", seed, 0, 0x1p53, "Seed of the prompts and of the order of their lengths (default: 0)."),
    {.name = "timeout",
     .type = OPTION_DURATION,
     AT(timeout_s),
     .value = "TIME",
     .minimum = DBL_MIN,
     .maximum = 1e6,
     .help = "How long one request may take (default: 10m)."},
    {.name = NULL},
};

static const struct command table = {
    .name = "llama-clients",
    .summary = "clients of a llama-server, for kerf tune",
    .description = "Sends requests to a llama-server, each client the next one as soon as its last one was answered, "
                   "and prints how many tokens a second came and how long the requests took, as JSON.",
    .options = options,
    .arguments_offset = offsetof(struct clients_options, words),
};

static int refuse(int status, const char *message) { return own_program_refuse(&table, status, message); }

/* "64,256": whole numbers, each above 0. */
static int32_t read_lengths(const char *option, const char *text, struct lengths *ret_lengths, struct kerf_error *err) {
    struct lengths lengths = {0};
    for (const char *c = text;; c++) {
        char *end;
        long value = strtol(c, &end, 10);
        if (end == c || value < 1 || value > (1 << 24) || (*end && *end != ','))
            return kerf_error_set(err, KERF_EINVALID, "--%s '%.64s' must be numbers of tokens such as 64,256", option,
                                  text);
        if (lengths.count == LENGTHS_MAX)
            return kerf_error_set(err, KERF_EINVALID, "--%s has more than %d lengths", option, LENGTHS_MAX);
        lengths.of[lengths.count++] = (int32_t)value;
        c = end;
        if (*c == 0) break;
    }
    *ret_lengths = lengths;
    return KERF_OK;
}

static void put_times(struct kerf_json *json, const char *prefix, const struct load_times *times) {
    char key[32];
    snprintf(key, sizeof key, "%sp50_s", prefix);
    kerf_json_number(json, key, times->p50_s);
    snprintf(key, sizeof key, "%sp95_s", prefix);
    kerf_json_number(json, key, times->p95_s);
}

static int print_result(const struct client_load *load, const struct load_result *result) {
    struct kerf_text text = {0};
    struct kerf_json json;
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_json_integer(&json, "requests", load->requests);
    kerf_json_integer(&json, "prompt_tokens", result->prompt_tokens);
    kerf_json_integer(&json, "tokens", result->tokens);
    kerf_json_number(&json, "elapsed_s", result->elapsed_s);
    kerf_json_number(&json, "requests_per_s", load->requests / result->elapsed_s);
    kerf_json_number(&json, "tokens_per_s", (double)result->tokens / result->elapsed_s);
    put_times(&json, "", &result->whole);
    put_times(&json, "ttft_", &result->first);
    if (result->has_tokens_between) put_times(&json, "token_", &result->token);
    kerf_json_close(&json, '}');
    kerf_text_add(&text, "\n");
    int good = !text.failed && fwrite(text.data, 1, text.length, stdout) == text.length && fflush(stdout) == 0;
    kerf_text_free(&text);
    return good ? 0 : refuse(3, "the result could not be written");
}

static int run(const struct clients_options *given) {
    const char *warmup = getenv("KERF_WARMUP");
    const int is_warmup = warmup && strcmp(warmup, "1") == 0;
    struct client_load load = {.port = (int32_t)given->port,
                               .clients = (int32_t)given->clients,
                               .requests = (int32_t)(given->requests ? given->requests : 4 * given->clients),
                               .vocabulary = (int32_t)given->vocab,
                               .seed = (uint64_t)given->seed,
                               .timeout_s = given->timeout_s};
    struct load_result result;
    struct kerf_error err = {0};
    if (given->port == 0) return refuse(2, "--port N is needed");
    if (read_lengths("prompts", given->prompts, &load.prompts, &err) != KERF_OK ||
        read_lengths("outputs", given->outputs, &load.answers, &err) != KERF_OK)
        return refuse(2, err.message);
    if (is_warmup && load.requests > load.clients) load.requests = load.clients;
    if (is_warmup && client_load_health(&load, &err) != KERF_OK) return refuse(3, err.message);
    if (client_load_run(&load, &result, &err) != KERF_OK) return refuse(3, err.message);
    return print_result(&load, &result);
}

int main(int argc, char **argv) {
    struct clients_options given = {.prompts = "128", .outputs = "32", .clients = 4, .vocab = 256, .timeout_s = 600};
    struct kerf_error err = {0};
    int32_t help = 0;
    if (options_parse(&table, argc - 1, argv + 1, &given, &help, &err) != KERF_OK) return refuse(2, err.message);
    int status = 0;
    if (help)
        own_program_help(&table);
    else if (given.words.count > 0)
        status = refuse(2, "it takes only options");
    else
        status = run(&given);
    options_free(&table, &given);
    return status;
}
