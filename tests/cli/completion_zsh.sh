#!/bin/sh
# What zsh offers: an interactive zsh on a terminal of zsh/zpty completes each line, and compadd tells what it was given.
. "$DATA/case.sh"
command -v zsh >/dev/null || skip "no zsh to try the completion with"
zsh -f -c 'zmodload zsh/zpty && autoload -U compinit && compinit -D -u' 2>/dev/null || skip "zsh has no zpty or compinit here"
shell=zsh
. "$DATA/completion.sh"
mkdir functions
mv script functions/_kerf
cat >setup <<'END'
PS1= PS2= LISTMAX=0
unsetopt zle_bracketed_paste 2>/dev/null
fpath=($PWD/functions $fpath)
autoload -U compinit; compinit -D -u
zstyle ':completion:*' insert-tab false
compadd() {
    local -a hits
    if [[ " $* " == *' '-[OAD]' '* || ${@[(I)-[OAD]*]} -gt 0 ]]; then builtin compadd "$@"; return; fi
    builtin compadd -O hits "$@"
    if (( $#hits )); then print -rl -- $hits >>words; fi
    builtin compadd "$@"
}
ended() { print >ended; }
comppostfuncs=(ended)
bindkey '^I' complete-word
print ready >ready
END
cat >try <<'END'
zmodload zsh/zpty
zpty -b terminal zsh -f -i
until_there() {
    repeat 6000; do
        if [[ -e $1 ]]; then return; fi
        while zpty -rt terminal line 2>/dev/null; do :; done
        sleep 0.05
    done
    print "(waited in vain for $1)"
}
zpty -w terminal 'source ./setup'
until_there ready
zpty -w -n terminal "$1"$'\t'
until_there ended
zpty -d terminal
cat words 2>/dev/null
END
offered() {
    rm -f words ended ready
    TERM=dumb zsh -f try "$1"
}
each_line
