#!/bin/sh
# kerf serve: what it refuses to begin with, and a short life.
. "$DATA/case.sh"
"$KERF" serve --listen nowhere 2>&1 | grep -q 'built without' && exit 77

refused serve --listen nowhere
refused serve --listen 127.0.0.1
refused serve --listen 127.0.0.1:http
refused serve --listen 127.0.0.1:65536
refused serve --compat apollo
refused serve --store no/such/folder/jobs.db
ask serve --store mysql://host/name
refused serve --threads 0
refused serve --tls-key key.pem
refused serve --keep-trials 90
refused serve --keep-trials 59m
refused serve --rate -1
refused serve --tls-cert no/such/cert.pem
refused serve jobs.db
echo "this is no database, however long one looks at it" >text.db
refused serve --store text.db

echo "== a short life"
: >log # the shell opens it when it gets to it
"$KERF" serve --listen 127.0.0.1:0 --store jobs.db --log json 2>log &
server=$!
until_true grep -q listening log
"$KERF" serve --listen 127.0.0.1:0 --store jobs.db 2>&1 | sed 's/^kerf: //'
kill -TERM $server
wait $server
echo "exit $?"
sed 's/"time":"[^"]*"/"time":TIME/; s/127.0.0.1:[0-9]*/ADDRESS/' log

echo "== ended before it began"
mkfifo slow.pem # nobody writes it
"$KERF" serve --listen 127.0.0.1:0 --store jobs.db --tls-cert slow.pem &
server=$!
has_two_threads() { [ "$(ls /proc/$server/task | wc -l)" -ge 2 ]; }
until_true has_two_threads
kill -TERM $server
wait $server
echo "exit $?"
