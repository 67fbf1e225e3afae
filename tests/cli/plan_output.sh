#!/bin/sh
# Where the answer goes: files by their names, standard output, links, pipes.
. "$DATA/case.sh"
plan() { ask plan gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 2 "$@"; }
first() { for file in "$@"; do echo "$file: $(head -n 1 "$file" | cut -c 1-60)"; done; }

echo "== several files at once, and nothing on standard output"
plan -o plan.svg -o plan.json -o plan.csv -o plan.md -o plan.txt
first plan.*
echo "== what is in them is what --format prints"
for format in json:json csv:csv md:markdown txt:table; do
    "$KERF" plan gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 2 --format "${format#*:}" | cmp - "plan.${format%:*}"
done
echo "== a picture leaves standard output to --format"
plan -o only.svg --format csv | cut -c 1-100
echo "== so does a text of another form, and a table that was asked for"
plan -o other.csv --format table | head -n 2
plan -o other.txt --format table
echo "== standard output as one of the files"
plan -o other.csv -o - --format markdown | head -n 3
first other.csv
plan -o - -o other.svg --format csv | cut -c 1-100

echo "== a link stays a link, a mode stays the same, nothing else is left behind"
mkdir folder
echo old >folder/real.csv
chmod 640 folder/real.csv
ln -s real.csv folder/link.csv
plan -o folder/link.csv
(cd folder && for file in * .[!.]*; do [ -e "$file" ] && stat -c '%N %A' "$file"; done)
first folder/real.csv
umask 027
plan -o folder/new.csv
stat -c '%N %A' folder/new.csv

echo "== pipes and devices are written, not replaced"
plan -o /dev/stdout --format csv | cut -c 1-100
plan -o /dev/null
mkfifo pipe.csv
head -n 1 pipe.csv >piped &
plan -o pipe.csv
wait
first piped
[ -p pipe.csv ] && echo "still a pipe"

echo "== estimate"
estimate() { ask estimate gpt3 -s a100 -b 512 --layout tp1=4,pp=16,scale_up.tp1=4 "$@"; }
estimate -o one.json
estimate -o one.csv
estimate -o one.txt
estimate -o one.txt --format json
first one.*
estimate -o - --format csv | head -n 3 | cut -c 1-100
