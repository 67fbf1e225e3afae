#!/bin/sh
# A neighbour that keeps the machine busy while a study runs: what it disturbs is measured again after a wait and does
# not count; it goes away, or never does, or is not looked at.
. "$DATA/case.sh"
. "$DATA/tune.sh"
unset KERF_FSROOT
command -v taskset >/dev/null || skip "no taskset(1), of util-linux, to share a processor with a neighbour"
processor=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
observations() { grep '"n":' "studies/$1.jsonl"; }
count() { observations "$1" | grep -c "$2"; }
facts() { grep -oE '"stopped":"[a-z_]*"|"reason":"[^"]*disturbed[^"]*"|"remeasured":[0-9]+|"best":(null|\{"setting":\{[^}]*\})' "$1" | head -4; }

# kerf tune ARGUMENT... on that one processor, with the status
here() {
    status=0
    taskset -c "$processor" "$KERF" tune --param n=1..3 --fresh --format json "$@" >out || status=$?
    echo "status $status"
}

# Two thirds of the processor are not the program's: the kernel gives three that spin as much each.
cat >burn <<'END'
#!/bin/sh
i=0
while [ $i -lt 200000 ]; do i=$((i + 1)); done
END
chmod +x burn
neighbours=
for neighbour in 1 2; do
    taskset -c "$processor" sh -c 'while :; do :; done' &
    neighbours="$neighbours $!"
done
# shellcheck disable=SC2086
trap 'kill $neighbours 2>/dev/null' EXIT

echo "== a neighbour that spins and never goes away"
here --study never --patience 1s -- ./burn '{n}'
facts out | sed 's/used [0-9.]* of 1/used SO MUCH of 1/'
echo "$(count never '"disturbed":true') of $(count never .) are disturbed"
"$KERF" studies show never | grep "^Too noisy" | sed 's/used [0-9.]* of 1/used SO MUCH of 1/; s/ \(confident\|budget\)//'

echo "== it is ignored"
here --study ignored --interference ignore --max-observations 5 -- ./burn '{n}' | sed 's/status [01]/it ends/'
grep -oE '"remeasured":[0-9]+|"best":\{"setting"' out
echo "$(count ignored '"disturbed":true\|"others"') say what others did"
# shellcheck disable=SC2086
kill $neighbours
wait

# The rest is of a system that is a folder, in which the processors do what the program writes, whatever this machine does.
mkdir -p system/proc
export KERF_FSROOT="$PWD/system"
cat >bench <<'END'
#!/bin/sh
[ -z "$pause" ] || sleep "$pause"
# bench N: takes N, or a hundred while it is disturbed, which takes 1000 s of the processor for each run
left=$(cat left)
used=$(cat used)
value=$1
if [ "$left" -gt 0 ]; then
    left=$((left - 1))
    used=$((used + 100000))
    value=100
fi
echo $left >left
echo $used >used
sed "s/USED/$used/" stat >system/proc/stat
echo "took $value"
END
chmod +x bench
# begin RUNS COLUMNS: so many runs are disturbed, by the one who uses what is USED of /proc/stat's columns
by_hypervisor='0 0 0 5 0 0 0 USED' by_others='USED 0 0 5 0 0 0 0'
begin() {
    echo "$1" >left
    echo 1000 >used
    echo "cpu$processor $2" >stat
    sed "s/USED/1000/" stat >system/proc/stat
}
bench() { here --objective 'regex:took ([0-9]+)' "$@" -- ./bench '{n}'; }

echo "== a hypervisor that takes the processor, and gives it back"
begin 4 "$by_hypervisor"
bench --study gone --patience 3.1s
facts out
echo "$(count gone '"disturbed":true') are disturbed, $(count gone '"disturbed":true.*the hypervisor took') of them say why"
observations gone | grep '"disturbed"' | grep -oE '"setting":"n=[0-9]","outcome":"value","value":[0-9]+' | uniq -c | sed 's/^ *//'
observations gone | sed -n 5p | grep -oE '"setting":"n=[0-9]","outcome":"value","value":[0-9]+'
grep -oE '"mean":[0-9.]*' out | awk -F: '$2 > 10 { bad = 1 } END { print bad ? "they are in the means" : "they are in no mean" }'
observations gone | awk '{
        match($0, /"start_s":[0-9.e-]+/); start = substr($0, RSTART + 10, RLENGTH - 10)
        if (wait && start - end < wait) print "it waited for " start - end " s, not " wait
        match($0, /"end_s":[0-9.e-]+/); end = substr($0, RSTART + 8, RLENGTH - 8)
        wait = /"disturbed"/ ? (wait ? 2 * wait : 0.1) : 0
    } END { print "each wait is at least twice the one before" }'
"$KERF" studies show gone --format json >shown
facts out >a
facts shown >b
cmp a b && echo "shown as it was told"

echo "== the same, and it is ignored"
begin 4 "$by_hypervisor"
bench --study counted --interference ignore --max-observations 12 | sed 's/status [01]/it ends/'
grep -oE '"remeasured":[0-9]+' out
echo "$(count counted '"disturbed":true') are disturbed"

echo "== others that are busy in trials, and never between them, are the program's own server"
begin 1000000 "$by_others"
pause=0.25 # and the gap behind it half a second, however slow this machine is
export pause
here --objective 'regex:took ([0-9]+)' --study served --patience 3.1s -- ./bench '{n}'
facts out | grep -v best
echo "$(count served '"disturbed":true') is disturbed, $(count served '"others_between":0,') are not"
unset pause

echo "== it stays, and comes back when the study goes on"
begin 7 "$by_hypervisor"
bench --study back --patience 0.3s
facts out | head -1
taskset -c "$processor" "$KERF" tune --resume --study back --format json >out
echo "status $?"
facts out
