#!/bin/sh
# The table: one search, several strategies, other systems and options.
. "$DATA/case.sh"
ask plan gpt3_1t --system a100 --gpus 1024 --global-batch 4096 --strategy 1d --top 4
ask plan gpt3 -s h200 -n 64 -b 512 --top 2 --cost-model reference
ask plan vit_era5 -s b200 -n 256 -b 512 --strategy seqp --top 2 --scale-up-size 8 --seq-length 16384

echo "== options that change the answer"
ask plan gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 1 --attention unfused --set memory_capacity_bytes=200GB \
    --set 'scale_up.bandwidth_bytes_per_s=600 GB/s,scale_up.efficiency=0.8'
ask plan gpt3 -sa100 -n=64 --global-batch=512 --strategy 1d --top=1 --set num_hidden_layers=48
ask plan gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 1 --format csv --set gemm.efficiency=0.9,memory_capacity_bytes=81e9

echo "== one layout"
cat >tiny.json <<END
{"hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 1, "num_attention_heads": 1, "max_position_embeddings": 16}
END
ask plan tiny.json -s a100 -n 1 -b 1 --strategy 1d
