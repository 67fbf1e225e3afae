#!/bin/sh
# Why the best is the best, what memory buys, what would help where nothing fits, and what the sizes of a model cost:
# what is told, and that its numbers agree with other answers.
. "$DATA/case.sh"
cat >small.json <<END
{"model_type":"llama","hidden_size":2048,"intermediate_size":5632,"num_hidden_layers":14,"num_attention_heads":16,
 "num_key_value_heads":8,"vocab_size":32000,"max_position_embeddings":4096}
END
small() { "$KERF" plan small.json -s h100 -n 16 -b 64 "$@"; }

echo "== why: its keys"
small --why --format json >why.json
json <why.json | grep 'why\.' | sed 's/=.*//; s/\[[0-9]*\]/[]/g; s/time_s\..*/time_s.PART/' | awk '!seen[$0]++' | sort
echo "== each other value is another one, and no better"
json <why.json | awk -F= '/plans\[0\].step_time_s/ { best = $2 }
    /others\[[0-9]*\]\.dimension/ { dimension = $2; gsub(/"/, "", dimension) }
    /others\[[0-9]*\]\.value/ { value = $2 } /others\[[0-9]*\]\.best/ { if (value == $2) print dimension " is the same" }
    /others\[[0-9]*\]\.step_time_s/ { step = $2; if (step < best) print dimension " is better" }
    /others\[[0-9]*\]\.slower_s/ { off = step - best - $2; if (off > 1e-12 || off < -1e-12) print dimension ": " off }
    /others\[[0-9]*\]\.dimension/ { print dimension }'
echo "== a search for that value alone finds it"
json <why.json | sed -n 's/.*others\[[0-9]*\]\.\(dimension\|value\|layout_text\)="\(.*\)"/\2/p' | paste - - - | while read -r dimension value text; do
    case $dimension in
    dp | tp | pp | micro_batch) ;;
    *) continue ;;
    esac
    small --"$(echo "$dimension" | tr _ -)" "$value" --top 1 --format json | json | sed -n 's/.*layout_text="\(.*\)"/\1/p' >found
    [ "$(cat found)" = "$text" ] && echo "$dimension: the same"
done
echo "== turns: at the value another layout wins, and a little before it the best one still does"
best=$(json <why.json | sed -n 's/.*plans\[0\].layout_text="\(.*\)"/\1/p')
winner() { small --top 1 --format json "$@" | json | sed -n 's/.*plans\[0\].layout_text="\(.*\)"/\1/p'; }
json <why.json | sed -n 's/.*turns\[\([0-9]*\)\]\.\(quantity\|at\|layout_text\)=\(.*\)/\1 \2 \3/p' | tr -d '"' >turns
for i in 0 1 2 3 4 5 6 7; do
    quantity=$(sed -n "s/^$i quantity //p" turns) at=$(sed -n "s/^$i at //p" turns) text=$(sed -n "s/^$i layout_text //p" turns)
    [ "$at" = null ] || [ -z "$text" ] && continue
    if [ "$quantity" = global_batch ]; then
        there=$("$KERF" plan small.json -s h100 -n 16 -b "$at" --top 1 --format json | json | sed -n 's/.*plans\[0\].layout_text="\(.*\)"/\1/p')
    else
        there=$(winner --set "$quantity=$at")
    fi
    [ "$there" = "$text" ] || echo "$quantity $at: $there wins, not $text"
    [ "$there" != "$best" ] || echo "$quantity $at: the same layout wins"
done
echo "turns: $(sed -n 's/.* quantity //p' turns | sort | uniq -c | tr -s ' \n' ' ')"
echo "== the table: its titles"
COLUMNS=200 small --why | sed -n '/^Why/p; /^with/p; /^the runner-up/p; /^What/p; /^quantity/p' | tr -s ' ' | sed 's/^the runner-up.*/the runner-up .../'
for COLUMNS in 40 60; do
    export COLUMNS
    small --why | sed -n '/^Why/,$p' | awk -v most="$COLUMNS" 'length($0) > most && !/^  dp=[0-9]/ { print "too wide: " $0 }'
done
small --why | sed -n '/^with/,/^$/p' | sed -n '2,3p' | sed -E 's/[0-9.]+ %/N %/; s/dp=.*/dp=.../' | tr -s ' '
unset COLUMNS
COLUMNS=70 small --why | awk 'length($0) > 70 && !/--layout|dp=[0-9]/ { print "too wide: " $0 }'

echo "== the front: drawn for a file of that name, or where it is asked for"
small -o front.svg -o plan.svg >table.txt
grep -o '<title>[^<]*' front.svg | sed 's/[0-9][0-9.,]*/N/g' | head -n 1
grep -c 'the least time within a memory' front.svg
grep -c 'the least time within a memory' plan.svg
small --picture front -o other.svg -o plan.txt
cmp front.svg other.svg && cmp table.txt plan.txt && echo "the same"
small --picture bars -o front.svg >table.txt
cmp front.svg plan.svg && echo "bars: the same as plan.svg"
small --picture front --format svg | cmp - other.svg && echo "standard output: the same"
echo "== in JSON: less memory takes longer, and each is the best within its memory"
small --picture front -o front.svg -o front.json
json <front.json | awk -F= '/front\[[0-9]*\]\.step_time_s/ { if ($2 < step) print "faster with less"; step = $2; n++ }
    /front\[[0-9]*\]\.memory_bytes/ { if (bytes && $2 >= bytes) print "more memory"; bytes = $2 } END { print (n > 3 ? "several points" : n) }'
point() { json <front.json | sed -n "s/.*front\[2\]\.$1=//p"; }
small --top 1 --set memory_capacity_bytes="$(point memory_bytes)" --format json | json | sed -n 's/.*plans\[0\].step_time_s=//p' >step
[ "$(cat step)" = "$(point step_time_s)" ] && echo "found again"
"$KERF" plan small.json -s h100,a100-80 -n 8,16 -b 64 -o front.svg >table.txt
grep -o '>8 x a100-80<\|>8 x h100<\|>16 x a100-80<\|>16 x h100<' front.svg | sort -u

echo "== nothing fits: what would help"
tight() { "$KERF" plan small.json -s h100 -n 16 -b 64 --set memory_capacity_bytes=12GB "$@"; }
tight --tp 1 --pp 1 --zero 0 --recompute none >table.txt
echo "exit $?"
sed -n 's/  .*//; /^without/p; /^with --/p' table.txt | head -n 1
tight --tp 1 --pp 1 --zero 0 --recompute none --format json | json | grep 'mends\[0\]\.change'
echo "== with the change it fits"
tight --pp 1 --zero 0 --recompute none --top 1 --format json | json | sed -n 's/.*plans\[0\].layout_text=//p' >found
tight --tp 1 --pp 1 --zero 0 --recompute none --format json | json | sed -n 's/.*mends\[0\].layout_text=//p' | cmp - found && echo "the same layout"
echo "== a number of accelerators that divides nothing"
"$KERF" plan llama3_70b -s h100 -n 509 -b 1024 | grep -o 'No layout\|504 and 512' 
"$KERF" plan llama3_70b -s h100 -n 509 -b 1024 --format json | json | grep -e gpus_that -e candidates=

echo "== the sizes of a model"
cat >odd.json <<END
{"model_type":"llama","hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,
 "vocab_size":50257,"max_position_embeddings":4096}
END
"$KERF" models odd.json --tp 8 -s a100-80 | sed -E 's/[0-9.]+ m?s/T/g; s/\([0-9.]+ %\)/(P)/g; s/  +/  /g'
"$KERF" models odd.json --tp 8 -s a100-80 --format json | json | grep advice | sed 's/_s=.*[1-9].*/_s=T/'
"$KERF" models llama3_70b --tp 8 -s h100 | tail -n 1
echo "== what cannot be"
refused models odd.json --tp 8
refused models odd.json --micro-batch 2
refused models odd.json --precision fp8
refused models odd.json --tp 3 -s h100
refused models odd.json --ep 2 -s h100
refused models deepseek_v3 --ep 3 -s h100
refused models -s h100
refused models odd.json -s h100 --source
refused models odd.json -s none
refused models odd.json -s h100 --tp 0
echo "== what it tells is the nearest value at which another layout wins, to half a per cent"
near() { # OPTION...
    "$KERF" plan llama3_8b -s h100 -n 64 -b 256 --top 1 "$@" --why --format json >why.json
    winner() { "$KERF" plan llama3_8b -s h100 -n 64 -b 256 --top 1 "$@" --format csv | sed -n 2p | grep -oE '"?dp=[^"]*'; }
    now=$(winner "$@")
    awk -f "$DATA/json.awk" why.json | sed -n 's/^searches\[0\]\.why\.turns\[\([0-9]*\)\]\.\(quantity\|now\|at\)=/\1 \2 /p' |
        awk '{ gsub(/"/, "") } $2 == "quantity" { q = $3 } $2 == "now" { now = $3 } $2 == "at" && $3 + 0 > 0 && q != "global_batch" {
            printf "%s %.17g %.17g\n", q, $3, $3 * ($3 > now ? 0.99 : 1.01) }' |
        while read -r quantity at before; do
            [ "$(winner "$@" --set "$quantity=$at")" != "$now" ] && [ "$(winner "$@" --set "$quantity=$before")" = "$now" ] &&
                echo "$quantity: so it is"
        done
}
near
near --safe
