#!/usr/bin/env python3
"""Adds up a Slurm log by account and calendar month from its text, without jobfate, and compares.

Usage: monthly_crosscheck.py JOBFATE LAKE LOG [ZONE [LATE_S]]

LOG is the output of `sacct -P` (times in UTC, one line per job): with a header, or the 26 fields of Open XDMoD. Jobs
are split at the ends of months in ZONE. Exit status 1 if `jobfate monthly` has other numbers.
"""

import gzip
import json
import math
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

XDMOD = (
    "JobID JobIDRaw Cluster Partition QOS Account Group GID User UID Submit Eligible Start End Elapsed ExitCode "
    "State NNodes NCPUS ReqCPUS ReqMem ReqTRES AllocTRES Timelimit NodeList JobName"
).split()
SIZES = [(1, "1"), (4, "2-4"), (16, "5-16"), (64, "17-64"), (256, "65-256"), (1024, "257-1024"), (math.inf, "1025+")]


def seconds(text):
    if not text or text in ("Unknown", "None"):
        return None
    return int(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp())


def span(text):
    if not text or not text[0].isdigit():
        return None
    days, _, clock = text.rpartition("-")
    hours, minutes, rest = clock.split(":")
    return int(days or 0) * 86400 + int(hours) * 3600 + int(minutes) * 60 + int(rest)


def jobs(path):
    opener = gzip.open if path.endswith(".gz") else open
    names = XDMOD
    with opener(path, "rt") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("|")
            if fields[0] == "JobID":
                names = fields
                continue
            row = dict(zip(names, fields))
            tres = dict(part.split("=") for part in row["AllocTRES"].split(",") if "=" in part)
            start = seconds(row["Start"])
            # `sacct` prints a start even for a job that ended before it got machines.
            if row["NodeList"] in ("", "None assigned") and span(row["Elapsed"]) == 0:
                start = None
            yield {
                "account": row["Account"] or row["Group"],
                "user": row["User"],
                "queue": row["Partition"],
                "state": row["State"].split(" ")[0],
                "submit": seconds(row["Submit"]),
                "start": start,
                "end": seconds(row["End"]),
                "cpus": int((row["NCPUS"] if start is not None else "0") or 0) or int(row["ReqCPUS"]),
                "gpus": int(tres.get("gres/gpu", 0)),
                "limit": span(row["Timelimit"]),
            }


def pieces(start, end, zone):
    """The months between two instants with the seconds in each."""
    while True:
        local = datetime.fromtimestamp(start, zone)
        year, month = (local.year + 1, 1) if local.month == 12 else (local.year, local.month + 1)
        border = int(datetime(year, month, 1, tzinfo=zone).timestamp())
        yield f"{local.year:04}-{local.month:02}", min(end, border) - start
        if end <= border:
            return
        start = border


def quantile(values, share):
    values = sorted(values)
    if not values:
        return None
    place = share * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


class Sums:
    def __init__(self):
        self.numbers = Counter()
        self.users = set()
        self.waits = []

    def row(self):
        hours = {name: self.numbers[name] / 3600 for name in ("cpu", "wasted_cpu", "late_cpu", "gpu", "wasted_gpu", "late_gpu")}
        return {
            "users": len(self.users),
            "jobs": self.numbers["jobs"],
            "not_finished_jobs": self.numbers["not_finished"],
            **{f"{name}_h": value for name, value in hours.items()},
            "wait_s_median": quantile(self.waits, 0.5),
            "wait_s_p95": quantile(self.waits, 0.95),
        }


def main(jobfate, lake, log, zone="UTC", late="3600"):
    rows = list(jobs(log))
    zone, name, late = ZoneInfo(zone), zone, int(late)
    last = max(time for row in rows for time in (row["submit"], row["start"], row["end"]) if time is not None)
    sums = defaultdict(Sums)
    ends, waits = defaultdict(Counter), defaultdict(list)
    limits = defaultdict(Counter)
    for row in rows:
        end = last if row["end"] is None else row["end"]
        heard = max(time for time in (row["submit"], row["start"], row["end"]) if time is not None)
        heard_month = next(pieces(heard, heard, zone))[0]
        keys = [("rows", heard_month, row["account"]), ("accounts", row["account"]), ("months", heard_month)]
        is_open = row["end"] is None
        for key in keys + [("users", row["user"])]:
            own = sums[key]
            own.numbers["jobs"] += 1
            own.numbers["not_finished"] += row["state"] != "COMPLETED"
            own.users.add(row["user"])
            if row["start"] is not None:
                own.waits.append(row["start"] - row["submit"])
        ends[row["state"]]["jobs"] += not is_open
        size = next(label for most, label in SIZES if row["cpus"] <= most)
        waits[row["queue"], size].append(None if row["start"] is None else row["start"] - row["submit"])
        if row["start"] is None:
            continue
        used = (end - row["start"]) * row["cpus"]
        ends[row["state"]]["cpu"] += 0 if is_open else used
        is_wasted = not is_open and row["state"] != "COMPLETED"
        ends[row["state"]]["wasted"] += used if is_wasted else 0
        ends[row["state"]]["wasted_attempts"] += bool(used and is_wasted)
        is_late = is_wasted and late <= end - row["start"]
        for month, length in pieces(row["start"], end, zone):
            for key in [("rows", month, row["account"]), ("accounts", row["account"]), ("months", month), ("users", row["user"])]:
                own = sums[key]
                own.users.add(row["user"])
                own.numbers["cpu"] += length * row["cpus"]
                own.numbers["gpu"] += length * row["gpus"]
                if is_wasted:
                    own.numbers["wasted_cpu"] += length * row["cpus"]
                    own.numbers["wasted_gpu"] += length * row["gpus"]
                if is_late:
                    own.numbers["late_cpu"] += length * row["cpus"]
                    own.numbers["late_gpu"] += length * row["gpus"]
        if row["limit"] and not is_open:
            own = limits[row["queue"]]
            own["attempts"] += 1
            own["asked_cpu_h"] += row["limit"] * row["cpus"]
            own["used_cpu_h"] += used
            if row["limit"] <= end - row["start"]:
                own["reached"] += 1
                own["reached_cpu_h"] += used
    command = [jobfate, "monthly", "--lake", lake, "--timezone", name, "--late", str(late), "--cpu", "requested"]
    said = subprocess.run(command + ["--users", "100000", "--format", "json"], check=True, capture_output=True, text=True)
    said = json.loads(said.stdout)
    wrong = []

    def compare(what, found, expected):
        if found is None or expected is None:
            same = found == expected
        else:
            same = math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)
        if not same:
            wrong.append(f"{what}: jobfate says {found}, the text {expected}")

    tables = {"rows": ["month", "account"], "accounts": ["account"], "months": ["month"], "users": ["user"]}
    for table, names in tables.items():
        found = {tuple(row[name] for name in names): row for row in said[table]}
        expected = {key[1:]: own.row() for key, own in sums.items() if key[0] == table}
        if set(found) != set(expected):
            wrong.append(f"{table}: {sorted(set(found) ^ set(expected))} are in one only")
        for key in set(found) & set(expected):
            for column, value in expected[key].items():
                # Columns of GPUs are left out if no job has GPUs.
                said_value = found[key].get(column, 0.0) if column.endswith("gpu_h") else found[key][column]
                compare(f"{table} {key} {column}", said_value, value)
    compare("total", said["total"], sum(own.numbers["cpu"] for key, own in sums.items() if key[0] == "accounts"))
    reasons = Counter()
    for row in said["ends"]:
        reasons[row["end_reason"]] += row["jobs"]
        if row["end_reason"]:
            compare(f"ends {row['end_reason']}", row["cpu_h"], ends[row["end_reason"]]["cpu"] / 3600)
            compare(f"waste {row['end_reason']}", row["wasted_cpu_h"], ends[row["end_reason"]]["wasted"] / 3600)
            compare(f"wasted attempts {row['end_reason']}", row["wasted_attempts"], ends[row["end_reason"]]["wasted_attempts"])
    for state, own in ends.items():
        if own["jobs"]:
            compare(f"ends {state} jobs", reasons[state], own["jobs"])
    found = {(row["queue"], row["size"]): row for row in said["waits"]}
    for key, own in waits.items():
        known = [wait for wait in own if wait is not None]
        compare(f"waits {key} jobs", found[key]["jobs"], len(own))
        compare(f"waits {key} median", found[key]["wait_s_median"], statistics.median(known) if known else None)
        compare(f"waits {key} p95", found[key]["wait_s_p95"], quantile(known, 0.95))
    found = {row["queue"]: row for row in said["limits"]}
    for queue, own in limits.items():
        for column in ("attempts", "reached", "asked_cpu_h", "used_cpu_h", "reached_cpu_h"):
            compare(f"limits {queue} {column}", found[queue][column], own[column] / (3600 if column.endswith("_h") else 1))
    for line in wrong[:20]:
        print(line)
    print(f"{len(rows)} jobs, {len(said['rows'])} rows, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
