#!/usr/bin/env python3
# /// script
# dependencies = ["numpy"]
# ///
"""Computes from the raw files the free capacity that no waiting task fits, without jobfate, and compares.

Usage: fragmentation_crosscheck.py JOBFATE LAKE RAW [INTERVAL_S] [COUNT] [SEED]

RAW is the folder of a trace in the format of Google's of 2011 whose job_events, task_events and machine_events are in
the lake. Draws COUNT random intervals. At every change within them, all machines are compared with all waiting
requests. `jobfate load --fragmentation` must give the same numbers. Exit status 1 if they differ.
"""

import csv
import glob
import gzip
import io
import random
import subprocess
import sys

import numpy as np

NEVER = 2**62
TERMINAL = {2, 3, 4, 5, 6}


def rows(folder):
    for path in sorted(glob.glob(f"{folder}/part-*.csv*")):
        with (gzip.open if path.endswith("gz") else open)(path, "rt") as lines:
            for row in csv.reader(lines):
                yield [min(int(row[0]), NEVER), *row[1:]]


def number(text):
    """Rounds a cell to the stored 32 bits."""
    return float(np.float32(text)) if text else None


def capacities(raw, end):
    found, state = [], {}
    for row in sorted(rows(f"{raw}/machine_events"), key=lambda row: row[0]):
        since, cpu, memory, is_up = state.get(row[1], (None, None, None, None))
        if is_up and cpu is not None:
            found.append((since, row[0], row[1], cpu, memory or 0.0))
        kind = int(row[2])
        is_up = kind == 0 or kind == 2 and is_up in (True, None)
        own = [number(cell) for cell in row[4:6]]
        state[row[1]] = (row[0], own[0] if own[0] is not None else cpu, own[1] if own[1] is not None else memory, is_up)
    found += [(since, end, machine, cpu, memory or 0.0)
              for machine, (since, cpu, memory, is_up) in state.items() if is_up and cpu is not None]
    return found


def tasks(raw, end):
    """Returns attempts as (from, to, machine, CPU, memory), and waits as (from, to, CPU, memory)."""
    ends, events = {}, {}
    for row in rows(f"{raw}/job_events"):
        kind = int(row[3])
        if (kind < 2 or kind in TERMINAL) and row[0] < NEVER:
            ends[row[2]] = row[0] if kind in TERMINAL else None
    for row in rows(f"{raw}/task_events"):
        asks = (number(row[9]), number(row[10]))
        events.setdefault((row[2], row[3]), []).append((row[0], int(row[5]), row[4], asks))
    attempts, waits = [], []
    for (job, _), history in events.items():
        history.sort(key=lambda event: event[0])
        last = ends.get(job)
        last = last if last is not None and last < end else end
        run = wait = None
        for time, kind, machine, asks in history:
            decides = kind < 2 or kind in TERMINAL
            if run and decides and kind != 0 and time < NEVER:
                attempts.append((run[0], time, *run[1:]))
                run = None
            if wait and (decides or kind == 7):
                waits.append((wait[0], time, *wait[1:]))
            if kind == 0 or kind == 7 and wait:
                before = wait[1:] if wait else (None, None)
                wait = (time, *(now if now is not None else old for now, old in zip(asks, before)))
            elif decides:
                wait = None
            if kind == 1:
                run = (time, machine, asks[0] or 0.0, asks[1] or 0.0)
        if run:
            attempts.append((run[0], max(last, run[0]), *run[1:]))
        if wait:
            waits.append((wait[0], max(last, wait[0]), *wait[1:]))
    return attempts, waits


def integrate(pieces, places, start, end):
    """Returns free and fragmented CPU and memory over an interval, by the definition at each instant."""
    capacity, attempts, waits = (
        [piece for piece in all if piece[0] < end and start < piece[1]] for all in pieces)
    waits = [wait for wait in waits if None not in wait[2:4]]
    edges = {start, end} | {at for all in (capacity, attempts, waits) for piece in all for at in piece[:2]}
    edges = sorted(at for at in edges if start <= at <= end)
    sums = np.zeros(4)
    for now, later in zip(edges, edges[1:]):
        free = np.zeros((len(places), 2))
        for sign, all in ((1, capacity), (-1, attempts)):
            for own in all:
                if own[0] <= now < own[1] and own[2] in places:
                    free[places[own[2]]] += sign * np.array(own[3:5])
        free = np.maximum(free, 0)
        waiting = {own[2:4] for own in waits if own[0] <= now < own[1]}
        fits = np.zeros(len(places), dtype=bool)
        for cpu, memory in waiting:
            fits |= (cpu <= free[:, 0]) & (memory <= free[:, 1])
        lost = free[~fits].sum(axis=0) if waiting else np.zeros(2)
        sums += np.concatenate([free.sum(axis=0), lost]) * (later - now)
    return sums / (end - start)


def main(jobfate, lake, raw, interval="1", count="6", seed="1"):
    command = [jobfate, "load", "--lake", lake, "--interval", f"{interval}s", "--fragmentation", "--format", "csv"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = list(csv.DictReader(io.StringIO(text)))
    end = round(float(found[-1]["end_s"]) * 1e6)
    pieces = (capacities(raw, end), *tasks(raw, end))
    places = {machine: place for place, machine in enumerate(dict.fromkeys(piece[2] for piece in pieces[0]))}
    names = ("cpu_free_on_machines", "memory_free_on_machines", "cpu_fragmented", "memory_fragmented")
    drawn = random.Random(int(seed)).sample(range(len(found)), min(int(count), len(found)))
    wrong = 0
    for row in (found[idx] for idx in drawn):
        edges = [round(float(row[name]) * 1e6) for name in ("start_s", "end_s")]
        expected = integrate(pieces, places, *edges)
        own = np.array([float(row[name]) for name in names])
        is_same = np.allclose(own, expected, rtol=1e-9, atol=1e-9)
        wrong += not is_same
        print(f"{edges[0] / 1e6:.0f} s:", *(f"{name} {one:.6f} ({other:.6f})" for name, one, other in zip(names, expected, own)))
    print(f"{len(drawn) - wrong} of {len(drawn)} drawn intervals equal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
