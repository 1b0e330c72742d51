#!/usr/bin/env python3
"""Counts allocation and running tasks from the raw files, without jobfate, and compares.

Usage: load_crosscheck.py JOBFATE LAKE RAW [SEED]

RAW is the folder of the Google trace of 2011 whose tables are in the lake, or a log (*.swf.gz). Finds the attempts in
the raw rows and draws ten instants around which no attempt starts or ends for a second (longer in a long trace). It
counts the attempts that run then and adds up their requests; `jobfate load` with intervals of that length must give
the same numbers. If the trace has no quiet second, the requests are integrated over a random second. For the sample
of single machines in a Google trace, ten random rows are integrated too, and compared with `load-by-machine.csv`.
Exit status 1 if they differ.
"""

import csv
import glob
import gzip
import io
import random
import pathlib
import subprocess
import sys
import tempfile

TERMINAL = {2, 3, 4, 5, 6}


def rows(folder):
    for path in sorted(glob.glob(f"{folder}/part-*.csv.gz")):
        with gzip.open(path, "rt") as lines:
            yield from csv.reader(lines)


def google(folder):
    """Attempts as (start, end, request, machine), µs."""
    ends = {}
    for row in rows(f"{folder}/job_events"):
        kind = int(row[3])
        if kind < 2 or kind in TERMINAL:
            ends[row[2]] = int(row[0]) if kind in TERMINAL else None
    events, last = {}, 0
    for row in rows(f"{folder}/task_events"):
        time, kind = int(row[0]), int(row[5])
        last = max(last, time)
        if kind == 1 or kind in TERMINAL:
            events.setdefault((row[2], row[3]), []).append((time, kind, float(row[9] or 0.0), row[4]))
    found = []
    for (job, _), history in events.items():
        history.sort(key=lambda event: event[0])
        for place, (time, kind, request, machine) in enumerate(history):
            if kind != 1:
                continue
            if place + 1 < len(history):
                end = history[place + 1][0]
            else:
                end = ends.get(job)
                end = max(end, time) if end is not None and end < last else last
            found.append((time, end, request, machine))
    return found, last


def within(attempt, start, end):
    return max(0, min(attempt[1], end) - max(attempt[0], start))


def machines(jobfate, lake, attempts, draw):
    """Compares ten random rows of single machines; returns how many differ."""
    with tempfile.TemporaryDirectory() as out:
        command = [jobfate, "load", "--lake", lake, "--interval", "1h", "--out", out, "--quiet"]
        subprocess.run(command, check=True, capture_output=True)
        path = pathlib.Path(out) / "load-by-machine.csv"
        found = list(csv.DictReader(path.open(newline="")))
    wrong = 0
    for row in draw.sample(found, 10):
        start, end = (round(float(row[name]) * 1e6) for name in ("start_s", "end_s"))
        here = [attempt for attempt in attempts if attempt[3] == row["machine_id"]]
        cpu = sum(attempt[2] * within(attempt, start, end) for attempt in here) / (end - start)
        tasks = sum(within(attempt, start, end) for attempt in here) / (end - start)
        own_cpu, own_tasks = float(row["cpu_allocated"]), float(row["running_tasks"])
        is_same = abs(own_cpu - cpu) <= 2**-24 * cpu + 1e-9 and abs(own_tasks - tasks) <= 1e-9 * tasks + 1e-9
        wrong += not is_same
        print(f"machine {row['machine_id']} {start / 1e6:.0f} s: {tasks:.3f} tasks, {cpu:.6f} CPU; "
              f"load: {own_tasks:.3f}, {own_cpu:.6f}")
    print(f"{10 - wrong} of 10 drawn pieces of machines equal")
    return wrong


def log(path):
    found = []
    with gzip.open(path, "rt", errors="replace") as lines:
        for line in lines:
            fields = line.split()
            if not fields or line.startswith(";"):
                continue
            submit, wait, run = (float(field) for field in fields[1:4])
            cpus = float(fields[4]) if float(fields[4]) >= 0 else float(fields[7])
            start = int((submit + max(wait, 0.0)) * 1e6)
            if run >= 0:
                found.append((start, start + int(run * 1e6), max(cpus, 0.0), None))
    return found, max(attempt[1] for attempt in found)


def main(jobfate, lake, raw, seed="1"):
    attempts, last = log(raw) if raw.endswith(".gz") else google(raw)
    draw = random.Random(int(seed))
    first = min(attempt[0] for attempt in attempts)
    length = max(1, -(-(last - first) // 60_000_000_000))
    command = [jobfate, "load", "--lake", lake, "--interval", f"{length}s", "--format", "csv"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = list(csv.DictReader(io.StringIO(text)))
    first, step = int(float(found[0]["start_s"]) * 1e6), length * 1_000_000
    busy = {(at - first) // step for attempt in attempts for at in attempt[:2]}
    quiet = [idx for idx in range(len(found) - 1) if idx not in busy]
    drawn = draw.sample(quiet, min(10, len(quiet)))
    drawn += [draw.randrange(len(found) - 1) for _ in range(10 - len(drawn))]
    wrong = 0
    for idx in drawn:
        start, end = first + idx * step, first + (idx + 1) * step
        cpu = tasks = 0.0
        for attempt in attempts:
            share = within(attempt, start, end) / step
            cpu, tasks = cpu + attempt[2] * share, tasks + share
        own_cpu, own_tasks = (float(found[idx][name]) for name in ("cpu_allocated", "running_tasks"))
        # Requests are stored in 32 bits: at most 2^-24 of each is lost.
        is_same = abs(own_cpu - cpu) <= 2**-24 * cpu + 1e-9 and abs(own_tasks - tasks) <= 1e-9 * tasks + 1e-9
        wrong += not is_same
        kind = "quiet" if idx in set(quiet) else "mean of"
        print(f"{kind} {start / 1e6:.0f} s: {tasks:.3f} tasks, {cpu:.6f} CPU; "
              f"load: {own_tasks:.3f}, {own_cpu:.6f}")
    print(f"{10 - wrong} of 10 drawn intervals equal")
    if not raw.endswith(".gz"):
        wrong += machines(jobfate, lake, attempts, draw)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
