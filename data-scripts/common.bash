# shellcheck shell=bash
# What the scripts for every trace share: messages with their exit codes, help,
# programs that must be there, checksums. Sourced, never run. Works with bash 3.2.
#
# Exit codes: 0 done, 1 a check failed, 2 wrong use, 3 bad input, 4 environment
# (network, disk, a missing program).

# Sorting, number formats and character classes must not depend on the user.
export LC_ALL=C

say() {
    printf '%s\n' "$*" >&2
}

# die CODE TEXT [HINT]
die() {
    say "error: $2"
    if [[ -n ${3-} ]]; then
        say "hint: $3"
    fi
    exit "$1"
}

wrong_use() {
    die 2 "$1" "\`${0##*/} --help\` lists the flags"
}

# Prints the header comment of the running script and ends.
usage() {
    local line
    {
        read -r _ # The interpreter.
        while IFS= read -r line && [[ $line == '#'* ]]; do
            line=${line#'#'}
            printf '%s\n' "${line# }"
        done
    } <"$0"
    exit 0
}

need_programs() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || die 4 "program \`$program\` is not installed"
    done
    command -v sha256sum >/dev/null || command -v shasum >/dev/null ||
        die 4 "neither \`sha256sum\` nor \`shasum\` is installed"
}

# Prints the SHA-256 of a file. Reads it from stdin, so that the name of the
# file never reaches the output.
sha256_of() {
    if command -v sha256sum >/dev/null; then
        sha256sum <"$1" | cut -c 1-64
    else
        shasum -a 256 <"$1" | cut -c 1-64
    fi
}

# whole_number FLAG VALUE MIN: prints VALUE without leading zeros.
whole_number() {
    if ! [[ $2 =~ ^[0-9]{1,15}$ ]] || ((10#$2 < $3)); then
        wrong_use "\`$1\` takes a whole number from $3 up, not \`$2\`"
    fi
    echo "$((10#$2))"
}
