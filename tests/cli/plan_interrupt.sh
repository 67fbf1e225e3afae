#!/bin/sh
# SIGINT (Ctrl-C) and SIGTERM end a search early: it prints what is known, and the status is 130.
. "$DATA/case.sh"
catches_interrupts() { awk '/^SigCgt:/ { exit index("2367abefABEF", substr($2, length($2))) == 0 }' "/proc/$1/status"; }

# stop SIGNAL ARGUMENT...: starts a search that would take minutes, and stops it once it has caught its signals
stop() {
    signal=$1
    shift
    # commands in the background begin with SIGINT ignored
    env --default-signal=INT "$KERF" plan gpt3_1t,vit_era5,gpt3 -s a100,b200,h200 --scale-up-size 4,8,16,32,64 \
        -n 64..16384:+64 -b 4096 "$@" >out 2>err &
    kerf=$!
    until_true catches_interrupts $kerf
    sleep 0.4
    kill -0 $kerf 2>/dev/null || echo "(was over before it was stopped)"
    kill -s "$signal" $kerf
    status=0
    wait $kerf || status=$?
    echo "exit $status"
    sed 's/^/! /' err
}

for signal in INT TERM; do
    echo "== SIG$signal"
    stop $signal --top 1 --format json --strategy 1d
    json <out >paths
    grep -c '^not JSON' paths
    # some searches are over, some are not and say so; all are there
    sed -n 's/.*complete=/complete=/p' paths | sort -u
    grep -c 'gpus=' paths
    grep -q 'plans\[0\].throughput' paths && echo "something is known"
done

echo "== a table, and files"
stop INT --top 1 -o known.csv -o known.txt -o known.svg
head -n 1 known.csv | cut -c 1-40
grep -e 'not known yet' known.txt | head -n 1 | sed 's/  */ /g'
tail -c 7 known.svg

echo "== a stream of requests"
mkfifo questions
env --default-signal=INT "$KERF" estimate --lines <questions >out 2>err &
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
