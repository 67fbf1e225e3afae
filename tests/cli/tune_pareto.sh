#!/bin/sh
# Two objectives: the Pareto front of both, in every form, and what is refused.
. "$DATA/case.sh"
. "$DATA/tune.sh"
# speed rises with the batch, and so does the latency; the second half of the settings loses in both
cat >bench <<'END'
#!/bin/sh
echo "{\"tokens_per_s\": $(($1 * 1000 / ($1 + 8) - $2 * 40)), \"p99_ms\": $((20 + $1 * 3 + $2 * 7)), \"rank\": $((90 - $1))}"
END
cat >stays <<'END'
#!/bin/sh
echo '{"ready":true}'
while read -r line; do
    id=${line#*\"id\":} b=${line#*\"batch\":}
    id=${id%%,*} b=${b%%\}*}
    echo "{\"id\":$id,\"value\":$((100 - b)),\"p99_ms\":$((b * 3))}"
done
END
chmod +x bench stays
both() { "$KERF" tune --interference ignore --fresh "$@" 2>&1 | same; }
tokens='--objective json:tokens_per_s --maximize'
echo "== the front"
# shellcheck disable=SC2086
both --policy exhaustive --param batch=1..64:x2 --param lag=0,1 $tokens --pareto p99_ms --default batch=64,lag=1 --study front -- ./bench '{batch}' '{lag}'
echo "== kept for later"
"$KERF" studies show front | same | head -1
"$KERF" studies show front --slice batch=4 2>&1
"$KERF" studies show front --format json | grep -oE '"objective":"[^"]*"' | sort -u
"$KERF" studies show front --format json | grep -oE '"pareto":\{[^[]*'
"$KERF" studies show front --format csv | cut -d, -f1-3,7,15-
"$KERF" studies export front | grep -oE '"second":[0-9]*' | head -2
"$KERF" studies export front --format csv | cut -d, -f1-4,6,21- | sed -n 1,3p
"$KERF" tune --resume --study front | same | head -1
"$KERF" studies show front --output front.svg >/dev/null && grep -c 'Pareto front' front.svg
echo "== sure of it"
# shellcheck disable=SC2086
both --param batch=1..64:x2 $tokens --pareto p99_ms --no-journal -- ./bench '{batch}' 0 | head -1 | sed 's/of [0-9.>]* %/of CHANCE/'
# shellcheck disable=SC2086
both --param batch=1..64:x2 $tokens --pareto 'more rank' --subject-to 'p99_ms <= 100' --no-journal -- ./bench '{batch}' 0 | head -1 | sed 's/of [0-9.>]* %/of CHANCE/'
echo "== the answer of a worker"
both --policy exhaustive --param batch=1..4 --protocol worker --objective value --pareto p99_ms --format csv --no-journal -- ./stays | cut -d, -f1,2,3,12,14-
echo "== a default beside the front"
# beside DEFAULT NUMBERS: both of the setting 1, then both of 2
beside() {
    default=$1
    shift
    "$KERF" tune --interference ignore --no-journal --policy exhaustive --param n=1,2 --default "n=$default" --objective json:v --pareto e -- \
        sh -c 'shift $((2 * $0 - 2)); echo "{{\"v\":$1,\"e\":$2}"' '{n}' "$@" | sed -n 2p
}
beside 1 10 100 10 100
beside 2 10 100.5 12 100
beside 2 10 100 12 100
echo "== what kerf measures"
both --policy exhaustive --param batch=1,2 $tokens --pareto memory --no-journal --format json -- ./bench '{batch}' 0 | grep -oE '"pareto":\{"objective":"memory","maximize":false'
echo "== a number that nobody tells"
both --param batch=1..2 --pareto p99_ms --no-journal -- true '{batch}' | head -1
echo "== what is refused"
for name in '' 'more ' 'a b' 'a..b' 'p99_ms <= 5'; do
    "$KERF" tune --param batch=1..2 --pareto "$name" --no-journal -- true '{batch}' 2>&1
done
"$KERF" tune --param batch=1..2 --pareto memory --prefer smaller:batch --no-journal -- true '{batch}' 2>&1
"$KERF" tune --param batch=1..2 --pareto memory --policy race --no-journal -- true '{batch}' 2>&1
"$KERF" tune --param batch=1..500 --pareto memory --no-journal -- true '{batch}' 2>&1
"$KERF" tune --resume --study front --pareto memory 2>&1
