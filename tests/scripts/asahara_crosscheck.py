#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy"]
# ///
"""Simulates experiment 5.2 of Asahara and others (2013) in steps of half a second, without code of jobfate.

Usage: asahara_crosscheck.py JOBFATE [RUNS]   compares with `reproduce asahara`
       asahara_crosscheck.py --readings       shows the effect of other readings of the paper

30 slaves run 1,632 maps and then 370 reduces; at 90 s every slave loses three of its four cores. The detector (window
W) restarts the tasks that it finds slow; Hadoop's copies are left out. The script compares the job's time and the
number of restarted maps. The ranges of the runs of both programs must overlap. The default values are those of
`jobfate reproduce asahara`; a reading changes one of them.
"""

import csv
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SLAVES, MAPS, REDUCES = 30, 1632, 370
STEP_S, BIN_S, ABNORMAL_BINS, STALL_S, CHANGE_S, LONGEST_S = 0.5, 15.0, 4, 60.0, 90.0, 40_000.0
DEFAULT = {"streak": 12, "report_s": 3.0, "job_s": 395.0, "map_share": 0.8, "startup_s": 8.0, "noise": 0.2,
           "map_weight": 0.667, "core_share": 0.685, "container_gb": 8, "ties": "high", "noise_is_of": "attempt",
           "startup_counts": True, "needs_cores": True, "estimates": 5, "law": "normal", "counts_running": True}
# Assumptions that the paper leaves open, changed one at a time.
READINGS = [
    {}, {"map_share": 0.7}, {"map_share": 0.85}, {"map_share": 0.9}, {"core_share": 0.65}, {"core_share": 0.72},
    {"core_share": 0.75}, {"core_share": 0.8}, {"startup_s": 3.0}, {"startup_s": 12.0}, {"noise": 0.1}, {"noise": 0.3},
    {"law": "lognormal"}, {"noise_is_of": "task"}, {"map_weight": 1.0}, {"container_gb": 12}, {"ties": "low"},
    {"startup_counts": False}, {"needs_cores": False}, {"estimates": 1}, {"counts_running": False},
    {"report_s": 1.0, "streak": 36}, {"streak": 10},
]


class Phase:
    """The maps or the reduces on their slots."""

    def __init__(self, a, rng, count, slots, length_s, weight):
        self.a, self.rng, self.slots, self.weight = a, rng, slots, weight
        self.length_s, self.startup_s = length_s, min(a["startup_s"], 0.9 * length_s)
        self.waiting = list(range(count))[::-1]
        self.left = count
        self.own_factor = self.factors(count)
        size = SLAVES * slots
        self.task = np.full(size, -1)
        self.start, self.work, self.done = np.zeros(size), np.ones(size), np.zeros(size)
        self.ring, self.reports = np.full((size, a["estimates"]), np.inf), np.zeros(size, int)
        self.streak = np.zeros(size, int)
        self.ended = []  # (when, length)

    def factors(self, count):
        normal, spread = self.rng.standard_normal(count), self.a["noise"]
        if self.a["law"] == "lognormal":
            return np.exp(spread * normal - spread**2 / 2)
        return 1 + spread * normal

    def fill(self, slot, now):
        """The next waiting task on a free slot."""
        if not self.waiting:
            self.task[slot] = -1
            return
        task = self.waiting.pop()
        factor = self.own_factor[task] if self.a["noise_is_of"] == "task" else self.factors(1)[0]
        self.task[slot], self.start[slot], self.done[slot] = task, now, 0.0
        self.work[slot] = self.length_s * max(factor, 0.1)
        self.ring[slot], self.reports[slot], self.streak[slot] = np.inf, 0, 0

    def advance(self, now):
        """Half a second of work; returns the time after it."""
        cores = 4.0 if now < CHANGE_S else 1.0
        runs = self.task >= 0
        running = np.maximum(1, runs.reshape(SLAVES, self.slots).sum(1))
        rate = np.repeat(np.minimum(1.0, cores / running / self.a["core_share"]), self.slots)
        if not self.a["needs_cores"]:
            rate = np.where(self.done < self.startup_s, 1.0, rate)
        self.done = np.where(runs, self.done + rate * STEP_S, 0.0)
        now += STEP_S
        for slot in np.nonzero(runs & (self.done >= self.work))[0]:
            end = now - (self.done[slot] - self.work[slot]) / rate[slot]
            begun = self.start[slot] + (0 if self.a["startup_counts"] else self.startup_s)
            self.ended.append((end, end - begun))
            self.left -= 1
            self.fill(slot, now)
        return now

    def judge(self, now, window_s):
        """Handles one report of all tasks: restarts those that were abnormal often enough; returns their number."""
        act = np.nonzero(self.task >= 0)[0]
        share = (self.done[act] - self.startup_s) / np.maximum(self.work[act] - self.startup_s, 1e-9)
        progress = np.clip(share, 0, 1) * self.weight
        age = now - self.start[act]
        told = (progress > 0) & (age > 0)
        slots = act[told]
        self.ring[slots, self.reports[slots] % self.a["estimates"]] = age[told] / progress[told]
        self.reports[slots] += 1
        while self.ended and self.ended[0][0] < now - window_s:
            self.ended.pop(0)
        estimate = self.ring[act].min(1)
        known = np.isfinite(estimate)
        bins = np.floor(np.array([length for _, length in self.ended]) / BIN_S)
        if self.a["counts_running"]:
            bins = np.concatenate([bins, np.floor(estimate[known] / BIN_S)])
        if not len(bins):
            return 0
        values, counts = np.unique(bins, return_counts=True)
        fullest = values[counts == counts.max()]
        mode = fullest.max() if self.a["ties"] == "high" else fullest.min()
        above = np.floor(np.where(known, estimate, 0) / BIN_S) - mode
        abnormal = np.where(known, above >= ABNORMAL_BINS, age >= STALL_S)
        self.streak[act] = np.where(abnormal, self.streak[act] + 1, 0)
        hit = act[self.streak[act] >= self.a["streak"]]
        hit = hit[np.argsort(-self.ring[hit].min(1), kind="stable")]
        self.waiting.extend(self.task[hit])
        for slot in hit:
            self.fill(slot, now)
        return len(hit)


def run(window_s, seed, **reading):
    """Returns the time of the job (s) and the number of restarted maps."""
    a = DEFAULT | reading
    rng = np.random.default_rng(seed)
    now, restarts = 0.0, [0, 0]
    phases = [(MAPS, a["container_gb"] * 2 // 3, a["map_share"], a["map_weight"]),
              (REDUCES, a["container_gb"] // 3, 1 - a["map_share"], 1.0)]
    for number, (count, slots, share, weight) in enumerate(phases):
        length_s = a["job_s"] * share / math.ceil(count / (SLAVES * slots))
        phase = Phase(a, rng, count, slots, length_s, weight)
        for slot in range(slots):
            for slave in range(SLAVES):
                phase.fill(slave * slots + slot, now)
        steps = 0
        while phase.left and now < LONGEST_S:
            now = phase.advance(now)
            steps += 1
            if window_s and steps % round(a["report_s"] / STEP_S) == 0:
                restarts[number] += phase.judge(now, window_s)
    return now, restarts[0]


def readings():
    print(f"{'reading':<32}{'Hadoop':>8}  " + "".join(f"{f'W = {w} s':>20}" for w in (30, 240, 480)))
    for reading in READINGS:
        found = [np.mean([run(w, seed, **reading) for seed in range(3)], 0) for w in (30, 240, 480)]
        name = " ".join(f"{key}={value}" for key, value in reading.items()) or "as jobfate has it"
        cells = "".join(f"{f'{time:,.0f} s {maps:,.0f}':>20}" for time, maps in found)
        print(f"{name:<32}{run(0, 0, **reading)[0]:>6.0f} s  {cells}")


def compare(jobfate, runs):
    with tempfile.TemporaryDirectory() as folder:
        command = [jobfate, "reproduce", "asahara", "--runs", str(runs), "--out", folder]
        subprocess.run(command, check=True, capture_output=True)
        rows = list(csv.DictReader(Path(folder, "asahara-curves.csv").open()))
    wrong = compared = 0
    for window_s, x in [(0, "Hadoop"), (30, "W = 30 s"), (240, "W = 240 s"), (480, "W = 480 s")]:
        own = [run(window_s, 1000 + seed) for seed in range(2 * runs)]
        for place, curve in enumerate(("job time, s", "map verdicts")):
            theirs = next(r for r in rows if (r["figure"], r["curve"], r["x"]) == ("5.2", curve, x))
            low, high = min(one[place] for one in own), max(one[place] for one in own)
            meets = low <= float(theirs["max"]) and float(theirs["min"]) <= high
            wrong, compared = wrong + (not meets), compared + 1
            print(f"{x}, {curve}: here {low:,.0f} to {high:,.0f}, jobfate {float(theirs['min']):,.0f} to "
                  f"{float(theirs['max']):,.0f}: {'they meet' if meets else 'APART'}")
    print(f"{compared} comparisons, {wrong} apart")
    return wrong


if __name__ == "__main__":
    if sys.argv[1:] == ["--readings"]:
        readings()
    else:
        sys.exit(compare(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5) > 0)
