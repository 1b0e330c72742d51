#!/usr/bin/env python3
"""Counts outages and the capacity that they cost from the raw machine_events, and compares.

Usage: machines_crosscheck.py JOBFATE LAKE RAW

RAW is the folder of the Google trace of 2011 whose `machine_events` is in the lake. An outage lasts from REMOVE to
the next ADD; a machine has its last recorded CPU. Weibull distributions are fitted to the times between outages by
Newton's method. Exit status 1 if `jobfate machines` has other numbers.
"""

import csv
import glob
import gzip
import json
import math
import statistics
import subprocess
import sys
from collections import Counter
from fractions import Fraction


def weibull(spells):
    """Returns shape and scale (s) of the largest likelihood, by Newton's method on the shape, which starts at 1."""
    times = [max(length, 1) / 1e6 for length, _ in spells]
    ended = [math.log(time) for time, (_, is_ended) in zip(times, spells) if is_ended]
    logs = [math.log(time) for time in times]
    shape, mean = 1.0, math.fsum(ended) / len(ended)
    for _ in range(100):
        powers = [math.exp(shape * log) for log in logs]
        one = math.fsum(powers)
        two = math.fsum(power * log for power, log in zip(powers, logs))
        three = math.fsum(power * log * log for power, log in zip(powers, logs))
        value = two / one - mean - 1 / shape
        slope = three / one - (two / one) ** 2 + 1 / shape**2
        shape = max(shape - value / slope, shape / 4)
        if abs(value) < 1e-13:
            break
    scale = (math.fsum(math.exp(shape * log) for log in logs) / len(ended)) ** (1 / shape)
    return shape, scale


def main(jobfate, lake, raw):
    rows = []
    for path in sorted(glob.glob(f"{raw}/machine_events/part-*.csv.gz")):
        with gzip.open(path, "rt") as lines:
            rows += [(int(row[0]), row[1], int(row[2]), row[3], row[4], row[5]) for row in csv.reader(lines)]
    command = [jobfate, "machines", "--lake", lake, "--format", "json"]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    end = round(said["end_s"] * 1e6)
    machines = {}
    for row in sorted(rows, key=lambda row: row[0]):
        machines.setdefault(row[1], []).append(row)
    down = outages = 0
    lengths, last = [], Counter()
    up = lost = gone = Fraction(0)
    first = min(row[0] for row in rows)
    # Spells in service that start at the first instant, later with a new machine, and with a return.
    spells = {"start": [], "new": [], "return": []}
    for events in machines.values():
        cpu, memory, platform, since, is_up = "0", "", "", None, False
        removes = 0
        kind_of_spell, begun = "start" if events[0][0] == first else "new", events[0][0]
        for time, _, kind, name, own_cpu, own_memory in events:
            if is_up:
                up += Fraction(cpu) * (time - since)
            elif kind == 0 and since is not None:
                lost += Fraction(cpu) * (time - since)
                lengths.append(time - since)
            if kind == 1 and is_up:
                spells[kind_of_spell].append((time - begun, True))
            elif kind == 0 and not is_up and since is not None:
                kind_of_spell, begun = "return", time
            cpu, memory, platform = own_cpu or cpu, own_memory or memory, name or platform
            removes += kind == 1
            is_up = kind == 0 or (kind == 2 and (is_up or since is None))
            since = time
        if is_up:
            up += Fraction(cpu) * (end - since)
            spells[kind_of_spell].append((end - begun, False))
        else:
            gone += Fraction(cpu) * (end - since)
        down += removes > 0
        outages += removes
        last[platform, float(cpu), float(memory or "nan")] += 1
    expected = {
        "machines": len(machines),
        "machines_down": down,
        "outages": outages,
        "outages_ended": len(lengths),
        "outage_s_min": min(lengths) / 1e6,
        "outage_s_median": statistics.median(lengths) / 1e6,
        "outage_s_mean": statistics.mean(lengths) / 1e6,
        "outage_s_max": max(lengths) / 1e6,
        "lost_cpu_s": float(lost / 10**6),
        "up_and_lost_cpu_s": float((lost + up) / 10**6),
        "capacity_lost_share": float(lost / (lost + up)),
        "gone_cpu_s": float(gone / 10**6),
        "capacity_away_share": float((lost + gone) / (lost + gone + up)),
    }
    kinds = {
        "up": spells["start"] + spells["new"] + spells["return"],
        "up_from_start": spells["start"],
        "up_after_return": spells["return"],
    }
    for row in said["spells"]:
        own = kinds.get(row["spell"])
        if own is not None:
            name = row["spell"]
            shape, scale = weibull(own)
            ended = sum(is_ended for _, is_ended in own)
            expected |= {f"{name} count": len(own), f"{name} censored": len(own) - ended}
            expected |= {f"{name} shape": shape, f"{name} scale_s": scale}
            said |= {f"{name} {key}": row[key] for key in ("count", "censored", "shape", "scale_s")}
    wrong = [name for name, value in expected.items() if not math.isclose(said[name], value, rel_tol=1e-9)]
    for name, value in expected.items():
        print(f"{'WRONG ' if name in wrong else ''}{name}: {value} here, {said[name]} of jobfate")
    counts = sorted((row["machines"] for row in said["rows"] if not row["is_total"] and row["machines"]), reverse=True)
    if counts != sorted(last.values(), reverse=True):
        wrong.append("configurations")
    print(f"machines by last configuration: {counts}")
    print("all equal" if not wrong else f"not equal: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
