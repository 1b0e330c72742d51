#!/usr/bin/env python3
"""Finds the episodes of raw files again, without jobfate, and compares.

Usage: episodes_crosscheck.py google|slurm RAW ANSWER

RAW is the folder of the Google trace of 2011 whose events are in the lake, or the output of `sacct -P` as Open XDMoD
keeps it (26 fields, times in UTC, one line per job). ANSWER is the output of `jobfate episodes --format json`, with
`--most` so large that all episodes are in it. The script counts every interval, and finds the episodes by the rule of
the answer, with the users, jobs and machines in them. Exit status 1 if they differ.
"""

import collections
import csv
import datetime
import glob
import gzip
import json
import re
import statistics
import sys

KINDS = ["jobs submitted", "tasks failed", "tasks killed", "tasks evicted", "tasks lost", "machines left"]
OF_TYPE = {2: "tasks evicted", 3: "tasks failed", 5: "tasks killed", 6: "tasks lost"}
MICROS = 1_000_000
DAY = 86_400 * MICROS


def parts(folder):
    """(number, rows) of each part of a table."""
    for path in sorted(glob.glob(f"{folder}/part-*.csv.gz")):
        number = int(re.search(r"part-(\d+)-", path).group(1))
        with gzip.open(path, "rt") as lines:
            yield number, list(csv.reader(lines))


def google(folder):
    """The first instant; events as (kind, µs, job, user, machine, reason); by kind the spans for which it is known."""
    submits, users, ends = {}, {}, []
    for _, rows in parts(f"{folder}/job_events"):
        for row in rows:
            time, job = int(row[0]), row[2]
            ends.append(time)
            users[job] = max(users.get(job, ""), row[4])
            if row[3] == "0":
                submits[job] = min(submits.get(job, time), time)
    # The trace begins at 600 s of its clock; earlier events have time 0.
    began = lambda time: time if 0 < time else 600 * MICROS
    jobs_from = began(min(time for time in ends if time < 2**63 - 1))
    # The table is whole: its window ends as published.
    known = {"jobs submitted": [[jobs_from, 2_506_200 * MICROS]]}
    events = [("jobs submitted", time, job, users[job], None, None) for job, time in submits.items()]
    open_on, seen, last_number, last_time = {}, [], None, None
    for number, rows in parts(f"{folder}/task_events"):
        first = int(rows[0][0])
        if last_number is not None and number != last_number + 1:
            seen.append(("gap", last_time, first))
        for row in rows:
            time, task, kind = int(row[0]), (row[2], row[3]), int(row[5])
            machine = open_on.get(task)
            if kind in OF_TYPE:
                events.append((OF_TYPE[kind], time, row[2], users.get(row[2]), machine, None))
            if kind == 1:
                open_on[task] = row[4] or None
            elif kind in (2, 3, 4, 5, 6):
                open_on.pop(task, None)
        last_number, last_time = number, int(rows[-1][0])
        seen.append(("part", min(int(row[0]) for row in rows), max(int(row[0]) for row in rows)))
    start = min(part[1] for part in seen if part[0] == "part")
    end = max(part[2] for part in seen if part[0] == "part")
    spans, since = [], began(start)
    for what, begin, until in seen:
        if what == "gap":
            spans.append([since, begin])
            since = until
    spans.append([since, end])
    for kind in OF_TYPE.values():
        known[kind] = spans
    for _, rows in parts(f"{folder}/machine_events"):
        for row in rows:
            if row[2] == "1":
                events.append(("machines left", int(row[0]), None, None, None, None))
    known["machines left"] = [[min(jobs_from, known["tasks failed"][0][0]), 2_506_200 * MICROS]]
    events = [event for event in events if 0 < event[1] < 2**63 - 1]
    return min(spans[0][0] for spans in known.values()), events, known


def slurm(path):
    fails = {"FAILED": 3, "TIMEOUT": 3, "CANCELLED": 5, "PREEMPTED": 2, "NODE_FAIL": 6}
    events, times, ends = [], [], []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("|")
            at = lambda text: int(
                datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp() * MICROS
            )
            submit, end = at(fields[10]), at(fields[13])
            state, job, user = fields[16].split(" ")[0], fields[0], fields[8]
            start = at(fields[12])
            times += [submit, start, end]
            ends.append(end)
            events.append(("jobs submitted", submit, job, user, None, state))
            if state in fails:
                events.append((OF_TYPE[fails[state]], end, job, user, None, state))
    # The log holds the jobs that ended from its first end on. Before that, events are missing.
    since = min(ends)
    events = [event for event in events if since <= event[1]]
    return min(times), events, {kind: [[since, max(times)]] for kind in KINDS[:5]}


def common(one, other):
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def main():
    form, raw, answer = sys.argv[1:]
    with open(answer) as file:
        answer = json.load(file)
    first, events, known = {"google": google, "slurm": slurm}[form](raw)
    length = round(answer["interval_s"] * MICROS)
    start = first // length * length
    end = max(spans[-1][1] for spans in known.values())
    count = max(1, -(-(end - start) // length))
    place = lambda time: min((time - start) // length, count - 1)
    wrong, compared = [], 0

    def same(what, found, own):
        nonlocal compared
        compared += 1
        is_same = found == own
        if isinstance(own, float) and found is not None:
            is_same = abs(found - own) <= 1e-9 * max(1.0, abs(own))
        if not is_same:
            wrong.append(f"{what}: {found}, and the raw files give {own}")

    by_kind = collections.defaultdict(list)
    for event in events:
        if start <= event[1] <= end:
            by_kind[event[0]].append(event)
    same("intervals", answer["intervals"], count)
    episodes = []
    for kind in KINDS:
        own = by_kind[kind]
        if not own:
            continue
        counts = collections.Counter(place(event[1]) for event in own)
        column = kind.replace(" ", "_")
        whole = sum(to - since for since, to in known[kind])
        for idx, row in enumerate(answer["by_interval"]):
            bounds = [start + idx * length, min(start + (idx + 1) * length, end)]
            part = sum(common(bounds, span) for span in known[kind])
            same(f"{kind} in interval {idx}", row[column], counts[idx] if part or counts[idx] else None)
            # More than a multiple of the mean of a whole interval.
            if answer["least"] <= counts[idx] and answer["times"] * len(own) * length < counts[idx] * whole:
                if episodes and episodes[-1][0] == kind and episodes[-1][2] == idx - 1:
                    episodes[-1][2] = idx
                else:
                    episodes.append([kind, idx, idx])
    episodes.sort(key=lambda one: (one[1], KINDS.index(one[0])))
    same("number of episodes", len(answer["rows"]), len(episodes))
    for row, (kind, first, last) in zip(answer["rows"], episodes):
        own = [event for event in by_kind[kind] if first <= place(event[1]) <= last]
        name = f"{kind} in {first} to {last}"
        same(f"{name}: what", row["what"], kind)
        same(f"{name}: start", row["start_s"], (start + first * length) / MICROS)
        same(f"{name}: count", row["count"], len(own))
        same(f"{name}: share", row["share"], len(own) / len(by_kind[kind]))
        if kind == "machines left":
            continue
        same(f"{name}: jobs", row["jobs"], len({event[2] for event in own}))
        keys = [("user", 3), ("reason", 5)] + ([("machine_id", 4), ("job_id", 2)] if form == "google" else [])
        for column, at in keys:
            names = collections.Counter(event[at] for event in own if event[at])
            most = max(names.values(), default=0)
            if most < 2:
                same(f"{name}: {column}", row[column], None)
                continue
            number = lambda text: int(text) if column.endswith("_id") else text
            first_of = min(number(text) for text, times in names.items() if times == most)
            same(f"{name}: {column}", row[column], first_of)
            same(f"{name}: its share", row[column.removesuffix("_id") + "_share"], most / len(own))
    days = []
    for kind in KINDS if DAY % length == 0 else []:
        counts = collections.Counter(event[1] // DAY for event in by_kind[kind])
        covered = lambda day: sum(common([day * DAY, (day + 1) * DAY], span) for span in known[kind])
        whole = [day for day in range(start // DAY, end // DAY + 1) if by_kind[kind] and covered(day) == DAY]
        if len(whole) < 7:
            continue
        median = statistics.median(counts[day] for day in whole)
        spread = statistics.median(abs(counts[day] - median) for day in whole)
        for day in whole:
            if counts[day] >= max(answer["least"], 1.5 * median) and counts[day] > median + 5 * spread:
                days.append((day, KINDS.index(kind), counts[day], median, len(whole)))
    days.sort()
    same("number of days", len(answer.get("days", [])), len(days))
    for row, (day, kind, count, median, whole) in zip(answer.get("days", []), days):
        name = f"day {day}, {KINDS[kind]}"
        same(f"{name}: start", row["start_s"], float(day * DAY / MICROS))
        same(f"{name}: what", row["what"], KINDS[kind])
        same(f"{name}: count", row["count"], count)
        same(f"{name}: median", row["median_day"], float(median))
        same(f"{name}: days", row["known_days"], whole)
        own = [event for event in by_kind[KINDS[kind]] if event[1] // DAY == day]
        users = collections.Counter(event[3] for event in own if event[3])
        if users:
            same(f"{name}: user", row["user_share"], max(users.values()) / len(own))
    print("\n".join(wrong[:20]))
    print(f"compared {compared} values, {len(wrong)} differ; {len(episodes)} episodes")
    sys.exit(1 if wrong else 0)


main()
