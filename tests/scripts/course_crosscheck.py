#!/usr/bin/env python3
"""Answers the ten questions of `jobfate reproduce course` from the raw files, and compares.

Usage: course_crosscheck.py JOBFATE LAKE RAW

RAW is the folder of the Google trace of 2011 whose tables are in LAKE. The script shares no code with the program or
with queries/: it sorts the events and processes them one by one, in plain Python. naive_answers.py uses the same
answers for the golden trace. Exit status 1 if anything differs.
"""

import csv
import glob
import gzip
import json
import math
import os
import statistics
import subprocess
import sys
from collections import Counter, defaultdict

AFTER = 2**63 - 1
ENDS = "23456"
HOUR, CELL = 3_600_000_000, 300_000_000


def raw(folder):
    """A function that yields the rows of a table in the order of its parts."""

    def rows(table):
        for path in sorted(glob.glob(f"{folder}/{table}/part-*.csv*")):
            with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as lines:
                yield from csv.reader(lines)

    return rows


def at(text):
    return min(int(text), AFTER)


def key(text):
    return float(text) if text else -2.0


def fate(kinds):
    """Returns the state by the deciding events: an end, `0` pending or `1` running."""
    deciding = [kind for kind in kinds if kind in "01" + ENDS]
    return deciding[-1] if deciding else None


def correlation(pairs):
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    x, y = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    xx, yy = math.fsum((one - x) ** 2 for one in xs), math.fsum((one - y) ** 2 for one in ys)
    xy = math.fsum((one - x) * (other - y) for one, other in pairs)
    flat = xx <= 1e-6 * math.fsum(one * one for one in xs) or yy <= 1e-6 * math.fsum(one * one for one in ys)
    return None if flat else six_decimals(xy / math.sqrt(xx * yy))


def six_decimals(value):
    """Rounds to six decimals as the SQL does."""
    return math.floor(value * 1e6 + 0.5) / 1e6


class Answers:
    """Maps (question, measure, group) to (part, whole, value)."""

    def __init__(self):
        self.found = {}

    def share(self, question, measure, group, part, whole):
        self.found[question, measure, float(group)] = (part, whole, part / whole if whole else None)

    def counts(self, question, measure, groups):
        """Each group of all."""
        for group, count in Counter(groups).items():
            self.share(question, measure, group, count, len(groups))

    def chances(self, question, measure, pairs):
        """Returns (group, part, whole), summed up by group and over all."""
        sums = defaultdict(lambda: [0, 0])
        for group, part, whole in pairs:
            for own in (group, -1.0):
                sums[own][0] += part
                sums[own][1] += whole
        for group, (part, whole) in sums.items():
            self.share(question, measure, group, part, whole)

    def correlated(self, question, measure, pairs):
        if pairs:
            self.found[question, measure, -1.0] = (None, len(pairs), correlation(pairs))

    def waits(self, measure, pairs):
        groups = defaultdict(list)
        for group, wait in pairs:
            groups[group].append(wait / 1e6)
            groups[-1.0].append(wait / 1e6)
        for group, waits in groups.items():
            self.share(10, f"{measure}: mean", group, math.fsum(waits), len(waits))
            self.found[10, f"{measure}: median", group] = (None, len(waits), statistics.median(waits))


def of_machines(rows, end, answers):
    machines, lines = defaultdict(list), []
    for line, (time, machine, kind, _, cpu, _) in enumerate(rows("machine_events")):
        machines[machine].append((at(time), line, kind, cpu))
        lines.append(key(cpu))
    answers.counts(1, "rows", lines)
    last, start = [], []
    up = lost = gone = between = 0.0
    down = 0
    for events in machines.values():
        events.sort()
        known = [cpu for *_, cpu in events if cpu]
        last.append(float(known[-1]) if known else -2.0)
        first = [cpu for time, _, kind, cpu in events if time == 0 and kind == "0"]
        start += [key(first[0])] if first else []
        down += any(kind == "1" for _, _, kind, _ in events)
        away, cpu = False, 0.0
        for place, (time, _, kind, own) in enumerate(events):
            away = {"0": False, "1": True, "2": away}[kind]
            cpu = float(own) if own else cpu
            until = events[place + 1][0] if place + 1 < len(events) else end
            amount = cpu * (min(until, end) - min(time, end)) / 1e6
            comes_back = any(kind == "0" for _, _, kind, _ in events[place + 1 :])
            if not away:
                up += amount
            elif comes_back:
                lost += amount
            else:
                gone += amount
            between += amount if place + 1 < len(events) else 0
    answers.counts(1, "machines", last)
    answers.counts(1, "machines at time 0", start)
    answers.share(2, "lost", -1, lost, lost + up)
    answers.share(2, "lost, between first and last event", -1, lost, between)
    answers.share(2, "away", -1, lost + gone, lost + gone + up)
    answers.share(2, "machines away", -1, down, len(machines))


def of_jobs(rows, answers):
    """Adds outcomes, waits and classes of jobs; returns when each job finally ended."""
    jobs, lines = defaultdict(list), []
    for line, row in enumerate(rows("job_events")):
        jobs[row[2]].append((at(row[0]), line, row[3], row[5]))
        lines.append(key(row[5]))
    answers.counts(3, "rows of jobs", lines)
    classes, fates, waits, ends = [], [], [], {}
    for job, events in jobs.items():
        events.sort()
        known = [klass for *_, klass in events if klass]
        klass = key(known[-1] if known else "")
        classes.append(klass)
        end = fate(kind for _, _, kind, _ in events)
        fates.append((klass, end))
        if end and end in ENDS:
            ends[job] = max(time for time, _, kind, _ in events if kind in "01" + ENDS)
        first = {kind: min((time for time, _, own, _ in events if own == kind), default=None) for kind in "01"}
        if None not in first.values() and 1 <= first["0"] <= first["1"] < AFTER:
            waits.append((klass, first["1"] - first["0"]))
    answers.counts(3, "jobs", classes)
    answers.chances(9, "jobs failed", [(klass, end == "3", 1) for klass, end in fates])
    answers.chances(9, "jobs killed", [(klass, end == "5", 1) for klass, end in fates])
    ended = [(klass, end == "3", 1) for klass, end in fates if end and end in ENDS]
    answers.chances(9, "jobs failed, of those that ended", ended)
    answers.waits("jobs", waits)
    return ends


def of_tasks(rows, end, ends, answers):
    """Adds all answers about tasks; returns their largest requests."""
    tasks, lines = defaultdict(list), []
    for line, row in enumerate(rows("task_events")):
        events = tasks[row[2], row[3]]
        events.append((at(row[0]), line, row[5], row[4], row[7], row[8], row[9], row[10]))
        lines.append(key(row[7]))
    answers.counts(3, "rows of tasks", lines)
    classes, failed, ever, waits, all_waits, starts = [], [], [], [], [], []
    evictions = {4: [], 8: []}
    places = defaultdict(lambda: (set(), set()))
    hours = defaultdict(lambda: [0.0, 0.0, 0])
    spans, cells, requests = [], Counter(), {}
    for (job, index), events in tasks.items():
        events.sort()
        kinds = "".join(event[2] if event[2] in "012345678" else "9" for event in events)
        known = [event[4] for event in events if event[4]]
        klass = key(known[-1] if known else "")
        classes.append(klass)
        said = [event[5] for event in events if event[5]]
        for question, group in ((4, klass), (8, float(said[-1]) if said else 0.0)):
            evictions[question].append((group, kinds.count("2"), kinds.count("1"), len(kinds)))
        failed.append((klass, fate(kinds) == "3", 1))
        ever.append((klass, "3" in kinds, 1))
        asked = [[float(event[column]) for event in events if event[column]] for column in (6, 7)]
        requests[job, index] = [max(own, default=None) for own in asked]
        submit, schedule = kinds.find("0"), kinds.find("1")
        again = kinds.find("1", submit) if submit != -1 else -1
        if again != -1 and 0 < events[submit][0] <= end and events[again][0] <= end:
            waits.append((klass, events[again][0] - events[submit][0]))
        if -1 not in (submit, schedule) and events[submit][0] <= events[schedule][0] < AFTER:
            all_waits.append((klass, events[schedule][0] - events[submit][0]))
        job_end = ends.get(job)
        for place, (time, _, kind, machine, *_, request, _) in enumerate(events):
            if time < AFTER:
                hours[time // HOUR][2] += kind == "2"
            if kind == "2" and machine:
                cells[machine, time // CELL] += 1
            if kind != "1" or time == AFTER:
                continue
            if machine:
                places[job][0].add(index)
                places[job][1].add(machine)
            before = [event for event in events[max(0, place - 20) : place] if event[2] in "01" + ENDS]
            if not before:
                before = [event for event in events[:place] if event[2] in "01" + ENDS]
            if before and before[-1][2] == "0" and 0 < before[-1][0]:
                starts.append((klass, time - before[-1][0]))
            stop = next((event[0] for event in events[place + 1 :] if event[2] in "1" + ENDS), AFTER)
            if stop == AFTER:
                stop = max(time, job_end) if job_end is not None and job_end < end else end
            spans.append((time, stop, float(request or 0)))
    answers.counts(3, "tasks", classes)
    for question, found in evictions.items():
        answers.chances(question, "tasks", [(group, 0 < out, 1) for group, out, _, _ in found])
        answers.chances(question, "attempts", [(group, out, ran) for group, out, ran, _ in found])
        answers.chances(question, "rows", [(group, out, count) for group, out, _, count in found])
        every = sum(out for _, out, _, _ in found)
        for group in {group for group, *_ in found} | {-1.0}:
            own = sum(out for own, out, _, _ in found if group in (own, -1.0))
            answers.share(question, "of all evictions", group, own, every)
    answers.chances(9, "tasks failed", failed)
    answers.chances(9, "tasks with a FAIL", ever)
    answers.waits("tasks", waits)
    answers.waits("tasks, time 0 too", all_waits)
    answers.waits("attempts", starts)
    sizes = [(len(own), len(machines)) for own, machines in places.values()]
    large = [(own, machines) for own, machines in sizes if 1 < own]
    for measure, count, whole in [
        ("one machine", sum(machines == 1 for _, machines in large), large),
        ("one machine, jobs of one task too", sum(machines == 1 for _, machines in sizes), sizes),
        ("fewer machines than tasks", sum(machines < own for own, machines in large), large),
        ("as many machines as tasks", sum(machines == own for own, machines in large), large),
        ("more machines than tasks", sum(machines > own for own, machines in large), large),
    ]:
        answers.share(5, measure, -1, count, len(whole))
    for time, stop, _ in spans:
        hours[time // HOUR], hours[stop // HOUR]
    for time, stop, request in spans:
        for hour in range(time // HOUR, stop // HOUR + 1):
            if hour in hours:
                within = (min(stop, (hour + 1) * HOUR) - max(time, hour * HOUR)) / 1e6
                hours[hour][0] += within * request
                hours[hour][1] += within
    answers.correlated(7, "hours, requested", [(own[0], own[2]) for own in hours.values()])
    answers.correlated(7, "hours, running", [(own[1], own[2]) for own in hours.values()])
    return requests, cells


def of_usage(rows, requests, evicted, answers):
    peaks, used, lines = defaultdict(float), defaultdict(lambda: [0.0, 0.0, 0.0]), []
    spent = asked_for = 0.0
    for row in rows("task_usage"):
        begin, stop = at(row[0]), at(row[1])
        peaks[row[4], begin // CELL] += float(row[13] or 0)
        asked = requests.get((row[2], row[3]))
        if asked is None or stop <= begin or stop == AFTER:
            continue
        length, cpu, memory = (stop - begin) / 1e6, float(row[5] or 0), float(row[6] or 0)
        for place, amount in enumerate((length, cpu * length, memory * length)):
            used[row[2], row[3]][place] += amount
        if asked[0] is not None:
            lines.append((asked[0], cpu))
            spent, asked_for = spent + cpu * length, asked_for + asked[0] * length
    tasks = [(requests[task], cpu / length, memory / length) for task, (length, cpu, memory) in used.items()]
    answers.correlated(6, "CPU", [(own[0], cpu) for own, cpu, _ in tasks if own[0] is not None])
    answers.correlated(6, "memory", [(own[1], memory) for own, _, memory in tasks if own[1] is not None])
    answers.correlated(6, "CPU by row", lines)
    answers.correlated(6, "CPU over request", [(own[0], cpu / own[0]) for own, cpu, _ in tasks if own[0]])
    if lines:
        answers.share(6, "CPU used", -1, six_decimals(spent), six_decimals(asked_for))
    answers.correlated(7, "machines, five minutes", [(peak, evicted[cell]) for cell, peak in peaks.items()])


def course(rows, job_end, task_end):
    """All answers: (question, measure, group) to (part, whole, value)."""
    answers = Answers()
    times = [at(row[0]) for row in rows("machine_events")]
    of_machines(rows, max([job_end, task_end, *(time for time in times if time < AFTER)]), answers)
    ends = of_jobs(rows, answers)
    requests, evicted = of_tasks(rows, task_end, ends, answers)
    of_usage(rows, requests, evicted, answers)
    return answers.found


def is_same(one, other):
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


def main(jobfate, lake, folder):
    command = [jobfate, "reproduce", "course", "--lake", lake, "--format", "json", "-q"]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    windows = said["made_from"]["settings"]["windows"] if "made_from" in said else said["settings"]["windows"]
    found = course(raw(folder), windows["job_end_us"], windows["task_end_us"])
    ours = {
        (question["number"], row["measure"], row["group_key"]): (row["part"], row["whole"], row["value"])
        for question in said["questions"]
        for row in question["answer"] + question["other_readings"]
    }
    answered = {question for question, *_ in ours}
    wrong = 0
    for name in sorted(set(ours) | {name for name in found if name[0] in answered}):
        one, other = ours.get(name), found.get(name)
        if one is None or other is None or not all(map(is_same, one, other)):
            print(f"{name}: {one} of jobfate, {other} here")
            wrong += 1
    print(f"{len(ours)} numbers of {len(answered)} questions, {wrong} differ")
    return 1 if wrong or not ours else 0


if __name__ == "__main__":
    sys.exit(main(*map(os.fspath, sys.argv[1:4])))
