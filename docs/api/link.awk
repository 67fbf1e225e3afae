# Makes every name of the library in one HTML page of mandoc's a link to where it is documented.
# `awk -v page=kerf_plan -f link.awk *.html kerf_plan.html`: the pages that document names, then the one to write.

FNR == 1 {file++; current = FILENAME; sub(/^.*\//, "", current)}

# Functions have an identifier already; structs and enums get one.
function named(line) {
    if (match(line, /<dt>(<a[^>]*>)?<(var|code|span) class="Vt">(struct|enum) kerf_[a-z0-9_]+</)) {
        anchor = substr(line, RSTART, RLENGTH - 1)
        sub(/^.* /, "", anchor)
        sub(/<dt>/, "<dt id=\"" anchor "\">", line)
    }
    return line
}

file < ARGC - 1 {
    line = named($0)
    while (match(line, /id="kerf_[a-z0-9_]+"/)) {
        anchor = substr(line, RSTART + 4, RLENGTH - 5)
        if (!(anchor in where)) where[anchor] = current
        line = substr(line, RSTART + RLENGTH)
    }
    next
}

{
    line = named($0)
    own = ""
    if (match(line, /<dt id="kerf_[a-z0-9_]+"/)) own = substr(line, RSTART + 8, RLENGTH - 9)
    done = ""
    while (match(line, /<[^>]*>|kerf_[a-z0-9_]+/)) {
        word = substr(line, RSTART, RLENGTH)
        done = done substr(line, 1, RSTART - 1)
        before = substr(done, length(done))
        line = substr(line, RSTART + RLENGTH)
        if (word ~ /^<a[ >]/) in_link = 1
        if (word ~ /^<\/a/) in_link = 0
        if (word ~ /^<title/) in_link = 1
        if (word ~ /^kerf_/ && word in where && word != own && !in_link && before !~ /[a-z0-9_\/]/)
            word = "<a href=\"" (where[word] == page ".html" ? "" : where[word]) "#" word "\">" word "</a>"
        done = done word
    }
    print done line
}
