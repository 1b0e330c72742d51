"""What the program answers.

In: a run, or a folder that `--out` has written. Out: tables as Arrow, which Polars, pandas and
DuckDB take as they are; charts that a notebook shows; and what made them.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ._errors import error_of
from ._run import Each, Place, Ran, command_line, run, words_of

if TYPE_CHECKING:
    import pandas
    import polars

# Rows of a table that a notebook shows.
_ROWS_SHOWN = 20


class Table:
    """Rows with names. Whatever reads Arrow reads it: `polars.DataFrame(table)`, `duckdb.sql("FROM table")`
    with `table = answer.table`, `pyarrow.table(answer)`."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    @property
    def table(self) -> pa.Table:
        """The Arrow table; each field has its unit and meaning as metadata."""
        return self._table

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every row as a dictionary."""
        return self.table.to_pylist()

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.table.column_names

    def polars(self) -> polars.DataFrame:
        """The rows for Polars, which must be installed."""
        import polars

        frame = polars.from_arrow(self.table)
        assert isinstance(frame, polars.DataFrame)
        return frame

    def pandas(self) -> pandas.DataFrame:
        """The rows for pandas, which must be installed; whole numbers with a null stay whole."""
        import pandas

        return self.table.to_pandas(types_mapper=pandas.ArrowDtype)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __bool__(self) -> bool:
        """Always true: some answers have no table, and none of them is no answer."""
        return True

    def __len__(self) -> int:
        return self.table.num_rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        def cell(value: Any) -> str:
            return f"<td>{'' if value is None else escape(f'{value:,.6g}' if isinstance(value, float) else str(value))}</td>"

        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        shown = self.table.slice(0, _ROWS_SHOWN).to_pylist()
        body = "".join(f"<tr>{''.join(map(cell, row.values()))}</tr>" for row in shown)
        more = len(self) - len(shown)
        foot = f"<p>and {more:,} more rows</p>" if more else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"


class Chart:
    """A picture of an answer. A notebook shows it."""

    def __init__(self, folder: Path, entry: Mapping[str, str], command: str, keep: object = None) -> None:
        self._folder = folder
        # The folder is gone with the last object that needs it.
        self._keep = keep
        self.name = entry["file"]
        """Its name, such as `sweep-plane`."""
        self.title = entry["title"]
        """What is seen."""
        self.caption = entry["caption"]
        """Definition, source and what is censored."""
        self.command = command
        """The command line that made it."""

    @property
    def svg(self) -> str:
        """The picture as SVG."""
        return (self._folder / f"{self.name}.svg").read_text(encoding="utf-8")

    @property
    def data(self) -> Table:
        """The numbers that are drawn; a result that the program stored without `--chart-data` has none."""
        path = self._folder / f"{self.name}.data.parquet"
        if not path.is_file():
            raise TypeError(f"`{path}` is missing: `{self.command}` stores it with --chart-data")
        return Table(pq.read_table(path))

    def save(self, path: Place) -> None:
        """Writes the SVG to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<chart {self.name}: {self.title}>"


class Result(Table):
    """What a command has answered: a table, and with it the whole answer, its charts and what made it."""

    def __init__(
        self,
        command: str,
        stdout: bytes,
        notes: list[str],
        folder: Path | None,
        keep: object = None,
        name: str = "result.json",
    ) -> None:
        self.command = command
        """The command line."""
        self.notes = notes
        """What was said beside the answer: assumptions, warnings, what was written."""
        self.folder = folder
        """Where its files are, if it has any."""
        self._stdout = stdout
        self._name = name
        # The folder is gone with the last object that needs it.
        self._keep = keep

    @property
    def text(self) -> str:
        """What was printed, of a command whose answer is not a table."""
        return "" if self._is_table else self._stdout.decode()

    @property
    def _is_table(self) -> bool:
        return self._stdout[:4] == b"PAR1"

    @property
    def table(self) -> pa.Table:
        """The Arrow table; each field has its unit and meaning as metadata."""
        if not hasattr(self, "_table"):
            if not self._is_table:
                raise TypeError(f"`{self.command}` does not answer with a table")
            self._table = pq.read_table(BytesIO(self._stdout))
        return self._table

    @property
    def stored(self) -> dict[str, Any]:
        """The whole `result.json`: command, settings, inputs with checksums, charts, answer."""
        if not self._has_stored:
            raise TypeError(f"`{self.command}` stores no result")
        assert self.folder is not None
        return json.loads((self.folder / self._name).read_text(encoding="utf-8"))

    @property
    def _has_stored(self) -> bool:
        return self.folder is not None and (self.folder / self._name).is_file()

    @property
    def answer(self) -> Any:
        """The answer with all that the table leaves out, as `--format json` gives it."""
        return self.stored["answer"]

    @property
    def settings(self) -> dict[str, Any]:
        """Every option with its value, defaults filled in."""
        return self.stored["settings"]

    @property
    def charts(self) -> dict[str, Chart]:
        """The charts by name."""
        if self.folder is None or not self._has_stored:
            return {}
        folder, entries = self.folder, self.stored["charts"]
        return {entry["file"]: Chart(folder, entry, self.command, self._keep) for entry in entries}

    def chart(self, name: str) -> Chart:
        """The chart of a name."""
        charts = self.charts
        if name not in charts:
            raise KeyError(f"no chart is called `{name}` (known: {', '.join(charts) or 'none'})")
        return charts[name]

    @property
    def results(self) -> dict[str, Result]:
        """The results that the command has stored in its folder, by name: those of `analyze`."""
        return {} if self.folder is None else results(self.folder)

    def __repr__(self) -> str:
        if self._is_table:
            return f"<result of `{self.command}`: {len(self)} rows of {', '.join(self.columns)}>"
        return self.text.rstrip("\n") or f"<result of `{self.command}`>"

    def _repr_html_(self) -> str:
        return super()._repr_html_() if self._is_table else f"<pre>{escape(repr(self))}</pre>"


def results(folder: Place) -> dict[str, Result]:
    """Reads the results in a folder, and in the folders in it, by name: those of `out=`, or all of `analyze`."""
    found: dict[str, Result] = {}
    folder = Path(folder)
    inner = sorted(path.parent for path in folder.glob("*/result.json"))
    for path in (path for place in [folder, *inner] for path in sorted(place.glob("*.json"))):
        stored = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(stored, dict) or not {"name", "program", "command"} <= stored.keys():
            continue
        table = path.with_name(f"{stored['name']}.parquet")
        stdout = table.read_bytes() if table.is_file() else b""
        found[stored["name"]] = Result(command_line(stored["command"]), stdout, [], path.parent, name=path.name)
    return found


def ask(command: str, options: Mapping[str, Any]) -> Result:
    """Runs a command that draws nothing."""
    words = words_of(options)
    ran = run(command, words, words, codes=(0, 1))
    out = options.get("--out")
    return checked(ran, Path(out) if out is not None else None)


def draw(command: str, options: Mapping[str, Any]) -> Result:
    """Runs a command that answers with a table and charts. Without `out` its files are kept as long
    as the result."""
    words = words_of(options)
    formats = {"svg", *_formats(options.get("--chart-format"))}
    further = {name: value for name, value in options.items() if name not in ("--out", "--chart-format")}
    keep, out = None, options.get("--out")
    if out is None:
        keep = tempfile.TemporaryDirectory(prefix="jobfate-")
        out = keep.name
    own = ["--format=parquet", f"--out={out}", f"--chart-format={','.join(sorted(formats))}", "--chart-data"]
    ran = run(command, [*own, *words_of(further)], words, codes=(0, 1))
    return checked(ran, Path(out), keep)


def _formats(value: Any) -> list[str]:
    value = value.value if isinstance(value, Each) else value
    if value is None:
        return []
    return value.split(",") if isinstance(value, str) else list(value)


def checked(ran: Ran, folder: Path | None, keep: object = None) -> Result:
    """The result of a run; an exception with the result where a check failed."""
    notes = [line for line in ran.said if keep is None or not line.startswith("wrote ")]
    result = Result(ran.command, ran.stdout, notes, folder, keep)
    if ran.code != 0:
        error = error_of(ran.code, ran.said, ran.command)
        error.result = result  # type: ignore[attr-defined]
        raise error
    return result
