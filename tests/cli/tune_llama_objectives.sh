#!/bin/sh
# kerf tune llama --objective generate and serve without any llama.cpp: a worker and a server that make their numbers up.
. "$DATA/case.sh"
. "$DATA/tune.sh"
make_gguf=$(dirname "$KERF")/tests/make_gguf
"$make_gguf" model.gguf --context 2048 --tokenizer spm 2>&1 || skip "no make_gguf"
KERF_LLAMA_WORKER=$worker; export KERF_LLAMA_WORKER
refuses() {
    echo "\$ kerf $*"
    refused "$@"
}
asked() { # STUDY: what is in its journal of the question
    sed -n '1s/.*"words":\(\[[^]]*\]\).*/\1/p' "studies/$1.jsonl" |
        sed "s|\"[^\"]*simulated_worker\"|\"simulated_worker\"|; s|$PWD/||g"
    sed -n '1s/.*\("params":\[[^]]*\],"wheres":\[[^]]*\]\).*/\1/p' "studies/$1.jsonl"
    sed -n '1s/.*\("defaults":.*"protocol":"[^"]*"\).*/\1/p' "studies/$1.jsonl"
}
flags() { grep -E '^llama-' | sed -E 's/-t [0-9]+/-t T/'; }

echo "== generation: one token of each sequence at a time, so that batches do not matter"
"$KERF" tune llama model.gguf --objective generate --depth 100 --tokens 20 --sequences 2 --threads 3 --interference ignore \
    --study generate --tune kv_type --param kv_type=f16 --param batch=512 --param ubatch=128 --max-observations 2 | flags
asked generate
"$KERF" studies show generate | flags | head -1
"$KERF" tune llama model.gguf --objective generate-cpu --interference ignore --study cpu --max-observations 1 >out
asked cpu | head -1 | sed 's/"--threads","[0-9]*"/"--threads","T"/'
sed -n '1s/.*\("params":\["threads=1\).*\("flash[^]]*\]\).*/\1 ... \2/p' studies/cpu.jsonl

echo "== prompts by processor time"
"$KERF" tune llama model.gguf --objective cpu --context 256 --threads 3 --interference ignore --study prompt --max-observations 1 |
    flags | head -1
asked prompt | head -1

# The server tells its client by a file what it was started with, and takes the file away when it ends.
mkdir bin
cat >bin/llama-server <<'END'
#!/bin/sh
trap 'rm -f now; exit 0' TERM
echo "$*" >now.tmp
mv now.tmp now
sleep 1000 &
wait
END
# tokens_per_s grows with the slots, and with the ubatch up to 128, behind which it falls; the time that a request takes
# grows with the slots.
cat >bin/clients <<'END'
#!/bin/sh
[ -f now ] || exit 1
[ -z "$KERF_WARMUP" ] || exit 0
echo "$*" | sed 's/--port [0-9]*/--port P/' >>asked
sed 's/.*-np \([0-9]*\) -ub \([0-9]*\).*/\1 \2/' now | awk '{
    printf "{\"tokens_per_s\":%g,\"p95_s\":%g}\n", 100 * $1 + ($2 < 128 ? $2 : 160 - $2 / 4), 0.1 * $1
}'
END
chmod +x bin/llama-server bin/clients
KERF_LLAMA_SERVER=$PWD/bin/llama-server KERF_LLAMA_CLIENTS=$PWD/bin/clients; export KERF_LLAMA_SERVER KERF_LLAMA_CLIENTS

echo "== a server, with as many tokens a second as it can, and within a limit on the time of requests"
"$KERF" tune llama model.gguf --objective serve --threads 3 --prompts 32,64 --outputs 8 --interference ignore --study serve >out
echo "status $?"
flags <out
asked serve
sort -u asked
"$KERF" tune llama model.gguf --objective serve --threads 3 --prompts 32,64 --outputs 8 --interference ignore --study limit \
    --fresh --subject-to 'p95_s <= 0.25' --format json >out
echo "status $?"
json <out | grep -E '^(best|recommended)\.setting|^maximize|^llama\.flags|reason="p95_s' | sort | uniq -c | sed 's/^ *//'
"$KERF" studies show limit | flags
[ ! -e now ] && echo "the server has ended"

echo "== by the server's processor time, which may be none at all"
"$KERF" tune llama model.gguf --objective serve-cpu --threads 3 --interference ignore --study serve-cpu --max-observations 1 >out 2>&1
sed -n '1s/.*\("objective":"[^"]*"\).*/\1/p' studies/serve-cpu.jsonl

echo "== what belongs to another objective, and what cannot be meant"
refuses tune llama model.gguf --objective serve --depth 3
refuses tune llama model.gguf --objective serve --param slots=1,2
refuses tune llama model.gguf --context 512 --clients 3
refuses tune llama model.gguf --objective generate --context 512
refuses tune llama model.gguf --objective generate --logits last
refuses tune llama model.gguf --objective serve --prompts 3,x
refuses tune llama model.gguf --objective serve --prompts 300 --outputs 20 --context 100
refuses tune llama model.gguf --objective generate --depth 5000
refuses tune llama model.gguf --objective generate --param parallel=1,2
refuses tune llama model.gguf --objective srve
refuses tune --param n=1,2 --objective serve -- true '{n}'
refuses tune --param n=1,2 --depth 3 -- true '{n}'
refuses tune --param n=1,2 --protocol bench -- sleep '{n}'
refuses tune --param n=1,2 --protocol bench --launcher srun -- sleep '{n}' -- true

echo "== programs that are not there"
KERF_LLAMA_CLIENTS='' KERF_LLAMA_SERVER='' PATH=/usr/bin:/bin "$KERF" tune llama model.gguf --objective serve
echo "status $?"
mkdir alone
cp "$KERF" alone/kerf
KERF_LLAMA_CLIENTS='' alone/kerf tune llama model.gguf --objective serve
echo "status $?"
KERF_LLAMA_WORKER='' alone/kerf tune llama model.gguf --objective generate
echo "status $?"
