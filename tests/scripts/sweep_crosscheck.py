#!/usr/bin/env python3
# /// script
# dependencies = ["duckdb"]
# ///
"""Compares `jobfate sweep` with the sums of the queries in DuckDB on the same lake.

Usage: sweep_crosscheck.py JOBFATE LAKE QUERIES_DIR

Under `slots` and `requested`, for T = 10, 20, ..., 400: condemned tasks and harmed jobs must be equal, CPU totals and
savings to 1e-9 of their size. Exits with 1 and prints what differs.
"""

import json
import subprocess
import sys
from pathlib import Path

import duckdb

FACTS = ["q01_job_outcomes", "q03_attempts", "q05_cpu_held", "q08_crossings", "q09_held_after_crossings"]
OUTCOME = "coalesce(j.outcome_sequence, 'unmatched')"


def main(jobfate, lake, queries):
    con = duckdb.connect()
    manifest = json.loads((lake / "manifest.json").read_text())
    for table in ("job_events", "task_events"):
        files = [str(lake / file["path"]) for file in manifest["tables"][table]["files"]]
        con.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({files}, hive_partitioning = false)")
    # Slots and requests depend only on the end of the window of tasks.
    con.execute("CREATE TABLE settings AS SELECT 0::BIGINT AS job_window_end_us, (SELECT max(time_us) "
                "FROM task_events WHERE time_us < 9223372036854775807)::BIGINT AS task_window_end_us, "
                "'job-end' AS open_attempts")
    con.execute("CREATE TABLE thresholds AS SELECT unnest(range(10, 401, 10))::BIGINT AS threshold")
    for name in FACTS:
        con.execute(f"CREATE TABLE {name} AS " + (queries / f"{name}.sql").read_text().rstrip().rstrip(";"))
    harmed = dict(con.execute("SELECT threshold, count(DISTINCT job_id) FROM q08_crossings JOIN q01_job_outcomes "
                              "USING (job_id) WHERE outcome_sequence = 'finished' GROUP BY threshold").fetchall())
    faults, compared = [], 0

    def same(what, ours, theirs):
        nonlocal compared
        compared += 1
        if abs(ours - theirs) > 1e-9 * max(1.0, abs(theirs)):
            faults.append(f"{what}: {ours} and not {theirs}")

    for cpu in ("slots", "requested"):
        command = [jobfate, "sweep", "--lake", lake, "--cpu", cpu, "--format", "json"]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        totals = dict(con.execute(f"SELECT {OUTCOME}, sum(c.{cpu}_s) FROM q05_cpu_held c LEFT JOIN q01_job_outcomes j "
                                  "USING (job_id) GROUP BY 1").fetchall())
        saved = {(threshold, outcome): (sum_s, count) for threshold, outcome, sum_s, count in con.execute(
            f"SELECT c.threshold, {OUTCOME}, sum(c.saved_{cpu}_s), count(*) FROM q09_held_after_crossings c "
            "LEFT JOIN q01_job_outcomes j USING (job_id) GROUP BY 1, 2").fetchall()}
        for outcome, total in answer["total_cpu"].items():
            same(f"{cpu} total {outcome}", total, totals.get(outcome, 0.0))
        for row in answer["rows"]:
            at = f"{cpu} T = {row['threshold']}"
            same(f"{at} harmed", row["harmed_jobs"], harmed.get(row["threshold"], 0))
            for outcome, ours in row["saved_cpu"].items():
                sum_s, count = saved.get((row["threshold"], outcome), (0.0, 0))
                same(f"{at} saved {outcome}", ours, sum_s)
                same(f"{at} condemned {outcome}", row["condemned_tasks"][outcome], count)
    print("\n".join(faults) or f"{compared} numbers alike")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
