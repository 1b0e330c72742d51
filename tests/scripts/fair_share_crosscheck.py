#!/usr/bin/env python3
"""Computes the fair-share factors of a site from its files and its log, without jobfate, and compares.

Usage: fair_share_crosscheck.py JOBFATE LAKE LOG SLURM_CONF SHARES

LOG is an export of Open XDMoD (26 fields, one line per job, UTC), SHARES the output of `sshare -a -l -P` or
`sacctmgr dump`. Usage decays hour by hour as in Slurm's code; the classic factor and the ranks of Fair Tree follow
Slurm's documentation. Exit status 1 if a factor of any user in any hour differs.
"""

import csv
import gzip
import io
import math
import re
import subprocess
import sys
from collections import defaultdict
from datetime import datetime, timezone

HOUR = 3600


def seconds(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp())


def jobs(path):
    with gzip.open(path, "rt") as lines:
        for line in lines:
            row = line.rstrip("\n").split("|")
            never = row[24] in ("", "None assigned") and row[14] == "00:00:00"
            start = None if never else seconds(row[12])
            yield row[8], row[5], seconds(row[10]), start, seconds(row[13]), int(row[18] or 0)


def conf(path):
    text = re.sub(r"#.*", "", open(path).read())
    found = {key.lower(): value for key, value in re.findall(r"(\w+)=(\S+)", text)}
    days, _, hours = found.get("prioritydecayhalflife", "7-0").partition("-")
    half_life = int(days) * 86400 + int(hours) * 3600 if hours else int(days) * 60
    is_tree = "NO_FAIR_TREE" not in found.get("priorityflags", "")
    return is_tree, half_life, int(found.get("fairsharedampeningfactor", 1)), found.get("priorityusageresetperiod", "NONE").lower()


class Node:
    def __init__(self, name, parent, shares, is_user):
        self.name, self.parent, self.shares, self.is_user = name, parent, shares, is_user
        self.children, self.usage = [], 0.0
        if parent:
            parent.children.append(self)


def tree(path):
    root = Node("root", None, 1, False)
    accounts, users = {"root": root}, []

    def number(text):
        return "parent" if text in ("parent", "2147483647") else int(text or 1)

    lines = open(path).read().splitlines()
    if lines[0].startswith("Account|"):
        stack = []
        for line in lines[1:]:
            name, user, shares = line.split("|")[:3]
            depth = len(name) - len(name.lstrip())
            if user:
                users.append(Node(user, accounts[name.strip()], number(shares), True))
            elif depth == 0:
                stack = [root]
            else:
                stack = stack[:depth]
                node = Node(name.strip(), stack[-1], number(shares), False)
                accounts[node.name] = node
                stack.append(node)
        return root, users
    above = root
    for line in lines:
        found = re.match(r"(Parent|Account|User) - '([^']*)'", line)
        if not found:
            continue
        shares = re.search(r":Fairshare=(\w+)", line)
        shares = number(shares.group(1) if shares else "1")
        if found.group(1) == "Parent":
            above = accounts[found.group(2)]
        elif found.group(1) == "Account":
            accounts[found.group(2)] = Node(found.group(2), above, shares, False)
        else:
            users.append(Node(found.group(2), above, shares, True))
    return root, users


def add_up(node):
    if not node.is_user:
        node.usage = sum(add_up(child) for child in node.children)
    return node.usage


def shares_below(node):
    return sum(child.shares for child in node.children if child.shares != "parent")


def classic(root, users, dampening):
    """2^(-(effective usage / normalised shares) / dampening), from the top down."""
    norm, effective = {root: 1.0}, {root: 1.0}

    def walk(node):
        below = shares_below(node)
        for child in node.children:
            actual = child.usage / root.usage if root.usage else 0.0
            if child.shares == "parent":
                norm[child], effective[child] = norm[node], effective[node]
            else:
                share = child.shares / below if below else 0.0
                norm[child] = norm[node] * share
                effective[child] = actual if node is root else actual + (effective[node] - actual) * share
            walk(child)

    walk(root)
    return {user: 2.0 ** (-effective[user] / norm[user] / dampening) if norm[user] else 0.0 for user in users}


def fair_tree(root, users):
    """Ranks users by walking down the tree: siblings by shares over usage, users before accounts in a tie."""
    factors, state = {}, {"rank": len(users), "left": len(users)}

    def level(node):
        if node.shares == "parent":
            return math.inf
        below = shares_below(node.parent)
        if not node.shares or not below:
            return 0.0
        used = node.usage / node.parent.usage if node.parent.usage else 0.0
        return node.shares / below / used if used else math.inf

    def descend(node, is_account_tied):
        last = None
        for place, child in enumerate(sorted(node.children, key=lambda child: (-level(child), not child.is_user))):
            tied = is_account_tied if place == 0 else level(child) == last
            if child.is_user:
                if not tied:
                    state["rank"] = state["left"]
                factors[child] = state["rank"] / len(users)
                state["left"] -= 1
            else:
                descend(child, tied)
            last = level(child)

    descend(root, False)
    return factors


def period(reset, at):
    day = datetime.fromtimestamp(at, timezone.utc)
    return {
        "daily": day.date(),
        "weekly": (at // 86400 + 4) // 7,
        "monthly": (day.year, day.month),
        "quarterly": (day.year, (day.month - 1) // 3),
        "yearly": day.year,
    }.get(reset)


def main(jobfate, lake, log, conf_path, shares_path):
    is_tree, half_life, dampening, reset = conf(conf_path)
    root, users = tree(shares_path)
    rows = list(jobs(log))
    begin = min(submit for _, _, submit, _, _, _ in rows)
    # Hours start on the hour.
    begin = begin // HOUR * HOUR
    end = max(end for _, _, _, _, end, _ in rows)
    count = -(-(end - begin) // HOUR)
    group = {}
    for user, account, submit, _, _, _ in sorted(rows, key=lambda row: row[2]):
        group.setdefault(user, account)
    used = defaultdict(float)
    for user, _, _, start, stop, cpus in rows:
        if start is None:
            continue
        for hour in range((start - begin) // HOUR, (stop - begin) // HOUR + 1):
            inside = min(stop, begin + (hour + 1) * HOUR) - max(start, begin + hour * HOUR)
            used[user, hour] += max(inside, 0) * cpus
    by_name = defaultdict(list)
    for node in users:
        by_name[node.name].append(node)
    seat = {}
    for user, account in group.items():
        nodes = by_name[user]
        seat[user] = nodes[0] if len(nodes) == 1 else next(node for node in nodes if node.parent.name == account)
    command = [jobfate, "fairness", "--lake", lake, "--cpu", "requested", "--interval", str(HOUR), "--slurm-conf", conf_path]
    command += ["--accounts", shares_path, "--show", "series", "--format", "csv"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = defaultdict(dict)
    for row in csv.DictReader(io.StringIO(said)):
        if row["column"] == "factor":
            found[float(row["end_s"])][row["user"]] = float(row["value"])
    ends = sorted(found)
    if len(ends) != count:
        print(f"{len(ends)} intervals instead of {count}")
        return 1
    left = 1.0 if half_life == 0 else max(1.0 - 0.693 / half_life, 0.0) ** HOUR
    wrong, compared, last = [], 0, None
    for hour in range(count):
        now = period(reset, begin + (hour + 1) * HOUR)
        if last is not None and now != last:
            for node in users:
                node.usage = 0.0
        last = now
        for user, node in seat.items():
            node.usage = node.usage * left + used[user, hour] * left
        add_up(root)
        factors = fair_tree(root, users) if is_tree else classic(root, users, dampening)
        for user, value in found[ends[hour]].items():
            compared += 1
            if not math.isclose(value, factors[seat[user]], rel_tol=1e-9, abs_tol=1e-12):
                wrong.append(f"hour {hour}, {user}: jobfate says {value}, the files {factors[seat[user]]}")
    for line in wrong[:20]:
        print(line)
    print(f"{compared} factors of {len(seat)} users in {count} hours, {len(wrong)} differ")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
