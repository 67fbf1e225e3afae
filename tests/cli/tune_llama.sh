#!/bin/sh
# kerf tune llama and kerf bub without any llama.cpp: a worker that makes its times up, and an empty model.
. "$DATA/case.sh"
. "$DATA/tune.sh"
make_gguf=$(dirname "$KERF")/tests/make_gguf
"$make_gguf" model.gguf --context 2048 2>&1 || skip "no make_gguf"
KERF_LLAMA_WORKER=$worker; export KERF_LLAMA_WORKER
refuses() {
    echo "\$ kerf $*"
    refused "$@"
}
# Which setting is the best is another test's.
flags() { grep -E '^llama-|^Memory' | sed -E 's/-b [0-9]+ -ub [0-9]+/-b B -ub U/; s/[0-9.]+ [kM]B/BYTES/g; s/, with the default BYTES//'; }

echo "== the flags, and what the worker was started with"
"$KERF" tune llama model.gguf --context 1024 --threads 3 --interference ignore --study plain >out
echo "status $?"
flags <out
sed -n '1s/.*"words":\(\[[^]]*\]\).*/\1/p' studies/plain.jsonl | sed 's|"[^"]*simulated_worker"|"simulated_worker"|'
sed -n '1s/.*\("params":\[[^]]*\],"wheres":\[[^]]*\]\).*/\1/p' studies/plain.jsonl

echo "== one start of the worker; best_bub's way one for each setting that it tries"
"$KERF" studies show plain --format json | grep -o '"loads":[0-9]*'
"$KERF" tune llama model.gguf --context 1024 --interference ignore --policy best_bub --study theirs --fresh --format json >out
starts=$(grep -o "\"loads\":[0-9]*" out)
tried=$(sed -n 's|.*"n":[0-9]*,"setting":"\([^"]*\)".*|\1|p' studies/theirs.jsonl | uniq | wc -l)
[ "$starts" = "\"loads\":$tried" ] && [ "$tried" -gt 5 ] && echo "as many starts as settings in turn"

echo "== a context that is no power of two has its default too; what llama.cpp refuses is left out"
"$KERF" tune llama model.gguf --context 1000 --interference ignore --study odd --tune kv_type,flash_attention,mmap \
    --max-observations 3 --format json >out
sed -n '1s/.*\("params":\[[^]]*\],"wheres":\[[^]]*\]\).*/\1/p' studies/odd.jsonl
sed -n '1s/.*\("defaults":"[^"]*"\).*/\1/p' studies/odd.jsonl
grep -o '"status":"skipped","reason":"[^"]*"' out | sort | uniq -c | sed 's/^ *//'

echo "== for llama-imatrix"
"$KERF" tune llama model.gguf --context 512 --interference ignore --study imatrix --conform-to-imatrix \
    --param batch=128,512,1024 --max-observations 3 | grep '^llama-imatrix' | flags | sed 's/-t [0-9]*/-t T/'
sed -n '1s/.*\("wheres":\[[^]]*\]\).*/\1/p' studies/imatrix.jsonl
refuses tune llama model.gguf --context 512 --conform-to-imatrix --logits last
refuses tune llama model.gguf --context 512 --conform-to-imatrix --tune threads,kv_type
refuses tune --param b=1,2 --conform-to-imatrix -- true '{b}'

echo "== values of --param: the default is llama.cpp's own, and the flags say what was measured"
"$KERF" tune llama model.gguf --context 512 --threads 3 --interference ignore --study values --max-observations 1 \
    --param batch=512 --param ubatch=512 --param flash_attention=auto --param mmap=off,on --param gpu_layers=0,1 --param kv_type=q8_0,f16 >out
sed -n '1s/.*\("defaults":"[^"]*"\).*/\1/p' studies/values.jsonl
"$KERF" tune llama model.gguf --context 512 --threads 3 --interference ignore --no-journal --max-observations 1 \
    --param batch=512 --param ubatch=512 --param flash_attention=auto --param mmap=off | grep '^llama-server'
"$KERF" tune llama model.gguf --context 512 --threads 1 --gpu-layers 1 --interference ignore --study given --max-observations 1 \
    --param batch=512 --param ubatch=512 --param threads=1,2 --param gpu_layers=0,1,2 >out
sed -n '1s/.*\("defaults":"[^"]*"\).*/\1/p' studies/given.jsonl
refuses tune llama model.gguf --context 512 --threads 7 --param threads=1,2
refuses tune llama model.gguf --context 512 --threads 2 --param threads=1,2 --param batch=512 --param ubatch=512 --default batch=512,ubatch=512,threads=1
refuses tune llama model.gguf --context 512 --gpu-layers 0 --param gpu_layers=1,2
refuses tune llama model.gguf --context 512 --gpu-layers -1 --param gpu_layers=0,1
"$KERF" tune llama model.gguf --context 512 --gpu-layers -1 --interference ignore --study all --max-observations 1 \
    --param batch=512 --param ubatch=512 --param gpu_layers=0,3,9 >out
sed -n '1s/.*\("defaults":"[^"]*"\).*/\1/p' studies/all.jsonl
refuses tune llama model.gguf --context 512 --param treads=1,2
refuses tune llama model.gguf --context 512 --param 'mmap?=--no-mmap'
refuses tune llama model.gguf --context 512 --param kv_type=f16,q9_0
refuses tune llama model.gguf --context 512 --param flash_attention=maybe,on
refuses tune llama model.gguf --context 512 --param mmap=mmap,none
refuses tune llama model.gguf --context 512 --param threads=0..2
refuses tune llama model.gguf --context 512 --param kv_type=f16,q8_0 --conform-to-imatrix

echo "== a policy without a model recommends the best"
"$KERF" tune llama model.gguf --context 512 --interference ignore --no-journal --max-observations 1 --policy exhaustive | grep '^This is'

echo "== memory that is too small, and a single setting"
"$KERF" tune llama model.gguf --context 512 --memory-cap 300kB --no-journal >out
echo "status $?"
head -1 out
"$KERF" tune llama model.gguf --context 2 --interference ignore --no-journal | head -1 | sed 's/: .*)/: TIME/'

echo "== files that are none, or not whole"
bytes() { # bytes FILE TEXT: FILE is the model with TEXT from byte 4 on, its version
    cp model.gguf "$1"
    printf "$2" | dd of="$1" bs=1 seek=4 conv=notrunc 2>/dev/null
}
bytes first.gguf '\001\000\000\000'
bytes later.gguf '\004\000\000\000'
bytes big.gguf '\000\000\000\003'
bytes earlier.gguf '\002\000\000\000'
: >empty.gguf
echo "A text." >text.gguf
head -c 1000 model.gguf >pairs.gguf
head -c 100000 model.gguf >weights.gguf
for file in first later big empty text pairs weights; do refuses tune llama $file.gguf --context 512; done
refuses tune llama . --context 512
"$KERF" tune llama earlier.gguf --context 512 --interference ignore --no-journal --max-observations 1 | grep -c '^llama-server'

echo "== refusals"
refuses tune llama model.gguf
refuses tune llama model.gguf --context 4096
refuses tune llama model.gguf --context 512 --tune treads
refuses tune llama model.gguf --context 512 --objective wall
refuses tune llama model.gguf other.gguf --context 512

echo "== without the worker: llama-bench, or nothing"
unset KERF_LLAMA_WORKER
mkdir alone
cp "$KERF" alone/kerf
echo '$ kerf tune llama model.gguf --context 512'
PATH=/usr/bin:/bin alone/kerf tune llama model.gguf --context 512
echo "status $?"
cat >alone/llama-bench <<'END'
#!/bin/sh
echo "$*" | sed 's/-b [0-9]* -ub [0-9]*/-b B -ub U/' >>calls
echo '{"samples_ns":[1000000]}'
END
chmod +x alone/llama-bench
PATH=$PWD/alone:$PATH alone/kerf tune llama model.gguf --context 512 --threads 2 --interference ignore --max-observations 2 \
    --param kv_type=f16 --param flash_attention=on --tune mmap >out
sort -u calls
PATH=$PWD/alone:$PATH alone/kerf tune llama model.gguf --context 512 --logits all
PATH=$PWD/alone:$PATH alone/kerf tune llama model.gguf --context 512 --logits last --interference ignore --max-observations 1 --fresh --study last | grep ^Memory >out
"$KERF" studies show last | grep ^Memory | cmp - out && echo "as much memory when it is shown again"
echo "== kerf bub"
KERF_LLAMA_WORKER=$worker; export KERF_LLAMA_WORKER
"$KERF" bub --model model.gguf --context-size 512 --n-gpu-layers 50 --threads 3 --temp 0.2 --top-k 3 --top-p 0.5 --min-p 0.1 \
    --seed 3 --repeat-last-n 5 --repeat-penalty 1.1 --presence-penalty 0.1 --frequency-penalty 0.2 --dynatemp-range 0.5 \
    --dynatemp-exp 1.5 --mirostat 1 --mirostat-lr 0.2 --mirostat-ent 4 --max-trials 2 --chunks 2 --conform-to-imatrix \
    --verbosity INFO --interference ignore >out
flags <out
grep -oE '^[0-9]+ measurements' out
grep -oE '"ignore_interference":[01]' "$(ls -t studies/*.jsonl | head -1)"
"$KERF" bub --model model.gguf --context-size 512 --temp 1 --max-trials 1 --chunks 1 --verbosity ERROR -f csv | wc -l
refuses bub
refuses bub --model model.gguf
refuses bub --model nowhere.gguf --context-size 512
refuses bub --model model.gguf --context-size 4096
refuses bub --model model.gguf --context-size 512 --max-trials many
refuses bub --model model.gguf --context-size 512 --chunks 0
refuses bub --model model.gguf --context-size 512 --n-gpu-layer 3
refuses bub --model model.gguf --context-size 512 --verbosity info
# a bound on memory that is not known
LC_ALL=C sed 's/attention\.head_count/attention.head_xount/' model.gguf >headless.gguf
refuses tune llama headless.gguf --context 512 --memory-cap 1GiB
