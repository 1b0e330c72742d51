#!/usr/bin/env python3
"""Recomputes `jobfate predict` from the raw files, sharing no code with it.

    python tests/scripts/predict_crosscheck.py JOBFATE LAKE TRACE_DIR

TRACE_DIR holds `job_events/*.csv.gz` of the Google trace of 2011, all parts of which are in LAKE. For each submission
it searches the whole past of its user again, which is slower but independent. The regression is implemented a second
time from its description. A job with a chance that equals one half up to rounding may count on either side, so the
counts of the regression may differ by two. Exits with 1 and a line for each number that differs.
"""

import bisect
import csv
import gzip
import json
import math
import pathlib
import subprocess
import sys

SUBMIT, FAIL, FINISH, KILL = "0", "3", "4", "5"
RULES = "last,last-of-user,last-or-rate"
LEARNT = "logistic:step=0.05"
AGE_S = 3600


def events(folder):
    """All rows of job_events as (time, part, line, job, type, user, name, class)."""
    rows = []
    for part, path in enumerate(sorted(folder.glob("*.csv.gz"))):
        with gzip.open(path, "rt", newline="") as text:
            for line, row in enumerate(csv.reader(text)):
                rows.append((int(row[0]), part, line, row[2], row[3], row[4], row[7], row[5]))
    return sorted(rows)


def expected(rows):
    """Counts by rule, as [TP, FP, TN, FN]."""
    last, first, submitted = {}, {}, {}
    by_pair, by_user, everybody = {}, {}, []
    for place, (time, _, _, job, kind, user, name, _) in enumerate(rows):
        last[job] = kind
        first.setdefault(job, time)
        if kind == SUBMIT:
            submitted.setdefault(job, place)
        if kind in (FAIL, FINISH, KILL):
            lost = kind != FINISH
            by_pair.setdefault((user, name), []).append((place, lost))
            by_user.setdefault(user, []).append((place, lost))
            everybody.append((place, lost))
    losses = [0]
    for _, lost in everybody:
        losses.append(losses[-1] + lost)
    counts = {rule: [0, 0, 0, 0] for rule in RULES.split(",")}
    for job, place in submitted.items():
        if first[job] == 0 or last[job] not in (FAIL, FINISH, KILL):
            continue
        _, _, _, _, _, user, name, _ = rows[place]

        def before(ends):
            found = bisect.bisect_left(ends, (place,))
            return ends[found - 1][1] if found else None

        ended = bisect.bisect_left(everybody, (place,))
        pair, own = before(by_pair.get((user, name), [])), before(by_user.get(user, []))
        rate = 2 * losses[ended] > ended
        said = {
            "last": bool(pair),
            "last-of-user": bool(own),
            "last-or-rate": pair if pair is not None else own if own is not None else rate,
        }
        truth = last[job] != FINISH
        for rule, lost in said.items():
            counts[rule][{(1, 1): 0, (1, 0): 1, (0, 0): 2, (0, 1): 3}[int(lost), int(truth)]] += 1
    return counts


def regression(rows, step=0.05):
    """The counts of a logistic regression that learns at each end and predicts at each submission."""
    last, first, submitted = {}, {}, {}
    for place, (time, _, _, job, kind, *_) in enumerate(rows):
        last[job] = kind
        first.setdefault(job, (time, place))
        if kind == SUBMIT:
            submitted.setdefault(job, place)
    asked = {submitted.get(job, place): job for job, (_, place) in first.items()}
    sums, ends = {}, {}
    weights, squares = [0.0, 1.0] + [0.0] * 10, [0.01] * 12
    counts = [0, 0, 0, 0]

    def drawn(key, before):
        jobs, lost = sums.get(key, (0.0, 0.0))
        return (lost + before) / (jobs + 1)

    def score(user, name, klass):
        jobs, lost = sums.get("all", (0.0, 0.0))
        every = lost / jobs if jobs else 0.0
        own = drawn(user, every)
        rates = [drawn((user, name), own), own, drawn(("class", klass), every), every]
        odds = [math.log((rate + 0.01) / (1.01 - rate)) for rate in rates]
        sides = [ends.get(key, 0.0) for key in ((user, name), user)]
        ended = math.log1p(sums.get((user, name), (0.0, 0.0))[0])
        found = [1.0, *odds, *sides, ended, *(float(klass == one) for one in "0123")]
        return found, math.fsum(weight * feature for weight, feature in zip(weights, found))

    for place, (_, _, _, _, kind, user, name, klass) in enumerate(rows):
        job = asked.get(place)
        if job is not None and 0 < first[job][0] and last[job] in (FAIL, FINISH, KILL):
            lost = score(user, name, klass)[1] > 0
            counts[{(1, 1): 0, (1, 0): 1, (0, 0): 2, (0, 1): 3}[int(lost), int(last[job] != FINISH)]] += 1
        if kind not in (FAIL, FINISH, KILL):
            continue
        lost = float(kind != FINISH)
        found, odds = score(user, name, klass)
        error = 1 / (1 + math.exp(-max(-30.0, min(30.0, odds)))) - lost
        for idx, feature in enumerate(found):
            squares[idx] += (error * feature) ** 2
            weights[idx] -= step * error * feature / math.sqrt(squares[idx])
        for key, keep in (((user, name), 2 ** -0.2), (user, 2 ** -0.2), (("class", klass), 1), ("all", 1)):
            jobs, own = sums.get(key, (0.0, 0.0))
            sums[key] = (jobs * keep + 1, own * keep + lost)
        ends[user, name] = ends[user] = 2 * lost - 1
    return counts


def aged(rows):
    """Counts of the rule `hazard` for jobs that have not ended AGE_S after their first SUBMIT."""
    jobs, keep = {}, 0.5 ** (1 / 5)
    for row in rows:
        jobs.setdefault(row[3], []).append(row)
    steps = []
    for history in jobs.values():
        submit = next((row for row in history if row[4] == SUBMIT), history[0])
        asked = submit[0] + AGE_S * 10**6
        last = history[-1][4]
        if last in (FAIL, FINISH, KILL) and history[0][0] > 0:
            known = [row[4] for row in history if row[0] <= asked]
            if known[-1] not in (FAIL, FINISH, KILL):
                steps.append((asked, *submit[1:3], None, last != FINISH, submit[5:7]))
        for row in history:
            if row[4] in (FAIL, FINISH, KILL):
                steps.append((*row[:3], row[0] - submit[0] > AGE_S * 10**6, row[4] != FINISH, row[5:7]))
    steps.sort(key=lambda step: step[:3])
    weights = {}  # By key: ended jobs, and those that did not finish; older jobs have a smaller weight.

    def drawn(key, before):
        ended, lost = weights.get(key, (0.0, 0.0))
        return (lost + before) / (ended + 1)

    def add(key, value, keep):
        ended, lost = weights.get(key, (0.0, 0.0))
        weights[key] = (ended * keep + 1, lost * keep + value)

    counts = [0, 0, 0, 0]
    for _, _, _, lasted, lost, (user, name) in steps:
        pair = (user, name)
        if lasted is None:
            ended, bad = weights.get("all", (0.0, 0.0))
            rate = drawn(pair, drawn((user,), bad / ended if ended else 0.0))
            one, other = rate * drawn("lost", 1.0), (1 - rate) * drawn("finished", 1.0)
            chance = drawn(("lasting", *pair), one / (one + other))
            counts[(0 if lost else 1) if 0.5 < chance else (3 if lost else 2)] += 1
            continue
        add(pair, lost, keep)
        add((user,), lost, keep)
        add("all", lost, 1.0)
        add("lost" if lost else "finished", lasted, 1.0)
        if lasted:
            add(("lasting", *pair), lost, keep)
    return counts


def main(program, lake, trace):
    command = [program, "predict", "--lake", lake, "--rules", f"{RULES},{LEARNT}", "--format", "json", "-q"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    rows = events(pathlib.Path(trace) / "job_events")
    later = [program, "predict", "--lake", lake, "--rules", "hazard", "--age", f"{AGE_S}s", "--format", "json", "-q"]
    found["rules"] += json.loads(subprocess.run(later, check=True, capture_output=True).stdout)["rules"]
    counts = {**expected(rows), LEARNT: regression(rows), "hazard": aged(rows)}
    wrong = 0
    names = ["true_positives", "false_positives", "true_negatives", "false_negatives"]
    for score in found["rules"]:
        tp, fp, tn, fn = should = counts[score["rule"]]
        shares = {
            "accuracy": (tp + tn) / (tp + fp + tn + fn),
            "precision": tp / (tp + fp),
            "recall": tp / (tp + fn),
            "false_positive_rate": fp / (fp + tn),
            "auc": (1 + tp / (tp + fn) - fp / (fp + tn)) / 2 if score["rule"] == "last" else None,
        }
        near = 2 if score["rule"] == LEARNT else 0
        for name, value in [*zip(names, should), *shares.items()]:
            room = near if name in names else near * 1e-5 + 1e-12
            if value is not None and abs(score[name] - value) > room:
                print(f"{score['rule']} {name}: {score[name]}, should be {value}")
                wrong += 1
        print(f"{score['rule']}: {score['jobs']} jobs, {should}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
