#!/bin/sh
# Bad input is answered with one line on standard error that says where and what, status 2, and nothing else.
. "$DATA/case.sh"
cat >good.json <<END
{"hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":8,"num_attention_heads":16,"max_position_embeddings":1024}
END
"$KERF" systems a100 >sys.json
plan() { refused plan "$@" --gpus 8 --global-batch 64 --strategy 1d --format json; }
model() {
    cat >m.json
    plan m.json --system sys.json
}
system() {
    cat >y.json
    plan good.json --system y.json
}
# good.json with another value of a key
with() { sed "s/\"$1\":[0-9]*/\"$1\":$2/" good.json | model; }
# sys.json with its line about a key changed
change() { sed "s|\"$1\": [^,]*|\"$1\": $2|" sys.json | system; }
many() { head -c "$2" /dev/zero | tr '\0' "$1"; }

"$KERF" plan good.json -s sys.json --gpus 8 --global-batch 64 --strategy 1d --format json --top 1 | json | grep candidates

echo "== model files"
model </dev/null
echo hello | model
echo '[]' | model
echo '"gpt3"' | model
head -c -9 good.json | model
printf '{"hidden_size": 1024, "name": "\342\202' | model
printf '{"hidden_size": 1024, "name": "\377\376"}' | model
printf '\377\376{\0"\0' | model
head -c 100 /dev/zero | model
many '[' 200000 | model
many '{' 200000 | sed 's/{/{"a":/g' | model
with num_attention_heads 0
with hidden_size -4096
with num_hidden_layers 1000000000000000000000000000000
with num_hidden_layers 1e30
with num_hidden_layers 2.5
with hidden_size '"many"'
with hidden_size null
with hidden_size true
with hidden_size '[1024]'
echo '{"hidden_size": NaN}' | model
echo '{"hidden_size": Infinity}' | model
echo "{'hidden_size': 1024}" | model
echo '{"hidden_size": 1024}' | model
sed 's/}/,"hidden_size":2048}/' good.json | model
with num_attention_heads 7
sed 's/"hidden_size":1024,"intermediate_size":4096/"hidden_size":4611686018427387904,"intermediate_size":4611686018427387904/' good.json | model
sed 's/}/} {}/' good.json | model
sed 's/,"hidden/, "hidden/; s/:1024,/:1024,,/' good.json | model
with max_position_embeddings 0
sed 's/,"max_position_embeddings":1024//' good.json | model
{ cat good.json; many ' ' 17000000; } | model
many '\n' 3 | cat - good.json | sed 's/:16,/:"16,/' | model

echo "== system files"
change memory_bandwidth_bytes_per_s 0
change latency_s -1
change efficiency 7
change efficiency 0
change memory_capacity_bytes '"80 GX"'
change memory_capacity_bytes '"GB"'
change memory_capacity_bytes '"80 TFLOP/s"'
change matrix_flops_per_s 1e999
change matrix_flops_per_s '"1e999 TFLOP/s"'
change matrix_flops_per_s '"nan TFLOP/s"'
change matrix_flops_per_s NaN
change size 0
change size 2.5
change nics_per_device 0
sed 's/memory_capacity_bytes/memory_capcity_bytes/' sys.json | system
sed 's/"latency_s": "2.5 us"/"latency_us": 2.5/' sys.json | system
sed '/memory_capacity_bytes/d' sys.json | system
sed 's/"scale_out": {/"scale_out": 5, "x": {/' sys.json | system
sed '2s/^/"name": "b",/' sys.json | system
plan good.json --system good.json
plan sys.json --system sys.json

echo "== no files at all"
mkdir folder
truncate -s 1G gigabyte.json
plan folder --system sys.json
plan good.json --system folder
plan none.json --system sys.json
plan folder/none --system sys.json
plan gpt4 --system sys.json
plan nothing --system sys.json
plan good.json --system a10
plan /dev/zero --system sys.json
plan good.json --system /dev/zero
plan gigabyte.json --system sys.json
plan '' --system sys.json
plan good.json,, --system sys.json
plan "$(many x 5000)" --system sys.json
plan "$(printf 'a\nb\033[31mc')" --system sys.json

echo "== options"
option() { refused plan good.json --system sys.json --gpus 8 --global-batch 64 --strategy 1d --format json "$@"; }
option --gpus 0
option --gpus -8
option --gpus 1e99
option --gpus 99999999999999999999
option --gpus 2000000000
option --gpus 8x
option --gpus 8,,16
option --gpus 16..8
option --gpus 8..16:x1
option --gpus 8..16:3
option --gpus 1..200000
option --gpus
option --gpus --top 5
option --global-batch x
option -b 0
option -b 1.5
option --seq-length -1
option --strategy 2d
refused plan glm_4_5_air --system a100 --gpus 8 --global-batch 8 --seq-length 2048 --strategy 1d
option --strategy 1d,,seqp
option --strategy ''
option --attention flash
option --attention summa
option --attention recomputed --strategy all
option --scale-up-size 0
option --scale-up-size two
option --cost-model refrence
option --format yaml
option --top 0
option --top 1000000
option --threads -1
option --threads 100000
option --frobnicate 1
option --gpu 8
option --sett a=b
option --layers
option -x
option -o
option -o plan
option -o plan.gif
option --set scale_up.bandwith_bytes_per_s=3GB/s
option --set scale_up.efficiency=7
option --set memory_capacity_bytes=80GX
option --set memory_capacity_bytes
option --set =3
option --set num_attention_heads=7
option --set hidden_size=1e30
option --set size=4 --set x=1
option good2.json
refused plan
refused plan gpt3
refused plan gpt3 -s a100
refused plan gpt3 -s a100 -n 8
refused plan gpt3 -n 8 -b 8
refused plan gpt3,gpt3_1t -s a100,b200 --scale-up-size 1..1000 --gpus 1..1000 -b 8
