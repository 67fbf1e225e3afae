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
flags() { grep -E '^llama-|^Memory' | sed -E 's/-b [0-9]+ -ub [0-9]+/-b B -ub U/; s/[0-9.]+ [kM]B/BYTES/g'; }

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
    -p batch=128,512,1024 --max-observations 3 | grep '^llama-imatrix' | flags | sed 's/-t [0-9]*/-t T/'
sed -n '1s/.*\("wheres":\[[^]]*\]\).*/\1/p' studies/imatrix.jsonl
refuses tune llama model.gguf --context 512 --conform-to-imatrix --logits last
refuses tune llama model.gguf --context 512 --conform-to-imatrix --tune threads,kv_type
refuses tune -p b=1,2 --conform-to-imatrix -- true '{b}'

echo "== refusals"
refuses tune llama model.gguf
refuses tune llama model.gguf --context 4096
refuses tune llama model.gguf --context 512 --tune treads
refuses tune llama model.gguf --context 512 --objective cpu
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
    -p kv_type=f16 -p flash_attention=on --tune mmap >out
sort -u calls
echo "== kerf bub"
KERF_LLAMA_WORKER=$worker; export KERF_LLAMA_WORKER
"$KERF" bub --model model.gguf --context-size 512 --n-gpu-layers 50 --threads 3 --temp 0.2 --top-k 3 --top-p 0.5 --min-p 0.1 \
    --seed 3 --repeat-last-n 5 --repeat-penalty 1.1 --presence-penalty 0.1 --frequency-penalty 0.2 --dynatemp-range 0.5 \
    --dynatemp-exp 1.5 --mirostat 1 --mirostat-lr 0.2 --mirostat-ent 4 --max-trials 2 --chunks 2 --conform-to-imatrix \
    --verbosity INFO >out
flags <out
grep -oE '^[0-9]+ measurements' out
"$KERF" bub --model model.gguf --context-size 512 --temp 1 --max-trials 1 --chunks 1 --verbosity ERROR -f csv | wc -l
refuses bub
refuses bub --model model.gguf
refuses bub --model nowhere.gguf --context-size 512
refuses bub --model model.gguf --context-size 4096
refuses bub --model model.gguf --context-size 512 --max-trials many
refuses bub --model model.gguf --context-size 512 --chunks 0
refuses bub --model model.gguf --context-size 512 --n-gpu-layer 3
refuses bub --model model.gguf --context-size 512 --verbosity info
