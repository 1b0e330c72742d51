#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = ["duckdb", "pandas", "polars", "pyarrow"]
# ///
"""Runs `queries/python.md` as a reader would, and compares the output.

Usage: python_page.py JOBFATE [--update]

In a temporary folder, with JOBFATE on the path as `jobfate` and the module of this repository, it runs first every `sh`
block, then every `python` block in order, in one process. The output of a block must be exactly the `text` block that
follows it. Prints a line per block and `N passed, M failed`; exits with 1 if any block failed.

--update also rewrites the text blocks: read the changes before you accept them.
"""

import argparse
import contextlib
import difflib
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "queries" / "python.md"
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
# A block of Python, and the text block right after it if there is one.
PYTHON = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n+^```text\n(?P<text>.*?)^```$)?", re.M | re.S)


def line_of(page: str, position: int) -> int:
    return page.count("\n", 0, position) + 1


def run_shell(page: str) -> list[bool]:
    passed = []
    for block in SHELL.finditer(page):
        run = subprocess.run(["bash", "-euo", "pipefail", "-c", block[1]], capture_output=True, text=True)
        passed.append(run.returncode == 0)
        print(f"line {line_of(page, block.start())}, sh: {'ok' if passed[-1] else 'FAILED'}")
        if not passed[-1]:
            print(f"{run.stdout}{run.stderr}")
    return passed


def printed_by(code: str, line: int, names: dict) -> tuple[str, bool]:
    """Returns the output of `code`, and whether it ran to its end. Errors name the line of the page."""
    stdout = io.StringIO()
    with contextlib.redirect_stdout(stdout):
        try:
            exec(compile("\n" * line + code, "python.md", "exec"), names)
        except Exception:
            print(traceback.format_exc())
            return stdout.getvalue(), False
    return stdout.getvalue(), True


def run_python(page: str) -> tuple[str, list[bool]]:
    """Returns the page with the present output of its blocks, and which blocks print the text on the page."""
    names, passed = {"__name__": "__main__"}, []

    def renewed(block: re.Match) -> str:
        line, code = line_of(page, block.start()), block["code"]
        found, has_ended = printed_by(code, line, names)
        passed.append(has_ended and found == block["text"])
        print(f"line {line}, python: {'ok' if passed[-1] else 'FAILED'}")
        if not passed[-1]:
            expected = (block["text"] or "").splitlines()
            difference = difflib.unified_diff(expected, found.splitlines(), "page", "printed", lineterm="")
            print(*difference, sep="\n")
        return f"```python\n{code}```\n```text\n{found}```" if has_ended else block[0]

    return PYTHON.sub(renewed, page), passed


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("jobfate", type=Path)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    page, jobfate = PAGE.read_text(), args.jobfate.resolve(strict=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("bin").mkdir()
        Path("bin/jobfate").symlink_to(jobfate)
        os.environ["PATH"] = os.pathsep.join([f"{folder}/bin", os.environ["PATH"]])
        os.environ["JOBFATE_PROGRAM"] = str(jobfate)
        sys.path.insert(0, str(PAGE.parents[1] / "python"))
        os.environ["JOBFATE_QUERIES"] = str(PAGE.parent)
        passed = run_shell(page)
        renewed, of_python = run_python(page)
    passed += of_python
    if args.update:
        PAGE.write_text(renewed)
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    sys.exit(0 if of_python and all(passed) else 1)


if __name__ == "__main__":
    main()
