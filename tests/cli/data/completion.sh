# shellcheck shell=sh
# What the three cases of completion have in common: a folder with files and a study of this name, and the words that a
# shell offers for each line of completion_lines. Every shell offers the same.
mkdir own_folder studies
: >own_file.json
KERF_STUDIES=$PWD/studies
"$KERF" help --completion "$shell" >script
cat >kerf <<END
#!/bin/sh
case "\$*" in
"jobs list "*"--server http://trainer:8000"*) printf 'job,stage\\nnightly,MAB\\n' ;; # as a server there would say
*) exec "$KERF" "\$@" ;;
esac
END
chmod +x kerf
PATH=$PWD:$PATH
export KERF_STUDIES PATH
"$KERF" tune --study 20260102-030405-0a0b --param x=1 --objective 'regex:(.*)' -- echo {x} >/dev/null 2>&1

# Prints what `offered LINE` offers, a word a line, as one sorted line.
each_line() {
    while IFS= read -r line; do
        printf '%s\n' "$line ->$(offered "$line" | sed 's|/$||; s/ *$//; s/^--[a-z]*=//; s/.*,//; /^$/d' | LC_ALL=C sort -u | tr '\n' ' ' | sed 's/^/ /; s/ $//')"
    done <"$DATA/completion_lines"
}
