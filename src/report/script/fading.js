// Effective priorities at any half-life, and the users who pass any ceiling. The page holds the
// sums per interval of the heaviest users, with all digits. The recurrence is that of the index
// `condor`.
for (const box of document.querySelectorAll(".fading")) {
  const known = JSON.parse(box.dataset.sums);
  // Usage in hours, and a priority as what was in use on average, as on the charts.
  const { hours, in_use } = known;
  const users = known.users.map(([name, href, sums]) => ({ name, href, sums: new Map(sums),
    first: sums.length === 0 ? known.intervals : sums[0][0] }));
  // The number of intervals that ended before the end of the window, if the page has a window on
  // this clock.
  const isOfSpan = 0 < timed.length && timed[0].since === "span";
  const ended = () => (isOfSpan && span !== whole
    ? Math.min(known.intervals, Math.floor(span[1] / known.interval_s + 1e-9)) : known.intervals);
  const faded = ({ sums, first }, halfLife, until) => {
    const beta = 0.5 ** (known.interval_s / halfLife);
    let rup = Math.max(known.start, known.floor);
    for (let interval = first; interval < until; interval += 1) {
      rup = Math.max(beta * rup + (1 - beta) * (sums.get(interval) ?? 0), known.floor);
    }
    return rup;
  };
  const output = () => {
    const made = element("div", { className: "said" });
    made.setAttribute("role", "status");
    return made;
  };
  const control = (name, properties) => {
    const made = element("input", properties);
    made.setAttribute("aria-label", name);
    return made;
  };
  // Seconds in a larger unit, if that is easier to read.
  const spoken = (seconds) => {
    const [unit, per] = seconds < 7200 ? ["min", 60] : seconds < 172800 ? ["h", 3600] : ["d", 86400];
    return seconds < 120 ? "" : ` (${Number((seconds / per).toPrecision(3))} ${unit})`;
  };
  const link = ({ name, href }) => (href === "" ? name : element("a", { href, textContent: name }));

  const halfLife = control(`Half-life of usage, s`, { type: "number", min: 0, step: "any", value: known.half_life_s });
  // From a minute to four months.
  const slide = control(`Half-life of usage, s, from a minute to four months`,
    { type: "range", min: Math.log10(60), max: 7, step: 0.01 });
  const said = output();
  const body = element("tbody");
  const heads = [known.by, `effective priority (${in_use})`, `used so far (${hours})`].map((text, place) =>
    element("th", { scope: "col", textContent: text, className: place === 0 ? "" : "number" }));
  const table = element("div", { className: "table" }, element("table", {},
    element("caption", { textContent: "Largest effective priority (larger is worse: served last)" }),
    element("thead", {}, element("tr", {}, ...heads)), body));
  const region = { tabindex: "0", role: "region", "aria-label": "Users by effective priority" };
  for (const [key, text] of Object.entries(region)) table.setAttribute(key, text);
  const show = () => {
    const life = halfLife.valueAsNumber;
    if (!(0 < life && Number.isFinite(life))) {
      said.textContent = "A half-life is a number above 0.";
      body.replaceChildren();
      return;
    }
    slide.value = Math.log10(life);
    const until = ended();
    const all = users.map((user) => ({ user, eup: known.factor * faded(user, life, until),
      used: Array.from(user.sums).reduce((sum, [at, own]) => sum + (at < until ? own : 0), 0) }));
    all.sort((one, other) => other.eup - one.eup);
    const [first] = all;
    said.textContent = `At a half-life of ${amount(life)} s${spoken(life)}, after ${until} of ${known.intervals} intervals, ` +
      `${known.by} ${first.user.name} has the largest effective priority, ${amount(first.eup / known.interval_s)} ${in_use}.`;
    body.replaceChildren(...all.slice(0, 10).map(({ user, eup, used }) => {
      const cell = (value, per) => {
        const made = element("td", { className: "number", textContent: amount(value / per) });
        made.dataset.value = value;
        return made;
      };
      return element("tr", {}, element("td", {}, link(user)), cell(eup, known.interval_s), cell(used, 3600));
    }));
  };
  halfLife.addEventListener("input", () => {
    show();
    remember("half-life", halfLife.value);
  });
  slide.addEventListener("input", () => {
    halfLife.value = Number((10 ** slide.valueAsNumber).toPrecision(3));
    show();
    remember("half-life", halfLife.value);
  });
  document.addEventListener("window", show);
  if (chosen.has("half-life")) halfLife.value = chosen.get("half-life");
  show();
  box.append(
    element("div", { className: "filter" }, element("label", {}, "Usage halves every ", halfLife, " s "), slide),
    said, table,
  );
  if (known.ceiling_percent === null) continue;

  const ceiling = control("Ceiling, % of all usage", { type: "number", min: 0, max: 100, step: "any",
    value: Number(known.ceiling_percent.toPrecision(12)) });
  const ceilingSlide = control("Ceiling, % of all usage, from 0 to 25", { type: "range", min: 0, max: 25, step: 0.1 });
  const passed = output();
  const showPassed = () => {
    const percent = ceiling.valueAsNumber;
    if (!(0 <= percent && percent <= 100)) {
      passed.textContent = "A ceiling is a number from 0 to 100.";
      return;
    }
    ceilingSlide.value = percent;
    const most = (known.total_s * percent) / 100;
    const found = users.flatMap((user) => {
      let soFar = 0;
      for (const [interval, own] of user.sums) {
        if (known.early_s < (interval + 1) * known.interval_s) return [];
        soFar += own;
        if (most < soFar) return [{ user, at: (interval + 1) * known.interval_s }];
      }
      return [];
    });
    found.sort((one, other) => one.at - other.at);
    const more = most < known.others_s ? ` Lighter users, who are not on this page, may pass it too.` : "";
    passed.replaceChildren(`${found.length} of the ${users.length} heaviest had more than ${amount(most / 3600)} ${hours} within the ` +
      `first ${amount(known.early_s)} s${spoken(known.early_s)}${found.length === 0 ? "" : ": "}`,
      ...found.flatMap(({ user, at }, place) => [place === 0 ? "" : ", ", link(user), ` at ${amount(at)} s`]), `.${more}`);
  };
  ceiling.addEventListener("input", () => {
    showPassed();
    remember("ceiling", ceiling.value);
  });
  ceilingSlide.addEventListener("input", () => {
    ceiling.value = ceilingSlide.valueAsNumber;
    showPassed();
    remember("ceiling", ceiling.value);
  });
  if (chosen.has("ceiling")) ceiling.value = chosen.get("ceiling");
  showPassed();
  box.append(
    element("div", { className: "filter" },
      element("label", {}, "Hold back users who had more than ", ceiling, " % of the final total early in the span "), ceilingSlide),
    passed,
  );
}
