#!/bin/sh
# What kerf plan and kerf estimate say to options of hybrid layouts that cannot be, and to those that cannot apply.
. "$DATA/case.sh"
plan() { refused plan llama3_8b -s h100 -n 16 -b 64 "$@"; }
echo "== values that cannot occur"
plan --tp 3
plan --tp 0
plan --tp x
plan --tp 2,,4
plan --tp 64
plan --cp 3
plan --pp 5
plan --pp 64
plan --vpp 20
plan --ep 2
plan --etp 2
plan --dp 3
plan --zero 4
plan --micro-batch 3
plan --recompute some
plan --recompute full:0
plan --recompute full:x
plan --recompute full:32
plan --schedules none
plan --schedules zb_h11
plan --schedules 1f1b,
plan --schedules averylongnameofaschedulethatisnotthere
plan --order dp-tp
plan --cp-comm rings
plan --stage-layers 10,10
plan --stage-layers 32,0
plan --space narrow
plan --tp "$(seq -s, 1 40)"
echo "== what is trained"
plan --precision fp4
plan --gradients fp8
plan --gradients bf16 --stack nemo
plan --mtp-layers 1
plan --tokens many
plan --tokens -5
plan --tokens 0
plan --price 2
plan --tokens 1T --price 0
echo "== what rows do not hold"
plan --why --format csv
plan --why -o plan.md
echo "== strategies and cost models that do not go together"
plan --strategy hybrid --cost-model reference
plan --strategy 1d --cost-model analytic
plan --strategy all --cost-model analytic
plan --strategy hybrid,1d
plan --strategy 1d,hybrid
plan --strategy hybird
plan --cost-model analytical
echo "== options that the strategy does not have"
plan --strategy 1d --tp 4
plan --strategy all --space wide
plan --strategy summa --schedules 1f1b
plan --cost-model reference --precision bf16
plan --cost-model reference --mtp-layers 0
plan --strategy 1d --why
plan --strategy 1d --exhaustive
plan --attention unfused
plan --picture front
plan --picture pie -o plan.svg
echo "== estimate"
estimate() { refused estimate llama3_8b -s h100 -b 64 "$@"; }
estimate --layout tp=8 --strategy 1d
estimate --layout tp1=8 --strategy hybrid
estimate --layout tp=8,tp1=8
estimate --layout tp=8 --cost-model reference
estimate --layout tp1=8 --cost-model analytic
estimate --layout tp=8 --strategy hybrid --cost-model reference
estimate --layout tp=8 --layers
estimate --layout tp=8 --format csv
estimate --layout tp1=8 --precision fp8
estimate --layout tp1=8 --gradients bf16
estimate --layout tp=8,pp=4,dp=2 -n 128
estimate --layout tp=8,zero=1
estimate --layout tp=8,recompute=full:32
estimate --layout tp=8,schedule=interleaved_1f1b
estimate --layout dp=8,schedule=gpipe
estimate --layout pp=2,stage_layers=20/20
refused estimate --lines --precision bf16
refused estimate --lines --tokens 1T
echo "== values that exclude each other, and what a device lacks"
plan --pp 1 --vpp 2
plan --schedules 1f1b --vpp 2,4
plan --schedules interleaved_1f1b --vpp 1
plan --schedules interleaved_1f1b --pp 1
plan --schedules zb_h1,gpipe --pp 1
plan --cp 1 --cp-comm ring
plan --pp 1 --order tp-cp-pp-dp
plan --tp 8 --dp 1 --order tp-cp-pp-dp
plan --schedules interleaved_1f1b --pp 64 --vpp 2
refused plan llama3_8b -s a100 -n 8 -b 64 --precision fp8
refused plan llama3_8b -s v100-32 -n 8 -b 64 --precision bf16
refused plan llama3_8b -s h100 -n 8 -b 64 --catalogue ./nowhere
refused models llama3_8b --catalogue ./nowhere
refused systems --catalogue ./nowhere
