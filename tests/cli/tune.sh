#!/bin/sh
# kerf tune on a simulated worker: the report in its forms, presets of policies, what stops a study.
. "$DATA/case.sh"
. "$DATA/tune.sh"

echo "== the report"
tunes --prefer smaller:ubatch,batch -- "$worker"
echo "== narrow"
COLUMNS=40 "$KERF" studies show "$("$KERF" studies --format csv | sed -n '2s/,.*//p')" | same

echo "== JSON says all of it"
tunes --fresh --no-journal --format json -- "$worker" | sed 's/"settings".*/.../'
echo "== CSV and Markdown"
tunes --fresh --no-journal --format csv -- "$worker" | sed -n '2p;3p;$p'
tunes --fresh --no-journal --format markdown -- "$worker" | sed -n '2,/---/p'
echo "== pictures"
tunes --fresh --no-journal -o surface.svg -o surface.html -o answer.json -- "$worker"
for file in surface.svg surface.html answer.json; do echo "$file: $(grep -c 'ubatch' $file)"; done

echo "== more is better"
tunes --fresh --no-journal --objective value --maximize --format json -- "$worker" --maximize |
    grep -oE '"stopped":"[a-z]*"|"best":\{"setting":\{[^}]*\}|"gain":[0-9.]{4}'
echo "== out of memory leaves out what needs more"
tunes --fresh --no-journal --format csv -- "$worker" --out-of-memory 512 | cut -d, -f2,3 | grep -E '^(512|1024|2048),' | sort | uniq -c | sed 's/^ *//'
echo "== warm-ups and bounds"
tunes --fresh --no-journal --warmup 2 --max-observations 6 --format json -- "$worker" >/dev/null
facts out | head -2
echo "== other policies"
for policy in race exhaustive random best_bub null; do
    tunes --fresh --no-journal --policy $policy --format json -- "$worker" |
        sed -E '2s/.*"stopped":"([a-z_]*)".*"observations":([0-9]+),"censored".*"best":\{"setting":(\{[^}]*\}).*/\1 after \2: \3/'
done
echo "== a machine with two modes"
cat >modal <<'END'
#!/bin/sh
# three runs in ten take a quarter longer; the worker's clock is its own
n=0 clock=1000
echo '{"ready":true}'
while read -r line; do
    id=${line#*\"id\":} n=$((n + 1))
    case $line in *'"a"'*) ms=1300 ;; *'"b"'*) ms=1100 ;; *'"c"'*) ms=1000 ;; *'"d"'*) ms=1210 ;; *) ms=1400 ;; esac
    ms=$((ms + n * 37 % 11))
    [ $((n * 7 % 10)) -ge 3 ] || ms=$((ms * 5 / 4))
    end=$((clock + ms))
    printf '{"id":%d,"value":%d.%03d,"start_s":%d.%03d,"end_s":%d.%03d}\n' "${id%%,*}" $((ms / 1000)) $((ms % 1000)) \
        $((clock / 1000)) $((clock % 1000)) $((end / 1000)) $((end % 1000))
    clock=$((end + 20))
done
END
chmod +x modal
modal() { "$KERF" tune --param o=a,b,c,d,e --protocol worker --interference ignore --fresh --no-journal "$@" -- ./modal; }
modal | grep -E '^Use|modes'
modal --format json | grep -oE '"observations":1[0-9],|"modes":\{"share":0|"slower":1.2[0-9]'
echo "== runs that differ by more than their mean"
echo 0 >count
cat >wild <<'END'
#!/bin/sh
count=$(cat count)
echo $((count + 1)) >count
echo took $((count % 5 ? 1 : 90))
END
chmod +x wild
"$KERF" tune --param n=1,2 --fresh --no-journal --interference ignore --policy exhaustive --objective 'regex:took ([0-9]+)' -- ./wild {n} | same
echo "== a setting without a probability"
"$KERF" tune --policy race --param n=1..300 --fresh --no-journal --interference ignore --objective 'regex:([0-9]+)' --max-observations 130 -- echo {n} |
    grep -E ' - +-$|compared' | sed 's/^[0-9]* /N /' | tail -1
echo "== the best comes first, though another one has a better estimate"
modal --seed 1 --max-observations 10 | grep -E '^[a-e] .*[0-9] %|estimate, '
