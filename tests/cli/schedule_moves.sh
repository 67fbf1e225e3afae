#!/bin/sh
# kerf schedule with recomputation and offload, and the memory frontier.
. "$DATA/case.sh"
ask schedule 1f1b -p 3 -m 4 --recompute 50%
ask schedule zb_h1 -p 3 -m 5 --offload 100% --offload-time 0.5
ask schedule zb_h1 -p 3 -m 4 --offload 0.5 --offload-time 1 --host-link shared --p2p 0.5 --no-ops
ask schedule 1f1b -p 2 -m 2 --recompute 100% --recompute-time 0.5 --format csv
ask schedule compare 1f1b zb_h1 -p 4 -m 8 --recompute 0,50%,100% --memory-cap 2,4

echo "== what is refused is named with its share"
ask schedule compare 1f1b dualpipe -p 2 -m 3 --recompute 0,50%
ask schedule compare 1f1b dualpipe -p 2 -m 3 --recompute 0,50% --offload 50% --offload-time 1 --no-ops --format json
ask schedule compare 1f1b dualpipe -p 2 -m 3 --recompute 0,50% --memory-cap 2 --format csv

echo "== by stage, and in an order of one's own"
echo '{"forward":[1,1],"backward":[2,2],"recompute":[1,0],"offload":[0,0.5],"offload_time":[0,0.25],"load_time":[0,0.5]}' >times.json
ask schedule gpipe -p 2 -m 3 --times times.json --format csv
printf 'devices 2\nmicrobatches 2\ndevice i { repeat m { F O } repeat m { L R I W } }\n' >own.sched
ask schedule own.sched --offload 50% --offload-time 0.5 --recompute 25%
ask schedule 1f1b -p 2 -m 2 --recompute 50% --format chrome

echo "== the least step for each cap"
ask schedule compare --memory-frontier -p 3 -m 6 --recompute 0,50%,100% --offload 0,100% --offload-time 0.5 --search-steps 300000
ask schedule compare --memory-frontier -p 2 -m 4 --memory-cap 1,2 --recompute 0,100% --search-steps 100000 --no-ops --format json
ask schedule compare 1f1b zb_h1 --memory-frontier -p 2 -m 4 --memory-cap 1..3 --format csv
ask schedule compare --memory-frontier -p 2 -m 2 --placement both --memory-cap 0.5,1 --offload 50% --offload-time 2 --search-steps 100000

echo "== best answers under its own name, and is no longer than a rule that looks for an order too"
ask schedule best -p 5 -m 6 --placement v --search-steps 1000 --no-ops --offload 50% --offload-time 0.5 --memory-cap 3
echo '{"forward":[4,4,1],"backward_input":[1,1,2],"backward_weight":[3,1,1],"p2p":[[4,1,3],[4,4,2],[5,4,3]]}' >times.json
ask schedule compare zb_1p best -p 3 -m 4 --times times.json --placement loop --memory-cap 3 --search-steps 1000000 --send blocking --optimizer-step unsynchronised --offload 50% --offload-time 2

echo "== refused"
refused schedule own.sched
refused schedule 1f1b -p 2 -m 2 --offload 50%
refused schedule 1f1b -p 2 -m 2 --recompute 150%
refused schedule 1f1b -p 2 -m 2 --recompute x
refused schedule best -p 2 -m 2 --recompute 50% --certificate proof
echo "(a cap too small for one micro-batch)"
ask schedule best -p 2 -m 3 --memory-cap 0.2 --recompute 50% --search-steps 5000 --no-ops
echo "(one too small for one chunk of it, where half of it is enough)"
ask schedule best -p 2 -m 3 --placement v --memory-cap 0.4 --recompute 100% --search-steps 5000 --no-ops
refused schedule 1f1b -p 2 -m 2 --recompute 50% --format torch
ask schedule 1f1b -p 2 -m 4 --offload 50% --offload-time 0.1 --jitter 5%
echo '{"offload":[0.5,0.5],"offload_time":[0.1,0.1]}' >half.json
ask schedule 1f1b -p 2 -m 4 --times half.json --jitter 5%
refused schedule compare --memory-frontier -p 2 -m 2 --placement any
printf 'devices 2\nmicrobatches 2\ndevice i { F O F L B B }\n' >copies.sched
refused schedule copies.sched --offload-time 1 --offload 100% --recompute 50%
printf 'devices 2\nmicrobatches 2\ndevice i { F R F B B }\n' >again.sched
refused schedule again.sched --offload 50% --offload-time 1
for cap in -1B 0B; do
    echo "{\"memory_cap\":[\"$cap\",\"2B\"],\"activation_bytes\":[1,1]}" >caps.json.bad
    refused schedule 1f1b -p 2 -m 4 --times caps.json.bad
done
printf 'devices 2\nmicrobatches 2\ndevice i { F F B B }\n' >plain.sched
for option in "--recompute-time 1" "--offload-time 1" "--host-link shared"; do
    # shellcheck disable=SC2086
    refused schedule plain.sched $option
done
refused schedule compare plain.sched --memory-frontier
echo "== where a share has no answer, nothing is known of all shares"
echo '{"forward":[1,0.2,0.2,1],"backward_input":[1,0.2,0.2,1],"backward_weight":[0.2,0.2,0.2,1],"recompute_time":[20,0.2,0.2,5]}' >v.json
ask schedule compare --memory-frontier --placement v -p 2 -m 4 --times v.json --recompute 90%,100% --memory-cap 0.55 --search-steps 100000
refused schedule compare --memory-frontier -p 2 -m 2 --jitter 5%
refused schedule 1f1b -p 2 -m 2 --offload-time 1
refused schedule 1f1b -p 2 -m 2 --recompute-time 1
refused schedule compare 1f1b zb_h1 -p 2 -m 2 --recompute 50% --host-link shared
echo '{"forward":1,' >wrong.json
refused schedule 1f1b -p 2 -m 2 --times wrong.json --recompute-time 1
echo '{"memory_cap":[1,2]}' >caps.json
refused schedule compare --memory-frontier -p 2 -m 2 --times caps.json
ask schedule compare --memory-frontier -p 2 -m 2 --times caps.json --memory-cap 2 --search-steps 100000
echo '{"offload":[0.5,0.5]}' >half.json
ask schedule 1f1b -p 2 -m 2 --times half.json --offload-time 0.5 --no-ops
