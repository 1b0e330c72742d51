#!/usr/bin/env python3
"""Draws a flame graph of a command: the functions that take its CPU time, and their callers.

Usage: flame.py OUT.svg TITLE COMMAND...

Needs `perf` and a program with symbols, such as one that was built with
`cargo build --release --config 'profile.release.package.jobfate.strip="none"'`.

Out: a picture of text and rectangles. The width of a rectangle is its share of the samples. The rectangle above it was
called by it. Functions with less than 0.5 % are not drawn. Prints the functions in which most samples were taken.
"""

import collections
import html
import re
import subprocess
import sys
import tempfile

WIDTH, ROW, LEAST = 1000, 16, 0.005


def stacks(path):
    """The samples of `perf script`: lists of functions, the outermost first."""
    text = subprocess.run(["perf", "script", "-i", path, "--no-inline"], capture_output=True, text=True, check=True).stdout
    for block in text.split("\n\n"):
        frames = [line.split(maxsplit=1)[1] for line in block.splitlines()[1:] if line.startswith(("\t", " "))]
        names = [short(re.sub(r"\+0x[0-9a-f]+ \(.*\)$", "", frame)) for frame in frames]
        if names:
            yield [name for name in reversed(names) if name]


def short(name):
    """A function without crates and types, but with its own type; empty for functions that only call closures."""
    of_type = re.match(r"<(.+?) as .+>::(\w+)", name)
    if of_type:
        name = f"{of_type[1]}::{of_type[2]}"
    for _ in range(4):
        name = re.sub(r"<[^<>]*>", "", name)
    parts = [part for part in name.split("::") if part and not part.startswith("{{")]
    outer = ("[unknown]", "clone3", "start_thread", "core", "std", "rayon_core", "rayon", "alloc")
    if not parts or parts[0].startswith(outer) or "rayon" in name:
        return ""
    return "::".join(parts[-2:])


def drawn(all_stacks):
    """Rectangles: depth, start and width as shares, name."""
    total = len(all_stacks)
    rows = []

    def add(own, depth, start):
        groups = collections.Counter(stack[depth] for stack in own if depth < len(stack))
        for name, count in sorted(groups.items()):
            if LEAST <= count / total:
                rows.append((depth, start / total, count / total, name))
                add([stack for stack in own if depth < len(stack) and stack[depth] == name], depth + 1, start)
            start += count

    add(all_stacks, 0, 0)
    return rows


def picture(rows, title):
    """The SVG."""
    deepest = max(row[0] for row in rows) + 1
    height = deepest * ROW + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="10">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/><text x="4" y="14" font-size="12">{html.escape(title)}</text>']
    shades = ["#f6c7a8", "#f3b58d", "#f9d8b5", "#efa98a"]
    for depth, start, width, name in rows:
        x, y, wide = start * WIDTH, height - (depth + 1) * ROW, width * WIDTH
        said = html.escape(f"{name}: {100 * width:.1f} %")
        out.append(f'<g><title>{said}</title><rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{ROW - 1}" '
                   f'fill="{shades[sum(map(ord, name)) % len(shades)]}"/>')
        fits = int(wide / 5.4)
        if 3 < fits:
            out.append(f'<text x="{x + 2:.1f}" y="{y + 11}">{html.escape(name if len(name) <= fits else name[:fits - 1] + "…")}</text>')
        out.append("</g>")
    return "\n".join(out + ["</svg>", ""])


def main():
    """Records, draws and prints."""
    to, title, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    with tempfile.NamedTemporaryFile() as data:
        record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "199", "--call-graph", "dwarf,16384", "-o", data.name]
        subprocess.run([*record, "--", *command], check=True, stdout=subprocess.DEVNULL)
        all_stacks = [stack for stack in stacks(data.name) if stack]
    with open(to, "w", encoding="utf-8") as file:
        file.write(picture(drawn(all_stacks), f"{title} ({len(all_stacks):,} samples)"))
    own = collections.Counter(stack[-1] for stack in all_stacks)
    for name, count in own.most_common(12):
        print(f"{100 * count / len(all_stacks):5.1f} % {name}")


if __name__ == "__main__":
    main()
