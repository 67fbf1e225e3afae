#!/bin/sh
# The answer does not depend on the number of threads.
. "$DATA/case.sh"
sweep() {
    "$KERF" plan gpt3,vit_era5 -s a100,b200 --scale-up-size 4,8 -n 64..1024:x2,7,96 -b 1024 --top 20 --cost-model reference --format json --threads "$1" >"$1.json"
}
for threads in 1 2 5 0; do
    sweep $threads
    cmp 1.json $threads.json && echo "$threads: the same"
done
json <1.json | grep -c 'plans\[19\]\.rank=20'
