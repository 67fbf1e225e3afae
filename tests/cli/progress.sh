#!/bin/sh
# Progress: on a terminal's standard error alone, only of long searches, with the time that is left, and wiped at the end.
. "$DATA/case.sh"
command -v script >/dev/null || skip "no script(1)"
long="plan gpt3_1t,vit_era5 -s a100,b200,h200 --scale-up-size 4,8,16,32,64 -n 64..16384:+64 -b 4096 --top 1 --format csv"
# on_terminal COMMAND: runs it with a terminal as standard error, and leaves what appeared there in `seen`
on_terminal() { script -q -e -c "$1" seen.raw </dev/null >/dev/null; echo "exit $?"; tr -d '\r' <seen.raw | sed '1d;$d' >seen; }
on_terminal "timeout -s INT 1.5 env COLUMNS=100 '$KERF' $long --threads 1 >out.csv"
