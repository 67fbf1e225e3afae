# shellcheck shell=sh
# Words that cases use; a case reads this file first.

# Ends a case that this machine cannot run.
skip() {
    echo "skipped: $*"
    exit 77
}

# Cases that need a terminal make one with script(1), which in turn needs /dev/pts.
needs_terminal() {
    command -v script >/dev/null || skip "no script(1), of bsdutils, to make a terminal"
    script -q -e -c true typescript </dev/null >/dev/null 2>&1 || skip "script(1) cannot make a terminal here"
}

# ask ARGUMENT...: runs kerf; shows the command, its standard output, its standard error after "! ", and its status
# unless that is 0.
ask() {
    echo "\$ kerf $*"
    answer "$@"
}

answer() {
    status=0
    "$KERF" "$@" >.out 2>.err || status=$?
    cat .out
    sed 's/^/! /' .err
    [ "$status" = 0 ] || echo "[exit $status]"
}

# refused ARGUMENT...: what kerf says to bad input, which is one line on standard error, status 2 and nothing else.
refused() {
    status=0
    timeout "$guard" "$KERF" "$@" >.out 2>.err || status=$?
    cat .err
    [ "$status" = 2 ] || echo "(but the status is $status: kerf $*)"
    [ "$(wc -l <.err)" = 1 ] || echo "(but these are $(wc -l <.err) lines: kerf $*)"
    [ ! -s .out ] || echo "(but there is an answer on standard output: kerf $*)"
}

# Every value of the JSON on standard input as a line PATH=VALUE, or what is wrong with it; the version is masked.
json() {
    awk -f "$DATA/json.awk" | sed 's/^kerf="[0-9.]*"$/kerf="VERSION"/'
}

# The same for a stream with one JSON value a line, each path after the number of its line: 3:PATH=VALUE.
json_lines() {
    awk -v lines=1 -f "$DATA/json.awk"
}

# Whether this kerf was built with a sanitizer, which needs more time and memory.
sanitized() {
    grep -q -e __asan_init -e __tsan_init "$KERF"
}

# Seconds after which a program hangs, and is ended; far more than a slow machine needs.
guard=300

# until_true COMMAND...: waits until it is; gives up once it must be a mistake.
until_true() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        if [ "$tries" = 6000 ]; then
            echo "(waited in vain: $*)"
            return 1
        fi
        sleep 0.05
    done
}

# catches_interrupts PROCESS: whether it is kerf, no longer the shell or env before it, and catches SIGINT. Of /proc.
catches_interrupts() {
    awk -v name="$(basename "$KERF")" '
        /^Name:/ { kerf = $2 == name }
        /^SigCgt:/ { caught = index("2367abefABEF", substr($2, length($2))) > 0 }
        END { exit !(kerf && caught) }' "/proc/$1/status"
}

# has_worked PROCESS TICKS: whether it has had so much of a processor, in hundredths of a second.
has_worked() { [ "$(awk '{ print $14 }' "/proc/$1/stat")" -ge "$2" ]; }

# endless ARGUMENT...: kerf plan with a sweep that begins with quick searches and then takes minutes, as many numbers
# divide 166,320. It can be interrupted even in the background, where commands begin with SIGINT ignored.
endless() {
    exec env --default-signal=INT "$KERF" plan gpt3 "$DATA/vast.json" -s a100 -n 64,166320 -b 166320 --strategy summa \
        --scale-up-size 720..166320:+720 --set memory_capacity_bytes=1e30 --top 1 --threads 1 "$@"
}
