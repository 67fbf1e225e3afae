#!/bin/sh
# Every command with every form that another has: an answer, or one line that names the forms it has.
. "$DATA/case.sh"
. "$DATA/tune.sh"
forms="table json csv markdown text torch torch-comms chrome svg html no"
tried=0
# each COMMAND ARGUMENT...: with each form; shown are those that answer, what is said to one that none has, and whatever
# is neither an answer nor a refusal
each() {
    answered=
    command=$1
    shift
    for form in $forms; do
        status=0
        timeout "$guard" "$KERF" "$command" --format $form "$@" >.out 2>.err || status=$?
        tried=$((tried + 1))
        case $status in
        0 | 1)
            answered="$answered $form"
            [ -s .out ] || echo "(nothing is printed: kerf $command --format $form $*)"
            ;;
        2)
            if [ "$(wc -l <.err)" != 1 ] || [ -s .out ] || ! grep -q 'format.*must be\|prints\|holds one schedule' .err; then
                echo "(kerf $command --format $form $*: $(cat .err))"
            fi
            ;;
        *) echo "(status $status: kerf $command --format $form $*)" ;;
        esac
    done
    echo "kerf $command ${1-}:$answered"
    cat .err
}
"$KERF" tune --param n=1..2 --param 'fast?=-f' --policy null -d n=1,fast=on --interference ignore --study one -- true {n} {fast} >/dev/null
each studies list
each studies show one
each studies export one
each studies replay one
each tune --param n=1..2 --policy null -d n=1 --interference ignore --no-journal -- true {n}
each plan gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 1
each schedule 1f1b -p 2 -m 4
each schedule compare 1f1b gpipe -p 2 -m 4
each schedule --list
cp -r "$DATA/../../../examples/runs" runs
each schedule fit runs/megatron
each estimate gpt3_1t -s a100 -b 4096 --layout dp=2,tp1=8,pp=64,scale_up.tp1=4
each models
each systems
echo "$tried forms tried"
echo "== files have forms too"
for verb in list "show one" "export one" "replay one"; do
    # shellcheck disable=SC2086
    "$KERF" studies $verb -o answer.md >/dev/null 2>.err
    echo "$verb: status $?, $(head -1 answer.md 2>/dev/null | cut -c1-10)$(cat .err)"
    rm -f answer.md
done
