#!/bin/sh
# The reference prices plain dense layers: what else a model has is told, in words and in JSON.
. "$DATA/case.sh"
for model in deepseek_v3 llama3_70b gemma3_27b gpt3; do
    echo "-- $model"
    "$KERF" plan $model -s h200 -n 64 -b 64 --seq-length 4096 --strategy 1d --format json 2>&1 >plan.json | sed 's/^/! /'
    grep -o '"not_priced":"[^"]*"' plan.json
done
"$KERF" estimate mixtral_8x7b -s h200 -b 64 --seq-length 4096 --layout dp=8 --cost-model reference 2>&1 >/dev/null
