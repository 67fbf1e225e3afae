# The manual page of a public header as mdoc: `awk -f manual.awk -v version=0.2.0 -v date="November 23, 2026" kerf/plan.h`.
#
# A header is its own manual. It has this form, and all of it but the guards comes into the page:
#   the opening comment         what the header is for; "A program:" and "It prints:" become the example
#   /* ---- Title ---- */       a group
#   a comment, then lines of    what these declare and how they are used, up to the next empty line
#   declarations
#   a comment on its own        a paragraph
# Members, enumerators and constants have their comment behind or above them. A line of a comment that is indented
# further is shown as it is.

function escape(text) {
    gsub(/\\/, "\\e", text)
    return text ~ /^[.']/ ? "\\&" text : text
}

function quote(text) {
    gsub(/\\/, "\\e", text)
    gsub(/"/, "\\(dq", text)
    return "\"" text "\""
}

function trim(text) {
    gsub(/[ \t\n]+/, " ", text)
    sub(/^ /, "", text)
    sub(/ $/, "", text)
    return text
}

# What is between the marks of a comment, with the indentation that its lines have beyond the first.
function plain(comment) {
    sub(/^[ \n]*\/\*\*?[ \n]*(\* )?/, "", comment)
    sub(/[ \n]*\*\/[ \n]*$/, "", comment)
    gsub(/\n *\* ?/, "\n", comment)
    return comment
}

# The comment behind a declaration: its further lines are indented up to the first.
function behind(comment) {
    return trim(plain(comment))
}

function paragraphs(text,    lines, n, i, open, gap) {
    n = split(text, lines, "\n")
    for (i = 1; i <= n; i++) {
        if (lines[i] ~ /^ *$/) {
            gap = 1
        } else if (lines[i] ~ /^  /) {
            if (!open) print ".Bd -literal -offset indent"
            else if (gap) print ""
            open = 1
            print escape(substr(lines[i], lines[i] ~ /^    / ? 5 : 3))
            gap = 0
        } else {
            if (open) print ".Ed\n.Pp"
            else if (gap) print ".Pp"
            open = gap = 0
            while (match(lines[i], /[.] [A-Z]/)) { # a sentence, a line: so is the space behind it right
                print escape(substr(lines[i], 1, RSTART))
                lines[i] = substr(lines[i], RSTART + 2)
            }
            print escape(lines[i])
        }
    }
    if (open) print ".Ed"
}

# The text up to "A program:", and what is indented below this and below "It prints:".
function opening(text,    lines, n, i, to) {
    n = split(text, lines, "\n")
    for (i = 1; i <= n; i++) {
        if (lines[i] == "A program:") to = "program"
        else if (lines[i] == "It prints:") to = "output"
        else if (to == "") about = about lines[i] "\n"
        else part[to] = part[to] lines[i] "\n"
    }
}

function tags() {
    if (!in_list) print ".Bl -tag -width Ds"
    in_list = 1
}

function end_tags() {
    if (in_list) print ".El"
    in_list = 0
}

function say_above() {
    said(above)
    above = ""
}

function said(text) {
    if (text != "") paragraphs(text)
}

# "int32_t f(const char *a, int32_t n) KERF_PRINTF(3, 4)" to ret, name and args[1 .. num_args].
function prototype(code,    at, depth, i, c, arg) {
    sub(/^KERF_API /, "", code)
    sub(/ *KERF_PRINTF\(.*\)$/, "", code)
    at = match(code, /[a-z0-9_]+\(/)
    ret = trim(substr(code, 1, at - 1))
    name = substr(code, at, RLENGTH - 1)
    code = substr(code, at + RLENGTH)
    sub(/\)$/, "", code)
    num_args = 0
    for (i = 1; i <= length(code) + 1; i++) {
        c = substr(code, i, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (i > length(code) || (c == "," && !depth)) {
            args[++num_args] = trim(arg)
            arg = ""
        } else {
            arg = arg c
        }
    }
}

function argument_name(arg) {
    if (arg == "void") return ""
    gsub(/\[.*$/, "", arg)
    if (match(arg, /\(\*[a-z_]+\)/)) return substr(arg, RSTART + 2, RLENGTH - 3)
    match(arg, /[a-z0-9_.]+$/)
    return substr(arg, RSTART)
}

# Members of a struct or entries of an enum: code up to ; or , at the outermost level, and the comments.
function members(body,    n, lines, i, first, line, code, comment, held, open, depth) {
    n = split(body, lines, "\n")
    depth = 0
    for (i = 1; i <= n; i++) {
        line = lines[first = i]
        if (line ~ /^ *$/ || line ~ /^ *#/ || line ~ /^ *KERF_[A-Z_]+\(KERF_[A-Z_]+\)$/) continue
        comment = ""
        if (match(line, /\/\*/)) {
            comment = substr(line, RSTART)
            line = substr(line, 1, RSTART - 1)
            while (comment !~ /\*\//) comment = comment "\n" lines[++i]
        }
        code = trim(code " " line)
        if (code != "" && code !~ /[;,{}]$/ && comment == "" && lines[i + 1] ~ /[^ ]/) continue # goes on in the next line
        sub(/,$/, "", code)
        if (code == "" && (first <= 2 || lines[first - 1] ~ /[^ ]/) && lines[i + 1] ~ /[^ ]/) { # above the one member that it is about
            held = comment
            continue
        }
        if (code == "") {
            if (open[depth]) print ".El"
            print ".Pp"
        } else if (!open[depth]) {
            print ".Bl -tag -width Ds -compact"
        }
        open[depth] = code != ""
        if (code ~ /^\}/) {
            print ".El"
            open[depth--] = 0
        }
        if (code != "") print ".It " quote(code)
        if (code ~ /\{$/) depth++
        if (held != "") said(behind(held))
        if (held != "" && comment != "") print ".Pp"
        said(behind(comment))
        code = held = ""
    }
    if (open[0]) print ".El"
}

# A macro with one X(name, ..., "meaning") a line.
function entries(body,    n, lines, i, parts, meaning) {
    n = split(body, lines, "\n")
    print ".Bl -tag -width Ds -compact"
    for (i = 1; i <= n; i++) {
        if (!match(lines[i], /X\([A-Z0-9_]+/)) continue
        print ".It Dv " substr(lines[i], RSTART + 2, RLENGTH - 2)
        meaning = substr(lines[i], RSTART + RLENGTH)
        sub(/^, */, "", meaning)
        sub(/\)[ \\]*$/, "", meaning)
        print escape(meaning)
    }
    print ".El"
}

# One declaration: its head as an entry of the list, its own comment below it.
function declaration(code, comment,    i, head, body) {
    if (code ~ /^KERF_API /) {
        prototype(code)
        head = ".It Fn " name
        for (i = 1; i <= num_args; i++) if (args[i] != "void") head = head " " quote(argument_name(args[i]))
        tags()
        print head
        if (comment != "") say_above()
        said(behind(comment))
    } else if (code ~ /^(struct|enum) [a-z_]+ \{/) {
        head = code
        sub(/ \{.*$/, "", head)
        body = code
        sub(/^[^{]*\{/, "", body)
        sub(/\}$/, "", body)
        tags()
        print ".It Vt " quote(head)
        say_above()
        members(body)
    } else if (code ~ /^#define [A-Z0-9_]+\(X\)/) {
        head = substr(code, 9)
        sub(/\(.*$/, "", head)
        tags()
        print ".It Dv " head
        above = "" # the names of X's arguments
        entries(code)
    } else if (code ~ /^#define/) {
        tags()
        print ".It Dv " quote(trim(substr(code, 9)))
        said(behind(comment))
    } else {
        tags()
        print ".It Vt " quote(trim(code))
        said(behind(comment))
    }
}

# ---- Reading: into items, each of a kind with its text ------------------------------------------------------------------

{file[NR] = $0}

function item(its_kind, its_text) {
    kind[++items] = its_kind
    text[items] = its_text
}

function read_items(    i, line, comment) {
    for (i = 1; i <= NR; i++) {
        line = file[i]
        if (line ~ /^\/\* SPDX/ || line ~ /^#(if|ifdef|ifndef|endif|else|undef)/ || line ~ /^extern "C"/ || line == "}" ||
            line ~ /^#define KERF_([A-Z]+_H$|API|PRINTF)/ || line ~ /^#define KERF_[A-Z_]+_ENUM\(/) {
            continue
        } else if (line ~ /^#include/) {
            if (match(line, /kerf\/[a-z]+/)) includes[++num_includes] = "kerf_" substr(line, RSTART + 5, RLENGTH - 5)
        } else if (line ~ /^\/\* ---- /) {
            sub(/^\/\* ---- /, "", line)
            sub(/ -+ \*\/$/, "", line)
            item("group", line)
        } else if (line ~ /^\/\*/) {
            while (line !~ /\*\//) line = line "\n" file[++i]
            item("comment", plain(line))
        } else if (line ~ /^ *$/) {
            item("gap", "")
        } else {
            if (line ~ /^#define/) while (line ~ /\\$/) line = line "\n" file[++i]
            else while (i < NR && (line !~ /;( *\/\*.*)?$/ || (line ~ /^(struct|enum) [a-z_]+ \{/ && line !~ /\};$/)))
                line = line "\n" file[++i]
            comment = ""
            if (line !~ /^(struct|enum) [a-z_]+ \{/ && match(line, /\/\*/)) {
                comment = substr(line, RSTART)
                line = substr(line, 1, RSTART - 1)
                while (comment !~ /\*\//) comment = comment "\n" file[++i]
            }
            sub(/[; ]+$/, "", line)
            item(line ~ /^KERF_API / ? "function" : "type", line)
            behind_it[items] = comment
        }
    }
}

# ---- Writing: section by section ---------------------------------------------------------------------------------------

# The first sentence, or as much of it as a line holds.
function summary(    line) {
    line = about
    sub(/\n\n.*$/, "", line)
    line = trim(line)
    if (match(line, /[.] /)) line = substr(line, 1, RSTART - 1)
    while (length(line) > 100 && match(line, /[,:;] [^,:;]*$/)) line = substr(line, 1, RSTART - 1)
    sub(/[.]$/, "", line)
    return line ~ /^[A-Z][a-z ]/ ? tolower(substr(line, 1, 1)) substr(line, 2) : line
}

function write_head(header, page,    i) {
    print ".\\\" Made from " header "."
    print ".Dd " date
    print ".Dt " toupper(page) " 3"
    print ".Os kerf " version
    print ".Sh NAME"
    printf ".Nm %s", page
    for (i = 1; i <= items; i++) {
        if (kind[i] != "function") continue
        prototype(text[i])
        if (name != page) printf " ,\n.Nm %s", name
    }
    print "\n.Nd " escape(summary())
}

function write_synopsis(header,    i, a) {
    print ".Sh SYNOPSIS"
    print ".In " header
    for (i = 1; i <= items; i++) {
        if (kind[i] != "function") continue
        prototype(text[i])
        print ".Ft " quote(ret)
        print ".Fo " name
        for (a = 1; a <= num_args; a++) print ".Fa " quote(args[a])
        print ".Fc"
    }
}

function write_description(first,    i) {
    print ".Sh DESCRIPTION"
    paragraphs(about)
    for (i = first + 1; i <= items; i++) {
        if (kind[i] == "group") {
            end_tags()
            print ".Ss " text[i]
        } else if (kind[i] == "comment") {
            say_above()
            above = text[i]
            in_block = 0
        } else if (kind[i] == "gap") {
            if (!in_block && above != "") { # a comment on its own
                end_tags()
                print ".Pp"
            }
            say_above()
            in_block = 0
        } else {
            if (in_block && behind_it[i] != "") say_above() # it was of those before
            declaration(text[i], behind_it[i])
            in_block = 1
        }
    }
    say_above()
    end_tags()
}

function write_examples() {
    if (part["program"] == "") return
    print ".Sh EXAMPLES"
    paragraphs(part["program"])
    print ".Pp\nIt prints:"
    paragraphs(part["output"])
}

function write_see_also(    i) {
    print ".Sh SEE ALSO"
    printf ".Xr kerf 1"
    for (i = 1; i <= num_includes; i++) printf " ,\n.Xr %s 3", includes[i]
    print ""
}

END {
    header = FILENAME
    sub(/^.*\/kerf\//, "kerf/", header)
    page = "kerf_" header
    sub(/kerf\//, "", page)
    sub(/\.h$/, "", page)
    if (page == "kerf_kerf") page = "kerf"
    read_items()
    for (first = 1; first < items && kind[first] != "comment";) first++
    opening(text[first])
    sub(/\n+$/, "", about)
    write_head(header, page)
    write_synopsis(header)
    write_description(first)
    write_examples()
    write_see_also()
}
