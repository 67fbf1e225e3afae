#!/bin/sh
# kerf schedule: the answer in each format, the list, own times, and what it refuses.
. "$DATA/case.sh"
ask schedule 1f1b --devices 8 --microbatches 32
ask schedule zb_h1 -p 4 -m 8 --forward 1 --backward-input 1.1 --backward-weight 0.8 --p2p 0.05
ask schedule dualpipe -p 4 -m 8 --no-ops --format json
ask schedule interleaved_1f1b -p 2 -m 2 --chunks 2 --format json
ask schedule zb_v -p 2 -m 3 --format torch
ask schedule zb_v -p 2 -m 3 --format torch-comms
ask schedule dualpipe_v -p 2 -m 3 --format torch-comms
ask schedule 1f1b_overlap -p 2 -m 3 --format csv
ask schedule 1f1b -p 4 -m 8 --memory-cap 3

echo "== times by stage"
echo '{"forward":[1,2],"backward":[2,4],"p2p":[[0,0.5],[0.25,0]]}' >times.json
ask schedule 1f1b -p 2 -m 4 --times times.json --format json --no-ops
ask schedule 1f1b -p 2 -m 4 --times times.json --send blocking --format json --no-ops

echo "== a short last group, with which groups of 5 would deadlock"
ask schedule interleaved_1f1b -p 5 -m 7 --chunks 2 --format json --no-ops

echo "== a cap for each device"
echo '{"memory_cap":[1,2]}' >caps.json
ask schedule 1f1b -p 2 -m 4 --times caps.json --format json --no-ops

echo "== the list"
"$KERF" schedule --list | sed -n '1,9p'

echo "== refused"
refused schedule
refused schedule 1f2b -p 4 -m 8
refused schedule 1f1b -m 8
refused schedule 1f1b -p 4
refused schedule 1f1b -p 0 -m 8
refused schedule 1f1b -p 4 -m 8 --forward -1
refused schedule 1f1b -p 4 -m 8 --chunks 2
refused schedule dualpipe -p 3 -m 8
refused schedule dualpipe -p 1 -m 8
refused schedule dualpipe -p 4 -m 1
refused schedule dualpipe -p 4 -m 8 --format torch
refused schedule 1f1b_overlap -p 4 -m 6
refused schedule interleaved_1f1b -p 4 -m 8 --chunks 2 --group 2
refused schedule interleaved_1f1b -p 5 -m 7 --chunks 2 --group 5
refused schedule 1f1b -p 3 -m 8 --times times.json
echo '{"forwards":[1,2]}' >wrong.json
refused schedule 1f1b -p 2 -m 8 --times wrong.json
echo '{"forward":[1,-2]}' >wrong.json
refused schedule 1f1b -p 2 -m 8 --times wrong.json

echo "== receives right before what needs them"
ask schedule interleaved_1f1b -p 2 -m 2 --chunks 2 --format torch-comms --recv late
ask schedule zb_v -p 2 -m 2 --format torch-comms --recv late
refused schedule seq1f1b -p 2 -m 2 --format torch

# What is proved can be checked, and damage is found.
ask schedule best -p 4 -m 12 --forward 1 --backward-input 1.9 --backward-weight 0.8 --p2p 0.05 --memory-cap 3 \
    --search-steps 1000000000 --certificate proof.txt --no-ops
ask schedule verify proof.txt
ask schedule verify proof.txt --format json
sed 's/^bound_s .*/bound_s 62/' proof.txt >forged.txt
ask schedule verify forged.txt
ask schedule verify
ask schedule verify proof.txt proof.txt
truncate -s 513M large.txt
ask schedule verify large.txt
rm large.txt
ln -s proof.txt link.txt
ask schedule best -p 2 -m 2 --certificate proof.txt -o proof.txt
ask schedule best -p 2 -m 2 --certificate proof.txt -o link.txt
ask schedule best -p 2 -m 2 --certificate new.txt -o ./new.txt
ask schedule best -p 3 -m 4 --backward-input 4 --backward-weight 4 --backward 5 --search-steps 100000 --certificate new.txt
ask schedule best -p 2 -m 2 --forward 0 --backward 0 --search-steps 1000 --no-ops --certificate nothing.txt
ask schedule verify nothing.txt
ask schedule compare best 1f1b -p 2 -m 2 --certificate proof.txt
ask schedule 1f1b -p 2 -m 2 --certificate proof.txt

# Noise, a straggler and a slow link: the distribution of the step.
ask schedule zb_h1 -p 2 -m 4 --jitter 10% --no-ops
ask schedule compare 1f1b zb_h1 -p 2 -m 4 --straggler 1:1.5 --rank-by p95
ask schedule compare 1f1b zb_h2 zb_h1 -p 4 -m 8 --memory-cap 4 --straggler 1:1.5 --rank-by p95
ask schedule 1f1b -p 3 -m 4 --p2p 0.1 --straggler 0:1.5 --straggler 2:1.2 --slow-link 0:2 --slow-link 1:3 --no-ops
ask schedule 1f1b -p 2 -m 2 --straggler 1:1.5 --straggler 1:2
ask schedule 1f1b -p 2 -m 2 --jitter 5x
ask schedule 1f1b -p 2 -m 2 --jitter 200%
ask schedule 1f1b -p 2 -m 2 --backward 3 --backward-weight 1
ask schedule zb_h1 -p 2 -m 2 --backward 3 --backward-input 1 --backward-weight 1
ask schedule compare zb_h1 1f1b -p 2 -m 2 --backward 3 --backward-input 1 --backward-weight 1
ask schedule 1f1b -p 2 -m 2 --list
ask schedule 1f1b -p 2 -m 2 --jitter trace
ask schedule 1f1b -p 2 -m 2 --slow-link 2:2 --p2p 0.5
ask schedule 1f1b -p 2 -m 2 --slow-link 1:2
ask schedule 1f1b -p 2 -m 2 --jitter 5% --send blocking
ask schedule 1f1b -p 2 -m 2 --p2p 1 --slow-link 1:2 --link shared
ask schedule 1f1b -p 2 -m 2 --slow-link 1:2 --p2p 0.5 --no-ops
ask schedule compare 1f1b -p 2 -m 2 --rank-by p95
ask schedule chimera -p 4 -m 4 --replicas 3

# Slices of a sequence, and what causal attention makes them take.
ask schedule seq1f1b -p 2 -m 2 --slices 3 --attention 50%
ask schedule seq_zb -p 2 -m 2 --slices 2 --attention 0.5 --slice-cut equal --format json
ask schedule slimpipe -p 2 -m 2 --attention 50% --format csv
echo '{"forward":[1,2],"slices":{"tokens":[5,4,3],"forward":[1.2,1.3,1.1]},"activation_bytes":[1e9,1e9]}' >slices.json
ask schedule seq1f1b -p 2 -m 2 --slices 3 --times slices.json --no-ops
ask schedule compare 1f1b seq1f1b slimpipe -p 2 -m 4 --attention 30%
refused schedule seq1f1b -p 2 -m 2 --slices 4 --times slices.json
refused schedule seq1f1b -p 2 -m 2 --slices 3 --attention 1.5
refused schedule seq1f1b -p 2 -m 2 --slices 3 --attention 10%,20%
refused schedule seq1f1b -p 2 -m 2 --slice-cut halves
refused schedule 1f1b -p 2 -m 2 --attention 10%
refused schedule compare 1f1b gpipe -p 2 -m 2 --slice-cut equal
refused schedule slimpipe -p 4 -m 2 --slices 6
refused schedule seq1f1b -p 2 -m 2 --slices 0

# What the file of times has and nothing uses is told.
echo '{"forward":[1,1],"fused":[3,3],"slices":{"tokens":[2,1]},"recompute_time":[1,1],"offload_time":[1,1]}' >times.json
ask schedule 1f1b -p 2 -m 2 --times times.json --no-ops --format json
ask schedule compare 1f1b seq1f1b -p 2 -m 2 --slices 2 --times times.json
ask schedule compare 1f1b 1f1b_overlap -p 2 -m 3 --times times.json --format csv --recompute 50%
# Of a backward pass and its parts that disagree each schedule uses its own; of ones that agree all count.
parts() {
    echo "{\"forward\":[1,1],\"backward\":[2,2],$1}" >times.json
    for rule in 1f1b zb_h1; do "$KERF" schedule $rule -p 2 -m 2 --times times.json --no-ops 2>&1 | grep -e kerf: -e '^  makespan'; done
}
parts '"backward_input":[1.5,1.5]'
parts '"backward_input":[1.5,1.5],"backward_weight":[9,9]'
parts '"backward_input":[1.5,1.5],"backward_weight":[0.5,0.5]'
printf '{"forward":[1,1]}\0{"forward":[5,5]}' >times.json
refused schedule 1f1b -p 2 -m 2 --times times.json

# What would be ignored is refused.
refused schedule 1f1b -p 2 -m 2 --trace-step 1
refused schedule 1f1b -p 2 -m 2 --from 100
refused schedule 1f1b -p 2 -m 2 --no-ops --from 1
refused schedule compare 1f1b zb_h1 -p 2 -m 2 --to 1
refused schedule 1f1b -p 2 -m 2 --no-ops --format csv
refused schedule --list 1f1b
refused schedule seq1f1b -p 2 -m 2 --slice-cut equal
refused schedule 1f1b -p 2 -m 2 --to 0
echo "== two messages of a fused pair leave together, and a blocking sender waits for the later one"
cat >pair.sched <<'END'
devices 3
microbatches 3
device 0 { F F F B B B }
device 1 { F F0+B0 F B B }
device 2 { F B F B F B }
END
"$KERF" schedule pair.sched --p2p 1 --send blocking --format csv | grep -A1 '^1,FB'
"$KERF" schedule pair.sched --p2p 1 --send blocking --link shared --format csv | grep -A1 '^1,FB'
