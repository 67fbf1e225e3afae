/* SPDX-License-Identifier: Apache-2.0 */
/* Journals of studies: what is written is read back, whatever happened in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "study/study_journal.h"
#include "study/study_request.h"

static char folder[64];

static const char *params[] = {"batch=16..128:x2", "kv=f16,q8_0"}, *wheres[] = {"batch > 16"},
                  *words[] = {"./bench", "-b", "{batch}", "{kv}"};

static struct kerf_study_request usual(void) {
    struct kerf_study_request request;
    kerf_study_request_defaults(&request);
    request.params = (struct kerf_study_strings){params, 2};
    request.wheres = (struct kerf_study_strings){wheres, 1};
    request.words = (struct kerf_study_strings){words, 4};
    request.defaults = "batch=64,kv=f16";
    request.within = 0.025;
    request.seed = INT64_C(9007199254740991);
    return request;
}

static struct kerf_study_entry entry(int32_t setting, double value) {
    struct kerf_study_entry entry = {.why = "because \"it\" may be the best \xC3\xA9"};
    entry.result.observation =
        (struct kerf_tune_observation){.setting = setting, .value = value, .start_s = 1, .end_s = 1 + fabs(value)};
    entry.result.wall_s = value;
    entry.result.load_s = 0.25;
    entry.result.cpu_s = NAN;
    entry.result.machine = (struct kerf_trial_machine){
        .others = 0.5, .between = 0.25, .steal = NAN, .pressure = 0.125, .frequency = NAN, .processors = 2};
    return entry;
}

static struct study_journal *begin(char id[KERF_STUDY_ID_SIZE], const struct kerf_tune_space **ret_space) {
    static struct kerf_tune_space *space;
    struct kerf_study_request request = usual();
    struct study_journal *journal = NULL;
    struct kerf_error err;
    kerf_tune_space_free(space);
    assert_int_equal(kerf_study_request_space(&request, &space, &err), KERF_OK);
    assert_int_equal(study_journal_create(&request, id, &journal, &err), KERF_OK);
    *ret_space = space;
    return journal;
}

static void add(struct study_journal *journal, const struct kerf_tune_space *space, int32_t setting, double value) {
    struct kerf_study_entry one = entry(setting, value);
    assert_int_equal(study_journal_add(journal, space, &one, NAN, NULL), KERF_OK);
}

static struct kerf_study_record *read_back(const char *id) {
    struct kerf_study_record *record = NULL;
    struct kerf_error err = {.message = ""};
    if (kerf_study_record_read(id, &record, &err) != KERF_OK) fail_msg("%s", err.message);
    return record;
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    char id[KERF_STUDY_ID_SIZE] = "";
    const struct kerf_tune_space *space;
    struct study_journal *journal = begin(id, &space);
    assert_true(strlen(id) > 15);
    add(journal, space, 0, 0.1);
    struct kerf_study_entry failed = entry(3, 0);
    failed.result.observation.outcome = KERF_TUNE_FAILED;
    failed.result.observation.failure = KERF_TUNE_FAILURE_MEMORY;
    failed.result.observation.disturbed = 1;
    snprintf(failed.result.message, sizeof failed.result.message, "CUDA out of memory");
    assert_int_equal(study_journal_add(journal, space, &failed, NAN, NULL), KERF_OK);
    assert_int_equal(study_journal_stop(journal, "budget", "its time is spent", 12.5, 7, NULL), KERF_OK);
    study_journal_close(journal);

    struct kerf_study_record *record = read_back(id);
    assert_string_equal(record->id, id);
    assert_int_equal(record->num_entries, 2);
    assert_string_equal(record->stopped, "budget");
    assert_string_equal(record->reason, "its time is spent");
    assert_true(record->elapsed_s == 12.5);
    assert_int_equal(record->loads, 7);
    assert_int_equal(record->request.params.count, 2);
    assert_string_equal(record->request.params.items[1], params[1]);
    assert_string_equal(record->request.words.items[3], words[3]);
    assert_string_equal(record->request.defaults, "batch=64,kv=f16");
    assert_null(record->request.prefer);
    assert_true(record->request.within == 0.025);
    assert_true(record->request.seed == INT64_C(9007199254740991));
    assert_int_equal(record->space->num_settings, 6);
    const struct kerf_study_entry *first = &record->entries[0], *second = &record->entries[1];
    assert_true(first->result.observation.value == 0.1);
    assert_true(first->result.observation.end_s == 1.1);
    assert_string_equal(first->why, entry(0, 0).why);
    assert_true(isnan(first->result.cpu_s) && isnan(first->result.machine.steal));
    assert_true(first->result.machine.others == 0.5 && first->result.load_s == 0.25);
    assert_true(first->result.machine.between == 0.25);
    assert_int_equal(second->result.observation.setting, 3);
    assert_int_equal(second->result.observation.outcome, KERF_TUNE_FAILED);
    assert_int_equal(second->result.observation.failure, KERF_TUNE_FAILURE_MEMORY);
    assert_int_equal(second->result.observation.disturbed, 1);
    assert_string_equal(second->result.message, "CUDA out of memory");
    kerf_study_record_free(record);
}

static void path_of(const char *id, char path[256]) { snprintf(path, 256, "%s/%s.jsonl", folder, id); }

static off_t size_of(const char *path) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_size;
}

/* A study that is killed does not tell how long it ran: the trials of a worker, which may have any clock, add up; all
 * others are by kerf's clock. */
static void a_killed_study_ran_as_long_as_its_trials(void **state) {
    (void)state;
    static const struct {
        const char *protocol;
        int32_t slots;
        double elapsed_s;
    } cases[] = {{"worker", 1, 4 + 3 + 2 * 0.25}, {"worker", 2, 1 + 4}, {"exit", 1, 1 + 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char id[KERF_STUDY_ID_SIZE] = "";
        struct kerf_study_request request = usual();
        struct kerf_tune_space *space;
        struct study_journal *journal;
        request.protocol = cases[i].protocol;
        request.slots = cases[i].slots;
        assert_int_equal(kerf_study_request_space(&request, &space, NULL), KERF_OK);
        assert_int_equal(study_journal_create(&request, id, &journal, NULL), KERF_OK);
        add(journal, space, 0, 4);
        add(journal, space, 1, 3);
        study_journal_close(journal);
        struct kerf_study_record *record = read_back(id);
        assert_true(record->elapsed_s == cases[i].elapsed_s);
        kerf_study_record_free(record);
        kerf_tune_space_free(space);
    }
}

/* What two slots measured at the same time was decided without each other's results. */
static void slots_decide_with_what_was_known(void **state) {
    (void)state;
    static const struct {
        double start_s, end_s;
        int knows_nothing;
    } times[] = {{1, 3, 1}, {2, 4, 1}, {3.5, 5, 0}};
    char id[KERF_STUDY_ID_SIZE] = "";
    struct kerf_study_request request = usual();
    struct kerf_tune_space *space;
    struct study_journal *journal;
    struct kerf_tune_decision decisions[4];
    request.slots = 2;
    request.defaults = NULL;
    assert_int_equal(kerf_study_request_space(&request, &space, NULL), KERF_OK);
    assert_int_equal(study_journal_create(&request, id, &journal, NULL), KERF_OK);
    for (int32_t i = 0; i < 3; i++) {
        struct kerf_study_entry one = entry(i, times[i].end_s - times[i].start_s);
        one.result.observation.start_s = times[i].start_s;
        one.result.observation.end_s = times[i].end_s;
        one.result.observation.slot = i % 2;
        assert_int_equal(study_journal_add(journal, space, &one, NAN, NULL), KERF_OK);
    }
    study_journal_close(journal);
    struct kerf_study_record *record = read_back(id);
    assert_int_equal(kerf_study_decisions(record, NULL, decisions, NULL), KERF_OK);
    for (int32_t i = 0; i < 3; i++)
        assert_int_equal(strstr(decisions[i].reason, "nothing is known yet") != NULL, times[i].knows_nothing);
    assert_int_not_equal(decisions[2].setting, 1); /* it runs */
    kerf_study_record_free(record);
    kerf_tune_space_free(space);
}

/* What no run can have measured is told with the journal's name. */
static void an_impossible_time_is_told(void **state) {
    (void)state;
    char id[KERF_STUDY_ID_SIZE] = "";
    const struct kerf_tune_space *space;
    struct study_journal *journal = begin(id, &space);
    struct kerf_study_state *study = NULL;
    struct kerf_error err;
    add(journal, space, 0, -1);
    study_journal_close(journal);
    struct kerf_study_record *record = read_back(id);
    assert_int_equal(kerf_study_replay(record, NULL, &study, &err), KERF_EINVALID);
    assert_string_equal(err.file, record->path);
    kerf_study_record_free(record);
}

/* A study that goes on has not ended, even before its next measurement. */
static void a_resumed_study_has_not_ended(void **state) {
    (void)state;
    char id[KERF_STUDY_ID_SIZE] = "";
    const struct kerf_tune_space *space;
    struct study_journal *journal = begin(id, &space);
    add(journal, space, 0, 0.1);
    assert_int_equal(study_journal_stop(journal, "budget", "its time is spent", 12.5, 7, NULL), KERF_OK);
    study_journal_close(journal);
    struct kerf_study_record *record = read_back(id);
    assert_int_equal(study_journal_resume(record, &journal, NULL), KERF_OK);
    study_journal_close(journal);
    kerf_study_record_free(record);
    record = read_back(id);
    assert_string_equal(record->stopped, "");
    assert_true(record->elapsed_s == 12.5);
    kerf_study_record_free(record);
}

/* Wherever a crash cuts the last line, the ones before it count, and the study goes on. */
static void a_line_cut_off_is_taken_away(void **state) {
    (void)state;
    char id[KERF_STUDY_ID_SIZE] = "cut", path[256];
    const struct kerf_tune_space *space;
    struct study_journal *journal = begin(id, &space);
    add(journal, space, 0, 0.1);
    path_of(id, path);
    off_t one = size_of(path);
    add(journal, space, 1, 0.2);
    study_journal_close(journal);
    off_t two = size_of(path);
    for (off_t cut = two - 1; cut > one; cut -= 7) {
        assert_int_equal(truncate(path, cut), 0);
        struct kerf_study_record *record = read_back(id);
        assert_int_equal(record->num_entries, 1);
        assert_string_equal(record->stopped, "");
        assert_true(fabs(record->elapsed_s - 1.1) < 1e-12);
        assert_int_equal(study_journal_resume(record, &journal, NULL), KERF_OK);
        kerf_study_record_free(record);
        add(journal, space, 2, 0.3);
        study_journal_close(journal);
        record = read_back(id);
        assert_int_equal(record->num_entries, 2);
        assert_int_equal(record->entries[1].result.observation.setting, 2);
        kerf_study_record_free(record);
    }
}

static void two_do_not_write_to_one(void **state) {
    (void)state;
    char id[KERF_STUDY_ID_SIZE] = "locked";
    const struct kerf_tune_space *space;
    struct study_journal *journal = begin(id, &space), *second = NULL;
    struct kerf_error err;
    struct kerf_study_record *record = read_back(id);
    assert_int_equal(study_journal_resume(record, &second, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "another kerf"));
    study_journal_close(journal);
    assert_int_equal(study_journal_resume(record, &second, &err), KERF_OK);
    study_journal_close(second);
    kerf_study_record_free(record);
}

static void names_are_names(void **state) {
    (void)state;
    static const char *const bad[] = {".", "../x", "a/b", "a b", "-x", "\xC3\xA9"};
    struct kerf_study_request request = usual();
    struct study_journal *journal = NULL;
    struct kerf_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char id[KERF_STUDY_ID_SIZE];
        snprintf(id, sizeof id, "%s", bad[i]);
        assert_int_equal(study_journal_create(&request, id, &journal, &err), KERF_EINVALID);
    }
    char id[KERF_STUDY_ID_SIZE] = "twice";
    assert_int_equal(study_journal_create(&request, id, &journal, &err), KERF_OK);
    study_journal_close(journal);
    assert_int_equal(study_journal_create(&request, id, &journal, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "--resume"));
}

/* A full disk: the line that found no room is not there, the ones before it are. */
static void a_full_disk_leaves_whole_lines(void **state) {
    (void)state;
    char id[KERF_STUDY_ID_SIZE] = "full", path[256];
    const struct kerf_tune_space *space;
    struct study_journal *journal = begin(id, &space);
    add(journal, space, 0, 0.1);
    path_of(id, path);
    off_t one = size_of(path);
    struct rlimit before, room;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    room = before;
    room.rlim_cur = (rlim_t)one + 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &room), 0);
    struct kerf_study_entry next = entry(1, 0.2);
    struct kerf_error err;
    assert_int_equal(study_journal_add(journal, space, &next, NAN, &err), KERF_EIO);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    study_journal_close(journal);
    assert_true(size_of(path) == one);
    struct kerf_study_record *record = read_back(id);
    assert_int_equal(record->num_entries, 1);
    kerf_study_record_free(record);
}

static void refused(const char *text, const char *message) {
    char path[256];
    struct kerf_study_record *record = NULL;
    struct kerf_error err;
    path_of("foreign", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_not_equal(kerf_study_record_read("foreign", &record, &err), KERF_OK);
    if (strstr(err.message, message) == NULL) fail_msg("%s", err.message);
}

static void what_is_no_journal_is_refused(void **state) {
    (void)state;
    struct kerf_study_record *record = NULL;
    struct kerf_error err;
    assert_int_equal(kerf_study_record_read("nowhere", &record, &err), KERF_EUNKNOWN);
    refused("", "no header line");
    refused("{\"journal\":1", "no header line");
    refused("[1]\n", "a JSON object");
    refused("{\"a\":1}\n", "of version 1");
    refused("{\"journal\":2}\n", "of version 1");
    refused("{\"journal\":1,\"request\":{\"params\":[1],\"protocol\":\"exit\",\"objective\":\"wall\"}}\n",
            "of the wrong type");
    refused("{\"journal\":1,\"journal\":1}\n", "duplicate object key");
    refused("{\"journal\":1e400}\n", "overflow");
    assert_int_not_equal(kerf_study_record_read("/dev/zero", &record, &err), KERF_OK);
    assert_string_equal(err.message, "/dev/zero: a device, not the journal of a study");
}

/* What is missing was not known when the journal was written; what is of another type is not passed over. */
static void members_of_other_types_are_refused(void **state) {
    static const char head[] =
        "{\"journal\":1,\"request\":{\"params\":[\"n=1..4\"],\"protocol\":\"exit\",\"objective\":\"wall\",\"within\":0."
        "03,"
        "\"margin\":0.05,\"confidence\":0.95,\"load_timeout_s\":0,\"trial_timeout_s\":0,\"slots\":1%s}}\n"
        "{\"n\":1,\"setting\":\"n=1\",\"outcome\":\"failed\"%s}\n";
    static const struct {
        const char *request, *entry, *message;
    } wrong[] = {
        {",\"wheres\":\"n<3\"", "", "\"wheres\" in the first line is"},
        {",\"defaults\":1", "", "\"defaults\" in the first line is"},
        {",\"seed\":\"1\"", "", "\"seed\" in the first line is"},
        {",\"warmups\":4294967297", "", "\"warmups\" in the first line is"},
        {"", ",\"disturbed\":1", "\"disturbed\" must be true or false"},
        {"", ",\"end_s\":\"2\"", "\"end_s\" must be a number"},
        {"", ",\"failure\":\"tired\"", "\"failure\" is not a kind of failure"},
        {"", ",\"start_s\":3,\"end_s\":2.5", "\"end_s\" 2.5 is before \"start_s\" 3"},
    };
    char text[1024], path[256];
    struct kerf_study_record *record = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, head, wrong[i].request, wrong[i].entry);
        refused(text, wrong[i].message);
    }
    path_of("foreign", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, head, ",\"wheres\":[\"n < 3\"],\"defaults\":null", ",\"disturbed\":true,\"end_s\":2");
    fclose(file);
    assert_int_equal(kerf_study_record_read("foreign", &record, NULL), KERF_OK);
    assert_int_equal(record->space->num_settings, 2);
    assert_int_equal(record->entries[0].result.observation.disturbed, 1);
    kerf_study_record_free(record);
}

/* Writes the lines of a journal anew, by their indexes, and reads that. */
static void refused_in_order(const char *id, const int *order, int count, int line, const char *message) {
    char path[256], lines[8][1024];
    struct kerf_study_record *record = NULL;
    struct kerf_error err;
    path_of(id, path);
    FILE *file = fopen(path, "r");
    int num = 0;
    assert_non_null(file);
    while (num < 8 && fgets(lines[num], sizeof lines[num], file)) num++;
    fclose(file);
    path_of("reordered", path);
    file = fopen(path, "w");
    for (int i = 0; i < count; i++) {
        assert_true(order[i] < num);
        fputs(lines[order[i]], file);
    }
    fclose(file);
    assert_int_equal(kerf_study_record_read("reordered", &record, &err), KERF_EINVALID);
    assert_string_equal(err.message, message);
    assert_int_equal(err.line, line);
    assert_string_equal(err.file, path);
}

/* A journal that lost lines, or was joined from two, is no basis for an answer. */
static void gaps_and_doubles_are_refused(void **state) {
    (void)state;
    char id[KERF_STUDY_ID_SIZE] = "ordered";
    const struct kerf_tune_space *space;
    struct study_journal *journal = begin(id, &space);
    for (int32_t i = 0; i < 3; i++) add(journal, space, i, 0.1);
    study_journal_close(journal);
    refused_in_order(id, (int[]){0, 1, 3}, 3, 3, "measurement 3 follows measurement 1: lines are missing");
    refused_in_order(id, (int[]){0, 1, 2, 2, 3}, 5, 4, "measurement 2 appears twice");
    refused_in_order(id, (int[]){0, 1, 0, 2}, 4, 3, "a second header line: were two journals joined?");
}

/* What the environment is, and in which order, as far as it is looked at. */
static void the_environment_is_in_the_key(void **state) {
    (void)state;
    static const char *const always[] = {"CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "OMP_PLACES"};
    static const char *names[] = {"KERF_TEST_MODE,KERF_TEST_HOME", "KERF_TEST_OTHER"}, *bad[] = {"A,,B"};
    char key[KERF_STUDY_KEY_SIZE], again[KERF_STUDY_KEY_SIZE];
    struct kerf_study_request request = usual();
    struct kerf_error err;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) unsetenv(always[i]);
    study_key(&request, key);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        setenv(always[i], "7", 1);
        study_key(&request, again);
        assert_string_not_equal(key, again);
        unsetenv(always[i]);
    }
    setenv("KERF_TEST_HOME", "/a", 1);
    study_key(&request, again);
    assert_string_equal(key, again); /* nobody named it */
    request.key_env = (struct kerf_study_strings){names, 2};
    study_key(&request, again);
    assert_string_not_equal(key, again);
    setenv("KERF_TEST_OTHER", "b", 1);
    study_key(&request, key);
    unsetenv("KERF_TEST_HOME");
    setenv("KERF_TEST_HOME", "/a", 1); /* by now behind the other one */
    study_key(&request, again);
    assert_string_equal(key, again);
    assert_int_equal(study_key_check(&request, &err), KERF_OK);
    request.key_env = (struct kerf_study_strings){bad, 1};
    assert_int_equal(study_key_check(&request, &err), KERF_EINVALID);
    unsetenv("KERF_TEST_HOME");
    unsetenv("KERF_TEST_OTHER");
}

static void a_rebuilt_program_is_another_one(void **state) {
    (void)state;
    char path[256], key[KERF_STUDY_KEY_SIZE], again[KERF_STUDY_KEY_SIZE];
    path_of("program", path);
    struct kerf_study_request request = usual();
    const char *own[] = {path, "{batch}", "{kv}"};
    request.words = (struct kerf_study_strings){own, 3};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    study_key(&request, key);
    study_key(&request, again);
    assert_string_equal(key, again);
    request.seed = 5;
    request.within = 0.01;
    study_key(&request, again); /* how exact an answer is asked for makes no other measurements */
    assert_string_equal(key, again);
    file = fopen(path, "w");
    fputs("new", file);
    fclose(file);
    study_key(&request, again);
    assert_string_not_equal(key, again);
    study_key(&request, key);
    request.objective = "cpu";
    study_key(&request, again);
    assert_string_not_equal(key, again);
    request = usual();
    study_key(&request, key);
    own[0] = "./bench-b", own[1] = "{batch}";
    request.words = (struct kerf_study_strings){own, 2};
    study_key(&request, again);
    assert_string_not_equal(key, again);
}

/* Another grid of the same parameters: what is in both counts, failures don't. */
static void earlier_measurements_are_found(void **state) {
    (void)state;
    char id[KERF_STUDY_ID_SIZE] = "earlier";
    const struct kerf_tune_space *space;
    struct study_journal *journal = begin(id, &space);
    add(journal, space, 0, 0.1); /* batch=32, kv=f16 */
    add(journal, space, 5, 0.2); /* batch=128, kv=q8_0 */
    struct kerf_study_entry stopped = entry(5, 0.3);
    stopped.result.observation.outcome = KERF_TUNE_CENSORED;
    assert_int_equal(study_journal_add(journal, space, &stopped, NAN, NULL), KERF_OK);
    struct kerf_study_entry failed = entry(2, 0);
    failed.result.observation.outcome = KERF_TUNE_FAILED;
    assert_int_equal(study_journal_add(journal, space, &failed, NAN, NULL), KERF_OK);
    study_journal_close(journal);
    static const char *wider[] = {"batch=64..512:x2", "kv=q8_0,f16"};
    struct kerf_tune_space *other = NULL;
    assert_int_equal(kerf_tune_space_create(wider, 2, NULL, 0, NULL, &other, NULL), KERF_OK);
    const char *ids[] = {"earlier", "gone"};
    struct study_earlier earlier;
    const struct kerf_study_strings both = {ids, 2};
    assert_int_equal(study_earlier_load(&both, NULL, other, 0, &earlier, NULL), KERF_OK);
    assert_int_equal(earlier.count, 2);
    assert_int_equal(earlier.missing.count, 1);
    assert_string_equal(earlier.missing.items[0], "gone");
    study_earlier_free(&earlier);
    assert_int_equal(study_earlier_load(&both, "another program's", other, 0, &earlier, NULL), KERF_OK);
    assert_int_equal(earlier.count, 0);
    assert_int_equal(earlier.missing.count, 2);
    study_earlier_free(&earlier);
    assert_int_equal(study_earlier_load(&both, NULL, other, 1, &earlier, NULL), KERF_OK);
    assert_int_equal(earlier.count, 1);
    assert_int_equal(earlier.studies, 1);
    assert_true(earlier.items[0].value == 0.2);
    struct kerf_text text = {0};
    kerf_tune_setting_write(other, earlier.items[0].setting, &text);
    assert_string_equal(text.data, "batch=128,kv=q8_0");
    kerf_text_free(&text);
    study_earlier_free(&earlier);
    kerf_tune_space_free(other);

    struct kerf_study_request request = usual();
    struct kerf_study_strings found;
    assert_int_equal(study_earlier_ids(&request, &found, NULL), KERF_OK);
    int32_t times = 0;
    for (int32_t i = 0; i < found.count; i++) times += strcmp(found.items[i], "earlier") == 0;
    assert_int_equal(times, 1);
    kerf_study_ids_free(&found);
    request.objective = "cpu";
    assert_int_equal(study_earlier_ids(&request, &found, NULL), KERF_OK);
    assert_int_equal(found.count, 0);
    kerf_study_ids_free(&found);
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/kerf-studies-XXXXXX");
    return mkdtemp(folder) && setenv("KERF_STUDIES", folder, 1) == 0 ? 0 : -1;
}

static int empty_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* The second objective's numbers are kept beside the first one's; a journal that lacks one is refused. */
static void both_objectives_are_read_back(void **state) {
    (void)state;
    char id[KERF_STUDY_ID_SIZE] = "", path[256], name[KERF_STUDY_NAME_SIZE];
    struct kerf_study_request request = usual();
    struct kerf_tune_space *space;
    struct study_journal *journal;
    struct kerf_study_record *record;
    struct kerf_study_state *study;
    struct kerf_tune_front front = {.size = sizeof front};
    struct kerf_error err;
    int32_t maximize;
    request.objective = "json:s and more a.b subject to memory <= 8GB";
    request.defaults = NULL;
    assert_int_equal(kerf_study_request_second(&request, name, &maximize), 1);
    assert_string_equal(name, "a.b");
    assert_int_equal(maximize, 1);
    assert_string_equal(kerf_study_second_unit(name), "");
    assert_string_equal(kerf_study_second_unit("memory"), "B");
    assert_int_equal(kerf_study_request_space(&request, &space, &err), KERF_OK);
    assert_int_equal(study_journal_create(&request, id, &journal, &err), KERF_OK);
    struct kerf_study_entry one = entry(0, 0.5), failed = entry(1, 0);
    failed.result.observation.outcome = KERF_TUNE_FAILED;
    assert_int_equal(study_journal_add(journal, space, &one, 12.5, NULL), KERF_OK);
    assert_int_equal(study_journal_add(journal, space, &failed, NAN, NULL), KERF_OK);
    study_journal_close(journal);
    record = read_back(id);
    assert_true(record->seconds[0] == 12.5 && isnan(record->seconds[1]));
    assert_int_equal(kerf_study_replay(record, NULL, &study, &err), KERF_OK);
    assert_true(study->seconds[0] == 12.5 && study->num_entries == 2);
    assert_int_equal(kerf_tune_study_front(study->study, &front, &err), KERF_OK);
    assert_int_equal(front.num, 1);
    kerf_study_state_free(study);
    kerf_study_record_free(record);
    path_of(id, path);
    FILE *file = fopen(path, "a");
    fputs("{\"n\":3,\"setting\":\"batch=32,kv=f16\",\"outcome\":\"value\",\"value\":1}\n", file);
    fclose(file);
    assert_int_equal(kerf_study_record_read(id, &record, &err), KERF_ESYNTAX);
    assert_non_null(strstr(err.message, "a.b"));
    assert_int_equal(err.line, 4);
    kerf_tune_space_free(space);
    request.objective = "regex:(x and less y)"; /* of the expression itself */
    assert_int_equal(kerf_study_request_second(&request, name, &maximize), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read_back, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(both_objectives_are_read_back, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(a_killed_study_ran_as_long_as_its_trials, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(slots_decide_with_what_was_known, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(an_impossible_time_is_told, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(a_resumed_study_has_not_ended, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(a_line_cut_off_is_taken_away, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(two_do_not_write_to_one, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(names_are_names, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_whole_lines, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(what_is_no_journal_is_refused, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(members_of_other_types_are_refused, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(gaps_and_doubles_are_refused, make_folder, empty_folder),
        cmocka_unit_test(the_environment_is_in_the_key),
        cmocka_unit_test_setup_teardown(a_rebuilt_program_is_another_one, make_folder, empty_folder),
        cmocka_unit_test_setup_teardown(earlier_measurements_are_found, make_folder, empty_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
