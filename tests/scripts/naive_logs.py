#!/usr/bin/env python3
"""Counts a log (SWF or Rumen) directly from its text, without code of jobfate.

usage: naive_logs.py LOG [TOPOLOGY]

Prints one JSON object: jobs, tasks, attempts, machines, the number of jobs by event sequence, and the task-seconds and
processor-seconds of all attempts. The rules are those of src/sources/log/ and src/sources/rumen/, implemented a second
time. Logs with partial runs are not supported.
"""

import gzip
import json
import sys
from collections import Counter
from fractions import Fraction


def text_of(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as file:
        return file.read()


def count_swf(text):
    jobs, machines, attempts = 0, 0, 0
    sequences, task_s, processor_s = Counter(), Fraction(0), Fraction(0)
    for line in text.splitlines():
        if line.startswith(";"):
            machines |= line.startswith(("; MaxProcs:", "; MaxNodes:"))
            continue
        fields = [Fraction(field) for field in line.split()]
        if not fields:
            continue
        jobs += 1
        run, status = fields[3], fields[10]
        processors = fields[4] if fields[4] > 0 else fields[7]
        end = {1: "4", 0: "3", 5: "5"}.get(status)
        if run == -1 or (status == 5 and run == 0 and fields[4] <= 0):
            sequences["0" + (end or "")] += 1
            continue
        sequences["01" + (end or "4")] += 1
        attempts += 1
        task_s += run
        processor_s += run * max(processors, 0)
    return jobs, jobs, attempts, int(machines), sequences, task_s, processor_s


def count_rumen(text, topology):
    decoder, at, jobs = json.JSONDecoder(), 0, []
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        job, at = decoder.raw_decode(text, at)
        jobs.append(job)
    tasks, attempts, finished, task_ms, sequences = 0, 0, 0, 0, Counter()
    for job in jobs:
        end = {"SUCCESS": "4", "FAILED": "3", "KILLED": "5"}.get(job["outcome"], "")
        sequences["01" + end] += 1
        for kind in ("mapTasks", "reduceTasks", "otherTasks"):
            for task in job[kind]:
                tasks += 1
                spans = []
                for attempt in task["attempts"]:
                    begin, finish = attempt["startTime"], attempt["finishTime"]
                    if begin <= 0 or finish < begin:
                        begin = finish
                    spans.append((begin, finish, attempt["result"] == "SUCCESS"))
                ended = [span for span in spans if span[2]]
                finished += task["taskStatus"] == "SUCCESS"
                # The attempt that decides the task, and other attempts that the lake leaves out.
                decides = min(ended, key=lambda span: span[1]) if ended else max(spans, key=lambda span: span[1], default=None)
                kept = [span for span in spans if span[:2] < decides[:2] or span is decides]
                after = sorted(span for span in spans if span[:2] >= decides[:2] and span is not decides)
                kept.sort()
                for span in after:
                    if span[0] >= kept[-1][1] and (span[2] or not ended or task["taskStatus"] != "SUCCESS"):
                        kept.append(span)
                attempts += len(kept)
                for span, later in zip(kept, [span[0] for span in kept[1:]] + [10**18]):
                    task_ms += min(span[1], later) - span[0]
    hosts = []

    def walk(node):
        for child in node.get("children") or []:
            if child.get("children") is None:
                hosts.append(child["name"])
            walk(child)

    walk(json.loads(topology))
    seconds = Fraction(task_ms, 1000)
    return len(jobs), tasks, attempts, len(hosts), sequences, seconds, seconds, finished


def main(log, topology=None):
    if topology:
        counts = count_rumen(text_of(log), text_of(topology))
    else:
        counts = count_swf(text_of(log))
    jobs, tasks, attempts, machines, sequences, task_s, processor_s, *finished = counts
    print(json.dumps({
        "jobs": jobs, "tasks": tasks, "attempts": attempts, "machines": machines,
        "sequences": dict(sequences), "task_s": float(task_s), "processor_s": float(processor_s),
        "finished_tasks": finished[0] if finished else None,
    }))


if __name__ == "__main__":
    main(*sys.argv[1:])
