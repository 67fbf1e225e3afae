#!/bin/sh
# The table that a terminal shows while kerf tune runs: settings, means with intervals and probabilities at any width.
# shellcheck disable=SC2016 # the shell of the terminal expands it
. "$DATA/case.sh"
. "$DATA/tune.sh"
needs_terminal
export worker grid
# live COLUMNS OPTION...: what the last table but the wiped end looked like, with N for numbers
live() {
    columns=$1
    shift
    script -q -e -c "stty cols $columns; \"\$KERF\" tune \$grid --protocol worker --interference ignore --no-journal $* -- \"\$worker\" --sleep 0.01 >/dev/null" typescript </dev/null >/dev/null
    tr -d '\r' <typescript | sed 's/\x1b\[[0-9]*[AKJ]//g' >seen
    grep -E '^(setting|batch,ubatch) ' seen | tail -1 | sed 's/  */  /g'
    grep -E '^(batch=)?[0-9,]+.*%' seen | tail -1 | sed -E 's/[0-9.]+/N/g; s/ms|us/s/g; s/  +/  /g'
    grep ' runs*, ' seen | tail -1 | sed -E 's/[0-9.]+ ?(ms|us|s)/TIME/g; s/^[0-9]+/N/; s/ left.*/ left/'
    sed '1d;$d' seen | tr -d '\200-\277' | LC_ALL=C awk -v columns="$columns" '{ if (length($0) > most) most = length($0) } END { print (most < columns ? "fits" : most) }'
}
for columns in 40 60 100; do
    echo "== $columns columns"
    live $columns --budget 1h
done
echo "== bounded by measurements"
live 100 --max-observations 9
