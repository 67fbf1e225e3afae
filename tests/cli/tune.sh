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
