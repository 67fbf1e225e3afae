/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launch_flags.h"

#include <string.h>
#include "launch/launch_table.h"

const struct launch_flags *launch_flags_of(enum kerf_framework framework) {
    static const struct launch_flags *const tables[KERF_FRAMEWORK_COUNT] = {
        [KERF_FRAMEWORK_MEGATRON] = &launch_flags_megatron,
        [KERF_FRAMEWORK_MEGATRON_DEEPSPEED] = &launch_flags_megatron_deepspeed,
        [KERF_FRAMEWORK_TORCHTITAN] = &launch_flags_torchtitan,
        [KERF_FRAMEWORK_NANOTRON] = &launch_flags_nanotron,
    };
    return (uint32_t)framework < KERF_FRAMEWORK_COUNT ? tables[framework] : NULL;
}

const struct launch_flag *launch_flags_find(const struct launch_flags *flags, const char *key) {
    for (const struct launch_flag *flag = flags->flags; flag->key; flag++)
        if (launch_key_equal(flag->key, key)) return flag;
    return NULL;
}

static int32_t index_of(const struct launch_flags *flags, const char *version) {
    int32_t i = 0;
    while (flags->versions[i] && strcmp(flags->versions[i], version) != 0) i++;
    return i;
}

int32_t launch_version(enum kerf_framework framework, const char *version, int32_t *ret_index, struct kerf_error *err) {
    const struct launch_flags *flags = launch_flags_of(framework);
    if (flags == NULL && version)
        return kerf_error_set(err, KERF_EINVALID, "kerf knows no versions of %s", kerf_framework_name(framework));
    *ret_index = 0;
    if (flags == NULL) return KERF_OK;
    int32_t count = 0;
    while (flags->versions[count]) count++;
    *ret_index = count - 1;
    if (version == NULL) return KERF_OK;
    const char *number = version;
    if (strncmp(number, "core_", 5) == 0) number += 5;
    number += *number == 'v' || *number == 'r';
    for (int32_t i = 0; i < count; i++) {
        const char *of = flags->versions[i];
        size_t length = strlen(number);
        int is_same = strcmp(of, number) == 0 || (strncmp(of, number, length) == 0 && strcmp(of + length, ".0") == 0);
        if (!is_same) continue;
        *ret_index = i;
        return KERF_OK;
    }
    struct kerf_text names = {0};
    for (int32_t i = 0; i < count; i++) kerf_text_printf(&names, "%s%s", i ? ", " : "", flags->versions[i]);
    int32_t code = kerf_error_set(err, KERF_EUNKNOWN, "kerf knows no %s %.40s; it knows %s",
                                  kerf_framework_name(framework), version, names.data ? names.data : "");
    kerf_text_free(&names);
    return code;
}

int launch_version_reaches(const struct launch_flags *flags, int32_t version, const char *since) {
    return index_of(flags, since) <= version;
}

int launch_version_has(const struct launch_flags *flags, int32_t version, const struct launch_flag *flag) {
    return launch_version_reaches(flags, version, flag->since) &&
           (flag->until == NULL || version <= index_of(flags, flag->until));
}

const char *const *kerf_framework_versions(enum kerf_framework framework) {
    const struct launch_flags *flags = launch_flags_of(framework);
    return flags ? flags->versions : NULL;
}
