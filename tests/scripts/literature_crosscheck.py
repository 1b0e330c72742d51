#!/usr/bin/env python3
"""Recounts the numbers of `jobfate reproduce literature` from the raw tables, and compares.

Usage: literature_crosscheck.py JOBFATE LAKE RAW

RAW is the folder of the Google trace of 2011 whose `job_events` and `machine_events` are in the lake. Exit status 1
if `jobfate` has other numbers.
"""

import csv
import glob
import gzip
import json
import subprocess
import sys
from collections import Counter

ENDS = {"2", "3", "4", "5", "6"}


def rows(raw, table):
    for path in sorted(glob.glob(f"{raw}/{table}/part-*.csv.gz")):
        with gzip.open(path, "rt") as lines:
            yield from csv.reader(lines)


def of_jobs(raw):
    """Shares of jobs by how long they lasted, and users; a row with 2^63-1 is after the trace."""
    first, scheduled, last, users = {}, {}, {}, set()
    for time, _, job, kind, user, *_ in rows(raw, "job_events"):
        first.setdefault(job, int(time))
        if kind == "1":
            scheduled.setdefault(job, int(time))
        last[job] = (int(time), kind)
        users.add(user)
    shares = {}
    for name, begins, seconds in [
        ("jobs that ran less than 3 min, from SCHEDULE, %", scheduled, 180),
        ("jobs that lasted less than 3 min, from SUBMIT, %", first, 180),
        ("jobs that ran less than 2 h, % (over 95)", scheduled, 7200),
    ]:
        short = sum(
            kind in ENDS and job in begins and time - begins[job] < seconds * 1_000_000
            for job, (time, kind) in last.items()
        )
        shares[name] = 100 * short / len(first)
    return {**shares, "users": len(users - {""})}


def of_machines(raw):
    """Machines by configuration: those of time 0, and the last of each."""
    at_start, last, away = {}, {}, set()
    for time, machine, kind, _, cpu, memory in rows(raw, "machine_events"):
        if kind == "1":
            away.add(machine)
        if cpu and memory:
            if time == "0" and kind == "0":
                at_start.setdefault(machine, (cpu, memory))
            last[machine] = (cpu, memory)
    said = {"machines that are away at least once, %": 100 * len(away) / len(last)}
    for rank, (_, count) in enumerate(Counter(at_start.values()).most_common(6), 1):
        said[f"machines of configuration {rank}, at time 0, %"] = 100 * count / len(at_start)
    for rank, (_, count) in enumerate(Counter(last.values()).most_common(10), 1):
        said[f"machines of configuration {rank}, the last of each"] = count
    return said


def main(jobfate, lake, raw):
    command = [jobfate, "reproduce", "literature", "--lake", lake, "--format", "json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    ours = {claim["claim"]: claim["ours"] for claim in answer["claims"]}
    expected = {**of_jobs(raw), **of_machines(raw)}
    wrong = [
        f"{claim}: {value} here, {ours.get(claim)} there"
        for claim, value in expected.items()
        if ours.get(claim) is None or abs(ours[claim] - value) > 1e-9 * abs(value)
    ]
    print("\n".join(wrong) or f"all equal: {len(expected)} values")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
