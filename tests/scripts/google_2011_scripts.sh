#!/usr/bin/env bash
# Tests data-scripts/google-2011/{fetch,verify,sample} against a simulated bucket, served on 127.0.0.1 by two servers:
# `python3 -m http.server`, which sends only whole files, and a small server that supports ranges and can break off,
# be busy, or send wrong bytes on demand. Needs no network beyond the loopback.
#
# usage: google_2011_scripts.sh [SCRIPTS]
#
#   SCRIPTS   folder with the scripts (default: data-scripts/google-2011)
#
# Environment: TMPDIR (default /tmp).
# Output: one line per failure and "N passed, M failed" on stdout.
# Exit codes: 0 all passed, 1 a check failed, 4 a server did not start.
set -euo pipefail

here=$(CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scripts=${1:-$here/../../data-scripts/google-2011}
scripts=$(CDPATH='' cd "$scripts" && pwd)
# shellcheck source-path=SCRIPTDIR source=harness.bash
source "$here/harness.bash"
bucket=$work/bucket

same_trace() {
    (cd "$2" && grep -E " \*($3)" "$bucket/SHA256SUM" | sha256sum --check --quiet --strict) >/dev/null 2>&1 ||
        { fail "$1" && return; }
    pass
}

# --- The simulated bucket ---

# Four slices of each sliced table, 300 jobs with ids as far apart as the real
# ones, and enough bytes per task_usage part to break a download in the middle.
make_bucket() {
    python3 - "$bucket" <<'PYTHON'
import gzip, hashlib, pathlib, random, sys

root = pathlib.Path(sys.argv[1])
random.seed(5)
jobs = [3418309 + 5 * k for k in range(100)]
jobs += [6249999376 + 13 * k for k in range(199)] + [2**63 - 1]
noise = lambda count: "".join(random.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=count))

def write(name, lines):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(line + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if name.endswith(".gz") else text.encode())

part = lambda table, k: f"{table}/part-{k:05}-of-00500.csv.gz"
write("machine_events/part-00000-of-00001.csv.gz", [f"0,{m},0,x,0.5,0.25" for m in range(50)])
write("machine_attributes/part-00000-of-00001.csv.gz", [f"0,{m},name,1,0" for m in range(50)])
for k in range(4):
    time = 600_000_000 + k * 5_011_200_000
    # Part 0 has every job, the other parts have half of them each: jobs span parts.
    here = jobs if k == 0 else [j for i, j in enumerate(jobs) if (i + k) % 2]
    write(part("job_events", k), [f"{time},,{j},{e},{noise(44)},3,a,b" for j in here for e in (0, 1)])
    write(part("task_events", k), [f"{time},,{j},{t},,0,u,3,9,,,," for j in here for t in range(3)])
    write(part("task_constraints", k), [f"{time},{j},0,1,{noise(8)}," for j in here[::3]])
    write(part("task_usage", k), [f"{time},{time + 300_000_000},{j},0,7,0.1,{noise(400)}" for j in here])
# A row without a job.
path = root / part("task_events", 3)
rows = gzip.decompress(path.read_bytes()) + b"1,,,0,,0,u,3,9,,,,\n"
path.write_bytes(gzip.compress(rows, mtime=0))
write("schema.csv", ["file pattern,field number,content,format,mandatory"])
write("README", ["made up"])
names = sorted(p for p in root.rglob("*") if p.is_file())
(root / "SHA256SUM").write_text("".join(
    f"{hashlib.sha256(p.read_bytes()).hexdigest()} *{p.relative_to(root)}\n" for p in names))
PYTHON
}

# --- The tests ---

test_wrong_use() {
    local flags
    run "fetch --help" 0 "$scripts/fetch" --help
    out_has "fetch --help names its defaults" "--jobs N           downloads at the same time      (default 4)"
    run "verify --help" 0 "$scripts/verify" --help
    run "sample --help" 0 "$scripts/sample" --help
    for flags in --colour "--tables users" "--tables" "--parts 5-3" "--parts 500" "--parts x" "--jobs 0" \
        "--base nowhere" "--retries -1" "one two"; do
        # shellcheck disable=SC2086  # Split on purpose.
        run "fetch $flags is wrong use" 2 "$scripts/fetch" $flags
    done
    run "verify with a flag it does not have" 2 "$scripts/verify" --fast
    run "verify of no folder" 4 "$scripts/verify" "$work/nowhere"
    run "sample with one folder" 2 "$scripts/sample" "$bucket"
    run "sample of no folder" 4 "$scripts/sample" "$work/nowhere" "$work/sample"
    for flags in "--jobs-share 0" "--jobs-share 1.1" "--jobs-share x" "--seed -1" "--seed 1.5"; do
        # shellcheck disable=SC2086
        run "sample $flags is wrong use" 2 "$scripts/sample" "$bucket" "$work/sample" $flags
    done
    lacks "wrong use makes nothing" test -e "$work/sample"
}

test_whole_files_only() {
    local dir=$work/plain part=task_usage/part-00001-of-00500.csv.gz
    local fetch=("$scripts/fetch" "$dir" --base "$plain" --retries 1 --backoff 0)
    run "dry run" 0 "${fetch[@]}" --dry-run
    out_has "the dry run prints sizes" "$(wc -c <"$bucket/$part" | tr -d ' ')"$'\t'"$part"
    lacks "the dry run makes nothing" test -e "$dir"

    run "fetch a subset" 0 "${fetch[@]}" --tables job_events,machine_events --parts 0-1,3
    same_trace "the subset is there" "$dir" 'job_events/part-0000[013]|machine_events|schema'
    lacks "no more than the subset" test -e "$dir/job_events/part-00002-of-00500.csv.gz"
    lacks "no table that was not asked for" test -e "$dir/task_usage"
    err_has "fetch names the size of the whole" "about 41 GB"
    err_has "fetch counts parts per table" "job_events             3 parts, 3 of them not there yet"
    out_has "fetch says how to go on" "next: jobfate ingest $dir --lake lake"
    run "a part that the bucket does not list" 2 "${fetch[@]}" --tables job_events --parts 3-4
    err_has "it is named" "part 4 of job_events"

    run "verify a subset" 0 "$scripts/verify" "$dir"
    out_has "absent parts are ranges" "job_events                3        0         0     497  2,4-499"

    # An interrupted download from a server that cannot resume it.
    mkdir -p "$dir/task_usage"
    head -c 1000 "$bucket/$part" >"$dir/$part.part"
    run "fetch everything, one file half there" 0 "${fetch[@]}"
    err_has "the server cannot go on" "the server cannot go on with $part"
    same_trace "everything is there" "$dir" .
    holds "no unfinished file" no_unfinished "$dir"
    out_has "what was there is not fetched again" "fetched 14 files"
    run "fetch again" 0 "${fetch[@]}"
    out_has "nothing is left to fetch" "fetched 0 files (0 B), 20 were there and right, of 20"
}

test_corrupt_file() {
    local dir=$work/plain part=job_events/part-00002-of-00500.csv.gz
    local fetch=("$scripts/fetch" "$dir" --base "$plain" --retries 1 --backoff 0)
    printf 'X' | dd of="$dir/$part" bs=1 seek=100 conv=notrunc 2>/dev/null
    run "verify a corrupt file" 1 "$scripts/verify" "$dir"
    out_has "verify names it" "DIFFERS $part"
    out_has "verify counts it" "job_events                3        1         0     496  4-499"
    run "fetch repairs it" 0 "${fetch[@]}" --tables job_events
    out_has "fetch replaces just that file" "fetched 1 files"
    echo "extra" >"$dir/job_events/part-00100-of-00500.csv.gz"
    run "verify with a part that has no checksum" 0 "$scripts/verify" "$dir"
    out_has "verify names it" "UNLISTED job_events/part-00100-of-00500.csv.gz"
    rm "$dir/job_events/part-00100-of-00500.csv.gz"

    echo "<html>" >"$work/page"
    cp "$dir/SHA256SUM" "$work/list"
    cp "$work/page" "$dir/SHA256SUM"
    run "verify with a list that is none" 3 "$scripts/verify" "$dir"
    sed 's/job_events.part/..\/part/' "$work/list" >"$dir/SHA256SUM"
    run "verify with a path that leads out" 3 "$scripts/verify" "$dir"
    sed 's/^./0/; s/^0\(.*schema\)/1\1/' "$work/list" >"$dir/SHA256SUM"
    run "fetch into another trace" 3 "${fetch[@]}"
    err_has "it says so" "holds another trace or a sample"
    cp "$work/list" "$dir/SHA256SUM"
    run "verify of the repaired trace" 0 "$scripts/verify" "$dir" --jobs=2
}

test_ranges() {
    local dir=$work/ranged part=task_usage/part-00002-of-00500.csv.gz size
    local fetch=("$scripts/fetch" --base "$ranged/" --retries 2 --backoff 0 "$dir" --tables=task_usage --parts=2)
    size=$(($(wc -c <"$bucket/$part")))

    mkdir -p "$dir/task_usage"
    head -c 1000 "$bucket/$part" >"$dir/$part.part"
    : >"$work/requests"
    run "go on after a break of ours" 0 "${fetch[@]}"
    same_trace "the file is right" "$dir" "$part"
    holds "only the rest was asked for" test "$(requests "GET /$part bytes=1000- 206")" = 1
    holds "no other request was made" test "$(requests "GET /$part")" = 1

    rm "$dir/$part"
    fault "$part" "cut 2000" "busy" "cut 3000"
    : >"$work/requests"
    run "too few tries" 4 "${fetch[@]}" --retries 1
    holds "what came stays" test "$(($(wc -c <"$dir/$part.part")))" = 2000
    lacks "an unfinished file has no name" test -e "$dir/$part"
    run "go on after breaks of the server" 0 "${fetch[@]}"
    same_trace "the file is right" "$dir" "$part"
    holds "the last try asked for the rest" test "$(requests "GET /$part bytes=5000- 206")" = 1

    rm "$dir/$part"
    cp "$bucket/$part" "$dir/$part.part"
    : >"$work/requests"
    run "a whole file without its name" 0 "${fetch[@]}"
    holds "is not asked for again" test "$(requests "GET /$part")" = 0

    rm "$dir/$part"
    head -c 1000 /dev/zero >"$dir/$part.part"
    run "a wrong beginning" 0 "${fetch[@]}"
    err_has "is thrown away once" "$part came with a wrong checksum; once more"
    rm "$dir/$part"
    head -c $((size + 10)) /dev/zero >"$dir/$part.part"
    run "a beginning longer than the file" 0 "${fetch[@]}"
    same_trace "the file is right" "$dir" "$part"
    holds "no unfinished file" no_unfinished "$dir"
}

test_bad_server() {
    local dir=$work/ranged part=task_usage/part-00003-of-00500.csv.gz other=task_usage/part-00001-of-00500.csv.gz
    local fetch=("$scripts/fetch" "$dir" --base "$ranged" --retries 1 --backoff 0 --jobs 1 --tables task_usage)
    fault "$part" rubbish rubbish
    run "rubbish twice" 1 "${fetch[@]}" --parts 1,3
    out_has "is reported" "differs $part"
    lacks "and not kept" test -e "$dir/$part"
    holds "no unfinished file" no_unfinished "$dir"
    same_trace "the other part came" "$dir" "$other"
    fault "$part" rubbish
    run "rubbish once" 0 "${fetch[@]}" --parts 3

    mv "$bucket/task_usage/part-00000-of-00500.csv.gz" "$work/hidden"
    run "a listed file that the server lacks" 4 "${fetch[@]}" --parts 0-1
    out_has "is reported" "refused task_usage/part-00000-of-00500.csv.gz"
    mv "$work/hidden" "$bucket/task_usage/part-00000-of-00500.csv.gz"

    fault SHA256SUM page
    run "a page instead of the list" 3 "$scripts/fetch" "$work/none" --base "$ranged" --backoff 0
    run "no server, new folder" 4 "$scripts/fetch" "$work/none" --base http://127.0.0.1:9 --retries 1 --backoff 0
    err_has "it says what is missing" "\`SHA256SUM\` could not be fetched"
    run "no server, all there" 0 "$scripts/fetch" "$dir" --base http://127.0.0.1:9 --retries 1 --backoff 0 \
        --tables task_usage --parts 1-3
    run "no server, something missing" 4 "$scripts/fetch" "$dir" --base http://127.0.0.1:9 --retries 1 --backoff 0
    out_has "it says how to go on" "run the same command again"
}

# A copy of the scripts that uses the simulated bucket instead of the public one.
test_pins() {
    local copy=$work/copy dir="$work/a trace"
    cp -R "$scripts" "$copy"
    cp "$scripts"/../*.bash "$work"
    sed "s|^readonly DEFAULT_BASE=.*|readonly DEFAULT_BASE=$plain|" "$scripts/fetch" >"$copy/fetch"
    run "a list that is not that of the trace" 1 "$copy/fetch" "$dir" --tables machine_events
    err_has "it says what disagrees" "disagrees with checksums.txt about: schema.csv machine_events/part-00000-of-00001.csv.gz"
    lacks "nothing was fetched" test -e "$dir/machine_events"
    run "unless it is said to be another" 0 "$copy/fetch" "$dir" --tables machine_events --base "$plain/."
    grep -E 'schema|machine_events' "$bucket/SHA256SUM" >"$copy/checksums.txt"
    run "a list that agrees, a folder with a space" 0 "$copy/fetch" "$dir" --tables machine_events,task_events
    same_trace "everything came" "$dir" 'machine_events|task_events'
    run "verify a folder with a space" 0 "$copy/verify" "$dir"
    out_has "it finds the parts" "task_events               4        0         0     496  4-499"
    run "sample a folder with a space" 0 "$copy/sample" "$dir" "$dir sample" --jobs-share 1
    holds "the sample is whole" cmp <(gzip -dc "$dir"/machine_events/*) <(gzip -dc "$dir sample"/machine_events/*)
}

# An independent version of the hash: the jobs that must be in the sample.
expected_jobs() {
    python3 - "$@" <<'PYTHON'
import gzip, pathlib, sys

source, share, seed = sys.argv[1], float(sys.argv[2]), sys.argv[3]
P = 2**26 - 5
constants = (41421356, 73205080, 23606797, 64575131)

def absorb(state, number):
    limbs = max(1, -(-len(str(number)) // 7))
    for _ in range(limbs):
        number, limb = divmod(number, 10**7)
        state = (state + limb + 1) % P
        for constant in constants:
            state = pow(state + constant, 3, P)
    return state

seeded = absorb(0, int(seed))
jobs = set()
for path in pathlib.Path(source, "job_events").glob("*.gz"):
    jobs |= {int(line.split(",")[2]) for line in gzip.open(path, "rt")}
print("\n".join(str(job) for job in sorted(jobs) if absorb(seeded, job) < share * P))
PYTHON
}

# The jobs of one table, and the rows of the expected jobs in it.
jobs_of() {
    gzip -dc "$1"/part-*.csv.gz | cut -d , -f "$2" | sort -n -u
}

rows_of_jobs() {
    gzip -dc "$1"/part-*.csv.gz |
        awk -F , -v column="$2" 'NR == FNR { kept[$1] = 1; next } $column in kept' "$3" -
}

test_sample() {
    local dir=$work/plain dst=$work/sample-a table column
    local sample=("$scripts/sample" "$dir" "$dst" --jobs-share 0.2 --seed 7)
    run "sample" 0 "${sample[@]}" --jobs 3
    err_has "rows without a job are counted" "left out 1 rows without a whole number"
    out_has "sample says how to go on" "next: jobfate ingest $dst --lake lake"
    expected_jobs "$dir" 0.2 7 >"$work/jobs"
    holds "the share is about right" test "$(wc -l <"$work/jobs")" -gt 35 -a "$(wc -l <"$work/jobs")" -lt 85
    for table in job_events:3 task_events:3 task_usage:3 task_constraints:2; do
        column=${table#*:}
        table=${table%:*}
        rows_of_jobs "$dir/$table" "$column" "$work/jobs" >"$work/rows"
        gzip -dc "$dst/$table"/part-*.csv.gz >"$work/sampled"
        holds "$table: all rows of the kept jobs, in order, and no others" cmp "$work/rows" "$work/sampled"
        holds "$table: every part is there" test "$(find "$dst/$table" -name '*.gz' | wc -l)" -eq 4
    done
    jobs_of "$dst/job_events" 3 >"$work/sampled"
    holds "the kept jobs are those of the second hash" cmp "$work/jobs" "$work/sampled"
    for table in machine_events machine_attributes; do
        holds "$table is whole" cmp "$dir/$table/part-00000-of-00001.csv.gz" "$dst/$table/part-00000-of-00001.csv.gz"
    done
    run "verify the sample" 0 "$scripts/verify" "$dst"
    out_has "the sample is right" "task_usage                4        0         0     496  4-499"
    holds "the sample gives credit" grep -q "Reiss.*Wilkes.*Hellerstein" "$dst/sample.txt"

    run "the same into another folder" 0 "$scripts/sample" "$dir/" "$work/sample-b" --seed=7 --jobs-share=0.20
    holds "gives the same bytes" diff -r "$dst" "$work/sample-b"
    run "sample again" 0 "${sample[@]}"
    lacks "leaves what is there" grep -q '^\[' "$work/err"
    holds "and the result" diff -r "$dst" "$work/sample-b"
    run "other settings in the same folder" 2 "$scripts/sample" "$dir" "$dst" --jobs-share 0.3 --seed 7
    run "onto the trace itself" 2 "$scripts/sample" "$dir" "$dir"
    run "onto another trace" 2 "$scripts/sample" "$dir" "$bucket"

    run "a larger share" 0 "$scripts/sample" "$dir" "$work/sample-c" --jobs-share 0.5 --seed 7
    jobs_of "$work/sample-c/task_events" 3 >"$work/larger"
    holds "contains the smaller one" test -z "$(comm -23 <(sort "$work/jobs") <(sort "$work/larger"))"
    run "another seed" 0 "$scripts/sample" "$dir" "$work/sample-d" --jobs-share 0.2 --seed 8
    jobs_of "$work/sample-d/task_events" 3 >"$work/other"
    lacks "keeps other jobs" cmp "$work/jobs" "$work/other"
    run "the whole" 0 "$scripts/sample" "$dir" "$work/sample-e" --jobs-share 1
    holds "keeps every job" test "$(jobs_of "$work/sample-e/job_events" 3 | wc -l)" -eq 300
    run "fetch into a sample" 3 "$scripts/fetch" "$dst" --base "$plain"
}

test_sample_of_broken_part() {
    local dir=$work/broken
    mkdir -p "$dir/job_events" "$work/empty"
    head -c 3000 "$bucket/job_events/part-00000-of-00500.csv.gz" >"$dir/job_events/part-00000-of-00500.csv.gz"
    run "sample of a broken part" 3 "$scripts/sample" "$dir" "$work/sample-f"
    err_has "the part is named" "job_events/part-00000-of-00500.csv.gz cannot be unpacked"
    lacks "and leaves nothing with its name" test -e "$work/sample-f/job_events/part-00000-of-00500.csv.gz"
    holds "nor unfinished" no_unfinished "$work/sample-f"
    run "sample of an empty folder" 3 "$scripts/sample" "$work/empty" "$work/sample-g"
}

main() {
    make_bucket
    start_server plain python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$bucket"
    plain=http://127.0.0.1:$port
    start_range_server ranged "$bucket"
    ranged=http://127.0.0.1:$port

    test_wrong_use
    test_whole_files_only
    test_corrupt_file
    test_ranges
    test_bad_server
    test_pins
    test_sample
    test_sample_of_broken_part
    report
}

main
