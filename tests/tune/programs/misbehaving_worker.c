/* SPDX-License-Identifier: Apache-2.0 */
/* HOW: a worker that answers every question with n / 100 s, apart from those with n = 3, where it does as HOW says. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void misbehave(const char *how, int id) {
    if (strcmp(how, "dies") == 0) exit(0);
    if (strcmp(how, "killed") == 0) raise(SIGKILL);
    if (strcmp(how, "hangs") == 0)
        for (;;) pause();
    if (strcmp(how, "wrong-id") == 0) printf("{\"id\":%d,\"value\":0.001}\n", id + 1000);
    if (strcmp(how, "twice") == 0) printf("{\"id\":%d,\"value\":0.03}\n{\"id\":%d,\"value\":99}\n", id, id);
    if (strcmp(how, "memory") == 0) printf("{\"id\":%d,\"error\":\"CUDA out of memory\"}\n", id);
    if (strcmp(how, "error") == 0)
        printf("{\"id\":%d,\"value\":1,\"error\":\"no such kernel\",\"kind\":\"crash\"}\n", id);
    if (strcmp(how, "text") == 0) printf("{\"id\":%d,\"value\":\"fast\"}\n", id);
    if (strcmp(how, "neither") == 0) printf("{\"id\":%d}\n", id);
    if (strcmp(how, "nan") == 0) printf("{\"id\": %d, \"value\": NaN}\n", id);
    if (strcmp(how, "huge") == 0) {
        for (int i = 0; i < 3 << 20; i++) putchar('x');
        printf("\n{\"id\":%d,\"value\":0.03}\n", id);
    }
    if (strcmp(how, "stopped") == 0) raise(SIGSTOP);
    if (strcmp(how, "censored") == 0) printf("{\"id\":%d,\"censored\":0.01}\n", id);
    if (strcmp(how, "negative-time") == 0) printf("{\"id\":%d,\"value\":0.03,\"start_s\":2,\"end_s\":1}\n", id);
    if (strcmp(how, "negative") == 0) printf("{\"id\":%d,\"value\":-1}\n", id);
    if (strcmp(how, "clock") == 0)
        printf("noise\n[1]\n{\"id\":%d,\"value\":0.03,\"start_s\":1000,\"end_s\":1000.5,\"more\":{}}\n", id);
    if (strcmp(how, "dies-after") == 0) {
        printf("{\"id\":%d,\"value\":0.03}\n", id);
        exit(0);
    }
    if (strcmp(how, "partial") == 0) {
        printf("{\"id\":%d,\"val", id);
        fflush(stdout);
        raise(SIGSEGV);
    }
    if (strcmp(how, "child") == 0) {
        if (fork() == 0)
            for (;;) pause();
        exit(4);
    }
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    char line[4096];
    if (strcmp(how, "hangs-in-load") == 0)
        for (;;) pause();
    if (strcmp(how, "dies-in-load") == 0) {
        fprintf(stderr, "no model.gguf here\n");
        return 2;
    }
    printf("{\"ready\":true,\"model\":\"none\"}\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        const char *id = strstr(line, "\"id\":"), *n = strstr(line, "\"n\":"), *limit = strstr(line, "\"limit_s\":");
        if (!id || !n) return 5;
        double value = atoi(n + 4) / 100.0, limit_s = limit ? strtod(limit + 10, NULL) : 0;
        if (atoi(n + 4) == 3)
            misbehave(how, atoi(id + 5));
        else if (limit && limit_s < value)
            printf("{\"id\":%d,\"censored\":%g}\n", atoi(id + 5), limit_s);
        else
            printf("{\"id\":%d,\"value\":%g}\n", atoi(id + 5), value);
        fflush(stdout);
    }
    return 0;
}
