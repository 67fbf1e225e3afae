/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/clock.h"

static int open_counter(void) {
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.type = PERF_TYPE_HARDWARE;
    attr.size = sizeof attr;
    attr.config = PERF_COUNT_HW_INSTRUCTIONS;
    attr.disabled = 1;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

struct measure measure_least(int runs, void (*work)(void *context), void *context) {
    struct measure best = {1e300, 0};
    int counter = open_counter();
    for (int i = 0; i < runs; i++) {
        int64_t instructions = 0;
        if (counter >= 0) {
            ioctl(counter, PERF_EVENT_IOC_RESET, 0);
            ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
        }
        double began_s = clock_ticks_s();
        work(context);
        double seconds = clock_ticks_s() - began_s;
        if (counter >= 0) {
            ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
            if (read(counter, &instructions, sizeof instructions) != sizeof instructions) instructions = 0;
        }
        if (seconds < best.seconds) best = (struct measure){seconds, instructions};
    }
    if (counter >= 0) close(counter);
    return best;
}

static int64_t count_rounds(const char *program, const char *option, int rounds) {
    char command[4096], line[512];
    long long instructions = 0;
    snprintf(command, sizeof command,
             "valgrind --tool=callgrind --callgrind-out-file=/dev/null %s %s %d 2>&1 >/dev/null", program, option,
             rounds);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL) return 0;
    while (fgets(line, sizeof line, pipe)) {
        const char *found = strstr(line, "Collected : ");
        if (found) sscanf(found, "Collected : %lld", &instructions);
    }
    return pclose(pipe) == 0 ? instructions : 0;
}

int64_t measure_valgrind(const char *program, const char *option) {
    int64_t one = count_rounds(program, option, 1), two = count_rounds(program, option, 2);
    return one > 0 && two > one ? two - one : 0;
}
