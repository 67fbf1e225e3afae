#!/bin/sh
# When no layout divides: status 1, no nearest layout, no number of accelerators.
. "$DATA/case.sh"
ask plan gpt3 -s a100 -n 7 -b 512 --strategy 1d
ask plan gpt3 -s a100 -n 7 -b 512 --strategy 1d --format markdown
ask plan gpt3 -s a100 -n 7 -b 512 --strategy 1d --format csv
"$KERF" plan gpt3 -s a100 -n 7 -b 512 --strategy 1d --format json >7.json
echo "exit $?"
json <7.json
ask plan gpt3 -s a100 -n 7,11 -b 512 --strategy 1d -o seven.svg
ask plan gpt3 -s a100 -n 7 -b 512 --strategy 1d -o seven.svg
grep -c '</svg>' seven.svg
