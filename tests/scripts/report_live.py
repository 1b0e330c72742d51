"""Checks the choices of a reader on a page of a report, and that the address keeps them.

`faults(page, path, report)` yields what is wrong on an open page:
1. A window of time, typed or drawn with the mouse: every chart over time shows it, its ticks are within it, values
   outside of it are not found, and the whole range can be shown again. On axes of dates, the ticks are at the dates
   that they name.
2. For a sweep: the best setting at a price, and the numbers of a setting of a rule, are those of the stored result.
3. For fairness: usage at any half-life, and the users who pass any ceiling, are those of the stored result. If there is
   a folder `faded` next to the report, from a second run with other values, they are also those of that run.
4. Another page with the same address shows the same. Rows are downloaded as they are shown.
"""

import csv
import io
import json
from datetime import datetime, timezone

# Each plot with the start of the first: the numbers under it, and their positions as shares of the plot. Other plots
# do not change.
TICKS = """() => [...document.querySelectorAll("g.plot")]
  .filter((plot, _, all) => plot.dataset.since === all[0].dataset.since).map((plot) => {
  let ticks = plot.previousElementSibling;
  while (!ticks.matches("g.ticks")) ticks = ticks.previousElementSibling;
  const own = ticks.style.display === "none" ? ticks.previousElementSibling : ticks;
  const [left, right] = plot.dataset.across.split(" ").map(Number);
  const [from, until] = plot.dataset.seconds.split(" ").map(Number);
  const unit = { h: 3600, d: 86400 }[plot.dataset.unit];
  // Where a second of the trace is drawn, as a share of the plot.
  const [, shift, scale] = (plot.getAttribute("transform") ?? "translate(0 0) scale(1 1)")
    .match(/^translate\((\S+) 0\) scale\((\S+) 1\)$/).map(Number);
  const drawn = [from, until].map((second) => {
    const x = left + ((second - from) / (until - from)) * (right - left);
    return (shift + scale * x - left) / (right - left);
  });
  return { from: from / unit, until: until / unit, unit, drawn,
    labels: [...own.querySelectorAll("text")].map((text) =>
      [Number(text.textContent.replaceAll(",", "")), (text.getAttribute("x") - left) / (right - left)]) };
})"""


# For each dashed line in a window: the number of its points that are not on the whole line, and the shares of the
# window that only one of the two lines covers.
LINES = """(wholes) => [...document.querySelectorAll("g.plot path[stroke-dasharray][fill=none]")]
  .map((cut, place) => [cut, place]).filter(([cut]) => cut.closest("g.plot[clip-path]")).map(([cut, place]) => {
    const whole = cut.cloneNode();
    whole.setAttribute("d", wholes[place]);
    whole.removeAttribute("stroke-dasharray");
    cut.parentNode.append(whole);
    const sampled = (path) => Array.from({ length: 2000 }, (_, n) =>
      path.getPointAtLength((n + 0.5) / 2000 * path.getTotalLength()));
    const off = cut.getTotalLength() === 0 ? 0 : sampled(cut).filter((at) => !whole.isPointInStroke(at)).length;
    const clip = document.querySelector(cut.closest("g.plot").getAttribute("clip-path").slice(4, -1).replaceAll('"', ""));
    const { x, width } = clip.firstElementChild.getBBox();
    const passed = (path) => new Set(path.getTotalLength() === 0 ? [] : sampled(path)
      .filter((at) => x <= at.x && at.x <= x + width).map((at) => Math.floor((at.x - x) / width * 10)));
    const [one, other] = [passed(cut), passed(whole)];
    whole.remove();
    return [off, [...one].filter((share) => !other.has(share)), [...other].filter((share) => !one.has(share))];
  })"""
DASHED = """() => [...document.querySelectorAll("g.plot path[stroke-dasharray][fill=none]")]
  .map((path) => path.getAttribute("d"))"""
# Milliseconds until the page is drawn.
DRAWN = """() => new Promise((drawn) => {
  const start = performance.now();
  requestAnimationFrame(() => requestAnimationFrame(() => drawn(performance.now() - start)));
})"""


# For a log that lacks some jobs: the time from which it has all jobs, in seconds since the start of the plots and since
# 1970.
WHOLE = """() => [...document.querySelectorAll("g.plot[data-whole]")]
  .filter((plot) => Number(plot.dataset.whole) < Number(plot.dataset.seconds.split(" ")[1]))
  .map((plot) => [Number(plot.dataset.whole), Number(plot.dataset.from ?? 0)])"""


def opened(page):
    """Whether a page of a log that lacks jobs at its beginning opens without that time. It must show the whole time on
    request, on paper, and under the address that it then has. The page shows the whole time afterwards."""
    whole = page.evaluate(WHOLE)
    inputs = page.locator(".window input").all()
    if not whole or not inputs:
        return
    seconds, since = max(whole)
    narrowed = page.evaluate("() => document.querySelectorAll('g.plot[clip-path]').length")
    if inputs[0].get_attribute("type") == "datetime-local":
        begin = datetime.fromisoformat(inputs[0].input_value()).replace(tzinfo=timezone.utc).timestamp()
        expected = since + seconds
    else:
        unit = page.evaluate("() => ({ h: 3600, d: 86400 })[document.querySelector('g.plot').dataset.unit]")
        begin, expected = float(inputs[0].input_value()) * unit, seconds
    if narrowed < len(whole) or 1 < abs(begin - expected) or "window=" in page.url:
        yield f"it opens at {begin} in {narrowed} of {len(whole)} plots, not at {expected}"
    count = "() => document.querySelectorAll('g.plot[clip-path]').length"
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    if page.evaluate(count):
        yield "a part of the time is printed"
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    if page.evaluate(count) != narrowed:
        yield "all of the time stays after printing"
    page.get_by_role("button", name="Show all").click()
    other = page.context.new_page()
    other.goto(page.url)
    if page.evaluate(count) or other.evaluate(count) or "window=" not in page.url:
        yield "not all of the time is shown when asked for"
    other.close()


def faults(page, path, report):
    yield from windows(page, path)
    if path.stem == "sweep":
        yield from prices(page, path, report)
    if path.stem == "fairness":
        yield from fades(page, report)
    yield from rows(page, path)


def shown(page, from_s, until_s):
    """Whether all plots show a window, by their ticks."""
    for number, plot in enumerate(page.evaluate(TICKS)):
        if not plot["labels"]:
            yield f"plot {number + 1} has no ticks from {from_s} to {until_s} s"
        for second, share in zip((plot["from"] * plot["unit"], plot["until"] * plot["unit"]), plot["drawn"]):
            expected = (second - from_s) / (until_s - from_s)
            if 0.005 < abs(share - expected):
                yield f"plot {number + 1}: {second} s is drawn at {share}, not {expected}"
        for value, share in plot["labels"]:
            expected = (value * plot["unit"] - from_s) / (until_s - from_s)
            # Ticks are written with six digits, places with two decimals.
            if not -0.002 <= share <= 1.002 or 0.005 < abs(share - expected):
                yield f"plot {number + 1}: {value} stands at {share}, not {expected}"


def windows(page, path):
    inputs = page.locator(".window input").all()
    plots = page.evaluate(TICKS)
    if len({plot["from"] * plot["unit"] for plot in plots}) > 1:
        yield "plots over time begin at different times"
    if bool(plots) != bool(inputs):
        yield f"{len(plots)} plots over time, {len(inputs)} fields of a window"
    if not plots or not inputs:
        return
    if inputs[0].get_attribute("type") == "datetime-local":
        yield from dates(page, inputs)
        return
    low = min(plot["from"] * plot["unit"] for plot in plots)
    high = max(plot["until"] * plot["unit"] for plot in plots)
    unit = plots[0]["unit"]
    dashed = page.evaluate(DASHED)
    # Drawn on the first plot while each plot shows its whole range.
    first = plots[0]
    drag(page)
    span = (first["until"] - first["from"]) * unit
    start = first["from"] * unit
    yield from shown(page, start + span / 4, start + span / 2)
    page.get_by_role("button", name="Show all").click()
    begin, end = (low + (high - low) * share for share in (0.25, 0.55))
    for field, second in zip(inputs, (begin, end)):
        field.fill(repr(second / unit))
    yield from shown(page, begin, end)
    yield from covered(page)
    for number, (off, more, less) in enumerate(page.evaluate(LINES, dashed)):
        # The whole line has fewer samples in a part of the window than the cut line.
        if off or less:
            yield f"dashed line {number + 1} in a window: {off} points elsewhere, {more} too much, {less} missing"
    # Arrow keys step only through values inside the window.
    chart = page.locator("figure svg:has(g.plot):has(g.values)").first
    if chart.count():
        chart.focus()
        page.keyboard.press("Home")
        said = page.locator(".tip").text_content()
        first = next(line for line in said.split("\n") if line.startswith("time")).rsplit(" ", 1)[1]
        if not begin - 1e-3 * high <= float(first.replace(",", "")) * unit <= end + 1e-3 * high:
            yield f"Home says {said} in a window from {begin / unit} to {end / unit}"
        page.keyboard.press("Escape")
    address = page.url
    other = page.context.new_page()
    other.goto(address)
    yield from shown(other, begin, end)
    other.close()
    page.get_by_role("button", name="Show all").click()
    if page.evaluate(TICKS) != plots or page.evaluate(DASHED) != dashed or ("window" in page.url) != bool(page.evaluate(WHOLE)):
        yield "not all is shown again"
    # A window without values.
    for field, second in zip(inputs, (high - 1e-3 * (high - low), high - 0.9e-3 * (high - low))):
        field.fill(repr(second / unit))
    # For lines of any spread.
    if 2000 < (waited := page.evaluate(DRAWN)):
        yield f"a narrow window is drawn after {waited:.0f} ms"
    if chart.count():
        chart.focus()
        page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Show all").click()


# The instants of the axis of each plot, and its ticks: text, and position as a share of the plot.
DATES = """() => [...document.querySelectorAll("g.plot[data-from]")].map((plot) => {
  let ticks = plot.previousElementSibling;
  while (!ticks.matches("g.ticks")) ticks = ticks.previousElementSibling;
  const own = ticks.style.display === "none" ? ticks.previousElementSibling : ticks;
  const [left, right] = plot.dataset.across.split(" ").map(Number);
  return { width: right - left, from: Number(plot.dataset.from), seconds: plot.dataset.seconds.split(" ").map(Number),
    ticks: [...own.querySelectorAll("text")].map((text) =>
      [text.textContent, (text.getAttribute("x") - left) / (right - left)]) };
})"""


# The plots of a window in which a label of the time axis covers the next one.
COVERED = """() => [...document.querySelectorAll("g.plot[clip-path]")].flatMap((plot, place) => {
  let ticks = plot.previousElementSibling;
  while (!ticks.matches("g.ticks")) ticks = ticks.previousElementSibling;
  const own = ticks.previousElementSibling;
  const boxes = [...own.querySelectorAll("text")].map((text) => text.getBBox()).sort((a, b) => a.x - b.x);
  return boxes.some((box, at) => 0 < at && box.x < boxes[at - 1].x + boxes[at - 1].width) ? [place + 1] : [];
})"""


def covered(page):
    """Whether the labels of each time axis of a window are apart."""
    for number in page.evaluate(COVERED):
        yield f"plot {number}: labels of the time axis cover one another"


def dates(page, inputs):
    """A window of dates: the whole, a part, and the whole again."""
    yield from covered(page)
    plots = page.evaluate(DATES)
    whole = [plots[0]["from"] + second for second in plots[0]["seconds"]]
    yield from dated(plots, *whole)
    # To the minute: a field leaves out seconds that are 0.
    begin, end = (round(whole[0] + (whole[1] - whole[0]) * share) // 60 * 60 for share in (0.3, 0.6))
    for field, second in zip(inputs, (begin, end)):
        field.fill(datetime.fromtimestamp(second, timezone.utc).strftime("%Y-%m-%dT%H:%M"))
    yield from dated(page.evaluate(DATES), begin, end)
    yield from covered(page)
    other = page.context.new_page()
    other.goto(page.url)
    yield from dated(other.evaluate(DATES), begin, end)
    other.close()
    page.get_by_role("button", name="Show all").click()
    if page.evaluate(DATES) != plots or ("window" in page.url) != bool(page.evaluate(WHOLE)):
        yield "not all dates are shown again"


def dated(plots, begin, end):
    """Whether the ticks of all plots are at the dates that they name, in UTC."""
    for number, plot in enumerate(plots):
        if not plot["ticks"]:
            yield f"plot {number + 1} has no dates from {begin} to {end}"
        for text, share in plot["ticks"]:
            at = datetime.fromtimestamp(begin + share * (end - begin), timezone.utc)
            form = next(form for form in ("%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y-%m", "%Y") if is_of(form, text))
            named = datetime.strptime(text, form).replace(tzinfo=timezone.utc)
            if form == "%H:%M":
                named = named.replace(year=at.year, month=at.month, day=at.day)
            # A label at the edge of the picture moves by less than its height, 12 pixels.
            apart = abs((named - at).total_seconds()) / (end - begin)
            if 12 / plot["width"] < min(apart, abs(apart - 86400 / (end - begin))):
                yield f"plot {number + 1}: {text} stands at {at}"


def is_of(form, text):
    try:
        return datetime.strptime(text, form).strftime(form) == text
    except ValueError:
        return False


def drag(page):
    """Drags the mouse from a quarter to a half of the range of the first plot."""
    box = page.locator("g.plot").first.evaluate("""(plot) => {
      const svg = plot.ownerSVGElement, [left, right] = plot.dataset.across.split(" ").map(Number);
      plot.scrollIntoView({ block: "center" });
      const [top, bottom] = plot.dataset.down.split(" ").map(Number);
      const at = (x) => new DOMPoint(x, (top + bottom) / 2).matrixTransform(svg.getScreenCTM());
      return [at(left + (right - left) / 4), at((left + right) / 2)].map(({ x, y }) => [x, y]);
    }""")
    page.mouse.move(*box[0])
    page.mouse.down()
    page.mouse.move(*box[1], steps=4)
    page.mouse.up()


def prices(page, path, report):
    box = page.locator(".what-if")
    result = json.loads((report / "data" / "sweep.json").read_text())
    table = list(csv.DictReader((report / "data" / "sweep.csv").open()))
    for row in table:
        # A page names the rule of time limits by the quantity that it compares.
        row["rule"] = row["rule"].replace("slurm:of=requested", "share of the time limit")
    if box.count() != 1:
        yield f"{box.count()} choices of a price"
        return
    number = lambda text: f"{float(f'{text:.6g}'):,.6f}".rstrip("0").rstrip(".")
    unit = result["answer"]["unit"]
    cpu = lambda seconds: (f"{number(seconds)} {unit}" if abs(seconds) < 3600 or not unit.endswith("-s")
                           else f"{number(seconds / 3600)} {unit[:-1]}h")
    for price in (0, 1, result["settings"]["price"], 12345.678, 1e12):
        box.get_by_label("Price of a harmed finished job").first.fill(repr(price / (3600 if unit.endswith("-s") else 1)))
        said = box.locator(".said").first.text_content()
        worth = lambda row: float(row["net_cpu"]) - price * float(row["harmed_jobs"])
        best = max(table, key=worth)
        expected = [f"{best['rule']} at T = {number(float(best['threshold']))}", f"{number(float(best['harmed_jobs']))} finished",
                    f"a net {cpu(float(best['net_cpu']))} saved"]
        if worth(best) <= 0:
            expected = ["kill nothing"]
        if not all(text in said for text in expected):
            yield f"at a price of {price}: `{said}`, not {expected}"
    # Before any choice: the rule and threshold with the largest net value at the price of the sweep, of those that act
    # on any task.
    fresh = page.context.new_page()
    fresh.goto(path.as_uri())
    usual = result["settings"]["price"]
    acting = [row for row in table if 0 < float(row.get("condemned_tasks") or 1)] or table
    top = max(float(row["net_cpu"]) - usual * float(row["harmed_jobs"]) for row in acting)
    tops = [f"{row['rule']} at T = {number(float(row['threshold']))} " for row in acting
            if float(row["net_cpu"]) - usual * float(row["harmed_jobs"]) == top]
    said = fresh.locator(".what-if .said").last.text_content()
    if not said.startswith(tuple(tops)):
        yield f"at first: `{said}`, not {tops}"
    fresh.close()
    rules = {row["rule"] for row in table}
    rule = max(sorted(rules), key=lambda rule: sum(row["rule"] == rule for row in table))
    own = sorted((row for row in table if row["rule"] == rule), key=lambda row: float(row["threshold"]))
    own = [row for row in own if page.locator("tr", has_text=rule).count()]
    box.get_by_label("Kill rule").select_option(rule)
    box.get_by_label("Threshold T").evaluate("""(slide) => {
      slide.value = 1; slide.dispatchEvent(new Event("input"));
    }""")
    said = box.locator(".said").last.text_content()
    if not any(said.startswith(f"{rule} at T = {number(float(row['threshold']))} ")
               and f", {number(float(row['harmed_jobs']))} finished job" in said for row in own[1:2]):
        yield f"the second threshold of {rule}: `{said}`"
    other = page.context.new_page()
    other.goto(page.url)
    if other.locator(".what-if .said").all_text_contents() != box.locator(".said").all_text_contents():
        yield "the same address says something else"
    other.close()


def fades(page, report):
    # The choices are folded.
    unfold = "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
    page.evaluate(unfold)
    box = page.locator(".fading")
    if box.count() != 1:
        yield f"{box.count()} choices of a half-life"
        return
    runs = [(report / "data" / "fairness.csv", report / "data" / "fairness.json"),
            (report.parent / "faded" / "fairness.csv", report.parent / "faded" / "result.json")]
    for table, result in runs:
        # A large result is not copied into a report.
        if not table.exists() or not result.exists():
            continue
        answer = json.loads(result.read_text())["answer"]
        settings = next(one["settings"] for one in answer["indices"] if one["index"].startswith("condor"))
        half_life = float(settings.split("half_life_s=")[1].split(",")[0])
        users = list(csv.DictReader(table.open()))
        column = next(name for name in users[0] if name.endswith("_eup"))
        users.sort(key=lambda user: -float(user[column]))
        box.get_by_label("Half-life of usage, s").first.fill(repr(half_life))
        found = box.locator("tbody tr").evaluate_all("""(rows) => rows.map((row) =>
          [row.cells[0].textContent, Number(row.cells[1].dataset.value)])""")
        if len(found) != min(10, len(answer["users"])):
            yield f"{len(found)} users at a half-life of {half_life}"
        # The table may hold only the heaviest users.
        is_whole = len(users) == len(answer["users"])
        near = lambda one, other: abs(one - other) <= 0.5 + 1e-9 * abs(other)
        for place, (name, value) in enumerate(found):
            # The start value, at most 0.5, decays from the first usage on, not from the submission.
            own = [float(user[column]) for user in users if user["user"].startswith(name.rstrip("…"))]
            if own and not any(near(value, expected) for expected in own):
                yield f"at a half-life of {half_life}: {name} has {value}, not {own}"
            if is_whole and (not own or not near(value, float(users[place][column]))):
                yield f"at a half-life of {half_life}: {name} is number {place + 1} with {value}"
        suggestions = answer["suggestions"]
        percent = suggestions["limits"]["ceiling_cpu_s"] / answer["total_cpu_s"] * 100
        box.get_by_label("Ceiling, % of all usage").first.fill(repr(round(percent, 9)))
        said = box.locator(".said").last.text_content()
        held = suggestions["hold_back"]
        places = [said.find(f"at {one['passed_at_s']:,.0f} s") for one in held]
        if not said.startswith(f"{len(held)} of the ") or -1 in places or places != sorted(places):
            yield f"at a ceiling of {percent} %: `{said}`, not {held}"
    other = page.context.new_page()
    other.goto(page.url)
    if other.locator(".fading .said").all_text_contents() != box.locator(".said").all_text_contents():
        yield "the same address fades otherwise"
    other.close()


def rows(page, path):
    """Sorting and filtering are kept; a download holds the rows shown."""
    table = page.locator("table.data:has(th button)").first
    if not table.count():
        return
    table.locator("th button").first.click()
    read = "(table) => [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.textContent)"
    sorted_rows = table.evaluate(read)
    other = page.context.new_page()
    other.goto(page.url)
    if other.locator("table.data:has(th button)").first.evaluate(read) != sorted_rows:
        yield "another page with the same address is not sorted so"
    other.close()
    tools = page.locator(".filter:has(input[type=search])").first
    if tools.count():
        table = tools.locator("xpath=following-sibling::div[1]").locator("table.data")
        # A text that only some rows have.
        tools.locator("input").fill(table.evaluate("""(table) => {
          const rows = [...table.tBodies[0].rows].map((row) => row.textContent.toLowerCase());
          const cells = [...table.tBodies[0].rows].at(-1).cells;
          return [...cells].map((cell) => cell.textContent)
            .find((text) => text && !rows.every((row) => row.includes(text.toLowerCase()))) ?? "";
        }"""))
    else:
        tools = page.locator(".filter:has(button)").last
        table = tools.locator("xpath=following-sibling::div[1]").locator("table.data")
    with page.expect_download() as download:
        tools.get_by_role("button", name="Download these rows").click()
    found = list(csv.reader(io.StringIO(open(download.value.path()).read())))
    header, *shown = table.evaluate("(table) => [...table.rows].filter((row) => !row.hidden)"
                                    ".map((row) => [...row.cells].map((cell) => ({ text: cell.textContent, ...cell.dataset })))")
    # The unit and the bounds next to a value have separate columns.
    kinds = [["", *(kind for kind in ("unit", "low", "high") if any(kind in row[place] for row in shown))]
             for place in range(len(header))]
    names = [f"{head.get('column', head['text'])}{'_' * bool(kind)}{kind}" for head, own in zip(header, kinds) for kind in own]
    values = [names] + [[cell.get(kind, "") if kind else cell.get("value", cell["text"]) for cell, own in zip(row, kinds)
                         for kind in own] for row in shown]
    if found != values:
        yield f"a download of {len(found)} rows is not the table of {len(values)}"
