#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# ///
"""Traces the system calls of jobfate, to check the files after a power failure, and that the network is not used.

Usage: syscalls.py JOBFATE [--all] [--mutate WAY]

1. `ingest` (in two steps, as shards with their fold, killed and started again), `analyze` and `sweep` run under strace.
   Their calls are replayed on a model of a disk that keeps only synced data: the content of a file, and the names in a
   folder. Data that was not synced may or may not exist after a power failure. An index lists the complete files:
   `manifest*.json` lists data files and rejects, `steps.json` the results of completed steps, `truth.json` the trace
   around it.
   - At every call, for every index that may be found, all files that it names are on disk, and so is the index.
   - A file is synced before it is renamed. The files that the JSON of a result names are synced before the JSON is.
   - Data that a lake has recorded on disk stays recorded.
   - At the end of a run, every file that it leaves, and every folder above the file, is on disk.
   The names of the model are compared with the real folder, so no call is overlooked.
2. No command makes a network call.

Prints a line per run, and for a fault the file and the calls. Exits with 1 on a fault. Without strace, it prints a line
with SKIPPED.

--all         prints every fault, not only the first few of a kind
--mutate WAY  spoils the calls before they are replayed, to see that this is found: file-fsync and
              folder-fsync lose these calls, late-fsync syncs a file after the rename that follows
"""

import argparse
import functools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

OPENS = ["open", "openat", "creat"]
WRITES = ["write", "writev", "pwrite64", "pwritev", "pwritev2", "fallocate", "ftruncate", "sendfile"]
# The second file is written.
COPIES = ["copy_file_range", "splice"]
SYNCS = ["fsync", "fdatasync", "sync", "syncfs"]
NAMES = ["rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "unlink", "unlinkat",
         "rmdir", "mkdir", "mkdirat", "truncate"]
# The model does not support these calls; for a file that they touch, its state would be wrong.
UNKNOWN = ["chdir", "fchdir", "mknod", "mknodat", "io_uring_setup"]
FILE_CALLS = OPENS + WRITES + COPIES + SYNCS + NAMES + UNKNOWN + ["mmap"]

# Files that a power failure may remove with their content: the lock is held, not read.
TRANSIENT = re.compile(r"\.lock.*")
# Files that every run of analyze makes again, and that no completion mark names.
REMADE = re.compile(r".*/(report|\.report\.jobfate-\d+)(/.*)?")
# Folders for unfinished results.
WORK = "/.jobfate-work/"
# Longer than any index of these runs; longer pieces of written data are not kept.
TEXT_BYTES = 1 << 17
FAULTS_SHOWN = 3

TRACE = ["--jobs", "400", "--days", "1", "--parts", "3", "--machines", "20"]
INGEST = ["ingest", "trace", "--buckets", "4", "--max-rejects", "50%", "--lake"]
SWEEP = ["sweep", "--cpu", "slots", "--lake", "out/analysis/lake", "--out", "out/analysis/own"]
ANALYZE = ["analyze", "trace", "--max-rejects", "50%", "--out", "out/analysis"]
# The ingest is killed as a thread enters this call of its kind, unless it is done by then. A large
# table takes 8 renames and about 18 syncs, the last ones those of its folders and of the manifest.
KILLS = [("rename", place) for place in (1, 2, 6, 9)] + [("fsync", place) for place in range(14, 23)]


# --- Calls ---------------------------------------------------------------------------------------

LINE = re.compile(r"(\d+) +(.*)", re.S)
RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)", re.S)
CALL = re.compile(r"(\w+)\((.*)\) += (-?\w+|\?)", re.S)
# A text, or a descriptor with its current path.
TOKEN = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(\.\.\.)?|\b(?:\d+|AT_FDCWD)<([^>]*)>', re.S)


@dataclass(eq=False)
class Call:
    """A system call that succeeded; `start` and `end` are lines of the traces, one after the other."""

    name: str
    arguments: str
    start: float
    end: float
    paths: list = field(default_factory=list)
    text: str | None = None

    @property
    def flags(self):
        """The arguments without paths and data."""
        if self.name == "creat":
            return "O_CREAT|O_TRUNC"
        return TOKEN.sub("", self.arguments) if self.name in (*OPENS, "mmap", "renameat2") else ""

    def __str__(self):
        is_data = self.name not in OPENS + NAMES
        arguments = TOKEN.sub(lambda token: '"..."' if is_data and token[3] is None else token[0], self.arguments)
        return f"{self.start:.0f}: {self.name}({arguments})"


def read_call(words, start, end, folder):
    """Returns the call with full paths; a text that is data is kept unchanged."""
    found = CALL.match(words)
    if not found:
        sys.exit(f"line {end + 1} of the trace cannot be read: {words[:200]}")
    if found[3].startswith("-") or found[3] == "?":
        return None
    call = Call(found[1], found[2], start, end)
    base, is_named = folder, call.name in OPENS + NAMES
    for token in TOKEN.finditer(call.arguments):
        text, is_cut, path = token.groups()
        if path is not None:
            base = path
        if path is not None and not is_named:
            call.paths.append(path)
        elif text is not None and is_named:
            call.paths.append(os.path.normpath(os.path.join(base, text)))
            base = folder
        elif text is not None:
            call.text = None if is_cut else text
    return call


def read_calls(lines, folder, first):
    """The calls of a trace. Its lines are counted from `first`."""
    calls, begun = [], {}
    for number, line in enumerate(lines, first):
        thread, words = LINE.match(line).groups()
        if words.startswith(("+++", "---")):
            continue
        start = number
        if resumed := RESUMED.match(words):
            start, head = begun.pop(thread)
            words = head + resumed[1]
        if words.endswith("<unfinished ...>"):
            begun[thread] = number, words.removesuffix("<unfinished ...>").rstrip()
            continue
        if call := read_call(words, start, number, folder):
            calls.append(call)
    # Calls that remain in `begun` were cut off by a kill before they took place.
    return calls


# --- A disk --------------------------------------------------------------------------------------


class File:
    """A file: when it changed first, and until when it is synced, in lines of the trace."""

    def __init__(self, written=-1.0, synced=0.0):
        self.written, self.synced = written, synced
        self.content, self.calls = "", []

    def is_clean(self):
        return self.written < self.synced

    def write(self, call, text):
        self.written = max(self.written, call.end)
        self.content = None if self.content is None or text is None else self.content + text
        self.note(call)

    def note(self, call):
        """Keeps the calls that wrote the file; of many similar calls, the first and the last."""
        if [one.name for one in self.calls[-2:]] == [call.name] * 2:
            self.calls.pop()
        self.calls.append(call)

    def sync(self, call):
        self.note(call)
        # Data that another thread writes meanwhile is not covered.
        self.synced = max(self.synced, call.start)


class Change(NamedTuple):
    """The file or folder of a name since a call."""

    at: float
    node: object
    call: object = None


class Folder:
    """A folder: for each name, all files that it may have after a power failure; the last one is the current file."""

    def __init__(self):
        self.names = {}

    def now(self, name):
        return self.names[name][-1].node if name in self.names else None

    def nodes(self):
        """Returns the current names and their files."""
        return [(name, changes[-1].node) for name, changes in self.names.items() if changes[-1].node]

    def put(self, name, node, call):
        self.names.setdefault(name, [Change(-1, None)]).append(Change(call.end, node, call))

    def sync(self, call):
        for name, changes in self.names.items():
            done = max((place for place, change in enumerate(changes) if change.at < call.start), default=0)
            self.names[name] = changes[done:]


def lost(folder, at, path):
    """Returns what a power failure may remove of a path below the folder `at`, and the calls that made it."""
    for step in path.split("/"):
        at = step if at == "." else f"{at}/{step}"
        changes = folder.names.get(step, [Change(-1, None)])
        folder = changes[-1].node
        if len(changes) > 1 or folder is None:
            yield f"the name {at}", [change.call for change in changes if change.call]
        if folder is None:
            return
    if isinstance(folder, File) and not folder.is_clean():
        yield f"the content of {at}", folder.calls


def from_disk(path):
    """Reads a real folder as completely synced."""
    folder = Folder()
    for entry in os.scandir(path):
        node = from_disk(entry.path) if entry.is_dir(follow_symlinks=False) else File()
        folder.names[entry.name] = [Change(-1, node)]
    return folder


def paths_of(folder, prefix=""):
    """Returns the paths of all current files and folders."""
    for name, node in folder.nodes():
        yield prefix + name
        if isinstance(node, Folder):
            yield from paths_of(node, f"{prefix}{name}/")


# --- Indexes -------------------------------------------------------------------------------------


def named_by_manifest(document):
    for table, entry in document["tables"].items():
        yield from (file["path"] for file in entry["files"])
        yield from (f"rejects/{table}/part-{part['part']:05}.csv" for part in entry["parts"] if part["rejects"])


def named_by_steps(document):
    return [file["file"] for mark in document["steps"].values() for file in mark["files"]]


MANIFEST = re.compile(r"manifest(-\d+-of-\d+)?\.json")
INDEXES = [(MANIFEST, named_by_manifest), (re.compile(r"steps\.json"), named_by_steps)]
# This index names all files in its folder.
TRUTH = "truth.json"


@functools.cache
def documented(name, content):
    """Returns the names in the text of an index; the text is as strace writes it."""
    reads = next(reads for pattern, reads in INDEXES if pattern.fullmatch(name))
    text = content.encode().decode("unicode_escape").encode("latin-1").decode()
    return frozenset(reads(json.loads(text)))


def named_by(folder, name, file):
    """Returns the names in an index; none if it is incomplete."""
    if name == TRUTH:
        return frozenset(paths_of(folder)) - {TRUTH}
    try:
        return documented(name, file.content)
    except (ValueError, AttributeError):
        if file.is_clean():
            sys.exit(f"{name} was synced and is no index: {str(file.content)[:200]}")
        return frozenset()


class Disk:
    """The model: applies calls, and checks after each."""

    def __init__(self, root):
        self.root, self.top = str(root), from_disk(root)
        self.indexes = {}
        self.sure = {}
        self.versions = 0
        self.results = 0
        self.faults = {}

    def fault(self, kind, what, calls):
        """Records what a power failure may remove, with the calls that led to it when it was first found."""
        self.faults.setdefault(kind, {}).setdefault(what, list(dict.fromkeys(calls)))

    def find(self, path):
        node = self.top
        for step in Path(path).relative_to(self.root).parts:
            node = node.now(step) if isinstance(node, Folder) else None
        return node

    def put(self, path, node, call):
        path = Path(path)
        folder = self.find(path.parent)
        folder.put(path.name, node, call)
        if isinstance(node, File) and (path.name == TRUTH or any(one.fullmatch(path.name) for one, _ in INDEXES)):
            index = path.relative_to(self.root)
            self.indexes[str(index)] = folder, str(index.parent), path.name
            self.versions += 1

    def inside(self, call):
        return [path for path in call.paths if Path(path).is_relative_to(self.root)]

    def is_ready(self, call):
        """Whether the folders of the paths of a call exist; another thread may be creating them."""
        return all(path == self.root or isinstance(self.find(Path(path).parent), Folder) for path in self.inside(call))

    def apply(self, call):
        """Applies a call; returns whether an index may have lost something by it."""
        paths = self.inside(call)
        is_across = call.name in NAMES and 0 < len(paths) < len(call.paths)
        if call.name in UNKNOWN or is_across or "O_TMPFILE" in call.flags:
            sys.exit(f"a call that is not followed: {call}")
        if call.name in ("sync", "syncfs"):
            self.sync_all(self.top, call)
        if not paths:
            return False
        node = self.find(paths[-1] if call.name in COPIES else paths[0])
        if call.name in OPENS:
            return self.open(paths[0], node, call)
        if call.name in WRITES + COPIES + ["mmap", "truncate"]:
            return node is not None and self.write(node, call)
        if call.name in NAMES:
            self.name(paths, node, call)
        elif node is not None:
            node.sync(call)
        return call.name in NAMES

    def open(self, path, node, call):
        if node is None and "O_CREAT" in call.flags:
            self.put(path, File(call.end, -1), call)
            self.find(path).note(call)
            return True
        if isinstance(node, File) and "O_TRUNC" in call.flags:
            node.content, node.calls = "", []
            node.write(call, "")
            return True
        return False

    def write(self, file, call):
        if call.name == "mmap" and not ("PROT_WRITE" in call.flags and "MAP_SHARED" in call.flags):
            return False
        was_clean = file.is_clean()
        file.write(call, call.text if call.name == "write" else None)
        if call.name == "mmap":
            # Changes through mapped memory, and their times, are not visible.
            file.written = math.inf
        return was_clean

    def name(self, paths, node, call):
        if call.name.startswith("rename"):
            if isinstance(node, File):
                node.note(call)
            if isinstance(node, File) and not node.is_clean():
                self.fault("renamed unsynced", f"the content of {os.path.relpath(paths[1], self.root)}", node.calls)
            if isinstance(node, File) and WORK in paths[0] and paths[1].endswith(".json"):
                self.check_result(paths[1], node, call)
            other = self.find(paths[1]) if "RENAME_EXCHANGE" in call.flags else None
            self.put(paths[1], node, call)
            self.put(paths[0], other, call)
        elif call.name.startswith("link"):
            self.put(paths[1], node, call)
        elif call.name.startswith(("unlink", "rmdir")):
            self.put(paths[0], None, call)
        else:
            self.put(paths[-1], Folder() if call.name.startswith("mkdir") else File(call.end, -1), call)

    def check_result(self, path, node, call):
        """Checks that the files that the JSON of a result names are on disk before the JSON is in place."""
        if node.content is None:
            return
        text = node.content.encode().decode("unicode_escape").encode("latin-1").decode()
        at = os.path.relpath(os.path.dirname(path), self.root)
        self.results += 1
        for file in json.loads(text)["files"]:
            for what, calls in lost(self.find(Path(path).parent), at, file["file"]):
                self.fault(f"{os.path.relpath(path, self.root)} comes before what it names", what, [*calls, call])

    def sync_all(self, folder, call):
        folder.sync(call)
        for _, node in folder.nodes():
            self.sync_all(node, call) if isinstance(node, Folder) else node.sync(call)

    def check(self, now):
        """Checks that all files that an index names, and the index itself, are on disk."""
        recorded = {}
        for index, (folder, at, name) in self.indexes.items():
            versions = [(change.node, change.call) for change in folder.names[name]]
            for file, published in versions:
                if file is None:
                    continue
                if not file.is_clean():
                    self.fault(f"{index} may be found half-written", f"the content of {index}",
                               [*file.calls, published or now])
                for target in named_by(folder, name, file):
                    for what, calls in lost(folder, at, target):
                        self.fault(f"{index} names what may be gone", what, [*calls, published or now, now])
            if MANIFEST.fullmatch(name):
                sure = frozenset.intersection(*(named_by(folder, name, file) if file else frozenset()
                                                for file, _ in versions))
                recorded[at] = recorded.get(at, frozenset()) | sure
        for lake, known in self.sure.items():
            for target in known - recorded.get(lake, frozenset()):
                self.fault(f"the manifests of {lake} may forget", f"the record of {target}", [now])
        self.sure = recorded

    def check_end(self, folders):
        """Checks that all files that a run leaves are on disk."""
        for path in sorted(paths_of(self.top)):
            at, name = Path(path).parent, Path(path).name
            is_ours = any(Path(path).is_relative_to(top) or Path(top).is_relative_to(path) for top in folders)
            if not is_ours or TRANSIENT.fullmatch(name) or REMADE.fullmatch(path):
                continue
            parent = self.find(Path(self.root, at))
            for what, calls in lost(parent, str(at), name):
                self.fault(f"left unsynced in {at}, {what.split()[1]}s", what, calls)

    def replay(self, calls, folders):
        """Applies calls: a change as soon as it may be visible, a sync only once it has ended."""
        begins = [(call.start, call) for call in calls if call.name not in SYNCS]
        ends = [(call.end, call) for call in calls]
        waiting = set(calls)
        for at, call in sorted(begins + ends, key=lambda event: event[0]):
            if call in waiting and (at == call.end or self.is_ready(call)):
                waiting.remove(call)
                if self.apply(call):
                    self.check(call)
        if folders:
            self.check_end(folders)


# --- Runs ----------------------------------------------------------------------------------------


def mutate(calls, way):
    """The same calls with a fault."""
    if way is None:
        return calls
    if way == "late-fsync":
        return list(late(calls))
    is_spoilt = lambda call: Path(call.paths[0]).is_dir() == (way == "folder-fsync")
    return [call for call in calls if call.name not in ("fsync", "fdatasync") or not is_spoilt(call)]


def late(calls):
    """Files are synced right after the rename that follows."""
    for place, call in enumerate(calls):
        if call.name in ("fsync", "fdatasync"):
            for other in calls[place:]:
                if other.name.startswith("rename") and other.paths[0] == call.paths[0]:
                    call = Call(call.name, call.arguments, other.end + 0.3, other.end + 0.6, [other.paths[1]])
                    break
        yield call


class Watch:
    """A folder in which the program runs under strace."""

    def __init__(self, program, folder, args):
        self.program, self.folder, self.args = program, folder, args
        self.failed, self.line = 0, 0
        self.run(["synth", "trace", *TRACE, "--dirty"])
        Path(folder, "small.toml").write_text('steps = ["classify"]\n')

    def run(self, words, strace=()):
        run = subprocess.run([*strace, self.program, *words], cwd=self.folder, capture_output=True, text=True)
        may_be_killed = any("signal=KILL" in word for word in strace)
        if run.returncode and not (may_be_killed and run.returncode == -signal.SIGKILL):
            sys.exit(f"`{' '.join(words)}` ended with {run.returncode}: {run.stderr}")

    def trace(self, words, traced, options):
        """Returns the lines that strace writes for a command."""
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder, "trace")
            strace = ["strace", "-f", "-y", "-s", str(TEXT_BYTES), "-o", str(trace), "-e", f"trace={traced}"]
            self.run(words, [*strace, *options])
            return trace.read_text().splitlines()

    def calls(self, words, kill):
        # A filter is faster, but cannot be combined with a kill.
        options = ["-e", f"inject=/^{kill[0]}:signal=KILL:when={kill[1]}"] if kill else ["--seccomp-bpf"]
        lines = self.trace(words, ",".join(f"?{call}" for call in FILE_CALLS), options)
        self.line += len(lines)
        return mutate(read_calls(lines, str(self.folder), self.line - len(lines)), self.args.mutate)

    def order(self, title, commands, folders):
        """Runs commands one after the other on one model; a killed one ends at its call."""
        published, disk = 0, Disk(self.folder)
        for words, kill in commands:
            disk.replay(self.calls(words, kill), [] if kill else folders)
            self.compare(words, disk)
        for folder, _, name in disk.indexes.values():
            if file := folder.now(name):
                published += len(named_by(folder, name, file))
        if not published:
            sys.exit(f"{title}: nothing was published")
        state = f"NOT IN ORDER, {sum(map(len, disk.faults.values()))} faults" if disk.faults else "in order"
        results = f", {disk.results} results" if disk.results else ""
        print(f"{title}: {len(commands)} runs, {published} files published, "
              f"{disk.versions} index versions{results}, {state}")
        self.failed += bool(disk.faults)
        for kind, found in disk.faults.items():
            self.show(kind, found)

    def show(self, kind, found):
        print(f"  {kind}: {len(found)}; a power failure may take")
        shown = list(found.items())[:None if self.args.all else FAULTS_SHOWN]
        for place, (what, calls) in enumerate(shown):
            print(f"    {what}")
            for call in calls if place == 0 or self.args.all else []:
                print(f"      {call}".replace(f"{self.folder}/", "").replace(f"<{self.folder}>", ""))
        if len(shown) < len(found):
            print(f"    and {len(found) - len(shown)} more")

    def compare(self, words, disk):
        """Checks that the names of the model are those of the real folder."""
        real = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}
        if differing := real ^ set(paths_of(disk.top)):
            sys.exit(f"after `{' '.join(words)}` the model is wrong about {sorted(differing)[:10]}")

    def network(self, commands):
        """Checks that no command makes a network call."""
        faults = []
        for words in commands:
            lines = self.trace(words, "%network,io_uring_setup,execve", ["--seccomp-bpf"])
            if not any(" execve(" in line for line in lines):
                sys.exit(f"`{' '.join(words)}` was not traced")
            # This includes failed calls. A process that was ending shows as `???`.
            made = [line for line in lines if not re.match(r"\d+ +(execve\(|\+\+\+|---|\?\?\?\()", line)]
            faults += [f"{' '.join(words)}: {line}" for line in made]
        print(f"network: {len(commands)} commands, {f'{len(faults)} CALLS' if faults else 'no socket'}")
        for fault in faults:
            print(f"    {fault}")
        self.failed += bool(faults)


def watch_order(watch):
    """Makes lakes and analyses in all ways in which they can be made."""
    steps = [[*INGEST, "a/lake", *more] for more in (["--parts", "0-0"], [], [])]
    watch.order("ingest", [(words, None) for words in steps], ["a/lake"])
    shards = [[*INGEST, "shards", *more] for more in (["--shard", "1/2"], ["--shard", "2/2"], [])]
    watch.order("ingest, shards", [(words, None) for words in shards], ["shards"])
    killed = [*INGEST, "killed", "--threads", "1"]
    watch.order("ingest, killed", [*((killed, kill) for kill in KILLS), (killed, None)], ["killed"])
    again = [(ANALYZE, None), ([*ANALYZE, "--again"], None)]
    # Results of one command over those of another, with fewer files.
    sweeps = [[*SWEEP, *more] for more in (["--rules", "events,failures", "--train-until", "0.5"], [])]
    watch.order("analyze, sweep", [*again, *((words, None) for words in sweeps)], ["out/analysis"])
    synthetic = ["analyze", "--config", "small.toml", "--out", "made"]
    watch.order("analyze, synthetic", [(synthetic, None)], ["made"])


def watch_network(watch):
    lake = ["--lake", "online/lake"]
    watch.network([
        ["synth", "online/trace", *TRACE],
        ["ingest", "online/trace", *lake],
        ["verify", *lake],
        ["classify", *lake],
        ["describe", *lake],
        ["account", *lake],
        ["sweep", *lake],
        ["detect", *lake],
        ["replay", *lake, "--out", "online/replay", "--journal"],
        ["journal", "online/replay/journal-1.parquet"],
        ["fairness", *lake],
        ["query", "q01", *lake],
        ["query", "all", *lake, "--engine", "polars", "--out", "online/queries"],
        ["analyze", "online/trace", "--out", "online/analysis"],
        ["report", "online/analysis", "--out", "online/report"],
    ])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("jobfate", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--mutate", choices=["file-fsync", "folder-fsync", "late-fsync"])
    args = parser.parse_args()
    probe = ["strace", "-o", os.devnull, "true"]
    if not shutil.which("strace") or subprocess.run(probe, capture_output=True).returncode:
        print("SKIPPED: system calls: there is no strace, or it may not trace")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch(args.jobfate.resolve(strict=True), Path(folder).resolve(), args)
        watch_order(watch)
        watch_network(watch)
    return 1 if watch.failed else 0


if __name__ == "__main__":
    sys.exit(main())
