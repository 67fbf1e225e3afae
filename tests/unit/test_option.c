/* SPDX-License-Identifier: Apache-2.0 */
/* Option tables: what the parser takes and refuses, in which words, and what help, the manual page and the
 * completion script make of the same table. */
#include "base/option.h"
#include "base/characters.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct values {
    int64_t top, seed, stages, level;
    double share, rate, shift;
    const char *output, *format;
    struct string_list sets, arguments;
    int32_t verbose;
};

#define LONG                                                                                                           \
    "Many words, so that no line of the help is wide enough for all of them, and the widest of its lines "             \
    "is as wide as a line may be."
#define AT(field) offsetof(struct values, field)
static const struct option table[] = {
    {"top", 'n', OPTION_INTEGER, AT(top), "N", NULL, 1, 1000, "How many to print; default 10.", NULL},
    {"seed", 0, OPTION_INTEGER, AT(seed), "N", NULL, 0, 0, "Where random numbers begin.", NULL},
    {"stages", 0, OPTION_INTEGER, AT(stages), "N", NULL, 1, INFINITY, "Pipeline stages.", NULL},
    {"level", 0, OPTION_INTEGER, AT(level), "N", NULL, -INFINITY, 0x1p53, LONG, NULL},
    {"share", 0, OPTION_NUMBER, AT(share), "X", NULL, 0, 1, "A share, default 0.5", NULL},
    {"rate", 0, OPTION_NUMBER, AT(rate), "GB/s", NULL, DBL_MIN, INFINITY, "A rate.", NULL},
    {"shift", 0, OPTION_NUMBER, AT(shift), "X", NULL, 0, 0, "A shift.", NULL},
    {"output", 'o', OPTION_STRING, AT(output), "FILE", NULL, 0, 0, "Where to write; - is the terminal.", NULL},
    {"format", 'f', OPTION_CHOICE, AT(format), "FORMAT", "table,json,csv", 0, 0, "How to print it.", NULL},
    {"set", 0, OPTION_STRINGS, AT(sets), "FIELD=VALUE", NULL, 0, 0, "Replaces a field.", NULL},
    {"verbose", 'v', OPTION_FLAG, AT(verbose), NULL, NULL, 0, 0, "Says more.", NULL},
    {0},
};
static const char *const questions[] = {"Which is best?",
                                        "kerf plan llama3-70b --top 3 --set 'name=a b' --set \"note=c d\" -v",
                                        "And all of them?", "kerf plan llama3-70b --format csv", NULL};
static const struct command plan = {
    "plan",
    "the best layouts of a model",
    "MODEL[,MODEL...]",
    "Searches layouts, e.g. Megatron's. Ranks them; see --a-b.\n\n.5 of a \"caf\303\251\" \\ ~1\nis a 'dot'.",
    table,
    questions,
    AT(arguments),
    NULL,
    NULL,
    NULL};
static const struct option few[] = {
    {"port", 'p', OPTION_INTEGER, AT(top), NULL, NULL, 1, 65535, "Where to listen.", NULL}, {0}};
static const struct command serve = {"serve", "answers over HTTP", NULL, NULL, few, NULL, 0, NULL, NULL, NULL};
static const char *const no_questions[] = {NULL};
static const struct command bare = {"bare", "has no options", NULL, NULL, NULL, no_questions, 0, NULL, NULL, NULL};

#define MOST_WORDS 16

/* Reads the words, up to a NULL, into values. */
static int32_t parse(const struct command *command, struct values *values, int32_t *ret_help, struct kerf_error *err,
                     const char *const *words) {
    int argc = 0;
    char *argv[MOST_WORDS + 1] = {0};
    for (; words[argc]; argc++) {
        assert_in_range(argc, 0, MOST_WORDS - 1);
        argv[argc] = (char *)(uintptr_t)words[argc];
    }
    return options_parse(command, argc, argv, values, ret_help, err);
}

#define WORDS(...)         ((const char *const[]){__VA_ARGS__, NULL})
#define PARSE(values, ...) parse(&plan, values, &(int32_t){0}, NULL, WORDS(__VA_ARGS__))

/* The words are refused with this code and message, and leave the lists empty and *ret_help alone. */
static void refused(const struct command *command, int32_t code, const char *message, const char *const *words) {
    struct values values = {0};
    struct kerf_error err = {0};
    int32_t help = 77;
    assert_int_equal(parse(command, &values, &help, &err, words), code);
    assert_string_equal(err.message, message);
    assert_int_equal(err.code, code);
    assert_int_equal(help, 77);
    assert_null(values.sets.items);
    assert_null(values.arguments.items);
    assert_int_equal(values.sets.count + values.arguments.count, 0);
    assert_int_equal(parse(command, &values, &help, NULL, words), code);
}
#define REFUSED(code, message, ...) refused(&plan, code, message, WORDS(__VA_ARGS__))

static void test_every_form_of_an_option(void **state) {
    (void)state;
    static const char *const forms[][3] = {
        {"--output", "x.svg"}, {"--output=x.svg"}, {"-o", "x.svg"}, {"-ox.svg"}, {"-o=x.svg"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct values values = {0};
        int32_t help = 77;
        assert_int_equal(parse(&plan, &values, &help, NULL, forms[i]), KERF_OK);
        assert_string_equal(values.output, "x.svg");
        assert_int_equal(help, 0);
    }
    struct values values = {0};
    assert_int_equal(PARSE(&values, "--output=a=b", "-v", "--top", "7", "-f", "json", "--share=.25"), KERF_OK);
    assert_string_equal(values.output, "a=b");
    assert_string_equal(values.format, "json");
    assert_int_equal(values.verbose, 1);
    assert_int_equal(values.top, 7);
    assert_true(values.share == 0.25);
    values.output = NULL;
    assert_int_equal(PARSE(&values, "-o", "-", "--verbose"), KERF_OK);
    assert_string_equal(values.output, "-");
    values.output = NULL;
    assert_int_equal(PARSE(&values, "-o", "a", "--output=b"), KERF_EINVALID); /* one of them would not be written */
    assert_int_equal(PARSE(&values, "--top", "7", "--top", "8"), KERF_OK);
    assert_int_equal(values.top, 8);
}

static void test_defaults_stay_and_later_values_win(void **state) {
    (void)state;
    struct values values = {.top = 10, .share = 0.5, .format = "table", .seed = 3};
    assert_int_equal(PARSE(&values, "--seed=4", "--seed", "5", "-fcsv", "--format=json"), KERF_OK);
    assert_int_equal(values.top, 10);
    assert_true(values.share == 0.5);
    assert_int_equal(values.seed, 5);
    assert_string_equal(values.format, "json");
    assert_int_equal(values.verbose, 0);
}

/* What a second one would replace is another file or command, and no correction. */
static void test_a_second_one_is_refused(void **state) {
    (void)state;
    static const struct option texts[] = {
        {"prepare", 0, OPTION_ONE, AT(output), "COMMAND", NULL, 0, 0, "Runs before.", NULL}, {0}};
    static const struct command tune = {"tune", "measures", NULL, NULL, texts, NULL, 0, NULL, NULL, NULL};
    struct values values = {.output = "true"};
    REFUSED(KERF_EINVALID, "-o is given twice; this command writes one file", "--output=a", "-ob");
    refused(&tune, KERF_EINVALID, "--prepare is given twice, as 'a' and as 'b'; it takes one value",
            WORDS("--prepare=a", "--prepare", "b"));
    assert_int_equal(parse(&tune, &values, &(int32_t){0}, NULL, WORDS("--prepare", "a", "--prepare=a")), KERF_OK);
    assert_string_equal(values.output, "a");
}

static void test_lists_add_up_and_point_into_argv(void **state) {
    (void)state;
    struct values values = {0};
    const char *const words[] = {"m1", "--set", "a=1", "-", "--set=b=2", "--set", "c", "--", "--top", "--", NULL};
    int32_t help = 77;
    assert_int_equal(parse(&plan, &values, &help, NULL, words), KERF_OK);
    assert_int_equal(values.sets.count, 3);
    assert_ptr_equal(values.sets.items[0], words[2]);
    assert_string_equal(values.sets.items[1], "b=2");
    assert_string_equal(values.sets.items[2], "c");
    assert_int_equal(values.arguments.count, 4);
    assert_ptr_equal(values.arguments.items[0], words[0]);
    assert_string_equal(values.arguments.items[1], "-");
    assert_string_equal(values.arguments.items[2], "--top");
    assert_string_equal(values.arguments.items[3], "--");
    options_free(&plan, &values);
    assert_null(values.sets.items);
    assert_null(values.arguments.items);
    assert_int_equal(values.sets.count + values.arguments.count, 0);
    options_free(&plan, &values);
}

static void test_help_ends_the_reading(void **state) {
    (void)state;
    static const char *const lines[][5] = {{"--help"}, {"-h"}, {"x", "-v", "-h", "--frobnicate"}, {"--help", "--top"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct values values = {0};
        int32_t help = 77;
        assert_int_equal(parse(&plan, &values, &help, NULL, lines[i]), KERF_OK);
        assert_int_equal(help, 1);
        options_free(&plan, &values);
    }
    struct values values = {0};
    int32_t help = 77;
    assert_int_equal(parse(&plan, &values, &help, NULL, WORDS("--", "--help", "-h")), KERF_OK);
    assert_int_equal(help, 0);
    assert_int_equal(values.arguments.count, 2);
    options_free(&plan, &values);
    REFUSED(KERF_EINVALID, "--help takes no value, but was given 'top'", "--help=top");
    REFUSED(KERF_EUNKNOWN, "unknown option -help; did you mean --help?", "-help");
}

static void test_unknown_options_name_the_nearest(void **state) {
    (void)state;
    REFUSED(KERF_EUNKNOWN, "unknown option --formt; did you mean --format?", "a", "--set", "b", "--formt=csv");
    REFUSED(KERF_EUNKNOWN, "unknown option --hlep; did you mean --help?", "--hlep");
    REFUSED(KERF_EUNKNOWN, "unknown option -seed; did you mean --seed?", "-seed", "3");
    REFUSED(KERF_EUNKNOWN, "unknown option -verbose; did you mean --verbose?", "-verbose");
    REFUSED(KERF_EUNKNOWN, "unknown option --frobnicate; kerf plan --help lists the options", "--frobnicate");
    REFUSED(KERF_EUNKNOWN, "unknown option -x; kerf plan --help lists the options", "-x");
    REFUSED(KERF_EUNKNOWN, "unknown option --=3; kerf plan --help lists the options", "--=3");
    refused(&bare, KERF_EUNKNOWN, "unknown option --top; kerf bare --help lists the options", WORDS("--top"));
}

static void test_missing_values(void **state) {
    (void)state;
    REFUSED(KERF_EINVALID, "--top needs a value: a whole number between 1 and 1000", "a", "--top");
    REFUSED(KERF_EINVALID, "--top needs a value: a whole number between 1 and 1000", "--top", "--seed", "5");
    REFUSED(KERF_EINVALID, "--format needs a value: one of table, json or csv", "--format", "--top=3");
    REFUSED(KERF_EINVALID, "-o needs a value: FILE", "-o", "--help");
    REFUSED(KERF_EINVALID, "-o needs a value: FILE", "-o", "");
    REFUSED(KERF_EINVALID, "--output needs a value: FILE", "--output=");
    REFUSED(KERF_EINVALID, "--set needs a value: FIELD=VALUE", "--set", "--", "x");
    static const struct option nameless[] = {{"x", 0, OPTION_STRING, 0, NULL, NULL, 0, 0, "", NULL}, {0}};
    static const struct command command = {"y", "z", NULL, NULL, nameless, NULL, 0, NULL, NULL, NULL};
    refused(&command, KERF_EINVALID, "--x needs a value", WORDS("--x"));
    /* what only looks like an option is a value, and so is what follows "=" */
    struct values values = {0};
    assert_int_equal(PARSE(&values, "--output", "--other", "--shift", "-5", "--set=--top"), KERF_OK);
    assert_string_equal(values.output, "--other");
    assert_true(values.shift == -5);
    assert_string_equal(values.sets.items[0], "--top");
    options_free(&plan, &values);
}

static void test_values_where_none_belong(void **state) {
    (void)state;
    REFUSED(KERF_EINVALID, "--verbose takes no value, but was given '1'", "--verbose=1");
    REFUSED(KERF_EINVALID, "--verbose takes no value, but was given ''", "--verbose=");
    REFUSED(KERF_EINVALID, "-v takes no value, but was given 'n'", "-vn");
    refused(&serve, KERF_EINVALID, "kerf serve takes only options, and 'x' is not one", WORDS("x"));
    refused(&serve, KERF_EINVALID, "kerf serve takes only options, and '-p' is not one", WORDS("--", "-p"));
    int32_t help = 77;
    struct values values = {0};
    assert_int_equal(parse(&serve, &values, &help, NULL, WORDS("-p80")), KERF_OK);
    options_free(&serve, &values); /* has no list */
    assert_int_equal(values.top, 80);
    assert_int_equal(options_parse(&bare, 0, NULL, &values, &help, NULL), KERF_OK);
    options_free(&bare, &values);
}

static void test_integers(void **state) {
    (void)state;
    struct values values = {0};
    assert_int_equal(PARSE(&values, "--top", "1000", "--seed", "-9223372036854775808", "--level=9007199254740992"),
                     KERF_OK);
    assert_int_equal(values.top, 1000);
    assert_true(values.seed == INT64_MIN);
    assert_true(values.level == (int64_t)1 << 53);
    assert_int_equal(PARSE(&values, "--top", "0001", "--seed=9223372036854775807", "--stages=1"), KERF_OK);
    assert_int_equal(values.top, 1);
    assert_true(values.seed == INT64_MAX);

    static const char *const wrong[] = {"",   " 5",  "5 ",  "+5",  "0x10", "1e2", "1.0", "-",
                                        "--", "NaN", "inf", "1,0", "5x",   "x",   "\t5", "1e99"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct kerf_error err;
        int32_t help;
        assert_int_equal(parse(&plan, &values, &help, &err, WORDS("--top", wrong[i])), KERF_EINVALID);
        assert_int_equal(PARSE(&values, "--seed", wrong[i]), KERF_EINVALID);
    }
    REFUSED(KERF_EINVALID, "--top must be a whole number between 1 and 1000, not 'x'", "--top", "x");
    REFUSED(KERF_EINVALID, "-n must be a whole number between 1 and 1000, not '0'", "-n0");
    REFUSED(KERF_EINVALID, "--top must be a whole number between 1 and 1000, not '1001'", "--top=1001");
    REFUSED(KERF_EINVALID, "--top must be a whole number between 1 and 1000, not '99999999999999999999'", "--top",
            "99999999999999999999");
    REFUSED(KERF_EINVALID, "--top must be a whole number between 1 and 1000, not '18446744073709551617'", "--top",
            "18446744073709551617"); /* 2^64 + 1 */
    REFUSED(KERF_EINVALID, "--seed must be a whole number that fits 64 bits, not '184467440737095516170'",
            "--seed=184467440737095516170");
    REFUSED(KERF_EINVALID, "--seed must be a whole number, not '1e99'", "--seed=1e99");
    REFUSED(KERF_EINVALID, "--seed must be a whole number that fits 64 bits, not '9223372036854775808'",
            "--seed=9223372036854775808");
    REFUSED(KERF_EINVALID, "--seed must be a whole number that fits 64 bits, not '-9223372036854775809'",
            "--seed=-9223372036854775809");
    REFUSED(KERF_EINVALID, "--stages must be a whole number of at least 1, not '-99999999999999999999'",
            "--stages=-99999999999999999999");
    REFUSED(KERF_EINVALID, "--level must be a whole number of at most 9007199254740992, not '9007199254740993'",
            "--level=9007199254740993");
}

static void test_numbers(void **state) {
    (void)state;
    struct values values = {0};
    static const struct {
        const char *text;
        double value;
    } right[] = {{"0", 0}, {"-1.5", -1.5}, {".5", .5}, {"5.", 5}, {"1e3", 1000}, {"-2.5E-3", -0.0025}, {"1e+2", 100}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_int_equal(PARSE(&values, "--shift", right[i].text), KERF_OK);
        assert_true(values.shift == right[i].value);
    }
    static const char *const wrong[] = {"",         " 5",  "5 ",    "+5",     "0x10", "nan",  "inf", "-inf",
                                        "infinity", "1e",  "1e999", "1.2.3",  "1,5",  "-",    ".",   "5x",
                                        "1e5e",     "--5", "-+5",   "-1e999", "1d3",  "1_000"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(PARSE(&values, "--shift", wrong[i]), KERF_EINVALID);
    assert_int_equal(PARSE(&values, "--share=0", "--share=1", "--rate=1e-300"), KERF_OK);
    REFUSED(KERF_EINVALID, "--share must be a number between 0 and 1, not '1.1'", "--share", "1.1");
    REFUSED(KERF_EINVALID, "--share must be a number between 0 and 1, not '-0.1'", "--share", "-0.1");
    REFUSED(KERF_EINVALID, "--rate must be a number above 0, not '0'", "--rate=0");
    REFUSED(KERF_EINVALID, "--shift must be a number, not 'nan'", "--shift=nan");
}

static void test_choices(void **state) {
    (void)state;
    struct values values = {0};
    static const char *const right[] = {"table", "json", "csv"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(PARSE(&values, "--format", right[i]), KERF_OK);
        assert_string_equal(values.format, right[i]);
    }
    static const char *const wrong[] = {"", "tab", "tables", "json,csv", "able", ",", "CSV", "csv,", ",csv"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(PARSE(&values, "--format", wrong[i]), KERF_EUNKNOWN);
    REFUSED(KERF_EUNKNOWN, "--format must be one of table, json or csv, not 'jsn'", "--format=jsn");
}

static void test_errors_quote_the_beginning_of_long_input(void **state) {
    (void)state;
    char name[2048] = "--", value[2048] = "x"; /* of letters of two bytes */
    for (size_t i = 2; i + 2 < sizeof name; i += 2) memcpy(name + i, "\303\251", 3);
    for (size_t i = 1; i + 2 < sizeof value; i += 2) memcpy(value + i, "\303\251", 3);
    struct kerf_error err;
    struct values values = {0};
    int32_t help;
    char expected[256];
    assert_int_equal(parse(&plan, &values, &help, &err, WORDS(name)), KERF_EUNKNOWN);
    snprintf(expected, sizeof expected, "unknown option %.60s...; kerf plan --help lists the options", name);
    assert_string_equal(err.message, expected);
    assert_int_equal(parse(&plan, &values, &help, &err, WORDS("--share", value)), KERF_EINVALID);
    snprintf(expected, sizeof expected, "--share must be a number between 0 and 1, not '%.59s...'", value);
    assert_string_equal(err.message, expected);
    value[60] = 0; /* as long as what is quoted in full */
    value[59] = 'x';
    assert_int_equal(parse(&plan, &values, &help, &err, WORDS("--share", value)), KERF_EINVALID);
    snprintf(expected, sizeof expected, "--share must be a number between 0 and 1, not '%.60s'", value);
    assert_string_equal(err.message, expected);
}

static void test_durations(void **state) {
    (void)state;
    static const struct option waits[] = {
        {"wait", 'w', OPTION_DURATION, AT(share), "TIME", NULL, 0.001, 3600, "How long to wait.", NULL}, {0}};
    static const struct command command = {"x", "y", NULL, NULL, waits, NULL, 0, NULL, NULL, NULL};
    static const struct {
        const char *text;
        double seconds;
    } right[] = {{"5ms", 0.005}, {"1.5", 1.5}, {"90s", 90},    {"10m", 600},
                 {"10min", 600}, {"1h", 3600}, {"2m30s", 150}, {"2500us", 0.0025},
                 {".5s", 0.5},   {"1e3ms", 1}, {"3600", 3600}, {"1500\302\265s", 0.0015}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        struct values values = {0};
        assert_int_equal(parse(&command, &values, &(int32_t){0}, NULL, WORDS("--wait", right[i].text)), KERF_OK);
        assert_true(values.share == right[i].seconds);
    }
    static const char *const wrong[] = {"",   "s",    "5 ms", "-5s", "+5s",  "5S",  "5y",    "1h30",
                                        "1d", "0x1s", "inf",  "nan", "5ms ", "0ms", "0.1ms", "1e400s"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(parse(&command, &(struct values){0}, &(int32_t){0}, NULL, WORDS("--wait", wrong[i])),
                         KERF_EINVALID);
    refused(&command, KERF_EINVALID,
            "-w must be a time between 1ms and 1h, such as 500ms, 90s or 1h30m (a plain number is seconds), not 'soon'",
            WORDS("-w", "soon"));
}

/* ---- Options of some uses alone ---------------------------------------------------------------------------- */

static const struct option job_options[] = {
    {"limit", 0, OPTION_INTEGER, AT(top), "N", NULL, 1, 9, "How many rows.", "list,show"},
    {"format", 0, OPTION_STRING, AT(format), "FORMAT", NULL, 0, 0, "How to print.", NULL},
    {"seed", 0, OPTION_INTEGER, AT(seed), "N", NULL, 0, 0, "Where it begins.", "PROGRAM"},
    {"verbose", 'v', OPTION_FLAG, AT(verbose), NULL, NULL, 0, 0, "More rows.", "list,show"},
    {0}};
static const struct command_use uses[] = {
    {"list", "[list]"}, {"show", "show JOB"}, {"add", "add FILE"}, {"PROGRAM", "-- PROGRAM..."}, {NULL, NULL}};
static const struct command jobs = {"jobs", "keeps jobs",  NULL, NULL, job_options,
                                    NULL,   AT(arguments), uses, NULL, NULL};
static const struct command_use closed_uses[] = {{"list", "[list]"}, {"show", "show JOB"}, {NULL, NULL}};
static const struct command closed = {"jobs", "keeps jobs",  NULL,        NULL, job_options,
                                      NULL,   AT(arguments), closed_uses, NULL, NULL};

static void accepted(const struct command *command, const char *const *words) {
    struct values values = {0};
    assert_int_equal(parse(command, &values, &(int32_t){0}, NULL, words), KERF_OK);
    options_free(command, &values);
}

static void test_options_of_a_use(void **state) {
    (void)state;
    accepted(&jobs, WORDS("--limit", "3"));
    accepted(&jobs, WORDS("list", "--limit", "3", "-v"));
    accepted(&jobs, WORDS("--limit", "3", "show", "mine"));
    accepted(&jobs, WORDS("add", "mine", "--format", "json"));
    accepted(&jobs, WORDS("--seed", "3", "--", "./mine"));
    accepted(&closed, WORDS("nothing-known", "--limit", "3")); /* the command refuses the word itself */
    refused(&jobs, KERF_EINVALID, "`kerf jobs add` takes no --limit; list and show do",
            WORDS("add", "x", "--limit", "3"));
    refused(&jobs, KERF_EINVALID, "`kerf jobs ./mine` takes no --verbose; list and show do", WORDS("-v", "./mine"));
    refused(&jobs, KERF_EINVALID, "`kerf jobs show` takes no --seed; PROGRAM does", WORDS("show", "--seed", "3"));
    refused(&jobs, KERF_EINVALID, "`kerf jobs list` takes no --seed; PROGRAM does", WORDS("--seed", "3"));
    int32_t help = 0; /* which tells where the option belongs */
    struct values values = {0};
    assert_int_equal(parse(&jobs, &values, &help, NULL, WORDS("add", "--limit", "3", "--help")), KERF_OK);
    assert_int_equal(help, 1);
    options_free(&jobs, &values);
}

static void test_help_groups_options_by_use(void **state) {
    (void)state;
    struct kerf_text text = {0};
    command_help(&text, &jobs, 80, 0);
    assert_string_equal(text.data, "kerf jobs - keeps jobs\n"
                                   "\n"
                                   "Usage\n"
                                   "  kerf jobs [list] [options]\n"
                                   "  kerf jobs show JOB [options]\n"
                                   "  kerf jobs add FILE [options]\n"
                                   "  kerf jobs [options] -- PROGRAM...\n"
                                   "\n"
                                   "Options of list and show\n"
                                   "      --limit N        How many rows.\n"
                                   "  -v, --verbose        More rows.\n"
                                   "\n"
                                   "Other options\n"
                                   "      --format FORMAT  How to print.\n"
                                   "  -h, --help           Print this help.\n"
                                   "\n"
                                   "Options of PROGRAM\n"
                                   "      --seed N         Where it begins.\n");
    kerf_text_free(&text);
}

static void rule_is(const char *words, struct option option) {
    struct kerf_text text = {0};
    option_rule(&text, &option);
    assert_string_equal(text.data ? text.data : "", words);
    kerf_text_free(&text);
}

static void test_rules_in_words(void **state) {
    (void)state;
    struct option o = {.type = OPTION_INTEGER};
    rule_is("a whole number", o);
    o.minimum = -5, rule_is("a whole number between -5 and 0", o);
    o.minimum = -0x1p63, o.maximum = 0x1p63, rule_is("a whole number", o);
    o.maximum = 1048576, rule_is("a whole number of at most 1048576", o);
    o = (struct option){.type = OPTION_NUMBER, .minimum = 0, .maximum = INFINITY};
    rule_is("a number of at least 0", o);
    o.minimum = DBL_MIN, o.maximum = 0.1, rule_is("a number above 0 and at most 0.1", o);
    o = (struct option){.type = OPTION_CHOICE, .choices = "a"};
    rule_is("one of a", o);
    o.choices = "a,b", rule_is("one of a or b", o);
    o.choices = "a,b,c,d", rule_is("one of a, b, c or d", o);
    rule_is("", (struct option){.type = OPTION_STRING, .value = "FILE"});
    rule_is("", (struct option){.type = OPTION_FLAG});
}

static struct kerf_text help_of(const struct command *command, int32_t columns, int32_t bold) {
    struct kerf_text text = {0};
    command_help(&text, command, columns, bold);
    assert_int_equal(text.failed, 0);
    return text;
}

#define E5 "\303\251 \303\251 \303\251 \303\251 \303\251 " /* ten columns */

static void test_help_beside_and_below(void **state) {
    (void)state;
    struct kerf_text help = help_of(&serve, 80, 0);
    assert_string_equal(help.data, "kerf serve - answers over HTTP\n\nUsage\n  kerf serve [options]\n\nOptions\n"
                                   "  -p, --port VALUE  Where to listen.\n"
                                   "  -h, --help        Print this help.\n");
    kerf_text_free(&help);
    help = help_of(&serve, 40, 1);
    assert_string_equal(help.data, "\033[1mkerf serve\033[0m - answers over HTTP\n\n\033[1mUsage\033[0m\n"
                                   "  kerf serve [options]\n\n\033[1mOptions\033[0m\n"
                                   "  \033[1m-p, --port\033[0m VALUE\n        Where to listen.\n"
                                   "  \033[1m-h, --help\033[0m\n        Print this help.\n");
    kerf_text_free(&help);
    help = help_of(&plan, 66, 0);
    assert_non_null(strstr(help.data, "\n\nSearches layouts, e.g. Megatron's. Ranks them; see --a-b.\n\n.5 of a "));
    assert_non_null(strstr(help.data, "  -f, --format FORMAT    How to print it. [one of table, json or\n"
                                      "                         csv]\n"
                                      "      --set FIELD=VALUE  Replaces a field.\n"));
    assert_non_null(strstr(help.data, "\n\nExamples\n  Which is best?\n"
                                      "    kerf plan llama3-70b --top 3 --set 'name=a b' \\\n"
                                      "        --set \"note=c d\" -v\n\n  And all of them?\n"));
    kerf_text_free(&help);
    static const struct option wide[] = {
        {"a-name-that-is-longer-than-the-others", 0, OPTION_FLAG, 0, NULL, NULL, 0, 0, "Long.", NULL}, {0}};
    static const struct command command = {"x",  "y",  NULL, E5 E5 E5 E5 "\303\251", wide, no_questions, 0,
                                           NULL, NULL, NULL};
    help = help_of(&command, 40, 0);
    assert_non_null(strstr(help.data, "\n\n" E5 E5 E5 "\303\251 \303\251 \303\251 \303\251 \303\251\n\303\251\n"));
    assert_null(strstr(help.data, "Examples"));
    kerf_text_free(&help);
    help = help_of(&command, 80, 0);
    assert_non_null(strstr(help.data, "      --a-name-that-is-longer-than-the-others\n              Long.\n"
                                      "  -h, --help  Print this help.\n"));
    kerf_text_free(&help);
}

/* The text without escape sequences, backslashes at line ends and the widths of blanks. */
static void words_of(const struct kerf_text *text, char *words) {
    for (const char *c = text->data; *c; c++) {
        if (*c == '\033') {
            c = strchr(c, 'm');
        } else if (*c == ' ' || *c == '\n' || (*c == '\\' && c[1] == '\n')) {
            if (words[-1] != ' ') *words++ = ' ';
        } else {
            *words++ = *c;
        }
    }
    *words = 0;
}

static void test_help_says_the_same_at_every_width(void **state) {
    (void)state;
    char expected[8192] = " ", words[8192] = " ";
    struct kerf_text widest = help_of(&plan, 100, 0);
    words_of(&widest, expected + 1);
    for (int32_t columns = 40; columns <= 130; columns++) {
        struct kerf_text help = help_of(&plan, columns, 1), plain = help_of(&plan, columns, 0);
        words_of(&help, words + 1);
        assert_string_equal(words, expected);
        assert_null(strchr(plain.data, '\033'));
        for (char *line = strtok(plain.data, "\n"); line; line = strtok(NULL, "\n")) {
            assert_in_range(utf8_columns(line), 0, columns < 100 ? columns : 100);
            assert_int_not_equal(line[strlen(line) - 1], ' ');
        }
        kerf_text_free(&help);
        kerf_text_free(&plain);
    }
    struct kerf_text wider = help_of(&plan, 5000, 0), unknown = help_of(&plan, 0, 0), usual = help_of(&plan, 80, 0);
    assert_string_equal(wider.data, widest.data);
    assert_string_equal(unknown.data, usual.data);
    for (int32_t columns = -3; columns < 40; columns++) {
        struct kerf_text narrow = help_of(&plan, columns, 0);
        kerf_text_free(&narrow);
    }
    kerf_text_free(&wider), kerf_text_free(&unknown), kerf_text_free(&usual), kerf_text_free(&widest);
}

static void test_manual_page(void **state) {
    (void)state;
    struct kerf_text page = {0};
    command_mdoc(&page, &plan, "November 1, 2026");
    assert_int_equal(page.failed, 0);
    static const char *const parts[] = {
        ".Dd November 1, 2026\n.Dt KERF-PLAN 1\n.Os kerf " KERF_VERSION_TEXT "\n.Sh NAME\n.Nm kerf-plan\n"
        ".Nd the best layouts of a model\n.Sh SYNOPSIS\n.Nm kerf plan\n.Ar MODEL[,MODEL...]\n"
        ".Op Fl n | Fl Fl top Ar N\n.Op Fl Fl seed Ar N\n",
        ".Op Fl v | Fl Fl verbose\n.Sh DESCRIPTION\nSearches layouts, e.g.\\& Megatron's.\n"
        "Ranks them; see \\-\\-a\\-b.\n.Pp\n"
        "\\&.5 of a \\(dqcaf\\[u00E9]\\(dq \\e \\(ti1 is a \\(aqdot\\(aq.\n.Sh OPTIONS\n.Bl -tag -width Ds\n"
        ".It Fl n , Fl Fl top Ar N\nHow many to print; default 10.\nA whole number between 1 and 1000.\n",
        ".It Fl Fl share Ar X\nA share, default 0.5.\nA number between 0 and 1.\n",
        "\nWhere to write; \\- is the terminal.\n.It Fl f , Fl Fl format Ar FORMAT\n"
        "How to print it.\nOne of table, json or csv.\n",
        "\n.It Fl v , Fl Fl verbose\nSays more.\n.It Fl h , Fl Fl help\nPrint this help.\n.El\n.Sh EXIT "
        "STATUS\n",
        ".It 0\nanswered\n.It 1\nno feasible answer\n.It 2\nbad usage or input\n.It 3\nfailed while running\n"
        ".It 130\ninterrupted with Ctrl-C\n.El\n.Sh EXAMPLES\nWhich is best?\n.Bd -literal -offset indent\n"
        "kerf plan llama3\\-70b \\-\\-top 3 \\-\\-set \\(aqname=a b\\(aq \\-\\-set \\(dqnote=c d\\(dq "
        "\\-v\n.Ed\n",
        "\n.Pp\nAnd all of them?\n",
        "\n.Ed\n.Sh SEE ALSO\n.Xr kerf 1\n"};
    const char *from = page.data;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *found = strstr(from, parts[i]);
        if (found == NULL) fail_msg("not in the page, or not in this order: %s\n%s", parts[i], page.data);
        from = found + strlen(parts[i]) - 1;
    }
    assert_string_equal(from, "\n");
    kerf_text_free(&page);
}

static void test_manual_page_keeps_roff_out(void **state) {
    (void)state;
    static const struct option odd[] = {
        {"scale-up", 0, OPTION_STRING, 0, "Ar , \"N\"", NULL, 0, 0,
         "'quoted words come first and are as many as one line of the source holds .br follows.", NULL},
        {0}};
    static const char *const examples[] = {".Sh?", ".hidden `x` ^", NULL};
    static const struct command command = {"x", "Nm . \"y\" \377 \200 \303", NULL, NULL, odd, examples, 0, NULL, NULL,
                                           NULL};
    struct kerf_text page = {0};
    command_mdoc(&page, &command, "November 1, 2026");
    assert_non_null(strstr(page.data, "\n.Nd \\&Nm \\&. \\(dqy\\(dq \\[uFFFD] \\[uFFFD] \\[uFFFD]\n"));
    assert_non_null(strstr(page.data, "\n.It Fl Fl scale\\-up Ar \\&Ar \\&, \\(dqN\\(dq\n\\(aqquoted words"));
    assert_non_null(strstr(page.data, "\n\\&.br follows.\n"));
    assert_non_null(strstr(page.data, "\n\\&.Sh?\n.Bd -literal -offset indent\n\\&.hidden \\(gax\\(ga \\(ha\n.Ed\n"));
    for (const char *c = page.data; *c; c++) assert_in_range((unsigned char)*c, '\n', '~');
    kerf_text_free(&page);
    command_mdoc(&page, &bare, "November 1, 2026");
    assert_non_null(strstr(page.data, ".Nm kerf bare\n.Sh DESCRIPTION\nhas no options\n.Sh OPTIONS\n"));
    assert_null(strstr(page.data, "EXAMPLES"));
    kerf_text_free(&page);
}

static void test_bash_completion(void **state) {
    (void)state;
    static const struct option odd[] = {{"mode", 'm', OPTION_CHOICE, 0, "MODE", "it's,$(x)", 0, 0, "Mode.", NULL}, {0}};
    static const struct command help = {"help", "explains", NULL, NULL, odd, NULL, 0, NULL, NULL, NULL};
    const struct command *const commands[] = {&plan, &serve, &bare, &help};
    struct kerf_text script = {0};
    commands_bash(&script, commands, 3);
    assert_non_null(strstr(script.data, "\n        _kerf_words plan serve bare help\n"));
    assert_non_null(strstr(script.data, "\n    'plan --format' | 'plan -f') _kerf_words table json csv ;;\n"));
    assert_non_null(strstr(script.data, "\n    'plan --top' | 'plan -n') _kerf_words ;;\n"));
    assert_non_null(strstr(script.data, "\n    'plan --share') _kerf_words ;;\n"));
    assert_non_null(strstr(script.data, "\n    'plan --output' | 'plan -o') ;;\n    'plan --format'"));
    assert_non_null(strstr(script.data, "\n    'plan --set') _kerf_words ;;\n    'serve --port' | 'serve -p') "));
    assert_null(strstr(script.data, "'plan --verbose'"));
    assert_non_null(strstr(script.data,
                           "\n        'plan  -'*) _kerf_words --top --seed --stages --level --share --rate "
                           "--shift --output --format --set --verbose --help ;;\n"));
    assert_non_null(strstr(script.data, "\n        'bare  -'*) _kerf_words --help ;;\n"));
    assert_non_null(strstr(script.data, "\ncomplete -o bashdefault -o default -F _kerf kerf\n"));
    kerf_text_clear(&script);
    const struct command *const with_uses[] = {&jobs};
    commands_bash(&script, with_uses, 1);
    assert_non_null(strstr(script.data, "\n    jobs) uses=(list show add) ;;\n"));
    assert_non_null(
        strstr(script.data, "\n        'jobs show -'*) _kerf_words --limit --format --verbose --help ;;\n"));
    assert_non_null(strstr(script.data, "\n        'jobs add -'*) _kerf_words --format --help ;;\n"));
    assert_non_null(strstr(script.data, "\n        'jobs  -'*) _kerf_words --format --seed --help ;;\n"));
    kerf_text_clear(&script);
    commands_bash(&script, commands, 4);
    assert_non_null(strstr(script.data, "\n        _kerf_words plan serve bare help\n"));
    assert_non_null(strstr(script.data, "[[ ${COMP_WORDS[1]} == help && $current != -* ]]"));
    assert_non_null(strstr(script.data, "\n        'help  -'*) _kerf_words --mode --help ;;\n"));
    assert_non_null(strstr(script.data, "'help --mode' | 'help -m') _kerf_words 'it'\\''s' '$(x)' ;;\n"));
    kerf_text_free(&script);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form_of_an_option),
        cmocka_unit_test(test_defaults_stay_and_later_values_win),
        cmocka_unit_test(test_a_second_one_is_refused),
        cmocka_unit_test(test_lists_add_up_and_point_into_argv),
        cmocka_unit_test(test_help_ends_the_reading),
        cmocka_unit_test(test_unknown_options_name_the_nearest),
        cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_values_where_none_belong),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_errors_quote_the_beginning_of_long_input),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_options_of_a_use),
        cmocka_unit_test(test_help_groups_options_by_use),
        cmocka_unit_test(test_rules_in_words),
        cmocka_unit_test(test_help_beside_and_below),
        cmocka_unit_test(test_help_says_the_same_at_every_width),
        cmocka_unit_test(test_manual_page),
        cmocka_unit_test(test_manual_page_keeps_roff_out),
        cmocka_unit_test(test_bash_completion),
    };
    return cmocka_run_group_tests_name("option", tests, NULL, NULL);
}
