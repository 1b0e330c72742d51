#!/usr/bin/env python3
"""Compares ingest and outcome study with DuckDB, Polars and only inflating, in one run.

Usage: run.py [--jobs N] [--runs N] [--threads N] [--work DIR] [--keep]

Makes a synthetic trace with `jobfate synth` (40,000 jobs: about 1.2 GB of CSV, mostly task_usage), then runs the
programs in turn, A B C A B C ..., as whole processes, and prints the median of each with its ratio to ours, as
Markdown. Needs `cargo build --release --examples` and a Python with duckdb and polars (run it with that Python).
DuckDB and Polars get the same number of threads. The page cache is warm for all: each program runs once before it is
measured.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
JOBFATE, INFLATE = TARGET / "jobfate", TARGET / "examples" / "inflate"
WINDOW_ENDS = """
CREATE TABLE settings AS SELECT
  (SELECT max(time_us) FROM job_events WHERE time_us < 9223372036854775807)::BIGINT AS job_window_end_us,
  (SELECT max(time_us) FROM task_events WHERE time_us < 9223372036854775807)::BIGINT AS task_window_end_us,
  'job-end' AS open_attempts;
"""
# The outcome study as SQL: classification, measured ledger, and the 40-point sweep.
STUDY = ["q01_job_outcomes", "q03_attempts", "q06_windows_in_attempts", "q07_cpu_measured",
         "q08_crossings", "q12_measured_after_crossings"]
ANSWERS = {
    "classification": "SELECT outcome_sequence, count(*) AS jobs FROM q01_job_outcomes GROUP BY outcome_sequence",
    "ledger": "SELECT j.outcome_sequence, SUM(c.measured_s) AS cpu, SUM(c.outside_s) AS outside "
              "FROM q07_cpu_measured AS c LEFT JOIN q01_job_outcomes AS j ON c.job_id = j.job_id "
              "GROUP BY j.outcome_sequence",
    "sweep": "SELECT j.outcome_sequence, c.threshold, count(*) AS tasks, SUM(c.saved_measured_s) AS saved "
             "FROM q12_measured_after_crossings AS c LEFT JOIN q01_job_outcomes AS j ON c.job_id = j.job_id "
             "GROUP BY j.outcome_sequence, c.threshold",
}
COLUMNS = ("start_time_us end_time_us job_id task_index machine_id mean_cpu_rate canonical_memory assigned_memory "
           "unmapped_page_cache total_page_cache max_memory mean_disk_io_time mean_local_disk_space max_cpu_rate "
           "max_disk_io_time cycles_per_instruction memory_accesses_per_instruction sample_portion aggregation_type "
           "sampled_cpu_usage").split()


def query(name):
    return (ROOT / "queries" / f"{name}.sql").read_text().rstrip().rstrip(";")


def files(lake, table):
    return sorted(str(path) for path in (Path(lake) / table).rglob("*.parquet"))


def peer(args):
    """Runs one program in a separate process (called by this script)."""
    what, engine, source, out, threads = args
    usage = sorted(str(path) for path in Path(source).glob("task_usage/*.csv.gz")) if what == "ingest" else []
    if engine == "polars":
        os.environ["POLARS_MAX_THREADS"] = threads
        import polars as pl
        if what == "ingest":
            kinds = {c: pl.Int64 for c in COLUMNS[:5]} | {c: pl.Float32 for c in COLUMNS[5:18]}
            kinds |= {"aggregation_type": pl.Int32, "sampled_cpu_usage": pl.Float32}
            pl.scan_csv(usage, has_header=False, schema=kinds).sink_parquet(out, compression="lz4")
            return
        context = pl.SQLContext()
        tables = {t: pl.scan_parquet(files(source, t), hive_partitioning=False)
                  for t in ("job_events", "task_events", "task_usage", "machine_events")}
        for name, frame in tables.items():
            context.register(name, frame)
        ends = {f"{k}_window_end_us": [tables[f"{k}_events"].filter(pl.col("time_us") < 2**63 - 1)
                                       .select(pl.col("time_us").max()).collect().item()] for k in ("job", "task")}
        context.register("settings", pl.DataFrame(ends | {"open_attempts": ["job-end"]}))
        context.register("thresholds", pl.DataFrame({"threshold": list(range(10, 401, 10))}))
        for name in STUDY:
            context.register(name, context.execute(query(name), eager=True))
        for text in ANSWERS.values():
            context.execute(text, eager=True)
        return
    import duckdb
    con = duckdb.connect()
    con.execute(f"SET threads = {threads}")
    con.execute(f"SET temp_directory = '{Path(out).parent}'")
    if what == "ingest":
        kinds = [f"'{c}': 'BIGINT'" for c in COLUMNS[:5]] + [f"'{c}': 'FLOAT'" for c in COLUMNS[5:]]
        con.execute(f"COPY (SELECT * FROM read_csv({usage}, header = false, columns = {{{', '.join(kinds)}}})) "
                    f"TO '{out}' (FORMAT parquet, COMPRESSION lz4_raw)")
        return
    for table in ("job_events", "task_events", "task_usage", "machine_events"):
        con.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({files(source, table)}, hive_partitioning = false)")
    con.execute(WINDOW_ENDS)
    con.execute("CREATE TABLE thresholds AS SELECT unnest(range(10, 401, 10))::BIGINT AS threshold")
    for name in STUDY:
        con.execute(f"CREATE TABLE {name} AS {query(name)}")
    for text in ANSWERS.values():
        con.execute(text).fetchall()


def timed(commands):
    """Returns the seconds and the largest resident set (MB) of commands run one after the other."""
    start, peak = time.perf_counter(), 0
    for command in commands:
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        error = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{command} failed: {error.decode()[-2000:]}")
        peak = max(peak, used.ru_maxrss // 1024)
    return time.perf_counter() - start, peak


def race(title, contenders, runs, before=lambda name: None):
    """Runs programs in turn and prints a table of medians and ratios to the first."""
    times, peaks = {name: [] for name in contenders}, dict.fromkeys(contenders, 0)
    for run in range(runs + 1):
        for name, commands in contenders.items():
            before(name)
            seconds, peak = timed(commands)
            if 0 < run:
                times[name].append(seconds)
                peaks[name] = max(peaks[name], peak)
    ours = next(iter(contenders))
    print(f"\n### {title}\n\n| | median s | min to max s | peak MB | median of ratios to ours |\n|---|---:|---:|---:|---:|")
    for name, seconds in times.items():
        ratio = statistics.median(other / own for other, own in zip(seconds, times[ours]))
        print(f"| {name} | {statistics.median(seconds):.2f} | {min(seconds):.2f} to {max(seconds):.2f} "
              f"| {peaks[name]} | {ratio:.2f} |", flush=True)


def synth(trace, jobs):
    """Makes a trace of 7 days, if it does not exist."""
    if not (trace / "truth.json").exists():
        parts = max(12, jobs // 1500)
        subprocess.run([JOBFATE, "synth", trace, "--jobs", str(jobs), "--days", "7", "--parts", str(parts)],
                       check=True, stderr=subprocess.DEVNULL)


def main():
    if sys.argv[1:2] == ["--peer"]:
        return peer(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=40_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--work", type=Path, help="folder for trace and lake (a temporary one)")
    parser.add_argument("--keep", action="store_true", help="do not remove the folder")
    args = parser.parse_args()
    work = args.work or Path(tempfile.mkdtemp(prefix="jobfate-bench-"))
    work.mkdir(parents=True, exist_ok=True)
    trace, lake, threads = work / "trace", work / "lake", args.threads
    synth(trace, args.jobs)
    usage = work / "usage"
    usage.mkdir(exist_ok=True)
    if not (usage / "task_usage").exists():
        (usage / "task_usage").symlink_to(trace / "task_usage")
    text = subprocess.run([INFLATE, usage, str(threads)], check=True, capture_output=True, text=True).stdout
    raw = sum(path.stat().st_size for path in (trace / "task_usage").iterdir())
    print(f"task_usage: {int(re.match(r'[0-9]+', text).group()) / 1e6:,.0f} MB of CSV, {raw / 1e6:,.0f} MB gzip; "
          f"{threads} threads, {args.runs} runs")
    this = [sys.executable, __file__, "--peer"]
    new = work / "new-lake"

    def clean(_):
        shutil.rmtree(new, ignore_errors=True)

    race("Ingest of task_usage, csv.gz to Parquet", {
        "jobfate ingest": [[JOBFATE, "ingest", usage, "--lake", new, "--threads", threads]],
        "inflating alone": [[INFLATE, usage, threads]],
        "Polars scan_csv, sink_parquet": [this + ["ingest", "polars", usage, work / "polars.parquet", threads]],
        "DuckDB COPY": [this + ["ingest", "duckdb", usage, work / "duckdb.parquet", threads]],
    }, args.runs, clean)
    clean(None)
    subprocess.run([JOBFATE, "ingest", trace, "--lake", lake], check=True, stderr=subprocess.DEVNULL)
    race("Outcome study from the lake: classification, measured ledger, 40-point sweep", {
        "jobfate classify, account, sweep": [[JOBFATE, what, "--lake", lake] for what in ("classify", "account", "sweep")],
        "Polars, the same SQL": [this + ["study", "polars", lake, work / "x", threads]],
        "DuckDB, the same SQL": [this + ["study", "duckdb", lake, work / "x", threads]],
    }, args.runs)
    if not args.keep and args.work is None:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
