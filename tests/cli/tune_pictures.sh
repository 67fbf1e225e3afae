#!/bin/sh
# Pictures of studies: one parameter is a curve with intervals, a surface says at which values of the others it is, and a long
# report leaves the answer on the screen. The studies are journals that are written here, one run a second.
. "$DATA/case.sh"
. "$DATA/tune.sh"
needs_terminal
mkdir studies
# journal NAME PARAMS: of lines "SETTING VALUE"
journal() {
    printf '{"kerf":"0.2.0","journal":1,"study":"%s","key":"00","began":"2026-11-26T00:00:00Z","request":{"params":[%s],"wheres":[],"words":["sh"],"earlier":[],"key_env":[],"preset":null,"defaults":null,"prefer":null,"policy":"kerf","objective":"regex:x","protocol":"exit","prepare":null,"cleanup":null,"launcher":null,"within":0.03,"margin":0.05,"confidence":0.95,"load_timeout_s":0,"trial_timeout_s":0,"memory_cap_bytes":0,"max_observations":0,"seed":0,"maximize":0,"slots":1,"warmups":0,"ignore_interference":1,"show_output":0}}\n' "$1" "$2" >"studies/$1.jsonl"
    awk '{ printf "{\"n\":%d,\"setting\":\"%s\",\"outcome\":\"value\",\"value\":%s,\"start_s\":%d,\"end_s\":%d,\"loads\":%d,\"why\":\"\"}\n",
        NR, $1, $2, NR - 1, NR, NR }' >>"studies/$1.jsonl"
}

echo "== one parameter"
journal one '"n=1..64:x2"' <<'END'
n=1 20
n=64 18.2
n=8 10.1
n=8 10.3
n=4 11.9
n=32 13.8
END
COLUMNS=60 "$KERF" studies show one | sed -n '/^n$/,/best/p'
"$KERF" studies show one -o one.svg >/dev/null
grep -o '<title>[a-z]*, [0-9]*: [^<]*' one.svg | sort | sed 's/<title>//'
grep -c 'with intervals of 95' one.svg

echo "== a slice"
awk 'BEGIN { for (i = 0; i < 24; i++) { n = 2 ^ (i * 5 % 7); m = 1 + i * 7 % 4; k = i % 3 == 0 ? "a" : "b"
    printf "n=%d,m=%d,k=%s %.2f\n", n, m, k, 10 + 20 / n + n / 9 + m + (k == "a") + i % 2 / 10 } }' | journal many '"n=1..64:x2","m=1..4","k=a,b"'
"$KERF" studies show many -o many.svg -o many.txt && grep Shown many.txt
grep -o 'All settings with [^<:]*' many.svg | head -1
"$KERF" studies show many --slice k=a -o part.svg -o part.txt && grep Shown part.txt
grep -o 'All settings with [^<:]*' part.svg | head -1
echo "== a slice of one parameter, numbers and words"
"$KERF" studies show many --slice m=3,k=b | sed -n '/^n$/,/Shown/p'
"$KERF" studies show many --slice m=3,n=8 -o words.svg | sed -n '/^k$/,/Shown/p'
echo "== a slice of a parameter without effect in the recommended setting"
awk 'BEGIN { for (n = 1; n <= 3; n++) for (d = 0; d <= 2; d++) printf "n=%d,m=1,spec=%s %.2f\n", n, d ? "on,draft=" d : "off", 10 + 2 * n + 3 * d }' |
    journal unused '"n=1..3","m=1..2","spec?=-s","draft=1,2 when spec"'
"$KERF" studies show unused | grep Shown
"$KERF" studies show unused --slice draft=2 | sed -n '/^m$/,/Shown/p'
"$KERF" studies show unused --slice spec=off,draft=2 2>&1
echo "== what matters, and of what"
"$KERF" studies show many | sed -n '/^what matters/,/^Shares/p'
for slice in m=9 nobody=1 m; do "$KERF" studies show many --slice $slice || echo "status $?"; done
"$KERF" tune --param n=1..9 --slice m=3 -- sh surface.sh '{n}' || echo "status $?"

echo "== the answer ends a report that is longer than the screen"
on_terminal() {
    script -q -e -c "stty cols 100 rows $1; NO_COLOR=1 $2" typescript </dev/null >/dev/null || echo "exit $?"
    sed '1d;$d' typescript | tr -d '\r' | sed '${/^$/d}' >seen
}
for rows in 12 200; do
    on_terminal $rows '"$KERF" studies show many'
    echo "$rows lines: $(grep -c '^\(Use\|No answer yet\)' seen) time(s)"
    tail -n 2 seen
done
echo "== a long table is cut on a terminal alone"
awk 'BEGIN { for (n = 1; n <= 48; n++) printf "n=%d %.1f\n", n, 100 + (n - 5) ^ 2 }' | journal long '"n=1..48"'
on_terminal 200 '"$KERF" studies show long'
grep 'not shown' seen
"$KERF" studies show long | grep -c 'not shown' || true
