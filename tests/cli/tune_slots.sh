#!/bin/sh
# Several slots: each measures the anchor first, has processors of its own, and is in the journal with its number.
. "$DATA/case.sh"
. "$DATA/tune.sh"
command -v taskset >/dev/null || skip "no taskset(1), of util-linux, to take processors away"
observations() { grep '"n":' "studies/$1.jsonl"; }
of_slot() { # slot 0 is not written
    if [ "$2" = 0 ]; then observations "$1" | grep -v '"slot":'; else observations "$1" | grep "\"slot\":$2[,}]"; fi
}
says() { grep -oE '"setting":"[^"]*"|"why":"[^"]*"' | paste -sd ' '; }

echo "== each slot measures the default first"
# no worker answers twice before all have answered once
SIMULATED_WAIT="1 studies/three.jsonl 4" tunes --slots 3 --study three --format json -- "$worker" >/dev/null 2>err
for slot in 0 1 2; do of_slot three $slot | head -1 | says; done
grep -oE '"stopped":"[a-z]*"|"loads":[0-9]*|"ubatch":(128|256|512)\},"mean"' out | head -3 | sed 's/:.*mean/: on the floor of the valley/'

echo "== without a default the first setting that was decided"
SIMULATED_WAIT="1 studies/free.jsonl 4" "$KERF" tune --param batch=16..2048:x2 --param ubatch=128 --protocol worker --interference ignore --slots 3 --study free --fresh \
    --format json -- "$worker" >/dev/null 2>&1
for slot in 0 1 2; do of_slot free $slot | head -1 | grep -oE '"setting":"[^"]*"'; done | uniq -c | sed 's/^ *\([0-9]*\).*/\1 slots with the same/'

echo "== each slot warms up"
SIMULATED_WAIT="2 studies/warm.jsonl 5" tunes --slots 2 --warmup 1 --study warm --fresh --format json -- "$worker" >/dev/null 2>err
for slot in 0 1; do of_slot warm $slot | head -2 | grep -oE '"why":"[^"]*"'; done

echo "== as many measurements as it may make"
tunes --slots 4 --max-observations 6 --study six --fresh --format json -- "$worker" >/dev/null 2>err
observations six | wc -l

echo "== a default that fails everywhere is no anchor"
SIMULATED_WAIT="2 studies/fails.jsonl 5" tunes --slots 2 --study fails --fresh --format json -- "$worker" --out-of-memory 512 >/dev/null 2>err
for slot in 0 1; do of_slot fails $slot | grep '"outcome":"value"' | head -1 | grep -oE '"why":"[^"]*"'; done

echo "== on goes a study without measuring the anchors again"
# shellcheck disable=SC2086
SIMULATED_WAIT="2 never 1" env --default-signal=INT "$KERF" tune $grid --protocol worker --interference ignore --slots 2 --study on --fresh -- "$worker" >/dev/null 2>&1 &
kerf=$!
has_measured() { [ "$(observations "$1" 2>/dev/null | wc -l)" = "$2" ]; }
until_true has_measured on 4
kill -s INT $kerf
wait $kerf
"$KERF" tune --resume --study on >/dev/null 2>&1
observations on | grep -oE '"why":"anchor[^"]*"' | sort
"$KERF" studies replay on --format json | grep -oE '"decided":[0-9]+' | sed "s/.*:$(($(observations on | wc -l) - 2))\$/all but the anchors were decided/"

echo "== processors of their own"
affinity() { # affinity PROCESSORS SLOTS
    taskset -c "$1" "$KERF" tune --param n=1..8 --interference ignore --slots "$2" --policy exhaustive --max-observations 8 --study "pinned$(echo "$1" | tr , _)" --fresh \
        --objective 'regex:list:.([0-9]+)' -- sh -c 'taskset -cp $$ >>allowed.$KERF_SLOT; grep Cpus_allowed_list: /proc/self/status; : {n}' >/dev/null 2>err
    sed 's/^kerf: //' err
    for slot in 0 1; do sed 's/.*list: //' allowed.$slot | sort -u; done
    rm -f allowed.*
}
both=$(taskset -cp $$ | sed 's/.*: //; s/-/,/' | cut -d, -f1,2)
case $both in
*,*)
    affinity "$both" 2 | sed "s/^${both%,*}\$/the first alone/; s/^${both#*,}\$/the second alone/"
    ;;
*) printf 'the first alone\nthe second alone\n' ;; # a machine with one processor
esac
echo "== too few"
affinity "${both%,*}" 2 | sed "s/^${both%,*}\$/the same one/"

echo "== what a launcher leaves to be said"
"$KERF" tune --param n=1..3 --objective cpu --launcher env --study cpu --max-observations 1 --format json -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done; : {n}' 2>&1 >/dev/null
observations cpu | grep -q others || echo "and nothing of this machine"

echo "== a launcher that does not reach one machine: the others answer"
cat >reach <<'END2'
#!/bin/sh
[ "$KERF_SLOT" = 1 ] && { echo "node down" >&2; exit 1; }
exec "$@"
END2
chmod +x reach
for seed in 1 2 3; do
    "$KERF" tune --interference ignore --fresh --study "node$seed" --seed $seed --slots 2 --launcher ./reach --objective 'regex:([0-9]+)' \
        --param n=1..8:x2 -- sh -c 'sleep 0.05; echo 1{n}0' | sed -n 's/^Use \(n=[0-9]*\): .*/\1/p'
    [ "$(grep '"slot":1' "studies/node$seed.jsonl" | grep -vc '"warmup":true')" -le 1 ] && echo "at most one failure counts"
done
