#!/bin/sh
# Standard streams that are closed or full, and what a terminal cannot show: nothing is lost in silence.
. "$DATA/case.sh"
how() { echo "[exit $1]"; sed 's/^/! /' .err; }
plan="plan gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 1"
echo "== standard output is closed"
for command in "$plan" "$plan --format json" "help plan" "--version" "models" "schedule --list" "help --completion bash" \
    "estimate gpt3 -s a100 -b 1536 --layout dp=4,tp1=4,pp=8,micro_batch=2"; do
    # shellcheck disable=SC2086
    "$KERF" $command >&- 2>.err
    how $?
done
echo '{}' | timeout "$guard" "$KERF" estimate --lines >&- 2>.err
how $?
echo "== no file takes its place"
# shellcheck disable=SC2086
"$KERF" $plan -o answer.json -o answer.svg >&- 2>.err
how $?
ls
echo "== standard input is closed"
timeout "$guard" "$KERF" estimate --lines <&- >.out 2>.err
how $?
timeout "$guard" "$KERF" plan - -s a100 -n 64 -b 512 <&- >.out 2>.err
how $?
timeout "$guard" "$KERF" schedule 1f1b -p 2 -m 4 --times - <&- >.out 2>.err
how $?
echo "== all are closed"
# shellcheck disable=SC2086
"$KERF" $plan <&- >&- 2>&-
echo "[exit $?]"
echo "== a full disk"
# shellcheck disable=SC2086
"$KERF" $plan >/dev/full 2>.err
how $?

echo "== text for people is ASCII where the locale is not UTF-8"
for locale in C POSIX en_US.ISO-8859-1; do
    # shellcheck disable=SC2086
    LC_ALL=$locale "$KERF" $plan | LC_ALL=C grep -c '[^ -~]'
done
# shellcheck disable=SC2086
LC_ALL=C "$KERF" $plan | sed -n '/^  time/,/optimizer/p'
# shellcheck disable=SC2086
env -u LC_ALL LANG=en_US.UTF-8 "$KERF" $plan | sed -n '/^  time/p'
LC_ALL=C COLUMNS=60 "$KERF" schedule compare zb_h1 1f1b -p 4 -m 8 | LC_ALL=C grep -c '[^ -~]'
LC_ALL=C "$KERF" schedule zb_h1 -p 4 -m 8 | LC_ALL=C grep -c '[^ -~]'

echo "== no picture for a terminal"
needs_terminal
for format in png pdf; do
    script -q -e -c "\"\$KERF\" $plan --format $format" typescript </dev/null >.out 2>&1
    echo "[exit $?]"
    tr -d '\r' <.out
done
script -q -e -c "\"\$KERF\" $plan --format svg" typescript </dev/null 2>&1 | head -c 4
echo
