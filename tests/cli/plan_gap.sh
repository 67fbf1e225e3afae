#!/bin/sh
# Layouts whose orders were searched for: how far from the shortest each may be, in words and in JSON, and that it is what
# kerf schedule says of the same pipeline with the same work. Numbers of the cost model are compared, not shown.
. "$DATA/case.sh"
cat >small.json <<JSON
{"model_type":"llama","hidden_size":2048,"intermediate_size":5632,"num_hidden_layers":14,"num_attention_heads":16,
 "num_key_value_heads":8,"vocab_size":32000,"max_position_embeddings":4096}
JSON
small() {
    "$KERF" plan small.json -s h100 -n 16 -b 48 --pp 4,8 --vpp 1,2 --micro-batch 1 --zero 1 --recompute none --cp 1 --schedules "$@"
}
gap=' above any order of these operations within this memory'
none='no order of these operations within this memory is shorter'

echo "== in words"
COLUMNS=150 small best --top 3 >best.txt
grep -c -e "The pipeline takes .*, at most [0-9.]* %$gap" -e "The pipeline takes .*; $none" best.txt
grep -e '^rank' -e '^above' best.txt | tr -s ' '
echo "rows: $(grep '^ *[123] ' best.txt | grep -c -e ' <= [0-9.]* %  ' -e ' optimal  ')"
COLUMNS=60 small best --top 3 | grep '^not shown'
echo "== in JSON"
small best --top 3 --format json >best.json
json <best.json | sed -n 's/.*plans\[\([0-9]\)\]\.\(pipeline_lower_bound_s\|pipeline_above_optimum\)=.*/\1 \2/p'
json <best.json | awk -F= '/\.pipeline_s=/ { takes = $2 } /lower_bound_s=/ { bound = $2 } /above_optimum=/ {
    off = takes / bound - 1 - $2; print (off < 1e-9 && off > -1e-9 ? "they agree" : off) }'
echo "== as kerf schedule says it"
for rank in 1 2 3; do
    said=$(json <best.json | sed -n "s/.*plans\[$((rank - 1))\]\.pipeline_lower_bound_s=//p")
    "$KERF" schedule --plan best.json --rank $rank --format json --no-ops | json |
        awk -F= -v said="$said" '/(^|\.)lower_bound_s=/ { off = $2 / said - 1; print (off < 1e-9 && off > -1e-9 ? "the same bound" : off) }'
done
"$KERF" estimate small.json -s h100 -b 48 --layout dp=4,tp=1,pp=4,schedule=best | grep -c -e "$gap" -e "$none"
echo "== other schedules: nothing"
small 1f1b --top 1 | grep -c 'The pipeline takes'
small 1f1b --top 1 --format json | json | grep -c 'above_optimum\|lower_bound'
