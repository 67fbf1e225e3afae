# Reads JSON by the letter of RFC 8259 and prints every value as PATH=VALUE, strings and numbers as they were written.
# Anything else, a key that is given twice among it, ends with "not JSON: ..." and status 1.
# With -v lines=1 each line is a value of its own, and N: stands before its paths.
function fail(what) {
    if (!bad) printf "not JSON: %s%s at byte %d\n", prefix, what, at
    bad = 1
}
function space() {
    while (at <= size && index(" \t\r\n", substr(text, at, 1))) at++
}
function string(   from, c) {
    from = at++
    while (!bad) {
        if (at > size) { fail("a text without end"); break }
        c = substr(text, at, 1)
        if (c == "\"") break
        if (c < " ") fail("a control character")
        if (c != "\\") { at++; continue }
        c = substr(text, at + 1, 1)
        if (c == "u" && substr(text, at + 2, 4) ~ /^[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]$/) at += 6
        else if (c != "" && index("\"\\/bfnrt", c)) at += 2
        else fail("an unknown escape")
    }
    return substr(text, from, ++at - from)
}
function number(   c, rest) {
    rest = substr(text, at, 64)
    if (!match(rest, /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/)) return fail("no value")
    at += RLENGTH
    return substr(rest, 1, RLENGTH)
}
function show(path, value) {
    if (!bad) print prefix path "=" value
}
function value(path,   c, key, count) {
    space()
    c = substr(text, at, 1)
    if (c == "{") {
        at++; space()
        if (substr(text, at, 1) == "}") { at++; show(path, "{}"); return }
        while (!bad) {
            space()
            if (substr(text, at, 1) != "\"") return fail("a key is missing")
            key = string()
            key = path (path == "" ? "" : ".") substr(key, 2, length(key) - 2)
            if ((prefix key) in seen) return fail("a second " key)
            seen[prefix key] = 1
            space()
            if (substr(text, at++, 1) != ":") return fail("a colon is missing before this")
            value(key)
            space()
            c = substr(text, at++, 1)
            if (c == "}") return
            if (c != ",") return fail("a comma is missing before this")
        }
    } else if (c == "[") {
        at++; space()
        if (substr(text, at, 1) == "]") { at++; show(path, "[]"); return }
        while (!bad) {
            value(path "[" count++ "]")
            space()
            c = substr(text, at++, 1)
            if (c == "]") return
            if (c != ",") return fail("a comma is missing before this")
        }
    } else if (c == "\"") {
        show(path, string())
    } else if (substr(text, at, 4) == "true" || substr(text, at, 4) == "null") {
        at += 4
        show(path, substr(text, at - 4, 4))
    } else if (substr(text, at, 5) == "false") {
        at += 5
        show(path, "false")
    } else {
        show(path, number())
    }
}
function document() {
    at = 1
    size = length(text)
    value("")
    space()
    if (at <= size) fail("something behind the value")
}
BEGIN { lines += 0 }
lines { prefix = NR ":"; text = $0; document(); next }
{ text = text $0 "\n" }
END {
    if (!lines) document()
    exit bad
}
