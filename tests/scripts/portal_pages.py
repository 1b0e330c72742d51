#!/usr/bin/env python3
# /// script
# dependencies = ["axe-playwright-python", "playwright"]
# ///
"""Uses the portal like a reader in a browser: with a mouse, with keys, and on a phone.

Usage: portal_pages.py JOBFATE [--lake NAME=DIR]... [--shots DIR] [--picture FILE] [--screen FILE]

JOBFATE is built with the feature `serve`. Without --lake a synthetic trace is made. In this order:
1. A wrong formula is shown at its place; a hostile formula has no effect.
2. A formula together with two built-in indices: charts appear without reloading, and the value that the arrow keys
   select is the one in the file that the page offers.
3. The index is saved, the portal is killed and started again, and the index is loaded.
4. Every page: one h1, labelled fields, no sideways scrolling at 1440 and 390 px, nothing loaded from other sites, no
   message of the browser, no finding of axe-core, and the same text without scripting.
5. A field can be reached and the form can be sent only with keys.

--shots keeps pictures of the pages, --picture keeps the chart of the formula, --screen keeps the first screen of its
page. The browser is JOBFATE_CHROMIUM or one on the PATH. Without a browser or without Playwright, the script prints a
line with SKIPPED. Exits with 1 if a check fails.
"""

import argparse
import csv
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    print("SKIPPED: the portal in a browser: this Python cannot import playwright")
    sys.exit(0)

import accessible

BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
FORMULA = "state level = 0\nupdate level = level * 0.5 ^ (dt / 21600) + usage\ndisplay level"
STRUCTURE = """() => {
  const faults = [], all = (selector) => [...document.querySelectorAll(selector)];
  if (all("h1").length !== 1) faults.push(`${all("h1").length} h1`);
  for (const field of all("input:not([type=hidden]), select, textarea"))
    if (!field.labels?.length && !field.getAttribute("aria-label")) faults.push(`${field.name} has no label`);
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`${document.documentElement.scrollWidth} px wide`);
  if (all("[style], script:not([src])").length) faults.push("a script or style stands in the page");
  return faults;
}"""


class Portal:
    """A portal that can be killed and started again."""

    def __init__(self, jobfate, lakes, folder):
        self.command = [jobfate, "serve", "--listen", "127.0.0.1:0", "--state", str(folder / "state")]
        self.command += [f"--lake={lake}" for lake in lakes]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"listening on (http://\S+)/", line):
                self.base = found[1]
                return
        sys.exit("the portal does not start")

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(10)


class Checks:
    """Counts the checks that hold, and prints those that fail."""

    def __init__(self):
        self.passed, self.failed = 0, 0

    def that(self, holds, what):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        if not holds:
            print(f"FAILED: {what}")


def own_lake(jobfate, folder):
    """A lake of a synthetic trace."""
    for words in [["synth", "trace", "--jobs", "200", "--days", "2"], ["ingest", "trace", "--lake", "lake"]]:
        subprocess.run([jobfate, *words], cwd=folder, check=True, capture_output=True)
    return [f"lake={folder / 'lake'}"]


def fill(page, formula, name="short memory"):
    """Enters a formula together with two built-in indices."""
    for index in ["metered", "condor"]:
        page.check(f"input[name=use][value={index}]")
    page.check("input[name=own-kind][value=formula]")
    page.fill("#own-name", name)
    page.fill("#own-formula", formula)


def at_top(page, checks):
    """Checks that the mistake is shown at the top of the page, which has the focus, with a link to the field."""
    top = page.locator("#mistakes[role=alert]")
    box = top.bounding_box()
    seen = page.evaluate("[scrollY, innerHeight]")
    checks.that(box and 0 <= box["y"] and box["y"] + box["height"] <= seen[1], f"the summary is seen: {box} {seen}")
    checks.that(page.evaluate("document.activeElement.id") == "mistakes", "the summary has the focus")
    described = page.evaluate("""() => document.getElementById("own-formula").getAttribute("aria-describedby").split(" ")
        .map((id) => document.getElementById(id)?.innerText ?? "").join(" ")""")
    checks.that("line 1" in described, f"the field is described by {described!r}")
    top.locator("a", has_text="Formula").click()
    checks.that(page.evaluate("document.activeElement.id") == "own-formula", "the link leads to the field")


def wrong(page, portal, checks):
    """Checks that mistakes are shown at their places, and that hostile input has no effect."""
    page.goto(f"{portal.base}/fairness")
    for formula, part in [("display usag", "line 1, column 9"), ("<script>alert(1)</script>", "line 1, column 1"),
                          ("display " + "(" * 3000, "line 1")]:
        fill(page, formula, "<img src=x onerror=alert(1)>")
        page.click("button[value=evaluate]")
        said = page.locator("#own-formula ~ .wrong").inner_text()
        checks.that(part in said, f"{formula[:20]}: {said}")
        checks.that(page.locator("#own-formula").get_attribute("aria-invalid") == "true", "the field is marked")
        at_top(page, checks)
        checks.that(page.locator("img").count() == 0, "a name is markup")


def evaluate(page, portal, lakes, checks):
    """Enters an index and checks that the chart has the numbers of the file."""
    page.goto(f"{portal.base}/fairness")
    for lake in lakes:
        page.check(f"input[name=lake][value='{lake.split('=')[0]}']")
    page.locator("details.advanced > summary").click()
    page.select_option("#cpu", "requested")
    page.fill("#days", "7")
    fill(page, FORMULA)
    page.click("button[value=evaluate]")
    page.wait_for_selector("#live[data-phase=done] figure svg", timeout=120_000)
    page.wait_for_selector("table button")
    checks.that(3 <= page.locator("figure svg").count(), "a chart of each index")
    chart = page.locator("figure svg[aria-label*='(short memory)']").first
    label = chart.get_attribute("aria-label")
    checks.that("short memory" in label, label)
    chart.scroll_into_view_if_needed()
    chart.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".tip:not([hidden])")
    tip = page.locator(".tip:not([hidden])").inner_text()
    table = page.request.get(page.locator("a", has_text="series.csv").first.evaluate("link => link.href")).text()
    values = {float(row["value"]) for row in csv.DictReader(io.StringIO(table)) if row["index"] == "short memory"}
    shown = [float(word.replace(",", "")) for word in re.findall(r"-?[\d,]+(?:\.\d+)?(?:e-?\d+)?", tip.splitlines()[-1])]
    near = any(abs(value - number) <= 1e-5 * abs(value) for value in values for number in shown)
    checks.that(near, f"the chart says {tip!r}, which the file does not")
    checks.that("Similarity of the orders" in page.inner_text("#live"), "indices are compared")
    return page.url


def kept(page, portal, shared, checks):
    """Checks that a saved index exists after a kill, and that the address still holds the whole question."""
    page.goto(f"{portal.base}/fairness")
    fill(page, FORMULA)
    page.click("button[value=save]")
    said = page.locator("[role=status].kept").inner_text()
    checks.that("saved as short memory" in said, said)
    portal.end(signal.SIGKILL)
    address = shared.removeprefix(portal.base)
    portal.start()
    page.goto(f"{portal.base}/fairness")
    page.get_by_text("Saved indices").wait_for()
    page.click("a:text-is('edit')")
    page.wait_for_url("**/fairness?load=*")
    checks.that(page.input_value("#own-formula").replace("\r\n", "\n") == FORMULA, "the formula is as it was")
    page.goto(portal.base + address)
    checks.that(3 <= page.locator("figure svg").count(), "the shared address shows the answer")
    return page.url


def looked_at(browser, portal, shared, shots, checks):
    """Checks every page on a screen and a phone, light and dark, with and without scripting."""
    pages = {"start": "/", "form": "/fairness", "jobs": "/jobs", "search": "/find?what=user&id=1", "api": "/api",
             "sweep": "/ask/sweep", "replay": "/ask/replay", "answer": shared.removeprefix(portal.base)}
    for width, scheme in [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page, said, asked = context.new_page(), [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        for name, address in pages.items():
            page.goto(portal.base + address)
            faults = page.evaluate(STRUCTURE) + list(accessible.faults(page))
            checks.that(not faults, f"{name} at {width} px: {faults}")
            if shots:
                page.screenshot(path=shots / f"{name}-{width}-{scheme}.png", full_page=True)
        checks.that(not said, f"messages: {said[:3]}")
        away = [url for url in asked if not url.startswith((portal.base, "data:"))]
        checks.that(not away, f"asked elsewhere: {away[:3]}")
        context.close()
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(shared)
    checks.that("short memory" in plain.inner_text("#live") and 3 <= plain.locator("figure svg").count(),
                "the answer without scripting")


def by_keys(page, portal, checks):
    """Goes from the first field to the answer without a mouse."""
    page.goto(f"{portal.base}/fairness")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.focus("#days")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    page.wait_for_selector("#live[data-phase=done]", timeout=120_000)
    checks.that("days=1" in page.url, page.url)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobfate")
    parser.add_argument("--lake", action="append", default=[])
    parser.add_argument("--shots", type=Path)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--screen", type=Path)
    args = parser.parse_args()
    known = [os.environ.get("JOBFATE_CHROMIUM"), *map(shutil.which, BROWSERS)]
    browser = next((path for path in known if path), None)
    if browser is None:
        print("SKIPPED: the portal in a browser: no chromium")
        return 0
    jobfate = str(Path(shutil.which(args.jobfate) or args.jobfate).absolute())
    if args.shots:
        args.shots.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        lakes = args.lake or own_lake(jobfate, Path(folder))
        portal = Portal(jobfate, lakes, Path(folder))
        opened = playwright.chromium.launch(executable_path=browser)
        try:
            page = opened.new_context(viewport={"width": 1200, "height": 900}).new_page()
            wrong(page, portal, checks)
            shared = evaluate(page, portal, lakes, checks)
            page.mouse.move(0, 0)
            page.evaluate("document.activeElement.blur()")
            if args.screen:
                page.evaluate("scrollTo(0, 0)")
                page.screenshot(path=args.screen)
            if args.picture:
                page.locator("figure", has=page.locator("svg[aria-label*='(short memory)']")).first.screenshot(path=args.picture)
            shared = kept(page, portal, shared, checks)
            looked_at(opened, portal, shared, args.shots, checks)
            by_keys(page, portal, checks)
        finally:
            opened.close()
            portal.end()
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
