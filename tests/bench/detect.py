#!/usr/bin/env python3
"""Benchmark of `jobfate detect`: judgements (running attempts at heartbeats) per second.

Usage: detect.py JOBFATE LAKE [--runs N] [--progress MODEL]

Runs each detector alone and then all in one pass, as whole processes, in N alternating rounds (default 3). Prints
medians as Markdown: seconds of the process; these seconds minus those of `none` (which also reads the lake and makes
the pass); and judgements per second of the whole process.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time


def measure(args, detectors):
    command = [args.jobfate, "detect", "--lake", args.lake, "--detectors", detectors,
               "--progress", args.progress, "--format", "json"]
    started = time.perf_counter()
    answer = subprocess.run(command, check=True, capture_output=True).stdout
    seconds = time.perf_counter() - started
    answer = json.loads(answer)
    return seconds, answer["counts"]["task_heartbeats"], [row["detector"] for row in answer["rows"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("jobfate")
    parser.add_argument("lake")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--progress", default="linear", choices=["linear", "usage", "siblings"])
    args = parser.parse_args()
    lineups = [*measure(args, "all")[2], "all"]
    times = {name: [] for name in lineups}
    judged = {}
    for run in range(args.runs):
        for name in lineups:
            seconds, beats, asked = measure(args, name)
            times[name].append(seconds)
            judged[name] = beats * len(asked)
        print(f"run {run + 1} of {args.runs}", file=sys.stderr)
    medians = {name: statistics.median(found) for name, found in times.items()}
    print(f"{judged['none']:,} task-heartbeats, progress {args.progress}, median of {args.runs} runs, "
          f"{os.cpu_count()} cores ({platform.machine()})\n")
    print("| detectors | s | s beyond `none` | million judgements/s |")
    print("|---|---:|---:|---:|")
    for name in lineups:
        beyond = medians[name] - medians["none"]
        print(f"| {name} | {medians[name]:.2f} | {beyond:.2f} | {judged[name] / medians[name] / 1e6:.1f} |")


if __name__ == "__main__":
    main()
