#!/usr/bin/env python3
"""Reads the dependencies of tasks in files of `jobfate export`, without jobfate.

    read_graph.py FORM FOLDER TRACE      (FORM: wta, opendc, batsim)

TRACE holds `batch_task.csv` and `batch_instance.csv` in the format of Alibaba's trace of 2018. Every instance of a
task waits for every instance of the tasks in its name: `J4_2_3` waits for those of tasks 2 and 3 of its job.
Recomputes parents and children of each instance, and the dependencies that are left out, from the names alone. Prints
the number of pairs; fails at the first difference.
"""

import collections
import csv
import json
import re
import sys
from pathlib import Path


def instances_of(trace):
    """Maps (job, number of the instance) to the number of its task and the tasks before it."""
    found = {}
    with (trace / "batch_instance.csv").open(newline="") as rows:
        for row in csv.reader(rows):
            named = re.fullmatch(r"[A-Za-z]+([1-9]\d*)((?:_[1-9]\d*)*)", row[1])
            task, before = (int(named[1]), named[2]) if named else (None, "")
            before = {int(number) for number in before.split("_") if number}
            found[int(row[2][2:]), int(row[0][4:])] = task, before
    return found


def written(form, folder):
    """Maps (job, number) to id, parents and children (None without a list of children)."""
    if form == "batsim":
        jobs = json.loads((folder / "workload.json").read_text())["jobs"]
        extra = [(job["id"], json.loads(job["extra_data"])) for job in jobs]
        return {(row["job_id"], row["task_index"]): (own, row.get("dependencies", []), None)
                for own, row in extra}
    import pyarrow.parquet as parquet

    if form == "wta":
        rows = parquet.read_table(folder / "tasks/schema-1.0/part.0.parquet").to_pylist()
        keys = [json.loads(row["params"]) for row in rows]
        keys = [(row["job_id"], row["task_index"]) for row in keys]
    else:
        rows = parquet.read_table(folder / "tasks.parquet").to_pylist()
        keys = [tuple(map(int, row["name"].split("/"))) for row in rows]
    return {key: (row["id"], row["parents"], row["children"])
            for key, row in zip(keys, rows, strict=True)}


def stuck(graph):
    """Returns the tasks of a job that can never start, because their dependencies contain a circle."""
    def reached(start):
        seen, todo = set(), list(graph.get(start, ()))
        while todo:
            task = todo.pop()
            if task not in seen:
                seen.add(task)
                todo.extend(graph.get(task, ()))
        return seen

    round_and_round = {task for task in graph if task in reached(task)}
    return {task for task in graph if task in round_and_round or reached(task) & round_and_round}


def main():
    form, folder, trace = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    instances, found = instances_of(trace), written(form, folder)
    assert set(found) <= set(instances)
    assert form != "wta" or set(found) == set(instances), set(instances) ^ set(found)
    there, named = collections.defaultdict(set), collections.defaultdict(set)
    for (job, number), (task, before) in instances.items():
        named[job, task] |= before
        if (job, number) in found:
            there[job, task].add((job, number))
    missing, circular, parents = 0, 0, collections.defaultdict(set)
    for job in {job for job, _ in instances}:
        graph = {}
        for (of, task), before in named.items():
            if of == job and task is not None:
                kept = {other for other in before if there[job, other] and there[job, task]}
                missing += len(before) - len(kept)
                graph[task] = kept
        never = stuck(graph)
        for task, before in graph.items():
            for other in before:
                if task in never and other in never:
                    circular += 1
                    continue
                for key in there[job, task]:
                    parents[key] |= there[job, other]
    pairs, children = 0, collections.defaultdict(set)
    for key, (_, given, _) in found.items():
        expected = [found[other][0] for other in parents[key]]
        assert sorted(given) == sorted(expected), (key, given, expected)
        pairs += len(given)
        for other in parents[key]:
            children[other].add(key)
    for key, (_, _, given) in found.items():
        expected = [found[other][0] for other in children[key]]
        assert given is None or sorted(given) == sorted(expected), (key, given, expected)
    left_out = json.loads((folder / "result.json").read_text())["answer"]["not_held"]
    left_out = {wording: count for wording, count in left_out.items() if "dependencies" in wording}
    expected = {
        "dependencies on tasks that are not there: left out": missing,
        "dependencies in or behind circles: left out": circular,
    }
    assert left_out == {wording: count for wording, count in expected.items() if count}, left_out
    print(pairs)


main()
