/* SPDX-License-Identifier: Apache-2.0 */
#include "kerf/call.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"
#include "base/json_read.h"
#include "call/call_verb.h"

enum { OPTIONS_SIZE_MAX = 4096 }; /* of kerf_call_options, in any version */

static int32_t read_format(const struct call_verb *verb, const char *format, enum answer_format *ret_format,
                           struct kerf_error *err) {
    static const char *const words[] = {[ANSWER_JSON] = "json",
                                        [ANSWER_SVG] = "svg",
                                        [ANSWER_HTML] = "html",
                                        [ANSWER_TEXT] = "text",
                                        [ANSWER_CSV] = "csv"};
    *ret_format = ANSWER_JSON;
    for (size_t i = 0; format && i < sizeof words / sizeof *words; i++)
        if (strcmp(format, words[i]) == 0 && list_has(verb->formats, format)) {
            *ret_format = (enum answer_format)i;
            return KERF_OK;
        }
    if (format == NULL) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s has no answer as '%.40s', only as %s", verb->form.command.name,
                          format, verb->formats);
}

/* Of a program that was built with another version's header: members that it lacks are 0; members that this version lacks
 * must be 0, as what they ask for would be ignored. */
static int32_t take_options(const struct kerf_call_options *given, struct kerf_call_options *ret_options,
                            struct kerf_error *err) {
    const char *bytes = (const char *)given;
    if (given == NULL) return KERF_OK;
    if (given->size < sizeof given->size || given->size > OPTIONS_SIZE_MAX)
        return kerf_error_set(err, KERF_EINVALID,
                              "the member size of kerf_call_options must be the size of the struct");
    for (size_t i = sizeof *ret_options; i < given->size; i++)
        if (bytes[i] != 0)
            return kerf_error_set(err, KERF_EUNSUPPORTED, "libkerf %s is older than the program: an option is unknown",
                                  kerf_version());
    memcpy(ret_options, given, given->size < sizeof *ret_options ? given->size : sizeof *ret_options);
    return KERF_OK;
}

int32_t kerf_call(const char *name, const char *text, size_t length, const struct kerf_call_options *options,
                  char **ret_answer, struct kerf_error *err) {
    struct kerf_call_options said = {.size = sizeof said};
    struct call_request request = {.options = &said};
    struct json_document document;
    struct json_object root;
    struct kerf_text out = {0};
    assert(name && text && ret_answer);
    const struct call_verb *verb = call_verb_find(name, err);
    if (verb == NULL) return KERF_EUNKNOWN;
    int32_t code = take_options(options, &said, err);
    if (code != KERF_OK) return code;
    request.sources.catalogue_only = !said.files;
    request.sources.trace = said.trace;
    code = read_format(verb, said.format, &request.format, err);
    if (code != KERF_OK) return code;
    code = json_document_parse(&document, text, length, "request", &root, err);
    if (code == KERF_OK) code = call_request_read(&request, &verb->form, &root, err);
    json_document_free(&document);
    if (code == KERF_OK) code = verb->answer(&verb->form.command, &request, &out, err);
    if (code == KERF_OK && out.failed) code = error_no_memory(err, "the answer");
    if (code == KERF_OK) {
        kerf_text_write(&out, "", 0);
        *ret_answer = out.data;
    } else {
        kerf_text_free(&out);
    }
    call_request_free(&request);
    return code;
}

void kerf_call_free(char *answer) { free(answer); }
