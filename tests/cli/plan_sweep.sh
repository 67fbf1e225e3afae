#!/bin/sh
# A sweep: its order, its table and the other formats.
. "$DATA/case.sh"
echo "== models, systems, domains, strategies, sizes; the last ones innermost"
"$KERF" plan vit_era5,gpt3 -s h200,a100 --scale-up-size 8,4 --strategy seqp,1d -n 512,256 -b 512 --top 1 --format json >sweep.json
json <sweep.json | awk -F'[=.]' '
    / *searches\[[0-9]*\]\.(model|system|scale_up_size|strategy|gpus)=/ { line = line " " $3 }
    $2 == "gpus" { print substr(line, 2); line = "" }'
echo "== all is 1d, summa, seqp; models may be several words"
"$KERF" plan gpt3 gpt3_1t -s a100 -n 512 -b 512 --strategy all --top 1 --format json | json | grep -e '\.model=' -e '\.strategy='
echo "== sizes"
for sizes in 64..256:x2 64..256:+96 64..66 8,64..128:x2,512 64,64; do
    echo "$sizes:" "$("$KERF" plan gpt3 -s a100 -n "$sizes" -b 512 --strategy 1d --format json | json | sed -n 's/.*\.gpus=//p' | tr '\n' ' ')"
done

ask plan gpt3 -s a100,b200 -n 64..256:x2 -b 512 --strategy 1d --top 1
echo "== scaling is against the smallest size, in whatever order the sizes are"
"$KERF" plan gpt3 -s a100 -n 256,64,128 -b 512 --strategy 1d --top 1 | sed -n '/^gpus/,/^$/p'
ask plan gpt3,vit_era5 -s a100 -n 4096 -b 512 --strategy 1d --top 1
ask plan gpt3 -s b200 -n 512 -b 512 --scale-up-size 4,8,64 --strategy seqp --top 1
ask plan gpt3 -s a100,b200 -n 64,128 -b 512 --strategy 1d --top 2 --format csv
ask plan gpt3 -s a100 -n 64,128 -b 512 --strategy 1d,seqp --top 2 --format markdown

echo "== names that CSV must quote"
cat >model.json <<END
{"name": "a \"b\", c", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 8,
 "num_attention_heads": 16, "max_position_embeddings": 1024}
END
"$KERF" plan model.json -s a100 -n 8 -b 64 --strategy 1d --top 1 --format csv | cut -c 1-40
