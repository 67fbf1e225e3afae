#!/bin/sh
# Limits on further numbers of a run: which setting is the best of those that keep them, and what is said of the others.
. "$DATA/case.sh"
. "$DATA/tune.sh"
cat >bench <<'END'
#!/bin/sh
echo "warming up"
echo "{\"tokens_per_s\": $(($1 * 100 / ($1 + 8))), \"latency\": {\"p99_ms\": $(($1 * 3))}}"
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
cat >wavers <<'END'
#!/bin/sh
# every other run of the large batch is slow
echo x >>"runs$1"
n=$(($(wc -l <"runs$1") % 2))
echo "{\"tokens_per_s\": $1, \"p99_ms\": $(($1 < 4 ? 10 : 40 + 20 * n))}"
END
chmod +x bench stays wavers
limited() { "$KERF" tune --interference ignore --fresh "$@" 2>&1 | same; }
tokens='--objective json:tokens_per_s --maximize'
echo "== the output of a program"
# shellcheck disable=SC2086
limited --policy exhaustive --param batch=1..64:x2 $tokens --subject-to 'latency.p99_ms <= 50' --subject-to 'memory <= 2GB' --study limited -- ./bench '{batch}'
echo "== kept for later"
"$KERF" studies show limited | same | head -1
"$KERF" studies show limited --format json | grep -oE '"objective":"[^"]*"'
"$KERF" tune --resume --study limited --subject-to 'wall <= 1s' 2>&1
"$KERF" tune --resume --study limited | head -1
echo "== what it is the best of" # how sure that is depends on how long the runs took
# shellcheck disable=SC2086
limited --param batch=1..64:x2 $tokens --subject-to 'latency.p99_ms <= 50' --no-journal -- ./bench '{batch}' | sed -n '1s/ of 7.*/ of 7/p'
echo "== the answer of a worker"
limited --policy exhaustive --param batch=1..8 --protocol worker --objective value --subject-to 'p99_ms < 15' --format csv --no-journal -- ./stays | cut -d, -f1,2,4,5,12- | sed 's/,"*$//'
echo "== a setting that keeps it only at times is not the answer"
# shellcheck disable=SC2086
limited --param batch=1..4:x2 $tokens --subject-to 'p99_ms <= 50' --no-journal --policy exhaustive -- ./wavers '{batch}' | grep -E '^(Use|  *4)'
echo "== a number that nobody tells"
# shellcheck disable=SC2086
limited --param batch=1..2 $tokens --subject-to 'p99_ms <= 50' --no-journal -- ./bench '{batch}' | head -1
limited --param batch=1..2 --subject-to 'p99_ms <= 50' --no-journal -- true '{batch}' | head -1
echo "== JSON that is not an answer"
cat >json <<'END'
#!/bin/sh
lines() { awk -v what="$1" 'BEGIN {for (i = 0; i < 500000; i++) print what}'; }
part='{"t":5,"pad":"................................................................"},'
case $1 in
twice) echo '{"t":1,"t":2}' ;;
line) echo '{"t":1}' && printf '{"t":2,"pad":"%01100000d"}\n' 0 ;;
long) echo '{"t":1,"parts":[' && lines "$part" && echo '{"t":5}' && echo ']}' ;;
noise) lines "$part" && echo '{"t":2}' ;;
esac
END
chmod +x json
for kind in twice line long noise; do
    limited --policy exhaustive --param n=1 --objective json:t --max-observations 1 --no-journal -- ./json $kind '{n}' | head -1
done
limited --param n=1 --subject-to 't <= 3' --max-observations 1 --no-journal -- ./json twice '{n}' | head -1
echo "== no setting keeps it"
# shellcheck disable=SC2086
limited --param batch=1..2 $tokens --subject-to 'latency.p99_ms <= 1' --no-journal -- ./bench '{batch}' | head -1
echo "== what is no limit"
for limit in 'p99_ms = 5' 'p99_ms <= 5ms' 'memory <= 5 apples' '' 'a..b <= 5'; do
    "$KERF" tune --param batch=1..2 --subject-to "$limit" --no-journal -- true '{batch}' 2>&1
done
