"""Checks a page in a browser with axe-core, the usual checker of accessible pages.

`faults(page)` yields a line per broken rule; the page has scripting. Without the package `axe-playwright-python`,
which contains axe-core, it prints SKIPPED once and yields nothing.
"""

try:
    from axe_playwright_python.base import AXE_SCRIPT
except ImportError:
    print("SKIPPED: axe-core: this Python cannot import axe_playwright_python")
    AXE_SCRIPT = None

# If a page passes fewer rules, it was not checked.
PASSES_MIN = 10
# Only the reported fields leave the page, because the whole result is megabytes.
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
