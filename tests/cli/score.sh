#!/bin/sh
# kerf score, kerf calibrate, kerf stacks: figures of the published runs, predictions, files of constants, and what is refused.
. "$DATA/case.sh"
run() { printf '$ kerf %s\n' "$*"; "$KERF" "$@" 2>&1; echo "exit $?"; }
header=id,source,provenance,gpu,gpus,gpus_per_node,framework,model,params_b,layers,hidden,ffn,glu,heads,kv_heads,vocab,experts,topk,seq,gbs,mbs,tp,pp,vpp,cp,ep,dp,zero,seqpar,recompute,attn,precision,step_s,tflops_gpu,tflops_kind,tok_s_gpu,mfu_pct,mem_gib,status,notes
{
    echo $header
    echo 'site-1,x,repo-file,H100,64,8,NeMo,llama3-8b,,,,,,,,,,,8192,128,1,2,1,,,,,,,none,,bf16,3.0,,,,,,ok,'
    echo 'site-2,x,repo-file,H100,64,8,NeMo,llama3-8b,,,,,,,,,,,8192,256,1,4,1,,,,,,,none,,bf16,6.5,,,,,,ok,'
    echo 'site-3,x,repo-file,H100,128,8,NeMo,llama3-70b,,,,,,,,,,,8192,128,1,4,4,5,,,,,,none,,bf16,9.0,,,,,,ok,'
    echo 'other-1,x,repo-file,A100,8,8,Megatron-LM,,,24,2048,8192,0,16,16,50257,,,2048,64,2,8,1,,,,,,,full,,fp16,,,,,,,oom,'
    echo 'other-2,x,repo-file,H100,8,8,NeMo,Nemotron-H 8B,,,,,,,,,,,8192,64,1,8,1,,,,,,,,,bf16,,,,,,,,'
    echo 'other-4,x,repo-file,H100,64,8,NeMo,llama3-8b,,,,,,,,,,,8192,100,1,2,1,,,,,,,none,,bf16,1.0,,,,,,ok,'
    echo 'other-3,x,repo-file,H100,8 GPUs,8,NeMo,llama3-8b,,,,,,,,,,,8192,64,1,8,1,,,,,,,,,bf16,,,,,,,,'
    echo 'other-5,x,repo-file,RTX 4090,8,8,NeMo,llama3-8b,,,,,,,,,,,8192,64,1,8,1,,,,,,,,,bf16,,,,,,,,'
    echo 'other-6,x,repo-file,TPU v5p,8,8,NeMo,llama3-8b,,,,,,,,,,,8192,64,1,8,1,,,,,,,,,bf16,,,,,,,,'
    echo 'other-7,x,repo-file,RTX 4090,8,8,NeMo,llama3-8b,,,,,,,,,,,8192,64,1,8,1,,,,,,,,,bf16,,,,,,,,'
    echo 'other-8,x,repo-file,H100,8,8,NeMo,my-model,,,,,,,,,,,8192,64,1,8,1,,,,,,,,,bf16,,,,,,,,'
} >runs.csv

# the published runs, by framework; the same as text for a page
run score --by framework | sed 's/  */ /g'
run score --format markdown | tail -3
run score --format csv | head -1
run score --worst 2 --format csv
run score --worst 2 -o score.md

# a table: what cannot be predicted is told, once for each reason
run score runs.csv
run score runs.csv --worst 1 --format json | tr ',' '\n' | grep -c '"time_s"'
run score runs.csv --predictions p.csv -o scatter.svg
cut -d, -f1,2,8- p.csv
grep -c '<svg' scatter.svg
gzip -k runs.csv
run score runs.csv.gz --format csv | tail -2 | cut -d, -f1,2
"$KERF" score - --format csv <runs.csv | tail -2 | cut -d, -f1,2

# a site: constants, and their use
run calibrate runs.csv --system h100 -o site.json | sed 's/  */ /g'
run score runs.csv --calibration site.json --format csv | tail -2 | cut -d, -f1,2
run estimate llama3_8b -s h100 -b 128 --layout tp=4,dp=16 --stack nemo --calibration site.json --format json | tr ',' '\n' | grep -c step_low_s

# what it was not fitted to is told
run estimate llama3_8b -s h200-hgx -b 128 --layout tp=8 --calibration site.json | grep -e ignored -e exit
calibration_of() { "$KERF" "$@" --format json | sed 's/.*"calibration":\({[^}]*}\).*/\1/'; }
calibration_of estimate llama3_8b -s h200-hgx -b 128 --layout tp=8 --stack nemo --calibration site.json 2>&1
calibration_of plan llama3_8b -s h100,h200-hgx,h200-hgx -n 8 -b 128 --stack nemo --calibration site.json 2>&1
run score runs.csv --calibration site.json | grep -e ignored -e exit
calibration_of score runs.csv --calibration site.json 2>&1
sed 's/"systems":\["h100"\],"stacks":\["nemo"\],//' site.json >older.json
cmp -s site.json older.json || calibration_of estimate llama3_8b -s h200-hgx -b 128 --layout tp=8 --calibration older.json 2>&1

# a log and its launch
for i in 1 2 3 4 5 6 7 8; do
    echo " [2026-01-02] iteration $i/ 100 | consumed samples: 12 | elapsed time per iteration (ms): 614$i.5 | lr: 1"
done >train.log
"$KERF" plan llama3_8b -s h100 -n 64 -b 512 --emit megatron >train.sh
run calibrate --log train.log --launch train.sh --system h100 -o site.json | sed 's/  */ /g'
"$KERF" calibrate --log train.log -m llama3_8b --layout dp=16,cp=4,micro_batch=2 -b 512 --system h100 -o options.json >/dev/null 2>&1
cmp site.json options.json && echo same
run calibrate --log train.log --system h100
run calibrate --log train.log --model llama3_8b --system h100
run calibrate runs.csv --layout tp=8 --system h100
run calibrate --launch train.sh --system h100
run calibrate --log runs.csv --launch train.sh --system h100

# what is refused
run score nothing.csv
run score runs.csv runs.csv
run score runs.csv --stack nobody
run score runs.csv --calibration runs.csv
run score runs.csv --by colour
printf 'id,source\n1,2\n' >short.csv
run score short.csv
run calibrate runs.csv
run calibrate runs.csv --system b200
run calibrate runs.csv --system h100-hgx
run calibrate runs.csv --system h100 --stack nobody
run calibrate runs.csv --system h100 --all
run calibrate runs.csv --all --folds 3
run calibrate runs.csv --system h100 --without-set nobody
run calibrate runs.csv --all --without-set nobody
run calibrate runs.csv --system h100 --without-set torchtitan --calibration site.json
run calibrate runs.csv --all --without-set site --folds 3 --predictions apart.csv
run plan llama3_8b -s h100 -n 64 -b 128 --stack nobody
run plan gpt3 --strategy 1d -s a100 -n 64 -b 128 --stack nemo
run stacks nobody
run stacks | cut -c1-40
run stacks nemo | head -3

# a table of dirty data: reasons for refusal are told up to twenty
{
    echo $header
    for i in $(seq 1 25); do echo "dirty-$i,x,repo-file,card $i,8,8,NeMo,llama3-8b,,,,,,,,,,,8192,64,1,8,1,,,,,,,,,bf16,,,,,,,,"; done
} >dirty.csv
run score dirty.csv | grep -e 'card 20' -e 'card 21' -e 'other reasons'

# measurements that are not understood are told; a table of which no row can be predicted ends in status 1
{
    sed -n 1,2p runs.csv
    sed -n 3p runs.csv | sed 's/,6.5,/,6.5 s,/'
    sed -n 4p runs.csv | sed 's/,9.0,/,-9,/'
    sed -n 4p runs.csv | sed 's/^site-3/site-4/; s/,ok,$/,fine,/'
} >unclear.csv
run score unclear.csv
"$KERF" score unclear.csv --format json | sed 's/.*"not_compared"/"not_compared"/'
run score dirty.csv | tail -n 1
