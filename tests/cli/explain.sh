#!/bin/sh
# kerf explain: a log with timers, without, a trace of another run, and what is refused.
. "$DATA/case.sh"
run() { printf '$ kerf %s\n' "$*"; "$KERF" "$@" 2>&1; echo "exit $?"; }
"$KERF" plan llama3_8b -s h100 -n 64 -b 512 --emit megatron >train.sh
for i in 1 2 3 4 5 6; do
    echo " [2026-01-02] iteration $i/ 100 | consumed samples: 12 | elapsed time per iteration (ms): 690$i.5 | lr: 1"
    echo "(min, max) time across ranks (ms):"
    echo "    forward-backward ...............................: (5812.31, 584$i.77)"
    echo "    forward-compute ................................: (1800.31, 184$i.77)"
    echo "    backward-compute ...............................: (3800.31, 384$i.77)"
    echo "    all-grads-sync .................................: (0.03, 91$i.02)"
    echo "    optimizer ......................................: (20.03, 3$i.02)"
done >train.log
run explain train.log --launch train.sh -s h100 | sed 's/  */ /g'
run explain train.log --launch train.sh -s h100 --format json | tr ',' '\n' | grep -c -e '"measured_s"' -e '"cause"'
# what ran, said by options: the same answer as by its launch
"$KERF" explain train.log --launch train.sh -s h100 >by_launch
"$KERF" explain train.log -m llama3_8b --layout dp=16,cp=4,micro_batch=2 -b 512 -s h100 | diff by_launch - && echo same
grep iteration train.log | sed 's/690/63/' >plain.log
run explain plain.log --launch train.sh -s h100 --stack nemo | sed 's/  */ /g'
run explain train.log -s h100
run explain train.log --launch train.sh
run explain train.log --launch train.sh -s h100 --layout tp=8
run explain train.log -m llama3_8b -b 512 -s h100
run explain train.log -m llama3_8b --layout tp=3 -b 512 -s h100
run explain --launch train.sh -s h100
run explain train.sh --launch train.sh -s h100
run explain nothing.log --launch train.sh -s h100
mkdir traces
run explain traces --launch train.sh -s h100

echo "== a trace of other micro-batches, and one with a part missing"
tasks() { "$KERF" explain traces -m llama3_8b --layout "pp=2,tp=1,micro_batch=1" -b "$1" -s h100 2>&1; echo "exit $?"; }
timers() {
    for rank in 0 1; do
        awk -v rank=$rank -v lost="$1" 'BEGIN {
            for (j = 0; j < 2; j++) {
                printf "%s\"forward-%d-start\":%d,\"forward-%d-end\":%d,", j ? "," : "{", j, 10 * (j + rank), j, 10 * (j + rank + 1)
                begin = 30 + 20 * (j + 1 - rank)
                printf "\"backward-%d-start\":%d,\"%s-%d-end\":%d", j, begin, j && lost ? "other" : "backward", j, begin + 20
            }
            print "}"
        }' >"traces/event_times_PP2_VPP1_TPxCPxDP_rank_0_pp_rank_${rank}_rank_$rank.json"
    done
}
timers 0
tasks 4
tasks 2 | sed 's/  */ /g'
timers 1
tasks 2
