# shellcheck shell=bash
# Shared by the scripts for the Google trace of 2011 (clusterdata-2011-2): the
# list of tables and the reading of SHA256SUM. Sourced, never run. Works with
# bash 3.2 and any POSIX awk.

# shellcheck source-path=SCRIPTDIR source=../common.bash
source "${BASH_SOURCE[0]%/*}/../common.bash"

# shellcheck disable=SC2034  # These are for the scripts that source this file.
# The folder that every script uses by default.
readonly DEFAULT_DIR=clusterdata-2011-2

readonly TABLES=(
    machine_events machine_attributes
    job_events task_events task_constraints task_usage
)

# Tables other than the machine ones are cut into 500 slices of time.
# shellcheck disable=SC2034
readonly PART_MAX=499

# The checksum of a file in the list.
sum_of() {
    sha256_of "$1"
}

# is_right FILE HASH
is_right() {
    [[ $(sha256_of "$1") == "$2" ]]
}

export -f sha256_of

# read_list FILE: prints "HASH PATH" for every line of a SHA256SUM file. Fails
# if any line is something else (such as an error page). Also fails if a path
# could lead out of the folder, because paths from the network become names on
# this disk.
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
