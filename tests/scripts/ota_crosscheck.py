#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy"]
# ///
"""Computes figures 3 and 4 of Ota and Aida (2009) from a raw log in the standard workload format, and compares the
patterns in them with `jobfate reproduce ota`. Shares no code with it.

Usage: ota_crosscheck.py JOBFATE LAKE LOG.swf.gz CAPACITY FROM_DAY DAYS COUNT|NAME,...

CAPACITY is the number of processors in the header of the log, or `busiest`: then the busiest interval counts as full.
Exits with 1 and prints both sides if they differ.
"""

import csv
import gzip
import io
import json
import subprocess
import sys
from collections import defaultdict

import numpy as np

HOUR = 3600


def jobs_of(log):
    """User, start, end, processors of every job that ran, in seconds of the log."""
    with gzip.open(log, "rt", errors="replace") as lines:
        for line in lines:
            if line.startswith(";") or not line.split():
                continue
            field = line.split()
            submit, wait, run = int(field[1]), int(field[2]), int(field[3])
            processors = int(field[4]) if int(field[4]) > 0 else int(field[7])
            if run >= 0:
                start = submit + max(wait, 0)
                yield field[11], submit, start, start + run, max(processors, 1)


def read(log, capacity, from_day, days, chosen):
    jobs = list(jobs_of(log))
    origin = from_day * 24
    last = max(end for *_, end, _ in jobs)
    count = min(days * 24, last // HOUR + 1 - origin)
    charged, ran = defaultdict(lambda: np.zeros(count)), defaultdict(lambda: np.zeros(count))
    ends, since = defaultdict(list), {}
    for user, submit, start, end, processors in jobs:
        since[user] = min(since.get(user, submit), submit)
        hour = end // HOUR - origin
        if 0 <= hour < count:
            charged[user][hour] += (end - start) * processors
            ends[user].append((hour, end - start))
        for hour in range(max(start // HOUR - origin, 0), min(end // HOUR - origin, count - 1) + 1):
            low, high = (hour + origin) * HOUR, (hour + origin + 1) * HOUR
            ran[user][hour] += max(min(end, high) - max(start, low), 0) * processors
    total = {user: row.sum() for user, row in charged.items() if row.sum() > 0}
    ranking = sorted(total, key=lambda user: (-total[user], user))
    drawn = ranking[:int(chosen)] if chosen.isdigit() else [name for name in chosen.split(",") if name]
    half, used = count // 2, sum(ran.values())
    full = np.full(count, used.max() if capacity == "busiest" else float(capacity) * HOUR)
    seen = []

    # Equation 3 with RUP = 0.5 at the first submission; no value before it.
    priority, beta = {}, 0.5 ** (HOUR / 86400)
    for user in drawn:
        value = 0.5
        for hour in range(max(since[user] // HOUR - origin, 0), half):
            value = beta * value + (1 - beta) * charged[user][hour]
        if since[user] // HOUR - origin < half:
            priority[user] = value
    mean = sum(priority.values()) / len(priority) if priority else 0
    early = [user for user in drawn
             if charged[user][:half].sum() * 2 > total[user] and priority.get(user, -1) > mean]
    seen.append(("used_much_early", "", bool(early)))
    seen += [("used_much_early", user, True) for user in early]
    late, free = [], 0
    for user in drawn:
        own, others = ran[user], (used - ran[user]) / full
        if own[half:].sum() > own[:half].sum():
            is_free = (own[half:] * others[half:]).sum() / own[half:].sum() < others[:half].mean()
            late.append(("came_when_free", user, bool(is_free)))
            free += bool(is_free)
    seen += [("came_late", "", bool(late)), *late]

    among = ranking if chosen.isdigit() else [user for user in ranking if user in drawn]
    largest = {user: charged[user].max() / total[user] for user in among}
    pair = None
    for step in (user for user in among if largest[user] > 0.5):
        like = [user for user in among
                if largest[user] <= 0.1 and abs(total[user] - total[step]) <= 0.1 * total[step]]
        if like:
            pair = min(like, key=lambda user: largest[user]), step
            break
    seen.append(("staircase_and_step", "", pair is not None))
    claims = [len(early), free, None, None, None]
    if pair:
        stairs, step = pair
        hour = int(charged[step].argmax())
        behind = [run for at, run in ends[step] if at == hour]
        longer = np.median(behind) / np.median([run for _, run in ends[stairs]])
        claims[2:] = [total[step] / total[stairs], len(behind), longer]
        seen += [("same_usage", "", True), ("short_jobs", stairs, bool(longer > 1)),
                 ("one_long_job", step, len(behind) == 1)]
    return seen, claims


def main():
    jobfate, lake, log, capacity, from_day, days, chosen = sys.argv[1:]
    seen, claims = read(log, capacity, int(from_day), int(days), chosen)
    command = [jobfate, "reproduce", "ota", "--lake", lake, "--from", from_day, "--days", days, "--users", chosen]
    run = subprocess.run([*command, "--out", f"{lake}-ota", "--format", "json"], check=True, capture_output=True, text=True)
    ours = [row["ours"] for row in json.loads(run.stdout)["claims"]][4:]
    with open(f"{lake}-ota/ota-seen.csv") as file:
        text = io.StringIO(file.read())
    told = [(row["sees"], row["user"], row["holds"] == "true") for row in csv.DictReader(text)]
    alike = len(ours) == len(claims) and all(
        (one is None) == (other is None) and (one is None or abs(one - other) <= 1e-9 * max(abs(other), 1))
        for one, other in zip(ours, claims))
    # Users with the same value are ordered by their usage, in both programs.
    if sorted(told) != sorted(seen) or not alike:
        print(f"jobfate: {told} {ours}\nscript:  {seen} {claims}")
        sys.exit(1)
    print(f"{len(seen)} sentences and {len(claims)} numbers alike")


if __name__ == "__main__":
    main()
