#!/bin/sh
# Ctrl-C ends a comparison early: what is known is printed, it says what is missing, and the status is 130.
. "$DATA/case.sh"
[ -r /proc/self/status ] || skip "no /proc"
if sanitized; then enough=100; else enough=30; fi # hundredths of a second of work, after which something is known
interrupt() { # a search that never ends, once it has found something
    "$KERF" schedule "$@" -p 8 -m 16 --placement v --forward 1 --backward-input 1.9 --backward-weight 0.8 \
        --p2p 0.05 --memory-cap 4 --search-steps 1000000000000 >out 2>err &
    kerf=$!
    until_true catches_interrupts $kerf
    until_true has_worked $kerf $enough
    kill -s INT $kerf
    status=0
    wait $kerf || status=$?
    echo "exit $status"
    cat out err
}

interrupt compare best zb_v 1f1b -o known.json -o known.txt
json <known.json | grep -E '^(complete|schedules\[[0-9]*\]\.schedule)='
tail -n 1 known.txt
interrupt best --no-ops -o one.txt
tail -n 1 one.txt
