#!/usr/bin/env python3
# /// script
# dependencies = ["polars"]
# ///
"""Answers every query over a lake with Polars and with Spark, and compares the two tables.

Usage: compare.py JOBFATE LAKE MASTER [THRESHOLD,...]

Whole numbers, names and what is missing must be equal, quantities to 1e-9 of their size; the order
of rows is not compared. Queries whose tables the lake does not have must be refused by both.
Prints a line per query. Exits with 1 where something differs.
"""

import io
import subprocess
import sys
from pathlib import Path

import polars as pl

TOLERANCE = 1e-9
QUERIES = Path(__file__).parents[2] / "queries"
BAD_INPUT = 3


def answer(jobfate, query, lake, thresholds, *engine):
    """The table of a query, or the exit code and what was said."""
    command = [jobfate, "query", query, "--lake", lake, "--thresholds", thresholds, "--format", "parquet", *engine]
    run = subprocess.run(command, capture_output=True)
    if run.returncode:
        return run.returncode, run.stderr.decode(errors="replace").strip()
    return 0, pl.read_parquet(io.BytesIO(run.stdout))


def in_order(table):
    """Rows in an order that noise in the quantities cannot change, as long as a key is unique."""
    exact = [name for name, kind in table.schema.items() if not kind.is_float()]
    return table.sort(exact + [name for name in table.columns if name not in exact], nulls_last=True)


def is_same(one, other):
    """Whether each value of a column is the other's; two columns of the same type."""
    equal = one.eq_missing(other)
    if not one.dtype.is_float():
        return equal
    size = pl.max_horizontal(one.abs(), other.abs())
    near = pl.select(((one - other).abs() <= TOLERANCE * size).fill_null(False)).to_series()
    return equal | near


def difference(one, other):
    """What differs first between two tables as sets of rows, or None."""
    if one.schema != other.schema:
        return f"the columns are {dict(one.schema)} and {dict(other.schema)}"
    if one.height != other.height:
        return f"{one.height:,} and {other.height:,} rows"
    one, other = in_order(one), in_order(other)
    for name in one.columns:
        wrong = (~is_same(one[name], other[name])).arg_true()
        if wrong.len():
            row = wrong[0]
            return f"{wrong.len():,} rows differ in `{name}`, the first: {one.row(row)} and {other.row(row)}"
    return None


def main(jobfate, lake, master, thresholds="2,10,50,257"):
    faults = 0
    for path in sorted(QUERIES.glob("q*.sql")):
        query = path.stem
        code, local = answer(jobfate, query, lake, thresholds)
        spark_code, spark = answer(jobfate, query, lake, thresholds, "--engine", "spark", "--master", master)
        if code == spark_code == BAD_INPUT and local == spark:
            print(f"{query}: passed over: {local.splitlines()[-1]}")
            continue
        if code or spark_code:
            fault = "\n".join(f"exit code {c}: {said}" for c, said in ((code, local), (spark_code, spark)) if c)
        else:
            fault = difference(local, spark)
        faults += fault is not None
        print(f"{query}: {fault or f'{local.height:,} rows alike'}", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
