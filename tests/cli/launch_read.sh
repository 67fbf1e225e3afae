#!/bin/sh
# kerf launch read: forms, the recognised framework, what is refused; nothing of a script is ever run.
. "$DATA/case.sh"
echo "== a script with its DeepSpeed config beside it"
mkdir job
cat >job/ds.json <<'EOT'
{"train_micro_batch_size_per_gpu": 4, "train_batch_size": 64, "zero_optimization": {"stage": 1}, "fp16": {"enabled": true}}
EOT
cat >job/run.sh <<'EOT'
TP=${TP:-2}
touch pwned; X=$(touch pwned)
deepspeed --num_nodes 2 --num_gpus 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \
    --seq-length 2048 --micro-batch-size 4 --global-batch-size 64 --tensor-model-parallel-size $TP \
    --deepspeed --deepspeed_config /somewhere/else/ds.json --fp16 --save $X
EOT
ask launch read job/run.sh
ask launch read job/run.sh --framework deepspeed --gpus 32 --format json
[ ! -e pwned ] || echo "(the script was executed)"
echo "== from standard input"
printf 'parallelism:\n  dp: 2\n  tp: 1\n  pp: 1\ntokens:\n  micro_batch_size: 1\n  sequence_length: 256\nmodel:\n  dtype: bfloat16\n  model_config: {hidden_size: 64, num_hidden_layers: 2, num_attention_heads: 4, intermediate_size: 128, vocab_size: 256}\n' >nano.yaml
"$KERF" launch read nano.yaml >one
"$KERF" launch read - <nano.yaml | cmp - one && cat one
echo "== how ranks are numbered, and what cp and the pipeline do"
cat >order.sh <<'EOT'
torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 256 \
    --micro-batch-size 1 --global-batch-size 8 --pipeline-model-parallel-size 2 --context-parallel-size 2 \
    --cp-comm-type a2a --use-tp-pp-dp-mapping
EOT
"$KERF" launch read order.sh | sed -n '/^layout/,/^$/p'
"$KERF" launch read order.sh --format json | grep -o '"order":"[^"]*"'
echo "== what is refused"
refused launch
refused launch write
refused launch read
refused launch read a b
refused launch read none.sh
refused launch read job/run.sh --framework jax
refused launch read job/run.sh --gpus 0
shape='--num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 256 --micro-batch-size 1 --global-batch-size 8'
echo "python pretrain_gpt.py $shape" >no_gpus.sh
refused launch read no_gpus.sh
echo "python pretrain_gpt.py $shape --tensor-model-parallel-size \$(nproc)" >run.sh
refused launch read run.sh --gpus 8
echo "python pretrain_gpt.py $shape --tensor-model-parallel-size \$TP" >unset.sh
refused launch read unset.sh --gpus 8
echo 'echo hello' >other.sh
refused launch read other.sh
: >empty.sh
refused launch read empty.sh
printf '\000\001\002' >binary.sh
refused launch read binary.sh
printf '"%0100000d' 0 >open.sh
refused launch read open.sh
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "{\"a\":" }' >deep.json
refused launch read deep.json
printf 'A=$A$A\nwhile true; do A=$A$A; done\nf() { f; }\nf\n' >endless.sh
refused launch read endless.sh
refused launch read other.sh --framework torchtitan
echo "== a config that is called .sh is no script"
"$KERF" plan llama3_8b -s h100 -n 8 -b 32 --seq-length 4096 --emit torchtitan >titan.sh
"$KERF" launch read titan.sh | head -1
echo "== a misspelt flag is named"
echo "python pretrain_gpt.py $shape --recompute-granularty full" >misspelt.sh
"$KERF" launch read misspelt.sh --gpus 8 | tail -2
echo "== what the framework would refuse"
echo "python pretrain_gpt.py $shape --pipeline-model-parallel-size 4 --fp16 --bf16" >wrong.sh
ask launch read wrong.sh --gpus 8
