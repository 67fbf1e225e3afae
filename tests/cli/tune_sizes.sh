#!/bin/sh
# Sizes of the machine: a cache of 512 kB, beside which no block is fast, is looked at before the answer; a study that goes
# on keeps the sizes that it began with; a launcher's machine is another one.
. "$DATA/case.sh"
. "$DATA/tune.sh"
mkdir -p system/sys/devices/system/cpu
for processor in $(seq 0 "$(($(getconf _NPROCESSORS_CONF) - 1))"); do
    cpu=system/sys/devices/system/cpu/cpu$processor
    mkdir -p "$cpu/topology" "$cpu/cache/index0"
    echo 0 >"$cpu/topology/core_id"
    echo 0 >"$cpu/topology/physical_package_id"
    echo Unified >"$cpu/cache/index0/type"
    echo 512K >"$cpu/cache/index0/size"
done
cat >bench <<'END2'
#!/bin/sh
awk -v kb="$1" 'BEGIN { print "took", 2 + (1600 - kb) / 5000 - (kb == 512 ? 0.4 : 0) }'
END2
chmod +x bench
study() { # NAME ARGUMENT...: how it ended
    name=$1
    shift
    "$KERF" tune --study "$name" --fresh --interference ignore --param kb=64..1600:+64 --objective 'regex:took ([0-9.]+)' "$@" \
        -- ./bench '{kb}' | sed -n 's/^Use \(kb=[0-9]*\): .*/\1/p'
}
sizes() { sed -n 's/^{"sizes":.*524288.*/the journal has the cache/p' "studies/$1.jsonl"; }

echo "== nothing is known of the machine"
study unknown >/dev/null
sizes unknown
echo "== it has a cache of 512 kB"
export KERF_FSROOT="$PWD/system"
study known
sizes known
"$KERF" studies show known | sed -n 's/^Use \(kb=[0-9]*\): .*/again \1/p'
echo "== a study of it goes on where nothing is known"
study cut --max-observations 4 >/dev/null
KERF_FSROOT="$PWD/nothing" "$KERF" tune --resume --study cut --max-observations 100 | sed -n 's/^Use \(kb=[0-9]*\): .*/\1/p'
echo "== its processes run elsewhere"
study elsewhere --launcher env >/dev/null
sizes elsewhere
echo "== a journal whose sizes are dirt"
for dirt in '[]' '["512"]' 512; do
    sed "s/^{\"sizes\":.*/{\"sizes\":$dirt}/" studies/known.jsonl >dirty.jsonl
    refused studies show ./dirty.jsonl
done
sed 's/^{"sizes":.*/&\n&/' studies/known.jsonl >dirty.jsonl
refused studies show ./dirty.jsonl
