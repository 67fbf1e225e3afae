#!/bin/sh
# kerf schedule FILE: the text form and PyTorch's CSV as a schedule, on the way out and in again, and what is wrong in them.
. "$DATA/case.sh"
cp -r "$DATA/../../../examples/schedules" examples
echo "== the text form, with its own sizes and with others"
ask schedule "examples/zb_v.sched" --no-ops
ask schedule "examples/1f1b.sched" -p 2 -m 3
"$KERF" schedule compare "examples/zb_h1.sched" zb_h1 -p 3 -m 5..6 --p2p 0.1 | sed 's/^[^ ]*zb_h1/zb_h1/'

echo "== out and in again"
for rule in gpipe 1f1b interleaved_1f1b zb_v dualpipe_v; do
    for format in torch torch-comms text; do
        case $format in text) name=out.sched ;; *) name=out.csv ;; esac
        "$KERF" schedule $rule -p 2 -m 4 --format $format -o $name || echo "exit $?"
        "$KERF" schedule $rule -p 2 -m 4 --format csv >direct.txt
        "$KERF" schedule $name --format csv >again.txt || echo "exit $?"
        [ $format = torch-comms ] || cmp direct.txt again.txt && echo "$rule $format"
    done
done

echo "== standard input"
printf 'devices 2\nmicrobatches 1\ndevice 0 { F B }\ndevice 1 { F B }\n' | "$KERF" schedule - --no-ops

echo "== a trace"
"$KERF" schedule 1f1b -p 2 -m 2 --p2p 0.5 --format chrome | "$KERF" --version >/dev/null
"$KERF" schedule 1f1b -p 2 -m 2 --p2p 0.5 -o trace.json --format chrome
json <trace.json | grep -c 'ph=.X'

echo "== refused"
printf 'devices 2\nmicrobatches 1\ndevice 0 { F B }\ndevice 1 { B F }\n' >wrong.sched
refused schedule wrong.sched
for format in "table" "csv" "json --no-ops"; do
    # shellcheck disable=SC2086
    ask schedule compare wrong.sched examples/1f1b.sched --format $format
done
printf 'devices 2\nmicrobatches 1\ndevice 0 { F B }\ndevice 1 { F Q }\n' >wrong.sched
refused schedule wrong.sched
printf 'devices 2\nmicrobatches 2\ndevice 0 { F B }\ndevice 1 { F B }\n' >wrong.sched
refused schedule wrong.sched
"$KERF" schedule 1f1b -p 2 -m 2 --format torch-comms | sed 's/0SEND_F1,//' >wrong.csv
refused schedule wrong.csv
printf '0F0,0B0\n1F0\n' >wrong.csv
refused schedule wrong.csv
printf '0F0,0X0\n' >wrong.csv
refused schedule wrong.csv
refused schedule nowhere.sched
refused schedule dualpipe -p 4 -m 8 --format torch
refused schedule seq1f1b -p 4 -m 8 --format torch-comms
printf 'devices 2\nmicrobatches 8\ndevice i { repeat m { F } repeat m { B } }\n' >two.sched
ask schedule compare two.sched examples/1f1b.sched
printf 'devices 4\nmicrobatches 4\nplacement both 4\ndevice i { F B }\n' >wrong.sched
refused schedule wrong.sched
printf 'devices 4\nmicrobatches 4\nplacement 0 1 / 1\ndevice i { F B }\n' >wrong.sched
refused schedule wrong.sched
refused schedule "examples/1f1b.sched" --attention 10%

echo "== slices and replicas"
ask schedule "examples/slimpipe.sched" -m 2 --attention 40% --slice-cut equal --no-ops
printf 'devices 2\nmicrobatches 4\nplacement v 2\ndevice i { F0@0? F1@0? F1@1? F0@1? }\n' >wrong.sched
refused schedule wrong.sched
"$KERF" schedule bitpipe -p 2 -m 4 --format text -o bitpipe.sched && sed -n 1,4p bitpipe.sched
ask schedule bitpipe.sched --no-ops
