#!/usr/bin/env python3
"""Benchmark of the replay of history, compared with a plain simulator that does the same in SimPy.

Usage: history.py JOBFATE LOG [--jobs N] [--press FACTOR] [--runs N] [--python PYTHON]

LOG is a real log in SWF, as gzip or not. The first N jobs that ran (10,000 by default) are replayed first come, first
served, on as many processors as the log names. Arrivals are FACTOR times as fast (2 by default), so that jobs wait.
Each program is a whole process: ours reads a lake, replays, measures and writes every line of the journal; SimPy reads
the text and replays. They run in turn; CPU times are user and system, medians of the runs. Every job must end at the
same second in both, or the run fails.
"""

import argparse
import gzip
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PEER = Path(__file__).resolve().parent / "replay_peers" / "history.py"


def cut(log, jobs, press):
    """Returns the first jobs of a log that ran, and the number of its processors."""
    opener = gzip.open if log.endswith(".gz") else open
    rows, processors = [], None
    with opener(log, "rt", errors="replace") as lines:
        for line in lines:
            if line.startswith(";"):
                named = re.match(r";\s*MaxProcs:\s*(\d+)", line)
                processors = int(named[1]) if named else processors
                continue
            words = line.split()
            if len(words) == 18 and 0 < int(words[3]) and 0 < int(words[4]) and len(rows) < jobs:
                rows.append([int(float(word)) for word in words])
    if processors is None:
        sys.exit(f"{log}: no line `; MaxProcs: N`")
    for number, row in enumerate(rows, 1):
        # Every job finishes, because recorded outcomes are not compared.
        row[0], row[1], row[2], row[10] = number, int(row[1] / press), -1, 1
    return rows, processors


def cpu_s(command, **options):
    """Runs a command; returns its CPU time and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def ends_of_journal(path, count):
    ends = [None] * count
    for line in path.read_text().splitlines():
        words = line.split()
        if words[1] == "finish":
            ends[int(words[2].split("/")[0]) - 1] = int(words[0])
    return ends


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("jobfate")
    parser.add_argument("log")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--press", type=float, default=2.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--python", default=sys.executable)
    args = parser.parse_args()
    rows, processors = cut(args.log, args.jobs, args.press)
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        log = work / "cut.swf"
        head = f"; Version: 2.2\n; MaxNodes: {processors}\n; MaxProcs: {processors}\n"
        log.write_text(head + "".join(" ".join(map(str, row)) + "\n" for row in rows))
        cpu_s([args.jobfate, "ingest", log, "--lake", work / "lake"])
        times = {"jobfate": [], "simpy": []}
        for turn in range(args.runs):
            out = work / f"out{turn}"
            ours, _ = cpu_s([args.jobfate, "replay", "--lake", work / "lake", "--policies", "fifo", "--journal",
                             "--out", out])
            theirs, text = cpu_s([args.python, PEER, log, processors])
            times["jobfate"].append(ours)
            times["simpy"].append(theirs)
            expected = [int(line) for line in text.split()]
            told = ends_of_journal(out / "journal-1.txt", len(rows))
            different = [idx + 1 for idx, pair in enumerate(zip(told, expected)) if pair[0] != pair[1]]
            if different:
                sys.exit(f"{len(different)} of {len(rows)} jobs end at another second, first job {different[0]}")
        medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    waited = sum(end - row[1] - row[3] for end, row in zip(expected, rows))
    print(f"{len(rows):,} jobs of {Path(args.log).name} on {processors} processors, arrivals {args.press:g} times as "
          f"dense, mean wait {waited / len(rows):,.0f} s; every job ends at the same second in both.\n")
    print("| | CPU s | against jobfate |\n|---|---:|---:|")
    for name, seconds in medians.items():
        print(f"| {name} | {seconds:.2f} | {seconds / medians['jobfate']:.1f} |")


main()
