#!/bin/sh
# kerf launch write, plan --for, --emit and --launch, estimate --launch: from a plan to its launch, and from a launch to a better
# one.
. "$DATA/case.sh"
"$KERF" plan llama3_8b -s h100 -n 32 -b 128 --pp 2 --top 2 --format json >plan.json
echo "== each framework's form"
for framework in megatron deepspeed torchtitan nanotron megatron-bridge; do
    "$KERF" plan llama3_8b -s h100 -n 32 -b 128 --tp 2 --for $framework --top 2 --format json >of.json
    ask launch write $framework --plan of.json --rank 2
done
echo "== what is written reads back"
"$KERF" launch write megatron --plan plan.json -o back.sh
ask launch read back.sh
"$KERF" launch write megatron --plan - <plan.json | cmp - back.sh
echo "== experts, an uneven pipeline, multi-token prediction"
"$KERF" estimate deepseek_v3 -s h200 -b 512 --seq-length 4096 --mtp-layers 1 --format json \
    --layout tp=4,pp=4,dp=8,ep=8,stage_layers=16/15/15/15 >v3.json
"$KERF" launch write megatron --plan v3.json | grep -e moe -e mtp -e layout -e latent -e expert
"$KERF" launch write megatron-bridge --plan v3.json | grep -e moe -e mtp -e _layout
echo "== releases"
ask launch write megatron --plan v3.json --framework-version 0.10
ask launch write megatron --plan v3.json --framework-version 7
"$KERF" estimate llama3_8b -s h100 -b 128 --layout tp=2,pp=2,vpp=2,dp=8,stage_layers=8/8/8/8 \
    --format json >even.json
"$KERF" launch write megatron --plan even.json --framework-version core_v0.9.0 | grep virtual
"$KERF" launch write megatron --plan even.json | grep virtual
"$KERF" launch write megatron --plan even.json >even.sh
"$KERF" launch read even.sh --framework-version 0.9.0 --format json | grep -o '"invalid":.*'
echo "== TransformerEngine's word, and nodes that the domain holds"
"$KERF" estimate llama3_8b -s h100 -b 64 --layout dp=16,cp=4,cp_comm=all_gather --emit megatron >gather.sh
grep -o 'cp-comm-type.*' gather.sh
for word in all_gather allgather a2a a2a+p2p; do
    sed "s/cp-comm-type all_gather/cp-comm-type $word/" gather.sh >word.sh
    "$KERF" launch read word.sh --format json | grep -oE '"cp_comm":"[a-z_]*"|"cp_comm","value[^}]*' | tr '\n' ' '
    echo
done
for problem in "h100 -b 24 --layout dp=3,tp=4,micro_batch=2" "gb200 -b 144 --layout dp=72"; do
    # shellcheck disable=SC2086
    "$KERF" estimate llama3_8b -s $problem --emit megatron | grep -oE -e '--(nnodes|nproc-per-node) [0-9]+' | tr '\n' ' '
    echo
done
"$KERF" estimate llama3_8b -s gb200 -b 144 --layout dp=72,zero=3 --emit torchtitan | grep -o 'NGPU=[0-9]*'
"$KERF" estimate llama3_8b -s h100 -b 64 --layout dp=8 --precision fp8 --emit megatron | grep -o 'fp8.*' | tr '\n' ' '
echo
echo "== what a framework cannot do"
"$KERF" models mistral_7b --source | sed 's/"sliding_window": [a-z0-9]*/"sliding_window": 4096/' >windows.json
refused estimate windows.json -s h100 -b 64 --seq-length 32768 --layout dp=8,cp=8,cp_comm=ring --emit megatron
refused estimate llama3_8b -s h100 -b 64 --layout dp=8 -o one.json -o two.json
refused launch write nanotron --plan even.json
refused launch write nanotron --plan v3.json
refused launch write torchtitan --plan v3.json
refused launch write torchtitan --plan even.json
refused launch write mlperf-nemo --plan plan.json
refused launch write jax --plan plan.json
refused plan deepseek_v3 -s h100 -n 64 -b 64 --seq-length 4096 --for nanotron
refused plan llama3_8b -s h100 -n 32 -b 128 --for megatron --schedules zb_h1
refused plan llama3_8b -s h100 -n 32 -b 128 --for torchtitan --recompute selective
refused plan gemma2_27b -s h100 -n 64 -b 64 --seq-length 4096 --emit megatron
refused estimate llama3_70b -s h100 -b 64 --layout tp=4,pp=4,dp=4,zero=3 --emit megatron
"$KERF" plan llama3_8b -s h100 -n 32 -b 64 --for nanotron --tp 16 | sed -n '/^No/,/^$/p'
"$KERF" plan qwen3_30b_a3b -s h100 -n 32 -b 64 --seq-length 4096 --for torchtitan --ep 1 --etp 1 --tp 2 | sed -n '/^No/,/^$/p'
echo "== the search is proved, and splits as the framework does"
for framework in megatron torchtitan nanotron deepspeed; do
    "$KERF" plan llama3_8b -s h100 -n 32 -b 64 --seq-length 4096 --for $framework --top 9 --format csv >fast.csv
    "$KERF" plan llama3_8b -s h100 -n 32 -b 64 --seq-length 4096 --for $framework --top 9 --exhaustive --format csv >all.csv
    cut -d, -f1-8,10-40 fast.csv >fast; cut -d, -f1-8,10-40 all.csv >all
    cmp fast all && echo "$framework: $(wc -l <fast) lines"
done
"$KERF" plan llama3_8b -s h100 -n 32 -b 64 --seq-length 4096 --for nanotron --pp 2 --top 1 --why | grep -e '--layout' -e '^pp' -e '^tp 2'
echo "== a name that would end its comment"
sed 's/"model":"llama3_8b"/"model":"llama3\\n$(date)"/' plan.json >name.json
"$KERF" launch write megatron --plan name.json | head -n 3
echo "== bad input"
refused launch write
refused launch write megatron
refused launch write megatron --plan none.json
refused launch write megatron --plan plan.json --rank 3
refused launch write megatron --plan plan.json --gpus 8
refused launch read back.sh --rank 2
echo '{"searches":[]}' >none
refused launch write megatron --plan none
sed 's/"shape"/"form"/' plan.json >shapeless.json
refused launch write megatron --plan shapeless.json
sed 's/"kv_heads":8/"kv_heads":3/' plan.json >heads.json
refused launch write megatron --plan heads.json
echo "== plan --emit"
"$KERF" plan llama3_8b -s h100 -n 32 -b 128 --emit megatron -o train.sh -o answer.json && head -3 train.sh
"$KERF" plan llama3_8b -s h100 -n 32 -b 128 --emit megatron | cmp - train.sh
"$KERF" launch write megatron --plan answer.json | cmp - train.sh
refused plan llama3_8b -s h100 -n 32 -b 128 -o train2.sh
refused plan llama3_8b -s h100 -n 32 -b 128 --emit nanotron --for megatron
echo "== a name that ends in another form"
refused plan llama3_8b -s h100 -n 32 -b 128 --emit megatron -o answer.json -o train.toml
refused plan llama3_8b -s h100 -n 32 -b 128 --emit torchtitan -o train2.sh
refused estimate llama3_8b -s h100 -b 128 --layout tp=4 --emit megatron -o train.json
refused launch write megatron --plan answer.json -o train.yaml
ls train.toml train2.sh train.json train.yaml 2>/dev/null
echo "== a sweep has one launch"
"$KERF" plan llama3_8b -s h100 -n 16,32 -b 128 --emit megatron 2>&1 | head -2
"$KERF" plan llama3_8b -s h100 -n 16,32 -b 128 --emit megatron --format csv 2>&1 | grep -c emit
ask plan deepseek_v3 -s h100 -n 8 -b 64 --seq-length 4096 --emit megatron
echo "== a table that was asked for"
"$KERF" plan llama3_8b -s h100 -n 32 -b 128 --emit nanotron --format table | head -n 1
echo "== estimate --launch and plan --launch"
"$KERF" estimate llama3_8b -s h100 -b 128 --layout tp=4,pp=4,dp=2,recompute=full --emit megatron >old.sh
ask estimate --launch old.sh -s h100
ask plan --launch old.sh -s h100 --top 1
"$KERF" plan --launch old.sh -s h100 --top 1 --format json | grep -o '"launch":.*"searches"'
ask plan --launch train.sh -s h100 --top 1 --format csv
"$KERF" plan --launch train.sh -s h100 --top 1 | tail -2
refused plan llama3_8b --launch old.sh -s h100
refused plan --launch old.sh
refused plan --launch old.sh -s h100 -n 64
refused estimate --launch old.sh -s h100 -b 64
refused estimate --launch old.sh
refused plan --launch none.sh -s h100
