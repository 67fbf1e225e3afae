#!/bin/sh
# SIGINT (Ctrl-C) and SIGTERM end a search early: it prints what is known, and the status is 130.
. "$DATA/case.sh"
[ -r /proc/self/status ] || skip "no /proc"
if sanitized; then enough=300; else enough=100; fi # hundredths of a second of work, after which something is known

# stop SIGNAL ARGUMENT...: starts a search that would take minutes, and stops it once it has caught its signals
stop() {
    signal=$1
    shift
    endless "$@" >out 2>err &
    kerf=$!
    until_true catches_interrupts $kerf
    until_true has_worked $kerf $enough
    kill -s "$signal" $kerf
    status=0
    wait $kerf || status=$?
    echo "exit $status"
    sed 's/^/! /' err
}

for signal in INT TERM; do
    echo "== SIG$signal"
    stop $signal --format json
    json <out >paths
    grep '^not JSON' paths
    echo "$(grep -c '\.gpus=' paths) searches"
    sed -n 's/.*complete=/complete=/p' paths | sort -u
    # the first is over, the last was not begun
    grep -F -e 'searches[0].candidates' -e 'searches[0].complete' -e 'searches[0].plans[0].throughput' paths
    sed -n '/^searches.923.*scale_up_size/,$p' paths
done

echo "== a table and other formats"
stop INT -o known.csv -o known.txt -o known.md -o known.svg
head -n 2 known.csv | cut -c 1-40
sed -n '4p' known.txt
sed -n 's/^Interrupted: [1-9][0-9,]* /Interrupted: N /p' known.txt
grep 'before the interruption' known.md | tail -n 1
tail -c 7 known.svg

echo "== one search, nothing known"
env --default-signal=INT "$KERF" plan "$DATA/vast.json" -s a100 -n 166320 -b 166320 --scale-up-size 166320 \
    --set memory_capacity_bytes=1 --threads 1 --strategy seqp >out 2>err &
kerf=$!
until_true catches_interrupts $kerf
kill -s INT $kerf
wait $kerf
echo "exit $?"
tr -s ' \n' ' ' <out | grep -q -e 'before the interruption' -e 'Interrupted' && echo "and says so"

echo "== a stream of requests"
rm out
mkfifo questions
env --default-signal=INT "$KERF" estimate --lines --cost-model reference <questions >out 2>err &
kerf=$!
exec 3>questions
echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{}}' >&3
until_true test -s out
kill -s INT $kerf
status=0
wait $kerf || status=$?
echo "exit $status"
cat err
cut -c 1-50 out
