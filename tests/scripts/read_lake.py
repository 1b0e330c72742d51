#!/usr/bin/env python3
# /// script
# dependencies = ["duckdb", "polars"]
# ///
"""Reads a lake without jobfate, with DuckDB and Polars, from the folder layout and the manifest alone.

Usage: read_lake.py LAKE

Checks that both engines find the rows, times and buckets that the manifest records, that both give the same sums,
that only plain types are stored, and that every job is in the bucket that the `bucket_hash` of the manifest gives.
Otherwise exits with 1 and prints what differs.
"""

import io
import json
import sys
import zlib
from pathlib import Path

import duckdb
import polars as pl

AFTER = 2**63 - 1
SPREAD = {"job_events", "task_events", "task_usage", "task_constraints"}
PLAIN = {pl.Int64, pl.Int32, pl.Float32, pl.Float64, pl.Boolean, pl.String}


def splitmix64(value):
    """The finaliser of splitmix64, on 64 bits."""
    mask = 2**64 - 1
    value &= mask
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
    return value ^ (value >> 31)


def main(lake):
    manifest = json.loads((lake / "manifest.json").read_text())
    faults = []

    def same(what, *values):
        if any(value != values[0] for value in values):
            faults.append(f"{what}: {values}")

    same("bucket_hash", manifest["bucket_hash"], "splitmix64(job_id) mod bucket_count")
    for table, entry in manifest["tables"].items():
        if not entry["files"]:
            continue
        pattern = f"{lake}/{table}/**/*.parquet"
        frame = pl.scan_parquet(pattern)
        schema = dict(frame.collect_schema())
        duck = f"read_parquet('{pattern}')"
        ask = lambda sql: duckdb.execute(sql).fetchall()
        columns = list(schema)
        time = columns[1]
        for name in columns:
            if schema[name] not in PLAIN:
                faults.append(f"{table}.{name} is {schema[name]}")
        rows = sum(part["rows"] for part in entry["parts"])
        same(f"rows of {table}", rows, frame.select(pl.len()).collect().item(),
             ask(f"select count(*) from {duck}")[0][0])
        for bound in ("min", "max"):
            times = [part[f"{bound}_time_us"] for part in entry["parts"]]
            recorded = getattr(__builtins__, bound)(t for t in times if t is not None)
            found = frame.filter(pl.col(time) < AFTER) if bound == "max" else frame
            where = f"where {time} < {AFTER}" if bound == "max" else ""
            same(f"{bound} time of {table}", recorded,
                 found.select(getattr(pl.col(time), bound)()).collect().item(),
                 ask(f"select {bound}({time}) from {duck} {where}")[0][0])
        for name in columns:
            quoted = f'"{name}"'
            nulls = frame.select(pl.col(name).null_count()).collect().item()
            same(f"nulls in {table}.{name}", nulls,
                 ask(f"select count(*) - count({quoted}) from {duck}")[0][0])
            if schema[name] in (pl.Int64, pl.Int32):
                by_polars = frame.select(pl.col(name).cast(pl.Int128).sum()).collect().item()
                same(f"sum of {table}.{name}", int(by_polars or 0),
                     int(ask(f"select coalesce(sum({quoted}), 0) from {duck}")[0][0]))
        same(f"row_id is unique in {table}", rows,
             ask(f"select count(distinct row_id) from {duck}")[0][0])
        for file in entry["files"]:
            path = lake / file["path"]
            same(f"size of {file['path']}", file["bytes"], path.stat().st_size)
            whole = path.read_bytes()
            same(f"checksum of {file['path']}", file["crc32"], zlib.crc32(whole))
            start, of_buckets, last = 4, [], {}
            # Each stretch is a complete Parquet file.
            for stretch in file["stretches"].split():
                bucket, count, length = map(int, stretch.split(":")[:3])
                piece = whole[start:start + length]
                start += length
                same(f"checksum of bucket {bucket} of {file['path']}",
                     int(stretch.split(":")[3], 16), zlib.crc32(piece))
                rows = pl.read_parquet(io.BytesIO(piece))
                same(f"rows of bucket {bucket} of {file['path']}", count, len(rows))
                keys = rows.select(time, "row_id").rows()
                same(f"order of bucket {bucket} of {file['path']}", keys, sorted(keys))
                same(f"order of the runs of bucket {bucket} of {file['path']}",
                     last.get(bucket, keys[0]) <= keys[0], True)
                last[bucket] = keys[-1]
                of_buckets.append(rows)
                if table in SPREAD:
                    same(f"bucket in {file['path']}", [bucket], rows["bucket"].unique().to_list())
                    for job in rows["job_id"].unique():
                        same(f"bucket of job {job} in {table}", bucket,
                             splitmix64(job) % manifest["bucket_count"])
            same(f"{file['path']} by itself and bucket by bucket", True,
                 pl.read_parquet(path).equals(pl.concat(of_buckets)))
    if faults:
        sys.exit("\n".join(faults[:20]))
    print(f"{len(manifest['tables'])} tables read alike")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
