#!/bin/sh
# kerf schedule compare and sweeps: equal footing, what does not apply, caps, and the formats of several.
. "$DATA/case.sh"
ask schedule compare 1f1b interleaved_1f1b zb_h1 zb_v dualpipe seq1f1b -p 4 -m 8 --chunks 2
COLUMNS=40 ask schedule compare 1f1b zb_h1 dualpipe -p 4 -m 8 --memory-cap 4,5
ask schedule compare 1f1b dualpipe -p 4 -m 4..12:+4
ask schedule zb_h1 -p 2 -m 2..8:x2 --no-ops --format json
ask schedule compare 1f1b dualpipe -p 4 -m 5,8 --no-ops --format json
ask schedule compare 1f1b zb_h1 -p 2 -m 4 --format csv
ask schedule compare 1f1b zb_h1 -p 2 -m 4 --straggler 1:1.5 --format csv

echo "== arrays of a model in eight parts"
echo '{"forward":[1,1,1,1,1,1,1,2],"backward":[2,2,2,2,2,2,2,4],"activation_bytes":[1e9,1e9,1e9,1e9,1e9,1e9,1e9,1e9]}' >times.json
ask schedule compare 1f1b interleaved_1f1b -p 4 -m 8 --chunks 2 --times times.json --memory-cap 8GB,20GB
ask schedule interleaved_1f1b -p 4 -m 4 --chunks 2 --times times.json --optimizer 3 --optimizer-step unsynchronised

echo "== best is as short as the step that is shown, and its bound is the span's"
ask schedule compare zb_1p best -p 4 -m 8 --optimizer-step unsynchronised --memory-cap 8 --search-steps 20000000
ask schedule best -p 4 -m 8 --optimizer-step unsynchronised --optimizer 1 --memory-cap 8 --search-steps 20000000 --no-ops

echo "== one problem has one bound"
ask schedule compare v_min best -p 8 -m 32 --placement v --backward-input 1.9 --backward-weight .8 --p2p .05 --memory-cap 4 --search-steps 4000000

echo "== the parts of the backward pass add up"
ask schedule compare 1f1b zb_h1 -p 4 -m 8 --backward 4 --backward-input 1 --format csv
refused schedule zb_h1 -p 4 -m 8 --backward 4 --backward-input 5

echo "== two chunks by themselves, what others refuse, and what keeps the cap"
ask schedule compare 1f1b interleaved_1f1b -p 4 -m 2..6:+2
ask schedule compare 1f1b interleaved_1f1b -p 4 -m 2 --memory-cap 2 --format csv

echo "== one of each"
ask schedule compare 1f1b gpipe -p 1 -m 1
ask schedule 1f1b -p 1 -m 1 --forward 0.1 --backward 0.3 --no-ops

echo "== what no schedule keeps"
ask schedule compare 1f1b zb_h1 -p 4 -m 8 --memory-cap 2

echo "== refused"
refused schedule compare -p 4 -m 8
refused schedule 1f1b zb_h1 -p 4 -m 8
refused schedule compare 1f1b zb_h3 -p 4 -m 8
refused schedule compare 1f1b nowhere.sched
refused schedule compare 1f1b nowhere
refused schedule best -p 4 -m 8 --search-steps 0
refused schedule best -p 4 -m 8 --placement w
refused schedule compare dualpipe -p 3 -m 8
refused schedule 1f1b -p 4 -m 8 --memory-cap many
refused schedule 1f1b -p 4 -m 8 --memory-cap 40GB
refused schedule 1f1b -p 4 -m 8..4
refused schedule 1f1b -p 4 -m 8 --from 5 --to 4
refused schedule 1f1b -p 4 -m 8 --from 5 --format csv
refused schedule 1f1b -p 4 -m 8 --recv early --format torch
refused schedule 1f1b -p 4 -m 4,8 --format torch
echo "(before an endless search)"
refused schedule compare best 1f1b -p 8 -m 64 --search-time 1h --format chrome
refused schedule best -p 8 -m 64 --search-time 1h --recompute 0,50% -o both.sched
refused schedule best -p 8 -m 64 --search-time 1h --recompute 50% --format torch
refused schedule best -p 8 -m 64 --search-time 1h --placement both --format torch
refused schedule best -p 8 -m 64 --search-time 1h --placement any --format torch-comms
refused schedule 1f1b -p 4 -m 8 --search-time soon
refused schedule 1f1b -p 4 -m 8 -o x.gif
refused schedule compare 1f1b zb_h1 -p 4 -m 8 --chunks 2
refused schedule compare 1f1b zb_h1 -p 4 -m 8 --fused 2
