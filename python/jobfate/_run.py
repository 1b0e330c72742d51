"""Runs the program.

In: a command with the values of its options. Out: what it printed and what it said, or an exception
by its exit code. While it runs its progress is shown: as a bar in a notebook, as a line on a
terminal, and nowhere else. An interrupt ends the program too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Union

from ._errors import error_of

# What a value of an option may be.
Place = Union[str, "os.PathLike[str]"]
Number = Union[int, float, str]
Word = Union[str, int, float, "os.PathLike[str]"]
Words = Union[Word, Iterable[Word], Mapping[str, Word]]

# The variable that makes the program print its progress, and the beginning of those lines.
_TELL, _TOLD = "JOBFATE_PROGRESS", b"\x01progress "


class Each(NamedTuple):
    """A value whose items are given one by one, each behind the name of the option or all behind one."""

    value: Any
    together: bool = False


class Ran(NamedTuple):
    """A run that is over."""

    command: str
    stdout: bytes
    said: list[str]
    code: int


def program() -> Path:
    """The program that is run: that of the variable JOBFATE_PROGRAM, or the one beside this module."""
    named = os.environ.get("JOBFATE_PROGRAM")
    if named:
        return Path(named)
    name = "jobfate.exe" if sys.platform == "win32" else "jobfate"
    schemes = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))]
    # `pip install --target DIR` puts programs into `DIR/bin`.
    for folder in [*map(Path, filter(None, schemes)), Path(__file__).parent.parent / "bin"]:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError("the program `jobfate` is not where pip puts programs: install the wheel again")


@lru_cache(maxsize=None)
def version() -> str:
    """The version of the package."""
    from importlib import metadata

    try:
        return metadata.version("jobfate")
    except metadata.PackageNotFoundError:  # Used from the sources.
        return "unknown"


def words_of(options: Mapping[str, Any]) -> list[str]:
    """The words of a command line; options without a value are left out."""
    words, places = [], []
    for name, value in options.items():
        if value is None or value is False or (isinstance(value, Each) and value.value is None):
            continue
        if not name.startswith("-"):
            places.extend(_items(value))
        elif value is True:
            words.append(name)
        elif isinstance(value, Each) and value.together:
            words.extend([name, *_items(value.value)])
        elif isinstance(value, Each):
            words.extend(f"{name}={item}" for item in _items(value.value))
        else:
            words.append(f"{name}={','.join(_items(value))}")
    if any(place.startswith("-") for place in places):
        words.append("--")
    return words + places


def _items(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{key}={_text(item)}" for key, item in value.items()]
    if isinstance(value, (str, os.PathLike)) or not isinstance(value, Iterable):
        return [_text(value)]
    return [_text(item) for item in value]


def _text(value: Any) -> str:
    if isinstance(value, Each):
        raise TypeError("a list of values cannot hold another")
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def run(command: str, words: list[str], shown: list[str], codes: Iterable[int] = (0,)) -> Ran:
    """Runs a command to its end; `shown` are the words that whoever asked has given."""
    line = command_line(["jobfate", command, *shown])
    process = subprocess.Popen(
        [os.fspath(program()), command, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, _TELL: "yes"},
        # An interrupt reaches it once, from here.
        start_new_session=True,
    )
    said: list[str] = []
    listener = threading.Thread(target=_listen, args=(process, said, _show()), daemon=True)
    listener.start()
    try:
        assert process.stdout is not None
        stdout = process.stdout.read()
        code = process.wait()
    except BaseException:
        _end(process)
        raise
    finally:
        listener.join()
        process.stdout and process.stdout.close()
    if code == 130:
        raise KeyboardInterrupt
    ran = Ran(line, stdout, said, code)
    if code not in codes:
        raise error_of(code, said, line)
    return ran


def command_line(words: Iterable[str]) -> str:
    """Words as a line for a shell."""
    import shlex

    return shlex.join(words)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stops a program as Ctrl-C does, which leaves nothing half-made behind; whoever runs in the
    background may have inherited that SIGINT is ignored."""
    process.terminate()
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _listen(process: subprocess.Popen[bytes], said: list[str], show: Callable[[str, int, int], None] | None) -> None:
    """Keeps what the program says, and shows how far it is."""
    assert process.stderr is not None
    last = None
    with process.stderr as lines:
        for line in lines:
            if not line.startswith(_TOLD):
                said.append(line.decode(errors="replace").rstrip("\n"))
                continue
            done, total, what = (line[len(_TOLD) :].decode(errors="replace").rstrip("\n").split(" ", 2) + [""])[:3]
            last = (what, int(done), int(total))
            if show is not None:
                show(*last)
    if show is not None and last is not None:
        show(last[0], last[2], last[2])


# What follows the progress: True for the usual, False for nothing, or a function.
_watcher: Callable[[str, int, int], None] | bool = True


def watch(how: Callable[[str, int, int], None] | bool) -> None:
    """How progress is shown from here on: True for a bar in a notebook or on a terminal, False for
    nothing, or a function of what is being done, the units done and the units in all."""
    global _watcher
    _watcher = how


def _show() -> Callable[[str, int, int], None] | None:
    if callable(_watcher):
        return _watcher
    if not _watcher:
        return None
    try:
        shell = sys.modules["IPython"].get_ipython()
    except (KeyError, AttributeError):
        shell = None
    if shell is not None and "IPKernelApp" in shell.config:
        return _notebook_bar()
    return _terminal_line if sys.stderr is not None and sys.stderr.isatty() else None


def _notebook_bar() -> Callable[[str, int, int], None]:
    from html import escape

    from IPython.display import HTML, display

    handle = display(HTML(""), display_id=True)

    def show(what: str, done: int, total: int) -> None:
        bar = f'<progress value="{done}" max="{max(total, 1)}"></progress> {escape(what)}'
        handle.update(HTML("" if done == total else bar))

    return show


def _terminal_line(what: str, done: int, total: int) -> None:
    is_over = done == total
    text = "" if is_over else f"{what}: {100 * done // max(total, 1)} %"
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()
