"""What became of every job in a cluster trace, from Python.

Every command of the program `jobfate` is a function of the same name, which runs the program:

    import jobfate

    lake = jobfate.ingest("clusterdata-2011-2", lake="lake")
    sweep = jobfate.sweep(lake, cpu="slots", thresholds="10..=60:10")
    sweep.polars()                  # or .table (Arrow), .pandas(), .rows
    sweep.chart("sweep-plane")      # a notebook shows the picture; .data, .caption, .command
    lake.fact("q01").polars()
    lake.duckdb().sql("SELECT outcome_sequence, count(*) FROM q01_job_outcomes GROUP BY ALL")

Options are those of the command line with `_` for `-`; `help(jobfate.sweep)` lists them. An option
that is None, or False, is not given. Several values are a list, names with values a dict, and
numbers a range: `thresholds=range(10, 70, 10)`.

What the program cannot do is an exception by its exit code: `CheckFailed` (1), `UsageError` (2),
`DataError` (3), `MachineError` (4), `BugError` (70), all of them `JobfateError`.
"""

from . import _commands
from ._commands import *  # noqa: F403 - every command.
from ._commands import __all__ as _functions
from ._errors import BugError, CheckFailed, DataError, JobfateError, MachineError, UsageError
from ._lake import Lake
from ._result import Chart, Result, Table, results
from ._run import program, version, watch

__version__ = version()

# `Lake.fact` asks a command, and commands give lakes: they meet here.
Lake._query = staticmethod(_commands.query)

__all__ = [
    *_functions,
    "BugError",
    "Chart",
    "CheckFailed",
    "DataError",
    "JobfateError",
    "Lake",
    "MachineError",
    "Result",
    "Table",
    "UsageError",
    "program",
    "results",
    "watch",
]
