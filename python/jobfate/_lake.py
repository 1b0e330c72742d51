"""A lake, the folder of Parquet tables that `ingest` makes.

In: its folder. Out: what it holds and lacks, its facts, and DuckDB with all of it by name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from ._result import Result, Table
from ._run import Place, run

if TYPE_CHECKING:
    import duckdb

# Those of `jobfate query`.
_THRESHOLDS = (10, 20, 50, 100, 200, 300, 400)

# Types of columns of the lake in DuckDB, where their names differ.
_TYPES = {"int64": "BIGINT", "int32": "INTEGER", "float32": "FLOAT", "string": "VARCHAR", "float32[]": "FLOAT[]"}

_COLUMNS = pa.schema([(name, pa.string()) for name in ("table", "name", "type", "unit", "meaning")])
_GAPS = pa.schema([("table", pa.string()), ("parts", pa.string()), ("from_h", pa.float64()), ("until_h", pa.float64())])


def lake_or_trace(lake: Place | None, trace: Place | None) -> tuple[Place | None, Place | None]:
    """A lake and a trace. A place that is there and is no lake is the trace, if no other is given."""
    if lake is None or trace is not None or isinstance(lake, Lake):
        return lake, trace
    path = Path(lake)
    is_lake = (path / ".lock").exists() or any(path.glob("manifest*.json"))
    return (lake, None) if is_lake or not path.exists() else (None, lake)


class Lake(os.PathLike[str]):
    """A lake; wherever a command takes the folder of a lake, it takes this."""

    _query: ClassVar[Callable[..., Result]]
    """`jobfate.query`; the package sets it."""

    def __init__(self, path: Place) -> None:
        self.path = Path(path)
        """Its folder."""

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"Lake({os.fspath(self.path)!r})"

    @cached_property
    def _about(self) -> dict[str, Any]:
        words = [f"--lake={self.path}"]
        return json.loads(run("about", words, words).stdout)

    @property
    def source(self) -> str:
        """The kind of trace that it was made of, such as `google-2011` or `slurm`."""
        return self._about["source"]

    @property
    def tables(self) -> dict[str, int]:
        """The rows of each table."""
        return {name: about["rows"] for name, about in self._about["tables"].items() if about["rows"] is not None}

    def columns(self, table: str | None = None) -> Table:
        """The columns of a table, or of all: name, type, unit and meaning."""
        known = self.tables
        if table is not None and table not in known:
            raise KeyError(f"the lake has no table `{table}` (it has: {', '.join(known)})")
        rows = [
            {"table": name, **{key: column[key] or None for key in ("name", "type", "unit", "meaning")}}
            for name in ([table] if table is not None else known)
            for column in self._about["tables"][name]["columns"]
        ]
        columns = pa.Table.from_pylist(rows, schema=_COLUMNS)
        return Table(columns if table is None else columns.drop_columns("table"))

    def gaps(self) -> Table:
        """What is missing between the loaded parts, with the hours of the trace clock."""
        return Table(pa.Table.from_pylist(self._about["gaps"], schema=_GAPS))

    @property
    def facts(self) -> dict[str, str]:
        """The facts that can be asked of it, each with its question."""
        return {query["name"]: query["question"] for query in self._about["queries"] if self._has(query)}

    def _has(self, query: dict[str, Any]) -> bool:
        return all(table in self.tables for table in query["tables"])

    def fact(self, name: str, **options: Any) -> Result:
        """A fact by number or name, such as `q01`; options are those of `jobfate.query`."""
        return Lake._query(self, name, **options)

    def duckdb(self, thresholds: Iterable[int] = _THRESHOLDS) -> duckdb.DuckDBPyConnection:
        """A new DuckDB with a view for every table of the lake and for every fact, and the tables
        `settings` (where the windows end) and `thresholds`, which facts read. A fact is computed when
        it is asked; `CREATE TABLE own AS FROM q05_cpu_held` keeps it."""
        import duckdb

        lake, windows = duckdb.connect(), self._about["windows"]
        for name, about in self._about["tables"].items():
            if about["rows"]:
                files = (self.path / name / "**/*.parquet").absolute().as_posix().replace("'", "''")
                lake.execute(f"CREATE VIEW {name} AS FROM read_parquet('{files}')")
            else:  # There is no file of rows; facts for which it is optional read an empty table.
                types = ", ".join(f'"{column["name"]}" {_TYPES.get(column["type"], "BOOLEAN")}' for column in about["columns"])
                lake.execute(f"CREATE TABLE {name} ({types})")
        lake.execute(
            "CREATE TABLE settings AS SELECT ?::BIGINT AS job_window_end_us, ?::BIGINT AS task_window_end_us, "
            "?::BIGINT AS first_us, ? AS open_attempts",
            [windows["job_end_us"], windows["task_end_us"], windows["first_us"], windows["open_attempts"]],
        )
        lake.execute("CREATE TABLE thresholds AS SELECT unnest(?::BIGINT[]) AS threshold", [list(thresholds)])
        for query in filter(self._has, self._about["queries"]):
            lake.execute(f"CREATE VIEW {query['name']} AS {query['sql'].rstrip().rstrip(';')}")
        return lake
