"""What the program cannot do, as an exception for each of its exit codes.

In: how a run ended and what it wrote on stderr. Out: an exception that says what could not be done,
why, and what to do about it.
"""

from __future__ import annotations

from typing import Any


class JobfateError(Exception):
    """Something could not be done; `str()` has the sentence, its causes and the hint."""

    code: int | None = None
    """The exit code of the program."""

    def __init__(self, lines: list[str], command: str, code: int | None = None) -> None:
        said = [line for line in lines if not line.startswith("warning: ")]
        starts = [place for place, line in enumerate(said) if line.startswith("error: ")]
        said = said[starts[0] :] if starts else said
        super().__init__("\n".join(said) or f"`{command}` ended with exit code {code}")
        self.message = said[0].removeprefix("error: ") if said else ""
        """What could not be done."""
        self.causes = [line.removeprefix("cause: ") for line in said if line.startswith("cause: ")]
        """Why, from the nearest cause to the first."""
        hints = [line.removeprefix("hint: ") for line in said if line.startswith("hint: ")]
        self.hint = hints[0] if hints else None
        """What to do about it."""
        self.command = command
        """The command line."""
        if code is not None:
            self.code = code


class CheckFailed(JobfateError):
    """The run is complete and its answer is no: a check failed."""

    code = 1
    result: Any = None
    """The answer, a `Result`."""


class UsageError(JobfateError, ValueError):
    """An option or its value is wrong."""

    code = 2


class DataError(JobfateError):
    """The input is wrong or damaged."""

    code = 3


class MachineError(JobfateError, OSError):
    """The machine is in the way: a file is not there, or the disk is full."""

    code = 4


class BugError(JobfateError):
    """The program is wrong; please report it."""

    code = 70


KINDS = {kind.code: kind for kind in (CheckFailed, UsageError, DataError, MachineError, BugError)}


def error_of(code: int, lines: list[str], command: str) -> JobfateError:
    """The exception of a run that did not end well; a negative code is the signal that ended it."""
    kind = KINDS.get(code)
    if kind is not None:
        return kind(lines, command)
    if code < 0:
        lines = [*lines, f"error: `{command}` was ended by signal {-code}"]
    return JobfateError(lines, command, code)
