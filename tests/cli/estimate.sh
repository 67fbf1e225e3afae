#!/bin/sh
# One layout: what it costs, operation by operation, and by how much it does not fit.
. "$DATA/case.sh"
gpt3() { ask estimate gpt3 -s a100 -b 1536 "$@"; }
ask estimate gpt3_1t -s a100 -b 4096 --layout dp=2,tp1=8,pp=64,scale_up.tp1=4
gpt3 --layout dp=4,tp1=4,pp=8,micro_batch=2,scale_up.tp1=4 --layers
gpt3 -l ''
ask estimate vit_era5 -s b200 --scale-up-size 8 -b 512 --strategy seqp --seq-length 16384 -n 256 \
    --layout dp=32,tp1=4,tp2=2,micro_batch=1,scale_up.tp1=4,scale_up.tp2=2

echo "== attention, strategy and fields that are set change what it costs"
cost() {
    echo "$*:" "$("$KERF" estimate gpt3 -s a100 -b 1536 --format json --layers "$@" | json | awk -F= '
        $1 == "step_time_s" { time = $2 }
        $1 == "memory_bytes" { bytes = $2 }
        $1 == "fits" { fits = $2 }
        /layers\.sa.*name=/ { names = names " " $2 }
        END { gsub(/"/, "", names); print time " s, " bytes " B, fits: " fits ";" names }')"
}
one=dp=4,tp1=4,pp=8,scale_up.tp1=4
cost --layout $one
cost --layout $one --attention unfused
cost --layout $one --attention recomputed
cost --layout $one,summa_blocks=4 --strategy summa
cost --layout $one,summa_blocks=4 --strategy summa --attention summa
cost --layout $one --strategy seqp
cost --layout $one --set memory_capacity_bytes=1TB
cost --layout $one --set 'matrix_flops_per_s=624 TFLOP/s,scale_up.bandwidth_bytes_per_s=600GB/s'
cost --layout $one --set matrix_flops_per_s=624TFLOP/s --set scale_up.bandwidth_bytes_per_s=600e9
cost --layout $one --set num_attention_heads=64
cost --layout $one --seq-length 4096
cost --layout dp=4,tp1=4,pp=8,scale_up.tp1=4,scale_up.pp=2 --scale-up-size 8

echo "== what is set in vain is told"
cost --layout $one --set gemm.efficiency=0.9,memory_capacity_bytes=1TB 2>&1
hybrid() { "$KERF" estimate llama3_8b -s h100 -b 128 --layout tp=8 --format json "$@" 2>&1 | sed 's/,"cost_model".*//'; }
hybrid --set gemm.fp8_efficiency=0.9,gemm.efficiency=0.5 --set vector_flops_per_s=1
hybrid --set gemm.efficiency=0.5 --set gemm.efficiency=0.6
hybrid --set num_hidden_layers=16,max_position_embeddings=4096

echo "== the sizes are those of layers, dense ones and experts"
for model in qwen3_30b_a3b llama4_maverick deepseek_v3; do
    "$KERF" estimate $model -s h100 -b 64 --seq-length 4096 --layout tp=8,dp=8,ep=64 --mtp-layers 0 | sed -n 2,4p
done

echo "== the interval names the systems that were measured, as they are"
"$KERF" systems h100 | sed 's/"name": "h100"/"name": "h100-mine"/' >mine.json
rests_on() {
    "$KERF" estimate llama3_8b -b 64 --seq-length 4096 --layout dp=4,tp=2 "$@" 2>&1 | tr '\n' ' ' | tr -s ' ' |
        grep -o 'interval[^;]* measured runs of [^.]*[.]'
}
rests_on -s mine.json
rests_on -s h100 --set scale_up.latency_s=9us
echo "== JSON and CSV"
"$KERF" estimate gpt3 -s a100 -b 1536 --layout $one --format json >one.json
json <one.json
"$KERF" estimate gpt3 -s a100 -b 1536 --layout $one --format json --layers >layers.json
json <layers.json | grep -v '^layers' >without.txt
json <one.json | cmp - without.txt
json <layers.json | grep -e 'mlp\[0\]' -e 'sa\[1\]\.name'
"$KERF" estimate gpt3 -s a100 -b 1536 --layout $one --format csv

echo "== the same number as the plan's"
"$KERF" plan gpt3_1t -s a100 -n 1024 -b 4096 --strategy 1d --top 1 --format json | json | sed -n 's/.*plans\[0\]\.//p' | grep -v rank >plan.txt
"$KERF" estimate gpt3_1t -s a100 -b 4096 --layout dp=2,tp1=8,pp=64,scale_up.tp1=4 --format json | json | grep -v kerf | cmp - plan.txt

echo "== bad input"
bad() { refused estimate gpt3 -s a100 -b 1536 "$@"; }
bad
bad --layout dp=4,dp=4
bad --layout dq=4
bad --layout scale_up.tp=4
bad --layout dp
bad --layout dp=x
bad --layout dp=0
bad --layout dp=-1
bad --layout dp=2,
bad --layout dp=2.5
bad --layout tp1=9999999999999999999999
bad --layout dp=1073741824,tp1=1073741824,pp=1073741824
bad --layout dp=5
bad --layout tp1=1,pp=7
bad --layout tp1=7
bad --strategy 1d --layout tp2=2
bad --layout micro_batch=7
bad --layout tp1=8,scale_up.tp1=8
bad --layout tp1=4,scale_up.tp1=3
bad --layout scale_up.tp1=2
bad --strategy 1d --layout summa_blocks=2
bad --layout tp1=4 --strategy summa
bad --layout dp=4 -n 8
bad --layout dp=4 --attention summa
bad --layout dp=4 --attention recomputed --strategy seqp
bad --layout dp=4 --strategy all
bad --layout dp=4 --format markdown
bad --layout dp=4 --layer
bad --layout dp=4 -o plan.svg
bad --layout dp=4 -o plan
bad --layout dp=4 --lines
bad --layout dp=4 gpt3_1t
bad --layout dp=4 --cost-model none
refused estimate
refused estimate gpt3 --layout dp=4
refused estimate gpt3 -s a100 --layout dp=4
refused estimate gpt3 -s a100,b200 -b 4 --layout dp=4
refused estimate none.json -s a100 -b 4 --layout dp=4
refused estimate gpt3 -s a100 -b 1536 --layout dp=1 --set max_position_embeddings=0

echo "== MFU says where it counts more attention than there is"
for length in 1024 8192; do
    "$KERF" estimate gemma3_27b -s h100 -b 64 --seq-length $length --layout dp=8,tp=8 | sed -n '/MFU/,/\.$/p'
done
