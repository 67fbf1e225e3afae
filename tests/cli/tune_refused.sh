#!/bin/sh
# kerf tune: what cannot be answered is refused in one line, before anything runs.
. "$DATA/case.sh"
. "$DATA/tune.sh"
refuses() {
    echo "\$ kerf tune $*"
    refused tune --no-journal --fresh "$@"
}
refuses
refuses --param b=1..4
refuses --param b=1..4 -- true
refuses --param b=1..4 -- true {b} {c}
refuses --param b=4..1 -- true {b}
refuses --param b= -- true {b}
refuses --param 'b=1..8:x1' -- true {b}
refuses --param b=1..1000000000 -- true {b}
refuses --param b=1..4 --param b=1..4 -- true {b}
refuses --param b=1..4 -w 'b > 9' -- true {b}
refuses --param b=1..4 -w 'b >' -- true {b}
refuses --param b=1..4 -w 'c > 1' -- true {b}
refuses --param b=1..4 -d b=9 -- true {b}
refuses --param b=1..4 -d c=1 -- true {b}
refuses --param b=1..4 -d b=1 -d b=2 -- true {b}
refuses --param b=1..4 --prefer smaller -- true {b}
refuses --param b=1..4 --prefer smaller:c -- true {b}
refuses --param b=1..4 --within 0 -- true {b}
refuses --param b=1..4 --confidence 100% -- true {b}
refuses --param b=1..4 --budget soon -- true {b}
refuses --param b=1..4 --memory-cap much -- true {b}
refuses --param b=1..4 --memory-cap 1 -- true {b}
refuses --param b=1..4 --minimize --maximize -- true {b}
refuses --param b=1..4 --objective speed -- true {b}
refuses --param b=1..4 --objective 'regex:(' -- true {b}
refuses --param b=1..4 --pareto wall -- true {b}
refuses --param b=1..4 --objective json:v --pareto 'more v' -- true {b}
refuses --param b=1..4 --pareto memory --margin 5% -- true {b}
refuses --param b=1..4 --pareto memory --slice b=1 -- true {b}
refuses --param b=1..4 --launcher '' -- true {b}
refuses --param b=1..4 --policy random --prefer smaller:b -- true {b}
refuses --param b=1..4 --interference ignore --patience 5s -- true {b}
refuses --param b=1..4 --launcher env --patience 5s -- true {b}
refuses --param b=1..4 --launcher env --interference remeasure -- true {b}
refuses --param b=1..4 --policy exhaustive --margin 3% -- true {b}
refuses --param b=1..4 --policy random --within 3% -- true {b}
refuses --param b=1..4 --key-env MODE -- true {b}
refused tune --param b=1..4 --no-journal --policy exhaustive --key-env MODE -- true {b}
refused tune --param b=1..4 --no-journal --pareto memory --key-env MODE -- true {b}
refuses --param b=1..4 --slice b=2 -- true {b}
refuses --param b=1..4 --param c=1,2 --slice '' -- true {b} {c}
refuses --param b=1..4 --param c=1,2 --slice b=1,b=2 -- true {b} {c}
refuses --param b=1..4 --param c=1,2 --slice b=1,c=2 -- true {b} {c}
refuses --param b=1..4 --param c=1,2 --slice c=2 --format json -- true {b} {c}
refuses --param b=1..4 --study mine -- true {b}
refuses --param b=1..4 --objective 'regex:' -- true {b}
refuses --param b=1..4 --objective 'regex:([0-9]+) rows and more words' -- true {b}
refused tune --param b=1..4 --study mine.jsonl -- true {b}
refuses --param b=1..4 --protocol guess -- true {b}
refuses --param b=1..4 --context 4096 -- true {b}
refuses --param b=1..4 --protocol llama-bench --load-timeout 5s -- true {b}
refuses --param b=1..4 -- ./nowhere {b}
refuses llama
refuses llama model.gguf
refuses llama nowhere.gguf --context 512
echo "no model" >foreign.gguf
refuses llama foreign.gguf --context 512
refuses --param b=1..4 -o surface.bmp -- true {b}

echo "== nothing can be measured"
tunes_nothing() {
    "$KERF" tune --param b=1..4 --no-journal --fresh "$@"
    echo "status $?"
}
tunes_nothing -- false {b} | same
tunes_nothing -- sh -c 'echo "No model, no tokens." >&2; exit 1' {b} | same
tunes_nothing --objective 'regex:([0-9]+)' -- true {b} | same
