/* SPDX-License-Identifier: Apache-2.0 */
/* kerf estimate: what one layout costs, as a whole or operation by operation; one after the other with --lines. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "call/estimate_question.h"
#include "cli/command.h"
#include "cli/launch_file.h"
#include "cli/plan_print.h"
#include "cli/terminal.h"

/* ---- A stream of requests -------------------------------------------------------------------------------------- */

enum { LINE_BYTES_MAX = 1 << 20, HELD_MAX = LINE_BYTES_MAX + 1 /* its end too */, FLUSH_BYTES = 1 << 16 };

struct stream {
    const struct kerf_cost_model *default_cost_model; /* NULL: the one of each request's strategy */
    struct kerf_text out;
    int64_t line;
    int32_t broken; /* why nothing can be written any more, or KERF_OK */
    struct kerf_error err;
};

static void fail(struct stream *stream, const char *message) {
    struct kerf_json json;
    kerf_json_begin(&json, &stream->out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_open(&json, "error", '{');
    kerf_json_string(&json, "message", message);
    kerf_json_close(&json, '}');
    kerf_json_close(&json, '}');
}

static int32_t answer_parsed(struct stream *stream, const struct kerf_request *request, struct kerf_error *err) {
    const struct kerf_cost_model *cost_model = stream->default_cost_model;
    if (cost_model == NULL) cost_model = kerf_cost_model_of(request->problem.strategy);
    struct kerf_estimate estimate = {.pipeline = NULL};
    struct kerf_layer layers[KERF_LAYERS_MAX];
    int32_t num_layers = 0;
    int32_t code = KERF_OK;
    if (request->cost_model[0]) code = kerf_cost_model_find(request->cost_model, &cost_model, err);
    if (code == KERF_OK) code = kerf_layout_estimate(cost_model, &request->problem, &request->layout, &estimate, err);
    if (code == KERF_OK && request->layers)
        code = kerf_layout_estimate_layers(cost_model, &request->problem, &estimate.layout, layers, &num_layers, err);
    if (code != KERF_OK) {
        kerf_estimate_release(&estimate);
        return code;
    }
    struct kerf_json json;
    kerf_json_begin(&json, &stream->out);
    kerf_json_open(&json, NULL, '{');
    kerf_estimate_json(&json, &request->problem, &estimate, 0);
    if (request->layers) kerf_layers_json(&json, layers, num_layers);
    kerf_json_close(&json, '}');
    kerf_estimate_release(&estimate);
    return KERF_OK;
}

static int32_t answer_request(struct stream *stream, const char *line, size_t length, struct kerf_error *err) {
    struct kerf_request request;
    int32_t code = kerf_request_parse(line, length, "request", stream->default_cost_model, &request, err);
    if (code != KERF_OK) return code;
    code = answer_parsed(stream, &request, err);
    kerf_layout_release(&request.layout);
    return code;
}

static void flush(struct stream *stream) {
    if (!stream->broken) stream->broken = output_stream(&stream->out, &stream->err);
    kerf_text_clear(&stream->out);
}

static void answer_line(struct stream *stream, const char *line, size_t length) {
    stream->line++;
    if (length > 0 && line[length - 1] == '\r') length--;
    if (strspn(line, " \t") >= length) return; /* an empty line asks nothing */
    struct kerf_error err;
    if (answer_request(stream, line, length, &err) != KERF_OK) {
        char message[sizeof err.file + sizeof err.message + 32];
        if (err.file[0] == 0) memcpy(err.file, "request", sizeof "request"), err.column = 1;
        if (strcmp(err.file, "request") == 0) err.line = (int32_t)stream->line;
        kerf_error_format(&err, message, sizeof message);
        fail(stream, message);
    }
    kerf_text_add(&stream->out, "\n");
    if (stream->out.length >= FLUSH_BYTES) flush(stream);
}

/* Answers every whole line of buffer; returns how many bytes they were. */
static size_t answer_buffer(struct stream *stream, char *buffer, size_t length) {
    size_t start = 0;
    for (char *end; !stream->broken && (end = memchr(buffer + start, '\n', length - start));) {
        *end = 0;
        answer_line(stream, buffer + start, (size_t)(end - (buffer + start)));
        start = (size_t)(end - buffer) + 1;
    }
    return start;
}

static int32_t serve(struct stream *stream, char *buffer) {
    size_t held = 0;
    int too_long = 0; /* the rest of a line that is passed over */
    for (;;) {
        flush(stream);
        if (stream->broken || interrupt_wait(STDIN_FILENO)) break;
        ssize_t got = read(STDIN_FILENO, buffer + held, HELD_MAX - held);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return kerf_error_set(&stream->err, KERF_EIO, "standard input: %s",
                                  errno == EBADF ? "it is closed" : strerror(errno));
        if (got == 0) {
            buffer[held] = 0;
            if (held > 0 && !too_long) answer_line(stream, buffer, held);
            break;
        }
        size_t fresh = held;
        held += (size_t)got;
        if (too_long) {
            char *end = memchr(buffer + fresh, '\n', (size_t)got);
            if (end == NULL) {
                held = 0;
                continue;
            }
            held -= (size_t)(end + 1 - buffer);
            memmove(buffer, end + 1, held);
            too_long = 0;
        }
        size_t used = answer_buffer(stream, buffer, held);
        held -= used;
        memmove(buffer, buffer + used, held);
        if (held == HELD_MAX) {
            char message[96];
            snprintf(message, sizeof message, "request:%lld: a line of more than 1 MiB; it is ignored",
                     (long long)++stream->line);
            fail(stream, message);
            kerf_text_add(&stream->out, "\n");
            held = 0, too_long = 1;
        }
    }
    flush(stream);
    return stream->broken == KERF_EINTERRUPTED ? KERF_OK
                                               : stream->broken; /* a reader who has seen enough is no failure */
}

/* Answers one JSON request a line of standard input with one line on standard output, in constant memory, until the
 * input ends; answers are out before the next request is waited for. Returns an exit_status. */
static int estimate_lines(const char *default_cost_model) {
    static char buffer[HELD_MAX + 1];
    struct stream stream = {.default_cost_model = NULL};
    int32_t code = KERF_OK;
    if (default_cost_model) code = kerf_cost_model_find(default_cost_model, &stream.default_cost_model, &stream.err);
    if (code != KERF_OK) return cli_fail(&stream.err);
    interrupt_catch();
    code = serve(&stream, buffer);
    kerf_text_free(&stream.out);
    if (code != KERF_OK) return cli_fail(&stream.err);
    return interrupted() ? EXIT_INTERRUPTED : EXIT_ANSWERED;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

struct estimate_options {
    struct estimate_values ask;
    const char *catalogue, *format, *output, *launch, *emit;
    int32_t lines;
};

#define AT(field) .offset = offsetof(struct estimate_options, field)
static const struct option options[] = {
    ESTIMATE_OPTIONS(struct estimate_options, ask),
    {.name = "catalogue", .type = OPTION_STRING, AT(catalogue), .value = "DIR", .help = CLI_CATALOGUE_HELP},
    {.name = "format",
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORMAT",
     .choices = "table,json,csv",
     .help =
         "How to print the answer (default: by the name of --output, else table). csv holds the table of --layers."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_STRING,
     AT(output),
     .value = "FILE",
     .help = "Write to FILE, in the format of its name - .json .csv .txt - instead of standard output."},
    {.name = "launch",
     .type = OPTION_STRING,
     AT(launch),
     .value = "FILE",
     .help = "Price the job of a launch script or config (kerf help launch) instead of MODEL and --layout."},
    {.name = "emit",
     .type = OPTION_STRING,
     AT(emit),
     .value = "FRAMEWORK",
     .help = "Print the launch of the layout for megatron, deepspeed, torchtitan, nanotron or megatron-bridge."},
    {.name = "lines",
     .type = OPTION_FLAG,
     AT(lines),
     .help = "For programs: read one JSON request a line from standard input and answer each with one line "
             "(docs/json.md)."},
    {.name = NULL},
};

static const char *const examples[] = {
    "What one layout costs",
    "kerf estimate llama3_70b -s h100 -b 1024 --layout tp=8,pp=4,dp=16,recompute=selective",
    "Which operations take the time, by the model of arXiv 2410.00273",
    "kerf estimate gpt3_1t -s a100 -b 4096 --layout dp=2,tp1=8,pp=64,scale_up.tp1=4 --layers",
    "What the job of a launch script costs",
    "kerf estimate --launch train.sh -s h100",
    "Many layouts, asked by a program",
    "kerf estimate --lines < requests.jsonl > answers.jsonl",
    NULL,
};

static const struct command_exit exits[] = {{"0", "the layout fits"},
                                            {"1", "the layout does not fit: what it needs was printed"},
                                            {"2", "bad usage or input"},
                                            {"3", "failed while running"},
                                            {NULL, NULL}};

static const struct command table = {
    .name = "estimate",
    .summary = "what one layout costs in time and memory, operation by operation",
    .arguments = "MODEL",
    .description = "Predicts the time of a step and the memory of an accelerator for one layout, and says whether it "
                   "fits and by how much.\n\n"
                   "With --lines it answers requests, one JSON object on each line, until its input ends.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct estimate_options, ask.models),
    .exits = exits,
};

/* "launch", where --emit and its file go together. */
static const char *launch_format(const struct estimate_options *values, struct kerf_error *err) {
    enum kerf_framework framework;
    if (kerf_framework_parse(values->emit, &framework, err) != KERF_OK) return NULL;
    if (values->output && launch_file_check(framework, values->output, err) != KERF_OK) return NULL;
    return "launch";
}

/* "json", "csv", "table" or "launch". */
static const char *find_format(const struct estimate_options *values, struct kerf_error *err) {
    const char *end = values->output && !output_is_special(values->output) ? output_ending(values->output) : NULL;
    if (values->output && output_check(values->output, err) != KERF_OK) return NULL;
    if (values->emit && values->format == NULL) return launch_format(values, err);
    if (values->format) return values->format;
    if (end == NULL || strcmp(end, "txt") == 0) return "table";
    if (strcmp(end, "json") == 0 || strcmp(end, "csv") == 0) return end;
    kerf_error_set(err, KERF_EINVALID, "--output %.200s: end the name in .json .csv or .txt, or give --format",
                   values->output);
    return NULL;
}

static void write_answer(const struct estimate_question *question, const char *format, const char *path,
                         struct kerf_text *out) {
    int to_stdout = path == NULL || output_is_stdout(path);
    int was_placed = kerf_layout_compare(&question->layout, &question->estimate.layout) != 0;
    struct print_style style = {to_stdout ? terminal_columns() : 100, to_stdout && terminal_colour(), 0};
    if (strcmp(format, "json") == 0) {
        struct kerf_json json;
        kerf_json_begin(&json, out);
        estimate_question_json(&json, question);
        kerf_text_add(out, "\n");
    } else if (strcmp(format, "csv") == 0) {
        print_layers_csv(out, question->layers, question->num_layers);
    } else {
        print_estimate_table(out, &question->problem, &question->estimate, was_placed, question->layers,
                             question->values->layers ? question->num_layers : 0, question->choice.cost_model_name,
                             &style);
        terminal_plain(out);
    }
}

static int32_t write_launch(const struct estimate_options *values, const struct estimate_question *question,
                            struct kerf_text *out, struct kerf_error *err) {
    enum kerf_framework framework;
    int32_t code = kerf_framework_parse(values->emit, &framework, err);
    if (code == KERF_OK)
        code = kerf_launch_write(framework, NULL, &question->problem, &question->estimate.layout, out, err);
    return code;
}

static int answer_priced(struct estimate_options *values, const char *format) {
    struct kerf_error err;
    struct estimate_question question;
    struct kerf_text out = {0};
    int32_t code = estimate_question_answer(&values->ask, &question, &err);
    if (code != KERF_OK) return cli_fail(&err);
    if (strcmp(format, "csv") == 0 && question.num_layers == 0)
        code = kerf_error_set(&err, KERF_EINVALID, "csv holds the table of --layers, which hybrid layouts do not have");
    if (code == KERF_OK) {
        model_notes(&question.problem.model, question.choice.cost_model);
        calibration_notes(&question.software, software_of_problems(&question.problem, 1));
        set_notes(&question.set_without_effect);
        if (strcmp(format, "launch") == 0)
            code = write_launch(values, &question, &out, &err);
        else
            write_answer(&question, format, values->output, &out);
    }
    if (code == KERF_OK) {
        code = output_file(values->output ? values->output : "-", &out, &err);
    }
    int fits = question.estimate.fits;
    kerf_text_free(&out);
    estimate_question_free(&question);
    if (code != KERF_OK) return cli_fail(&err);
    return fits ? EXIT_ANSWERED : EXIT_NO_ANSWER;
}

static int answer(struct estimate_options *values) {
    struct kerf_error err;
    struct kerf_launch *launch = NULL;
    if (cli_use_catalogue(values->catalogue, &err) != KERF_OK) return cli_fail(&err);
    const char *format = find_format(values, &err);
    if (format == NULL) return cli_fail(&err);
    if (values->launch && launch_file_read(values->launch, NULL, NULL, 0, &launch, &err) != KERF_OK)
        return cli_fail(&err);
    values->ask.launch = launch;
    int status = answer_priced(values, format);
    if (launch && (status == EXIT_ANSWERED || status == EXIT_NO_ANSWER)) launch_file_notes(values->launch, launch);
    kerf_launch_free(launch);
    return status;
}

/* Requests contain everything; an option that would be ignored is a mistake. */
static int answer_lines(const struct estimate_options *values) {
    struct kerf_error err;
    const char *other = values->ask.models.count         ? values->ask.models.items[0]
                        : values->ask.system             ? "--system"
                        : values->ask.layout             ? "--layout"
                        : values->ask.gpus               ? "--gpus"
                        : values->ask.global_batch       ? "--global-batch"
                        : values->ask.seq_length         ? "--seq-length"
                        : values->ask.strategy           ? "--strategy"
                        : values->ask.attention          ? "--attention"
                        : values->ask.scale_up_size      ? "--scale-up-size"
                        : values->ask.sets.count         ? "--set"
                        : values->ask.layers             ? "--layers"
                        : values->format                 ? "--format"
                        : values->output                 ? "--output"
                        : values->launch                 ? "--launch"
                        : values->emit                   ? "--emit"
                        : values->ask.training.tokens    ? "--tokens"
                        : values->ask.training.price > 0 ? "--price"
                                                         : training_first_given(&values->ask.training);
    if (other == NULL) return estimate_lines(values->ask.cost_model);
    kerf_error_set(&err, KERF_EINVALID, "--lines reads all but --cost-model from its requests; leave out %.64s", other);
    return cli_fail(&err);
}

static int run(int argc, char **argv) {
    struct estimate_options values = {.ask = ESTIMATE_VALUES};
    int status = cli_parse(&estimate_cli, argc, argv, &values);
    if (status >= 0) return status;
    status = values.lines ? answer_lines(&values) : answer(&values);
    options_free(&table, &values);
    return status;
}

const struct cli_command estimate_cli = {&table, run};
