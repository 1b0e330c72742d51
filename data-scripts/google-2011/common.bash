# shellcheck shell=bash
# What the scripts for the Google trace of 2011 (clusterdata-2011-2) share: the
# list of tables, the reading of SHA256SUM, and numbers for people. Sourced, never
# run. Works with bash 3.2 and any POSIX awk.

# shellcheck source-path=SCRIPTDIR source=../common.bash
source "${BASH_SOURCE[0]%/*}/../common.bash"

# shellcheck disable=SC2034  # These are for the scripts that source this file.
# The folder every script means when none is named.
readonly DEFAULT_DIR=clusterdata-2011-2

readonly TABLES=(
    machine_events machine_attributes
    job_events task_events task_constraints task_usage
)

# Tables other than the machine ones are cut into 500 slices of time.
# shellcheck disable=SC2034
readonly PART_MAX=499

# has_sum FILE HASH
has_sum() {
    [[ $(sha256_of "$1") == "$2" ]]
}

# Prints the number of processors, 1 if the system does not tell.
processor_count() {
    getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1
}

is_table() {
    local table
    for table in "${TABLES[@]}"; do
        [[ $1 == "$table" ]] && return 0
    done
    return 1
}

# Prints a byte count for people, in powers of 1000.
human_bytes() {
    awk -v bytes="$1" 'BEGIN {
        split("B kB MB GB TB", unit, " ")
        for (i = 1; bytes >= 1000 && i < 5; i++) bytes /= 1000
        printf (i == 1 ? "%d %s\n" : "%.1f %s\n"), bytes, unit[i]
    }'
}

# Makes a folder for what the run has to remember, named in `state` and removed
# at the end. Workers started by xargs find it through the environment.
make_state() {
    state=$(mktemp -d "${TMPDIR:-/tmp}/google-2011.XXXXXX") ||
        die 4 "no temporary folder could be made"
    export state
    trap 'rm -rf "$state"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# read_list FILE: prints "HASH PATH" for every line of a SHA256SUM file. Fails
# if any line is something else (an error page, say) or if a path could lead out
# of the folder, since paths from the network become names on this disk.
read_list() {
    awk '
        { hash = substr($0, 1, 64); gap = substr($0, 65, 2); path = substr($0, 67) }
        length(hash) != 64 || hash !~ /^[0-9a-f]+$/ || (gap != "  " && gap != " *") { exit (bad = 1) }
        path !~ /^[A-Za-z0-9._\/-]+$/ || path ~ /^[\/-]/ { exit (bad = 1) }
        ("/" path "/") ~ /\/\.\.?\// { exit (bad = 1) }
        { print hash, path }
        END { exit (bad || NR == 0) }
    ' "$1"
}

# Keeps the lines of "HASH PATH" that are parts of the six tables, and prints
# "HASH PATH TABLE PART PARTS".
parts_of_list() {
    awk -v tables="${TABLES[*]}" '
        # Some awks read a leading zero as the start of an octal number.
        function number(digits) { sub(/^0+/, "", digits); return digits + 0 }
        BEGIN { count = split(tables, names, " "); for (i = 1; i <= count; i++) known[names[i]] = 1 }
        split($2, piece, "/") == 2 && (piece[1] in known) &&
        piece[2] ~ /^part-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9]\.csv\.gz$/ {
            print $1, $2, piece[1], number(substr(piece[2], 6, 5)), number(substr(piece[2], 15, 5))
        }
    '
}
