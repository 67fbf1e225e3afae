#!/bin/sh
# Hybrid layouts, the default: what options leave of the space, what an answer holds, and that plan, estimate and the
# exhaustive search agree. What the cost model finds is held by other tests: here numbers are compared, not shown.
. "$DATA/case.sh"
cat >small.json <<END
{"model_type":"llama","hidden_size":2048,"intermediate_size":5632,"num_hidden_layers":14,"num_attention_heads":16,
 "num_key_value_heads":8,"vocab_size":32000,"max_position_embeddings":4096}
END
cat >experts.json <<END
{"model_type":"mixtral","hidden_size":1024,"intermediate_size":2816,"num_hidden_layers":8,"num_attention_heads":16,
 "num_key_value_heads":8,"num_local_experts":8,"num_experts_per_tok":2,"vocab_size":32000,"max_position_embeddings":4096}
END
small() { "$KERF" plan small.json -s h100 -n 16 -b 64 "$@"; }
experts() { "$KERF" plan experts.json -s h100 -n 16 -b 64 "$@"; }

# The values of a key in the plans, each once.
values() {
    awk -F, -v key="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) at = i; next } { print $at }' |
        sort -u | tr '\n' ' '
}
number() { json | sed -n "s/^searches\[0\]\.$1=//p"; }

echo "== the table: what is told, without numbers"
numbers_away() { sed -E 's/[0-9]+([.,][0-9]+)*/N/g; s/  +/  /g'; }
small --tp 2 --cp 1 --pp 2 --vpp 1 --zero 1 --micro-batch 2 --recompute none --tokens 2T --price 2.5 |
    sed '/^  \(time\|memory\) /d; /^          /d' | numbers_away | tr -s '\n ' '  '
echo
COLUMNS=150 small --top 3 | grep '^rank' | tr -s ' '
COLUMNS=90 small --top 3 | grep -e '^rank' -e 'not shown' | tr -s ' '
COLUMNS=60 small --top 3 | grep -e '^rank' -e 'not shown' | tr -s ' '
echo "== how many were priced"
small --exhaustive --top 1 | grep -o '[a-z]* priced in full.*;'
small --exhaustive --top 1 --tp 16 | grep -o '[a-z]* priced in full.*;'
small --top 1 --set memory_capacity_bytes=1kB | grep -o 'priced by bounds alone.*('
echo "== CSV and Markdown: their titles"
small --top 1 --format csv | sed -n 1p
small --top 1 --format csv --gradients bf16 --stack composer-fsdp --safe | sed -n 2p | grep -o '",fused,.*' |
    sed -E 's/[0-9]\.[0-9]{6,}/N/g'
small --top 1 --format csv --pp 2 --schedules best | sed -n 2p | grep -o '",fused,.*' | sed -E 's/[0-9]\.[0-9]{6,}/N/g'
small --top 1 --format csv --tokens 2T --price 1 | sed -n 1p | grep -o ',days,cost,'
small --top 2 --format markdown | sed -n '/^| rank/p'
small --top 1 --format markdown --tokens 2T --price 1 | sed -n '/^Rank 1/p'
echo "== JSON: its keys"
small --top 1 --tokens 2T --format json >one.json
json <one.json | sed 's/=.*//; s/\[[0-9]*\]/[]/g' | awk '!seen[$0]++'

echo "== named values, and no others"
for option in "tp 2,4" "cp 2" "pp 2,4" "vpp 1,2" "dp 4,8" "zero 0" "micro-batch 2,4" "recompute full,full:2" \
    "recompute selective" "order tp-cp-pp-dp" "cp-comm all_gather --cp 2" "schedules zb_h1,gpipe --pp 2"; do
    key=$(echo "${option%% *}" | tr - _)
    [ "$key" = schedules ] && key=schedule
    # shellcheck disable=SC2086 # the option and its values are words
    echo "--$option: $(small --top 1000 --format csv --${option%% *} ${option#* } | values "$key")"
done
echo "--stage-layers 8,6: $(small --top 3 --format json --stage-layers 8,6 --pp 2 | json | sed -n 's/.*plans\[0\].layout.stage_layers\[.\]=//p' | tr '\n' ' ')"
for option in "ep 2,4" "etp 2 --tp 2"; do
    # shellcheck disable=SC2086
    echo "--$option: $(experts --top 1000 --format csv --${option%% *} ${option#* } | values "${option%% *}")"
done

echo "== parts of the space add up to it"
whole=$(small --format json | number candidates)
parts=0
for tp in 1 2,4 8,16; do parts=$((parts + $(small --tp $tp --format json | number candidates))); done
echo "the same: $((whole - parts))"
wide=$(small --space wide --format json)
[ "$(echo "$wide" | number space)" = '"wide"' ] && [ "$(echo "$wide" | number candidates)" -gt "$whole" ] && echo "wide is wider"

echo "== the proof: exhaustive, pruned, on one thread and on two"
small --top 20 --format json >pruned.json
small --top 20 --format json --exhaustive >exhaustive.json
small --top 20 --format json --threads 1 >single.json
plans() { json <"$1" | grep 'plans\['; }
plans pruned.json >pruned.txt
plans exhaustive.json | cmp - pruned.txt && echo "exhaustive: the same plans"
plans single.json | cmp - pruned.txt && echo "one thread: the same plans"
for file in pruned exhaustive; do
    json <$file.json | awk -F= -v what=$file '/candidates=/ { c = $2 } /priced=/ { p = $2 } /proved=/ { proved = $2 }
        /bound_s=/ { bound = $2 } /plans\[0\].step_time_s=/ { step = $2 }
        END { print what ": " (p < c ? "fewer" : p == c ? "all" : "?") " priced, proved " proved ", bound " (bound == step ? "is the best" : bound " for " step) }'
done

echo "== estimate finds the plan's numbers"
text=$(json <pruned.json | sed -n 's/.*plans\[1\].layout_text="\(.*\)"/\1/p')
"$KERF" estimate small.json -s h100 -b 64 --layout "$text" --format json | json | grep -Ev "^(kerf|cost_model|ignored|assumed)=" >estimate.txt
json <pruned.json | sed -n 's/^searches\[0\]\.plans\[1\]\.//p' | grep -v rank= | cmp - estimate.txt && echo "the same"

"$KERF" estimate small.json -s h100 -b 64 --layout "$text" --format json --set memory_capacity_bytes=90GB | json | grep '^set'

echo "== days and cost"
"$KERF" estimate small.json -s h100 -b 64 --layout tp=2,dp=8 --tokens 2T --price 2.5 --format json | json | awk -F= '
    /^throughput=/ { rate = $2 } /tokens=/ { tokens = $2 } /days=/ { days = $2 } /cost=/ { cost = $2 }
    END { near = days * 86400 * rate * 4096 / tokens; price = cost / (days * 24 * 16 * 2.5)
          print tokens, (near > 0.999999 && near < 1.000001 ? "days agree" : days), (price > 0.999999 && price < 1.000001 ? "cost agrees" : cost) }'
for tokens in 2e12 2000B 2T; do
    "$KERF" estimate small.json -s h100 -b 64 --layout tp=2,dp=8 --tokens $tokens --format json | json | grep training.tokens
done

echo "== what trains changes what it costs"
cost() { "$KERF" estimate small.json -s h100 -b 64 --layout tp=2,dp=8 --format json "$@" | json | sed -n "s/^$key=//p"; }
key=memory.gradients
echo "gradients in bf16: half the bytes: $(awk "BEGIN { print 2 * $(cost --gradients bf16) == $(cost) }")"
key=time_s.dp
echo "and less to reduce: $(awk "BEGIN { print $(cost --gradients bf16) < $(cost) }")"
key=step_time_s
echo "fp8: faster: $(awk "BEGIN { print $(cost --precision fp8) < $(cost) }")"
key=model_flops
echo "multi-token prediction: more FLOP: $("$KERF" estimate deepseek_v3 -s h100 -b 64 --seq-length 4096 --layout pp=8,dp=64,ep=64 --mtp-layers 1 --format json |
    json | awk -F= -v plain="$("$KERF" estimate deepseek_v3 -s h100 -b 64 --seq-length 4096 --layout pp=8,dp=64,ep=64 --format json | json | sed -n 's/^model_flops=//p')" '/^model_flops=/ { print ($2 > plain) }')"

echo "== strategies and cost models imply each other"
asked() { "$KERF" plan gpt3 -s a100 -n 64 -b 64 --top 1 --format json "$@" | json | sed -n 's/.*\]\.\(strategy\|cost_model\)=//p' | tr -d '"' | tr '\n' ' '; echo; }
asked
asked --strategy 1d
asked --strategy all
asked --strategy seqp,summa
asked --cost-model reference
asked --cost-model analytic
asked --strategy hybrid
asked --strategy hybrid --cost-model analytic
