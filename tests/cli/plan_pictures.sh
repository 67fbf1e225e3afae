#!/bin/sh
# Pictures as SVG: well-formed, the same each time, and saying what they show.
. "$DATA/case.sh"
# Checks that tags are closed in the order in which they were opened.
tags() {
    tr '\n' ' ' <"$1" | sed 's/<[?!][^>]*>//g; s/>/>\n/g' | awk -v file="$1" '
        { sub(/^[^<]*/, "") }
        $0 !~ /^</ || /\/>$/ { next }
        /^<\// { name = substr($0, 3, length($0) - 3); if (open[depth--] != name) { print file ": </" name "> closes <" open[depth + 1] ">"; exit 1 }; next }
        { sub(/^</, ""); sub(/[ >].*/, ""); open[++depth] = $0 }
        END { if (depth != 0) print file ": " depth " tags are not closed" }'
}
words() { tr '\n' ' ' <"$1" | sed 's/<[^>]*>/\n/g' | grep -v '^ *$'; }
told() { words "$1" | head -n 2 | sed 's/; /;\n  /g'; }
draw() {
    name=$1
    shift
    "$KERF" plan "$@" --cost-model reference -o "$name.svg" -o "$name.txt" -o again.svg
    echo "exit $?"
    cmp "$name.svg" again.svg
    "$KERF" plan "$@" --cost-model reference --threads 1 -o again.svg -o again.txt
    cmp "$name.svg" again.svg
    grep -c '^<svg\|^<?xml' "$name.svg"
    tags "$name.svg"
}
echo "== one search"
draw one gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 3
told one.svg
echo "== every word of it"
words one.svg | tail -n +3
echo "== several sizes"
draw sizes gpt3 -s a100,b200 -n 64..512:x2 -b 512 --strategy 1d,seqp --top 1
told sizes.svg
echo "== several systems at one size"
draw systems gpt3 -s a100,b200,h200 -n 64 -b 512 --strategy 1d --top 1
told systems.svg
echo "== several models, of which one does not fit"
draw models vit_era5,gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 1
told models.svg
echo "== more than a picture holds"
draw many gpt3 -s a100,b200,h200 -n 64,128 -b 512 --scale-up-size 1,2,4,8,16 --top 1
told many.svg
draw tall gpt3 -s a100 -n 256 -b 512 --top 1000 --strategy 1d
told tall.svg | grep -c dp
draw winners gpt3 -s a100,b200,h200 -n 64 -b 512 --scale-up-size 1,2,4,8,16 --top 1
told winners.svg | sed -n 2,4p

echo "== names that XML must escape"
cat >model.json <<END
{"name": "a<b>&\"c\"'", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 8,
 "num_attention_heads": 16, "max_position_embeddings": 1024}
END
draw escaped model.json -s a100 -n 8 -b 64 --strategy 1d --top 1
told escaped.svg
