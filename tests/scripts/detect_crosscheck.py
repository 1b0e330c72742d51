#!/usr/bin/env python3
# /// script
# dependencies = ["duckdb"]
# ///
"""Compares `jobfate detect` with plain Python on the same lake; DuckDB only reads the lake.

Usage: detect_crosscheck.py JOBFATE LAKE [JOBS_REPLAYED]

1. The numbers of groups, tasks, stragglers by four truths, attempts and hours.
2. Every score of every detector, and the time that copies of the flagged tasks would save, recounted from
   detect-flags.parquet.
3. The flags of spark (version 3), flink, google, cubed and ytsaurus, by a replay that visits every heartbeat and sorts
   again each time, on JOBS_REPLAYED jobs (default: all), spread over job ids.
Exits with 1 and prints what differs.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import duckdb

AFTER = 2**63 - 1
SUBMIT, SCHEDULE, FINISH = 0, 1, 4
TERMINAL = {2, 3, 4, 5, 6}
BEAT_US = 10_000_000
TASKS_MIN = 10
# Most events that the replay of one job checks.
COST_MAX = 3_000_000
DETECTORS = ["spark:version=3", "flink", "google", "cubed", "ytsaurus"]


def read(con, lake, table, columns):
    manifest = json.loads((lake / "manifest.json").read_text())
    files = [str(lake / file["path"]) for file in manifest["tables"][table]["files"]]
    return con.execute(f"SELECT {columns} FROM read_parquet({files}, hive_partitioning = false) "
                       "ORDER BY job_id, task_index, time_us, row_id")


def jobs_of(rows):
    """Yields (job, {task: [(time, event)]}) from rows in order."""
    job, tasks = None, {}
    while batch := rows.fetchmany(100_000):
        for this, task, time, event in batch:
            if this != job:
                if tasks:
                    yield job, tasks
                job, tasks = this, {}
            if time < AFTER:
                tasks.setdefault(task, []).append((time, event))
    if tasks:
        yield job, tasks


def attempts_of(events, window_end):
    """(start, end, event that ended it or None) in order."""
    found = []
    for time, event in events:
        if event == SCHEDULE or event in TERMINAL:
            if found and found[-1][1] is None:
                found[-1][1:] = [time, event]
            if event == SCHEDULE:
                found.append([time, None, None])
    return [(start, max(window_end, start) if end is None else end, how) for start, end, how in found]


def percentile(ascending, share):
    place = share * (len(ascending) - 1)
    below = int(place)
    above = min(below + 1, len(ascending) - 1)
    return ascending[below] + (place - below) * (ascending[above] - ascending[below])


def lines_of(lengths):
    """Returns the length beyond which a task is a straggler, by ground truth."""
    lengths = sorted(lengths)
    median = percentile(lengths, Fraction(1, 2))
    mean = Fraction(sum(lengths), len(lengths))
    return [median * Fraction(3, 2), mean * Fraction(3, 2), percentile(lengths, 0.9), median * 1.3]


def cost(tasks, attempts):
    """Returns how many events naive_flags checks."""
    runs = [run for rows in attempts.values() for run in rows]
    span = max(run[1] for run in runs) - min(run[0] for run in runs)
    return span // BEAT_US * sum(map(len, tasks.values()))


def ytsaurus(now, running, runs, done, copied):
    """Returns the tasks that the job splitter of YTsaurus copies; progress is the age over the median of the finished
    tasks, at most 99 %."""
    twice = done[(len(done) - 1) // 2] + done[len(done) // 2]

    def left(start):
        age = now - start
        return (age + 49) // 99 if 200 * age > 99 * twice else -(-twice // 2) - age

    changes = sorted(change for _, start, end, _ in runs for change in ((start, 1), (end, -1)) if change[0] <= now)
    at_once, most = 0, 0
    for _, change in changes:
        at_once += change
        most = max(most, at_once)
    known = sorted((left(start), start, task) for task, start, _, _ in running if start < now)
    if len(running) <= max(10, most * 4 // 5):
        slow = known
    else:
        median = known[len(known) // 2][0] if known else 0
        slow = [run for run in known[len(known) * 4 // 5:] if 10 * run[0] >= 21 * median and run[0] > 0]
    worth = [(-rest, start, task) for rest, start, task in slow
             if rest > 60_000_000 and now - start > 60_000_000 and (task, start) not in copied]
    room = 10 - sum((task, start) in copied for task, start, _, _ in running)
    return [(task, start) for _, start, task in sorted(worth)[:max(room, 0)]]


def naive_flags(tasks, attempts, first_us):
    """Returns the flags of each of DETECTORS: sets of (task, start, time), by the definition alone."""
    runs = [(task, *run) for task, rows in attempts.items() for run in rows if run[0] >= first_us]
    flags = {name: set() for name in DETECTORS}
    copied = {name: set() for name in DETECTORS}
    if not runs:
        return flags
    now = min(run[1] for run in runs) // BEAT_US * BEAT_US
    last = max(run[2] for run in runs)
    while now < last:
        running = [run for run in runs if run[1] <= now < run[2]]
        if running and now > 0:
            done = sorted(run[2] - run[1] for run in runs if run[3] == FINISH and run[2] <= now)
            known, waiting, over = 0, 0, 0
            for events in tasks.values():
                state = None
                for time, event in events:
                    if time > now:
                        break
                    if event == SCHEDULE:
                        state = "running"
                    elif event in TERMINAL:
                        state = "over"
                    elif event == SUBMIT and state != "running":
                        state = "waiting"
                known += state is not None
                waiting += state == "waiting"
                over += state == "over"

            def flag(name, limit, once_per_task=False):
                tasks_before = {task for task, _ in copied[name]} if once_per_task else ()
                for task, start, end, how in running:
                    if limit(now - start) and (task, start) not in copied[name] and task not in tasks_before:
                        copied[name].add((task, start))
                        flags[name].add((task, start, now))

            least = max(known * 3 // 4, 1)
            if known > 1 and len(done) >= least:
                line = max(statistics.median(map(Fraction, done)) * Fraction(3, 2), 100_000)
                flag("spark:version=3", lambda age: age > line)
            if Fraction(len(done), max(known, 1)) >= Fraction(3, 4):
                fastest = done[: min(int(known * Fraction(3, 4) + Fraction(1, 2)), len(done))]
                base_ms = fastest[len(fastest) // 2] * Fraction(3, 2) // 1000 if fastest else 0
                line_us = max(base_ms * 1000, 60_000_000)
                flag("flink", lambda age: age >= line_us)
            if waiting == 0 and over >= Fraction(95, 100) * known:
                flag("google", lambda age: True, once_per_task=True)
            started = len({task for task, start, _, _ in runs if start <= now})
            half = -(-started // 2)
            if started >= 10 and len(done) >= half:
                flag("cubed", lambda age: age > 3 * done[half - 1], once_per_task=True)
            if waiting == 0 and done:
                for task, start in ytsaurus(now, running, runs, done, copied["ytsaurus"]):
                    copied["ytsaurus"].add((task, start))
                    flags["ytsaurus"].add((task, start, now))
        now += BEAT_US
    return flags


def main(jobfate, lake, sample):
    faults, compared = [], 0

    def same(what, ours, theirs):
        nonlocal compared
        compared += 1
        if ours != theirs:
            faults.append(f"{what}: {ours} and not {theirs}")

    def near(what, ours, theirs):
        nonlocal compared
        compared += 1
        if (ours is None) != (theirs is None) or (ours is not None and abs(ours - theirs) > 1e-9 * max(1, abs(theirs))):
            faults.append(f"{what}: {ours} and not {theirs}")

    con = duckdb.connect()
    with tempfile.TemporaryDirectory() as folder:
        lineup = "all " + " ".join(DETECTORS)
        run = subprocess.run([jobfate, "detect", "--lake", lake, "--detectors", lineup, "--progress", "siblings",
                              "--open-attempts", "window-end",
                              "--format", "json", "--out", folder], check=True, capture_output=True)
        answer = json.loads(run.stdout)
        rows = con.execute("SELECT detector, job_id, task_index, start_us, flagged_us, end_us, is_straggler FROM "
                           f"'{folder}/detect-flags.parquet'").fetchall()
    flagged = defaultdict(list)
    for detector, *row in rows:
        flagged[detector].append(row)

    manifest = json.loads((lake / "manifest.json").read_text())
    # Events before the window of the 2011 trace are recorded at 0.
    first_us = 1 if manifest["source"] == "google-2011" else 0
    times = [part["max_time_us"] for part in manifest["tables"]["task_events"]["parts"]]
    window_end = max(time for time in times if time is not None)
    counts, running_us, response_us, straggling, judged, histories = Counter(), 0, 0, [0] * 4, {}, {}
    ends, medians = {}, {}
    for job, tasks in jobs_of(read(con, lake, "task_events", "job_id, task_index, time_us, event_type")):
        attempts = {task: attempts_of(events, window_end) for task, events in tasks.items()}
        units = {}
        for task, runs in attempts.items():
            finished = [run for run in runs if run[2] == FINISH]
            if finished and finished[-1][0] >= first_us:
                units[task] = finished[-1]
        if len(units) < TASKS_MIN:
            counts["small_groups"] += 1
            continue
        seen = [run for runs in attempts.values() for run in runs if run[0] >= first_us]
        counts["groups"] += 1
        counts["tasks"] += len(tasks)
        counts["judged_tasks"] += len(units)
        counts["attempts"] += len(seen)
        counts["left_censored"] += sum(map(len, attempts.values())) - len(seen)
        counts["unfinished"] += sum(run[2] is None for run in seen)
        # A heartbeat includes an attempt from its start on, but not at its end; there is no heartbeat at 0.
        counts["task_heartbeats"] += sum(
            -(-end // BEAT_US) - max(-(-start // BEAT_US), 1) for start, end, _ in seen if end > 0)
        running_us += sum(end - start for start, end, _ in seen)
        lines = lines_of([end - start for start, end, _ in units.values()])
        for truth, line in enumerate(lines):
            straggling[truth] += sum(end - start > line for start, end, _ in units.values())
        for task, (start, end, _) in units.items():
            judged[job, task, start] = (end, [end - start > line for line in lines], lines)
        # A job ends with its last attempt, regardless of the outcome of that attempt.
        ends[job] = {(task, run[0]): run[1] for task, runs in attempts.items() for run in runs if run[0] >= first_us}
        begun = min(time for events in tasks.values() for time, _ in events)
        response_us += max(ends[job].values()) - begun
        lengths = sorted(end - start for start, end, _ in units.values())
        low, high = lengths[(len(lengths) - 1) // 2], lengths[len(lengths) // 2]
        medians[job] = low + (high - low) // 2
        histories[job] = (tasks, attempts)

    for key, count in counts.items():
        same(key, answer["counts"][key], count)
    near("task_hours", answer["task_hours"], running_us / 3.6e9)
    near("response_hours", answer["response_hours"], response_us / 3.6e9)
    unlimited = {row["detector"]: row for row in answer["copies"] if row["budget"] is None}
    same("truths", answer["truths"], ["median:1.5", "mean:1.5", "p90", "median:1.3"])
    same("stragglers", answer["stragglers"], straggling)

    for row in answer["rows"]:
        own = flagged[row["detector"]]
        name = row["detector"]
        same(f"flags of {name}", row["flags"], len(own))
        won, spared, later = 0, 0, {job: dict(known) for job, known in ends.items()}
        for job, task, start, flagged_us, end, _ in own:
            with_copy = flagged_us + medians[job]
            if (job, task, start) in judged and with_copy < end:
                won, spared, later[job][task, start] = won + 1, spared + end - with_copy, with_copy
        earlier = sum(max(known.values()) - max(later[job].values()) for job, known in ends.items())
        same(f"copies of {name}", [unlimited[name]["started"], unlimited[name]["won"]], [len(own), won])
        near(f"spared by {name}", unlimited[name]["spared_s"], spared / 1e6)
        near(f"earlier by {name}", unlimited[name]["earlier_s"], earlier / 1e6)
        near(f"share earlier by {name}", unlimited[name]["earlier_share"], earlier / response_us)
        known = [(flag, judged.get((flag[0], flag[1], flag[2]))) for flag in own]
        same(f"unjudged flags of {name}", row["flags_unjudged"], sum(unit is None for _, unit in known))
        known = [(flag, unit) for flag, unit in known if unit is not None]
        for truth, score in enumerate(row["scores"]):
            at = f"{name} by {answer['truths'][truth]}"
            hits = [(flag, unit) for flag, unit in known if unit[1][truth]]
            alarms = len(known) - len(hits)
            same(f"hits of {at}", score["hits"], len(hits))
            same(f"false alarms of {at}", score["false_alarms"], alarms)
            same(f"missed of {at}", score["missed"], straggling[truth] - len(hits))
            near(f"precision of {at}", score["precision"], len(hits) / len(known) if known else None)
            near(f"recall of {at}", score["recall"], len(hits) / straggling[truth] if straggling[truth] else None)
            leads = [(unit[0] - flag[3]) / 1e6 for flag, unit in hits]
            near(f"lead of {at}", score["lead_median_s"], statistics.median(leads) if leads else None)
            late = [(flag[3] - flag[2] - unit[2][truth]) / 1e6 for flag, unit in hits]
            near(f"delay of {at}", score["delay_median_s"], statistics.median(map(float, late)) if late else None)
        for flag, unit in known:
            same(f"end of {flag}", flag[4], unit[0])
            same(f"verdict on {flag}", flag[5], unit[1][0])

    small = [job for job, (tasks, attempts) in histories.items() if cost(tasks, attempts) <= COST_MAX]
    jobs = sorted(small)[:: max(1, -(-len(small) // sample)) if sample else 1]
    found = 0
    for job in jobs:
        naive = naive_flags(*histories[job], first_us)
        for name in DETECTORS:
            ours = {tuple(row[1:4]) for row in flagged[name] if row[0] == job}
            found += len(ours)
            compared += 1
            if ours != naive[name]:
                faults.append(f"{name} on job {job}: only ours {sorted(ours - naive[name])[:3]}, "
                              f"only theirs {sorted(naive[name] - ours)[:3]}")
    print("\n".join(faults[:20]) or f"{compared} comparisons alike; {len(jobs)} of {len(histories)} jobs replayed "
          f"with {found} flags ({len(histories) - len(small)} too long for that)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0))
