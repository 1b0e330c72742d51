# Written by `UPDATE_GOLDEN=1 cargo test --bin jobfate python` from the flags of the program.
"""The commands of jobfate as functions."""

from __future__ import annotations

from typing import Literal

from ._lake import Lake, lake_or_trace
from ._result import Result, ask, draw
from ._run import Each, Number, Place, Word, Words

__all__ = [
    "analyze",
    "ingest",
    "map",
    "verify",
    "classify",
    "describe",
    "load",
    "episodes",
    "machines",
    "account",
    "monthly",
    "sweep",
    "predict",
    "detect",
    "fairness",
    "replay",
    "journal",
    "export",
    "report",
    "query",
    "reproduce",
    "synth",
]


def analyze(
    trace: Place | None = None,
    *,
    lake: Place | None = None,
    out: Place | None = None,
    config: Place | None = None,
    again: bool = False,
    slurm_conf: Place | None = None,
    accounts: Place | None = None,
    source: Words | None = None,
    map: Place | None = None,
    timezone: Words | None = None,
    user_from: Words | None = None,
    anonymize: Place | None = None,
    table: Words | None = None,
    tables: Words | None = None,
    parts: Words | None = None,
    max_rejects: Words | None = None,
    buckets: Number | None = None,
    shard: Words | None = None,
    force: bool = False,
    threads: Words | None = None,
    engine: Literal["native", "spark"] | None = None,
    master: Word | None = None,
    spark_home: Place | None = None,
    spark_conf: Words | None = None,
    spark_lake: Word | None = None,
    spark_program: Place | None = None,
) -> Result:
    """Run the whole analysis of a trace.

    trace: Folder of the downloaded trace, or its file
    lake: Folder of the lake, inside --out by default
    out: Folder for results and charts [default: reports/analysis]
    config: A whole analysis as a TOML file
    again: Repeat completed steps
    slurm_conf: Rule of fair share of a site, from its `slurm.conf`
    accounts: File of accounts with shares, such as from `sshare`
    source: Kind of trace, by default recognised from its content
    map: Map of the columns of any table of jobs or attempts
    timezone: Time zone of times without a zone, UTC by default
    user_from: Name that is the user of a pod, `namespace` by default
    anonymize: Key that replaces names, so that the lake can be shared
    table: Table name, if `TRACE_DIR` directly contains its parts
    tables: Tables to ingest, all by default
    parts: Numbers of the parts to ingest, all by default
    max_rejects: Lines of a part that may be rejected [default: 0.1%]
    buckets: Number of buckets of a new lake, by size by default
    shard: This program's share of the work, `I/N`
    force: Start even if disk or memory seem too small
    threads: Number of threads, one per core by default
    engine: Where the computation runs: this process or a Spark cluster [default: native]
    master: Master of the Spark cluster, such as `spark://host:7077`
    spark_home: Folder of Spark, which contains `bin/spark-sql`
    spark_conf: A setting of Spark, such as spark.executor.memory=8g
    spark_lake: The lake as Spark sees it, such as `s3a://bucket/lake`
    spark_program: Path of this program on the workers

    `jobfate analyze --help` says more.
    """
    return ask(
        "analyze",
        {
            "trace": trace,
            "--lake": lake,
            "--out": out,
            "--config": config,
            "--again": again,
            "--slurm-conf": slurm_conf,
            "--accounts": accounts,
            "--source": source,
            "--map": map,
            "--timezone": timezone,
            "--user-from": user_from,
            "--anonymize": anonymize,
            "--table": table,
            "--tables": Each(tables),
            "--parts": parts,
            "--max-rejects": max_rejects,
            "--buckets": buckets,
            "--shard": shard,
            "--force": force,
            "--threads": threads,
            "--engine": engine,
            "--master": master,
            "--spark-home": spark_home,
            "--spark-conf": Each(spark_conf),
            "--spark-lake": spark_lake,
            "--spark-program": spark_program,
            "--chart-data": True,
        },
    )


def ingest(
    trace: Place,
    *,
    lake: Place | None = None,
    source: Words | None = None,
    map: Place | None = None,
    timezone: Words | None = None,
    user_from: Words | None = None,
    anonymize: Place | None = None,
    table: Words | None = None,
    tables: Words | None = None,
    parts: Words | None = None,
    max_rejects: Words | None = None,
    buckets: Number | None = None,
    shard: Words | None = None,
    force: bool = False,
    threads: Words | None = None,
) -> Lake:
    """Read a downloaded trace into a lake of Parquet tables.

    trace: Folder of the downloaded trace, or its file
    lake: Folder of the lake, created if it does not exist [default: lake]
    source: Kind of trace, by default recognised from its content
    map: Map of the columns of any table of jobs or attempts
    timezone: Time zone of times without a zone, UTC by default
    user_from: Name that is the user of a pod, `namespace` by default
    anonymize: Key that replaces names, so that the lake can be shared
    table: Table name, if `TRACE_DIR` directly contains its parts
    tables: Tables to ingest, all by default
    parts: Numbers of the parts to ingest, all by default
    max_rejects: Lines of a part that may be rejected [default: 0.1%]
    buckets: Number of buckets of a new lake, by size by default
    shard: This program's share of the work, `I/N`
    force: Start even if disk or memory seem too small
    threads: Number of threads, one per core by default

    `jobfate ingest --help` says more.
    """
    ask(
        "ingest",
        {
            "trace": trace,
            "--lake": lake,
            "--source": source,
            "--map": map,
            "--timezone": timezone,
            "--user-from": user_from,
            "--anonymize": anonymize,
            "--table": table,
            "--tables": Each(tables),
            "--parts": parts,
            "--max-rejects": max_rejects,
            "--buckets": buckets,
            "--shard": shard,
            "--force": force,
            "--threads": threads,
        },
    )
    return Lake(lake if lake is not None else "lake")


def map(
    what: Place | None = None,
    *,
    map: Place | None = None,
    list: bool = False,
    timezone: Words | None = None,
) -> Result:
    """Propose a map for a table of jobs, or show an included one.

    what: The table, or the name of a map that comes with the program
    map: Show the first rows as this map reads them
    list: List the maps that come with the program
    timezone: Time zone of times without a zone; by default the map's

    `jobfate map --help` says more.
    """
    return ask(
        "map",
        {
            "what": what,
            "--map": map,
            "--list": list,
            "--timezone": timezone,
        },
    )


def verify(
    lake: Place | None = None,
    trace: Place | None = None,
    *,
    source: Words | None = None,
    map: Place | None = None,
    table: Words | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Check a downloaded trace or a lake.

    lake: Folder of the lake [default: lake]
    trace: Folder or file of the trace; the lake by default
    source: Kind of trace, by default recognised from its content
    map: Map of the columns of any table of jobs or attempts
    table: Table name, if `TRACE_DIR` directly contains its parts
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate verify --help` says more.
    """
    lake, trace = lake_or_trace(lake, trace)
    return draw(
        "verify",
        {
            "--lake": lake,
            "trace": trace,
            "--source": source,
            "--map": map,
            "--table": table,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def classify(
    lake: Place | None = None,
    *,
    by: Literal["job", "task"] | None = None,
    classes: Words | None = None,
    sequences: bool = False,
    by_reason: bool = False,
    engine: Literal["native", "polars", "spark"] | None = None,
    master: Word | None = None,
    spark_home: Place | None = None,
    spark_conf: Words | None = None,
    spark_lake: Word | None = None,
    spark_program: Place | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Count jobs or tasks by outcome.

    lake: Folder of the lake [default: lake]
    by: What is counted [default: job]
    classes: How outcomes are defined: sequence or terminal [default: sequence]
    sequences: List every exact sequence instead of the outcomes
    by_reason: Split each outcome by the reason why the jobs ended
    engine: The engine that computes the facts [default: native]
    master: Master of the Spark cluster, such as `spark://host:7077`
    spark_home: Folder of Spark, which contains `bin/spark-sql`
    spark_conf: A setting of Spark, such as spark.executor.memory=8g
    spark_lake: The lake as Spark sees it, such as `s3a://bucket/lake`
    spark_program: Path of this program on the workers
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate classify --help` says more.
    """
    return draw(
        "classify",
        {
            "--lake": lake,
            "--by": by,
            "--classes": classes,
            "--sequences": sequences,
            "--by-reason": by_reason,
            "--engine": engine,
            "--master": master,
            "--spark-home": spark_home,
            "--spark-conf": Each(spark_conf),
            "--spark-lake": spark_lake,
            "--spark-program": spark_program,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def describe(
    lake: Place | None = None,
    *,
    what: Literal["job-durations", "tasks-per-job", "events-per-task", "waiting", "attempts", "job-survival", "finish-given-events", "estimates"] | None = None,
    classes: Words | None = None,
    by_own_end: bool = False,
    censored: Literal["include", "exclude"] | None = None,
    waits: Literal["all", "started", "ended"] | None = None,
    group_by: Literal["class", "priority", "user", "reason", "qos", "account", "queue"] | None = None,
    open_attempts: Literal["job-end", "window-end"] | None = None,
    engine: Literal["native", "polars", "spark"] | None = None,
    master: Word | None = None,
    spark_home: Place | None = None,
    spark_conf: Words | None = None,
    spark_lake: Word | None = None,
    spark_program: Place | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Describe durations, sizes, waits and attempts.

    lake: Folder of the lake [default: lake]
    what: What is described [default: job-durations]
    classes: How outcomes are defined: sequence or terminal [default: sequence]
    by_own_end: Split by how each task ended, not by how its job ended
    censored: Whether to include values open at the end of the window [default: include]
    waits: Which waits to describe, by how they ended [default: all]
    group_by: Split by user, account, queue or other columns
    open_attempts: When an attempt without a recorded end is closed [default: job-end]
    engine: The engine that computes the facts [default: native]
    master: Master of the Spark cluster, such as `spark://host:7077`
    spark_home: Folder of Spark, which contains `bin/spark-sql`
    spark_conf: A setting of Spark, such as spark.executor.memory=8g
    spark_lake: The lake as Spark sees it, such as `s3a://bucket/lake`
    spark_program: Path of this program on the workers
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate describe --help` says more.
    """
    return draw(
        "describe",
        {
            "--lake": lake,
            "--what": what,
            "--classes": classes,
            "--by-own-end": by_own_end,
            "--censored": censored,
            "--waits": waits,
            "--group-by": group_by,
            "--open-attempts": open_attempts,
            "--engine": engine,
            "--master": master,
            "--spark-home": spark_home,
            "--spark-conf": Each(spark_conf),
            "--spark-lake": spark_lake,
            "--spark-program": spark_program,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def load(
    lake: Place | None = None,
    *,
    interval: Words | None = None,
    by: Literal["priority-band", "class", "user", "account", "qos", "outcome"] | None = None,
    groups: Number | None = None,
    classes: Words | None = None,
    resource: Literal["cpu", "memory", "gpu"] | None = None,
    memory: Literal["canonical", "assigned"] | None = None,
    fragmentation: bool = False,
    open_attempts: Literal["job-end", "window-end"] | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Show capacity, requests, use and queue over time.

    lake: Folder of the lake [default: lake]
    interval: Length of an interval: 90s, 5m, 1h or 1d [default: 5m]
    by: Split each interval into groups, such as users or bands
    groups: Number of users or accounts with a separate group [default: 6]
    classes: How outcomes are defined: sequence or terminal [default: sequence]
    resource: Only the columns and charts of one resource
    memory: Measure of used memory: canonical or assigned [default: canonical]
    fragmentation: Also show the free capacity that no waiting task fits
    open_attempts: When an attempt without a recorded end is closed [default: job-end]
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate load --help` says more.
    """
    return draw(
        "load",
        {
            "--lake": lake,
            "--interval": interval,
            "--by": by,
            "--groups": groups,
            "--classes": classes,
            "--resource": resource,
            "--memory": memory,
            "--fragmentation": fragmentation,
            "--open-attempts": open_attempts,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def episodes(
    lake: Place | None = None,
    *,
    interval: Words | None = None,
    times: Number | None = None,
    least: Number | None = None,
    most: Number | None = None,
    open_attempts: Literal["job-end", "window-end"] | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Show hours in which far more than usual happened.

    lake: Folder of the lake [default: lake]
    interval: Length of an interval: 10m, 1h or 1d
    times: Times the mean above which an interval stands out [default: 5]
    least: An interval stands out if it has at least so many events [default: 10]
    most: Number of episodes shown of each kind of event [default: 10]
    open_attempts: When an attempt without a recorded end is closed [default: job-end]
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate episodes --help` says more.
    """
    return draw(
        "episodes",
        {
            "--lake": lake,
            "--interval": interval,
            "--times": times,
            "--least": least,
            "--most": most,
            "--open-attempts": open_attempts,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def machines(
    lake: Place | None = None,
    *,
    together: Words | None = None,
    open_attempts: Literal["job-end", "window-end"] | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Show outages of machines, their lengths and their cost.

    lake: Folder of the lake [default: lake]
    together: Longest gap between machines that leave together [default: 1s]
    open_attempts: When an attempt without a recorded end is closed [default: job-end]
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate machines --help` says more.
    """
    return draw(
        "machines",
        {
            "--lake": lake,
            "--together": together,
            "--open-attempts": open_attempts,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def account(
    lake: Place | None = None,
    *,
    cpu: Literal["measured", "published", "requested", "slots", "gpu-slots"] | None = None,
    classes: Words | None = None,
    resource: Literal["cpu", "memory", "gpu"] | None = None,
    memory: Literal["canonical", "assigned", "requested", "used"] | None = None,
    group_by: Words | None = None,
    by_reason: bool = False,
    open_attempts: Literal["job-end", "window-end"] | None = None,
    engine: Literal["native", "polars", "spark"] | None = None,
    master: Word | None = None,
    spark_home: Place | None = None,
    spark_conf: Words | None = None,
    spark_lake: Word | None = None,
    spark_program: Place | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Add up CPU time or memory time per outcome.

    lake: Folder of the lake [default: lake]
    cpu: What CPU time means
    classes: How outcomes are defined: sequence or terminal [default: sequence]
    resource: What is added up [default: cpu]
    memory: What memory means
    group_by: Split the outcomes by user, account, queue or other columns
    by_reason: Split each outcome by the reason why the jobs ended
    open_attempts: When an attempt without a recorded end is closed [default: job-end]
    engine: The engine that computes the facts [default: native]
    master: Master of the Spark cluster, such as `spark://host:7077`
    spark_home: Folder of Spark, which contains `bin/spark-sql`
    spark_conf: A setting of Spark, such as spark.executor.memory=8g
    spark_lake: The lake as Spark sees it, such as `s3a://bucket/lake`
    spark_program: Path of this program on the workers
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate account --help` says more.
    """
    return draw(
        "account",
        {
            "--lake": lake,
            "--cpu": cpu,
            "--classes": classes,
            "--resource": resource,
            "--memory": memory,
            "--group-by": Each(group_by),
            "--by-reason": by_reason,
            "--open-attempts": open_attempts,
            "--engine": engine,
            "--master": master,
            "--spark-home": spark_home,
            "--spark-conf": Each(spark_conf),
            "--spark-lake": spark_lake,
            "--spark-program": spark_program,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def monthly(
    lake: Place | None = None,
    *,
    cpu: Literal["measured", "requested", "slots"] | None = None,
    timezone: Words | None = None,
    late: Words | None = None,
    users: Number | None = None,
    open_attempts: Literal["job-end", "window-end"] | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Show use, waste, waits and limits by account and month.

    lake: Folder of the lake [default: lake]
    cpu: What CPU time means
    timezone: Time zone of the months
    late: Running time from which a failure counts as late [default: 1h]
    users: Number of users in the table of users [default: 10]
    open_attempts: When an attempt without a recorded end is closed [default: job-end]
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate monthly --help` says more.
    """
    return draw(
        "monthly",
        {
            "--lake": lake,
            "--cpu": cpu,
            "--timezone": timezone,
            "--late": late,
            "--users": users,
            "--open-attempts": open_attempts,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def sweep(
    lake: Place | None = None,
    *,
    thresholds: Words | None = None,
    rules: Words | None = None,
    cpu: Literal["measured", "published", "requested", "slots", "gpu-slots"] | None = None,
    classes: Words | None = None,
    train_until: Number | None = None,
    price: Number | None = None,
    bootstrap: Number | None = None,
    seed: Number | None = None,
    group_by: Literal["class", "priority", "user", "reason", "qos", "account", "queue"] | None = None,
    spare_finishing: bool = False,
    harmed: Number | None = None,
    open_attempts: Literal["job-end", "window-end"] | None = None,
    engine: Literal["native", "polars", "spark"] | None = None,
    master: Word | None = None,
    spark_home: Place | None = None,
    spark_conf: Words | None = None,
    spark_lake: Word | None = None,
    spark_program: Place | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Sweep the threshold at which hopeless tasks are killed.

    lake: Folder of the lake [default: lake]
    thresholds: Thresholds of events, a list of numbers and ranges [default: 10..=400:10]
    rules: Rules to compare; --harmed applies to the first rule [default: events]
    cpu: What CPU time means
    classes: How outcomes are defined: sequence or terminal [default: sequence]
    train_until: Choose on the first DAYS of the trace, test on the rest
    price: Price of a harmed job, in CPU-seconds [default: 3600]
    bootstrap: Resamplings of jobs for confidence intervals, 0 for none [default: 0]
    seed: Seed of the resampling [default: 1]
    group_by: Split the sweep by user, account, queue or other columns
    spare_finishing: Do not condemn tasks that have finished
    harmed: List the harmed jobs of one threshold instead of the sweep
    open_attempts: When an attempt without a recorded end is closed [default: job-end]
    engine: The engine that computes the facts [default: native]
    master: Master of the Spark cluster, such as `spark://host:7077`
    spark_home: Folder of Spark, which contains `bin/spark-sql`
    spark_conf: A setting of Spark, such as spark.executor.memory=8g
    spark_lake: The lake as Spark sees it, such as `s3a://bucket/lake`
    spark_program: Path of this program on the workers
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate sweep --help` says more.
    """
    return draw(
        "sweep",
        {
            "--lake": lake,
            "--thresholds": thresholds,
            "--rules": Each(rules),
            "--cpu": cpu,
            "--classes": classes,
            "--train-until": train_until,
            "--price": price,
            "--bootstrap": bootstrap,
            "--seed": seed,
            "--group-by": group_by,
            "--spare-finishing": spare_finishing,
            "--harmed": harmed,
            "--open-attempts": open_attempts,
            "--engine": engine,
            "--master": master,
            "--spark-home": spark_home,
            "--spark-conf": Each(spark_conf),
            "--spark-lake": spark_lake,
            "--spark-program": spark_program,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def predict(
    lake: Place | None = None,
    *,
    rules: Words | None = None,
    age: Words | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Predict whether jobs will finish.

    lake: Folder of the lake [default: lake]
    rules: Rules to compare [default: last,last-or-rate,last-of-user,rate:half_life=5,class,overall,logistic:step=0.05]
    age: Predict when jobs reach this age, not at submission
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate predict --help` says more.
    """
    return draw(
        "predict",
        {
            "--lake": lake,
            "--rules": Each(rules),
            "--age": age,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def detect(
    lake: Place | None = None,
    *,
    detectors: Words | None = None,
    heartbeat: Number | None = None,
    progress: Literal["linear", "usage", "siblings"] | None = None,
    work: Literal["slots", "measured"] | None = None,
    noise: Number | None = None,
    seed: Number | None = None,
    every_heartbeat: bool = False,
    truth: Words | None = None,
    phase: Word | None = None,
    min_tasks: Number | None = None,
    replacement: Literal["median", "draw"] | None = None,
    curve: bool = False,
    windows: Words | None = None,
    open_attempts: Literal["job-end", "window-end"] | None = None,
    engine: Literal["native", "spark"] | None = None,
    master: Word | None = None,
    spark_home: Place | None = None,
    spark_conf: Words | None = None,
    spark_lake: Word | None = None,
    spark_program: Place | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Replay straggler detectors over recorded history.

    lake: Folder of the lake [default: lake]
    detectors: Detectors to compare, separated by spaces, or `all` [default: all]
    heartbeat: Time between heartbeats [default: 10]
    progress: Where progress comes from [default: siblings]
    work: How `siblings` measures the work so far [default: slots]
    noise: Noise of progress: standard deviation of the rate's log [default: 0]
    seed: Seed of noise and of random replacements [default: 1]
    every_heartbeat: Ask every detector at every heartbeat
    truth: Definitions of a straggler; the first one decides [default: median:1.5,mean:1.5,p90,median:1.3]
    phase: Phase to score, if the trace records phases
    min_tasks: Minimum number of finished tasks of a judged group [default: 10]
    replacement: How long the copy of a flagged task takes [default: median]
    curve: Show precision and recall by value of each main parameter
    windows: Windows of the Poisson detector to compare
    open_attempts: When an attempt without a recorded end is closed [default: job-end]
    engine: Where the computation runs: this process or a Spark cluster [default: native]
    master: Master of the Spark cluster, such as `spark://host:7077`
    spark_home: Folder of Spark, which contains `bin/spark-sql`
    spark_conf: A setting of Spark, such as spark.executor.memory=8g
    spark_lake: The lake as Spark sees it, such as `s3a://bucket/lake`
    spark_program: Path of this program on the workers
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate detect --help` says more.
    """
    return draw(
        "detect",
        {
            "--lake": lake,
            "--detectors": Each(detectors),
            "--heartbeat": heartbeat,
            "--progress": progress,
            "--work": work,
            "--noise": noise,
            "--seed": seed,
            "--every-heartbeat": every_heartbeat,
            "--truth": Each(truth),
            "--phase": phase,
            "--min-tasks": min_tasks,
            "--replacement": replacement,
            "--curve": curve,
            "--windows": Each(windows),
            "--open-attempts": open_attempts,
            "--engine": engine,
            "--master": master,
            "--spark-home": spark_home,
            "--spark-conf": Each(spark_conf),
            "--spark-lake": spark_lake,
            "--spark-program": spark_program,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def fairness(
    lake: Words | None = None,
    *,
    cpu: Literal["measured", "requested", "slots", "gpu-slots"] | None = None,
    resource: Literal["cpu", "memory", "gpu"] | None = None,
    memory: Literal["canonical", "assigned", "requested", "used"] | None = None,
    accrual: Literal["end", "running"] | None = None,
    by: Literal["user", "group", "machine", "site", "queue", "qos", "class", "cluster"] | None = None,
    interval: Number | None = None,
    from_: Number | None = None,
    days: Number | None = None,
    warm_up: Number | None = None,
    index: Words | None = None,
    index_file: Words | None = None,
    formula: Words | None = None,
    index_program: Words | None = None,
    time_limit: Number | None = None,
    slurm_conf: Place | None = None,
    accounts: Place | None = None,
    same_users: Words | None = None,
    align: Literal["clock", "start"] | None = None,
    top: Number | None = None,
    show: Literal["heaviest", "users", "series", "clusters", "machines", "suggestions", "places"] | None = None,
    what_if: bool = False,
    ceiling: Words | None = None,
    early: Number | None = None,
    free: Number | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
    open_attempts: Literal["job-end", "window-end"] | None = None,
    engine: Literal["native", "spark"] | None = None,
    master: Word | None = None,
    spark_home: Place | None = None,
    spark_conf: Words | None = None,
    spark_lake: Word | None = None,
    spark_program: Place | None = None,
) -> Result:
    """Show usage per user over time, and its fairness.

    lake: Folder of a lake, or NAME=DIR; repeat to merge clusters [default: lake]
    cpu: What CPU time means
    resource: What is charged [default: cpu]
    memory: What memory means
    accrual: When CPU time is charged
    by: What usage is grouped by [default: user]
    interval: Length of an interval in seconds
    from_: First day to show, counted from the first interval [default: 0]
    days: Number of days to show; all by default
    warm_up: Days before --from that the indices also use [default: 0]
    index: An index, NAME:KEY=VALUE,...; repeat for several
    index_file: A custom index: a TOML file written by `fairness new`
    formula: A custom index: NAME=FILE with a formula
    index_program: A custom index: NAME=PROGRAM with arguments
    time_limit: Longest run of an index program, in seconds [default: 60]
    slurm_conf: Rule of fair share of a site, from its `slurm.conf`
    accounts: File of accounts with shares, lines `ACCOUNT/USER SHARES`
    same_users: Whether the same name in two lakes is the same user [default: yes]
    align: How the clocks of several lakes are aligned [default: clock]
    top: Users named in charts and tables [default: 7]
    show: What is shown on stdout [default: heaviest]
    what_if: Compare the orders of users under all indices
    ceiling: Usage above which a user should be limited [default: 10%]
    early: Passing the ceiling within this many days counts as early
    free: Share of use below which capacity counts as free [default: 0.5]
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    out: Folder for result.json, series and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock
    open_attempts: When an attempt without a recorded end is closed [default: job-end]
    engine: Where the computation runs: this process or a Spark cluster [default: native]
    master: Master of the Spark cluster, such as `spark://host:7077`
    spark_home: Folder of Spark, which contains `bin/spark-sql`
    spark_conf: A setting of Spark, such as spark.executor.memory=8g
    spark_lake: The lake as Spark sees it, such as `s3a://bucket/lake`
    spark_program: Path of this program on the workers

    `jobfate fairness --help` says more.
    """
    return draw(
        "fairness",
        {
            "--lake": Each(lake),
            "--cpu": cpu,
            "--resource": resource,
            "--memory": memory,
            "--accrual": accrual,
            "--by": by,
            "--interval": interval,
            "--from": from_,
            "--days": days,
            "--warm-up": warm_up,
            "--index": Each(index),
            "--index-file": Each(index_file),
            "--formula": Each(formula),
            "--index-program": Each(index_program),
            "--time-limit": time_limit,
            "--slurm-conf": slurm_conf,
            "--accounts": accounts,
            "--same-users": same_users,
            "--align": align,
            "--top": top,
            "--show": show,
            "--what-if": what_if,
            "--ceiling": ceiling,
            "--early": early,
            "--free": free,
            "--columns": Each(columns),
            "--sort": sort,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
            "--open-attempts": open_attempts,
            "--engine": engine,
            "--master": master,
            "--spark-home": spark_home,
            "--spark-conf": Each(spark_conf),
            "--spark-lake": spark_lake,
            "--spark-program": spark_program,
        },
    )


def replay(
    lake: Place | None = None,
    *,
    policies: Words | None = None,
    cluster: Words | None = None,
    from_: Number | None = None,
    until: Number | None = None,
    sample: Number | None = None,
    machines: Number | None = None,
    failures: Words | None = None,
    overcommit: Words | None = None,
    reruns: Literal["same", "sibling"] | None = None,
    killed: Literal["run-time", "age"] | None = None,
    estimates: Words | None = None,
    arrivals: Words | None = None,
    load: Number | None = None,
    seed: Number | None = None,
    seeds: Number | None = None,
    group_by: Literal["size", "user"] | None = None,
    fragmentation: bool = False,
    tolerance_s: Number | None = None,
    tolerance_share: Number | None = None,
    journal: bool = False,
    open_attempts: Literal["job-end", "window-end"] | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Replay recorded history under other policies.

    lake: Folder of the lake [default: lake]
    policies: Policies, separated by spaces; the first is the baseline
    cluster: Simulated machines instead of those of the lake
    from_: Replay only tasks that arrive at this time or later [default: 0]
    until: Leave out tasks that arrive at this time or later
    sample: Share of the jobs, sampled with the seed [default: 1]
    machines: Share of the lake's machines, sampled with the seed [default: 1]
    failures: Draw failures of machines from a model of recorded ones
    overcommit: Factor by which the machines of the lake are larger
    reruns: How much work a copy or a restart has [default: same]
    killed: When to kill a task whose recorded attempt was killed
    estimates: Estimate of a task's running time for orders that plan [default: requested]
    arrivals: Whether users submit as recorded or react
    load: Factor by which tasks arrive faster [default: 1]
    seed: Seed of samples and of all random numbers [default: 1]
    seeds: Number of seeds to replay with, starting at --seed [default: 1]
    group_by: Give a row per policy and job size, or policy and user
    fragmentation: Also report the free GPUs that tasks cannot use
    tolerance_s: Least response difference of a hurt or helped job [default: 1]
    tolerance_share: The same, as a share of the response under the first policy [default: 0.01]
    journal: Store every event of every replay
    open_attempts: When an attempt without a recorded end is closed [default: job-end]
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate replay --help` says more.
    """
    return draw(
        "replay",
        {
            "--lake": lake,
            "--policies": Each(policies),
            "--cluster": cluster,
            "--from": from_,
            "--until": until,
            "--sample": sample,
            "--machines": machines,
            "--failures": failures,
            "--overcommit": overcommit,
            "--reruns": reruns,
            "--killed": killed,
            "--estimates": estimates,
            "--arrivals": Each(arrivals),
            "--load": load,
            "--seed": seed,
            "--seeds": seeds,
            "--group-by": group_by,
            "--fragmentation": fragmentation,
            "--tolerance-s": tolerance_s,
            "--tolerance-share": tolerance_share,
            "--journal": journal,
            "--open-attempts": open_attempts,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def journal(
    file: Place,
) -> Result:
    """Print the journal of a replay.

    file: The journal, as Parquet

    `jobfate journal --help` says more.
    """
    return ask(
        "journal",
        {
            "file": file,
        },
    )


def export(
    lake: Place | None = None,
    *,
    as_: Literal["swf", "wta", "opendc", "batsim", "batsim-4"],
    out: Place,
    journal: Place | None = None,
    cores: Number | None = None,
    whole_seconds: bool = False,
) -> Result:
    """Write the tasks of a lake in the format of a simulator.

    lake: Folder of the lake [default: lake]
    as_: Format to write
    out: Folder for the files and result.json
    journal: Journal of a replay of this lake, as Parquet
    cores: Processors of the largest machine, in Google traces [default: 100]
    whole_seconds: Round times to whole seconds

    `jobfate export --help` says more.
    """
    return ask(
        "export",
        {
            "--lake": lake,
            "--as": as_,
            "--out": out,
            "--journal": journal,
            "--cores": cores,
            "--whole-seconds": whole_seconds,
        },
    )


def report(
    results: Words | None = None,
    *,
    compare: Words | None = None,
    out: Place | None = None,
) -> Result:
    """Write stored results as pages for a browser.

    results: Folders of results, with one result of each command [default: reports/analysis]
    compare: Compare two folders of results instead
    out: Folder of the pages, by default `report` inside RESULTS

    `jobfate report --help` says more.
    """
    return ask(
        "report",
        {
            "results": results,
            "--compare": Each(compare, together=True),
            "--out": out,
            "--format": "parquet" if compare is not None else None,
        },
    )


def query(
    lake: Place | None = None,
    query: Word | None = None,
    *,
    list: bool = False,
    show: bool = False,
    thresholds: Words | None = None,
    open_attempts: Literal["job-end", "window-end"] | None = None,
    engine: Literal["native", "polars", "spark"] | None = None,
    master: Word | None = None,
    spark_home: Place | None = None,
    spark_conf: Words | None = None,
    spark_lake: Word | None = None,
    spark_program: Place | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Run one of the queries that define the facts.

    lake: Folder of the lake [default: lake]
    query: Number or name of the query, such as q01, or all
    list: List the queries and the tables that each needs
    show: Print the text of the query instead of running it
    thresholds: Thresholds for the queries that need them
    open_attempts: When an attempt without a recorded end is closed [default: job-end]
    engine: The engine that computes the facts [default: native]
    master: Master of the Spark cluster, such as `spark://host:7077`
    spark_home: Folder of Spark, which contains `bin/spark-sql`
    spark_conf: A setting of Spark, such as spark.executor.memory=8g
    spark_lake: The lake as Spark sees it, such as `s3a://bucket/lake`
    spark_program: Path of this program on the workers
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate query --help` says more.
    """
    return draw(
        "query",
        {
            "--lake": lake,
            "query": query,
            "--list": list,
            "--show": show,
            "--thresholds": thresholds,
            "--open-attempts": open_attempts,
            "--engine": engine,
            "--master": master,
            "--spark-home": spark_home,
            "--spark-conf": Each(spark_conf),
            "--spark-lake": spark_lake,
            "--spark-program": spark_program,
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def reproduce(
    study: Literal["mandai", "ota", "tan", "asahara", "cui", "literature", "course", "all"],
    lake: Place | None = None,
    trace: Place | None = None,
    *,
    seed: Number | None = None,
    runs: Number | None = None,
    from_: Word | None = None,
    days: Word | None = None,
    users: Word | None = None,
    ota_lake: Place | None = None,
    stored: Place | None = None,
    set: Words | None = None,
    vary: Words | None = None,
    columns: Words | None = None,
    sort: Word | None = None,
    top: Number | None = None,
    out: Place | None = None,
    chart_format: Words | None = None,
    chart_width: Words | None = None,
    no_title: bool = False,
    window_end: Number | None = None,
) -> Result:
    """Repeat a published study and compare number by number.

    study: The study, or all of them
    lake: Folder of the lake [default: lake]
    trace: Folder of the trace; tables missing in --lake are ingested
    seed: First seed of an experiment; run k has this seed plus k
    runs: Runs of each setting of an experiment
    from_: First day of the figures of ota, from the first event
    days: Days in the figures of ota; 7 as in the paper
    users: Number or names of the users in the figures of ota
    ota_lake: Lake of the log that ota reads, for `all`
    stored: Count the verdicts of stored results, for `all`
    set: Set a parameter of an experiment; can be repeated
    vary: Run an experiment for several values of a parameter
    columns: Columns to show: `all`, or a list of names
    sort: Column to sort the rows by, `NAME` or `NAME:desc`
    top: Rows to show, after --sort
    out: Folder for result.json, data and charts
    chart_format: Formats of charts: svg, png, pdf
    chart_width: Width of charts on paper, `3.3in` or `8.4cm`
    no_title: Draw charts without title and caption, for papers
    window_end: End of the window in seconds of the trace clock

    `jobfate reproduce --help` says more.
    """
    lake, trace = lake_or_trace(lake, trace)
    return draw(
        "reproduce",
        {
            "study": study,
            "--lake": lake,
            "trace": trace,
            "--seed": seed,
            "--runs": runs,
            "--from": from_,
            "--days": days,
            "--users": users,
            "--ota-lake": ota_lake,
            "--stored": stored,
            "--set": Each(set),
            "--vary": Each(vary),
            "--columns": Each(columns),
            "--sort": sort,
            "--top": top,
            "--out": out,
            "--chart-format": Each(chart_format),
            "--chart-width": chart_width,
            "--no-title": no_title,
            "--window-end": window_end,
        },
    )


def synth(
    folder: Place,
    *,
    source: Words | None = None,
    seed: Number | None = None,
    scale: Number | None = None,
    jobs: Number | None = None,
    days: Number | None = None,
    parts: Number | None = None,
    machines: Number | None = None,
    no_usage: bool = False,
    dirty: bool = False,
) -> Result:
    """Write a synthetic trace with its ground truth.

    folder: Folder of the trace, new or empty
    source: Format: google-2011 (CSV) or google-2019 (JSON) [default: google-2011]
    seed: Seed of all random numbers [default: 1]
    scale: Size as a share of the real trace
    jobs: Number of jobs
    days: Length of the window in days
    parts: Number of time slices, and therefore of parts per table
    machines: Number of machines; by default it depends on the trace size
    no_usage: Leave out `task_usage`, by far the largest table
    dirty: Add bad lines of every kind

    `jobfate synth --help` says more.
    """
    return ask(
        "synth",
        {
            "folder": folder,
            "--source": source,
            "--seed": seed,
            "--scale": scale,
            "--jobs": jobs,
            "--days": days,
            "--parts": parts,
            "--machines": machines,
            "--no-usage": no_usage,
            "--dirty": dirty,
        },
    )
