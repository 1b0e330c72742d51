#!/usr/bin/env python3
"""Recomputes `jobfate predict` from the raw files, sharing no code with it.

    python tests/scripts/predict_crosscheck.py JOBFATE LAKE TRACE_DIR

TRACE_DIR holds `job_events/*.csv.gz` of the Google trace of 2011, all parts of which are in LAKE.
For each submission the whole past of its user is searched again: slower, and told differently.
Ends with 1 and a line for each figure that differs.
"""

import bisect
import csv
import gzip
import json
import pathlib
import subprocess
import sys

SUBMIT, FAIL, FINISH, KILL = "0", "3", "4", "5"
RULES = "last,last-of-user,last-or-rate"


def events(folder):
    """All rows of job_events as (time, part, line, job, type, user, name)."""
    rows = []
    for part, path in enumerate(sorted(folder.glob("*.csv.gz"))):
        with gzip.open(path, "rt", newline="") as text:
            for line, row in enumerate(csv.reader(text)):
                rows.append((int(row[0]), part, line, row[2], row[3], row[4], row[7]))
    return sorted(rows)


def expected(rows):
    """Counts by rule, as [TP, FP, TN, FN]."""
    last, first, submitted = {}, {}, {}
    by_pair, by_user, everybody = {}, {}, []
    for place, (time, _, _, job, kind, user, name) in enumerate(rows):
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
        _, _, _, _, _, user, name = rows[place]

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


def main(program, lake, trace):
    command = [program, "predict", "--lake", lake, "--rules", RULES, "--format", "json", "-q"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    counts = expected(events(pathlib.Path(trace) / "job_events"))
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
        for name, value in [*zip(names, should), *shares.items()]:
            if value is not None and abs(score[name] - value) > 1e-12 * max(1, value):
                print(f"{score['rule']} {name}: {score[name]}, should be {value}")
                wrong += 1
        print(f"{score['rule']}: {score['jobs']} jobs, {should}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
