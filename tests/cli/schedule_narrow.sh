#!/bin/sh
# No line of kerf schedule is wider than the terminal, in code points; tables lose columns, and say which.
. "$DATA/case.sh"
widest() { tr -d '\200-\277' | LC_ALL=C awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }'; }

# fits ARGUMENT...: runs kerf on terminals of several widths, and shows the answers that are too wide for theirs
fits() {
    echo "\$ kerf schedule $*"
    for COLUMNS in 40 60 80 120; do
        export COLUMNS
        "$KERF" schedule "$@" >answer
        width=$(widest <answer)
        [ "$width" -gt 20 ] || echo "(no answer)"
        [ "$width" -le "$COLUMNS" ] || { echo "$width columns on a terminal of $COLUMNS:"; cat answer; }
    done
}

cp -r "$DATA/../../../examples/runs/megatron" traces
fits --list
fits fit traces
fits zb_h1 --trace traces
fits 1f1b -p 16 -m 8 --jitter 5% --optimizer 1
fits seq1f1b -p 2 -m 2 --slices 8 --attention 50%
fits chimera -p 4 -m 4 --replicas 4
fits compare 1f1b interleaved_1f1b dualpipe zb_h1 -p 4 -m 6,7 --memory-cap 3,4
fits compare 1f1b interleaved_1f1b_overlap -p 4 -m 8 --p2p 0.123456 --jitter 5%
fits compare --memory-frontier -p 2 -m 4 --memory-cap 1..3 --recompute 0,100% --offload 0,100% --offload-time 0.5 --search-steps 100000
"$KERF" schedule best -p 4 -m 12 --memory-cap 3 --search-steps 1000000 --certificate proof.txt >answer
fits verify proof.txt

echo "== as it reads"
for COLUMNS in 40 60; do
    export COLUMNS
    ask schedule 1f1b -p 8 -m 4 --no-ops
    ask schedule compare 1f1b interleaved_1f1b dualpipe zb_h1 -p 4 -m 7 --chunks 2 --memory-cap 3,4
    ask schedule fit traces
done
