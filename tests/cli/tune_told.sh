#!/bin/sh
# kerf tune: numbers that have no ratio, policies without intervals, one pair of words for flags, goals of many nines.
. "$DATA/case.sh"
. "$DATA/tune.sh"
quiet='--no-journal --interference ignore'
# told OPTION... -- COMMAND...: the sentences alone
told() {
    # shellcheck disable=SC2086
    "$KERF" tune $quiet "$@" | sed '/^$/,$d' | sed 's/ in [0-9.]* [mu]*s,/ in TIME,/; s/-*[0-9.]* (95/N (95/; s/ -*[0-9.]* to -*[0-9.]*)/ N to N)/; s/gives -*[0-9.]*/gives N/; s/best is [0-9.]*/best is N/; s/probability of >*[0-9.]* %/probability of P/; s/differ by [0-9.]* %/differ by N %/'
}

echo "== a default at 0 or below has a difference, and no ratio"
told --param n=1..4 --objective 'regex:v=([-0-9.e]+)' --maximize -d n=1 --policy exhaustive -- sh -c 'echo v=$(({n}-2))'
# shellcheck disable=SC2086
"$KERF" tune $quiet --param n=1..4 --objective 'regex:v=([-0-9.e]+)' --maximize -d n=1 --policy exhaustive --format json -- sh -c 'echo v=$(({n}-2))' |
    grep -oE '"default":\{"setting":\{"n":1\},"mean":-1,"gain":[a-z]*,"gain_interval":[a-z]*'

told --param n=1..4 --objective 'regex:v=([-0-9.e]+)' -d n=4 --policy exhaustive -- sh -c 'echo v=0 {n}' | sed -n 2p

echo "== what is not known is nowhere a number"
for policy in kerf race exhaustive random halving best_bub null; do
    for form in table json csv markdown svg; do
        case $form in svg) how="-o answer.svg" ;; *) how="--format $form" ;; esac
        # shellcheck disable=SC2086
        "$KERF" tune $quiet --param n=1..3 -d n=1 --policy $policy --max-observations 5 $how -- true {n} >answer.$form
        grep -iwE -- '-?nan|-?inf|infinity' answer.$form && echo "($policy says so as $form)"
    done
done
grep -oE '"interval":[^,]*,"probability_within":[^,}]*|"gain_interval":[a-z]*' answer.json | sort -u
"$KERF" tune --no-journal --interference ignore --param n=7..8 --policy null -d n=7 -- true {n} | sed -n '1,3p' | sed 's/: [0-9.]* [mu]*s/: TIME/'

echo "== of a line's matches the last one counts; a last value that is no number fails"
told --param n=1 --objective 'regex:([0-9]+) tok' --policy exhaustive -- echo "5 tok/s, 7 tok/s" '{n}' | grep -o 'n=1: [0-9]*'
told --param n=1 --objective json:v --policy exhaustive -- sh -c 'echo "{{\"v\":1}"; echo "{{\"v\":NaN}"' '{n}'

echo "== a best of 0 is exact where runs agree"
told --param n=1..8 --objective json:v -- sh -c 'echo "{{\"v\": $(($0 > 5 ? 0 : $0))}"' '{n}' | sed -n 's/n=[678]:/n=6, 7 or 8:/; 1p'
told --param n=1..6 --objective json:v --pareto errors -- sh -c 'echo "{{\"v\": $((10 - $0)), \"errors\": 0}"' '{n}' | sed -n 1p

echo "== one setting is one"
told --param n=7 --objective 'regex:([0-9]+)' -- echo {n} | grep -o 'It is the only setting'

echo "== less than an even chance is no answer"
told --param n=1..40 --objective 'regex:([0-9]+)' --max-observations 1 -d n=20 -- echo {n}
# shellcheck disable=SC2086
"$KERF" tune $quiet --param n=1..40 --objective 'regex:([0-9]+)' --max-observations 1 -d n=20 --format json -- echo {n} | grep -o '"answered":[a-z]*'

echo "== of a large space a part is looked at"
told --param a=1..100 --param b=1..100 --objective 'regex:([0-9]+)' --max-observations 3 -d a=50,b=50 -- echo 7 {a} {b} | grep -o 'best of [^.]* with'
# shellcheck disable=SC2086
"$KERF" tune $quiet --param a=1..100 --param b=1..100 --objective 'regex:([0-9]+)' --max-observations 3 --format json -- echo 7 {a} {b} | grep -o '"looked_at":[0-9]*'

echo "== a large grid is searched, and the report says how many settings it has"
told --param a=1..1000 --param b=1..1000 --param c=1..1000 --objective 'regex:([0-9]+)' --max-observations 3 -d a=50,b=50,c=50 -- echo 7 {a} {b} {c} | grep -o 'best of [^.]* with\|^Of.*'
# shellcheck disable=SC2086
"$KERF" tune $quiet --param a=1..1000 --param b=1..1000 --param c=1..1000 --where 'a <= b' --objective 'regex:([0-9]+)' --max-observations 3 --format json -- echo 7 {a} {b} {c} |
    grep -o '"looked_at":[0-9]*,"settings_in_all":5[0-9]*\|"status":"measured"' | sed 's/5[0-9]*$/about half a billion/'
# shellcheck disable=SC2086
"$KERF" tune $quiet --param a=1..1000 --param b=1..1000 --param c=1..1000 --where 'a <= b' --objective 'regex:([0-9]+)' --max-observations 3 -- echo 7 {a} {b} {c} | grep -o 'of about [0-9]*'
# shellcheck disable=SC2086
"$KERF" tune $quiet --param a=1..1000 --param b=1..1000 --param c=1..1000 --policy race -- echo 7 {a} {b} {c} 2>&1
# shellcheck disable=SC2086
"$KERF" tune $quiet --param a=1..1000 --param b=1..1000 --param c=1..1000 --pareto memory -- echo 7 {a} {b} {c} 2>&1

echo "== what does not vary has no noise, and its estimate is what was seen"
# shellcheck disable=SC2086
"$KERF" tune $quiet --param n=1..3 -d n=1 --objective 'regex:([0-9]+)' --format csv -- sh -c 'echo 10{n}' | cut -d, -f1,2,6-8,12
told --param n=1..3 -d n=1 --objective 'regex:([0-9]+)' -- sh -c 'echo 10{n}'

echo "== nothing measured is no table"
told --param n=1..3 --policy null -- true {n}
"$KERF" tune --no-journal --interference ignore --param n=1..3 --policy null -- true {n} | tail -1

echo "== flags are on and off, and may be called what they are elsewhere"
for word in on off true false yes no 1 0; do
    "$KERF" tune --no-journal --interference ignore --param 'm?=-m' --param n=1..2 -d "m=$word,n=1" --policy null --format csv -- true {m} {n} |
        grep ',measured\|measured,1' | cut -d, -f1-3
done
"$KERF" tune --no-journal --interference ignore --param 'm?=-m' --param n=1 -d m=on,n=1 --policy null -- true {m} {n} | tail -2 | cut -c1-6

echo "== columns that are called alike"
"$KERF" tune --no-journal --interference ignore --param mean=1 --param n=1..2 --policy null --format csv -- true {mean} {n} | head -1 | cut -d, -f1-4
KERF_STUDIES=$PWD/columns "$KERF" tune --interference ignore --param mean=1 --param n=1..2 --policy null --study columns -- true {mean} {n} >/dev/null
KERF_STUDIES=$PWD/columns "$KERF" studies export columns --format csv | head -1 | cut -d, -f1-4
"$KERF" tune --no-journal --interference ignore --param status=1 --param param_status=1 --policy null --format csv -- true {status} {param_status} | head -1 | cut -d, -f1-4
KERF_STUDIES=$PWD/columns "$KERF" tune --interference ignore --param second=1 --pareto memory --study both --max-observations 1 -- true {second} >/dev/null
KERF_STUDIES=$PWD/columns "$KERF" studies export both --format csv | head -1 | grep -o 'param_second\|second'

echo "== so many settings as there are"
"$KERF" tune --no-journal --interference ignore --param n=1..3 --policy random --format json -- true {n} | grep -oE '"reason":"[^"]*measured 5 times"'

echo "== all of it begins to crash"
told --param n=1..2 --policy exhaustive -- sh -c 'echo >>runs{n}; [ $(wc -l <runs{n}) -lt 3 ] || (echo the disk is away >&2; exit 4)' | grep 'Not sure'

cat >stops.sh <<'END_OF_STOPS'
# Takes 10 ms with n=1, is stopped with n=2 and says that it ran 99 s, and has no memory for n=3.
echo '{"ready":true}'
while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    case $line in
    *'"n":1}'*) echo "{\"id\":$id,\"value\":0.01}" ;;
    *limit_s*'"n":2}'* | *'"n":2}'*limit_s*) echo "{\"id\":$id,\"censored\":99}" ;;
    *'"n":2}'*) echo "{\"id\":$id,\"value\":0.1}" ;;
    *) echo "{\"id\":$id,\"error\":\"none left\",\"kind\":\"memory\"}" ;;
    esac
done
END_OF_STOPS
echo "== --format says what standard output gets, whatever files there are"
quietly() { "$KERF" tune --no-journal --interference ignore --param n=1..2 --policy null "$@" -- true {n} | head -c 8 | tr -d '\n'; echo; }
quietly --format json -o answer.csv
quietly --format json -o answer.svg
quietly -o answer.csv
head -c 8 answer.csv; echo
"$KERF" tune --no-journal --param 'n=2^1..2^4' -- true {n}

echo "== numbers that have no ratio have no map"
"$KERF" tune --no-journal --interference ignore --param n=1..4 --objective 'regex:v=([-0-9.e]+)' --policy exhaustive -- sh -c 'echo v=$(({n}-2))' | grep -c 'times the best'

echo "== what was stopped takes no less than it ran, and what is skipped nothing at all"
"$KERF" tune --no-journal --interference ignore --param n=1..8 --protocol worker --max-observations 6 --format csv -- sh stops.sh | awk -F, '$2 == "censored" { print ($6 < 1 && $6 >= $9 && ($7 == "" || $7 >= $9) ? "as it ran" : $0) } $2 == "skipped" { print "skipped at \"" $6 "\"" }' | sort -u

echo "== nearly sure"
told --confidence 99.99999% --param n=1..2 --objective 'regex:([0-9]+)' --max-observations 2 -d n=2 -- echo {n} | grep -o '([0-9.]* %:' | sort -u

echo "== more of what a worker says is no time"
# shellcheck disable=SC2086
"$KERF" tune $grid --protocol worker $quiet --maximize -- "$worker" --maximize | sed -n '1s/ (.*//p;2s/:.*//p'
cat >scores.sh <<'END'
echo '{"ready":true}'
while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    n=${line#*\"n\":}; n=${n%%[,\}]*}
    echo "{\"id\":$id,\"value\":$((n * 10 - 25))}"
done
END
"$KERF" tune --interference ignore --param n=1..4 --protocol worker --maximize --policy exhaustive --format csv -- sh scores.sh | cut -d, -f1,2,5,6
echo "== and helps no study of times"
"$KERF" tune --interference ignore --param n=1..4 --protocol worker --policy exhaustive --format json -- sh scores.sh | grep -oE '"earlier":[0-9]+'

echo "== columns and their names on a terminal"
COLUMNS=80 "$KERF" tune --no-journal --interference ignore --param a=1..9223372036854775807:x2 --param b=1,2 --policy exhaustive --max-observations 63 --objective 'regex:^([0-9]+)' -- echo {b} {a} | sed -n '/^b$/,/^ *a$/p'
