#!/bin/sh
# A reader who has seen enough is no error: no words, no hang.
. "$DATA/case.sh"
sweep() { "$KERF" plan gpt3,gpt3_1t -s a100,b200 -n 64..1024:x2 -b 1024 --top 1000 --cost-model reference "$@"; }
lines() { yes "$good" 2>/dev/null | "$KERF" estimate --lines; }
good='{"model":"gpt3","system":"h200","global_batch":512,"layout":{"dp":2,"tp1":4,"pp":8}}'

# The status is 141 (SIGPIPE) or, where that signal is ignored, 0.
ended() {
    case $(cat status) in
    0 | 141) echo "quiet" ;;
    *) echo "exit $(cat status)" ;;
    esac
    cat err
}
first() {
    { "$@" 2>err; echo $? >status; } | head -n 1 | cut -c 1-50
    ended
}
sweep --format csv >whole.csv
[ "$(wc -c <whole.csv)" -gt 1000000 ] || echo "(too little for a pipe to be full)"
for format in table json csv markdown; do
    echo "== $format"
    first sweep --format $format
done
echo "== where SIGPIPE is ignored"
(trap '' PIPE; first sweep --format csv)
(trap '' PIPE; first sweep -o - --format json)
echo "== nobody reads at all"
mkfifo nobody
{ sweep --format csv >nobody 2>err; echo $? >status; } &
: <nobody
wait
ended
echo "== a stream of requests"
first lines
(trap '' PIPE; first lines)
