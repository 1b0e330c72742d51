#!/usr/bin/env python3
# /// script
# dependencies = ["axe-playwright-python", "playwright"]
# ///
"""Reads the pages of a report in a headless Chromium, as a reader with a mouse, a phone or keys.

Usage: report_pages.py REPORT_DIR [--shots DIR] [--only PAGE...]

Every page of the folder and the first two of its users, machines and jobs, opened from disk:
1. Only existing files are fetched; no error or warning; every link has a target.
2. One h1, no skipped heading level, every picture has a name, and tables sort by the numbers shown.
3. No sideways scrolling at 1280 and 390 px and at 200 % zoom, except in boxes that keys can reach.
4. Tables sort in both directions and filter; charts show their values with mouse, finger and arrow keys.
5. Without scripting the same text is shown; in light and dark mode all of it has enough contrast.
6. axe-core finds nothing.
7. Choices have the right effect, and the address contains them (report_live.py).
8. On paper, nothing is cut at the edge, and controls are left out; the PDF has all figures.
9. No page has more than 1 MB, and the folder not more than 10 MB.
10. Each page is drawn within a second (the fastest of three loads, because other programs may use this machine).
--shots keeps pictures of the pages. The browser is JOBFATE_CHROMIUM or one on the PATH. Without a browser or without
Playwright, the script prints a line with SKIPPED. Exits with 1 if a page fails.
"""

import argparse
import itertools
import math
import os
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote

try:
    from playwright.sync_api import Error, sync_playwright
except ImportError:
    print("SKIPPED: pages in a browser: this Python cannot import playwright")
    sys.exit(0)

import accessible
import report_live

BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# The size of a desktop page at 200 % zoom, and of a sheet of A4 within margins of 14 mm.
ZOOMED, SHEET = {"width": 640, "height": 450}, {"width": 687, "height": 1017}
PAGE_BYTES_MAX, REPORT_BYTES_MAX = 1_000_000, 10_000_000
# Most ms from the start of a load until the page is drawn, and the number of loads of which the fastest counts.
DRAWN_MS_MAX, LOADS_MAX = 1000, 3
# Number of pages of users, of machines and of jobs that are checked; they are made by the same code.
PAGES_MAX = 2
# WCAG 2.2, level AA, for text of any size.
CONTRAST_MIN = 4.5
FAULTS_SHOWN = 8

STRUCTURE = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const faults = [], levels = all("h1, h2, h3, h4, h5, h6").map((found) => +found.tagName[1]);
  if (all("h1").length !== 1) faults.push(`${all("h1").length} h1`);
  levels.forEach((level, place) => {
    if (level > 1 + (levels[place - 1] ?? 0)) faults.push(`heading ${place + 1} skips to h${level}`);
  });
  for (const image of all("img")) if (!image.alt.trim()) faults.push(`${image.src} has no alt`);
  for (const figure of all("figure"))
    if (!figure.querySelector("svg, img")) faults.push(`figure ${all("figure").indexOf(figure) + 1} has no drawing`);
  for (const svg of all("svg"))
    if (svg.getAttribute("role") !== "img" || !(svg.getAttribute("aria-label") ?? "").trim())
      faults.push(`svg ${all("svg").indexOf(svg) + 1} is no named img`);
  // What a cell says, and how far that may be from its number: shares, lengths of time, instants.
  const said = (whole) => {
    // A lower bound is sorted as its number; what is too small to write lies between its bound and 0.
    const text = whole.replace(/^≥\\s*/, "");
    const bound = text.match(/^(?:under|above|<) (-?[\\d.]+)(?: (%|s))?$/);
    if (bound) {
      const half = (bound[1] * (bound[2] === "%" ? 0.01 : 1)) / 2;
      return [half, Math.abs(half)];
    }
    if (/^\\d{4}-\\d\\d-\\d\\d /.test(text)) return [Date.parse(`${text.replace(" ", "T")}Z`) / 1000, 1];
    if (/^\\d{4}-\\d\\d-\\d\\d$/.test(text)) return [Date.parse(text) / 86400000, 0];
    const [number, unit, clock] = text.replaceAll(",", "").split(" ");
    const per = { "%": 0.01, s: 1, min: 60, h: 3600, d: 86400 }[unit];
    const last = 10 ** -(number.split(".")[1] ?? "").length;
    // Half of the last digit; with an exponent, four digits.
    if (unit === undefined)
      return [Number(number), number.includes("e") ? 6e-4 * Math.abs(number) : 0.5001 * last];
    if (clock === undefined) {
      // Times have three digits, and at most two decimals.
      const near = unit === "%" ? last : Math.max(Math.abs(number) / 100, 0.005, number.includes(".") ? last / 2 : 0);
      return [number * per, near * per];
    }
    const [hours, minutes, seconds] = clock.split(":").map(Number);
    return [number * per + hours * 3600 + minutes * 60 + seconds, 1];
  };
  // How many units of the file make one that is shown, as the heading says.
  const sums = document.querySelector(".fading[data-sums]");
  const intervalS = sums === null ? 3600 : JSON.parse(sums.dataset.sums).interval_s;
  const unitOf = (cell) => {
    const head = cell.closest("table").tHead.rows[0].cells[cell.cellIndex], said = head.textContent;
    // A column that is no column of a file is in the unit of its heading.
    if ((head.dataset.column ?? "").includes("(")) return 1;
    if (/effective (user )?priority \\(/.test(said)) return intervalS;
    if (/[\u2011(-]h\\)/.test(said) && !(head.dataset.column ?? "").endsWith("_h")) return 3600;
    return said.includes("1,000 task-hours") ? 0.001 : 1;
  };
  for (const cell of all("td[data-value]")) {
    const { value, low, high, unit } = cell.dataset, own = cell.cloneNode(true);
    const interval = own.querySelector(".interval");
    interval?.remove();
    const bounds = interval === null ? [] : interval.textContent.split(" to ").map((text, place) => [text, [low, high][place]]);
    for (const [whole, sorted] of [[own.textContent.trim(), value], ...bounds]) {
      // The unit of the row follows its number; CPU time in seconds is shown in hours.
      const text = unit === undefined || unit === "s" ? whole : whole.split(" ")[0];
      const [number, near] = said(text), per = unitOf(cell) * (unit?.endsWith("-s") && whole.endsWith("-h") ? 3600 : 1);
      if (!(Math.abs(number * per - sorted) <= near * per)) faults.push(`${whole} is sorted as ${sorted}`);
    }
  }
  return faults;
}"""

# The words of a page without order: scripting may sort them, but not add any.
SAID = """() => [...document.querySelectorAll(
    "main :is(h1, h2, h3, p, li, dt, dd, pre, caption, th, td, figcaption, svg text)"
  )].filter((part) => !part.closest(".what-if")).map((part) => part.textContent.trim()).sort()"""
TITLES = """() => [...document.querySelectorAll("g.values title")].map((title) => title.textContent).sort()"""
TEXTS = """() => [...document.querySelectorAll("g.values [data-text]")].map((shape) => shape.dataset.text).sort()"""

CONTRAST = """(least) => {
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = channels(color).map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (part) => {
    for (; part; part = part.parentElement) {
      const color = getComputedStyle(part).backgroundColor;
      if ((channels(color)[3] ?? 1) === 1) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const found = new Set();
  for (const part of document.querySelectorAll("body *:not(svg *, script)")) {
    const speaks = [...part.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!speaks || !part.checkVisibility()) continue;
    const [one, other] = [getComputedStyle(part).color, behind(part)];
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < least) found.add(`${part.localName} ${one} on ${other} has contrast ${ratio.toFixed(2)}`);
  }
  return [...found];
}"""

CHART = "figure svg:has(g.values [data-text])"
# The position of a chart value on the screen, and the values that may be shown there: a tap is less exact.
VALUE = """(svg, [number, reach]) => {
  const shapes = [...svg.querySelectorAll("g.values [data-text]")];
  shapes[number].scrollIntoView({ block: "center", inline: "center" });
  const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];
  const [x, y] = middle(shapes[number].getBoundingClientRect());
  const near = shapes.filter((shape) => {
    const box = shape.getBoundingClientRect(), [left, top] = middle(box);
    return shape.getAttribute("d").endsWith("h0") ? Math.hypot(left - x, top - y) < reach
      : Math.max(box.left - x, x - box.right, box.top - y, y - box.bottom) < reach;
  });
  return { x, y, near: near.map((shape) => shape.dataset.text) };
}"""


# The time when everything is loaded and something is painted, ms since the start of the load.
DRAWN = """() => {
  const [load] = performance.getEntriesByType("navigation");
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return Math.max(load.loadEventEnd, paint?.startTime ?? 0);
}"""


def drawn(page, path):
    """Checks that the page is drawn within the time limit."""
    fastest = math.inf
    for _ in range(LOADS_MAX):
        page.goto(path.as_uri())
        fastest = min(fastest, page.evaluate(DRAWN))
        if fastest <= DRAWN_MS_MAX:
            return
    yield f"it is drawn after {fastest:.0f} ms"


def structure(page):
    """Checks headings, names of pictures, and the numbers that tables sort by."""
    yield from page.evaluate(STRUCTURE)


def contrast(page):
    """Finds text of too little contrast, with everything unfolded."""
    yield from page.evaluate(CONTRAST, CONTRAST_MIN)


def links(page, path, report):
    """Finds references of a page to missing files."""
    found = page.eval_on_selector_all(
        "[href], [src]", "parts => parts.map(part => part.getAttribute('href') ?? part.getAttribute('src'))")
    for link in sorted(set(found) - {"data:,"}):
        target, _, fragment = link.partition("#")
        file = (path.parent / unquote(target)).resolve() if target else path
        if re.match(r"[a-z]+:|//", link) or not file.is_file() or report not in file.parents:
            yield f"link {link} leads nowhere"
        elif fragment and f' id="{fragment}"' not in file.read_text():
            yield f"link {link} has no such place"


def sorts(page):
    """Sorts the first column of numbers of every table by clicks on its header.

    A table with a row per measure cannot be sorted: its rows have different units.
    """
    read = "(table, column) => [...table.tBodies[0].rows].map(row => row.cells[column].dataset.value ?? null)"
    if page.locator("table.measures button").count():
        yield "a table of measures can be sorted"
    for table in page.locator("table.data:not(.measures)").all():
        columns = [table.evaluate(read, column) for column in range(table.locator("thead th").count())]
        numbers = [column for column, values in enumerate(columns) if 1 < len(values) and any(values)]
        for column, (order, sign) in itertools.product(numbers[:1], [("descending", -1), ("ascending", 1)]):
            header = table.locator("thead th").nth(column)
            header.locator("button").click()
            # Cells that are not numbers come last in both orders.
            values = [math.inf if value is None else sign * float(value)
                      for value in table.evaluate(read, column)]
            if values != sorted(values) or header.get_attribute("aria-sort") != order:
                yield f"column {column + 1} of `{table.locator('caption').text_content()}` is not {order}"


def filters(page):
    """Checks that every long table has a filter that hides the rows without its text."""
    long = page.eval_on_selector_all(
        "table.data", "tables => tables.filter(table => table.tBodies[0].rows.length > 12).length")
    inputs = page.locator("input[type=search]").all()
    if len(inputs) != long:
        yield f"{len(inputs)} filters for {long} long tables"
    for box in inputs:
        rows = box.evaluate_handle("box => [...box.closest('.filter').nextElementSibling.querySelectorAll('tbody tr')]")
        # The cell of the last row that occurs in the fewest rows.
        wanted = rows.evaluate("""rows => [...rows.at(-1).cells].map((cell) => cell.textContent.toLowerCase())
          .map((text) => [rows.filter((row) => [...row.cells].some((cell) =>
            cell.textContent.toLowerCase().includes(text))).length, text])
          .sort((one, other) => one[0] - other[0])[0][1]""")
        box.fill(wanted)
        if not rows.evaluate("""(rows, wanted) => rows.every((row) => row.checkVisibility() ===
              [...row.cells].some((cell) => [cell.textContent, cell.dataset.name ?? ""].some((text) =>
                text.toLowerCase().includes(wanted))))""", wanted):
            yield f"the filter shows others than `{wanted}`"
        box.fill("")
        # Rows without effect are folded until a box is ticked.
        if not rows.evaluate("rows => rows.every((row) => row.checkVisibility() || row.className === 'idle')"):
            yield "the empty filter hides rows"


def tip_at(page, chart, number, point, reach):
    """Points at a value; returns the errors of the tooltip."""
    value = chart.evaluate(VALUE, [number, reach])
    point(value["x"], value["y"])
    tip = page.locator(".tip")
    if not tip.is_visible():
        return [f"no tip at `{value['near'][0]}`"]
    said, box = tip.text_content(), tip.bounding_box()
    width, height = page.viewport_size["width"], page.viewport_size["height"]
    # Values in one place are shown together: all lines of one of them must be there.
    is_told = any(set(text.split("\n")) <= set(said.split("\n")) for text in value["near"])
    faults = [] if is_told else [f"tip `{said}` at {value['near']}"]
    if box["x"] < 0 or width < box["x"] + box["width"] or box["y"] < 0 or height < box["y"] + box["height"]:
        faults.append(f"tip `{said}` leaves the window")
    return faults


def charts(page):
    """Checks the values of charts, by mouse and by keys."""
    tip, spoken = page.locator(".tip"), page.locator("[aria-live=polite]")
    for chart in page.locator(CHART).all():
        texts = chart.evaluate("svg => [...svg.querySelectorAll('g.values [data-text]')].map(shape => shape.dataset.text)")
        for number in sorted({0, len(texts) // 2, len(texts) - 1}):
            yield from tip_at(page, chart, number, page.mouse.move, 3)
        page.mouse.move(0, 0)
        if tip.is_visible():
            yield "the tip stays when the mouse leaves"
        chart.focus()
        steps = [("Home", 0), ("ArrowRight", min(1, len(texts) - 1)), ("ArrowLeft", 0), ("End", -1)]
        for key, number in steps:
            page.keyboard.press(key)
            said = (tip.text_content(), spoken.text_content())
            if not tip.is_visible() or said != (texts[number], texts[number].replace("\n", ", ")):
                yield f"{key} says {said}, not `{texts[number]}`"
        page.keyboard.press("Escape")
        if tip.is_visible():
            yield "Escape leaves the tip"


def narrow(page):
    """Checks that content wider than a phone scrolls in a box that keys reach, and that a tap shows a value."""
    # Sizes are reported after a frame was drawn.
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    yield from page.eval_on_selector_all(".table", """boxes => boxes
      .filter((box) => box.clientWidth < box.scrollWidth || box.clientHeight < box.scrollHeight)
      .filter((box) => box.tabIndex !== 0 || box.getAttribute("role") !== "region" || !box.ariaLabel)
      .map((box) => `keys do not scroll the table \\`${box.querySelector("caption").textContent}\\``)""")
    for chart in page.locator(CHART).all()[:1]:
        yield from tip_at(page, chart, 0, page.touchscreen.tap, 15)


# Content beyond the right edge of a sheet, and elements that only a screen needs.
PRINTED = """() => {
  const faults = [], shown = (part) => part.checkVisibility() && part.getClientRects().length > 0;
  for (const part of document.querySelectorAll("nav, .filter, .what-if, .tip"))
    if (shown(part)) faults.push(`${part.localName}.${part.className} is printed`);
  for (const part of document.querySelectorAll("main :is(h1, h2, p, svg, img, caption, th, td, figcaption, pre)"))
    if (shown(part) && part.getBoundingClientRect().right > innerWidth + 1)
      faults.push(`${part.localName} \`${part.textContent.trim().slice(0, 30)}\` is cut on paper`);
  return faults;
}"""


def printed(page):
    """Checks the page on paper, and as a PDF."""
    page.emulate_media(media="print")
    page.set_viewport_size(SHEET)
    yield from page.evaluate(PRINTED)
    sheets = page.pdf(prefer_css_page_size=True)
    if not sheets.startswith(b"%PDF-") or sheets.count(b"/Type /Page\n") < 1:
        yield "cannot be printed"
    page.emulate_media(media="screen")
    page.set_viewport_size(DESKTOP)


def check(contexts, path, report, shots):
    """Checks everything about one page: returns its content and its faults."""
    faults, said, name = [], {}, path.relative_to(report).with_suffix("").as_posix()
    for kind, context in contexts.items():
        page = context.new_page()
        note = lambda text, kind=kind: faults.append(f"{kind}: {text}")
        page.on("console", lambda message: message.type in ("error", "warning") and note(message.text))
        page.on("pageerror", lambda error: note(str(error)))
        page.on("requestfailed", lambda request: note(f"{request.url} failed"))
        page.on("request", lambda request: request.url.startswith(("file:", "data:"))
                or note(f"{request.url} is fetched"))
        try:
            for fault in drawn(page, path) if kind == "desktop" else []:
                note(fault)
            page.goto(path.as_uri())
            if shots and (kind in ("desktop", "phone") or (kind, name) == ("dark", "index")):
                page.screenshot(path=shots / f"{name.replace('/', '-')}-{kind}.png", full_page=True)
            for fault in report_live.opened(page) if kind != "no script" else []:
                note(fault)
            # Folded content is read as well.
            page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
            said[kind] = page.evaluate(SAID), page.evaluate(TITLES), page.evaluate(TEXTS)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                note("the page scrolls sideways")
            steps = {"desktop": [structure(page), links(page, path, report), filters(page), sorts(page),
                                 charts(page), contrast(page), accessible.faults(page),
                                 report_live.faults(page, path, report), printed(page)],
                     "phone": [narrow(page)], "dark": [contrast(page)]}
            for fault in itertools.chain(*steps.get(kind, [])):
                note(fault)
            counted = ", ".join(f"{page.locator(what).count()} {what}s" for what in ("table", "figure"))
        except Error as error:
            note(str(error).splitlines()[0])
            counted = ""
        page.close()
    if PAGE_BYTES_MAX < path.stat().st_size:
        faults.append(f"{path.stat().st_size:,} bytes")
    with_script, without = said.get("desktop"), said.get("no script")
    if with_script and without:
        if with_script[0] != without[0]:
            faults.append("without scripting the page says something else")
        if with_script[2] != without[1]:
            faults.append(f"{len(without[1])} values of charts, {len(with_script[2])} with scripting")
        counted += f", {len(without[1])} values"
    return counted, faults


def main(report, shots, only):
    executable = os.environ.get("JOBFATE_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not executable:
        print("SKIPPED: pages in a browser: there is no Chromium (set JOBFATE_CHROMIUM)")
        return 0
    paths = sorted(report.glob("*.html"))
    for folder in ("users", "machines", "jobs"):
        paths += sorted((report / folder).glob("*.html"))[:PAGES_MAX]
    if only:
        missing = set(only) - {path.stem for path in paths}
        if missing:
            sys.exit(f"{report} has no pages {', '.join(sorted(missing))}")
        paths = [path for path in paths if path.stem in only]
    if not paths:
        sys.exit(f"{report} has no pages")
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        contexts = {
            "desktop": browser.new_context(viewport=DESKTOP, color_scheme="light"),
            "phone": browser.new_context(viewport=PHONE, color_scheme="light", has_touch=True),
            "dark": browser.new_context(viewport=DESKTOP, color_scheme="dark"),
            "zoom": browser.new_context(viewport=ZOOMED, device_scale_factor=2),
            "no script": browser.new_context(viewport=DESKTOP, java_script_enabled=False),
        }
        for context in contexts.values():
            context.set_default_timeout(10_000)
        for path in paths:
            counted, faults = check(contexts, path, report, shots)
            failed += bool(faults)
            more = f"; and {len(faults) - FAULTS_SHOWN} more" if FAULTS_SHOWN < len(faults) else ""
            print(f"{path.relative_to(report)}: {'; '.join(faults[:FAULTS_SHOWN]) + more if faults else counted}")
        browser.close()
    size = sum(file.stat().st_size for file in report.rglob("*") if file.is_file())
    if REPORT_BYTES_MAX < size:
        failed += 1
        print(f"the report has {size:,} bytes")
    print(f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(usage="report_pages.py REPORT_DIR [--shots DIR] [--only PAGE...]")
    arguments.add_argument("report", type=lambda text: Path(text).resolve())
    arguments.add_argument("--shots", type=Path)
    arguments.add_argument("--only", nargs="+", help="names of pages, without .html")
    given = arguments.parse_args()
    sys.exit(main(given.report, given.shots, given.only))
