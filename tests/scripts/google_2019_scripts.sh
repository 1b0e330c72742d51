#!/usr/bin/env bash
# Tests data-scripts/google-2019/{fetch,verify,export} against a simulated storage on 127.0.0.1, which lists buckets
# page by page, and against a `bq` that only records its arguments. Needs no network beyond the loopback.
#
# usage: google_2019_scripts.sh [SCRIPTS]
#
#   SCRIPTS   folder with the scripts (default: data-scripts/google-2019)
#
# Environment: TMPDIR (default /tmp).
# Output: one line per failure and "N passed, M failed" on stdout.
# Exit codes: 0 all passed, 1 a check failed, 4 a server did not start.
set -euo pipefail

here=$(CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scripts=${1:-$here/../../data-scripts/google-2019}
scripts=$(CDPATH='' cd "$scripts" && pwd)
# shellcheck source-path=SCRIPTDIR source=harness.bash
source "$here/harness.bash"
storage=$work/storage
bucket=$storage/clusterdata_2019_a
listing=$storage/clusterdata_2019_a.list.json

# --- The simulated storage ---

# Cell a has 13 files of the trace and some other files, on at most three pages per table; cell b has one file, with
# the name of a file of cell a.
make_storage() {
    python3 - "$storage" <<'PYTHON'
import base64, gzip, hashlib, json, pathlib, random, sys

root = pathlib.Path(sys.argv[1])
random.seed(7)
noise = lambda count: "".join(random.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=count))
counts = {"a": {"machine_events": 1, "machine_attributes": 1, "collection_events": 2,
                "instance_events": 4, "instance_usage": 5}, "b": {"machine_events": 1}}
for cell, tables in counts.items():
    folder = root / f"clusterdata_2019_{cell}"
    folder.mkdir(parents=True)
    for table, count in tables.items():
        for k in range(count):
            rows = "".join(json.dumps({"time": str(t), "cell": cell, "of": noise(40)}) + "\n" for t in range(200))
            (folder / f"{table}-{k:012}.json.gz").write_bytes(gzip.compress(rows.encode(), mtime=0))
            if cell == "a" and k < 2:
                (folder / f"{table}-{k:012}.parquet.gz").write_bytes(b"PAR1 and so on")
    (folder / "instance_usage-schema.json.gz").write_bytes(b"{}")
    (root / f"clusterdata_2019_{cell}.list.json").write_text(json.dumps([
        {"name": file.name, "size": str(file.stat().st_size),
         "md5Hash": base64.b64encode(hashlib.md5(file.read_bytes()).digest()).decode()}
        for file in folder.iterdir()]))
PYTHON
}

# change_list CODE: runs Python on the list of cell a, as `items` by name.
change_list() {
    python3 - "$listing" "$1" <<'PYTHON'
import json, pathlib, sys
path = pathlib.Path(sys.argv[1])
items = {item["name"]: item for item in json.loads(path.read_text())}
exec(sys.argv[2])
path.write_text(json.dumps(list(items.values())))
PYTHON
}

file_of() { printf '%s-%012d.json.gz' "$1" "$2"; }
bytes_of() { echo "$(($(wc -c <"$1")))"; }

# same_files NAME DIR PATTERN: the files of cell a that match are in DIR, and no others.
same_files() {
    local wanted there
    wanted=$(cd "$bucket" && md5sum -- *.json.gz | grep -E -- "$3")
    there=$(cd "$2" && md5sum -- *.json.gz 2>&1) || true
    holds "$1" test "$wanted" = "$there"
}

whole='-[0-9]{12}\.json\.gz'

# --- The tests ---

test_wrong_use() {
    local flags
    run "fetch --help" 0 "$scripts/fetch" --help
    out_has "fetch --help names its defaults" "--jobs N           downloads at the same time     (default 4)"
    out_has "fetch --help says how large it is" "2.4 TiB"
    run "verify --help" 0 "$scripts/verify" --help
    run "export --help" 0 "$scripts/export" --help
    run "fetch without a cell" 2 "$scripts/fetch"
    for flags in "a --colour" "i" "ab" "A" "a --tables task_events" "a --tables" "a --files 5-3" "a --files x" \
        "a --files -1" "a --jobs 0" "a --base nowhere" "a --retries -1" "a one two"; do
        # shellcheck disable=SC2086  # Split on purpose.
        run "fetch $flags is wrong use" 2 "$scripts/fetch" $flags
    done
    run "verify without a folder" 2 "$scripts/verify"
    run "verify with a flag it does not have" 2 "$scripts/verify" --fast
    run "verify of no folder" 4 "$scripts/verify" "$work/nowhere"
    mkdir "$work/empty"
    run "verify of a folder without a list" 4 "$scripts/verify" "$work/empty"
    for flags in "" "a" "a /tmp/here" "a gs://" "a gs://b/*" "a gs://b//x" "a gs://b/x'y" "a gs://b/x y" "i gs://b/x" \
        "a gs://b/x --format csv" "a gs://b/x --sample 1" "a gs://b/x --sample x" "a gs://b/x --tables jobs"; do
        # shellcheck disable=SC2086
        run "export $flags is wrong use" 2 "$scripts/export" $flags
    done
}

test_fetch() {
    local dir="$work/cell a" usage fetch
    usage=$(file_of instance_usage 4)
    fetch=("$scripts/fetch" a "$dir" --base "$base/" --retries 1 --backoff 0)
    run "dry run" 0 "${fetch[@]}" --dry-run
    out_has "the dry run prints sizes" "$(bytes_of "$bucket/$usage")"$'\t'"$usage"
    holds "the dry run names every file and no other" test "$(wc -l <"$work/out")" -eq 13
    absent "the dry run makes nothing" "$dir"

    : >"$work/requests"
    run "fetch a cell" 0 "${fetch[@]}"
    same_files "all its files are there and right" "$dir" "$whole"
    holds "the list came page by page" test "$(requests 'GET /storage/v1/b/clusterdata_2019_a/o?prefix=instance_usage-')" = 3
    holds "each file was asked for once" test "$(requests 'GET /clusterdata_2019_a/')" = 13
    holds "as it is stored" test "$(requests 'GET /clusterdata_2019_a/.* gzip$')" = 13
    holds "pages were not" test "$(requests 'GET /storage/.* -$')" = "$(requests 'GET /storage/')"
    holds "nothing was refused" test "$(requests ' [45][0-9][0-9] ')" = 0
    out_has "fetch says how to go on" "next: jobfate ingest $(printf '%q' "$dir") --lake lake"
    err_has "fetch counts files per table" "instance_usage           5 files, 5 of them not there yet"
    # shellcheck disable=SC2016  # The inner shell expands it.
    holds "the usual tool reads the list" bash -c 'cd "$1" && md5sum --check --strict --quiet MD5SUM' _ "$dir"
    holds "the list says which cell it is" grep -qx '# clusterdata_2019_a' "$dir/MD5SUM"
    run "verify the cell" 0 "$scripts/verify" "$dir"
    out_has "verify finds everything right" "instance_usage            5        0         0       0  -"

    cp "$dir/MD5SUM" "$work/list"
    : >"$work/requests"
    run "fetch again" 0 "${fetch[@]}"
    out_has "nothing is left to fetch" "fetched 0 files (0 B), 13 were there and right, of 13"
    holds "no file is asked for" test "$(requests 'GET /clusterdata_2019_a/')" = 0
    holds "the list stays" cmp "$work/list" "$dir/MD5SUM"
}

test_selection() {
    local dir=$work/some
    local fetch=("$scripts/fetch" a "$dir" --base "$base" --retries 1 --backoff 0)
    run "fetch some files" 0 "${fetch[@]}" --jobs 1 --tables instance_usage,machine_events,instance_usage --files=0-1,3
    same_files "they are there and no others" "$dir" 'machine_events|instance_usage-0{11}[013].json'
    out_has "each was fetched once" "fetched 4 files"
    err_has "the small table came first" "[1/4] $(file_of machine_events 0)"
    run "verify them" 0 "$scripts/verify" "$dir"
    out_has "absent files are ranges" "instance_usage            3        0         0       2  2,4"
    out_has "a table that was never listed" "instance_events           0        0         0       0  never listed"
    run "more tables, another time" 0 "${fetch[@]}" --tables instance_events --files 3-9999
    err_has "it counts what there is" "instance_events          1 files, 1 of them not there yet"
    run "verify all of them" 0 "$scripts/verify" "$dir"
    out_has "the first tables are still in the list" "instance_usage            3        0         0       2  2,4"
    out_has "and the new one" "instance_events           1        0         0       3  0-2"
    run "a number that one table lacks" 0 "${fetch[@]}" --files 4 --dry-run
    err_has "it is said" "warning: machine_events has no file of \`--files\`"
    run "a number that no table has" 2 "${fetch[@]}" --files 99
    # shellcheck disable=SC2016
    holds "the usual tool passes over what is absent" \
        bash -c 'cd "$1" && md5sum --check --strict --quiet --ignore-missing MD5SUM' _ "$dir"
}

test_breaks() {
    local dir=$work/broken name fetch
    name=$(file_of instance_usage 2)
    fetch=("$scripts/fetch" a "$dir" --base "$base" --retries 2 --backoff 0 --tables instance_usage --files 2)
    mkdir -p "$dir"
    head -c 1000 "$bucket/$name" >"$dir/$name.part"
    : >"$work/requests"
    run "go on after a break of ours" 0 "${fetch[@]}"
    same_files "the file is right" "$dir" "$name"
    holds "only the rest was asked for" test "$(requests "GET /clusterdata_2019_a/$name bytes=1000- 206")" = 1
    holds "no other request was made" test "$(requests "GET /clusterdata_2019_a/")" = 1

    rm "$dir/$name"
    fault "clusterdata_2019_a/$name" "cut 2000" error "cut 3000"
    : >"$work/requests"
    run "too few tries" 4 "${fetch[@]}" --retries 1
    err_has "the error is named" "error: 500"
    holds "what came stays" test "$(bytes_of "$dir/$name.part")" = 2000
    absent "an unfinished file has no name" "$dir/$name"
    run "verify names what is unfinished" 0 "$scripts/verify" "$dir"
    err_has "it does" "1 unfinished downloads"
    run "go on after breaks of the server" 0 "${fetch[@]}"
    same_files "the file is right after breaks" "$dir" "$name"
    holds "the last try asked for the rest" test "$(requests "GET /clusterdata_2019_a/$name bytes=5000- 206")" = 1

    rm "$dir/$name"
    cp "$bucket/$name" "$dir/$name.part"
    : >"$work/requests"
    run "a whole file without its name" 0 "${fetch[@]}"
    holds "is not asked for again" test "$(requests 'GET /clusterdata_2019_a/')" = 0
    rm "$dir/$name"
    head -c 100000 /dev/zero >"$dir/$name.part"
    run "a beginning longer than the file" 0 "${fetch[@]}"
    same_files "the file is right after that" "$dir" "$name"

    rm "$dir/$name"
    fault "clusterdata_2019_a/$name" error busy
    run "errors of the server that pass" 0 "${fetch[@]}"
    err_has "they are retried" "clusterdata_2019_a/$name: curl: (22) The requested URL returned error: 500; new try 1 of 2 in 0 s"
    holds "no unfinished file" no_unfinished "$dir"
}

test_bad_files() {
    local dir=$work/bad name other fetch
    name=$(file_of instance_events 1)
    other=$(file_of instance_events 3)
    fetch=("$scripts/fetch" a "$dir" --base "$base" --retries 1 --backoff 0 --jobs 1 --tables instance_events)
    fault "clusterdata_2019_a/$name" rubbish rubbish
    run "rubbish twice" 1 "${fetch[@]}" --files 1,3
    out_has "is reported" "differs $name"
    absent "and not kept" "$dir/$name"
    holds "nor unfinished" no_unfinished "$dir"
    same_files "the other file came" "$dir" "$other"
    fault "clusterdata_2019_a/$name" rubbish
    run "rubbish once" 0 "${fetch[@]}" --files 1
    err_has "is thrown away" "$name came with a wrong checksum; once more"

    cp "$listing" "$work/listing"
    change_list "items['$(file_of instance_events 2)']['md5Hash'] = items['$name']['md5Hash']"
    run "a checksum that is not that of the file" 1 "$scripts/fetch" a "$work/bad1" --base "$base" --retries 0 --backoff 0 \
        --tables instance_events --files 2
    absent "the file is not kept" "$work/bad1/$(file_of instance_events 2)"
    cp "$work/listing" "$listing"
    change_list "items['$(file_of instance_events 2)']['size'] = '17'"
    run "a size that is not that of the file" 1 "$scripts/fetch" a "$work/bad2" --base "$base" --retries 0 --backoff 0 \
        --tables instance_events --files 2
    cp "$work/listing" "$listing"

    rm "$dir/MD5SUM"
    mv "$bucket/$(file_of instance_events 0)" "$work/hidden"
    run "a listed file that the server lacks" 4 "${fetch[@]}" --files 0-2
    out_has "is reported" "refused $(file_of instance_events 0)"
    err_has "with what the server said" "returned error: 404"
    holds "the file after it came" test -f "$dir/$(file_of instance_events 2)"
    mv "$work/hidden" "$bucket/$(file_of instance_events 0)"
    run "and is fetched once it is there" 0 "${fetch[@]}"
    same_files "the table is whole" "$dir" "instance_events$whole"

    printf 'X' | dd of="$dir/$name" bs=1 seek=100 conv=notrunc 2>/dev/null
    cp "$dir/$other" "$dir/instance_usage-000000000077.json.gz"
    rm "$dir/$other"
    run "verify a damaged, a missing and a surplus file" 1 "$scripts/verify" "$dir" --jobs=2
    out_has "the damaged one is named" "DIFFERS $name"
    out_has "the surplus one is named" "UNLISTED instance_usage-000000000077.json.gz"
    out_has "all are counted" "instance_events           2        1         0       1  3"
    out_has "the surplus one, too" "instance_usage            0        0         1       0  never listed"
    run "fetch repairs it" 0 "${fetch[@]}"
    out_has "and what was right stays" "fetched 2 files"
    run "verify the repaired folder" 0 "$scripts/verify" "$dir"
}

# Composite objects have no MD5 in the list.
test_no_md5() {
    local dir=$work/composite name fetch
    name=$(file_of collection_events 1)
    fetch=("$scripts/fetch" a "$dir" --base "$base" --retries 0 --backoff 0 --tables collection_events)
    cp "$listing" "$work/listing"
    change_list "del items['$name']['md5Hash']"
    fault "clusterdata_2019_a/$name" rubbish rubbish
    run "rubbish of the right size without an MD5" 1 "${fetch[@]}"
    run "a file without an MD5" 0 "${fetch[@]}"
    err_has "it is said" "the bucket has no MD5 of 1 files"
    # shellcheck disable=SC2016
    holds "its own is kept" bash -c 'cd "$1" && md5sum --check --strict MD5SUM && grep -q "$2" MD5SUM' _ "$dir" "$name"
    run "again" 0 "${fetch[@]}"
    lacks "it is known now" grep -q "no MD5" "$work/err"
    gzip -dc "$dir/$name" | sed 's/0/1/' | gzip -n >"$work/other"
    cp "$work/other" "$dir/$name"
    run "verify another file in its place" 1 "$scripts/verify" "$dir"
    out_has "it is found out" "DIFFERS $name"
    run "fetch brings the first one back" 0 "${fetch[@]}"
    same_files "all is right again" "$dir" "collection_events$whole"
    cp "$work/listing" "$listing"
}

test_bad_lists() {
    local dir=$work/lists list=storage/v1/b/clusterdata_2019_a/o
    local fetch=("$scripts/fetch" a "$dir" --base "$base" --retries 2 --backoff 0 --tables instance_usage --files 0)
    fault "$list" page
    run "a page instead of the list" 3 "${fetch[@]}"
    absent "nothing was fetched" "$dir/$(file_of instance_usage 0)"
    fault "$list" none error "cut 30"
    run "a list that breaks off and fails" 0 "${fetch[@]}"
    err_has "an error is retried" "$list: curl: (22) The requested URL returned error: 500"
    same_files "the file came" "$dir" "instance_usage-0*0.json"
    holds "the list is whole" test "$(grep -c instance_usage "$dir/MD5SUM")" = 5
    fault "$list" error error error
    run "a list that keeps failing, nothing known" 4 "$scripts/fetch" a "$work/none" --base "$base" --retries 2 --backoff 0
    err_has "it is said" "machine_events of clusterdata_2019_a could not be listed"
    run "a bucket that is not there" 4 "$scripts/fetch" c "$work/none" --base "$base" --retries 0 --backoff 0
    run "a cell without a table" 3 "$scripts/fetch" b "$work/none" --base "$base" --retries 0 --backoff 0
    err_has "it is named" "clusterdata_2019_b lists no file of machine_attributes"

    run "no server, all there" 0 "$scripts/fetch" a "$dir" --base http://127.0.0.1:9 --retries 1 --backoff 0 \
        --tables instance_usage --files 0
    out_has "what is there is right" "fetched 0 files (0 B), 1 were there and right, of 1"
    run "no server, something missing" 4 "$scripts/fetch" a "$dir" --base http://127.0.0.1:9 --retries 0 --backoff 0 \
        --tables instance_usage --files 0-1
    out_has "it says how to go on" "run the same command again"
    run "no server, a table that was never listed" 4 "$scripts/fetch" a "$dir" --base http://127.0.0.1:9 --retries 0 --backoff 0

    cp "$dir/MD5SUM" "$work/list"
    run "fetch another cell into the folder" 3 "$scripts/fetch" b "$dir" --base "$base" --tables machine_events
    err_has "it says why" "is of clusterdata_2019_a and not of clusterdata_2019_b"
    absent "and leaves it alone" "$dir/$(file_of machine_events 0)"
    sed 1d "$work/list" >"$dir/MD5SUM"
    run "fetch into a folder of who knows what" 3 "${fetch[@]}"
    sed 's/^[0-9a-f]\{31\}/00000000000000000000000000000000/; s/^\(.\{32\}\)./\1/' "$work/list" >"$dir/MD5SUM"
    run "fetch after the bucket has changed" 3 "${fetch[@]}"
    err_has "it names a file" "disagree about \`instance_usage-"
    echo "<html>" >"$dir/MD5SUM"
    run "fetch with a list that is none" 3 "${fetch[@]}"
    run "verify with a list that is none" 3 "$scripts/verify" "$dir"
    sed 's/instance/..\/instance/' "$work/list" >"$dir/MD5SUM"
    run "verify with a name that leads out" 3 "$scripts/verify" "$dir"
    cp "$work/list" "$dir/MD5SUM"
    run "verify with the list as it was" 0 "$scripts/verify" "$dir"
}

# A `bq` that writes its arguments, one per line, with an empty line after each call.
make_bq() {
    mkdir "$work/bin"
    cat >"$work/bin/bq" <<'BQ'
#!/usr/bin/env bash
printf '%s\n' bq "$@" '' >>"$BQ_LOG"
echo "done: $2"
[[ "$*" != *"${BQ_FAILS:-nothing}"* ]]
BQ
    chmod +x "$work/bin/bq"
    export BQ_LOG=$work/bq.log
    : >"$BQ_LOG"
}

test_export() {
    local export=(env PATH="$work/bin:$PATH" "$scripts/export") trace=google.com:google-cluster-data
    make_bq
    run "dry run" 0 "${export[@]}" a gs://my-bucket/cell-a/ --dry-run
    holds "one command for each table" test "$(grep -c "^bq extract " "$work/out")" = 5
    out_has "JSON is packed" "bq extract --destination_format=NEWLINE_DELIMITED_JSON --compression=GZIP $trace:clusterdata_2019_a.instance_usage 'gs://my-bucket/cell-a/instance_usage-*.json.gz'"
    holds "a dry run runs nothing" test ! -s "$BQ_LOG"
    cp "$work/out" "$work/commands"
    run "export" 0 "${export[@]}" a gs://my-bucket/cell-a
    holds "the output of bq is not ours" test "$(grep -vc '^next: ' "$work/out")" = 0
    err_has "but is shown" "done: --destination_format=NEWLINE_DELIMITED_JSON"
    cp "$BQ_LOG" "$work/told"
    : >"$BQ_LOG"
    run "the printed commands" 0 env PATH="$work/bin:$PATH" bash -e "$work/commands"
    holds "tell bq the same" cmp "$work/told" "$BQ_LOG"

    run "Parquet, two tables" 0 "${export[@]}" h gs://my-bucket --format=parquet --tables instance_events,machine_events --dry-run
    holds "one command for each" test "$(wc -l <"$work/out")" -eq 2
    out_has "Parquet is packed inside" "bq extract --destination_format=PARQUET --compression=SNAPPY $trace:clusterdata_2019_h.instance_events 'gs://my-bucket/instance_events-*.parquet'"

    run "a sample" 0 "${export[@]}" a gs://my-bucket/s --sample 0100 --dry-run
    holds "the machine tables are whole" test "$(grep -c "^bq extract .*machine_" "$work/out")" = 2
    holds "the others are asked for" test "$(grep -c "^bq query --use_legacy_sql=false 'EXPORT DATA " "$work/out")" = 3
    out_has "by collection" "'EXPORT DATA OPTIONS(uri=\"gs://my-bucket/s/instance_usage-*.json.gz\", format=\"JSON\", compression=\"GZIP\", overwrite=true) AS SELECT * FROM \`$trace.clusterdata_2019_a.instance_usage\` WHERE MOD(FARM_FINGERPRINT(CAST(collection_id AS STRING)), 100) = 0'"
    : >"$BQ_LOG"
    run "run it" 0 "${export[@]}" a gs://my-bucket/s --sample 100 --format parquet --tables collection_events
    holds "the query is one argument" grep -qxF "EXPORT DATA OPTIONS(uri=\"gs://my-bucket/s/collection_events-*.parquet\", format=\"PARQUET\", compression=\"SNAPPY\", overwrite=true) AS SELECT * FROM \`$trace.clusterdata_2019_a.collection_events\` WHERE MOD(FARM_FINGERPRINT(CAST(collection_id AS STRING)), 100) = 0" "$BQ_LOG"

    : >"$BQ_LOG"
    run "bq fails on a table" 4 env BQ_FAILS=collection_events "${export[@]:1}" a gs://my-bucket/cell-a
    err_has "it is named" "\`bq\` could not export collection_events"
    holds "and is the last" test "$(grep -c '^bq$' "$BQ_LOG")" = 3
    mkdir "$work/no-bq"
    ln -s "$(command -v dirname)" "$(command -v tr)" "$work/no-bq"
    run "no bq" 4 env PATH="$work/no-bq" "$BASH" "$scripts/export" a gs://my-bucket/cell-a
    err_has "it is said" "program \`bq\` is not installed"
    run "no bq, dry run" 0 env PATH="$work/no-bq" "$BASH" "$scripts/export" a gs://my-bucket/cell-a --dry-run
}

main() {
    make_storage
    start_range_server storage "$storage"
    base=http://127.0.0.1:$port

    test_wrong_use
    test_fetch
    test_selection
    test_breaks
    test_bad_files
    test_no_md5
    test_bad_lists
    test_export
    report
}

main
