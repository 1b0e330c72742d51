#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = ["duckdb", "numpy"]
# ///
"""Runs the sessions of README.md and of the pages under reports/, reports/README.md included, and compares the output.

Usage: readme.py [JOBFATE [PAGE...]] [--data DIR] [--update] [--measured] [--prose]

In a `console` block, a line that begins with `$ ` is a command. A backslash at its end continues it in the next line.
The lines after it are its output on stdout. The blocks of a page run in order, each command in a separate bash, in one
folder that is made for the page. JOBFATE is on the path as `jobfate`, and this Python as `python3`. The folder holds
`data-scripts`, `queries`, `reports` and `tests` of the repository, and the real data under the names of LINKS. Notes in
HTML comments:

    <!-- needs: data -->                      before a block: skipped if the data is missing
    <!-- measured: DATE, MACHINE, TIME -->    before a block: prints times, or takes minutes; runs
                                              only with --measured
    <!-- picture: MADE -> KEPT -->            after a block: the file that it made must be the same
                                              as this one of the repository
    <!-- screen: PAGE.html -> KEPT -->        after a block: --update keeps the first screen of this page
                                              that it made, if there is a browser; else both must be there
    <!-- given: 12,500 95 % (whose) -->       numbers of the prose that no command prints

In prose and tables every number of three digits or more, with a decimal point or with a percent sign must be in a
block of the page, possibly rounded or as a share, or be given. Code, links, dates, versions such as 3.5.6, years, and
numbers that start with 0 (014) are not checked. Links into the repository must have a target.

Prints a line per fault and skipped block, and `N passed, M failed`; exits with 1 if any failed.

--data DIR   the real data (default: ../shared/data beside the repository)
--update     writes outputs and pictures anew: read what changed before you accept it
--measured   runs the measured blocks, too
--prose      runs nothing: numbers and links alone; JOBFATE is not needed
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
# Name in the folder of a page, and path in the real data.
LINKS = {
    "alibaba/batch_task.csv.gz": "alibaba-2017/batch_task.csv.gz",
    "clusterdata-2011-2": "clusterdata-2011-2",
    "cell-a/machine_events-000000000000.json.gz": "google-2019/machine_events-000000000000.json.gz",
    "hadoop/19-jobs.topology.json.gz": "rumen/19-jobs.topology.json.gz",
    "hadoop/19-jobs.trace.json.gz": "rumen/19-jobs.trace.json.gz",
    "logs/LCG.swf.gz": "swf/LCG.swf.gz",
    "openb": "alibaba-gpu-2023",
    "slurm/pozidriv.sacct.gz": "slurm/pozidriv.sacct.gz",
    "logs/NASA-iPSC-1993-3.1-cln.swf.gz": "swf/NASA-iPSC-1993-3.1-cln.swf.gz",
}
BROWSERS = ["chromium", "chromium-browser", "google-chrome"]
PIECE = re.compile(r"(?P<notes>(?:^<!-- (?:needs|measured): .*? -->\n)*)^```console\n(?P<body>.*?)^```$"
                   r"|^<!-- (?P<kind>picture|screen): (?P<made>\S+) -> (?P<kept>\S+) -->$", re.M | re.S)
# A command with its continued lines, its output, and the empty lines before the next command.
COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*\n)(?P<printed>(?:(?!\$ ).*\n)*?)(?P<gap>\n*)(?=\$ |\Z)", re.M)
NUMBER = re.compile(r"(?<![\w.,^+=-])(?P<digits>\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?)(?P<percent>\s?%)?"
                    r"(?P<scale> million| billion)?(?![\w]|[.,]\d)")
PRINTED = re.compile(r"(?<![A-Za-z/+.])\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?P<percent>\s?%)?")
NOT_PROSE = re.compile(r"^```.*?^```$|<!--.*?-->|`[^`\n]+`|\]\([^)]*\)|<[^>]*>|https?://\S+|\b\d{4}-\d\d-\d\d\b"
                       r"|\bv?\d+(?:\.\d+){2,}\b|\bv\d[\d.]*", re.M | re.S)
GIVEN = re.compile(r"<!-- given: (.*?) -->", re.S)
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)|(?:src|href)=\"([^\"#]+)\"")


class Options(NamedTuple):
    data: Path | None
    update: bool
    measured: bool


class Tally:
    """Counts passed and failed checks; prints each fault immediately."""

    passed = failed = 0

    def count(self, where: str, fault: str) -> None:
        self.passed += not fault
        self.failed += bool(fault)
        if fault:
            print(f"{where}: {fault}")


def furnish(folder: Path, jobfate: Path, data: Path | None) -> dict[str, str]:
    """Puts program, scripts and data into a folder; returns the environment of its commands."""
    links = {"bin/jobfate": jobfate} | {name: ROOT / name for name in ("data-scripts", "queries", "reports", "tests")}
    links |= {name: data / place for name, place in LINKS.items()} if data else {}
    for name, place in links.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(place)
    path = os.pathsep.join([f"{folder}/bin", str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"PATH": path, "TERM": "dumb", "LC_ALL": "C.UTF-8"}


def run_block(body: str, folder: Path, environment: dict[str, str]) -> tuple[str, str]:
    """Returns the block with the present output of its commands, and its faults."""
    faults = []

    def renewed(match: re.Match) -> str:
        run = subprocess.run(["bash", "-o", "pipefail", "-c", match["command"]], cwd=folder, env=environment,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if run.returncode != 0:
            faults.append(f"\n$ {match['command']}exit code {run.returncode}\n{run.stderr[-2000:]}")
            return match[0]
        printed = run.stdout.rstrip("\n") + "\n" if run.stdout.strip("\n") else ""
        if printed != match["printed"]:
            lines = difflib.unified_diff(match["printed"].splitlines(), printed.splitlines(), "page", "printed", lineterm="")
            faults.append(f"\n$ {match['command']}" + "\n".join(lines))
        return f"$ {match['command']}{printed}{match['gap']}"

    return COMMAND.sub(renewed, body), "".join(faults)


def keep_screen(page: Path, kept: Path, update: bool) -> str:
    """Checks that a page and its picture exist, or takes the picture again; returns the fault."""
    if not page.is_file():
        return f"`{page.name}` was not made"
    if update:
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if browser is None:
            return f"{kept.relative_to(ROOT)} needs {BROWSERS[0]}"
        subprocess.run([browser, "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,860",
                        f"--screenshot={kept}", page.resolve().as_uri()], check=True, capture_output=True)
    return "" if kept.is_file() else f"{kept.relative_to(ROOT)} is missing"


def keep_picture(made: Path, kept: Path, update: bool) -> str:
    """Compares a picture with the one in the repository, or replaces it; returns the fault."""
    if not made.is_file():
        return f"`{made.name}` was not made"
    if update:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(made.read_bytes())
    is_same = kept.is_file() and kept.read_bytes() == made.read_bytes()
    return "" if is_same else f"{kept.relative_to(ROOT)} is not what the command makes"


def run_page(page: Path, jobfate: Path, options: Options, tally: Tally) -> str:
    """Runs all blocks of a page and returns its text with their present output."""
    text, has_run = page.read_text(), False
    with tempfile.TemporaryDirectory(prefix="jobfate-page-") as name:
        folder = Path(name)
        environment = furnish(folder, jobfate, options.data)

        def renewed(match: re.Match) -> str:
            nonlocal has_run
            where = f"{page.relative_to(ROOT)} line {text.count(chr(10), 0, match.start()) + 1}"
            if match["made"]:
                if has_run:
                    keep = keep_picture if match["kind"] == "picture" else keep_screen
                    tally.count(where, keep(folder / match["made"], ROOT / match["kept"], options.update))
                return match[0]
            is_skipped = "needs: data" in match["notes"] and not options.data
            has_run = not is_skipped and (options.measured or "measured:" not in match["notes"])
            if is_skipped:
                print(f"SKIPPED: {where}: the real data is absent")
            if not has_run:
                return match[0]
            body, fault = run_block(match["body"], folder, environment)
            tally.count(where, fault)
            return f"{match['notes']}```console\n{body}```"

        return PIECE.sub(renewed, text)


def is_figure(number: re.Match) -> bool:
    digits = number["digits"]
    is_year, is_code = re.fullmatch(r"(19|20)\d\d", digits), digits.startswith("0") and digits.isdigit()
    is_long = 3 <= len(re.sub(r"\D", "", digits)) and not is_year
    return bool(number["percent"]) or not is_code and (is_long or "." in digits or "e" in digits)


def is_printed(number: re.Match, printed: set[tuple[float, bool]]) -> bool:
    """Whether a printed number rounds to this one; the flag marks a share or a percentage."""
    mantissa, _, exponent = number["digits"].replace(",", "").partition("e")
    scale = 10.0 ** int(exponent or 0) * {" million": 1e6, " billion": 1e9}.get(number["scale"], 1)
    half = 0.5 * 10.0 ** -len(mantissa.partition(".")[2]) * scale * (1 + 1e-9)
    value, is_percent = float(mantissa) * scale, bool(number["percent"])
    return any(abs(one - value) <= half and (is_share or not is_percent)
               or is_percent and is_share and abs(100 * one - value) <= half for one, is_share in printed)


def faults_of(text: str) -> list[str]:
    """Returns numbers of the prose that are in no block and not given, and given numbers that the prose lacks."""
    blocks = "".join(match["body"] or "" for match in PIECE.finditer(text))
    printed = {(float(match[0].removesuffix(match["percent"] or "").replace(",", "")), bool(match["percent"] or "." in match[0]))
               for match in PRINTED.finditer(blocks)}
    notes = re.sub(r"\([^)]*\)", "", " ".join(GIVEN.findall(text)))
    given = {number[0].replace(" ", ""): 0 for number in NUMBER.finditer(notes)}
    prose, faults = NOT_PROSE.sub(lambda match: "\n" * match[0].count("\n") or " ", text), []
    for number in NUMBER.finditer(prose):
        name = number[0].replace(" ", "")
        if name in given:
            given[name] += 1
        elif is_figure(number) and not is_printed(number, printed):
            faults.append(f"line {prose.count(chr(10), 0, number.start()) + 1}: no block prints {number[0]}")
    return faults + [f"{name} is given, but not in the text" for name, uses in given.items() if not uses]


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("words", nargs="*", type=Path)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    for flag in ("--update", "--measured", "--prose"):
        parser.add_argument(flag, action="store_true")
    args = parser.parse_args()
    pages = [word.resolve(strict=True) for word in args.words if word.suffix == ".md"]
    pages = pages or [ROOT / "README.md", ROOT / "reports/README.md", *sorted(set(ROOT.glob("reports/*/*.md")) - set(ROOT.glob("reports/benchmarks/*")))]
    programs = [word.resolve(strict=True) for word in args.words if word.suffix != ".md"]
    if len(programs) != 1 and not args.prose:
        parser.error("name the jobfate to run")
    has_data = all((args.data / place).exists() for place in LINKS.values())
    options, tally = Options(args.data.resolve() if has_data else None, args.update, args.measured), Tally()
    for page in pages:
        text = page.read_text() if args.prose else run_page(page, programs[0], options, tally)
        if args.update and not args.prose:
            page.write_text(text)
        targets = ["".join(link) for link in LINK.findall(text)]
        lost = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
        faults = faults_of(text) + [f"leads nowhere: {target}" for target in lost]
        tally.count(str(page.relative_to(ROOT)), "\n    ".join(faults))
    print(f"{tally.passed} passed, {tally.failed} failed")
    sys.exit(0 if tally.passed and not tally.failed else 1)


if __name__ == "__main__":
    main()
