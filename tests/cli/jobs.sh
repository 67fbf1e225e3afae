#!/bin/sh
# kerf jobs against a server: what scripts ask, and what people see.
. "$DATA/case.sh"
. "$DATA/server.sh"
start_server

echo "== a job from its registration to its end"
asks jobs list
cat >night.json <<'END'
{"job_id": "resnet/night 1", "job_id_prefix": "resnet", "max_power": 300, "number_of_gpus": 4, "gpu_model": "A \"100\"",
 "batch_sizes": [32, 64, 128], "default_batch_size": 64, "target_metric": 0.5, "max_epochs": 3}
END
asks jobs add night.json
asks jobs add - --format json <night.json
asks jobs next "resnet/night 1"
asks jobs next "resnet/night 1" --format json
report() { asks jobs report "resnet/night 1" --batch-size "$1" --trial "$2" --time "$3" --energy "$4" --metric "$5" --epoch "$6"; }
report 64 1 10 100 0.1 1
report 64 1 20 200 0.6 2
report 64 1 20 200 0.6 2
report 64 2 1e4 1e5 0.1 1
asks jobs report "resnet/night 1" --format json --batch-size 64 --trial 2 --time 20 --energy 200 --metric 0.6 --epoch 2
asks jobs next "resnet/night 1"
report 32 3 10 50 0.1 1
report 32 3 10 50 0.1 3

echo "== what is known"
job small ',"beta_knob":null,"policy":"kerf","target_metric":0.9'
asks jobs list
asks jobs list --format csv | sed 's/,[0-9.]*$/,TIME/'
asks jobs show "resnet/night 1"
asks jobs show "resnet/night 1" --limit 1 --format csv | sed 's/,[0-9.]*,[0-9.]*,"/,TIME,TIME,"/'
asks jobs show "resnet/night 1" -o night.txt
grep -c 'down from 64, which converged$' night.txt
asks jobs show small
asks jobs show small --limit 0 --format json
asks jobs list -o jobs.json -o jobs.csv -o jobs.txt
wc -l <jobs.csv
asks jobs export "resnet/night 1"
asks jobs export small
"$KERF" jobs export --all >all
"$KERF" jobs export "resnet/night 1" small | cmp - all

echo "== what is known of the job of a policy that learns logarithms of costs"
job valley ',"beta_knob":null,"policy":"kerf","eta_knob":1,"mab_seed":3' 32,64
"$KERF" jobs next valley
asks jobs show valley
asks jobs report valley --batch-size 64 --trial 1 --time 1 --energy 1000 --metric 0.1 --epoch 1
asks jobs show valley | sed -n '$p'
finish() { "$KERF" jobs report valley --batch-size "$1" --trial "$2" --time 1 --energy "$3" --metric 0.9 --epoch 1 >/dev/null; }
finish 64 1 1000
"$KERF" jobs next valley
finish 32 2 1100
for trial in 3 4; do finish "$("$KERF" jobs next valley | cut -d' ' -f1)" $trial 1050; done
asks jobs show valley --limit 2
"$KERF" jobs delete valley

echo "== more than a page"
for _ in 1 2 3; do "$KERF" jobs next small; done
"$KERF" jobs export --all >all
grep -c '"trial"' all
for limit in 1 2 3 4; do "$KERF" jobs export --all --limit $limit | cmp - all && echo "$limit a page"; done
"$KERF" jobs list --limit 1 --format csv | wc -l

echo "== a backup while the server runs"
asks jobs backup copy.db --store jobs.db | sed 's/[0-9]* bytes/SIZE/'
asks jobs backup copy.db --store jobs.db
asks jobs backup copy.db --store jobs.db --force | sed 's/[0-9]* bytes/SIZE/'
refused jobs backup
refused jobs backup jobs.db --store jobs.db --force
refused jobs backup other.db --store nothing.db
asks jobs backup other.db --store postgresql://me:secret@host/jobs
server_of_jobs=$KERF_SERVER
"$KERF" serve --store copy.db --listen 127.0.0.1:0 2>copy.log &
copy=$!
until_true grep -qs -e 'listening:' -e '^kerf:' copy.log
KERF_SERVER=$(sed -n 's/.*listening: \(http[^,]*\),.*/\1/p' copy.log)
"$KERF" jobs export --all | cmp - all && echo "the copy has all of it"
KERF_SERVER=$server_of_jobs
kill $copy
wait $copy
ls copy.db*

echo "== deleted"
asks jobs delete small
asks jobs delete small
asks jobs list --format csv | wc -l

echo "== refused by the server"
asks jobs show nothing
asks jobs next nothing
asks jobs report nothing --batch-size 64 --trial 1 --time 1 --energy 1 --metric 1 --epoch 1
report 64 99 1 1 1 1
echo '{"job_id":"x","max_power":-1}' >bad.json
asks jobs add bad.json
sed 's/: 64/: 32/' night.json >other.json
asks jobs add other.json

echo "== refused before"
refused jobs
refused jobs lst
refused jobs frobnicate
refused jobs list everything
refused jobs next
refused jobs next a b
refused jobs next a --format csv
refused jobs next a -o a.json
refused jobs report a --batch-size 64
refused jobs report a --batch-size 64 --trial 1 --time nan --energy 1 --metric 1 --epoch 1
refused jobs export
refused jobs export a --all
refused jobs add
refused jobs add nothing.json
echo '{"a":' >bad.json
refused jobs add bad.json
echo '[]' >bad.json
refused jobs add bad.json
refused jobs list -o jobs.svg
refused jobs list --server 127.0.0.1:8000
refused jobs list --server ftp://127.0.0.1
refused jobs list --server 'http://a b'
refused jobs list --token 'a b'

echo "== too much asked"
stop_server
start_server --rate 1
status=0
# so many in one go that it is too much on the slowest machine, too
set --
for _ in $(seq 100); do set -- "$@" "resnet/night 1"; done
"$KERF" jobs export "$@" >/dev/null 2>refusal || status=$?
echo "exit $status"
mask <refusal

echo "== no server"
stop_server
asks jobs list
asks jobs next "resnet/night 1"
asks jobs list --server http://kerf.invalid
if command -v python3 >/dev/null; then
    python3 - >port 2>/dev/null <<'END' &
import socket, sys
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(9); print(s.getsockname()[1], flush=True)
for answer in (b"SSH-2.0-nothing\r\n\r\n", b"", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", None):
    c, _ = s.accept(); c.recv(65536)
    if answer is None: kept = c; c.recv(1)
    else: c.sendall(answer); c.close()
END
    until_true test -s port
    KERF_SERVER=http://127.0.0.1:$(cat port)
    for _ in 1 2 3; do asks jobs list; done
    asks jobs list --timeout 0.5
    wait $!
else
    skip "no python3 for what is no server"
fi
