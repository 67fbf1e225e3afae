#!/bin/sh
# The catalogue: lists, files to start from, and names that are not there.
. "$DATA/case.sh"
ask models
ask systems
for what in models systems; do
    "$KERF" $what --format json >list.json
    json <list.json | grep 'name='
    test $what = models && source=--source || source=
    for name in $("$KERF" $what | sed '1d; s/ .*//'); do
        "$KERF" $what "$name" $source >"$name.json"
        echo "$name: exit $?, $(json <"$name.json" | wc -l) values"
    done
done
echo "== all of one"
json <gpt3.json
json <a100.json
echo "== what kerf understands of one"
ask models deepseek_v3 --seq-length 4096
ask models gemma3_27b
"$KERF" models deepseek_v3 --seq-length 4096 --format json | json
echo '{"model_type":"llama","hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,"num_attention_heads":4,"num_mystery_heads":4}' >own.json
ask models own.json
echo "== a file in the place of a name"
plan() { "$KERF" plan "$1" -s "$2" -n 64 -b 512 --strategy 1d --top 1 --format json | json | sed '/kerf=/d; s/searches\[0\]\.//'; }
plan gpt3 a100 >names
plan gpt3.json a100.json | cmp - names
grep -e model= -e system= -e throughput names
plan - a100 <gpt3.json | cmp - names
sed '/"name"/d' gpt3.json >mine.json
sed '/"name"/d' a100.json >cluster.json
plan mine.json cluster.json | grep -e model= -e system=
echo "== a folder of the same name does not hide the catalogue"
mkdir gpt3
plan gpt3 a100 | cmp - names
echo "== Hugging Face's other words"
echo '{"n_embd":12288,"n_layer":96,"n_head":96,"n_positions":2048,"vocab_size":50257,"architectures":["GPT2LMHeadModel"]}' >gpt2.json
plan gpt2.json a100 | sed 's/"gpt2"/"gpt3"/' | cmp - names
echo '{"model_type":"opt","vocab_size":50272,"hidden_size":12288,"ffn_dim":49152,"num_layers":96,"num_attention_heads":96,"n_ctx":2048,"rope_theta":1e4}' >opt.json
plan opt.json a100 | sed 's/"opt"/"gpt3"/' | cmp - names
echo "== what there is not"
refused models gtp3
refused models gtp3 --source
refused models --source
refused models --seq-length 5
refused models gpt3 --source --seq-length 5
refused models a100
refused systems h20
refused systems none
refused models gpt3 gpt3_1t
refused systems --format csv
refused models --frmat json
refused models gpt3 --system a100 --precision fp8
refused models llama3_8b --system v100-32
echo "== a file of the user's does not take a name of kerf's own in silence"
mkdir -p own/models own/systems
"$KERF" models llama3_8b --source >own/models/llama3_8b.json
"$KERF" models llama3_8b --catalogue own | head -n 1
sed 's/4096/2048/' own/models/llama3_8b.json >changed.json && mv changed.json own/models/llama3_8b.json
"$KERF" models llama3_8b --catalogue own 2>&1
echo "exit $?"
"$KERF" models own/models/llama3_8b.json | sed -n 3p
