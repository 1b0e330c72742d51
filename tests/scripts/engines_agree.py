#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = ["duckdb", "polars", "pyspark"]
# ///
"""Runs every query on three engines over random small traces, and compares every row.

Usage: engines_agree.py JOBFATE [--seeds 100] [--first 0] [--no-spark] [--keep DIR]

A seed draws a trace, the buckets of its lake, thresholds, and sometimes a later end of the window. The trace is from
`jobfate synth`, with random numbers of jobs, days, parts and machines. Every fourth is in the form of 2019, and every
sixth is a log. About half of the others are roughened: names and quantities are blanked, times are equal or after the
window, and events are drawn again. Each query of queries/, and so every column of every fact, is then answered by

    Polars   `jobfate query all`, bucket by bucket
    DuckDB   the text of the file over the files of the manifest
    Spark    the same in one PySpark session, set as src/facts/spark/program.rs sets it (needs Java)

Names and order of the columns, number and order of the rows, types, whole numbers, names and missing values must be
equal; quantities must be equal to 1e-9 of their size (or to 1e-12). Exits with 1 at the first difference, and prints
it.

--seeds N    how many seeds (default 100)
--first N    the first seed (default 0)
--no-spark   only Polars and DuckDB
--keep DIR   keep traces, lakes and the answers of Polars in DIR
"""

import argparse
import gzip
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import duckdb
import polars as pl

from crosscheck import is_for, is_same, last_time

ROOT = Path(__file__).resolve().parents[2]
QUERIES = {path.stem: path.read_text().rstrip().rstrip(";") for path in sorted((ROOT / "queries").glob("q*.sql"))}
# Tables of the lake, other queries, settings and thresholds that the queries read.
READ = {name for sql in QUERIES.values() for line in re.findall(r"^-- (?:Tables|Optional):\s*(.*)$", sql, re.M)
        for name in line.split(", ")}

# The columns that are read of optional tables. A table that a lake lacks is replaced by an empty one.
EMPTY = {
    "task_usage": "SELECT * FROM (SELECT "
                  + ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in
                              {"job_id": "BIGINT", "task_index": "INTEGER", "machine_id": "BIGINT",
                               "start_time_us": "BIGINT", "end_time_us": "BIGINT", "mean_cpu_rate": "FLOAT",
                               "max_cpu_rate": "FLOAT"}.items())
                  + ") AS nothing WHERE machine_id IS NOT NULL",
}

# Columns of a raw table of 2011: times, event type, names, and other columns that may be missing.
ROUGH = {
    "job_events": ([0], 3, [4, 6], [5]),
    "task_events": ([0], 5, [6], [4, 7, 9]),
    "task_usage": ([0, 1], None, [], [5]),
    "machine_events": ([0], None, [], [4, 5]),
}
AFTER = str(2**64 - 1)
# Sorted by bytes; the order of UTF-16 differs.
NAMES = ["", "-", "A", "a", "ß", "\uff5e", "\U0001f600"]

WORKERS = 2
SPARK = {
    # As in src/facts/spark/program.rs.
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.parquet.enableVectorizedReader": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.variable.substitute": "false",
    "spark.ui.enabled": "false",
    # Settings for many queries on small tables.
    "spark.default.parallelism": "1",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
    "spark.driver.memory": "1g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.codegen.cache.maxEntries": "2000",
    "spark.sql.maxPlanStringLength": "0",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


class Fault(Exception):
    """A difference, and its seed."""

    def __init__(self, seed, text):
        super().__init__(text)
        self.seed = seed


class Made(NamedTuple):
    """The trace, lake and queries that the engines get."""

    seed: int
    folder: Path
    files: dict  # of the lake, by table
    parameters: dict  # SQL of settings, thresholds and tables that the lake lacks
    queries: dict  # SQL of the queries that the source allows, by name


class Answer(NamedTuple):
    columns: list
    rows: list


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("Usage: "))
    parser.add_argument("jobfate")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--spark", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            count = run(args, (args.keep or Path(folder)).absolute())
    except Fault as fault:
        redo = [sys.executable, __file__, args.jobfate, "--first", str(fault.seed), "--seeds", "1", "--keep", "kept"]
        sys.exit(f"seed {fault.seed}: {fault}\nredo: {shlex.join(redo)}")
    print(f"{args.seeds} seeds: {3 if args.spark else 2} engines agree on {count} answers")


def run(args, folder):
    """Compares the engines over all seeds, and counts the answers."""
    engines = {"DuckDB": ask_duckdb}
    if args.spark:
        session = spark_session()
        engines["Spark"] = lambda made: ask_spark(session.newSession(), made)
    began, count, rows = time.monotonic(), 0, 0
    with ThreadPoolExecutor(WORKERS) as pool:
        seeds = range(args.first, args.first + args.seeds)
        answers_by_seed = pool.map(lambda seed: check(args.jobfate, seed, folder / f"seed-{seed}", engines), seeds)
        for number, answers in enumerate(answers_by_seed, 1):
            count += len(answers)
            rows += sum(len(answer.rows) for answer in answers.values())
            if number % 10 == 0:
                seconds = time.monotonic() - began
                print(f"{number} of {args.seeds} seeds: {rows:,} rows in {seconds:.0f} s", file=sys.stderr)
    return count


def check(jobfate, seed, folder, engines):
    """Runs every query on one trace with each engine; returns the answers of Polars."""
    made = make(jobfate, seed, folder)
    ours = answers_of_polars(made)
    if list(ours) != list(made.queries):
        raise Fault(seed, f"jobfate answers {', '.join(ours)}; the folder has {', '.join(made.queries)}")
    for engine, ask in engines.items():
        theirs = ask(made)
        for name in made.queries:
            try:
                answer = next(theirs)
            except Exception as error:
                raise Fault(seed, f"{name}: {engine} fails: {error}") from error
            if found := difference(ours[name], answer):
                raise Fault(seed, f"{name}: Polars and {engine} differ: {found}")
    return ours


def make(jobfate, seed, folder):
    """Makes a trace, a lake, and the answers of Polars."""
    shutil.rmtree(folder, ignore_errors=True)
    draw = random.Random(seed)
    trace, lake = folder / "trace", folder / "lake"

    def jobfate_does(*args):
        command = [jobfate, *map(str, args)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Fault(seed, f"{shlex.join(command)}\n{done.stderr}")

    is_2019, is_log = seed % 4 == 3, seed % 6 == 4
    if is_log:
        trace = folder / "log.swf"
        folder.mkdir(parents=True)
        trace.write_text(log_of(draw))
    else:
        jobfate_does("synth", trace, "--seed", seed, "--source", "google-2019" if is_2019 else "google-2011",
                 "--jobs", draw.randint(5, 60), "--days", round(draw.uniform(0.05, 2), 3),
                 "--parts", draw.randint(1, 4), "--machines", draw.randint(1, 40))
    if not is_2019 and not is_log and seed % 2 == 0:
        roughen(trace, draw)
    jobfate_does("ingest", trace, "--lake", lake, "--buckets", draw.randint(1, 5))
    manifest = json.loads((lake / "manifest.json").read_text())
    files = {table: [str(lake / file["path"]) for file in entry["files"]]
             for table, entry in manifest["tables"].items() if table in READ}
    ends = [last_time(manifest, table) for table in ("job_events", "task_events")]
    thresholds = sorted(draw.sample(range(1, 30), 4))
    asked = ["--thresholds", ",".join(map(str, thresholds))]
    if draw.random() < 0.3:
        ends = [max(ends) + draw.randint(0, 10**10)] * 2
        asked += ["--window-end", f"{ends[0] // 10**6}.{ends[0] % 10**6:06}"]
    open_attempts = draw.choice(["job-end", "window-end"])
    asked += ["--open-attempts", open_attempts]
    jobfate_does("query", "all", "--lake", lake, "--out", folder / "facts", *asked)
    settings = values("job_window_end_us, task_window_end_us, first_us", [[*ends, int(not is_log)]])
    parameters = {"settings": f"SELECT *, '{open_attempts}' AS open_attempts FROM ({settings}) AS ends",
                  "thresholds": values("threshold", [[one] for one in thresholds]),
                  **{table: sql for table, sql in EMPTY.items() if table not in files}}
    # Queries that need tables missing from a log are not run.
    given, queries = {*files, "settings", "thresholds"}, {}
    for name, sql in QUERIES.items():
        needs = re.findall(r"^-- Tables:\s*(.*)$", sql, re.M)[0].split(", ")
        if is_for(manifest["source"], sql) and all(need in {*given, *queries} for need in needs):
            queries[name] = sql
    return Made(seed, folder, files, parameters, queries)


def log_of(draw):
    """Writes a log in the standard workload format: jobs with missing values, a few logged in partial runs."""
    lines = ["; MaxProcs: 64"]
    now = 0
    for job in range(1, draw.randint(5, 60)):
        now += draw.randint(0, 400)
        hole = lambda value: -1 if draw.random() < 0.15 else value
        many = lambda most: hole(draw.randint(1, most))
        parts = draw.choice([[1]] * 8 + [[0], [5], [-1], [2, 3], [2, 2, 4]])
        for place, status in enumerate(parts):
            lines.append(" ".join(map(str, [
                job, now if place == 0 else -1, many(300), many(5000), many(64), hole(draw.randint(1, 4000) / 8), many(10**6),
                many(64), many(9000), many(10**6), status, many(5), many(3), many(4), many(3), many(2), -1, -1])))
    return "\n".join(lines) + "\n"


def values(columns, rows):
    """SQL of a table of whole numbers."""
    listed = ", ".join(f"({', '.join(f'CAST({cell} AS BIGINT)' for cell in row)})" for row in rows)
    return f"SELECT * FROM (VALUES {listed}) AS given ({columns})"


def roughen(trace, draw):
    """Spoils a cell in thirty of a trace of 2011 as far as its format allows, and the names of some jobs."""
    renamed = {}  # one job in five
    for table, (times, event, names, others) in ROUGH.items():
        for path in sorted((trace / table).iterdir()):
            with gzip.open(path, "rt") as file:
                rows = [line.rstrip("\n").split(",") for line in file]
            for before, row in zip(rows, rows[1:]):
                is_hit = lambda: draw.random() < 1 / 30
                for column in times:
                    if is_hit():
                        row[column] = AFTER if draw.random() < 0.1 else before[column]
                if event and is_hit():
                    row[event] = str(draw.randint(0, 8))
                name = renamed.setdefault(row[2], draw.choice(NAMES) if draw.random() < 0.2 else None)
                for column in names:
                    if name is not None and not is_hit():
                        row[column] = name
                for column in others:
                    if is_hit():
                        row[column] = ""
            with gzip.open(path, "wt", newline="") as file:
                file.writelines(",".join(row) + "\n" for row in rows)


def answers_of_polars(made):
    answers = {}
    for path in sorted((made.folder / "facts").glob("q*.parquet")):
        frame = pl.read_parquet(path)
        answers[path.stem] = Answer(frame.columns, frame.rows())
    return answers


def ask_duckdb(made):
    """Yields the answer of each query."""
    connection = duckdb.connect()
    for table, files in made.files.items():
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({files}, hive_partitioning = false)")
    for name, sql in made.parameters.items():
        connection.execute(f"CREATE TABLE {name} AS {sql}")
    for name, sql in made.queries.items():
        answer = connection.execute(sql)
        yield Answer([column[0] for column in answer.description], answer.fetchall())
        if name in READ:
            connection.execute(f"CREATE TABLE {name} AS {sql}")


def ask_spark(session, made):
    """Yields the answer of each query."""
    for table in made.files:
        session.sql(f"CREATE TEMPORARY VIEW {table} USING parquet OPTIONS "
                    f"(path '{made.folder}/lake/{table}', recursiveFileLookup 'true')")
    for name, sql in made.parameters.items():
        session.sql(f"CREATE TEMPORARY VIEW {name} AS {sql}")
    for name, sql in made.queries.items():
        frame = session.sql(sql)
        rows = frame.collect()
        yield Answer(frame.columns, [tuple(row) for row in rows])
        if name in READ:
            session.createDataFrame(rows, frame.schema, verifySchema=False).createOrReplaceTempView(name)


def spark_session():
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master(f"local[{WORKERS}]")
    for key, value in SPARK.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def difference(ours, theirs):
    """Returns the first difference of two answers, if any."""
    if ours.columns != theirs.columns:
        return f"columns {ours.columns} and {theirs.columns}"
    for number, (one, other) in enumerate(zip_longest(ours.rows, theirs.rows)):
        if not one or not other:
            return f"row {number}: {one or 'none'} and {other or 'none'}"
        cells = [f"{column} {left!r} and {right!r}" for column, left, right in zip(ours.columns, one, other)
                 if type(left) is not type(right) or not is_same(left, right)]
        if cells:
            return f"row {number}: {', '.join(cells)}\n  of {dict(zip(ours.columns, one))}"
    return None


if __name__ == "__main__":
    main()
