#!/usr/bin/env python3
"""Measures memory and time at growing sizes, and estimates the time of the whole trace of 2011.

Usage: scale.py [--jobs 17500,70000,280000] [--days 29] [--work DIR]

Makes synthetic traces with as many days as the real one, runs `ingest` and then `analyze` on each (all detectors,
replay, fairness, report), and prints as Markdown seconds, seconds per million rows and peak memory. Then it runs the
largest again without `task_usage`, which separates the cost of a usage row from that of an event. From these costs it
estimates the time of the whole trace, which has 8.5 usage rows per event; a synthetic trace has about half of that.
Traces that exist in --work are used again. 280,000 jobs are about 140 million rows, 5 GB of lake, and fifteen
minutes.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOBFATE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "jobfate"

# Rows of the real trace (Google's document and count of 2011) and its gzip bytes.
REAL = {"task_usage": 1_232_799_308, "task_events": 144_648_288, "others": 40_000_000}
REAL_BYTES = 41e9


def timed(command):
    """Returns the seconds and the largest resident set in MB."""
    start = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command} failed: {error.decode()[-2000:]}")
    return time.perf_counter() - start, used.ru_maxrss // 1024


def synth(trace, jobs, days):
    """Makes a trace, if it does not exist, and returns its rows by table."""
    if not (trace / "truth.json").exists():
        words = ["--jobs", jobs, "--days", days, "--parts", max(4, jobs // 4375)]
        subprocess.run([str(word) for word in [JOBFATE, "synth", trace, *words]], check=True, stderr=subprocess.DEVNULL)
    return json.loads((trace / "truth.json").read_text())["rows"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default="17500,70000,280000")
    parser.add_argument("--days", type=float, default=29)
    parser.add_argument("--work", type=Path, help="folder for traces and lakes (a temporary one)")
    args = parser.parse_args()
    work = args.work or Path(tempfile.mkdtemp(prefix="jobfate-scale-"))
    work.mkdir(parents=True, exist_ok=True)
    print("| jobs | rows | usage rows per event | `ingest` s | s per million rows | peak MB "
          "| `analyze` s | s per million rows | peak MB |\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for jobs in (int(jobs) for jobs in args.jobs.split(",")):
        trace, out = work / f"trace-{jobs}", work / f"out-{jobs}"
        rows = synth(trace, jobs, args.days)
        total = sum(rows.values())
        shutil.rmtree(out, ignore_errors=True)
        ingest = timed([JOBFATE, "ingest", trace, "--lake", out / "lake"])
        rest = timed([JOBFATE, "analyze", trace, "--out", out])
        per = [seconds / total * 1e6 for seconds, _ in (ingest, rest)]
        print(f"| {jobs:,} | {total:,} | {rows['task_usage'] / rows['task_events']:.1f} "
              f"| {ingest[0]:.1f} | {per[0]:.2f} | {ingest[1]:,} | {rest[0]:.1f} | {per[1]:.2f} | {rest[1]:,} |", flush=True)
        shutil.rmtree(out)
    tables = ",".join(table for table in rows if table != "task_usage")
    bare = [timed([JOBFATE, "ingest", trace, "--lake", out / "lake", "--tables", tables]),
            timed([JOBFATE, "analyze", trace, "--out", out, "--tables", tables])]
    shutil.rmtree(out)
    usage, others = rows["task_usage"], total - rows["task_usage"]
    print(f"\nWithout task_usage ({others:,} rows): ingest {bare[0][0]:.1f} s, analyze {bare[1][0]:.1f} s.")
    minutes = []
    for (whole, _), (without, _) in zip((ingest, rest), bare):
        per_usage, per_other = (whole - without) / usage, without / others
        minutes.append((per_usage * REAL["task_usage"] + per_other * (REAL["task_events"] + REAL["others"])) / 60)
    bytes_here = sum(path.stat().st_size for path in trace.rglob("*.csv.gz"))
    print(f"The whole of 2011: {sum(REAL.values()):,} rows ({REAL['task_usage'] / REAL['task_events']:.1f} usage rows per event), "
          f"{REAL_BYTES / 1e9:.0f} GB of gzip. At these costs of a usage row and of any other, on {os.cpu_count()} cores: "
          f"ingest {minutes[0]:.0f} minutes (by its gzip bytes {REAL_BYTES / bytes_here * ingest[0] / 60:.0f}), "
          f"analyze {minutes[1]:.0f}, together {sum(minutes):.0f}. "
          "Supposed: the cost of a row stays what it is at that size, and rows of the real trace cost what synthetic ones do.")
    if args.work is None:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
