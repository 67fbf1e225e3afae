#!/bin/sh
# What fish offers.
. "$DATA/case.sh"
command -v fish >/dev/null || skip "no fish to try the completion with"
shell=fish
. "$DATA/completion.sh"
mkdir home
# shellcheck disable=SC2016 # fish's
offered() { HOME=$PWD/home fish --no-config -c 'source script; complete -C $argv[1]' "$1" | cut -f 1; }
each_line
