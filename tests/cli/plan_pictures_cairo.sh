#!/bin/sh
# Pictures as PNG and PDF, which need cairo where they are drawn.
. "$DATA/case.sh"
"$KERF" plan gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 2 -o probe.png >/dev/null 2>.err
if grep -q cairo .err; then skip "no cairo: $(cat .err)"; fi
cat .err
magic() { od -A n -t x1 -N "$2" "$1"; }
draw() {
    name=$1
    shift
    "$KERF" plan "$@" --cost-model reference -o "$name.png" -o "$name.pdf" -o "$name.txt"
    echo "exit $?"
    magic "$name.png" 8
    tail -c 8 "$name.png" | od -A n -t x1
    head -c 5 "$name.pdf"
    tail -c 6 "$name.pdf"
    # width and height of the PNG: whole numbers of some size
    od -A n -t u1 -j 16 -N 8 "$name.png" | awk '{ w = ($3 * 256) + $4; h = ($7 * 256) + $8; print (w > 600 && h > 300 ? "large enough" : w " x " h) }'
}
draw one gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 2
draw sizes gpt3 -s a100,b200 -n 64..512:x2 -b 512 --strategy 1d --top 1
draw systems gpt3 -s a100,b200 -n 64 -b 512 --strategy 1d --top 1
draw nearest gpt3 -s a100 -n 2 -b 512 --strategy 1d
draw nothing gpt3 -s a100 -n 7 -b 512 --strategy 1d
