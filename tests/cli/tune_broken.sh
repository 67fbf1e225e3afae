#!/bin/sh
# What breaks in the middle of a study costs what it breaks, and nothing that is known.
. "$DATA/case.sh"
. "$DATA/tune.sh"
observations() { grep '"n":' "studies/$1.jsonl"; }
measured() { [ -s "studies/$1.jsonl" ] && [ "$(observations "$1" | wc -l)" -ge "$2" ]; }
# told FILE: how a study ended, and that what was measured is in it
told() {
    grep -oE '"stopped":"[a-z_]*","reason":"[^"]*"' "$1" | sed "s|$PWD|FOLDER|g"
    grep -q '"best":{"setting"' "$1" && echo "with what is known"
}
# The last line of a journal, which closes it.
closed() { tail -1 "studies/$1.jsonl" | grep -oE '"stopped":"[a-z_]*"'; }
# slow N STUDY: once the study has five lines, it removes itself where it is called gone, else waits for the file "go".
cat >slow <<'END'
#!/bin/sh
[ "$(wc -l <studies/$2.jsonl)" -ge 5 ] || exit 0
case $0 in
*/gone) rm -f "$0" ;;
*) until [ -e go ]; do sleep 0.05; done ;;
esac
END
chmod +x slow

echo "== the program vanishes"
cp slow gone
status=0
"$KERF" tune --param n=1..4 --fresh --interference ignore --policy exhaustive --study vanished --format json -- ./gone '{n}' vanished >out || status=$?
echo "status $status"
told out
closed vanished

echo "== no descriptor is left"
if command -v prlimit >/dev/null; then
    # a sanitizer needs descriptors to look for leaks
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 "$KERF" tune --param n=1..4 --fresh --interference ignore --policy exhaustive --study descriptors --format json -- ./slow '{n}' descriptors >out 2>err &
    kerf=$!
    until_true measured descriptors 4
    prlimit --pid $kerf --nofile=6:6
    : >go
    status=0
    wait $kerf || status=$?
    cat err
    echo "status $status"
    told out
    closed descriptors
else
    cat <<'END'
status 1
"stopped":"budget","reason":"the last 5 trials failed: ./slow cannot be started: Too many open files"
with what is known
"stopped":"budget"
END
fi

echo "== what prepares it fails from some time on"
status=0
"$KERF" tune --param n=1..4 --fresh --interference ignore --policy exhaustive --study prepared --format json \
    --prepare '[ $(wc -l <studies/prepared.jsonl) -lt 4 ] || { echo the disk is away >&2; exit 3; }' -- ./slow '{n}' prepared >out || status=$?
echo "status $status"
told out
closed prepared

for signal in TERM HUP; do
    echo "== SIG$signal"
    # shellcheck disable=SC2086
    SIMULATED_WAIT="3 never 1" env --default-signal="$signal" "$KERF" tune $grid --protocol worker --interference ignore --fresh --study "by$signal" --format json -- "$worker" >out &
    kerf=$!
    until_true measured "by$signal" 3
    kill -s "$signal" $kerf
    status=0
    wait $kerf || status=$?
    echo "status $status"
    told out
    closed "by$signal"
done
echo "== after nohup SIGHUP is nobody's"
# shellcheck disable=SC2086
SIMULATED_WAIT="3 hung_up 1" nohup "$KERF" tune $grid --protocol worker --interference ignore --fresh --study nohup --max-observations 8 --format json -- "$worker" >out 2>/dev/null &
kerf=$!
until_true measured nohup 3
kill -s HUP $kerf
echo >hung_up
status=0
wait $kerf || status=$?
echo "status $status"
observations nohup | wc -l

echo "== a worker that is killed again and again: its clock goes on"
# shellcheck disable=SC2086
"$KERF" tune $grid --protocol worker --interference ignore --fresh --study killed --max-observations 14 --format json -- "$worker" --dies-after 3 >out || :
observations killed | grep -c '"outcome":"failed","failure":"crash"'
observations killed | grep -v '"outcome":"failed"' | sed -E 's/.*"start_s":([0-9.e-]+),"end_s":([0-9.e-]+),.*/\1 \2/' |
    awk '$1 < end { print "back from " end " to " $1 } { end = $2 } END { print (end > 3 ? "by its own seconds" : "by others") }'

echo "== lines of a worker that are no answer go to standard error, and nothing beside the answer to standard output"
for way in clock twice wrong-id; do
    echo "-- $way"
    rm -f err
    env --default-signal=INT "$KERF" tune --param n=3 --fresh --no-journal --interference ignore --protocol worker --max-observations 2 \
        --trial-timeout 1h --format json -- "$(dirname "$worker")/misbehaving_worker" $way >out 2>err &
    kerf=$!
    if [ $way = wrong-id ]; then # it never answers
        until_true grep -qs '"id"' err
        kill -s INT $kerf
    fi
    wait $kerf || :
    sed -E 's/"id":[0-9]+/"id":N/' err | sort -u
    wc -l <out
done

echo "== what could not run is none to choose from"
tunes --fresh --no-journal -- "$worker" --out-of-memory 512 | grep -oE 'within 3 % of the best of .* with a'
"$KERF" tune --param n=1..6 --param kind=good,bad,odd --fresh --no-journal --interference ignore --objective 'regex:took ([0-9.]+)' --format json \
    -- sh -c '[ {kind} != bad ] || exit 3; echo took {n}' >out
grep -oE '"reason":"kind=bad failed in [0-9]+ of [0-9]+ settings"' out | sed 's/[0-9][0-9]*/N/g' | sort -u

echo "== a worker that never says that it is ready"
"$KERF" tune --param n=1..6 --fresh --no-journal --interference ignore --protocol worker --load-timeout 1s --format json -- sleep 60 >out || echo "status $?"
grep -oE '"stopped":"[a-z_]*"|"reason":"the last 2 trials failed: .*once it has loaded"' out

echo "== a worker that cannot always load: no setting is left out for it"
cat >loads.sh <<'END_OF_LOADS'
# Loads every other time, and answers twice then.
runs=$(($(cat loads 2>/dev/null || echo 0) + 1))
echo $runs >loads
[ $((runs % 2)) = 0 ] || { echo "CUDA error: out of memory" >&2; exit 1; }
echo '{"ready":true}'
for i in 1 2; do
    read -r line || exit 0
    id=${line#*\"id\":}; id=${id%%,*}
    n=${line#*\"n\":}; n=${n%%[,\}]*}
    echo "{\"id\":$id,\"value\":$n}"
done
END_OF_LOADS
"$KERF" tune --param n=1..4 --fresh --study loads --interference ignore --protocol worker --policy exhaustive --format json -- sh loads.sh >out || :
grep -oE '"status":"[a-z_]*"' out | sort | uniq -c | sed 's/^ *//'
observations loads | grep '"failure":"memory"' | grep -c '"warmup":true'
grep -c '"skipped' studies/loads.jsonl
echo "== one that never does ends the study, whatever the policy"
"$KERF" tune --param n=1..4 --fresh --no-journal --interference ignore --protocol worker --policy exhaustive --format json -- sh -c 'echo no model here >&2; exit 1' >out || echo "status $?"
grep -oE '"(stopped|reason)":"[^"]+"|"observations":[0-9]+' out | head -3
"$KERF" tune --param n=1..4 --fresh --no-journal --interference ignore --protocol worker --policy exhaustive --format json -- sh -c 'echo CUDA error: out of memory >&2; exit 1' >out || echo "status $?"
grep -oE '"(stopped|reason)":"[^"]+"|"observations":[0-9]+' out | head -3
cat >once.sh <<'END_OF_ONCE'
# Answers thrice in its first life, and never loads again.
[ ! -e once ] || { echo the device is gone >&2; exit 1; }
: >once
echo '{"ready":true}'
for i in 1 2 3; do
    read -r line || exit 0
    id=${line#*\"id\":}; id=${id%%,*}
    echo "{\"id\":$id,\"value\":$i}"
done
END_OF_ONCE
"$KERF" tune --param n=1..4 --fresh --no-journal --interference ignore --protocol worker --policy exhaustive --format json -- sh once.sh >out || echo "status $?"
grep -oE '"(stopped|reason)":"[^"]+"|"observations":[0-9]+' out | head -3

echo "== a slot whose worker never loads takes no part; the others go on"
cat >half.sh <<'END_OF_HALF'
[ "$KERF_SLOT" = 1 ] || { echo no device here >&2; exit 1; }
echo '{"ready":true}'
failures() { until [ "$(grep -c '"outcome":"failed"' studies/half.jsonl)" = "$1" ]; do sleep 0.05; done; }
failures 1 # then the other slot waits whether anything works here
while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    n=${line#*\"n\":}; n=${n%%[,\}]*}
    echo "{\"id\":$id,\"value\":$n}"
    failures 5
done
END_OF_HALF
"$KERF" tune --param n=1..4 --fresh --study half --interference ignore --protocol worker --slots 2 --policy exhaustive --format json -- sh half.sh 2>/dev/null >out || :
grep -oE '"observations":[0-9]+,"censored":0,"failed":[0-9]+,"rem|"best":\{"setting":\{"n":[0-9]' out

echo "== what crashes from some time on is left out, and that is told"
echo 0 >runs
cat >tires <<'END_OF_TIRES'
#!/bin/sh
# tires N: takes N, and of 1, the best, crashes from the third time on
if [ "$1" = 1 ]; then
    runs=$(($(cat runs) + 1))
    echo $runs >runs
    [ $runs -lt 3 ] || exit 3
fi
echo "took $1"
END_OF_TIRES
chmod +x tires
COLUMNS=140 "$KERF" tune --param n=1..4 --fresh --no-journal --interference ignore --policy exhaustive --objective 'regex:took ([0-9.]+)' -- ./tires '{n}' |
    grep -oE '[0-9] failed: failed three times in a row.*'

echo "== what cleans up fails"
"$KERF" tune --param n=1,2 --fresh --no-journal --interference ignore --objective 'regex:took ([0-9.]+)' --max-observations 3 --cleanup 'exit 4' \
    -- sh -c 'echo took {n}' | grep cleanup

"$KERF" tune --param n=1,2 --fresh --no-journal --interference ignore --warmup 1 --max-observations 1 --cleanup 'exit 4' -- true '{n}' | grep Nothing

echo "== another program by the time that it goes on"
printf '#!/bin/sh\necho took $1\n' >program
chmod +x program
"$KERF" tune --param n=1..3 --fresh --study changed --interference ignore --objective 'regex:took ([0-9.]+)' --max-observations 2 -- ./program '{n}' >/dev/null
"$KERF" tune --resume --study changed --max-observations 3 2>&1 >/dev/null
echo "# another one" >>program
"$KERF" tune --resume --study changed --max-observations 4 2>&1 >/dev/null | cut -c1-100

echo "== Ctrl-C while a cleanup hangs: it ends soon, and what was measured is told"
"$KERF" tune --param n=1..3 --interference ignore --no-journal --max-observations 3 --objective 'regex:([0-9]+)' \
    --cleanup 'echo began >>cleaned; exec sleep 1000' -- echo {n} >ended 2>&1 &
hanging=$!
until [ -s cleaned ]; do sleep 0.05; done
kill -INT $hanging
(sleep 300; kill -9 $hanging) 2>/dev/null & # far less than the 600 s of a cleanup
guard=$!
wait $hanging
echo "exit $?"
kill $guard 2>/dev/null
grep -c measurement ended

echo "== a report that cannot be written comes on standard output, in its form"
"$KERF" tune --param n=1,2 --fresh --no-journal --interference ignore --policy exhaustive --objective 'regex:([0-9]+)' -o /dev/full --format csv \
    -- echo {n} || echo "status $?"
