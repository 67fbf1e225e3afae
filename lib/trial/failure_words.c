/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/failure_words.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include "base/utf8.h"

enum { LOOKED_AT = 4096 };

/* Of C and C++ libraries, CUDA, HIP, Vulkan, Metal, SYCL, ggml, PyTorch, JAX, Python, Java, Go, Rust. */
static const char *const memory_words[] = {
    "out of memory",         "outofmemory",          "out of device memory",
    "out_of_memory",         "outofdevicememory",    "out_of_device_memory",
    "outofhostmemory",       "out_of_host_memory",   "failed to allocate",
    "failed to alloc ",      "unable to allocate",   "cannot allocate memory",
    "can't allocate memory", "could not allocate",   "couldn't allocate",
    "not enough memory",     "insufficient memory",  "std::bad_alloc",
    "bad_array_new_length",  "memory allocation of", "memory allocation failed",
    "allocation failure",    "alloc_failed",         "cudaerrormemoryallocation",
    "memoryerror",           "resource_exhausted",   "failed to map segment",
};

int says_out_of_memory(const char *line) {
    char lower[LOOKED_AT];
    size_t length = strnlen(line, LOOKED_AT - 1);
    for (size_t i = 0; i < length; i++)
        lower[i] = (char)(line[i] >= 'A' && line[i] <= 'Z' ? line[i] - 'A' + 'a' : line[i]);
    lower[length] = 0;
    for (size_t i = 0; i < sizeof memory_words / sizeof memory_words[0]; i++)
        if (strstr(lower, memory_words[i])) return 1;
    return 0;
}

void status_words(int wait_status, char *words, size_t size) {
    if (WIFSIGNALED(wait_status)) {
        const char *name = sigabbrev_np(WTERMSIG(wait_status));
        if (name)
            snprintf(words, size, "ended by SIG%s", name);
        else
            snprintf(words, size, "ended by signal %d", WTERMSIG(wait_status));
    } else {
        snprintf(words, size, "ended with status %d", WEXITSTATUS(wait_status));
    }
}

void quote_line(const char *line, char *words, size_t size) {
    while (*line == ' ' || *line == '\t') line++;
    size_t length = strnlen(line, size - 1);
    memcpy(words, line, length);
    while (length > 0 && (words[length - 1] == ' ' || words[length - 1] == '\t')) length--;
    words[length] = 0;
    utf8_clean(words);
}
