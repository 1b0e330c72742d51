#!/usr/bin/env python3
"""Counts an accounting log directly from its text, without code of jobfate.

usage: naive_accounting.py slurm SACCT.gz | openb PODS NODES | alibaba-2017 TASKS [INSTANCES MACHINES]
       | alibaba-2018 TASKS INSTANCES MACHINES | kubernetes PODS

Prints one JSON object: jobs by the state that the log records for their end, rows that ran, the processor-seconds of
all attempts, their wait in seconds, machines, and the most processors at once. For Slurm: Open XDMoD's 26 fields,
times in UTC.
"""

import csv
import gzip
import json
import re
import sys
from collections import Counter
from datetime import datetime, timezone


def opened(path):
    return gzip.open(path, "rt") if path.endswith(".gz") else open(path)


def seconds(text):
    return int(datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).timestamp())


def machines_of(text):
    for entry in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text):
        found = re.fullmatch(r"([^\[]*)\[([^\]]*)\](.*)", entry)
        if not found:
            yield entry
            continue
        for part in found[2].split(","):
            first, _, last = part.partition("-")
            for number in range(int(first), int(last or first) + 1):
                yield f"{found[1]}{number:0{len(first)}d}{found[3]}"


def count_slurm(path):
    ends, ran, processor_s, wait_s, machines = Counter(), 0, 0, 0, set()
    changes, by_end = [], Counter()
    with opened(path) as lines:
        for line in lines:
            fields = line.rstrip("\n").split("|")
            state = fields[16].split()[0]
            ends[state] += 1
            if fields[24] == "None assigned":
                continue
            submit, start, end = (seconds(fields[at]) for at in (10, 12, 13))
            ran += 1
            cpus = int(fields[18])
            processor_s += (end - start) * cpus
            by_end[state] += (end - start) * cpus
            wait_s += start - submit
            machines.update(machines_of(fields[24]))
            changes += [(start, 1, cpus), (end, 0, -cpus)]
    now = peak = 0
    for _, _, cpus in sorted(changes):
        now += cpus
        peak = max(peak, now)
    return {
        "ends": dict(ends), "attempts": ran, "cpu_s": processor_s, "cpu_s_by_end": dict(by_end),
        "wait_s": wait_s, "machines": len(machines), "peak": peak,
    }


def count_openb(pods, nodes):
    ends, milli_s, gpu_milli_s = Counter(), 0, 0
    with opened(pods) as lines:
        for pod in csv.DictReader(lines):
            ends[pod["pod_phase"]] += 1
            if pod["pod_phase"] != "Pending":
                ran = int(pod["deletion_time"]) - int(pod["scheduled_time"])
                milli_s += ran * int(pod["cpu_milli"])
                gpu_milli_s += ran * int(pod["num_gpu"]) * int(pod["gpu_milli"])
    with opened(nodes) as lines:
        rows = list(csv.DictReader(lines))
    return {
        "ends": dict(ends), "cpu_s": milli_s / 1000, "gpu_s": gpu_milli_s / 1000,
        "machines": len(rows), "gpus": sum(int(row["gpu"]) for row in rows),
    }


def count_alibaba_2017(tasks, instances=None, machines=None):
    states, hundredths_s, jobs, plans = Counter(), 0, set(), {}
    with opened(tasks) as lines:
        for row in csv.reader(lines):
            create, modify, job, task, instance_count, state, cpu, _ = row
            if not job.isdigit():
                continue
            states[state] += 1
            jobs.add(job)
            plans[job, task] = int(float(cpu or 0))
            if state in ("Terminated", "Failed") and cpu:
                # Events before the trace are at its start.
                length = max(max(int(modify), 0) - max(int(create), 0), 0)
                hundredths_s += length * int(float(cpu)) * int(instance_count)
    found = {"states": dict(states), "cpu_s": hundredths_s / 100, "jobs": len(jobs)}
    if instances is None:
        return found
    tries, first_tries, try_hundredths_s, unknown, numbers = Counter(), 0, 0, 0, Counter()
    rows_of = Counter()
    with opened(instances) as lines:
        for row in csv.reader(lines):
            start, end, job, task, _, state, number = row[:7]
            if not job or not task:
                unknown += 1
                continue
            rows_of[job, task, row[7], number] += 1
            # A later try that was interrupted is a backup copy that lost the race.
            if state == "Interrupted" and int(number) > 1 and int(end) > 0:
                continue
            tries[state] += 1
            numbers[number] += 1
            first_tries += number == "1"
            if int(end) > 0 and state not in ("Running", "Waiting", "Ready"):
                try_hundredths_s += (int(end) - max(int(start), 0)) * plans[job, task]
    with opened(machines) as lines:
        rows = list(csv.reader(lines))
    # The number of instances of a task with a number of tries is that of the try with the most rows.
    most = Counter()
    for (job, task, count, _), amount in rows_of.items():
        most[job, task, count] = max(most[job, task, count], amount)
    cores = sum(int(row[4]) for row in rows if row[2] == "add")
    return found | {
        "tries": dict(tries), "instances": first_tries, "try_cpu_s": try_hundredths_s / 100, "unknown": unknown,
        "numbers": dict(numbers), "machines": len({row[1] for row in rows}), "machine_rows": len(rows),
        "cores": cores, "histories": sum(most.values()),
    }


def count_alibaba_2018(tasks, instances, machines):
    task_states, states, jobs, names, plans = Counter(), Counter(), set(), set(), {}
    hundredths_s = task_hundredths_s = 0
    with opened(tasks) as lines:
        for task, count, job, _, state, start, end, cpu, _ in csv.reader(lines):
            task_states[state] += 1
            jobs.add(job)
            plans[job, task] = int(cpu)
            if state not in ("Running", "Waiting"):
                task_hundredths_s += (int(end) - int(start)) * int(cpu) * int(count)
    with opened(instances) as lines:
        for row in csv.reader(lines):
            states[row[4]] += 1
            names.add((row[2], row[1], row[0]))
            hundredths_s += (int(row[6]) - int(row[5])) * plans[row[2], row[1]]
    with opened(machines) as lines:
        machine_count = len({row[0] for row in csv.reader(lines)})
    return {
        "states": dict(states), "cpu_s": hundredths_s / 100, "jobs": len(jobs), "instances": len(names),
        "task_states": dict(task_states), "task_cpu_s": task_hundredths_s / 100, "machines": machine_count,
    }


def count_kubernetes(path):
    states, jobs, nodes, cpu_s, gpu_s = Counter(), set(), set(), 0, 0
    with opened(path) as text:
        pods = json.load(text)["items"]
    for pod in pods:
        meta, status = pod["metadata"], pod["status"]
        states[status["phase"]] += 1
        jobs.add((meta["namespace"], meta["ownerReferences"][0]["name"]))
        # A waiting pod has a node in these generated rows, and no start.
        if "startTime" in status:
            nodes.add(pod["spec"]["nodeName"])
        ended = status["containerStatuses"][0]["state"].get("terminated")
        if ended:
            resources = pod["spec"]["containers"][0]["resources"]
            ran = seconds(ended["finishedAt"][:-1]) - seconds(status["startTime"][:-1])
            cpu_s += ran * int(resources["requests"]["cpu"][:-1]) / 1000
            gpu_s += ran * resources["limits"]["nvidia.com/gpu"]
    return {
        "states": dict(states), "jobs": len(jobs), "machines": len(nodes), "cpu_s": cpu_s, "gpu_s": gpu_s,
    }


if __name__ == "__main__":
    kind, *paths = sys.argv[1:]
    print(json.dumps(globals()["count_" + kind.replace("-", "_")](*paths)))
