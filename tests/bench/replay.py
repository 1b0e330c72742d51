#!/usr/bin/env python3
"""Benchmark of the replay: the plain work queue and the one with copies, compared with SimPy and SimGrid.

Usage: replay.py [--runs N] [--python PYTHON] [--work DIR]

All programs run the same experiment: tasks of size 100, machines of constant speeds from 1 to 16, copies without
limit. They run in turn, A B C A B C ..., as whole processes; the time is that of the simulation alone, measured
inside each program. Prints the median rate in task completions per second and its ratio to ours, as Markdown.
Makespans are compared: those of the plain queue must agree up to rounding to whole microseconds. With copies they
differ a little, because the order of machines that are freed at the same instant is not defined.

Needs `cargo build --release --example replay`, a Python with simpy (--python), and SimGrid's headers with a C++
compiler (Debian: libsimgrid-dev g++). Missing programs are left out, with a message.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PEERS = Path(__file__).resolve().parent / "replay_peers"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
# Tasks, machines, policy; the second is the largest setting of figure 3 in Tan and others.
SETTINGS = [(10_000, 100, "fifo"), (10_000, 400, "wqr"), (10_000, 100, "wqr"), (1_000_000, 100, "fifo"),
            (1_000_000, 100, "wqr")]


def contenders(python, work):
    ours = TARGET / "examples" / "replay"
    found = {"jobfate": lambda tasks, machines, policy: [ours, tasks, machines, policy, 1 if tasks > 100_000 else 20]}
    if subprocess.run([python, "-c", "import simpy"], capture_output=True).returncode == 0:
        found["simpy"] = lambda tasks, machines, policy: [python, PEERS / "work_queue.py", tasks, machines, policy, 1]
    else:
        print(f"left out: simpy ({python} has none)", file=sys.stderr)
    binary = Path(work) / "work_queue"
    build = ["g++", "-O2", "-o", binary, PEERS / "work_queue.cpp", "-lsimgrid"]
    if shutil.which("g++") and subprocess.run(build, capture_output=True).returncode == 0:
        quiet = "--log=root.thresh:error"
        found["simgrid"] = lambda tasks, machines, policy: [binary, tasks, machines, policy, quiet]
    else:
        print("left out: simgrid (work_queue.cpp did not build)", file=sys.stderr)
    return found


def measure(command):
    command = [str(word) for word in command]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rate = re.search(r"(?:median|rate)=(\d+)", out)
    return int(rate[1]), float(re.search(r"makespan_s=([\d.]+)", out)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--work", default=None)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.work) as work:
        found = contenders(args.python, work)
        print("| tasks | machines | policy | " + " | ".join(f"{name}, tasks/s" for name in found)
              + " | " + " | ".join(f"jobfate / {name}" for name in list(found)[1:]) + " |")
        print("|" + "---|" * (2 * len(found) + 2))
        for setting in SETTINGS:
            rates, spans = {name: [] for name in found}, {}
            for _ in range(args.runs):
                for name, command in found.items():
                    rate, spans[name] = measure(command(*setting))
                    rates[name].append(rate)
            medians = {name: statistics.median(values) for name, values in rates.items()}
            ratios = [f"{medians['jobfate'] / medians[name]:.1f}" for name in list(found)[1:]]
            tasks, machines, policy = setting
            print(f"| {tasks:,} | {machines} | {policy} | "
                  + " | ".join(f"{medians[name]:,.0f}" for name in found) + " | " + " | ".join(ratios) + " |", flush=True)
            allowed = 1e-6 if policy == "fifo" else 0.005
            for name, span in spans.items():
                if abs(span / spans["jobfate"] - 1) > allowed:
                    sys.exit(f"{name}: makespan {span} s, ours {spans['jobfate']} s")


main()
