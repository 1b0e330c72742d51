const SVG = "http://www.w3.org/2000/svg";
const pairOf = (text) => text.split(" ").map(Number);

// Plots over time, each with the ticks of its axis; the ticks come before the plot in the drawing.
const plots = [];
// Axes of dates may start at different instants: their seconds count from the first of these.
const starts = Array.from(document.querySelectorAll("figure svg g.plot[data-from]"), (group) => Number(group.dataset.from));
const firstDate = Math.min(...starts);
for (const svg of document.querySelectorAll("figure svg")) {
  const ticks = Array.from(svg.querySelectorAll("g.ticks"));
  Array.from(svg.querySelectorAll("g.plot")).forEach((group, place) => {
    const { since, unit } = group.dataset;
    // The instant at 0 of an axis of dates, seconds since 1970.
    const start = "from" in group.dataset ? Number(group.dataset.from) : null;
    const dated = start === null ? null : firstDate, later = start === null ? 0 : start - firstDate;
    const clock = start === null ? since : "dates";
    // From when on the log has all jobs.
    const complete = "whole" in group.dataset ? Number(group.dataset.whole) + later : -Infinity;
    const [seconds, [left, right], [top, bottom]] =
      ["seconds", "across", "down"].map((name) => pairOf(group.dataset[name]));
    const [from, until] = seconds.map((second) => second + later);
    plots.push({ svg, group, ticks: ticks[place], since, clock, unit, dated, complete, from, until, left, right, top, bottom });
  });
}
// Plots on the same clock show one window; others stay as they are.
const SECONDS = new Map([["h", 3600], ["d", 86400]]);
const timed = plots.filter((plot) => plot.clock === plots[0].clock);
const whole = timed.length === 0 ? null
  : [Math.min(...timed.map((plot) => plot.from)), Math.max(...timed.map((plot) => plot.until))];
let span = whole;
// The window of a page as it is opened: the time for which the log has all jobs.
const completeFrom = Math.max(-Infinity, ...timed.map((plot) => plot.complete));
const isCut = whole !== null && whole[0] < completeFrom && completeFrom < whole[1];
const usual = isCut ? [completeFrom, whole[1]] : whole;

const across = (plot, second) =>
  plot.left + ((second - span[0]) / (span[1] - span[0])) * (plot.right - plot.left);

// At most eight ticks, fewer in a narrow plot, so that labels of this width do not overlap. One at the
// right edge is drawn to the left of its tick.
const mostTicks = (plot, wide) => Math.max(1, Math.min(8, Math.floor((plot.right - plot.left) / wide)));

// Ticks at the finest round step of which at most so many fit.
const roundTicks = (low, high, most) => {
  const least = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => least <= one);
  const count = Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, place) => (Math.ceil(low / step - 1e-9) + place) * step);
};

// Ticks at round dates, of which at most so many fit: [second of the clock, text].
const MINUTE = 60, HOUR = 3600, DAY = 86400;
const dateTicks = (dated, low, high, most) => {
  const least = (high - low) / most;
  const steps = [1, 5, 15, 30].concat([1, 2, 5, 10, 30].map((one) => one * MINUTE),
    [1, 2, 3, 6, 12].map((one) => one * HOUR), [1, 2, 7, 14, 28, 91, 182, 365].map((one) => one * DAY));
  const step = steps.find((one) => least <= one) ?? Math.ceil(least / steps.at(-1)) * steps.at(-1);
  const begin = Math.ceil((dated + low) / step) * step;
  const ticks = [];
  for (let at = begin; at <= dated + high; at += step) {
    const text = new Date(at * 1000).toISOString();
    ticks.push([at - dated, at % DAY === 0 ? text.slice(0, 10) : text.slice(11, step < MINUTE ? 19 : 16)]);
  }
  // Times of a day without a date would leave open which day it is.
  if (0 < ticks.length && ticks.every(([, text]) => text.includes(":")))
    ticks[0][1] = `${new Date((dated + ticks[0][0]) * 1000).toISOString().slice(0, 10)} ${ticks[0][1]}`;
  return ticks;
};

// The points of a path of straight lines. Charts use only the commands M L H V and their relative
// forms.
const pointsOf = (path) => {
  let x = 0, y = 0, first = true;
  const points = [];
  for (const [, letter, numbers] of path.matchAll(/([MLHVmlhv])([^MLHVmlhv]*)/g)) {
    const values = (numbers.match(/-?(?:\d+\.?\d*|\.\d+)/g) ?? []).map(Number), own = letter.toUpperCase();
    const isOwn = letter === own, width = own === "H" || own === "V" ? 1 : 2;
    for (let at = 0; at + width <= values.length; at += width) {
      if (own !== "V") x = (isOwn ? 0 : x) + values[at];
      if (own !== "H") y = (isOwn ? 0 : y) + values[at + width - 1];
      points.push({ x, y, isStart: first || (own === "M" && at === 0) });
      first = false;
    }
  }
  return points;
};
// The part of a path from `low` to `high`.
const cut = (path, low, high) => {
  const points = pointsOf(path);
  let said = "", end = null;
  for (let place = 1; place < points.length; place += 1) {
    const a = points[place - 1], b = points[place];
    if (b.isStart || Math.max(a.x, b.x) < low || high < Math.min(a.x, b.x)) continue;
    const at = (x) => [x, a.x === b.x ? a.y : a.y + ((x - a.x) / (b.x - a.x)) * (b.y - a.y)];
    const inside = (point) => low <= point.x && point.x <= high ? [point.x, point.y]
      : at(Math.min(Math.max(point.x, low), high));
    const from = inside(a), to = inside(b);
    said += end === from.join(" ") ? `L${to.join(" ")}` : `M${from.join(" ")}L${to.join(" ")}`;
    end = to.join(" ");
  }
  return said;
};

let plotCount = 0;
const drawPlot = (plot) => {
  const { svg, group, ticks, left, right, top, bottom } = plot;
  const isWhole = span === whole;
  plot.own?.remove();
  // A browser computes dashes along the whole line, visible or not: a line stretched a thousandfold
  // would take seconds.
  plot.dashed ??= Array.from(group.querySelectorAll("path[stroke-dasharray][fill=none]"),
    (path) => ({ path, drawn: path.getAttribute("d") }));
  ticks.style.display = isWhole ? "" : "none";
  if (isWhole) {
    for (const { path, drawn } of plot.dashed) path.setAttribute("d", drawn);
    group.removeAttribute("transform");
    group.removeAttribute("clip-path");
    for (const circle of group.querySelectorAll("circle")) circle.removeAttribute("transform");
    return;
  }
  if (plot.clip === undefined) {
    plot.clip = document.createElementNS(SVG, "rect");
    const path = document.createElementNS(SVG, "clipPath");
    path.id = `plot${(plotCount += 1)}`;
    path.append(plot.clip);
    svg.append(path);
    plot.id = path.id;
  }
  // The drawing from `from` to `until` is stretched so that the window fills the plot.
  const scale = (plot.until - plot.from) / (span[1] - span[0]);
  const place = (second) => left + ((second - plot.from) / (plot.until - plot.from)) * (right - left);
  group.setAttribute("transform", `translate(${left - scale * place(span[0])} 0) scale(${scale} 1)`);
  // Circles stay round.
  for (const circle of group.querySelectorAll("circle")) {
    const x = circle.getAttribute("cx");
    circle.setAttribute("transform", `translate(${x - x / scale} 0) scale(${1 / scale} 1)`);
  }
  const measures = { x: place(span[0]), y: top - 4, width: (right - left) / scale, height: bottom - top + 8 };
  for (const [key, measure] of Object.entries(measures)) plot.clip.setAttribute(key, measure);
  group.setAttribute("clip-path", `url(#${plot.id})`);
  for (const { path, drawn } of plot.dashed)
    path.setAttribute("d", cut(drawn, place(span[0]) - 8 / scale, place(span[1]) + 8 / scale));
  const unit = SECONDS.get(plot.unit);
  plot.own = document.createElementNS(SVG, "g");
  // Charts stored by older builds are drawn with polylines.
  const [grid, tick] = ticks.querySelectorAll("path, polyline"), text = ticks.querySelector("text");
  const marked = plot.dated === null
    ? roundTicks(span[0] / unit, span[1] / unit, mostTicks(plot, 45)).map((value) => [value * unit, amount(value)])
    : dateTicks(plot.dated, ...span, mostTicks(plot, 95));
  let taken = -Infinity;
  for (const [second, said] of marked) {
    const x = across(plot, second);
    for (const [shape, from, to] of [[grid, top, bottom], [tick, bottom, bottom + 3.6]]) {
      const line = shape.cloneNode(true);
      if (line.localName === "path") line.setAttribute("d", `M${x} ${from}V${to}`);
      else line.setAttribute("points", `${x},${from} ${x},${to}`);
      plot.own.append(line);
    }
    const label = text.cloneNode(true);
    label.setAttribute("x", x);
    label.textContent = said;
    // A date at the edge would be cut; left of its tick it may come close to the one before it.
    const half = said.length * 3.5, isAtEdge = plot.dated !== null && svg.viewBox.baseVal.width < x + half;
    if (isAtEdge) label.setAttribute("text-anchor", "end");
    if (isAtEdge && x - 2 * half < taken + 10) continue;
    taken = x + half;
    // Several labels are in a group that has their attributes.
    const home = text.parentNode === ticks ? plot.own : text.parentNode.cloneNode(false);
    home.append(label);
    if (home !== plot.own) plot.own.append(home);
  }
  ticks.before(plot.own);
};

// Shows a window in all plots. It is typed as numbers (touch, keyboard) or drawn on a chart
// (mouse).
const choose = (from, until, isTyped = false) => {
  const inside = [Math.max(whole[0], from), Math.min(whole[1], until)];
  const isPart = inside[0] < inside[1] && (whole[0] < inside[0] || inside[1] < whole[1]);
  span = isPart ? inside : whole;
  timed.forEach(drawPlot);
  document.dispatchEvent(new Event("window"));
  const isUsual = span.every((second, place) => second === usual[place]);
  remember("window", isUsual ? "" : span.map((second) => Number(second.toFixed(3))).join("-"));
  if (!isTyped) showWindow();
};
let showWindow = () => {};
if (0 < timed.length) {
  const { unit, svg, dated } = timed[0];
  const pictures = new Set(timed.map((plot) => plot.svg)).size;
  // Numbers in the unit of the axis, or dates.
  const [from, until] = ["from", "to"].map((name) => {
    const input = dated === null
      ? element("input", { type: "number", step: "any", min: whole[0] / SECONDS.get(unit), max: whole[1] / SECONDS.get(unit) })
      : element("input", { type: "datetime-local", step: 1 });
    input.setAttribute("aria-label", `Window of time, ${name}, ${dated === null ? `in ${unit}` : "UTC"}`);
    return input;
  });
  const all = element("button", { type: "button", textContent: "Show all" });
  const box = element("div", { className: "filter window" }, "Window of time: ", from, " to ", until,
    dated === null ? ` ${unit} ` : " UTC ", all, element("span", { className: "source" },
      pictures < 2 ? " or drag on a time chart." : ` or drag on a time chart; ${pictures === 2 ? "both" : `all ${pictures}`} pictures follow.`, isCut ? " The page opens at the time from which on all jobs that ended are in the log." : ""));
  const section = svg.closest(".figures") ?? svg.closest("figure");
  section.before(box);
  // The whole time needs no more digits than its axis has; a window keeps those of the drag.
  const shown = (second) => (dated === null ? `${Number((second / SECONDS.get(unit)).toFixed(span === whole ? 2 : 4))}`
    : new Date(Math.round(dated + second) * 1000).toISOString().slice(0, 19));
  const secondOf = (input) => (dated === null ? input.valueAsNumber * SECONDS.get(unit) : input.valueAsNumber / 1000 - dated);
  const wholeShown = whole.map(shown);
  showWindow = () => {
    [from.value, until.value] = span.map(shown);
    all.disabled = span === whole;
  };
  const typed = () => {
    // A field that still shows the end of the whole time means that end, whatever digits are shown.
    const isWhole = (input, place) => (dated === null ? input.valueAsNumber === Number(wholeShown[place])
      : Math.abs(secondOf(input) - whole[place]) < 1);
    const seconds = [from, until].map((input, place) => (isWhole(input, place) ? whole[place] : secondOf(input)));
    if (seconds.every(Number.isFinite) && seconds[0] < seconds[1]) choose(...seconds, true);
    all.disabled = span === whole;
  };
  from.addEventListener("input", typed);
  until.addEventListener("input", typed);
  all.addEventListener("click", () => choose(...whole));
  showWindow();
}
