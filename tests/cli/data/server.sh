# shellcheck shell=sh
# Words of cases that need a server; a case reads this file after case.sh.

# start_server OPTION...: kerf serve on a free port, with the store jobs.db; sets KERF_SERVER. It ends with the case.
start_server() {
    : >log
    "$KERF" serve --store jobs.db --listen 127.0.0.1:0 "$@" 2>log &
    server=$!
    trap 'kill $server 2>/dev/null' EXIT
    until_true grep -qs -e 'listening:' -e '^kerf:' log
    grep -q 'built without' log && skip "this kerf was built without serve"
    KERF_SERVER=$(sed -n 's/.*listening: \(http[^,]*\),.*/\1/p' log)
    export KERF_SERVER
    "$KERF" jobs list 2>&1 | grep -q 'libcurl' && skip "no libcurl"
    unset KERF_TOKEN
    return 0
}

stop_server() {
    kill "$server"
    wait "$server" || echo "(the server's status is $?)"
    grep -e error -e Sanitizer log
    return 0
}

# Everything that is not the same each time.
mask() {
    sed -e "s|$KERF_SERVER|SERVER|g" -e 's/[0-9-]* [0-9:]* UTC/DATE/g' -e 's/"\(created\|dispatched\|seen\|expires\|longest_gap\)_s":[0-9][0-9.]*/"\1_s":TIME/g' \
        -e 's/kerf_[A-Za-z0-9_-]\{43\}/TOKEN/g' -e 's/"kerf":"[0-9.]*"/"kerf":"VERSION"/' \
        -e 's/[0-9]* [a-z]* ago/AGE ago/g'
}

# job NAME [MORE [SIZES]]: registers a job, of three sizes, whose target is a metric of 0.5.
job() {
    printf '{"job_id":"%s","job_id_prefix":"%s","max_power":300,"number_of_gpus":1,"gpu_model":"H100",
        "batch_sizes":[%s],"default_batch_size":64,"target_metric":0.5,"max_epochs":10%s}\n' \
        "$1" "$1" "${3:-32,64,128}" "${2:-}" >"job.json"
    "$KERF" jobs add job.json >/dev/null
}

asks() { ask "$@" | mask; }
