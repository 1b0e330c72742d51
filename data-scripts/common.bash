# shellcheck shell=bash
# Shared by the scripts for every trace: messages with their exit codes, help,
# checks of required programs, checksums, and downloads that continue where they
# were interrupted. Sourced, never run. Works with bash 3.2 and any POSIX awk.
#
# Exit codes: 0 done, 1 a check failed, 2 wrong use, 3 bad input, 4 environment
# (network, disk, a missing program).

# shellcheck disable=SC2154  # Set by the scripts: dir, retries, backoff.

# Sorting, number formats and character classes must not depend on the user.
export LC_ALL=C

# The longest wait between two tries.
readonly WAIT_MAX_S=60

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

# need_programs NAME...: `a/b` means one of the two.
need_programs() {
    local program
    for program in "$@"; do
        command -v "${program%/*}" >/dev/null || command -v "${program#*/}" >/dev/null ||
            die 4 "program \`${program//\//\` or \`}\` is not installed"
    done
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

# Prints the number of processors, 1 if it is unknown.
processor_count() {
    getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1
}

# Prints a byte count for people, in powers of 1000.
human_bytes() {
    awk -v bytes="$1" 'BEGIN {
        split("B kB MB GB TB", unit, " ")
        for (i = 1; bytes >= 1000 && i < 5; i++) bytes /= 1000
        printf (i == 1 ? "%d %s\n" : "%.1f %s\n"), bytes, unit[i]
    }'
}

# Makes a folder for the state of the run. `state` has its name, and it is
# removed at the end. Workers started by xargs find it through the environment.
make_state() {
    state=$(mktemp -d "${TMPDIR:-/tmp}/data-scripts.XXXXXX") ||
        die 4 "no temporary folder could be made"
    export state
    trap 'rm -rf "$state"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# Makes DIR and locks it for this run, because two runs at the same time would
# write the same unfinished files. The lock is on the folder and ends with the
# process.
prepare_dir() {
    mkdir -p "$dir" 2>/dev/null || die 4 "the folder \`$dir\` could not be made"
    [[ -r $dir && -w $dir ]] || die 4 "the folder \`$dir\` is not readable and writable"
    if command -v flock >/dev/null; then
        exec 9<"$dir"
        flock -n 9 || die 4 "another \`fetch\` is at work in \`$dir\`"
    fi
}

# transfer URL FILE [HEADER]: continues FILE until it is complete, if the server
# gives its size. Returns 0 done, 2 the server refuses, 3 given up after all tries,
# 4 the file could not be written. `failure` has the last message of curl. The exit
# codes of curl are in its manual, "EXIT CODES".
transfer() {
    local url=$1 file=$2 header=${3-} tries=0 wait=$backoff name status said code
    name=${url#"${base-}/"}
    name=${name%%\?*}
    while :; do
        status=0
        # The limits end a connection that hangs: under 1 kB/s for a minute.
        said=$(curl --fail --location --silent --show-error \
            --connect-timeout 30 --speed-limit 1000 --speed-time 60 \
            ${header:+--header "$header"} --continue-at - --output "$file" \
            --write-out '\nHTTP %{http_code}\n' "$url" 2>&1) || status=$?
        code=$(printf '%s\n' "$said" | sed -n 's/^HTTP //p')
        failure=$(printf '%s\n' "$said" | awk '!/^HTTP / && NF { last = $0 } END { print last }')
        case $status/$code in
        0/*)
            [[ -e $file ]] || : >"$file" # curl makes no file for an empty answer.
            return 0
            ;;
        33/* | 36/*) # The server sends only whole files.
            say "the server cannot go on with $name; from the beginning"
            rm -f "$file"
            continue
            ;;
        22/416) # The server has nothing after our last byte, so our file is wrong.
            rm -f "$file"
            ;;
        22/408 | 22/429 | 22/5??) ;; # Busy.
        22/* | 1/* | 3/* | 26/* | 37/* | 60/* | 77/*) return 2 ;;
        23/*) return 4 ;;
        *) ;; # No route, or the connection ended: try again.
        esac
        if ((tries == retries)); then
            return 3
        fi
        tries=$((tries + 1))
        say "$name: $failure; new try $tries of $retries in $wait s"
        sleep "$wait"
        wait=$((wait * 2 > WAIT_MAX_S ? WAIT_MAX_S : wait * 2))
    done
}
