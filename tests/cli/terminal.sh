#!/bin/sh
# On a terminal the table has colours and the terminal's width; NO_COLOR and TERM=dumb take the colours away.
# shellcheck disable=SC2016 # the shell of the terminal expands $KERF
. "$DATA/case.sh"
needs_terminal
# on_terminal COLUMNS COMMAND: runs it with a terminal, and shows what appeared there, ESC as ^[
on_terminal() {
    script -q -e -c "stty cols $1; $2" typescript </dev/null >/dev/null || echo "exit $?"
    sed '1d;$d' typescript | sed '${/^$/d}' | tr -d '\r' | tr '\033' '\001' | sed 's/\x01/^[/g' >seen
}
widest() { sed 's/\^\[\[[0-9;]*[mK]//g' "$1" | tr -d '\200-\277' | LC_ALL=C awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }'; }
plan='"$KERF" plan gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 2'
on_terminal 72 "$plan"
cat seen
# the words are the same as without a terminal, bars apart
bars='^  time\|^  memory\|^          [^ ]* '
sed 's/\^\[\[[0-9;]*m//g' seen | grep -v "$bars" >words
COLUMNS=72 "$KERF" plan gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 2 | grep -v "$bars" | diff - words && echo "the same words"
echo "== the terminal's width counts, not COLUMNS"
for columns in 45 90 130; do
    on_terminal $columns "COLUMNS=70 $plan"
    [ "$(widest seen)" -le $columns ] && echo "fits $columns"
done
[ "$(widest seen)" -gt 90 ] && echo "and uses it"
echo "== no colours"
for how in NO_COLOR=1 TERM=dumb; do
    on_terminal 80 "$how $plan"
    grep -c '\^\[' seen
done
on_terminal 80 "$plan | cat"
grep -c '\^\[' seen
on_terminal 80 "$plan -o plan.txt; cat plan.txt"
grep -c '\^\[' seen
on_terminal 80 "NO_COLOR= $plan"
grep -q '\^\[' seen && echo "an empty NO_COLOR is none"
echo "== other commands"
on_terminal 80 '"$KERF" models'
cat seen
on_terminal 80 '"$KERF" help models'
cat seen
echo "== sentences break between words; commands that may be copied do not"
on_terminal 46 '"$KERF" studies show "$DATA/../../../examples/studies/llama.jsonl"'
sed -n '1,/^llama-cli/p; /^Shares/,/^$/p' seen
