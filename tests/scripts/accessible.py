"""What axe-core, the usual checker of accessible pages, finds wrong with a page in a browser.

`faults(page)` gives a line per broken rule, none where nothing is wrong; the page has scripting.
Without the package `axe-playwright-python`, which brings axe-core, it says SKIPPED once and gives
none.
"""

try:
    from axe_playwright_python.base import AXE_SCRIPT
except ImportError:
    print("SKIPPED: axe-core: this Python cannot import axe_playwright_python")
    AXE_SCRIPT = None

# A page that passes fewer rules was not looked at.
PASSES_MIN = 10
# Only what is shown leaves the page: all that was looked at is megabytes.
RUN = """async () => {
  const found = await axe.run(document, { preload: false, resultTypes: ["violations"] });
  const lines = found.violations.map(({ id, impact, nodes }) =>
    `axe-core: ${id} (${impact}) ${nodes.length} times, first ${nodes[0].html.slice(0, 120)}`);
  return [found.passes.length, lines];
}"""


def faults(page):
    if AXE_SCRIPT is None:
        return
    page.evaluate(AXE_SCRIPT)
    passes, lines = page.evaluate(RUN)
    yield from lines
    if passes < PASSES_MIN:
        yield f"axe-core looked at {passes} rules only"
