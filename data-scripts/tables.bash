# shellcheck shell=bash
# Shared by the scripts for traces with many tables in many files: the names that
# a user gives, downloads of many files at the same time, and checks of existing
# files. Sourced after the trace's own common.bash, which defines TABLES,
# `is_right FILE WANT` and `sum_of FILE`, and exports the functions that they
# call. Works with bash 3.2.

# shellcheck disable=SC2154  # Set by the scripts: dir, jobs, state, base, retries, backoff.

# --- What a user asks for ---

is_table() {
    local table
    for table in "${TABLES[@]}"; do
        [[ $1 == "$table" ]] && return 0
    done
    return 1
}

# table_names FLAG TEXT: prints the names of `a,b`, separated by spaces, in the order
# of TABLES, each once.
table_names() {
    local name names table
    IFS=, read -r -a names <<<"$2"
    ((${#names[@]} > 0)) || wrong_use "\`$1\` names no table"
    for name in "${names[@]}"; do
        is_table "$name" ||
            wrong_use "there is no table \`$name\` (there are: ${TABLES[*]})"
    done
    for table in "${TABLES[@]}"; do
        if [[ ,$2, == *,"$table",* ]]; then
            echo "$table"
        fi
    done | tr '\n' ' '
}

# number_ranges FLAG TEXT: prints "FIRST LAST" for each range of `0-13,15`.
number_ranges() {
    local range ranges first last
    IFS=, read -r -a ranges <<<"$2"
    ((${#ranges[@]} > 0)) || wrong_use "\`$1\` has no number"
    for range in "${ranges[@]}"; do
        [[ $range =~ ^([0-9]{1,12})(-([0-9]{1,12}))?$ ]] ||
            wrong_use "\`$1\` takes ranges such as 0-13,15, not \`$2\`"
        first=$((10#${BASH_REMATCH[1]}))
        last=$((10#${BASH_REMATCH[3]:-${BASH_REMATCH[1]}}))
        ((first <= last)) || wrong_use "\`$1\`: the range \`$range\` runs backwards"
        echo "$first $last"
    done
}

# --- Downloads ---

# Downloads every file of $state/wanted ("WANT PATH") from `files_url` to DIR.
# `file_header` is an additional header for the server, if any.
fetch_files() {
    : >"$state/outcomes"
    file_count=$(($(wc -l <"$state/wanted")))
    export file_count files_url file_header=${file_header-} WAIT_MAX_S
    export -f say human_bytes transfer is_right fetch_file stop_all record
    # shellcheck disable=SC2016  # The worker expands it.
    xargs -n 2 -P "$jobs" "$BASH" -c 'set -euo pipefail; fetch_file "$1" "$2"' fetch_file \
        <"$state/wanted" || true # A worker that failed is missing from the outcomes.
}

# Downloads one file. Runs in a worker, and reports the outcome through
# `record`, so one bad file does not stop the others. A lost network or a full
# disk does stop them: the file `stop` ends the later workers.
#
#   PATH.part --transfer--> complete --checksum agrees--> PATH
#       ^                      |
#       +-- removed, once -----+ checksum differs
fetch_file() {
    local want=$1 path=$2 target=$dir/$2 unfinished=$dir/$2.part mismatches=0 status
    if [[ -e $state/stop ]]; then
        record untried "$path"
        return
    fi
    if [[ -f $target ]]; then
        if is_right "$target" "$want"; then
            rm -f "$unfinished"
            record present "$path"
            return
        fi
        say "$path is there, but its checksum is wrong; fetching it again"
    fi
    if ! mkdir -p "${target%/*}" 2>/dev/null; then
        stop_all disk "$path"
        return
    fi
    # A run that ended between the last byte and the rename left a complete
    # file.
    until [[ -s $unfinished ]] && is_right "$unfinished" "$want"; do
        status=0
        transfer "$files_url/$path" "$unfinished" ${file_header:+"$file_header"} || status=$?
        case $status in
        0) ;;
        2) record refused "$path" && return ;;
        3) stop_all network "$path" && return ;;
        *) stop_all disk "$path" && return ;;
        esac
        if is_right "$unfinished" "$want"; then
            break
        fi
        rm -f "$unfinished"
        mismatches=$((mismatches + 1))
        if ((mismatches > 1)); then
            record differs "$path"
            return
        fi
        say "$path came with a wrong checksum; once more from the beginning"
    done
    if mv -f "$unfinished" "$target"; then
        record fetched "$path" "$(wc -c <"$target")"
    else
        stop_all disk "$path"
    fi
}

# stop_all OUTCOME PATH: stops all workers, because every other file would fail
# as well.
stop_all() {
    : >"$state/stop"
    record "$1" "$2"
}

# record OUTCOME PATH [BYTES]: writes one short line, so that workers can append
# at the same time.
record() {
    local number
    echo "$1 $2 $((${3-0}))" >>"$state/outcomes"
    number=$(($(wc -l <"$state/outcomes")))
    case $1 in
    present | untried) ;;
    fetched) say "[$number/$file_count] $2  $(human_bytes "$3")" ;;
    differs) say "[$number/$file_count] $2: the checksum is wrong, twice" ;;
    *) say "[$number/$file_count] $2: ${failure:-it could not be written}" ;;
    esac
}

# count OUTCOME...: the number of files with these outcomes.
count() {
    local outcome total=0
    for outcome in "$@"; do
        total=$((total + $(grep -c "^$outcome " "$state/outcomes" || true)))
    done
    echo "$total"
}

summarize() {
    local bytes differs unreached refused lost
    bytes=$(awk '{ total += $3 } END { printf "%.0f\n", total }' "$state/outcomes")
    differs=$(count differs)
    refused=$(count refused)
    unreached=$(count network disk untried)
    # A worker that was killed leaves no line.
    lost=$((file_count - $(wc -l <"$state/outcomes")))
    echo "fetched $(count fetched) files ($(human_bytes "$bytes")), $(count present) were there and right, of $file_count"
    if ((differs + refused + unreached + lost > 0)); then
        echo "not done: $differs with a wrong checksum, $refused refused by the server, $((unreached + lost)) not finished"
        awk '$1 == "differs" || $1 == "refused" { print "  " $1 " " $2 }' "$state/outcomes" | sort -u
        echo "run the same command again to go on"
    else
        echo "next: jobfate ingest $(printf '%q' "$dir") --lake lake"
    fi
    if grep -q '^disk ' "$state/outcomes"; then
        die 4 "\`$dir\` could not be written" "is the disk full? \`df -h\` shows the free space"
    elif ((unreached + refused + lost > 0)); then
        die 4 "not every file could be fetched"
    elif ((differs > 0)); then
        die 1 "$differs files came with a wrong checksum"
    fi
}

# --- Checks ---

# Compares the files of $state/present ("HASH PATH") with their checksums, and
# writes "right PATH" or "DIFFERS PATH" to $state/outcomes.
hash_present() {
    : >"$state/outcomes"
    if [[ ! -s $state/present ]]; then
        say "no file of the list is in \`$dir\`"
        return
    fi
    say "hashing $(($(wc -l <"$state/present"))) files"
    export -f sum_of check_file
    # shellcheck disable=SC2016  # The worker expands it.
    xargs -n 2 -P "$jobs" "$BASH" -c 'set -euo pipefail; check_file "$1" "$2"' check_file <"$state/present" ||
        die 4 "a file in \`$dir\` could not be read"
}

# Runs in a worker. It writes one short line per file, so that workers can
# append at the same time.
check_file() {
    local sum
    sum=$(sum_of "$dir/$2") # Ends the worker if the file cannot be read.
    if [[ $sum == "$1" ]]; then
        echo "right $2" >>"$state/outcomes"
    else
        echo "DIFFERS $2" >>"$state/outcomes"
    fi
}

# Prints the names of wrong files, and the files of $state/unlisted ("- PATH").
print_names() {
    awk '$1 == "DIFFERS"' "$state/outcomes" | sort
    awk '{ print "UNLISTED " $2 }' "$state/unlisted" | sort
}

conclude() {
    local differs unfinished
    unfinished=$(find "$dir" -name '*.part' -type f | wc -l)
    if ((unfinished > 0)); then
        say "$((unfinished)) unfinished downloads (.part) are in \`$dir\`; \`fetch\` goes on with them"
    fi
    differs=$(grep -c '^DIFFERS ' "$state/outcomes" || true)
    if ((differs > 0)); then
        die 1 "$differs files differ from their checksum" "\`fetch\` replaces them"
    fi
}
