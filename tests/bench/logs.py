#!/usr/bin/env python3
"""Benchmark: ingest of logs that are one CSV-like file, compared with only inflating the same file.

Usage: logs.py [--data DIR] [--megabytes N] [--runs N] [--threads N] [--work DIR] [SOURCE...]

Makes a gzip of about N MB of text (default 300) for each SOURCE (default: all): the real logs of DIR (default:
../shared/data next to the repository), repeated with new job numbers (slurm, alibaba-2017, openb, swf), and random
ones (alibaba-2018, mapped). Then runs `inflate` (our library and block size, one pass over the file) and
`jobfate ingest` in turn, as whole processes, and prints the medians with their ratio as Markdown. Needs
`cargo build --release --examples`. The page cache is warm: each program runs once before it is measured. Exit status
1 if a ratio is above 2.
"""

import argparse
import gzip
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
JOBFATE, INFLATE = TARGET / "jobfate", TARGET / "examples" / "inflate"
GOAL = 2.0
MAP = """[columns]
job = "id"
user = "user"
state = "state"
cpus = "cpus"
submit = { column = "submit", unit = "s" }
start = { column = "start", unit = "s" }
end = { column = "end", unit = "s" }

[states]
done = "finished"
failed = "failed"
"""


def text_of(path):
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as file:
        return file.read().splitlines()


def slurm(data):
    """Yields copies. The first two fields name the job, and its number grows from copy to copy."""
    for number, line in again(text_of(data / "slurm/pozidriv.sacct.gz")):
        job, raw, rest = line.split("|", 2)
        yield f"{number}{job}|{number}{raw}|{rest}\n"


def alibaba_2017(data):
    lines = text_of(data / "alibaba-2017/batch_task.csv.gz")
    yield lines[0] + "\n"
    for number, line in again(lines[1:]):
        first, second, job, rest = line.split(",", 3)
        yield f"{first},{second},{number}{job},{rest}\n"


def openb(data):
    lines = text_of(data / "alibaba-gpu-2023/openb_pod_list_default.csv")
    yield lines[0] + "\n"
    for number, line in again(lines[1:]):
        pod, rest = line.split(",", 1)
        yield f"openb-pod-{number}{pod.rsplit('-', 1)[1]},{rest}\n"


def swf(data):
    lines = [line for line in text_of(data / "swf/LCG.swf.gz") if line]
    yield from (line + "\n" for line in lines if line[0] == ";")
    for number, line in again([line for line in lines if line[0] != ";"]):
        job, rest = line.split(None, 1)
        yield f"{number}{job} {rest}\n"


def alibaba_2018(_):
    for number in range(1, 2**62):
        start = number * 7 % 600_000
        yield f"R{1 + number % 3}_1,{1 + number % 5},j_{number // 3},1,Terminated,{start},{start + number % 5000},100,0.39\n"


def mapped(_):
    yield "id,user,submit,start,end,cpus,state\n"
    for number in range(1, 2**62):
        submit = 1_700_000_000 + number
        state = "failed" if number % 7 == 0 else "done"
        yield f"{number},u{number % 99},{submit},{submit + number % 600},{submit + 600 + number % 9000},{1 + number % 64},{state}\n"


def again(lines):
    """Yields lines with the number of the copy before the number of the job."""
    for number in range(1, 2**62):
        yield from ((number, line) for line in lines)


SOURCES = {"slurm": (slurm, "log.sacct.gz"), "alibaba-2017": (alibaba_2017, "batch_task.csv.gz"),
           "openb": (openb, "openb_pod_list.csv.gz"), "swf": (swf, "log.swf.gz"),
           "alibaba-2018": (alibaba_2018, "batch_task.csv.gz"), "mapped": (mapped, "table.csv.gz")}


def make(source, data, path, size):
    lines, name = SOURCES[source]
    log = path / name
    written = 0
    with gzip.open(log, "wt", compresslevel=6) as file:
        for line in lines(data):
            file.write(line)
            written += len(line)
            if size <= written:
                break
    # The folder in which `inflate` finds the same file.
    part = path / "raw" / "job_events" / "part-00000-of-00001.csv.gz"
    part.parent.mkdir(parents=True)
    part.symlink_to(log)
    return log, written


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return time.perf_counter() - begin


def measure(source, arguments, work):
    path = work / source
    path.mkdir(parents=True)
    log, written = make(source, arguments.data, path, arguments.megabytes * 1_000_000)
    threads, lake = str(arguments.threads), path / "lake"
    more = []
    if source == "mapped":
        (path / "map.toml").write_text(MAP)
        more = ["--map", str(path / "map.toml")]
    contenders = {
        "inflate": [INFLATE, path / "raw", threads],
        "ingest": [JOBFATE, "ingest", log, "--lake", lake, "--source", source, "--threads", threads, "--quiet", *more],
    }
    times = {name: [] for name in contenders}
    for run in range(arguments.runs + 1):
        for name, command in contenders.items():
            shutil.rmtree(lake, ignore_errors=True)
            took = seconds(command)
            if 0 < run:
                times[name].append(took)
    inflate, ingest = (statistics.median(times[name]) for name in contenders)
    shutil.rmtree(path)
    print(f"| {source} | {written / 1e6:.0f} | {inflate:.2f} | {ingest:.2f} | {ingest / inflate:.2f} |", flush=True)
    return ingest / inflate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--work", type=Path)
    parser.add_argument("sources", nargs="*", default=list(SOURCES), metavar="SOURCE")
    arguments = parser.parse_args()
    for program in (JOBFATE, INFLATE):
        if not program.exists():
            sys.exit(f"{program} is missing: cargo build --release --examples")
    print(f"{arguments.threads} threads, medians of {arguments.runs} runs\n")
    print("| log | MB of text | inflate, s | ingest, s | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=arguments.work) as work:
        ratios = [measure(source, arguments, Path(work)) for source in arguments.sources]
    print(f"\nworst ratio {max(ratios):.2f}, goal {GOAL}")
    return 1 if GOAL < max(ratios) else 0


if __name__ == "__main__":
    sys.exit(main())
