#!/bin/sh
# The JSON of a search: its keys, in their order, and the numbers that the issue of the planner names.
. "$DATA/case.sh"
gpt3_1t() {
    "$KERF" plan gpt3_1t --system a100 --scale-up-size 4 --gpus 1024 --global-batch 4096 --cost-model reference \
        --format json "$@"
}

echo "== two plans"
gpt3_1t --strategy 1d --top 2 >two.json
wc -l <two.json
json <two.json

echo "== the keys of a plan are the same for every strategy"
for strategy in 1d summa seqp; do
    gpt3_1t --strategy "$strategy" --top 1 | json | sed 's/=.*//' >"keys.$strategy"
done
cmp keys.1d keys.summa
cmp keys.1d keys.seqp
gpt3_1t --strategy all --top 1 | json | grep -e strategy -e candidates -e feasible -e throughput -e summa_blocks

echo "== one plan is the first of two"
gpt3_1t --strategy 1d --top 1 | json | grep 'plans\[0\]' >one.txt
json <two.json | grep 'plans\[0\]' | cmp - one.txt

echo "== names that JSON must escape"
name='tab\there \"quoted\" back\\slash caf\u00e9 \u2028'
cat >model.json <<END
{"name": "$name", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 8,
 "num_attention_heads": 16, "max_position_embeddings": 1024}
END
"$KERF" plan model.json -s a100 -n 8 -b 64 --strategy 1d --top 1 --format json | json | grep model
