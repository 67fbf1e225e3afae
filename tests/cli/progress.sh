#!/bin/sh
# Progress: on standard error where that is a terminal, only of long searches, with the time that is left; wiped at the end.
. "$DATA/case.sh"
needs_terminal
[ -r /proc/self/status ] || skip "no /proc"
# long.sh COMMAND...: a long search, which is interrupted once the command is true
cat >long.sh <<'END'
. "$DATA/case.sh"
appeared() { [ "$(grep -o ' left' typescript | wc -l)" -ge "$1" ]; }
endless --format csv &
kerf=$!
until_true catches_interrupts $kerf
until_true "$@"
kill -s INT $kerf
wait $kerf
END
sed 's/^endless .*/"$KERF" schedule best -p 16 -m 64 --placement v --memory-cap 8 --p2p 0.1 --search-time 1h \&/' long.sh >best.sh
# on_terminal COMMAND: runs it with a terminal of 80 columns, and shows what appeared there: \r as <CR>, ESC as <ESC>
on_terminal() {
    script -q -f -e -c "stty cols 80; $1" typescript </dev/null >/dev/null
    echo "exit $?"
    sed '1d;$d' typescript | tr '\r\033' '\001\002' | sed 's/\x01$//; s/\x01/<CR>/g; s/\x02/<ESC>/g; /^$/d'
}
echo "== a long search"
# five lines, and enough work for the first searches of the sweep to be done, however slow the machine is
# shellcheck disable=SC2016 # the shell there expands it
on_terminal 'sh long.sh eval "appeared 5 && has_worked \$kerf 400" >out.csv' >seen
sed -n '1p' seen
# each of the progress lines, with N for numbers, and how it ends
sed '1d; s/<CR>/\n<CR>/g' seen | sed 's/[0-9][0-9]* %/N %/; s/, .* left/, T left/; /^$/d' | uniq
sed '1d; s/<CR>/\n/g' seen | sed -n 's/.*: \([0-9]*\) %.*/\1/p' | awk '$1 < last {print "(back from " last " % to " $1 " %)"} {last = $1}'
echo "lines on standard output: $(($(wc -l <out.csv) > 1))"
echo "== a search for the best schedule says how good the order is that it has, where the words fit"
# shellcheck disable=SC2016 # the shell there expands it
on_terminal 'stty cols 130; sh best.sh appeared 2 >out.txt' >seen
sed '1d; s/<CR>/\n<CR>/g' seen | sed 's/[0-9.][0-9.]* %/N %/g; s/, [^,]* left/, T left/; s/; [0-9.]* s/; T/; /^$/d' | uniq
echo "== not into a file"
# shellcheck disable=SC2016 # the shell there expands it
on_terminal 'sh long.sh eval "has_worked \$kerf 100" >out.csv 2>err'
cat err
echo "== not of a short search"
# shellcheck disable=SC2016 # the shell there expands it
on_terminal '"$KERF" plan gpt3 -s a100 -n 1 -b 512 --strategy 1d --set memory_capacity_bytes=1e30 >out.csv'
echo "== a terminal that is narrower than the words"
on_terminal 'stty cols 40; sh long.sh appeared 1 >out.csv' >seen
sed '1d; s/<CR>/\n/g' seen | sed 's/<ESC>\[K//' | awk '{ if (length($0) > most) most = length($0) } END { print (most > 10 && most <= 40 ? "fits" : most) }'
