#!/usr/bin/env python3
"""Compares the seconds of `jobfate fairness` on a lake with DuckDB, which adds up the same metered usage.

Usage: fairness.py LAKE [RUNS]

Runs three programs in turn, A B C A B C ..., as whole processes: two indices, all built-in indices, and a script that
only sums CPU by user and hour with DuckDB and accumulates it. Prints medians as Markdown. Needs
`cargo build --release` and a Python with duckdb (run it with that Python).
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
ALL = ["metered", "condor", "htcondor", "slurm", "fair-tree", "sge", "jain", "gini", "hoover", "cv", "theil", "max-min", "drf", "slowdown"]
PEER = """
import duckdb, sys
lake = sys.argv[1]
read = lambda table: f"read_parquet('{lake}/{table}/**/*.parquet', hive_partitioning = false)"
duckdb.sql(f'''
WITH ends AS (
  SELECT job_id, task_index, event_type, time_us, cpu_request,
         lead(time_us) OVER (PARTITION BY job_id, task_index ORDER BY time_us, row_id) AS end_us
  FROM {read("task_events")} WHERE event_type BETWEEN 1 AND 6),
users AS (SELECT job_id, max("user") AS who FROM {read("job_events")} GROUP BY job_id),
hours AS (
  SELECT who, end_us // 3600000000 AS hour, sum(cpu_request::DOUBLE * (end_us - time_us)) / 1e6 AS cpu_s
  FROM ends JOIN users USING (job_id) WHERE event_type = 1 AND end_us IS NOT NULL GROUP BY ALL)
SELECT who, hour, sum(cpu_s) OVER (PARTITION BY who ORDER BY hour) AS metered FROM hours''').fetchall()
"""


def main():
    lake, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    ours = [TARGET / "jobfate", "fairness", "--lake", lake, "--format", "csv"]
    contenders = {
        "metered and condor": ours,
        "all indices": ours + [word for name in ALL for word in ("--index", name)],
        "DuckDB, metered alone": [sys.executable, "-c", PEER, lake],
    }
    times = {name: [] for name in contenders}
    for _ in range(runs + 1):
        for name, command in contenders.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            times[name].append(time.perf_counter() - start)
    print("| | median s | min to max s |\n|---|---:|---:|")
    for name, seconds in times.items():
        # The first run warms the page cache.
        counted = seconds[1:]
        print(f"| {name} | {statistics.median(counted):.2f} | {min(counted):.2f} to {max(counted):.2f} |")


if __name__ == "__main__":
    main()
