#!/usr/bin/env python3
"""Recomputes the kill rules `history:by=age` and `history:by=events`, and `predict` by events, from the raw files.

    python tests/scripts/history_crosscheck.py JOBFATE LAKE TRACE_DIR

TRACE_DIR holds `job_events` and `task_events` of the Google trace of 2011, all parts of which are in LAKE. Shares no
code with the program, and uses another method: it sorts events, looks and ends of jobs by time and processes them once,
so that later events cannot have an effect. Compares condemned tasks by outcome and harmed jobs for each chance, and
right and wrong predictions of the rule `hazard-events` at two ages. A chance that equals one half up to rounding may
count on either side, so two jobs may differ. Exits with 1 and a line for each number that differs. Takes about three
minutes and 2.5 GB.
"""

import collections
import csv
import gzip
import json
import pathlib
import subprocess
import sys

SUBMIT, SCHEDULE, EVICT, FAIL, FINISH, KILL, LOST = range(7)
OVER = {EVICT, FAIL, FINISH, KILL, LOST}
DECIDING = {SUBMIT, SCHEDULE} | OVER
AGES = [age * 10**6 for age in (60, 600, 3600, 21_600, 86_400)]
EVENTS = [3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100]
GRID = [0.5, 0.7, 0.9, 0.95, 0.99]
AFTER = 60 * 10**6
PREDICTED_AT_S = (600, 3600)
NEVER = 2**63 - 1
OUTCOMES = {"014": "finished", "013": "failed", "015": "killed", "01": "running"}


def rows(folder):
    """Yields lines of a table with their position, in the order of parts; the largest time means "after"."""
    for part, path in enumerate(sorted(folder.glob("*.csv.gz"))):
        with gzip.open(path, "rt", newline="") as text:
            for line, row in enumerate(csv.reader(text)):
                yield min(int(row[0]), NEVER), (part, line), row


def jobs_of(trace):
    """By job: (time, place, type) of its events in order, and its user and name."""
    events, who = collections.defaultdict(list), {}
    for time, place, row in rows(trace / "job_events"):
        events[row[2]].append((time, place, int(row[3]), (row[4], row[7])))
    for job, history in events.items():
        history.sort()
        first = next((event for event in history if event[2] == SUBMIT), history[0])
        who[job] = first[3]
    return events, who


def tasks_of(trace):
    """By task: (time, type) of its events in order; and the last time of the table."""
    events, last = collections.defaultdict(list), 0
    for time, place, row in rows(trace / "task_events"):
        events[row[2], row[3]].append((time, place, int(row[5])))
        if time < NEVER:
            last = max(last, time)
    return {task: sorted(history) for task, history in events.items()}, last


def over_at(history, at):
    """Whether the last event that decides, up to a time, is an end."""
    for time, _, kind in reversed(history):
        if time <= at and kind in DECIDING:
            return kind in OVER
    return False


def steps_of(age, count):
    return sum(limit <= age for limit in AGES), sum(limit <= count for limit in EVENTS)


class Weights:
    """Ended jobs, and those of them that did not finish; older ones may weigh less."""

    def __init__(self):
        self.jobs = self.lost = 0.0

    def add(self, lost, share=1.0, keep=1.0):
        self.jobs = self.jobs * keep + share
        self.lost = self.lost * keep + (share if lost else 0.0)

    def drawn(self, before):
        return (self.lost + before) / (self.jobs + 1)


class Known:
    """The jobs that have ended so far."""

    def __init__(self):
        self.by = collections.defaultdict(Weights)

    def end(self, who, lost, counts, tasks):
        keep = 2 ** (-1 / 5)
        self.by["pair", who].add(lost, 1.0, keep)
        self.by["user", who[0]].add(lost, 1.0, keep)
        self.by["all"].add(lost)
        for cell, count in counts.items():
            self.by["cell", cell].add(lost, count / tasks)

    def rate(self, who):
        every = self.by["all"]
        rate = every.lost / every.jobs if every.jobs else 0.0
        return self.by["pair", who].drawn(self.by["user", who[0]].drawn(rate))

    def chance(self, who, age, count):
        ages, events = steps_of(age, count)
        rate = self.rate(who)
        base = here = self.by["cell", (0, 0)].drawn(0.5)
        for step in range(1, ages + 1):
            here = self.by["cell", (step, 0)].drawn(here)
        for step in range(1, events + 1):
            here = self.by["cell", (ages, step)].drawn(here)
        lost, finished = rate * here * (1 - base), (1 - rate) * (1 - here) * base
        return lost / (lost + finished)


def come_to(history, at):
    """Returns the age and the events of a task at a time; None if it had not started."""
    known = [event for event in history if event[0] <= at]
    first = next((event[0] for event in known if event[2] == SCHEDULE), None)
    if first is None:
        return None
    last = next((event for event in reversed(known) if event[2] in DECIDING))
    return (last[0] if last[2] in OVER else at) - first, len(known)


def ends_of(jobs, who, tasks_by_job, tasks):
    """Returns every end of a job with the cells that its started tasks had reached, in order."""
    ends = []
    for job, history in jobs.items():
        for time, place, kind, own in history:
            if kind not in (FAIL, FINISH, KILL):
                continue
            cells, begun = collections.Counter(), 0
            for task in tasks_by_job.get(job, ()):
                reached = come_to(tasks[task], time)
                if reached is None:
                    continue
                begun += 1
                ages, counts = steps_of(*reached)
                cells.update((a, c) for a in range(ages + 1) for c in range(counts + 1))
            ends.append((time, place, own, kind != FINISH, cells, begun))
    return sorted(ends, key=lambda end: end[:2])


def looks_of(jobs, tasks, window_end):
    """Returns every (time, task, age, events so far) at which a task is checked, in order."""
    looks = []
    for task, history in tasks.items():
        first = next((event[0] for event in history if event[2] == SCHEDULE), None)
        if first is None or first == NEVER:
            continue
        job_end = None
        for time, _, kind, _ in jobs.get(task[0], ()):
            if kind in DECIDING:
                job_end = time if kind in OVER else None
        if job_end is not None and job_end >= window_end:
            job_end = None
        begin = first + AFTER
        at = {first + age for age in AGES if first + age > begin} | {begin}
        at = {time for time in at if time <= window_end}
        at |= {event[0] for event in history if begin < event[0] < NEVER}
        for time in at:
            if over_at(history, time) or (job_end is not None and job_end <= time):
                continue
            looks.append((time, task, time - first, sum(event[0] <= time for event in history)))
    return sorted(looks)


def predicted(age, jobs, who, tasks, tasks_by_job, ends, window_end):
    """Predictions of jobs that reach an age: [true positives, false ones, true negatives, false ones]."""
    asked = []
    for job, history in jobs.items():
        first = next((event for event in history if event[2] == SUBMIT), history[0])
        time, last = first[0] + age, history[-1][2]
        if history[0][0] == 0 or last not in (FAIL, FINISH, KILL) or window_end < time:
            continue
        over = [event[2] for event in history if event[0] <= time][-1] in (FAIL, FINISH, KILL)
        if not over and any(tasks[task][0][0] <= time for task in tasks_by_job.get(job, ())):
            asked.append((time, first[1], job, last != FINISH))
    known, next_end, counts = Known(), 0, [0] * 4
    for time, place, job, truth in sorted(asked):
        while next_end < len(ends) and ends[next_end][:2] < (time, place):
            _, _, own, lost, cells, begun = ends[next_end]
            known.end(own, lost, cells, begun)
            next_end += 1
        reached = [come_to(tasks[task], time) for task in tasks_by_job[job]]
        chances = [known.chance(who[job], *one) for one in reached if one is not None]
        chance = sum(chances) / len(chances) if chances else known.rate(who[job])
        counts[{(1, 1): 0, (1, 0): 1, (0, 0): 2, (0, 1): 3}[int(chance > 0.5), int(truth)]] += 1
    return counts


def expected(trace):
    """By rule and chance: condemned tasks by outcome, and harmed jobs; by age, predictions."""
    jobs, who = jobs_of(trace)
    tasks, window_end = tasks_of(trace)
    tasks_by_job = collections.defaultdict(list)
    for task in tasks:
        tasks_by_job[task[0]].append(task)
    outcome = {job: OUTCOMES.get("".join(str(e[2]) for e in h), "other") for job, h in jobs.items()}
    ends, looks = ends_of(jobs, who, tasks_by_job, tasks), looks_of(jobs, tasks, window_end)
    known, next_end, best = Known(), 0, {"age": {}, "events": {}}
    for time, task, age, count in looks:
        while next_end < len(ends) and ends[next_end][0] < time:
            _, _, own, lost, cells, begun = ends[next_end]
            known.end(own, lost, cells, begun)
            next_end += 1
        if task[0] not in who:
            continue
        for rule, events in (("age", 0), ("events", count)):
            chance = known.chance(who[task[0]], age, events)
            best[rule][task] = max(best[rule].get(task, 0.0), chance)
    found = {}
    for rule, chances in best.items():
        for chance in GRID:
            condemned = [task for task, most in chances.items() if chance * 100 <= most * 100]
            by_outcome = collections.Counter(outcome[task[0]] for task in condemned)
            harmed = {task[0] for task in condemned if outcome[task[0]] == "finished"}
            found[rule, round(chance * 100)] = by_outcome, len(harmed)
    for age in PREDICTED_AT_S:
        found[age] = predicted(age * 10**6, jobs, who, tasks, tasks_by_job, ends, window_end)
    return found


def main(program, lake, trace):
    grid = "{" + ",".join(str(chance) for chance in GRID) + "}"
    rules = ",".join(f"history:p={grid},by={by}" for by in ("age", "events"))
    command = [program, "sweep", "--lake", lake, "--rules", rules, "--format", "json", "-q"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    should, wrong = expected(pathlib.Path(trace)), 0
    swept = [answer, *answer["rules"]]
    for by, row in [(rule["rule"].rsplit("by=", 1)[1], row) for rule in swept for row in rule["rows"]]:
        place = row["threshold"]
        by_outcome, harmed = should[by, place]
        for name, count in row["condemned_tasks"].items():
            if count != by_outcome.get(name, 0):
                print(f"{by} {place} %: {count} condemned tasks {name}, should be {by_outcome.get(name, 0)}")
                wrong += 1
        if row["harmed_jobs"] != harmed:
            print(f"{by} {place} %: {row['harmed_jobs']} harmed jobs, should be {harmed}")
            wrong += 1
        print(f"{by} {place} %: {sum(by_outcome.values())} condemned tasks, {harmed} harmed jobs")
    for age in PREDICTED_AT_S:
        command = [program, "predict", "--lake", lake, "--age", f"{age}s", "--rules", "hazard-events",
                   "--format", "json", "-q"]
        said = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        kinds = ["true_positives", "false_positives", "true_negatives", "false_negatives"]
        ours = [said[kind] for kind in kinds]
        if sum(ours) != sum(should[age]) or any(abs(one - other) > 2 for one, other in zip(ours, should[age])):
            print(f"after {age} s: {ours}, should be {should[age]}")
            wrong += 1
        print(f"after {age} s: {dict(zip(kinds, should[age]))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
