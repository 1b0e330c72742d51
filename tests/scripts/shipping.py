#!/usr/bin/env python3
"""Makes all parts of a release on this machine, and uses them as users do.

In: the files of this repository that git tracks. Out: a line for each check on stdout; exit code 1 if one fails.
`.ci/package` makes the crate, the archive and the wheel, as in a release; the lines of the Dockerfile are run in
folders, because not every machine has a Docker daemon. Everything runs in a copy, and our crate is not optimised. Other
crates are taken from CARGO_TARGET_DIR.

    shipping.py

Environment: CARGO_TARGET_DIR (default: target), MATURIN (default: maturin of this Python, or of the path).
"""

import fnmatch
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# Files allowed in the package for crates.io.
IN_CRATE = re.compile(
    r"(src/.+|examples/.+|queries/q\d\d_\w+\.sql|build\.rs|README\.md|CHANGELOG\.md|CITATION\.cff|LICENSE"
    r"|Cargo\.(lock|toml|toml\.orig)|\.cargo_vcs_info\.json)"
)
CRATE_BYTES_MAX = 10 << 20  # The limit of crates.io.

# From `ingest` to a chart.
NOTEBOOK = "reports/sessions/python/first-answer.ipynb"

# Libraries that every image of Debian has.
OF_THE_SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1"}


def run(*command, **more):
    """Runs a command; shows its output if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"FAILED {shlex.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(holds, what):
    if not holds:
        sys.exit(f"FAILED {what}")


def copy_sources(to):
    """Makes a clean checkout of the present files."""
    names = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def settings(work):
    """Cargo finds these from every folder in `work`."""
    shared = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
    (work / ".cargo").mkdir()
    (work / ".cargo/config.toml").write_text(
        f"[build]\nbuild-dir = {json.dumps(str(shared))}\n"
        "[profile.release.package.jobfate]\nopt-level = 0\ncodegen-units = 256\n"
    )


def answers(binary, folder):
    """Checks that an installed program makes its synthetic trace and analyses it."""
    said = run(binary, "analyze", "--out", folder / "analysis", cwd=folder, env={"PATH": "/usr/bin:/bin"})
    check(re.search(r"^014 ", said, re.MULTILINE), f"{binary} analyze answers")
    check((folder / "analysis/report/index.html").is_file(), f"{binary} analyze writes its report")


def crate(source, out, package):
    run(".ci/package", "crate", out, cwd=source)
    path = out / f"jobfate-{package['version']}.crate"
    check(path.stat().st_size <= CRATE_BYTES_MAX, "the crate is small enough for crates.io")
    with tarfile.open(path) as files:
        names = [name.split("/", 1)[1] for name in files.getnames()]
    odd = [name for name in names if not IN_CRATE.fullmatch(name)]
    check(not odd, f"the crate holds no more than is needed: {odd}")
    return f"{len(names)} files, {path.stat().st_size >> 10} KiB"


def archive(source, out, package, work):
    run(".ci/package", "archive", out, cwd=source)
    host = re.search(r"^host: (.*)$", run("rustc", "-vV"), re.MULTILINE)[1]
    words = {
        "{ repo }": "", "{ name }": "jobfate", "{ version }": package["version"], "{ target }": host,
        "{ bin }": "jobfate", "{ binary-ext }": "",
    }
    url, inside = (expand(package["metadata"]["binstall"][key], words) for key in ("pkg-url", "bin-dir"))
    path = out / url.rsplit("/", 1)[1]
    check(path.is_file(), f"the archive has the name that cargo binstall asks for, {path.name}")
    sum_found = hashlib.sha256(path.read_bytes()).hexdigest()
    check((out / f"{path.name}.sha256").read_text().split() == [sum_found, path.name], "its checksum")
    with tarfile.open(path) as files:
        files.extractall(work / "unpacked", filter="tar")
    binary = work / "unpacked" / inside
    check(os.access(binary, os.X_OK), f"the program lies at {inside}, as cargo binstall expects it")
    answers(binary, binary.parent)
    for shell in ("bash", "zsh", "fish"):
        file = next((binary.parent / "complete").glob({"bash": "*.bash", "zsh": "_jobfate", "fish": "*.fish"}[shell]))
        check("classify" in file.read_text(), f"completions of {shell} know the commands")
        if shutil.which(shell):
            run(shell, "-n", file)
    commands = re.findall(r"^  ([a-z]+) ", run(binary, "--help").split("Commands:")[1].split("\n\n")[0], re.MULTILINE)
    check(len(commands) > 10, "the help lists the commands")
    for command in commands:
        check(command == "help" or (binary.parent / f"man/jobfate-{command}.1").is_file(), f"manual page of {command}")
    licences = (binary.parent / "LICENSES-THIRD-PARTY.txt").read_text()
    for name in ("polars ", "parquet ", "mimalloc ", "the font DejaVu Sans"):
        check(name in licences, f"the licences name {name}")
    return f"{path.stat().st_size >> 20} MiB"


def expand(template, words):
    for name, value in words.items():
        template = template.replace(name, value)
    check("{" not in template, f"{template} is expanded")
    return template


def wheel(source, out, package, work, maturin):
    run(".ci/package", "wheel", out, cwd=source, env={**os.environ, "MATURIN": maturin})
    path = next(out.glob("*.whl"))
    venv.create(work / "venv", with_pip=True)
    run(work / "venv/bin/pip", "install", "--no-index", "--no-deps", path)
    said = run(work / "venv/bin/jobfate", "--version")
    check(said.startswith(f"jobfate {package['version']}\n"), "the installed command says its version")
    answers(work / "venv/bin/jobfate", work / "venv")
    look = "import importlib.metadata as m; d = m.distribution('jobfate'); print(d.version, *d.files)"
    version, *files = run(work / "venv/bin/python", "-c", look).split()
    check(version == package["version"], "pip knows the version")
    check(any(name.endswith("LICENSES-THIRD-PARTY.txt") for name in files), "the wheel holds the licences")
    check("jobfate/py.typed" in files and "jobfate/_commands.py" in files, "the wheel holds the module")
    said = use_module(source, work)
    return f"{path.name}, {path.stat().st_size >> 20} MiB; {said}"


def use_module(source, work):
    """Uses the installed module with the packages of its users: as a script, as types, as a notebook."""
    python = work / "venv/bin/python"
    packages = ["pyarrow", "polars", "pandas", "duckdb", "nbconvert", "ipykernel", "mypy"]
    if subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], capture_output=True).returncode != 0:
        return "SKIPPED: the module: pip finds no packages"
    said = run(python, source / "tests/scripts/python_module.py", cwd=work)
    mypy = [python, "-m", "mypy", "--ignore-missing-imports", "--disallow-untyped-defs"]
    run(*mypy, "-p", "jobfate", cwd=work)
    for word, is_right in [("task", True), ("tsk", False)]:
        wrong = [*mypy, "-c", f"import jobfate; jobfate.classify('lake', by='{word}')"]
        found = subprocess.run(wrong, cwd=work, capture_output=True)
        check((found.returncode == 0) == is_right, f"types know which words an option takes: {word}")
    # It runs from its own folder.
    notebook = shutil.copy(source / NOTEBOOK, work / "notebook.ipynb")
    run(python, "-m", "jupyter", "nbconvert", "--to", "notebook", "--execute", "--inplace", notebook, cwd=work,
        env={**os.environ, "PATH": f"{work / 'venv/bin'}:{os.environ['PATH']}"})
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    shown = [output.get("data", {}) for cell in cells for output in cell["outputs"]]
    check(any("image/svg+xml" in data for data in shown), "the notebook shows a picture")
    check(any("text/html" in data for data in shown), "the notebook shows a table")
    return said.strip().splitlines()[-1]


def dockerfile(source, work):
    """Runs the lines of the Dockerfile: each stage is a folder, and its commands run on this machine."""
    ignored = [line for line in (source / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    text = re.sub(r"^#.*\n", "", (source / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    stages, root, place, entry = {}, None, Path("/"), None
    for line in filter(None, text.splitlines()):
        word, rest = line.split(" ", 1)
        if word == "FROM":
            root, place = work / f"image{len(stages)}", Path("/")
            stages[rest.split(" AS ")[-1]] = root
        elif word == "WORKDIR":
            place = place / rest
            inside(root, place).mkdir(parents=True)
        elif word == "COPY":
            *sources, to = rest.split()
            start = source
            if sources[0].startswith("--from="):
                start = stages[sources.pop(0).removeprefix("--from=")]
            copy(start, sources, inside(root, place / to), to, ignored if start == source else [])
        elif word == "RUN":
            run("sh", "-c", rest, cwd=inside(root, place))
        elif word == "ENTRYPOINT":
            entry = json.loads(rest)
        else:
            sys.exit(f"FAILED the Dockerfile has a line that this script does not know: {line}")
    binary = inside(root, Path("/usr/local/bin") / entry[0])
    needed = set(re.findall(r"^\s*(lib\S+) =>", run("ldd", binary), re.MULTILINE))
    check(needed <= OF_THE_SYSTEM, f"the image has the libraries of the program: {needed - OF_THE_SYSTEM}")
    answers(binary, inside(root, place))
    check(inside(root, Path("/usr/local/share/man/man1/jobfate.1")).is_file(), "the image has the manual pages")
    size = sum(file.stat().st_size for file in root.rglob("usr/**/*") if file.is_file())
    return f"{len(stages)} stages, {size >> 20} MiB above the base"


def inside(root, path):
    return root / path.relative_to("/")


def copy(start, sources, to, to_text, ignored):
    for name in sources:
        source = start / name.removeprefix("/")
        if source.is_dir():
            for file in sorted(source.rglob("*")):
                relative = file.relative_to(source)
                if file.is_file() and not is_ignored(str(relative), ignored):
                    (to / relative).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(file, to / relative)
        else:
            target = to / source.name if to_text.endswith("/") or len(sources) > 1 else to
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def is_ignored(name, patterns):
    """Applies patterns as Docker does: the last pattern that matches a file, or a folder above it, decides."""
    parts = name.split("/")
    names = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    decided = False
    for pattern in patterns:
        if any(fnmatch.fnmatchcase(one, pattern.removeprefix("!")) for one in names):
            decided = not pattern.startswith("!")
    return decided


def main():
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
    own = Path(sys.executable).with_name("maturin")
    maturin = os.environ.get("MATURIN") or (str(own) if own.exists() else shutil.which("maturin"))
    with tempfile.TemporaryDirectory(prefix="shipping-") as folder:
        work = Path(folder)
        source, out = work / "jobfate", work / "out"
        source.mkdir()
        copy_sources(source)
        settings(work)
        os.environ.pop("CARGO_TARGET_DIR", None)
        parts = {
            "archive": lambda: archive(source, out, package, work),
            "Dockerfile": lambda: dockerfile(source, work),
            "wheel": lambda: wheel(source, out, package, work, maturin),
            "crate": lambda: crate(source, out, package),
        }
        for name, make in parts.items():
            if name == "wheel" and maturin is None:
                print("SKIPPED: wheel: there is no maturin (pip install maturin)")
                continue
            begun = time.monotonic()
            print(f"{name}: {make()}, {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
