#!/bin/sh
# Answers that cannot be written: status 3 and one line that says which and why; an old file stays as it was.
. "$DATA/case.sh"
plan() { "$KERF" plan gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 2 "$@"; }
# failed COMMAND...: status 3 and one line
failed() {
    status=0
    "$@" >out 2>err || status=$?
    cat err
    [ "$status" = 3 ] || echo "(but the status is $status: $*)"
    [ "$(wc -l <err)" = 1 ] || echo "(but these are $(wc -l <err) lines: $*)"
}
if [ -w /dev/full ]; then
    echo "== standard output is full"
    to_full() { "$KERF" "$@" >/dev/full; }
    failed to_full plan gpt3 -s a100 -n 64 -b 512 --format json
    failed to_full plan gpt3 -s a100 -n 64 -b 512 -o -
    failed to_full estimate gpt3 -s a100 -b 512 --layout tp1=4,pp=16
    failed to_full models
    failed to_full systems a100
    failed to_full help plan
    failed to_full --version
    good='{"model":"gpt3","system":"h200","global_batch":512,"layout":{}}'
    lines_to_full() { yes "$good" 2>/dev/null | head -n 5 | "$KERF" estimate --lines >/dev/full; }
    failed lines_to_full
    echo "== a file is full"
    failed plan -o /dev/full
    failed plan -o /dev/full --format csv
    failed "$KERF" estimate gpt3 -s a100 -b 512 --layout tp1=4,pp=16 -o /dev/full
else
    echo "(no /dev/full)" # which is not as expected: every Linux has it
fi

echo "== no folder, a folder, a name that is too long"
mkdir folder folder.json
failed plan -o none/plan.svg
failed plan -o folder
failed plan -o folder.json
failed plan -o folder/
long=$(head -c 240 /dev/zero | tr '\0' x)
failed plan -o "$long.markdown.and.more.json" | sed "s/xx*\.markdown/X...markdown/"
failed "$KERF" estimate gpt3 -s a100 -b 512 --layout tp1=4,pp=16 -o none/one.json

echo "== the old file stays when the new one cannot be written to its end"
for file in old.json old.svg old.txt; do
    echo "old" >$file
    # files of at most 512 bytes; the signal that says so is ignored, as where a disk is full
    limited() { (trap '' XFSZ; ulimit -f 1; plan --top 20 -o "$file"); }
    failed limited
    cat $file
done
ls
echo "== where one cannot be written the rest still is"
failed plan -o /dev/full -o b.csv -o b.svg
first=$(head -n 1 b.csv)
echo "${first%%,*}" "$(tail -c 7 b.svg)"
