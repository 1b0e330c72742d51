#!/usr/bin/env python3
"""Analyses a trace of one day and one of 24 such days end to end: memory, file handles, leftovers.

Usage: long_run.py [--jobs 3000] [--times 24] [--work DIR]

Runs `analyze` on both (verify to report, every detector, replay, fairness), samples the process ten times a second, and
prints as Markdown the largest resident set, the most open files, and the files that remain in the temporary folder, or
under temporary names in the lake and the results. Exits with 1 if any file remains, if the longer run takes more memory
than runs of 8 to 150 million rows (scale.py: 420 to 530 MB), or if it opens clearly more files than the shorter run.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOBFATE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "jobfate"

MEMORY_MAX_MB = 700
HANDLES_MORE_MAX = 8


def watched(command, temporary):
    """Returns the seconds, the largest resident set in MB, and the most files that were open at the same time."""
    start, handles = time.perf_counter(), 0
    process = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    os.set_blocking(process.stderr.fileno(), False)
    said = b""
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        said += process.stderr.read() or b""
        if pid:
            break
        try:
            handles = max(handles, len(os.listdir(f"/proc/{process.pid}/fd")))
        except OSError:
            pass
        time.sleep(0.1)
    if status != 0:
        sys.exit(f"{command} failed: {said.decode()[-2000:]}")
    return time.perf_counter() - start, used.ru_maxrss // 1024, handles


def leftovers(out, temporary):
    """Returns the files that a finished run should have removed."""
    names = [path for path in out.rglob("*") if path.name.startswith(".work") or path.suffix in (".new", ".tmp")]
    return [str(path) for path in [*names, *temporary.iterdir()]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=3000, help="jobs of a day")
    parser.add_argument("--times", type=int, default=24)
    parser.add_argument("--work", type=Path, help="folder for traces and lakes (a temporary one)")
    args = parser.parse_args()
    work = args.work or Path(tempfile.mkdtemp(prefix="jobfate-long-"))
    temporary = work / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    print("| days | rows | `analyze` s | peak MB | open files at most | left behind |\n|---:|---:|---:|---:|---:|---:|")
    runs = []
    for days in (1, args.times):
        trace, out = work / f"trace-{days}", work / f"out-{days}"
        if not (trace / "truth.json").exists():
            words = ["--jobs", days * args.jobs, "--days", days, "--parts", 4 * days]
            subprocess.run([str(word) for word in [JOBFATE, "synth", trace, *words]], check=True, stderr=subprocess.DEVNULL)
        rows = sum(json.loads((trace / "truth.json").read_text())["rows"].values())
        shutil.rmtree(out, ignore_errors=True)
        run = watched([JOBFATE, "analyze", trace, "--out", out], temporary)
        left = leftovers(out, temporary)
        print(f"| {days} | {rows:,} | {run[0]:.1f} | {run[1]:,} | {run[2]} | {len(left)} |", flush=True)
        runs.append((*run, left))
        shutil.rmtree(out)
    short, long = runs
    if args.work is None:
        shutil.rmtree(work)
    if short[3] or long[3]:
        sys.exit(f"left behind: {short[3] + long[3]}")
    if long[1] > MEMORY_MAX_MB or long[2] > short[2] + HANDLES_MORE_MAX:
        sys.exit("memory or open files grow with the trace")


if __name__ == "__main__":
    main()
