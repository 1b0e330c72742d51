# shellcheck shell=bash
# Shared by the scripts for traces with one file per log: downloads and
# checksums of logs. Sourced, never run. Works with bash 3.2.
#
# Checksums: `checksums.txt` next to a script holds the sums of logs that were
# available when it was written. Any other log is trusted on first use: the sum
# of its first download is kept in DIR/SHA256SUM, and later ones must match it.

# shellcheck disable=SC2154  # Set by the scripts: here, dir.

# shellcheck source-path=SCRIPTDIR source-path=SCRIPTDIR/.. source=common.bash
source "${BASH_SOURCE[0]%/*}/common.bash"

# sum_in LIST NAME: prints the checksum of a file in a list, or nothing.
sum_in() {
    [[ -f $1 ]] || return 0
    awk -v name="$2" '
        /^#/ { next }
        length($1) == 64 && ($2 == name || $2 == "*" name) { print $1; exit }
    ' "$1"
}

# known_sum NAME: the checksum that a file must have, or nothing. A checksum
# next to the script has priority over the one stored in this folder.
known_sum() {
    local sum
    sum=$(sum_in "$here/checksums.txt" "$1")
    [[ -n $sum ]] || sum=$(sum_in "$dir/SHA256SUM" "$1")
    echo "$sum"
}

# remember NAME HASH: rewrites DIR/SHA256SUM with this line.
remember() {
    local list=$dir/SHA256SUM
    {
        if [[ -f $list ]]; then
            awk -v name="$1" '$2 != name && $2 != "*" name' "$list"
        fi
        printf '%s  %s\n' "$2" "$1"
    } >"$list.part" || die 4 "\`$list.part\` could not be written"
    mv -f "$list.part" "$list" || die 4 "\`$list\` could not be written"
}

# fetch_file URL NAME: downloads a file to DIR/NAME. It gets its name only if
# its checksum agrees, or if no checksum of it is known yet.
fetch_file() {
    local url=$1 name=$2 target=$dir/$2 unfinished=$dir/$2.part want sum status mismatches=0
    want=$(known_sum "$name")
    if [[ -f $target ]]; then
        sum=$(sha256_of "$target")
        if [[ -z $want || $sum == "$want" ]]; then
            remember "$name" "$sum"
            say "$name is there and right"
            return
        fi
        say "$name is there, but its checksum is wrong; fetching it again"
    fi
    while :; do
        status=0
        transfer "$url" "$unfinished" || status=$?
        case $status in
        0) ;;
        2) die 4 "$name could not be fetched from $url: $failure" "does \`--base\` name the archive?" ;;
        3) die 4 "$name could not be fetched: $failure" "what came is kept; run the same command again" ;;
        *) die 4 "\`$unfinished\` could not be written" ;;
        esac
        [[ -s $unfinished ]] || die 3 "$url is empty"
        if is_page "$unfinished"; then
            rm -f "$unfinished"
            die 3 "$url is a page and not a log" "the archive may have moved: look at it, then give \`--base\`"
        fi
        sum=$(sha256_of "$unfinished")
        if [[ -z $want || $sum == "$want" ]]; then
            break
        fi
        rm -f "$unfinished"
        mismatches=$((mismatches + 1))
        ((mismatches < 2)) || die 1 "$name came with a wrong checksum, twice" \
            "it is not the file that was published when its checksum was taken"
        say "$name came with a wrong checksum; once more from the beginning"
    done
    mv -f "$unfinished" "$target" || die 4 "\`$target\` could not be written"
    remember "$name" "$sum"
    if [[ -z $want ]]; then
        say "$name: no checksum is known, this one is trusted from now on: $sum"
    else
        say "$name fetched, the checksum is right"
    fi
}

# Whether a file begins like a web page.
is_page() {
    head -c 512 "$1" | tr '[:upper:]' '[:lower:]' | grep -q -e '<!doctype' -e '<html'
}

# verify_files NAME...: compares files of DIR with their known checksums.
verify_files() {
    local name want wrong=0 checked=0
    for name in "$@"; do
        want=$(known_sum "$name")
        if [[ ! -f $dir/$name ]]; then
            echo "ABSENT $name"
        elif [[ -z $want ]]; then
            echo "UNLISTED $name"
        elif [[ $(sha256_of "$dir/$name") == "$want" ]]; then
            checked=$((checked + 1))
        else
            echo "DIFFERS $name"
            wrong=$((wrong + 1))
        fi
    done
    echo "$checked right, $wrong wrong"
    ((wrong == 0))
}

# Prints the names in DIR/SHA256SUM, and the names of the logs in DIR.
names_to_verify() {
    {
        [[ -f $dir/SHA256SUM ]] && awk '{ sub(/^\*/, "", $2); print $2 }' "$dir/SHA256SUM"
        for file in "$dir"/*.gz "$dir"/*.swf "$dir"/*.gwf "$dir"/*.zip; do
            [[ -f $file ]] && printf '%s\n' "${file##*/}"
        done
    } | sort -u
}
