#!/bin/sh
# Memory does not grow with the number of requests.
. "$DATA/case.sh"
[ -r /proc/self/status ] || skip "no /proc"
first=1000 last=200000 growth=1024 # KiB
if sanitized; then last=10000 growth=16384; fi
# freed memory is kept back by AddressSanitizer unless it is told not to
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=0:malloc_context_size=0
export ASAN_OPTIONS
good='{"model":"gpt3","system":"h200","global_batch":512,"layout":{"dp":2,"tp1":4,"pp":8}}'
inline='{"model":{"hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":8,"num_attention_heads":16},"system":"a100","global_batch":64,"seq_length":1024,"layout":{"dp":8},"layers":true}'
bad='{"model":"gpt3","system":"h200","globl_batch":512,"layout":{}}'
requests() { yes "$good
hello
$bad
$good
$bad
$inline
hello
$bad" | head -n "$1"; }
mkfifo questions answers marks
"$KERF" estimate --lines <questions >answers &
kerf=$!
grep --line-buffered -n -o 'mark[0-9]' <answers >marks &
exec 3>questions 4<marks
resident() { awk "/^$1:/ { print \$2 }" /proc/$kerf/status; }
# ask_for COUNT MARK: sends requests, and waits until the last is answered
ask_for() {
    { requests $(($1 - 1)) && echo "{\"$2\":0}"; } >&3
    read -r mark <&4
    echo "$mark"
}
ask_for $first mark1
before=$(resident VmRSS)
ask_for $((last - first)) mark2 | sed "s/^$last:/all:/"
after=$(resident VmHWM)
exec 3>&-
wait $kerf
echo "exit $?"
if [ $((after - before)) -lt $growth ]; then echo "no growth"; else echo "$before KiB after $first lines, $after KiB after $last"; fi
