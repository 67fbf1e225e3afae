#!/bin/sh
# Two recurrences of a job against a server of its own: each asks for a batch size and reports what its training reached.
#
#     sh recurrence.sh job.json      job.json is registered as "logistic"
set -eu
folder=$(mktemp -d)
kerf serve --listen 127.0.0.1:0 --store "$folder/jobs.db" 2>"$folder/log" &
server=$!
trap 'kill $server; wait $server; rm -rf "$folder"' EXIT
until grep -qs 'listening:' "$folder/log"; do
    kill -0 $server || exit 1
    sleep 0.1
done
KERF_SERVER=$(sed -n 's/.*listening: \(http[^,]*\),.*/\1/p' "$folder/log")
export KERF_SERVER

# says WORD...: kerf jobs, with the command
says() {
    echo "> kerf jobs $*"
    kerf jobs "$@" || [ $? = 10 ] # continue training
}
says add "$1"
says next logistic
says report logistic --batch-size 2048 --trial 1 --time 30 --energy 3000 --metric 0.91 --epoch 1
says report logistic --batch-size 2048 --trial 1 --time 61 --energy 6100 --metric 0.963 --epoch 2
says next logistic
