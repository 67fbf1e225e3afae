#!/bin/sh
# When nothing fits: status 1, the nearest layout, and the fewest accelerators on which something would.
. "$DATA/case.sh"
ask plan gpt3 -s a100 -n 2 -b 512 --strategy 1d
"$KERF" plan gpt3 -s a100 -n 2 -b 512 --strategy 1d --format json >2.json
echo "exit $?"
json <2.json

echo "== so many are the fewest"
for gpus in 32 64; do
    "$KERF" plan gpt3 -s a100 -n $gpus -b 512 --strategy 1d --top 1 --format json >$gpus.json
    echo "on $gpus: exit $?"
    json <$gpus.json | grep -e feasible -e least_gpus
done

echo "== no number of accelerators is enough"
ask plan gpt3 -s a100 -n 1 -b 1 --strategy 1d --set memory_capacity_bytes=1MB
"$KERF" plan gpt3 -s a100 -n 1 -b 1 --strategy 1d --set memory_capacity_bytes=1MB --format json | json | grep least_gpus

echo "== the other formats"
ask plan gpt3 -s a100 -n 2 -b 512 --strategy 1d --format csv
ask plan gpt3 -s a100 -n 2 -b 512 --strategy 1d --format markdown
ask plan gpt3 -s a100 -n 2 -b 512 --strategy 1d -o nearest.svg -o nearest.json
cmp nearest.json 2.json
grep -c '<svg' nearest.svg
grep -o '>[^<]*the nearest:<' nearest.svg

echo "== a sweep in which something fits is answered"
ask plan gpt3 -s a100 -n 2,64 -b 512 --strategy 1d --top 1
ask plan gpt3 -s a100 -n 2,4 -b 512 --strategy 1d,seqp
ask plan gpt3 -s a100 -n 2,4 -b 512 --strategy 1d,seqp -o nothing.svg --format csv
