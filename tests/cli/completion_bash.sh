#!/bin/sh
# What bash offers. The words of `complete -o default` are files, which compgen makes here as readline would.
. "$DATA/case.sh"
command -v bash >/dev/null || skip "no bash to try the completion with"
shell=bash
. "$DATA/completion.sh"
cat >try <<'END'
. ./script
COMP_LINE=$1
read -r -a COMP_WORDS <<<"$1"
if [[ $1 == *' ' ]]; then COMP_WORDS+=(''); fi
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
files=-f
compopt() { case " $* " in *' dirnames '*) files=-d ;; *) files= ;; esac; }
_kerf
printf '%s\n' "${COMPREPLY[@]}"
if [[ -n $files ]] && ((${#COMPREPLY[@]} == 0)); then compgen $files -- "${COMP_WORDS[COMP_CWORD]}"; fi
END
offered() { bash try "$1"; }
each_line
