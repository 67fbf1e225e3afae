#!/bin/sh
# Tokens: made, listed and taken back while a server runs, and what each role may do.
. "$DATA/case.sh"
. "$DATA/server.sh"
start_server --tokens

echo "== made"
asks token list --store jobs.db
asks token add looker --role read --store jobs.db
asks token add trainer --role write --expires 30d --store jobs.db
asks token add boss --role admin --format json --store jobs.db
asks token add boss --role admin --store jobs.db
asks token list --store jobs.db
asks token list --format json --store jobs.db
grep -c kerf_ jobs.db jobs.db-wal
reader=$("$KERF" token add reader --role read --store jobs.db)
writer=$("$KERF" token add writer --role write --store jobs.db)
admin=$("$KERF" token add admin --role admin --store jobs.db)
brief=$("$KERF" token add brief --role admin --expires 0.001s --store jobs.db)
lets_in() { "$KERF" jobs list --token "$1" >/dev/null 2>&1; }
keeps_out() { ! lets_in "$1"; }
until_true lets_in "$admin"

echo "== a name is free again once its token has expired"
asks token add brief --role read --store jobs.db
asks token revoke brief --store jobs.db

echo "== what each may do"
cat >job.json <<'END'
{"job_id": "a", "job_id_prefix": "a", "max_power": 300, "number_of_gpus": 1, "gpu_model": "H100",
 "batch_sizes": [32, 64], "default_batch_size": 64, "max_epochs": 3}
END
for token in "" nonsense "$brief" "$reader" "$writer" "$admin"; do
    KERF_TOKEN=$token
    export KERF_TOKEN
    for what in "list --format csv" "add job.json" "next a" "show b" "delete a"; do
        # shellcheck disable=SC2086
        asks jobs $what | sed 's/^"a",.*/A JOB/'
    done
done
unset KERF_TOKEN

echo "== in other places"
lets_in "$reader" && echo "--token"
at=${KERF_SERVER#http://}
"$KERF" jobs list --server "http://$reader@$at/" | head -n 1
"$KERF" jobs list --server "http://$reader:@$at" | head -n 1
"$KERF" jobs next a --server "http://$reader@$at" 2>&1 | mask
if command -v curl >/dev/null; then
    status() { curl -s -o body -w '%{http_code}\n' --noproxy '*' "$@"; }
    for path in /healthz /readyz /metrics / /nothing /jobs/; do echo "$path $(status "$KERF_SERVER$path")"; done
    cat body
    echo
    status -u "$reader:" "$KERF_SERVER/metrics"
    status -u "anybody:$reader" "$KERF_SERVER/metrics"
    status -u "anybody:nothing" "$KERF_SERVER/metrics"
    status -H "authorization: bearer $reader" "$KERF_SERVER/metrics"
    status -H "Authorization: $reader" "$KERF_SERVER/metrics"
    status -H "Authorization: Basic !" "$KERF_SERVER/metrics"
    curl -s -i --noproxy '*' "$KERF_SERVER/" | tr -d '\r' | grep -i -e '^HTTP' -e '^WWW'
    head -c 100000 /dev/zero | status --data-binary @- "$KERF_SERVER/report"
else
    skip "no curl to look at answers with"
fi

echo "== taken back"
asks token revoke reader --store jobs.db
until_true keeps_out "$reader"
asks token revoke reader --store jobs.db

echo "== refused"
refused token
refused token ad x
refused token add --role read
refused token add x
refused token add x y --role read
refused token add '' --role read
refused token add x --role boss
for time in 30x -1d 0d d 1e99w; do refused token add x --role read "--expires=$time"; done
refused token list x
refused token list --store nothing.db
refused token revoke x --store nothing.db
refused token add x --role read --store nothing.db
refused token add x --role read --store nothing/here.db --create
ls nothing.db 2>/dev/null
asks token add x --role read --store new.db --create
stat -c '%a %n' new.db*
asks token add x --role read --store new.db --create
stop_server
stat -c '%a %n' jobs.db*

echo "== beyond loopback tokens are always asked for"
rm jobs.db* log
: >log
"$KERF" serve --store jobs.db --listen 0.0.0.0:0 2>log &
server=$!
until_true grep -qs 'listening:' log
sed -n 's/.* info tokens: //p' log
KERF_SERVER=$(sed -n 's/.*listening: \(http[^,]*\),.*/\1/p' log | sed 's/0\.0\.0\.0/127.0.0.1/')
asks jobs list
stop_server
