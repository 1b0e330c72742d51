#!/usr/bin/env python3
# /// script
# dependencies = ["duckdb", "polars"]
# ///
"""Runs every query of a folder in DuckDB over a lake and compares with `jobfate query`.

Usage: crosscheck.py JOBFATE LAKE QUERIES_DIR THRESHOLD,...

Whole numbers and names must be equal, quantities to 1e-9 of their size. Queries for other sources are left out, as
are queries whose tables the lake lacks. Exits with 1 and prints what differs.
"""

import io
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl


def last_time(manifest, table):
    parts = manifest["tables"].get(table, {"parts": []})["parts"]
    return max((p["max_time_us"] for p in parts if p["max_time_us"] is not None), default=0)


def is_for(source, sql):
    """Whether a query is for lakes of a source: its header names none, or this one."""
    named = re.search(r"^-- Sources:\s*(.*)$", sql, re.M)
    return not named or source in named[1].split(", ")


def is_same(one, other):
    if isinstance(one, float) or isinstance(other, float):
        if one is None or other is None:
            return one is other
        return math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=1e-12)
    return one == other


def main(jobfate, lake, queries, thresholds):
    manifest = json.loads((lake / "manifest.json").read_text())
    connection = duckdb.connect()
    for table, entry in manifest["tables"].items():
        files = [str(lake / file["path"]) for file in entry["files"]]
        if files:
            connection.execute(f"create view {table} as select * from read_parquet({files}, hive_partitioning=false)")
    ends = [last_time(manifest, table) for table in ("job_events", "task_events")]
    first_us = int(manifest["source"].startswith("google"))
    connection.execute(f"create table settings as select {ends[0]}::bigint as job_window_end_us, "
                       f"{ends[1]}::bigint as task_window_end_us, {first_us}::bigint as first_us, 'job-end' as open_attempts")
    connection.execute(f"create table thresholds as select unnest([{thresholds}])::bigint as threshold")
    views = {row[0] for row in connection.execute("select view_name from duckdb_views() where not internal").fetchall()}
    known = views | {"settings", "thresholds"}
    faults = []
    for path in sorted(queries.glob("q*.sql")):
        name, sql = path.stem, path.read_text()
        if not is_for(manifest["source"], sql):
            continue
        # Optional tables exist in the lakes of this test.
        needs = ", ".join(re.findall(r"^-- (?:Tables|Optional):\s*(.*)$", sql, re.M)).split(", ")
        if not set(needs) <= known:
            print(f"{name}: passed over, for want of {', '.join(sorted(set(needs) - known))}")
            continue
        connection.execute(f"create table {name} as {sql.rstrip().rstrip(';')}")
        known.add(name)
        answer = connection.execute(sql)
        columns = [column[0] for column in answer.description]
        expected = answer.fetchall()
        run = subprocess.run([jobfate, "query", name, "--lake", str(lake), "--format", "parquet",
                              "--thresholds", thresholds], capture_output=True)
        if run.returncode:
            faults.append(f"{name}: {run.stderr.decode()}")
            continue
        found = pl.read_parquet(io.BytesIO(run.stdout))
        if found.columns != columns or found.height != len(expected):
            faults.append(f"{name}: {found.columns} x {found.height}, DuckDB {columns} x {len(expected)}")
            continue
        for row, (ours, theirs) in enumerate(zip(found.rows(), expected)):
            different = [(column, one, other) for column, one, other in zip(columns, ours, theirs)
                         if not is_same(one, other)]
            if different:
                faults.append(f"{name}, row {row}: {different}")
                break
        print(f"{name}: {found.height} rows")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
