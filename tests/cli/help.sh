#!/bin/sh
# Help of every command, the manual pages and the completion, all out of the option tables.
. "$DATA/case.sh"
ask help
echo "== the same in other words"
"$KERF" help >overview
for how in --help -h; do "$KERF" $how | cmp - overview; done
"$KERF" >.out
echo "kerf alone: exit $?"
cmp .out overview
"$KERF" --version | sed 's/[0-9][0-9.]*/VERSION/'
verbs=$(sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' overview)
for verb in $verbs; do
    "$KERF" help "$verb" >one
    for how in --help -h; do "$KERF" "$verb" $how | cmp - one; done
done

for verb in plan estimate serve models systems help; do ask help $verb; done

echo "== help comes before what else is wrong"
"$KERF" plan --gpus none --help | head -n 1
"$KERF" plan gpt3 -s a100 -h --top 7 | head -n 1

echo "== what there is not"
refused plam
refused frobnicate
refused ''
refused --versoin
refused --frobnicate
refused -x
refused help plann
refused help frobnicate
refused help plan estimate
refused help --mdocs
refused help --completion csh
refused help --completion

echo "== manual pages"
for verb in '' $verbs; do
    # shellcheck disable=SC2086
    "$KERF" help --mdoc $verb >page
    sed -n 's/^\.Dt/&/p' page
    if command -v mandoc >/dev/null; then mandoc -T lint -W warning page; fi
done

echo "== completion"
"$KERF" help --completion bash >completion
if command -v bash >/dev/null; then
    bash -n completion
    # offered WORD...: what bash would offer for the last word
    offered() {
        bash -c '. ./completion
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            spec=$(complete -p kerf); function=${spec#*-F }; ${function%% *} kerf "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf "%s\n" "${COMPREPLY[@]}" | tr "\n" " "' bash "$@"
        echo
    }
    offered kerf pl
    offered kerf plan --s
    offered kerf plan --format ''
    offered kerf estimate --strategy s
    offered kerf help m
else
    skip "no bash to try the completion with"
fi
