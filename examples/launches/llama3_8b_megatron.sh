#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gpus-per-node=8
# Llama 3 8B with Megatron-LM, for docs/launch.md.
TP=${TP:-2}
PP=${PP:-2}
MODEL=(
    --num-layers 32
    --hidden-size 4096
    --ffn-hidden-size 14336
    --num-attention-heads 32
    --group-query-attention --num-query-groups 8
    --swiglu --normalization RMSNorm --disable-bias-linear
    --position-embedding-type rope
    --untie-embeddings-and-output-weights
    --vocab-size 128256
    --seq-length 8192
)
srun torchrun --nnodes 4 --nproc_per_node 8 --master_addr "$(scontrol show hostname | head -1)" pretrain_gpt.py \
    "${MODEL[@]}" \
    --tensor-model-parallel-size "$TP" --sequence-parallel \
    --pipeline-model-parallel-size "$PP" \
    --micro-batch-size 1 --global-batch-size $((32 * 4)) \
    --bf16 --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather \
    --lr 3e-4 --train-iters 1000 --data-path "$DATA"
