#!/usr/bin/env bash
# Tests data-scripts/{parallel-workloads,grid5000}/{fetch,verify} against simulated archives: files on this disk
# (file://) and a server on 127.0.0.1 that sends only whole files. Needs no network beyond the loopback.
#
# usage: log_scripts.sh
#
# Environment: TMPDIR (default /tmp).
# Output: one line per failure and "N passed, M failed" on stdout.
# Exit codes: 0 all passed, 1 a check failed, 4 the server did not start.
set -euo pipefail

here=$(CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scripts=$(CDPATH='' cd "$here/../../data-scripts" && pwd)
# shellcheck source-path=SCRIPTDIR source=harness.bash
source "$here/harness.bash"

make_archive() {
    mkdir -p "$work/pwa/l_a" "$work/gwa"
    {
        echo "; Version: 2.2"
        seq 1 3000 | awk '{ print $1, $1 * 7, 1, $1 % 50, 1, -1, -1, 1, -1, -1, 1, 1, 1, 1, 1, 1, -1, -1 }'
    } | gzip -n >"$work/pwa/l_a/A.swf.gz"
    echo "<!DOCTYPE html><html>moved</html>" >"$work/pwa/l_a/page.swf"
    : >"$work/pwa/l_a/empty.swf"
    python3 - "$here/../golden/logs/small.gwf" "$work/gwa/anon_jobs_gwf.zip" <<'PYTHON'
import sys, zipfile
with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("readme.txt", "made by hand")
    archive.write(sys.argv[1], "logs/anon_jobs.gwf")
PYTHON
}

test_wrong_use() {
    local trace flags
    for trace in parallel-workloads grid5000; do
        run "$trace fetch --help" 0 "$scripts/$trace/fetch" --help
        out_has "$trace names its defaults" "(default $trace)"
        out_has "$trace says whom it trusts" "trust on first use"
        run "$trace verify --help" 0 "$scripts/$trace/verify" --help
        for flags in --colour "--base nowhere" "--retries x" "--base" "one two"; do
            # shellcheck disable=SC2086  # Split on purpose.
            run "$trace fetch $flags is wrong use" 2 "$scripts/$trace/fetch" $flags
        done
        run "$trace verify with a flag it does not have" 2 "$scripts/$trace/verify" --fast
        run "$trace verify of no folder" 4 "$scripts/$trace/verify" "$work/nowhere"
    done
    run "a log that leads out" 2 "$scripts/parallel-workloads/fetch" "$work/x" --log ../../a.swf
    run "a log that is none" 2 "$scripts/parallel-workloads/fetch" "$work/x" --log index.html
    absent "wrong use makes nothing" "$work/x"
}

# test_first_use BASE: tests a log without known checksums.
test_first_use() {
    local dir="$work/first ${1%%:*}"
    local fetch=("$scripts/parallel-workloads/fetch" "$dir" --base "$1/pwa/" --log l_a/A.swf.gz --retries 0 --backoff 0)
    run "first use" 0 "${fetch[@]}"
    err_has "it is said to be trusted" "no checksum is known, this one is trusted from now on"
    out_has "what to do next" "next: jobfate ingest $dir/A.swf.gz --lake lake"
    holds "the bytes are right" cmp "$work/pwa/l_a/A.swf.gz" "$dir/A.swf.gz"
    # shellcheck disable=SC2016  # The inner shell expands it.
    holds "the usual tool reads the list" bash -c 'cd "$1" && sha256sum -c SHA256SUM' _ "$dir"
    run "second use" 0 "${fetch[@]}"
    err_has "it is left alone" "A.swf.gz is there and right"
    run "verify" 0 "$scripts/parallel-workloads/verify" "$dir"
    out_has "it is right" "1 right, 0 wrong"
    rm "$dir/A.swf.gz"
    head -c 1000 "$work/pwa/l_a/A.swf.gz" >"$dir/A.swf.gz.part"
    run "go on after a break" 0 "${fetch[@]}"
    holds "the bytes are right after a break" cmp "$work/pwa/l_a/A.swf.gz" "$dir/A.swf.gz"
    absent "no unfinished file" "$dir/A.swf.gz.part"
    printf 'X' | dd of="$dir/A.swf.gz" bs=1 seek=100 conv=notrunc 2>/dev/null
    run "verify a damaged log" 1 "$scripts/parallel-workloads/verify" "$dir"
    out_has "it is named" "DIFFERS A.swf.gz"
    run "fetch repairs it" 0 "${fetch[@]}"
    err_has "it says why" "A.swf.gz is there, but its checksum is wrong"
    run "verify the repaired log" 0 "$scripts/parallel-workloads/verify" "$dir"
    rm "$dir/A.swf.gz"
    run "verify without it" 0 "$scripts/parallel-workloads/verify" "$dir"
    out_has "it is named as absent" "ABSENT A.swf.gz"
    # The archive has changed since: the checksum of the first download still holds.
    cp "$work/pwa/l_a/A.swf.gz" "$work/kept"
    echo "; another" | gzip -n >"$work/pwa/l_a/A.swf.gz"
    run "another file under the name" 1 "${fetch[@]}"
    err_has "it is refused" "A.swf.gz came with a wrong checksum, twice"
    absent "and not kept" "$dir/A.swf.gz"
    mv "$work/kept" "$work/pwa/l_a/A.swf.gz"
}

test_bad_archive() {
    local dir=$work/bad fetch=("$scripts/parallel-workloads/fetch" "$work/bad" --retries 1 --backoff 0)
    run "a page instead of a log" 3 "${fetch[@]}" --base "file://$work/pwa" --log l_a/page.swf
    err_has "it is said" "is a page and not a log"
    run "a log that is not there" 4 "${fetch[@]}" --base "http://127.0.0.1:$port/pwa" --log l_a/none.swf
    run "no server" 4 "${fetch[@]}" --base http://127.0.0.1:9 --log l_a/A.swf.gz
    err_has "it was tried again" "new try 1 of 1"
    run "an empty log" 3 "${fetch[@]}" --base "http://127.0.0.1:$port/pwa" --log l_a/empty.swf
    # The known logs must be those of checksums.txt.
    mkdir -p "$work/pwa/l_lcg"
    cp "$work/pwa/l_a/A.swf.gz" "$work/pwa/l_lcg/LCG.swf.gz"
    run "a log that is not the published one" 1 "${fetch[@]}" --base "file://$work/pwa"
    absent "it is not kept" "$dir/LCG.swf.gz"
}

test_grid5000() {
    local dir=$work/grid log=$here/../golden/logs/small.gwf
    local fetch=("$scripts/grid5000/fetch" "$dir" --base "http://127.0.0.1:$port/gwa" --retries 0 --backoff 0)
    run "grid5000" 0 "${fetch[@]}"
    out_has "what to do next" "next: jobfate ingest $dir/grid5000.gwf --lake lake"
    holds "the log is unpacked" cmp "$log" "$dir/grid5000.gwf"
    run "grid5000 again" 0 "${fetch[@]}"
    err_has "the log is left alone" "grid5000.gwf is there and right"
    run "verify grid5000" 0 "$scripts/grid5000/verify" "$dir"
    out_has "both files are right" "2 right, 0 wrong"
    echo more >>"$dir/grid5000.gwf"
    run "verify a changed log" 1 "$scripts/grid5000/verify" "$dir"
    out_has "it is named" "DIFFERS grid5000.gwf"
    run "fetch unpacks it again" 0 "${fetch[@]}"
    holds "the log is right" cmp "$log" "$dir/grid5000.gwf"
    head -c 300 "$work/gwa/anon_jobs_gwf.zip" >"$work/pwa/anon_jobs_gwf.zip"
    run "an archive that is cut short" 3 "$scripts/grid5000/fetch" "$work/cut" --base "file://$work/pwa"
    err_has "it is said" "is not a whole zip archive"
}

main() {
    make_archive
    start_server plain python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work"
    test_wrong_use
    test_first_use "file://$work"
    test_first_use "http://127.0.0.1:$port"
    test_bad_archive
    test_grid5000
    report
}

main
