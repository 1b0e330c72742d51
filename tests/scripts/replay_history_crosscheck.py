#!/usr/bin/env python3
"""Follows the journal of a replay with the kill rule `history`, and computes which tasks it should kill.

    python tests/scripts/replay_history_crosscheck.py JOBFATE LAKE TRACE_DIR

TRACE_DIR holds `job_events` and `task_events` of the Google trace of 2011, all parts of which are in LAKE. Shares no
code with the program. Users, names and outcomes come from the raw files; submissions, starts and ends come from the
journal, line by line. Compares the tasks that are condemned at each instant, and exits with 1 and a line for each
difference. A task that its user kills at the instant of a look may be condemned or not.
"""

import collections
import decimal
import heapq
import pathlib
import subprocess
import sys
import tempfile

from history_crosscheck import AFTER, AGES, FAIL, FINISH, KILL, NEVER, Known, jobs_of, rows, steps_of

REPLAY = "--sample 0.1 --machines 0.1 --seed 1 --from 6 --until 15 --journal".split()
WAYS = ["submission", "age", "events"]
CHANCE = 0.9


def lines_of(path):
    """Yields the journal as (time in µs, word, task) with task as (job, index), by instant."""
    found = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        fields = line.split(" ")
        if len(fields) > 2 and "/" in fields[2]:
            at = int(decimal.Decimal(fields[0]) * 10**6)
            found[at].append((fields[1], tuple(fields[2].split("/")), len(fields) > 3))
    return dict(sorted(found.items()))


class Follower:
    def __init__(self, journal, trace_jobs, way):
        (self.events, self.who, self.window_end), self.way = trace_jobs, way
        self.journal, self.known, self.waiting_to_learn = journal, Known(), []
        self.left, self.cut = collections.Counter(), set()
        tasks = {task for lines in journal.values() for _, task, _ in lines}
        self.left.update(job for job, _ in tasks)
        begin = next(iter(journal))
        ends = [(time, place, own, kind != FINISH) for job, history in self.events.items()
                if job not in self.left for time, place, kind, own in history
                if kind in (FAIL, FINISH, KILL) and time < begin]
        for _, _, own, lost in sorted(ends):
            self.known.end(own, lost, {}, 0)
        self.state, self.first, self.count = {}, {}, collections.Counter()
        self.chances, self.reached = {}, collections.defaultdict(list)
        self.last = {task: (now, word) for now, lines in journal.items() for word, task, _ in lines}

    def rate(self, who):
        every = self.known.by["all"]
        overall = every.lost / every.jobs if every.jobs else 0.0
        return self.known.by["pair", who].drawn(self.known.by["user", who[0]].drawn(overall))

    def condemns(self, task, now):
        """Whether a look at a task kills it."""
        if task not in self.first or now - self.first[task] < AFTER or task[0] not in self.who:
            return False
        age, who = now - self.first[task], self.who[task[0]]
        if self.way == "submission":
            chance = self.chances[task[0]]
        else:
            chance = self.known.chance(who, age, self.count[task] if self.way == "events" else 0)
        return chance * 100 >= CHANCE * 100

    def over(self, task, now, is_cut=False):
        self.state[task] = "over"
        job = task[0]
        self.left[job] -= 1
        if is_cut:
            self.cut.add(job)
        elif task in self.first:
            self.reached[job].append((now - self.first[task], self.count[task] + 1))
        if self.left[job] == 0 and job not in self.cut:
            self.waiting_to_learn.append(job)

    def learn(self):
        for job in self.waiting_to_learn:
            ends = [kind for time, _, kind, _ in self.events.get(job, ())
                    if kind in (FAIL, FINISH, KILL) and time <= self.window_end]
            if ends:
                cells = collections.Counter()
                for age, count in self.reached[job]:
                    ages, counts = steps_of(age, count)
                    cells.update((a, c) for a in range(ages + 1) for c in range(counts + 1))
                self.known.end(self.who[job], ends[-1] != FINISH, cells, len(self.reached[job]))
        self.waiting_to_learn = []

    def follow(self):
        """Returns how many tasks were wrongly condemned or not condemned, and how many were condemned in total."""
        wrong, total, looks = 0, 0, collections.defaultdict(set)
        pending = set(self.journal)
        heap = list(pending)
        heapq.heapify(heap)
        while heap:
            now = heapq.heappop(heap)
            lines = self.journal.get(now, [])
            condemned = {task for word, task, of_attempt in lines if word == "condemn" and not of_attempt}
            should, unsure, ended = set(), set(), []
            starts = [line for line in lines if line[0] == "start"]
            for word, task, of_attempt in lines:
                if word == "submit":
                    self.count[task] += 1
                    self.state[task] = "waiting"
                    if task[0] in self.who:
                        self.chances.setdefault(task[0], self.rate(self.who[task[0]]))
                    if self.condemns(task, now):
                        should.add(task)
                elif word == "fail":
                    self.count[task] += 1
                    self.state[task] = "failed"
                    ended.append(task)
                elif word in ("evict", "lost"):
                    self.count[task] += 1
                elif word == "finish":
                    self.over(task, now)
                elif word == "kill" and not of_attempt:
                    unsure.add(task)
                    self.over(task, now)
                elif word == "refuse":
                    self.over(task, now, is_cut=True)
            for task in looks.pop(now, ()):
                if self.state[task] == "waiting" or self.state[task] == "running":
                    if self.condemns(task, now):
                        should.add(task)
            for task in condemned:
                self.over(task, now, is_cut=True)
            for _, task, _ in starts:
                self.count[task] += 1
                if self.state[task] != "over":
                    self.state[task] = "running"
                if task not in self.first:
                    self.first[task] = now
                    ages = [AFTER] + ([] if self.way == "submission" else [a for a in AGES if a > AFTER])
                    for age in ages:
                        looks[now + age].add(task)
                        if now + age not in pending:
                            pending.add(now + age)
                            heapq.heappush(heap, now + age)
                elif self.condemns(task, now):
                    should.add(task)
            # The last failure of a task ends it.
            for task in ended:
                if self.state[task] == "failed" and self.last[task] == (now, "fail"):
                    self.count[task] -= 1
                    self.over(task, now)
            self.learn()
            total += len(condemned)
            for task in (condemned ^ should) - unsure:
                print(f"{self.way}: task {task} at {now} µs: condemned {task in condemned}")
                wrong += 1
        return wrong, total


def main(program, lake, trace):
    trace = pathlib.Path(trace)
    events, who = jobs_of(trace)
    window_end = max(time for time, _, _ in rows(trace / "task_events") if time < NEVER)
    wrong = 0
    with tempfile.TemporaryDirectory() as out:
        policies = [f"fifo+kill:history:p={CHANCE},by={way}" for way in WAYS]
        command = [program, "replay", "--lake", lake, *REPLAY, "--policies", *policies, "--out", out, "-q"]
        subprocess.run(command, check=True, capture_output=True)
        for number, way in enumerate(WAYS, 1):
            journal = lines_of(pathlib.Path(out) / f"journal-{number}.txt")
            found, total = Follower(journal, (events, who, window_end), way).follow()
            print(f"{way}: {total} condemned tasks, {found} wrong")
            wrong += found
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
