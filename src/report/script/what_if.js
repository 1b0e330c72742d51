// The best kill rule at a price of a harmed job. Every row of a sweep is on the page, with all
// digits.
for (const box of document.querySelectorAll(".what-if:not(.fading)")) {
  const follows = (table) => box.compareDocumentPosition(table) & Node.DOCUMENT_POSITION_FOLLOWING;
  const table = Array.from(document.querySelectorAll("table.data")).find(follows);
  const names = Array.from(table.tHead.rows[0].cells, (cell) => cell.dataset.column);
  const order = Array.from(table.tBodies[0].rows).sort((one, other) => one.dataset.place - other.dataset.place);
  const rows = order.map((row) => {
    const cell = (name) => row.cells[names.indexOf(name)];
    const data = (name, key) => (cell(name)?.dataset[key] === undefined ? null : Number(cell(name).dataset[key]));
    const number = (name) => data(name, "value");
    return { row, rule: cell("rule").textContent, threshold: number("threshold"),
      unit: cell("threshold")?.dataset.unit ?? "", net: number("net_cpu"),
      share: number("net_share"), low: data("net_share", "low"), high: data("net_share", "high"),
      harmed: number("harmed_jobs"), condemned: number("condemned_tasks") };
  }).filter((one) => one.net !== null && one.harmed !== null && one.threshold !== null);
  if (rows.length < 2) continue;
  const unit = box.dataset.unit;
  const inHours = unit.endsWith("-s") ? `${unit.slice(0, -1)}h` : unit;
  // A price is typed in hours of CPU.
  const per = inHours === unit ? 1 : 3600;
  // As in the sentences of the page: from an hour on in hours.
  const cpu = (seconds) => (Math.abs(seconds) < per || per === 1
    ? `${amount(seconds)} ${unit}`
    : `${amount(seconds / per)} ${inHours}`);
  // One restart, but one second has the unit `s`.
  const ofT = ({ threshold, unit: own }) =>
    `${amount(threshold)} ${threshold === 1 && own.length > 1 ? own.replace(/s\b/, "") : own}`.trim();
  const named = (one) => `${one.rule} at T = ${ofT(one)}`;
  const harms = (one) => `${amount(one.harmed)} finished ${one.harmed === 1 ? "job" : "jobs"} harmed`;
  const said = (one) => {
    const percent = (share) => `${(100 * share).toLocaleString("en", { maximumSignificantDigits: 3 })} %`;
    const interval = one.low === null ? "" : `, 95 % interval ${percent(one.low)} to ${percent(one.high)}`;
    const share = one.share === null ? "" : ` (${percent(one.share)} of the CPU of ${box.dataset.lost}${interval})`;
    const tasks = one.condemned === null ? "" : ` It acts on ${amount(one.condemned)} tasks of all jobs${one.harmed === 0 ? "" : ", also of those that finished"}.`;
    return `a net ${cpu(one.net)} saved${share}, ${harms(one)}.${tasks}`;
  };
  const output = () => {
    const made = element("div", { className: "said" });
    made.setAttribute("role", "status");
    return made;
  };

  // The price of a harmed job: a slider from 0.001 to 10,000, or any number.
  const usual = Number(box.dataset.price);
  const price = element("input", { type: "number", min: 0, step: "any", value: usual / per });
  price.setAttribute("aria-label", `Price of a harmed finished job, ${inHours}`);
  const slide = element("input", { type: "range", min: -3, max: 4, step: 0.05 });
  slide.setAttribute("aria-label", `Price of a harmed finished job, ${inHours}, from a thousandth to ten thousand`);
  const best = output();
  // The setting that is best at the price, if any is worth it.
  let leading = null;
  const show = () => {
    const cost = per * price.valueAsNumber;
    if (!(0 <= cost && Number.isFinite(cost))) {
      best.textContent = "A price is a number of 0 or more.";
      leading = null;
      mark();
      return;
    }
    slide.value = Math.log10(Math.max(price.valueAsNumber, 0.001));
    const worth = (one) => one.net - cost * one.harmed;
    const found = rows.reduce((one, other) => (worth(one) < worth(other) ? other : one));
    rows.forEach((one) => one.row.classList.toggle("best", one === found && 0 < worth(found)));
    best.textContent = worth(found) <= 0
      ? `At ${cpu(cost)} for a harmed job none of ${rows.length} settings is worth it: kill nothing.`
      : `At ${cpu(cost)} for a harmed job the best of ${rows.length} settings in hindsight is ` +
        `${named(found)}: ${said(found)} Less the price of the harm, that is ${cpu(worth(found))}.`;
    leading = worth(found) <= 0 ? null : found;
    mark();
  };
  price.addEventListener("input", () => {
    show();
    remember("price_h", price.value);
  });
  slide.addEventListener("input", () => {
    price.value = Number((10 ** slide.valueAsNumber).toPrecision(2));
    show();
    remember("price_h", price.value);
  });

  // A rule, and its threshold among those that were computed.
  const rules = [...new Set(rows.map((one) => one.rule))];
  const rule = element("select", {}, ...rules.map((name) => element("option", { textContent: name })));
  rule.setAttribute("aria-label", "Kill rule");
  const threshold = element("input", { type: "range", min: 0, step: 1 });
  threshold.setAttribute("aria-label", "Threshold T, among those computed");
  const at = output();
  const ofRule = () => rows.filter((one) => one.rule === rule.value).sort((a, b) => a.threshold - b.threshold);
  const mark = () => {
    const one = ofRule()[threshold.valueAsNumber];
    rows.forEach((other) => other.row.classList.toggle("at", other === one));
    at.textContent = one === leading
      ? `${named(one)}: the best setting at this price, as above, ${harms(one)}.`
      : `${named(one)}: ${said(one)}`;
    threshold.setAttribute("aria-valuetext", `T = ${ofT(one)}`);
  };
  // A rule starts at the threshold that is worth most at the price of the sweep.
  // Settings that kill nothing come last.
  const acting = (some) => {
    const those = some.filter((one) => one.condemned === null || 0 < one.condemned);
    return those.length === 0 ? some : those;
  };
  const worthMost = (some) => acting(some).reduce((one, other) =>
    (one.net - usual * one.harmed < other.net - usual * other.harmed ? other : one));
  const restart = () => {
    const own = ofRule();
    threshold.max = own.length - 1;
    threshold.value = own.indexOf(worthMost(own));
  };
  const keep = () => {
    mark();
    remember("rule", rule.value);
    remember("threshold", `${ofRule()[threshold.valueAsNumber].threshold}`);
  };
  rule.addEventListener("input", () => {
    restart();
    keep();
  });
  threshold.addEventListener("input", keep);
  if (chosen.has("price_h")) price.value = chosen.get("price_h");
  rule.value = rules.includes(chosen.get("rule")) ? chosen.get("rule") : worthMost(rows).rule;
  restart();
  const place = ofRule().findIndex((one) => `${one.threshold}` === chosen.get("threshold"));
  if (0 <= place) threshold.value = place;
  show();
  box.append(
    element("div", { className: "filter" }, element("label", {}, "A harmed finished job costs ", price, ` ${inHours} `), slide),
    best,
    element("div", { className: "filter" }, element("label", {}, "Rule ", rule), " ", element("label", {}, "T ", threshold)),
    at,
  );
}
