#!/bin/sh
# kerf schedule fit and --trace: what measured runs say, drawn above the simulation.
. "$DATA/case.sh"
cp -r "$DATA/../../../examples/runs" runs
ask schedule fit "runs/megatron"
ask schedule fit "runs/torch" --trace-step 1
ask schedule fit "runs/torch" --format json
ask schedule zb_h1 --trace "runs/megatron"
ask schedule --trace "runs/torch"
ask schedule compare 1f1b zb_h1 interleaved_1f1b --chunks 2 --trace "runs/megatron"

echo "== compressed files say the same"
"$KERF" schedule fit "runs/torch" >plain.txt
gzip runs/torch/*.json
"$KERF" schedule fit "runs/torch" | cmp - plain.txt && echo same
gunzip runs/torch/*.gz

echo "== best is no longer than any schedule of the comparison, wherever it has the stages"
ask schedule compare zb_h1 zb_v best --trace "runs/megatron" --search-steps 20000000

echo "== the fit as times of another schedule"
"$KERF" schedule fit "runs/megatron" -o times.json
json <times.json | grep '^measured' | sed -E 's/(\[0\].*=)[0-9.e-]+$/\1N/; s/(p2p.*=)[0-9.e-]+$/\1N/' | grep -v '\[[1-9]\]'
ask schedule zb_h1 -p 4 -m 8 --times times.json --no-ops
"$KERF" schedule zb_h1 --trace "runs/megatron" --no-ops -o run.svg >/dev/null
grep -c 'Measured (Megatron timers)' run.svg

echo "== a forward that clocks have begin before the backward in front of it has ended"
sed -i 's/"forward-2-start": 10122.5922/"forward-2-start": 10122.5919/' runs/megatron/*_pp_rank_0_rank_0.json
for picture in svg html txt; do
    "$KERF" schedule --trace "runs/megatron" -o overlap.$picture >/dev/null && echo "$picture is drawn"
done

echo "== refused"
refused schedule fit
refused schedule fit nowhere
mkdir empty
refused schedule fit empty
refused schedule fit "runs/torch" --trace-step 7
refused schedule fit "runs/torch" --format svg
refused schedule zb_v --trace "runs/megatron"
for option in "-p 3" "-m 4" "--chunks 2" "--recompute 50%" "--offload 50%"; do
    # shellcheck disable=SC2086
    refused schedule --trace "runs/megatron" $option
done

echo "== measured jitter takes as long as the run in the mean, where slow operations raise it above the median"
mkdir skewed
awk 'BEGIN {
    printf "{"
    for (j = 0; j < 40; j++) {
        printf "%s\"forward-%d-start\": %d, \"forward-%d-end\": %d,", j ? "," : "", j, at, j, at + (j % 5 ? 10 : 30)
        at += j % 5 ? 10 : 30
        printf "\"backward-%d-start\": %d, \"backward-%d-end\": %d", j, at, j, at + (j % 5 ? 20 : 60)
        at += j % 5 ? 20 : 60
    }
    printf "}"
}' >skewed/event_times_PP1_VPP1_TPxCPxDP_rank_0_pp_rank_0_rank_0.json
ask schedule --trace skewed --jitter trace --no-ops
ask schedule --trace skewed --jitter trace --straggler 0:2 --no-ops

echo "== a trace of other sizes, or with a part missing, is no measure of the simulation"
# timers NAME END: two micro-batches on one rank; the first backward ends there
timers() {
    mkdir "$1"
    echo "{\"forward-0-start\":0,\"forward-0-end\":10,\"forward-1-start\":10,\"forward-1-end\":20,
          \"backward-0-start\":20,\"backward-0-end\":$2,\"backward-1-start\":40,\"backward-1-end\":60}" \
        >"$1/event_times_PP1_VPP1_TPxCPxDP_rank_0_pp_rank_0_rank_0.json"
}
timers whole 40
timers over 55
timers part 40
sed -i 's/"backward-1-end":60/"other":60/' part/*
ask schedule 1f1b --trace whole -m 4 --no-ops
ask schedule 1f1b --trace part --no-ops
"$KERF" schedule 1f1b --trace part --no-ops --format json 2>/dev/null | json | grep '^measured'
"$KERF" schedule fit part -o part.json
ask schedule --trace over --no-ops
ask schedule fit over
sed -i 's/:[0-9][0-9]*/:5/g' whole/*
ask schedule fit whole
