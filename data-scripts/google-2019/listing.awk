# Reads one page of a bucket's list, as the JSON API of Google Cloud Storage sends it:
#
#   {"nextPageToken": "Cg==", "items": [{"name": "a.gz", "size": "12", "md5Hash": "1B2M2Y8AsgTpgAmY7PhCfg=="}]}
#
# In: that JSON, on any number of lines and in any order. Out: "item BYTES MD5 NAME" for
# each object, with the MD5 in hexadecimal or `-` if there is none (objects that were
# composed from others have none), and "next TOKEN", ready for a URL, if this is not the
# last page. Objects with names that cannot be names of files are left out. Exit code: 0,
# or 1 if this is not a complete list.
#
# A JSON string never continues after the end of a line, so the lines are read
# one by one.

BEGIN {
    for (i = 1; i < 128; i++) code[sprintf("%c", i)] = i
    base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
}

{
    rest = $0
    while (match(rest, /[^ \t\r]/)) {
        rest = substr(rest, RSTART)
        if (match(rest, /^"([^"\\]|\\.)*"/))
            take(unescaped(substr(rest, 2, RLENGTH - 2)), 1)
        else if (match(rest, /^[{}:,]/) || match(rest, /^\[/) || match(rest, /^\]/))
            mark(substr(rest, 1, 1))
        else if (match(rest, /^[-+.0-9A-Za-z]+/))
            take(substr(rest, 1, RLENGTH), 0)
        else
            give_up()
        rest = substr(rest, RLENGTH + 1)
    }
}

END {
    if (bad || !whole || depth > 0) exit 1
    if (next_token != "") print "next", next_token
}

function give_up() {
    bad = 1
    exit 1
}

# A bracket, brace, colon or comma.
function mark(char) {
    if (char == "{" || char == "[") {
        if (whole) give_up()
        depth++
        kind[depth] = char
        key[depth] = ""
        wants_key[depth] = (char == "{")
        if (is_item()) name = size = md5 = ""
    } else if (depth == 0) {
        give_up()
    } else if (char == "}" || char == "]") {
        if ((char == "}") != (kind[depth] == "{")) give_up()
        if (is_item()) print_item()
        if (--depth == 0) whole = 1
    } else if (char == ",") {
        wants_key[depth] = (kind[depth] == "{")
    }
}

# A string, a number or a word.
function take(text, is_string) {
    if (depth == 0) give_up()
    if (wants_key[depth]) {
        if (!is_string) give_up()
        key[depth] = text
        wants_key[depth] = 0
    } else if (depth == 1 && key[1] == "nextPageToken") {
        next_token = percent_encoded(text)
    } else if (is_item()) {
        if (key[3] == "name") name = text
        if (key[3] == "size") size = text
        if (key[3] == "md5Hash") md5 = text
    }
}

function is_item() {
    return depth == 3 && key[1] == "items" && kind[2] == "[" && kind[3] == "{"
}

function print_item() {
    if (size !~ /^[0-9]+$/ || name == "") give_up()
    if (md5 != "" && (md5 !~ /^[A-Za-z0-9+\/]+==$/ || length(md5) != 24)) give_up()
    if (name ~ /^[A-Za-z0-9_][A-Za-z0-9._-]*$/) print "item", size, (md5 == "" ? "-" : hex_of(md5)), name
}

# 24 characters of base64 as 32 of hexadecimal.
function hex_of(text,    out, bits, i, k) {
    out = ""
    for (i = 1; i < 24; i += 4) {
        bits = 0
        for (k = i; k < i + 4; k++) bits = bits * 64 + (k > 22 ? 0 : index(base64, substr(text, k, 1)) - 1)
        out = out sprintf("%06x", bits)
    }
    return substr(out, 1, 32)
}

function unescaped(text,    out, at, char) {
    out = ""
    while ((at = index(text, "\\")) > 0) {
        char = substr(text, at + 1, 1)
        out = out substr(text, 1, at - 1) (char == "u" ? char_of(substr(text, at + 2, 4)) : char)
        text = substr(text, at + (char == "u" ? 6 : 2))
    }
    return out text
}

# The character of four hexadecimal digits. Only ASCII is needed here.
function char_of(digits,    value, i) {
    value = 0
    for (i = 1; i <= 4; i++) value = value * 16 + index("0123456789abcdef", tolower(substr(digits, i, 1))) - 1
    return value > 0 && value < 128 ? sprintf("%c", value) : "?"
}

function percent_encoded(text,    out, char, i) {
    out = ""
    for (i = 1; i <= length(text); i++) {
        char = substr(text, i, 1)
        out = out (char ~ /[A-Za-z0-9._~-]/ ? char : sprintf("%%%02X", code[char]))
    }
    return out
}
