# shellcheck shell=sh
# Words for cases of kerf tune. Studies are kept in the case's own folder, and come out without what differs each time.
KERF_STUDIES=$PWD/studies
export KERF_STUDIES
worker=$(dirname "$KERF")/tests/programs/simulated_worker
grid='--param batch=16..2048:x2 --param ubatch=2..2048:x2 -w ubatch<=batch -d batch=2048,ubatch=512'

# What differs each time: names of studies, times by kerf's clock.
same() {
    sed -E 's/[0-9]{8}-[0-9]{6}-[0-9a-f]{4}/STUDY/g; s/measurements? in [0-9.]+ (ms|us|s|min),/measurements in TIME,/;
        s/"elapsed_s":[0-9.e-]+/"elapsed_s":TIME/; s/[0-9-]{10}T[0-9:]{8}Z/WHEN/g;
        s/([0-9]\.[0-9]{3})[0-9]+/\1/g' # more digits may be the C library's
}
# kerf tune ARGUMENT..., on the simulated worker's grid
tunes() {
    echo "\$ kerf tune GRID $*" | sed "s|$worker|simulated_worker|"
    # shellcheck disable=SC2086
    { "$KERF" tune $grid --protocol worker --interference ignore "$@"; status=$?; } >out 2>err
    same <out
    same <err >&2
    [ $status = 0 ] || echo "== status $status"
}

# facts FILE: what the JSON of a study says of the whole of it
facts() {
    sed 's/"settings".*//' "$1" | same | grep -oE '"stopped":"[a-z_]*"|"observations":[0-9]+|"earlier":[0-9]+|"best":\{.*"default"'
}
