#!/bin/sh
# The tables of options, all of them: a letter means one option in every command, and an option that a use of a command
# does not take is refused in one line.
. "$DATA/case.sh"
for command in plan estimate schedule tune bub studies serve jobs token models systems; do
    "$KERF" help $command | sed -n "s/^  -\([a-z]\), --\([a-z-]*\).*/\1 \2/p"
done | sort -u | awk '{names[$1] = names[$1] " " $2; count[$1]++}
    END {for (letter in names) print "-" letter names[letter] (count[letter] > 1 ? " (several options)" : "")}' | sort

refused schedule fit traces -p 99 --forward 7
refused schedule --list -p 4
refused schedule gpipe -p 2 -m 4 --group 2
refused schedule 1f1b -p 2 -m 4 --search-time 3s
refused schedule compare 1f1b gpipe -p 2 -m 4 --slices 2
refused studies list --policy random
refused jobs next nightly --output x.json
refused jobs backup x.db --server http://127.0.0.1:1
refused jobs add x.json --limit 3
refused token list --role read
refused tune --param b=1..4 --threads 2 -- true {b}
refused tune llama model.gguf --context 512 --protocol lines
ask schedule compare interleaved_1f1b gpipe -p 2 -m 4 --group 2 --no-ops
refused tune --param b=1..4 --prepare 'true {b}' --prepare 'sync' -- true {b}
refused tune --param b=1..4 --load-timeout 5s -- true {b}
