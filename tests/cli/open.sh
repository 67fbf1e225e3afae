#!/bin/sh
# kerf open: the page with a file, on a port of its own, until a signal.
. "$DATA/case.sh"
run() { printf '$ kerf %s\n' "$*"; "$KERF" "$@" 2>&1; echo "exit $?"; }
"$KERF" open --help >/dev/null 2>&1 || exit 77
"$KERF" plan llama3_8b -s h100 -n 64 -b 128 --top 1 --format json >plan.json
"$KERF" schedule 1f1b -p 2 -m 2 --format text >mine.txt
echo '{"hidden_size": 8}' >config.json
echo '{"a": 1}' >other.json
mkdir traces studies temporary
TMPDIR=$PWD/temporary
export TMPDIR
ask_opened() { # FILE: the address without its port, and what the page gets
    rm -f address
    "$KERF" open "$1" --no-browser >address 2>words &
    process=$!
    until [ -s address ] 2>/dev/null; do sleep 0.05; done
    sed 's/:[0-9][0-9]*/:PORT/' address
    python3 - "$(cat address)" <<'END'
import json, sys, urllib.request
base = '/'.join(sys.argv[1].split('/')[:3])
try:
    got = json.load(urllib.request.urlopen(base + '/api/v1/opened'))
    print(got['name'], got['kind'], (got['text'] or '')[:9].replace('\n', ' '))
except Exception as error:
    print(error)
END
    kill -TERM $process
    wait $process
    echo "exit $?"
    cat words
}
for file in plan.json config.json mine.txt traces studies/20261121-213002-5f1c.jsonl; do
    [ -e "$file" ] || echo >"$file"
    ask_opened "$file"
done
run open other.json
run open nothing.json
run open plan.json mine.txt
ls temporary
TMPDIR=$PWD/nowhere "$KERF" open --no-browser 2>&1 | sed 's|as .*/nowhere/kerf-open-......|as nowhere|'
