#!/usr/bin/env python3
"""Reads, without jobfate, the export of a log in the standard workload format.

    read_exports.py FORM FOLDER LOG      (FORM: wta, opendc, batsim, batsim-4)

Checks the files against the published schema of the format, then every job against the lines of LOG, which the script
reads itself. Prints only the number of tasks; fails at the first difference.

Schemas: objects/*.py and parse_scripts/validate_parquet_files.py of atlarge-research/wta-tools;
TaskSchemas.kt, FragmentSchemas.kt and TopologySchema.json of atlarge-research/opendc;
docs/input-workload.rst, docs/input-platform.rst and Job::from_json of oar-team/batsim.
Needs pyarrow for wta and opendc.
"""

import gzip
import json
import math
import sys
from pathlib import Path
from xml.etree import ElementTree


def jobs_of(path):
    """Returns the jobs by number, of a log in which each line is a whole job; -1 is None."""
    opener = gzip.open if path.endswith(".gz") else open
    jobs = {}
    with opener(path, "rt") as log:
        for line in log:
            fields = line.split()
            if not fields or line.startswith(";"):
                continue
            values = [None if float(field) == -1 else float(field) for field in fields[:18]]
            names = ["submit", "wait", "run", "had", "cpu", "used", "asked", "limit", "memory",
                     "status", "user", "group", "app", "queue", "partition", "before", "think"]
            jobs[int(values[0])] = dict(zip(names, values[1:]))
    return jobs


def processors(job):
    """Returns the processors that it had, or else requested."""
    return next((job[key] for key in ("had", "asked") if job[key]), None)


def has_run(job):
    is_cancelled = job["status"] == 5 and job["run"] == 0 and not job["had"]
    return job["run"] is not None and not is_cancelled


def outcome(job):
    if has_run(job) or job["status"] is not None:
        return {0: "failed", 5: "killed"}.get(job["status"], "finished")
    return "pending"


def close(one, other):
    assert math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6), (one, other)


def schema_of(path):
    import pyarrow.parquet as parquet

    file = parquet.ParquetFile(path)
    schema = {}
    for field in file.schema_arrow:
        schema[field.name] = (str(field.type).replace("item:", "element:"), field.nullable)
    return schema, file.read().to_pylist()


def wta(folder, jobs):
    """Types as in `get_spark_type`, none nullable."""
    long, integer, double, text, ids = "int64", "int32", "double", "string", "list<element: int64>"
    tasks, rows = schema_of(folder / "tasks/schema-1.0/part.0.parquet")
    expected = {
        "id": long, "type": text, "ts_submit": long, "submission_site": integer, "runtime": long,
        "resource_type": text, "resource_amount_requested": double, "parents": ids,
        "children": ids, "user_id": integer, "group_id": integer, "nfrs": text,
        "workflow_id": long, "wait_time": long, "params": text, "memory_requested": double,
        "network_io_time": long, "disk_io_time": long, "disk_space_requested": double,
        "energy_consumption": long, "resource_used": long,
    }
    assert tasks == {name: (kind, False) for name, kind in expected.items()}, tasks
    workflows, flows = schema_of(folder / "workflows/schema-1.0/part.0.parquet")
    expected = {
        "id": long, "ts_submit": long, "task_count": integer, "critical_path_length": long,
        "critical_path_task_count": integer, "approx_max_concurrent_tasks": integer,
        "nfrs": text, "scheduler": text, "total_resources": double, "total_memory_usage": double,
        "total_network_usage": long, "total_disk_space_usage": long,
        "total_energy_consumption": long,
    }
    assert workflows == {name: (kind, False) for name, kind in expected.items()}, workflows
    assert {flow["id"] for flow in flows} == {row["workflow_id"] for row in rows}
    assert sum(flow["task_count"] for flow in flows) == len(rows) == len(jobs)
    assert [row["ts_submit"] for row in rows] == sorted(row["ts_submit"] for row in rows)
    for row in rows:
        job, params = jobs[row["id"]], json.loads(row["params"])
        assert row["workflow_id"] == row["id"] == params["job_id"]
        late = min(job["wait"] or 0, 0)
        close(row["ts_submit"], 1000 * (job["submit"] + (late if has_run(job) else 0)))
        close(row["runtime"], 1000 * job["run"] if has_run(job) else 0)
        cpus = processors(job)
        assert row["resource_amount_requested"] == (-1 if cpus is None else cpus), row
        if job["memory"] is not None and cpus is not None:
            close(row["memory_requested"], job["memory"] * cpus / 1024)
        else:
            assert row["memory_requested"] == -1, row
        assert row["user_id"] == (-1 if job["user"] is None else job["user"]), row
        assert params["outcome"] == outcome(job), (row, job)
    summary = json.loads((folder / "workload/schema-1.0/generic_information.json").read_text())
    of = ["resource_task", "memory", "network_usage", "disk_space_usage", "energy"]
    figures = ["min", "max", "std", "mean", "median", "first_quartile", "third_quartile", "cov"]
    fields = {f"{figure}_{what}" for figure in figures for what in of} | {
        "total_workflows", "total_tasks", "domain", "date_start", "date_end", "num_sites",
        "num_resources", "num_users", "num_groups", "total_resource_seconds", "authors",
        "workload_description"}
    assert set(summary) == fields, set(summary) ^ fields
    amounts = sorted(p for p in map(processors, jobs.values()) if p is not None)
    close(summary["num_resources"], sum(amounts))
    if amounts:
        middle = len(amounts) // 2
        median = (amounts[middle] + amounts[-middle - 1]) / 2
        close(summary["median_resource_task"], median)
    seconds = sum(j["run"] * (processors(j) or 0) for j in jobs.values() if has_run(j))
    close(summary["total_resource_seconds"], seconds)
    return len(rows)


def opendc(folder, jobs):
    tasks, rows = schema_of(folder / "tasks.parquet")
    assert tasks == {
        "id": ("int32", False), "name": ("string", True),
        "submission_time": ("timestamp[ms, tz=UTC]", False), "duration": ("int64", False),
        "cpu_count": ("int32", False), "cpu_capacity": ("double", False),
        "mem_capacity": ("int64", False), "gpu_count": ("int32", True),
        "gpu_capacity": ("double", True), "parents": ("list<element: int32>", True),
        "children": ("list<element: int32>", True), "deferrable": ("bool", True),
        "deadline": ("int64", True),
    }, tasks
    fragments, pieces = schema_of(folder / "fragments.parquet")
    assert fragments == {
        "id": ("int32", False), "duration": ("int64", False), "cpu_usage": ("double", False),
        "gpu_usage": ("double", True),
    }, fragments
    by_task = {}
    for piece in pieces:
        by_task.setdefault(piece["id"], []).append(piece)
    numbers = {int(row["name"].split("/")[0]): row["id"] for row in rows}
    ran = {number for number, job in jobs.items() if has_run(job) and 0 < job["run"]}
    assert set(numbers) == ran and len(set(numbers.values())) == len(rows), ran ^ set(numbers)
    assert set(by_task) == set(numbers.values())
    children = {}
    for row in rows:
        number = int(row["name"].split("/")[0])
        job, cpus = jobs[number], processors(jobs[number]) or 1
        late = min(job["wait"] or 0, 0)
        close(row["submission_time"].timestamp(), job["submit"] + late)
        close(row["duration"], 1000 * job["run"])
        assert row["cpu_count"] == cpus and row["cpu_capacity"] == 1000 * cpus
        memory = (job["memory"] or 0) * (processors(job) or 0)
        assert row["mem_capacity"] == math.ceil(memory), row
        [piece] = by_task[row["id"]]
        assert piece["duration"] == row["duration"]
        share = 1 if job["cpu"] is None else job["cpu"] / job["run"]
        close(piece["cpu_usage"], 1000 * cpus * share)
        before = numbers.get(job["before"])
        assert row["parents"] == ([] if before is None else [before]), row
        for parent in row["parents"]:
            children.setdefault(parent, []).append(row["id"])
    for row in rows:
        assert sorted(row["children"]) == sorted(children.get(row["id"], [])), row
    topology = json.loads((folder / "topology.json").read_text())
    for cluster in topology["clusters"]:
        for host in cluster["hosts"]:
            assert 0 < host["count"] and 0 < host["cpu"]["coreCount"]
            assert 0 < host["cpu"]["coreSpeed"] and 0 < host["memory"]["memorySize"]
    return len(rows)


def batsim(folder, jobs, kind):
    workload = json.loads((folder / "workload.json").read_text())
    assert set(workload) == {"nb_res", "jobs", "profiles"}
    assert isinstance(workload["nb_res"], int) and 0 < workload["nb_res"]
    used, last = set(), -math.inf
    for row in workload["jobs"]:
        # As Job::from_json requires.
        assert isinstance(row["id"], str) and isinstance(row["profile"], str)
        assert isinstance(row["res"], int) and 0 <= row["res"]
        assert isinstance(row["extra_data"], str)
        assert set(row) <= {"id", "subtime", "walltime", "res", "profile", "extra_data"}
        job, extra = jobs[int(row["id"])], json.loads(row["extra_data"])
        profile = workload["profiles"][row["profile"]]
        used.add(row["profile"])
        late = min(job["wait"] or 0, 0)
        close(row["subtime"], job["submit"] + late)
        assert last <= row["subtime"]
        last = row["subtime"]
        assert row["res"] == (processors(job) or 1)
        assert profile["type"] == kind
        close(profile["delay"], job["run"])
        assert profile.get("ret", 0) == (1 if job["status"] == 0 else 0)
        limit = job["limit"]
        assert ("walltime" in row) == (limit is not None and 0 < limit)
        assert "walltime" not in row or (0 < row["walltime"] and row["walltime"] == limit)
        assert extra["outcome"] == outcome(job)
        before = job["before"] if job["before"] in jobs and has_run(jobs[job["before"]]) else None
        expected = None if before is None else [str(int(before))]
        assert extra.get("dependencies") == expected, (row, job)
    assert used == set(workload["profiles"])
    names = [int(row["id"]) for row in workload["jobs"]]
    assert sorted(names) == sorted(number for number, job in jobs.items() if has_run(job))
    platform = ElementTree.parse(folder / "platform.xml").getroot()
    roles = {}
    for cluster in platform.iter("cluster"):
        role = [prop.get("value") for prop in cluster.iter("prop")]
        first, last = map(int, cluster.get("radical").split("-"))
        roles["".join(role)] = last - first + 1
    assert roles == {"": workload["nb_res"], "master": 1}, roles
    return len(names)


def main():
    form, folder, log = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    jobs = jobs_of(log)
    if form == "wta":
        count = wta(folder, jobs)
    elif form == "opendc":
        count = opendc(folder, jobs)
    else:
        count = batsim(folder, jobs, "delay" if form == "batsim-4" else "DelayProfile")
    print(count)


main()
