# shellcheck shell=bash
# Shared by the scripts for the Google trace of 2019 (clusterdata_2019, version 3):
# the list of tables, MD5, and the reading of MD5SUM. Sourced, never run. Works with
# bash 3.2 and any POSIX awk.
#
# DIR/MD5SUM has the format that `md5sum --check` reads. Its first line names the
# cell, because the files of all cells have the same names:
#
#   # clusterdata_2019_a
#   d41d8cd98f00b204e9800998ecf8427e  machine_events-000000000000.json.gz

# shellcheck source-path=SCRIPTDIR source=../common.bash
source "${BASH_SOURCE[0]%/*}/../common.bash"

# In the order of download: small tables first.
readonly TABLES=(
    machine_events machine_attributes
    collection_events instance_events instance_usage
)

# cell_letter TEXT
cell_letter() {
    [[ $1 == [a-h] ]] || wrong_use "CELL is a letter from a to h, not \`$1\`"
    echo "$1"
}

# Prints the MD5 of a file. Reads it from stdin, so that the name of the file never
# reaches the output.
md5_of() {
    if command -v md5sum >/dev/null; then
        md5sum <"$1" | cut -c 1-32
    else
        md5 <"$1" | cut -c 1-32
    fi
}

# The checksum of a file in the list.
sum_of() {
    md5_of "$1"
}

# is_right FILE BYTES:MD5, with `-` for unknown values. If the bucket has no MD5 of a
# file, the sum and the length inside the gzip file are checked instead.
is_right() {
    local bytes=${2%%:*} sum=${2#*:}
    [[ $bytes == - ]] || (($(wc -c <"$1") == bytes)) || return 1
    if [[ $sum == - ]]; then
        gzip -t <"$1" 2>/dev/null
    else
        [[ $(md5_of "$1") == "$sum" ]]
    fi
}

export -f md5_of

# Prints the first line of an MD5SUM without its `# `.
bucket_of_list() {
    sed -n '1s/^# //p' "$1"
}

# read_list FILE: prints "HASH NAME" for every line of an MD5SUM file. Fails if any
# line is something else, or a name that could lead out of the folder.
read_list() {
    awk '
        /^#/ { next }
        { hash = substr($0, 1, 32); gap = substr($0, 33, 2); name = substr($0, 35) }
        length(hash) != 32 || hash !~ /^[0-9a-f]+$/ || (gap != "  " && gap != " *") { exit (bad = 1) }
        name !~ /^[A-Za-z0-9_][A-Za-z0-9._-]*$/ { exit (bad = 1) }
        { print hash, name }
        END { exit bad }
    ' "$1"
}

# Keeps the lines with a file of the five tables as the last field, and adds TABLE
# and NUMBER to them.
files_of_tables() {
    awk -v tables="${TABLES[*]}" '
        # Some awks read a leading zero as the start of an octal number.
        function number(digits) { sub(/^0+/, "", digits); return digits + 0 }
        BEGIN { count = split(tables, names, " "); for (i = 1; i <= count; i++) known[names[i]] = 1 }
        {
            at = index($NF, "-")
            table = substr($NF, 1, at - 1)
            digits = substr($NF, at + 1)
        }
        (table in known) && digits ~ /^[0-9]+\.(jsonl?(\.gz)?|parquet)$/ && index(digits, ".") <= 16 {
            sub(/\..*/, "", digits)
            printf "%s %s %.0f\n", $0, table, number(digits)
        }
    '
}
