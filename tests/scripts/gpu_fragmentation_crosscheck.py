#!/usr/bin/env python3
# /// script
# dependencies = ["pyarrow"]
# ///
"""Adds up the free GPUs of replays that tasks cannot use, without jobfate, and compares.

Usage: gpu_fragmentation_crosscheck.py JOBFATE RAW [EVERY]

RAW is the folder of openb (Alibaba, GPUs of 2023). Takes one of EVERY nodes with GPUs, and all pods, replays them and
follows the journal GPU by GPU. At every instant each machine is compared with each shape of a pod: the waiting pods,
and all pods of the workload (Weng et al., USENIX ATC 2023). `jobfate replay --fragmentation` must give the same
numbers. Exit status 1 if they differ.
"""

import csv
import functools
import glob
import json
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow.parquet as parquet

POLICIES = ["fifo", "fifo:depth=100", "fifo:depth=100+worst-fit", "easy"]


def cores(milli):
    """Returns millionths of a core as stored in a lake: cores in 32 bits."""
    return round(struct.unpack("f", struct.pack("f", int(milli) / 1000))[0] * 1e6)


def shape_of(pod):
    """CPU, memory, GPUs, thousandths of each, models. A pod that requests no GPU has no models."""
    memory, gpus, milli = (int(pod[name]) for name in ("memory_mib", "num_gpu", "gpu_milli"))
    cpu = cores(pod["cpu_milli"])
    if gpus * milli == 0:
        return (cpu, memory, 0, 0, None)
    models = frozenset(pod["gpu_spec"].split("|")) if pod["gpu_spec"] else None
    return (cpu, memory, gpus, milli, models)


@functools.cache
def lost(machine, shape):
    """Returns the free thousandths of GPUs on a machine (CPU, memory, GPUs, model), and why no such task can use
    them."""
    (cpu, memory, left, model), (asks_cpu, asks_memory, gpus, milli, models) = machine, shape
    if gpus == 0:
        return sum(left), "no_gpu"
    if models is not None and model not in models:
        return sum(left), "model"
    has_room = asks_cpu <= cpu and asks_memory <= memory
    has_gpus = gpus <= sum(milli <= own for own in left)
    if has_room and has_gpus:
        return sum(own for own in left if own < milli), "gpu"
    return sum(left), "both" if not has_room and not has_gpus else "gpu" if has_room else "cpu_or_memory"


def gpus_for(left, shape):
    """Returns the GPUs that a task gets: the fullest of those with enough free, then the first."""
    _, _, gpus, milli, _ = shape
    return sorted((own, idx) for idx, own in enumerate(left) if milli <= own)[:gpus]


def follow(lines, machines, shapes):
    """Returns GPU-s that are free, that no waiting task could use, and the mean over tasks by cause."""
    counts = Counter(shapes.values())
    held, waiting, waits = {}, Counter(), set()
    now = None
    sums = Counter()

    def wait(task, is_waiting):
        if is_waiting != (task in waits):
            (waits.add if is_waiting else waits.remove)(task)
            waiting[shapes[task]] += 1 if is_waiting else -1

    @functools.cache
    def means(machine):
        found = Counter()
        for shape, count in counts.items():
            amount, cause = lost(machine, shape)
            found[cause] += amount * count
        return found

    for at, event, task, attempt, on in lines:
        if now is not None and now < at:
            asked = [shape for shape, count in waiting.items() if count and shape[2]]
            for machine in machines.values():
                left = machine[2]
                if not sum(left):
                    continue
                sums["left"] += sum(left) * (at - now)
                # For each GPU separately: the part that no waiting task could use.
                useful = [shape[3] for shape in asked if lost(machine, shape)[0] < sum(left)]
                if asked:
                    sums["fragmented"] += sum(own for own in left if not any(milli <= own for milli in useful)) * (at - now)
                for cause, amount in means(machine).items():
                    sums[cause] += amount * (at - now)
        now = at
        if event == "submit":
            wait(task, True)
        elif event == "start":
            wait(task, False)
            cpu, memory, left, model = machines[on]
            shape = shapes[task]
            got = [idx for _, idx in gpus_for(left, shape)]
            assert len(got) == shape[2] and shape[0] <= cpu and shape[1] <= memory, (at, task, on)
            held[task, attempt] = (on, got)
            left = tuple(own - shape[3] if idx in got else own for idx, own in enumerate(left))
            machines[on] = (cpu - shape[0], memory - shape[1], left, model)
        elif (task, attempt) in held:
            on, got = held.pop((task, attempt))
            cpu, memory, left, model = machines[on]
            shape = shapes[task]
            left = tuple(own + shape[3] if idx in got else own for idx, own in enumerate(left))
            machines[on] = (cpu + shape[0], memory + shape[1], left, model)
        elif event in ("kill", "fail", "condemn", "refuse") and on is None:
            wait(task, False)
    tasks = sum(counts.values())
    unit = 1000 * 1_000_000
    causes = {cause: sums[cause] / tasks / unit for cause in ("no_gpu", "model", "gpu", "cpu_or_memory", "both")}
    return {"free": sums["left"] / unit, "fragmented": sums["fragmented"] / unit, "expected": sum(causes.values()), **causes}


def journal_of(path):
    table = parquet.read_table(path).to_pylist()
    return [(row["time_us"], row["event"], row["job_id"], row["attempt"], row["machine_id"]) for row in table]


def main(jobfate, raw, every="90"):
    raw = Path(raw)
    nodes = list(csv.DictReader(open(raw / "openb_node_list_all_node.csv")))
    nodes = [node for node in nodes if int(node["gpu"])][:: int(every)]
    pods = list(csv.DictReader(open(raw / "openb_pod_list_default.csv")))
    with tempfile.TemporaryDirectory() as place:
        part = Path(place, "openb")
        part.mkdir()
        (part / "openb_pod_list_default.csv").write_bytes((raw / "openb_pod_list_default.csv").read_bytes())
        with open(part / "openb_node_list_all_node.csv", "w", newline="") as file:
            rows = csv.DictWriter(file, nodes[0].keys(), lineterminator="\n")
            rows.writeheader()
            rows.writerows(nodes)
        run = functools.partial(subprocess.run, cwd=place, check=True, capture_output=True, text=True)
        run([jobfate, "ingest", "openb", "--lake", "lake"])
        run([jobfate, "replay", "--lake", "lake", "--fragmentation", "--journal", "--out", "out", "--policies", *POLICIES])
        events = [row for path in glob.glob(f"{place}/lake/machine_events/**/*.parquet", recursive=True)
                  for row in parquet.ParquetFile(path).read(["machine_id", "machine_name"]).to_pylist()]
        numbers = {row["machine_name"]: row["machine_id"] for row in events}
        journals = [journal_of(Path(place, "out", f"journal-{1 + idx}.parquet")) for idx in range(len(POLICIES))]
        answer = json.loads(Path(place, "out", "result.json").read_text())
    answer = answer["answer"]
    shapes = {int(pod["name"].rsplit("-", 1)[1]): shape_of(pod) for pod in pods}
    wrong = 0
    for policy, lines, own in zip(POLICIES, journals, answer["policies"]):
        machines = {numbers[node["sn"]]: (cores(node["cpu_milli"]), int(node["memory_mib"]), (1000,) * int(node["gpu"]), node["model"])
                    for node in nodes}
        expected = follow(lines, machines, shapes)
        own = own["gpu_fragmentation"]
        causes = ("no_gpu", "model", "gpu", "cpu_or_memory", "both")
        found = {"free": own["free_gpu_s"], "fragmented": own["fragmented_gpu_s"], "expected": own["expected_gpu_s"],
                 **dict(zip(causes, own["by_cause_gpu_s"]))}
        is_same = all(abs(found[name] - value) <= 1e-9 * max(1, abs(value)) for name, value in expected.items())
        wrong += not is_same
        print(policy, *(f"{name} {value:.3f} ({found[name]:.3f})" for name, value in expected.items()))
    print(f"{len(POLICIES) - wrong} of {len(POLICIES)} policies equal: {len(nodes)} nodes, {len(set(shapes.values()))} shapes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
