#!/bin/sh
# kerf tune --resume: what may be said anew, what not, and advice that can be followed; names of studies.
. "$DATA/case.sh"
. "$DATA/tune.sh"
advice() { sed -n 's/.*`\(kerf tune --resume[^`]*\)` continues it.*/\1/p'; }

echo "== after --max-observations more of them go on"
tunes --fresh --study bounded --max-observations 4 -- "$worker" >told
advice <told
"$KERF" tune --resume --study bounded | advice
"$KERF" tune --resume --study bounded --max-observations 8 | advice
"$KERF" studies replay bounded | head -1
grep -c '"n":' studies/bounded.jsonl
echo "== after a budget it goes on as it is"
# shellcheck disable=SC2086
SIMULATED_WAIT="2 never 1" env --default-signal=INT "$KERF" tune $grid --protocol worker --interference ignore --fresh --study spent -- "$worker" >told &
kerf=$!
has_measured() { [ "$(grep -c '"n":' studies/spent.jsonl 2>/dev/null)" = 2 ]; }
until_true has_measured
kill -s INT $kerf
wait $kerf
"$KERF" tune --resume --study spent --budget 0.000001s >told
advice <told
echo "== what has run its course has no more to do"
tunes --fresh --study over --policy null -- "$worker" >told
advice <told
grep -c '^Not sure yet' told
echo "== killed"
head -3 studies/bounded.jsonl >studies/killed.jsonl
"$KERF" studies show studies/killed.jsonl | grep '^Not finished'
"$KERF" studies show studies/killed.jsonl --format json | grep -oE '"reason":"it[^"]*"'

echo "== the newest is the one that began last, whatever its name"
mkdir newest
for name in zeta alpha; do
    KERF_STUDIES=newest "$KERF" tune --param n=1..3 --max-observations 1 --fresh --interference ignore --study $name -- true {n} >/dev/null
done
sed 's/"began":"2[0-9]*/"began":"2001/' newest/zeta.jsonl >newest/.old && mv newest/.old newest/zeta.jsonl
: >newest/zz.jsonl # a study that never began
KERF_STUDIES=newest "$KERF" tune --resume --max-observations 2 >/dev/null
grep -c '"n":' newest/zeta.jsonl newest/alpha.jsonl
(ulimit -f 0; KERF_STUDIES=newest "$KERF" tune --param n=1..3 --fresh --study full -- true {n} >/dev/null 2>&1)
[ -e newest/full.jsonl ] || echo "a journal that could not be begun is not there"

echo "== a bound that is reached before anything was repeated is no confidence"
"$KERF" tune --no-journal --fresh --interference ignore --param k=a,b --max-observations 2 --objective json:x \
    -- sh -c 'test {k} = a && echo "{{\"x\":1}" || echo "{{\"x\":9}"' >/dev/null
echo "exit $?"

echo "== what was asked stays"
for option in '--within 1%' '--margin 1%' '--confidence 99%' '--seed 0' '--seed 4' '--slots 1' '--warmup 0' '--policy kerf' '--objective wall' \
    '--maximize' '--minimize' '--prefer smaller:batch' '--default batch=16' '--where batch>16' '--fresh' '--no-journal' \
    '--interference ignore' '--gpu-layers 0' '--param a=1..2' '--prepare true' '--launcher nice'; do
    # shellcheck disable=SC2086
    refused tune --resume --study bounded $option
done
echo "== and what is of one run may change"
"$KERF" tune --resume --study bounded --budget 1m --show-output --max-observations 8 --format json | grep -o '"stopped":"[a-z]*"'

echo "== names"
long=$(printf '%064d' 7)
for name in '' "$long" a/b 'a b'; do
    refused tune --param n=1..2 --study "$name" -- true {n}
done
for name in '' "$long" a/b; do
    refused tune --resume --study "$name"
done
"$KERF" tune --param n=1..2 --policy null --interference ignore --study "$(printf '%063d' 7)" -- true {n} >/dev/null
[ -f "studies/$(printf '%063d' 7).jsonl" ] && echo "63 characters are a name"

echo "== for spreadsheets"
"$KERF" studies replay bounded --format csv | head -2 | sed 's/0\.[0-9]*/SECONDS/'
"$KERF" studies --format csv | grep -E "^(bounded|killed)" | cut -d, -f1,3,4
"$KERF" tune --param n=1,2 --policy null -d n=1 --interference ignore --study quoted -- sh -c 'echo "a,b" {n}' >/dev/null
"$KERF" studies --format csv | grep quoted | cut -d, -f6-
