#!/bin/sh
# Studies are kept: kill -9 and --resume, Ctrl-C, a spent budget, earlier studies, list, show, export and replay.
. "$DATA/case.sh"
. "$DATA/tune.sh"
lines() { cat "studies/$1.jsonl" 2>/dev/null | wc -l; }

echo "== the whole study"
tunes --study whole --format json -- "$worker" >/dev/null
cp out whole.json
facts whole.json

echo "== kill -9 in the middle, and on: the same answer, nothing lost or doubled"
# shellcheck disable=SC2086
SIMULATED_WAIT="5 never 1" "$KERF" tune $grid --protocol worker --interference ignore --fresh --study killed --format json -- "$worker" --sleep 0.0000053 >killed.json 2>&1 &
kerf=$!
has_lines() { [ "$(lines "$1")" -gt "$2" ]; }
until_true has_lines killed 5
kill -9 $kerf
wait $kerf 2>/dev/null
# its worker would wait for ever (no other case has one that sleeps so long)
nobody() { ! pgrep -f "$worker --sleep 0.0000053" >/dev/null; }
until_true nobody
echo "$(lines killed) lines are kept"
"$KERF" tune --resume --study killed --format json >resumed.json
facts resumed.json >a
facts whole.json >b
cmp a b && echo "as if nothing had happened"
grep -o '"n":[0-9]*' studies/killed.jsonl | sort | uniq -d

echo "== its starts, too, of a program that ends"
cat >starts.sh <<'END'
# Ends at once, but for the fifth start, which waits for ever.
[ "$(wc -l <studies/starts.jsonl)" != 5 ] || [ -e going ] || until false; do sleep 0.05; done
END
"$KERF" tune --param n=1..3 --interference ignore --fresh --policy exhaustive --study starts -- sh starts.sh {n} >/dev/null 2>&1 &
kerf=$!
until_true has_lines starts 4
: >going
kill -9 $kerf
wait $kerf 2>/dev/null
"$KERF" tune --resume --study starts --format json | grep -oE '"(observations|loads)":[0-9]+' | head -2

echo "== Ctrl-C prints what is known"
# shellcheck disable=SC2086
SIMULATED_WAIT="4 never 1" env --default-signal=INT "$KERF" tune $grid --protocol worker --interference ignore --fresh --study interrupted --format json -- "$worker" --sleep 0 >interrupted.json &
kerf=$!
until_true has_lines interrupted 3
kill -INT $kerf
wait $kerf
echo "status $?"
grep -oE '"stopped":"[a-z]*"' interrupted.json
grep -q '"best":{"setting"' interrupted.json && echo "with what is known"

echo "== a spent budget"
SIMULATED_WAIT="4 never 1" tunes --fresh --study spent --budget 0.2s --format json -- "$worker" --sleep 0 | grep -oE '"stopped":"[a-z]*"|== .*'

echo "== earlier studies of the same program help, and are said"
tunes --study again --format json -- "$worker" >/dev/null
facts out | grep earlier
tunes --study fresh --fresh --format json -- "$worker" >/dev/null
facts out | grep earlier

echo "== an earlier study that is gone, or whose name another command has now, is missed"
cp studies/again.jsonl kept.jsonl
missed() {
    "$KERF" studies show again | grep 'earlier stud'
    "$KERF" studies show again --format json 2>/dev/null | grep -o '"earlier":[0-9]*,.*"earlier_missing":[^]]*]'
}
mv studies/whole.jsonl away
missed
"$KERF" studies replay again >/dev/null
"$KERF" tune --resume --study again | grep 'earlier stud'
"$KERF" tune --param batch=32,64 --param ubatch=32 --policy null --interference ignore --study whole -- true {batch} {ubatch} >/dev/null
missed
mv away studies/whole.jsonl
mv kept.jsonl studies/again.jsonl
missed

echo "== what has changed unseen is found out"
SIMULATED_FLOOR=4 tunes --study moved -- "$worker" >/dev/null
grep -oE 'Use batch=[0-9]*,ubatch=[0-9]*|earlier stud.*ignored' out
rm studies/moved.jsonl

echo "== a program whose environment has changed is another one"
OMP_NUM_THREADS=7 tunes --study threads --format json -- "$worker" >/dev/null
facts out | grep earlier
MODE=slow tunes --study mode --key-env MODE --format json -- "$worker" >/dev/null
facts out | grep earlier
tunes --key-env 'MODE=slow' -- "$worker"

echo "== no folder for studies is needed where none is kept"
(
    unset KERF_STUDIES HOME XDG_STATE_HOME
    "$KERF" tune --param n=1..2 --interference ignore --policy null --default n=1 --no-journal -- true {n} | head -1 | sed 's/: .*/: TIME/'
    "$KERF" tune --param n=1..2 --interference ignore --policy null --default n=1 -- true {n}
    echo "status $?"
) 2>&1

echo "== a journal that lost a line is no basis"
sed 3d studies/whole.jsonl >studies/gap.jsonl
"$KERF" studies show gap 2>&1 | sed "s|$PWD|FOLDER|"
rm studies/gap.jsonl studies/threads.jsonl studies/mode.jsonl

echo "== the first measurement has its reason"
"$KERF" tune --param n=1..2 --interference ignore --fresh --study first --max-observations 1 -- true {n} >/dev/null
"$KERF" studies export first | grep -o '"why":"[^"]*"'
rm studies/first.jsonl

echo "== list, show, export, replay"
"$KERF" studies --format csv | tail -n +2 | sed -E "s|[^ \",]*simulated|simulated|" | cut -d, -f1,3,4,6 | sort | grep -v spent | sed 's/^interrupted,interrupted,[0-9]*/interrupted,interrupted,N/'
"$KERF" studies show whole --format json >shown.json
facts shown.json >a
facts whole.json >b
cmp a b && echo "shown as it was told"
"$KERF" studies export whole | grep -oE '"n":1,"setting":\{[^}]*\},"outcome":"[a-z]*"'
"$KERF" studies export whole --format csv | sed -n '1p;2p' | cut -d, -f1-5
"$KERF" studies replay whole | head -1
"$KERF" studies replay again | head -1
"$KERF" studies replay killed --format json | grep -oE '"decided":[0-9]+,"same":[0-9]+'

echo "== refusals"
"$KERF" studies show nowhere
"$KERF" studies shw whole
"$KERF" studies show
"$KERF" tune --resume --study nowhere
"$KERF" tune --resume -- true
tunes --study whole -- "$worker" 2>&1 | sed "s|$PWD|FOLDER|"
echo '{"journal":1' >studies/torn.jsonl
"$KERF" studies show torn 2>&1 | sed "s|$PWD|FOLDER|"
rm studies/torn.jsonl

echo "== a journal that cannot be written ends the study, with what is known"
(
    ulimit -f 4
    # shellcheck disable=SC2086
    "$KERF" tune $grid --protocol worker --interference ignore --fresh --study full --format json -- "$worker"
    echo "status $?" >&2
) 2>err | cat >full.json
sed "s|$PWD|FOLDER|" err
grep -q '"best":{"setting"' full.json && echo "with what is known"
"$KERF" studies show full --format json | grep -oE '"best":\{"setting":'

echo "== a journal that was renamed, and one elsewhere, go on by their names"
rm studies/*
"$KERF" tune --study first --param n=1..3 --fresh --interference ignore --max-observations 1 --objective 'regex:([0-9]+)' -- echo {n} >/dev/null
mv studies/first.jsonl studies/second.jsonl
"$KERF" studies --format csv | sed -n '2s/,.*//p'
"$KERF" studies show second | grep -o '`kerf tune .*'
mv studies/second.jsonl elsewhere.jsonl
"$KERF" studies show ./elsewhere.jsonl | grep -o '`kerf tune .*'
"$KERF" tune --resume --study ./elsewhere.jsonl --max-observations 2 | grep -o '`kerf tune .*'
