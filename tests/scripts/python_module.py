#!/usr/bin/env python3
# /// script
# requires-python = ">=3.9"
# dependencies = ["jobfate", "duckdb", "pandas", "polars"]
# ///
"""Uses the Python module like a notebook, and compares its results with the answers of the program.

Usage: python_module.py [JOBFATE]

With JOBFATE, a program, the module of this repository runs it; otherwise an installed wheel is used. The script
ingests a synthetic trace, calls every function that needs only a lake, and compares tables, charts, facts, gaps and
errors with the CSV and JSON output of the program. Prints how much was compared.

Facts of the program are left out if it has no SQL engine; DuckDB then computes those of the module.
"""

import csv
import inspect
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

if sys.argv[1:]:
    os.environ["JOBFATE_PROGRAM"] = str(Path(sys.argv[1]).resolve(strict=True))
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import jobfate  # noqa: E402
import pyarrow as pa  # noqa: E402

COMPARED = 0


def check(holds, what):
    global COMPARED
    COMPARED += 1
    if not holds:
        sys.exit(f"FAILED {what}")


def printed(*words):
    run = subprocess.run([jobfate.program(), *words], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"FAILED {words}: {run.stderr}")
    return run.stdout


def as_csv(value):
    """Returns a cell as in CSV, without the sign that guards formulas."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def same_cell(value, text):
    if isinstance(value, float):
        return text != "" and float(text) == value
    return as_csv(value) == (text[1:] if re.match(r"'[=+\-@\t\r]", text) else text)


def same_table(result, words):
    """Checks that a result equals the CSV output of the program."""
    head, *rows = csv.reader(io.StringIO(printed(*words, "--format", "csv")))
    check(result.columns == head, f"{words}: columns {result.columns} and {head}")
    check(len(result) == len(rows), f"{words}: {len(result)} rows and {len(rows)}")
    for row, cells in zip(result.rows, rows):
        check(all(map(same_cell, row.values(), cells)), f"{words}: {row} and {cells}")


def fails(kind, call, *sentences):
    try:
        call()
    except kind as error:
        check(all(sentence in str(error) for sentence in sentences), f"{error} has {sentences}")
        return error
    sys.exit(f"FAILED {call} raises {kind}")


def answers(lake):
    """Every command that needs only a lake, and some options."""
    for name, options, words in [
        ("classify", {}, []),
        ("classify", {"by": "task", "classes": "terminal"}, ["--by", "task", "--classes", "terminal"]),
        ("describe", {"what": "tasks-per-job"}, ["--what", "tasks-per-job"]),
        ("account", {"cpu": "slots"}, ["--cpu", "slots"]),
        ("load", {}, []),
        ("machines", {}, []),
        ("sweep", {"cpu": "slots", "thresholds": "10..=60:10"}, ["--cpu", "slots", "--thresholds", "10..=60:10"]),
        ("sweep", {"cpu": "slots", "thresholds": range(10, 61, 10)}, ["--cpu=slots", "--thresholds=10..=60:10"]),
        ("predict", {}, []),
        ("detect", {"detectors": ["late", "flink"], "truth": ["median:1.5", "p90"]},
         ["--detectors", "late", "flink", "--truth", "median:1.5,p90"]),
        ("fairness", {"days": 1, "index": ["condor", "metered"]}, ["--days", "1", "--index", "condor", "--index", "metered"]),
        ("replay", {"policies": ["fifo", "easy"]}, ["--policies", "fifo", "easy"]),
        ("verify", {}, []),
    ]:
        result = getattr(jobfate, name)(lake, **options)
        same_table(result, [name, "--lake", str(lake.path), *words])
        check(result.command.startswith(f"jobfate {name} "), result.command)
        check("--out" not in result.command, result.command)
        check(result.polars().rows() == [tuple(row.values()) for row in result.rows], f"{name} in Polars")
        check(list(result.pandas().columns) == result.columns, f"{name} in pandas")
        check(pa.table(result).equals(result.table), f"{name} as an Arrow stream")
        check("<table>" in result._repr_html_(), f"{name} in a notebook")
        for chart in result.charts.values():
            check(chart._repr_svg_().lstrip().startswith("<svg"), f"{name}: {chart}")
            check(len(chart.data) > 0 and chart.caption and chart.command == result.command, f"{name}: {chart}")


def pictures(lake):
    result = jobfate.sweep(lake, cpu="slots", thresholds="10..=60:10", bootstrap=50)
    chart = result.chart("sweep-plane")
    check(chart.title in chart.svg or chart.title[:20] in chart.svg, "the title is in the picture")
    numbers = {(row["x"], row["y"]) for row in chart.data}
    shares = {row["saved_share_killed"] for row in result.rows}
    check(numbers and shares, "a plane has points")
    fails(KeyError, lambda: result.chart("nothing"), "sweep-plane")
    # The files of a deleted result remain as long as one of its charts exists.
    folder = result.folder
    del result
    check("<svg" in chart.svg and folder.is_dir(), "a chart outlives its result")
    del chart
    check(not folder.exists(), "nothing is left behind")


def outcomes_drawn(lake):
    """The bars of the ledger are its rows, in hours if one is an hour or more."""
    result = jobfate.account(lake, cpu="slots", out="kept", chart_format="pdf")
    label = lambda outcome: "still running" if outcome == "running" else outcome
    rows = {label(row["outcome"]): row["cpu"] for row in result.rows if row["cpu"]}
    charts = [chart for chart in result.charts.values() if "value" in chart.data.columns]
    drawn = [{row["name"]: row["value"] for row in chart.data} for chart in charts if "name" in chart.data.columns]
    per = 3600 if 3600 <= max(rows.values()) else 1
    is_drawn = lambda bars: all(math.isclose(bars.get(name, math.nan), cpu / per) for name, cpu in rows.items())
    check(any(map(is_drawn, drawn)), f"{drawn} of {rows}")
    check(Path("kept/result.json").is_file() and list(Path("kept").glob("*.pdf")), "files go where `out` says")
    check(not list(Path("kept").glob("*.png")), "only what was asked for is drawn")
    read = jobfate.results("kept")["account"]
    check(read.rows == result.rows and read.charts.keys() == result.charts.keys(), "a stored result is the same")


def holds(lake):
    """The properties of a lake equal those of its files and of the program."""
    import duckdb

    check(lake.source == "google-2011", lake.source)
    with lake.duckdb() as base:
        for name, rows in lake.tables.items():
            check(base.execute(f"SELECT count(*) FROM {name}").fetchone() == (rows,), f"rows of {name}")
            known = {column["name"] for column in lake.columns(name)}
            own = {row[0] for row in base.execute(f"DESCRIBE {name}").fetchall()}
            check(known == own, f"{name}: {known ^ own}")
        by_sql = base.execute("SELECT outcome_sequence, count(*) FROM q01_job_outcomes GROUP BY ALL ORDER BY ALL").fetchall()
        by_program = {row["outcome"]: row["count"] for row in jobfate.classify(lake)}
        check({name: count for name, count in by_sql} == {name: count for name, count in by_program.items() if count},
              f"{by_sql} and {by_program}")
        held = base.execute("SELECT sum(slots_s) FROM q05_cpu_held").fetchone()[0]
        total = jobfate.account(lake, cpu="slots").answer["total"]
        check(abs(held - total) < 1e-6 * total, f"{held} and {total}")
        for name in lake.facts:
            check(base.execute(f"SELECT count(*) FROM {name}").fetchone()[0] >= 0, f"DuckDB answers {name}")
        del duckdb
    columns = {column["name"]: column for column in lake.columns("task_events")}
    check(columns["time_us"]["unit"] == "µs" and columns["cpu_request"]["type"] == "float32", columns["time_us"])
    check(len(lake.columns()) > len(columns) and lake.columns().columns[0] == "table", "columns of all tables")
    fails(KeyError, lambda: lake.columns("nothing"), "task_events")
    try:
        fact = lake.fact("q01")
    except jobfate.UsageError as error:
        check("sql" in str(error).lower(), f"only a program without SQL refuses: {error}")
        print("SKIPPED: facts: the program has no SQL engine")
    else:
        same_table(fact, ["query", "q01", "--lake", str(lake.path)])
        check(fact.polars().height == sum(by_program.values()), "a fact has a row for each job")


def gaps():
    """A part that is missing between others is reported with its hours."""
    jobfate.ingest("trace", lake="holes", tables="task_events", parts="0,2-3")
    lake = jobfate.Lake("holes")
    check([(row["table"], row["parts"]) for row in lake.gaps()] == [("task_events", "1")], lake.gaps().rows)
    gap = lake.gaps().rows[0]
    check(0 <= gap["from_h"] <= gap["until_h"] <= 24.1, gap)
    check(lake.tables.keys() == {"task_events"}, lake.tables)
    with lake.duckdb() as base:
        check(base.execute("SELECT count(*) FROM q03_attempts").fetchone()[0] > 0, "attempts without job_events")


def compares(lake):
    """Two folders of results are compared, in every form in which they can be given."""
    for name, cpu in [("one", "slots"), ("other", "requested")]:
        jobfate.account(lake, cpu=cpu, out=f"kept-{name}")
    for pair in [["kept-one", "kept-other"], (Path("kept-one"), Path("kept-other"))]:
        same_table(jobfate.report(compare=pair), ["report", "--compare", "kept-one", "kept-other"])


def empty_tables():
    """A table without a row, such as the machines of a log that names none, is an empty table of DuckDB."""
    Path("log.swf").write_text("1 0 1 5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n")
    lake = jobfate.ingest("log.swf", lake="empty")
    check(lake.tables["machine_events"] == 0, lake.tables)
    with lake.duckdb() as base:
        rows = base.execute("SELECT (SELECT count(*) FROM machine_events), (SELECT count(*) FROM q01_job_outcomes)").fetchone()
        check(rows == (0, 1), rows)


def errors(lake):
    """Each exit code is an exception, with the sentence, its cause and the hint."""
    error = fails(jobfate.UsageError, lambda: jobfate.sweep(lake, thresholds="many"), "thresholds")
    check(error.code == 2 and isinstance(error, ValueError) and "jobfate sweep" in error.command, error.command)
    error = fails(jobfate.MachineError, lambda: jobfate.classify("nowhere"), "nowhere")
    check(error.code == 4 and error.message and error.hint, repr(error))
    Path("bad").mkdir()
    Path("bad/log.swf").write_text("; Version: 2.2\n" + "1 2 three\n" * 50)
    error = fails(jobfate.DataError, lambda: jobfate.ingest("bad/log.swf", lake="worse"))
    check(error.code == 3 and error.message, repr(error))
    Path("trace/SHA256SUM").write_text("")
    part = next(Path("trace/job_events").glob("*.gz"))
    Path("trace/SHA256SUM").write_text(f"{'0' * 64}  job_events/{part.name}\n")
    for ask in [lambda: jobfate.verify(trace="trace"), lambda: jobfate.verify("trace")]:
        error = fails(jobfate.CheckFailed, ask)
        check(error.code == 1 and len(error.result) > 0, "a check that fails keeps its answer")
    fails(TypeError, lambda: jobfate.synth("more", jobs=50, days=1, seed=3).table)
    os.environ["JOBFATE_PROGRAM"], kept = "/nowhere/jobfate", os.environ.get("JOBFATE_PROGRAM")
    fails(OSError, lambda: jobfate.classify(lake))
    if kept is None:
        del os.environ["JOBFATE_PROGRAM"]
    else:
        os.environ["JOBFATE_PROGRAM"] = kept


def progress():
    """A progress callback gets reports until the work ends."""
    seen = []
    jobfate.watch(lambda what, done, total: seen.append((what, done, total)))
    jobfate.synth("large", jobs=4000, days=2, seed=5)
    lake = jobfate.ingest("large", lake="large-lake")
    jobfate.replay(lake, policies="fifo")
    jobfate.watch(False)
    check(seen and all(0 <= done <= total or total == 0 for _, done, total in seen), f"{seen[:5]}")
    check(len({what for what, _, _ in seen}) >= 1 and seen[-1][1] == seen[-1][2], f"{seen[-1]}")
    count = len(seen)
    jobfate.classify(lake)
    check(len(seen) == count, "nobody is told who does not want to be")
    return lake


def interrupt(lake):
    """Ctrl-C ends the program and raises KeyboardInterrupt in Python."""
    # Shells ignore the signal for background jobs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), 2))
    timer.start()
    begun = time.monotonic()
    try:
        jobfate.sweep(lake, cpu="slots", bootstrap=100_000)
    except KeyboardInterrupt:
        check(time.monotonic() - begun < 40, "an interrupt ends what runs")
    else:
        sys.exit("FAILED the run was over before it could be interrupted")


def signatures():
    """The functions and their options are those that the help of the program lists."""
    helped = printed("--help").split("Commands:")[1].split("\n\n")[0]
    commands = set(re.findall(r"^  ([a-z]+) ", helped, re.MULTILINE)) - {"help", "completions", "man", "serve"}
    check(commands == set(jobfate._commands.__all__), f"{commands ^ set(jobfate._commands.__all__)}")
    own = {"help", "quiet", "verbose", "format", "width", "chart-data"}
    for name in sorted(commands):
        text = printed(name, "--help")
        options = set(re.findall(r"^(?:      |  -\w, )--([a-z-]+)", text, re.MULTILINE)) - own
        function = inspect.signature(getattr(jobfate, name))
        known = {parameter.rstrip("_").replace("_", "-") for parameter in function.parameters}
        check(options <= known, f"{name}: {options - known} are not parameters")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        jobfate.watch(False)
        signatures()
        made = jobfate.synth("trace", jobs=300, days=1, parts=4, seed=1)
        check("trace" in "\n".join(made.notes) + made.text, f"{made.notes}")
        lake = jobfate.ingest("trace", lake="lake")
        check(isinstance(lake, jobfate.Lake) and os.fspath(lake) == "lake", repr(lake))
        answers(lake)
        pictures(lake)
        outcomes_drawn(lake)
        holds(lake)
        gaps()
        compares(lake)
        empty_tables()
        interrupt(progress())
        analysis = jobfate.analyze(lake=lake, out="found")
        drawn = analysis.results["sweep"].chart("sweep-plane")
        check(len(drawn.data) > 0, "an analysis stores the numbers of its charts")
        check({"account", "sweep"} <= analysis.results.keys(), list(analysis.results))
        pages = jobfate.report("found", out="pages")
        check(Path("pages/index.html").is_file() and "pages" in pages.text, pages)
        Path("found/sweep-plane.data.parquet").unlink()
        fails(TypeError, lambda: drawn.data, "with --chart-data")
        errors(lake)
        os.chdir("/")
    print(f"{COMPARED} compared")


if __name__ == "__main__":
    main()
