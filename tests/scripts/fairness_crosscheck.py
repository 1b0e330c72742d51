#!/usr/bin/env python3
"""Computes metered and condor from a raw SWF log, without jobfate, and compares every value.

Usage: fairness_crosscheck.py JOBFATE LAKE LOG.swf.gz [end|running]

Reads the log with numpy, and charges processors x run time per hour of the log's clock, when a job ends or as it runs.
It iterates RV and RUP = b * RUP + (1 - b) * usage with b = 0.5 ** (3600 / 86400); RUP starts at 0.5 in the hour of the
user's first submission. Then it compares with `jobfate fairness --show series --format csv` on the lake of the same
log, to 1e-9 of the larger value. Exit status 1 if they differ.
"""

import csv
import gzip
import io
import subprocess
import sys

import numpy as np

HOUR = 3600.0


def usage(log, accrual):
    """Returns CPU-seconds by user and hour, and the hour of each user's first submission."""
    jobs, come = [], {}
    with gzip.open(log, "rt", errors="replace") as lines:
        for line in lines:
            if line.strip() and not line.startswith(";"):
                fields = line.split()
                submit, wait, run = (float(field) for field in fields[1:4])
                cpus = float(fields[4]) if float(fields[4]) >= 0 else float(fields[7])
                start = submit + max(wait, 0.0)
                come[fields[11]] = min(submit, come.get(fields[11], submit))
                if run >= 0:
                    jobs.append((fields[11], start, start + run, max(cpus, 0.0)))
    first = min(float(job[1]) for job in jobs)
    last = max(job[2] for job in jobs)
    origin = np.floor(first / HOUR) * HOUR
    hours = int(np.floor((last - origin) / HOUR)) + 1
    table = {}
    for user, start, end, cpus in jobs:
        row = table.setdefault(user, np.zeros(hours))
        if accrual == "end":
            row[int((end - origin) // HOUR)] += cpus * (end - start)
            continue
        at = start
        while at < end:
            hour = int((at - origin) // HOUR)
            until = min(origin + (hour + 1) * HOUR, end)
            row[hour] += cpus * (until - at)
            at = until
    return table, hours, {user: int((at - origin) // HOUR) for user, at in come.items()}


def main(jobfate, lake, log, accrual="end"):
    table, hours, come = usage(log, accrual)
    beta = 0.5 ** (HOUR / 86400.0)
    expected = {}
    for user, row in table.items():
        rup, rups = 0.5, np.full(hours, np.nan)
        for hour in range(come[user], hours):
            rup = beta * rup + (1.0 - beta) * row[hour]
            rups[hour] = rup
        expected["metered", user, "rv"] = np.cumsum(row)
        expected["condor", user, "rup"] = rups
    command = [jobfate, "fairness", "--lake", lake, "--cpu", "requested", "--accrual", accrual, "--index", "metered",
               "--index", "condor", "--show", "series", "--format", "csv"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    compared, worst = 0, 0.0
    for row in csv.DictReader(io.StringIO(text)):
        key = row["index"], row["user"], row["column"]
        if key in expected:
            ours, theirs = float(row["value"]), expected[key][round(float(row["end_s"]) / HOUR) - 1]
            worst = max(worst, abs(ours - theirs) / max(abs(ours), abs(theirs), 1e-300))
            compared += 1
    wanted = sum(hours - come[user] for _, user, _ in expected)
    print(f"{compared} of {wanted} values compared, largest difference {worst:.1e} of the value")
    return 0 if compared == wanted and worst <= 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
