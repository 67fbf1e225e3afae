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
