#!/usr/bin/env python3
"""Schedules a random log by the policies that papers compare, without jobfate, and compares all starts.

Usage: policies_crosscheck.py JOBFATE [SEED] [JOBS]

Draws a log of JOBS jobs on one machine with many processors. Requested times are at least the run times. Writes the log
as SWF into a temporary folder. Starts are computed from the definitions: at each instant the whole queue is checked
again. Exit status 1 if a job starts at another second in a replay of jobfate.
"""

import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

PROCESSORS = 32

# The order of waiting jobs at an instant: the least score first, then the one submitted first.
SCORES = {
    "fifo": lambda job, now: 0.0,
    "sjf": lambda job, now: job.asks,
    "ljf": lambda job, now: -job.asks,
    "smallest": lambda job, now: job.size,
    "largest": lambda job, now: -job.size,
    "wfp3": lambda job, now: -(((now - job.at) / job.asks) ** 3) * job.size,
    "unicep": lambda job, now: -math.inf if job.size == 1 else -(now - job.at) / (math.log2(job.size) * job.asks),
    "f1": lambda job, now: math.log10(job.asks) * job.size + 870 * math.log10(max(job.at, 1)),
    "f2": lambda job, now: math.sqrt(job.asks) * job.size + 25600 * math.log10(max(job.at, 1)),
    "f3": lambda job, now: job.asks * job.size + 6860000 * math.log10(max(job.at, 1)),
    "f4": lambda job, now: job.asks * math.sqrt(job.size) + 530000 * math.log10(max(job.at, 1)),
}


class Job:
    def __init__(self, number, at, runs, size, asks):
        self.number, self.at, self.runs, self.size, self.asks = number, at, runs, size, asks
        self.start = self.booked = None

    def planned(self):
        return self.start + self.asks


def draw(seed, count):
    random.seed(seed)
    jobs, at = [], 1
    for number in range(1, count + 1):
        at += random.choice([1, 1, 2, 5, 20, 60])
        runs = random.choice([random.randint(1, 30), random.randint(30, 400)])
        asks = runs * random.choice([1, 1, 2, 5]) + random.choice([0, 0, 7])
        jobs.append(Job(number, at, runs, random.choice([1, 2, 3, 4, 8, 11, 16, 32]), asks))
    return jobs


def free_at(running, now):
    """Returns the free processors from now on if all jobs end as planned, as (time, processors), ascending."""
    free = PROCESSORS - sum(job.size for job in running)
    steps = [(now, free)]
    for end in sorted({job.planned() for job in running}):
        steps.append((end, PROCESSORS - sum(job.size for job in running if job.planned() > end)))
    return steps


def easy(queue, running, now):
    """Returns the jobs to start now: the first ones that fit, then those that do not delay the first job that does not
    fit."""
    starts, free, head = [], PROCESSORS - sum(job.size for job in running), None
    for job in queue:
        if head is None:
            if job.size <= free:
                job.start = now
                starts.append(job)
                free -= job.size
                continue
            head = job
            shadow, spare = next((at, room - job.size) for at, room in free_at(running + starts, now) if job.size <= room)
            continue
        if job.size <= free and (now + job.asks <= shadow or job.size <= spare):
            job.start = now
            starts.append(job)
            free -= job.size
            if now + job.asks > shadow:
                spare -= job.size
    return starts


def earliest(job, others, running, now):
    """Returns the first instant at which the job fits for its requested time, next to all bookings."""
    taken = [(now, other.planned(), other.size) for other in running]
    taken += [(other.booked, other.booked + other.asks, other.size) for other in others]
    for at in sorted({now} | {end for _, end, _ in taken}):
        if at < now:
            continue
        edges = [at] + [start for start, _, _ in taken if at < start < at + job.asks]
        used = lambda time: sum(size for start, end, size in taken if start <= time < end)
        if all(used(time) + job.size <= PROCESSORS for time in edges):
            return at
    raise AssertionError("no room at all")


def conservative(queue, running, now):
    """Moves bookings to earlier times, in order, until no booking moves; books new jobs; starts jobs that are due."""
    booked = [job for job in queue if job.booked is not None]
    moves = True
    while moves:
        moves = False
        for job in booked:
            at = earliest(job, [other for other in booked if other is not job], running, now)
            if at < job.booked:
                job.booked, moves = at, True
    for job in queue:
        if job.booked is None:
            job.booked = earliest(job, booked, running, now)
            booked.append(job)
    starts = [job for job in queue if job.booked <= now]
    for job in starts:
        job.start = now
    return starts


def none(queue, running, now):
    starts, free = [], PROCESSORS - sum(job.size for job in running)
    for job in queue:
        if job.size > free:
            break
        job.start = now
        starts.append(job)
        free -= job.size
    return starts


def schedule(jobs, score, backfill):
    for job in jobs:
        job.start = job.booked = None
    waiting, running, coming = [], [], list(jobs)
    while coming or waiting or running:
        now = min([job.at for job in coming[:1]] + [job.start + job.runs for job in running])
        running = [job for job in running if job.start + job.runs > now]
        while coming and coming[0].at <= now:
            waiting.append(coming.pop(0))
        queue = sorted(waiting, key=lambda job: (score(job, now), job.at, job.number))
        running += backfill(queue, running, now)
        waiting = [job for job in waiting if job.start is None]
    return {job.number: job.start for job in jobs}


def policies():
    for name, score in SCORES.items():
        yield name, score, none
        yield "easy" if name == "fifo" else f"{name}:backfill=easy", score, easy
        yield "conservative" if name == "fifo" else f"{name}:backfill=conservative", score, conservative


def main(jobfate, seed="1", count="200"):
    jobs = draw(int(seed), int(count))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        lines = [f"; MaxProcs: {PROCESSORS}"]
        lines += [f"{job.number} {job.at} 0 {job.runs} {job.size} -1 -1 {job.size} {job.asks} -1 1 1 1 -1 -1 -1 -1 -1" for job in jobs]
        (place / "drawn.swf").write_text("\n".join(lines) + "\n")
        run = lambda *args: subprocess.run([jobfate, *args], cwd=place, check=True, capture_output=True, text=True)
        run("ingest", "drawn.swf", "--lake", "lake", "--quiet")
        names = [name for name, _, _ in policies()]
        run("replay", "--lake", "lake", "--policies", *names, "--out", "out", "--journal")
        schedules = set()
        for number, (name, score, backfill) in enumerate(policies(), start=1):
            expected, found = schedule(jobs, score, backfill), {}
            text = (place / f"out/journal-{number}.txt").read_text()
            for line in text.splitlines():
                fields = line.split()
                if fields[1] == "start":
                    found[int(fields[2].split("/")[0])] = float(fields[0])
            other = [job for job in expected if found.get(job) != expected[job]]
            schedules.add(tuple(expected.values()))
            wrong += bool(other)
            said = f"{len(other)} starts differ, first of job {other[0]}: {expected[other[0]]} here, {found.get(other[0])}" if other else "equal"
            print(f"{name}: {said}")
    print(f"{len(names) - wrong} of {len(names)} policies equal, {len(schedules)} different schedules")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
