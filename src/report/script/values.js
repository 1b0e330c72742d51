// Values of a chart: `g.values` holds a path for each, a point or a rectangle, in the order of the
// arrow keys (in charts stored by older builds a circle or a `rect`). Lengths are in units of the
// drawing.
const CIRCLE_REACH = 40;
const BAR_REACH = 12;
// Largest number of values in the same place that are listed.
const TOGETHER_MAX = 6;

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
// Screen readers use the region below, which changes only with the keyboard.
tip.setAttribute("aria-hidden", "true");
const spoken = document.createElement("div");
spoken.className = "spoken";
spoken.setAttribute("aria-live", "polite");
// Where the tip points: a chart and a place in it.
let shown = null;

const hide = () => {
  if (shown === null) return;
  shown.marks.replaceChildren();
  shown = null;
  tip.hidden = true;
  spoken.textContent = "";
};

const place = () => {
  if (shown === null) return;
  const at = new DOMPoint(shown.x, shown.y).matrixTransform(shown.svg.getScreenCTM());
  const { width, height } = tip.getBoundingClientRect();
  const right = document.documentElement.clientWidth - width - 4;
  const bottom = document.documentElement.clientHeight - height - 4;
  // Above, where no finger covers it, unless the window ends there.
  const above = at.y - height - 14;
  const top = Math.min(above < 4 ? at.y + 14 : above, bottom);
  tip.style.left = `${Math.max(4, Math.min(at.x - width / 2, right))}px`;
  tip.style.top = `${Math.max(4, top)}px`;
};

const ring = (svg, value, name) => {
  const mark = document.createElementNS(svg.namespaceURI, "rect");
  const wider = value.isCircle ? 7 : 2;
  const measures = {
    class: name,
    x: value.left - wider,
    y: value.top - wider,
    width: value.right - value.left + 2 * wider,
    height: value.bottom - value.top + 2 * wider,
    rx: wider,
  };
  for (const [key, measure] of Object.entries(measures)) mark.setAttribute(key, measure);
  return mark;
};

const show = (svg, marks, text, x, y, value) => {
  if (shown !== null && shown.marks !== marks) hide();
  shown = { svg, marks, x, y };
  // A dark line on a wider light one is visible on every colour.
  const names = value === null ? [] : ["halo", "ring"];
  marks.replaceChildren(...names.map((name) => ring(svg, value, name)));
  tip.textContent = text;
  tip.hidden = false;
  place();
};

// Curves that overlap are all named, above the amounts that they share.
const together = (texts) => {
  const all = [...new Set(texts)];
  const names = new Map();
  for (const text of all.slice(0, TOGETHER_MAX)) {
    const [name, ...amounts] = text.split("\n");
    const common = amounts.join("\n");
    names.set(common, [...(names.get(common) ?? []), name]);
  }
  const told = Array.from(names, ([common, own]) => `${own.join("\n")}\n${common}`.trim());
  if (TOGETHER_MAX < all.length) told.push(`and ${all.length - TOGETHER_MAX} more`);
  return told.join("\n\n");
};

const read = (shape) => {
  const title = shape.querySelector("title");
  shape.dataset.text = title === null ? "" : title.textContent;
  // Otherwise the browser would show the title as well, a second later.
  if (title !== null) title.remove();
  const of = (name) => Number(shape.getAttribute(name));
  if (shape.localName === "path") {
    const points = pointsOf(shape.getAttribute("d"));
    const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
    const [left, top, right, bottom] = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    return { text: shape.dataset.text, isCircle: left === right && top === bottom, left, top, right, bottom };
  }
  const isCircle = shape.localName === "circle";
  const [left, top] = isCircle ? [of("cx"), of("cy")] : [of("x"), of("y")];
  const [right, bottom] = isCircle ? [left, top] : [left + of("width"), top + of("height")];
  return { text: shape.dataset.text, isCircle, left, top, right, bottom };
};

for (const svg of document.querySelectorAll("figure svg")) {
  const everything = Array.from(svg.querySelectorAll("g.values > :is(path, circle, rect)"), read);
  // A chart without values may still have a window drawn on it.
  if (everything.length === 0 && !timed.some((plot) => plot.svg === svg)) continue;
  const own = timed.filter((plot) => plot.svg === svg);
  const plotOf = (value) => own.find(({ left, right, top, bottom }) => {
    const x = (value.left + value.right) / 2, y = (value.top + value.bottom) / 2;
    return left - 1 <= x && x <= right + 1 && top - 1 <= y && y <= bottom + 1;
  });
  const homes = new Map(everything.map((value) => [value, plotOf(value)]));
  // The values within the window, at their positions in it.
  const inWindow = () => everything.flatMap((value) => {
    const plot = homes.get(value);
    if (plot === undefined || span === whole) return [value];
    const moved = (x) =>
      across(plot, plot.from + ((x - plot.left) / (plot.right - plot.left)) * (plot.until - plot.from));
    const [left, right] = [moved(value.left), moved(value.right)];
    if (right < plot.left || plot.right < left) return [];
    return [{ ...value, left: Math.max(left, plot.left), right: Math.min(right, plot.right) }];
  });
  let values = everything;
  const marks = document.createElementNS(svg.namespaceURI, "g");
  marks.setAttribute("class", "marks");
  svg.append(marks);
  if (0 < everything.length) svg.setAttribute("tabindex", "0");
  // The value from which the arrow keys continue.
  let current = -1;

  const far = (value, x, y) =>
    Math.hypot(
      Math.max(value.left - x, 0, x - value.right),
      Math.max(value.top - y, 0, y - value.bottom),
    );
  const isSame = (one, other) =>
    ["left", "top", "right", "bottom"].every((edge) => Math.abs(one[edge] - other[edge]) <= 0.5);

  const point = (event) => {
    const toDrawing = svg.getScreenCTM().inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(toDrawing);
    let [found, least] = [-1, Infinity];
    values.forEach((value, number) => {
      const distance = far(value, x, y);
      const reach = value.isCircle ? CIRCLE_REACH : BAR_REACH;
      // Of two at the same distance the later one is taken: it is drawn on top.
      if (distance <= Math.min(reach, least)) [found, least] = [number, distance];
    });
    if (found < 0) return hide();
    current = found;
    const value = values[found];
    const texts = values.filter((other) => isSame(value, other)).map((other) => other.text);
    // Beside a long bar the tip stays with the pointer.
    const inside = Math.max(value.left, Math.min(x, value.right));
    return show(svg, marks, together(texts), inside, value.top, value);
  };
  svg.addEventListener("pointermove", (event) => {
    // A moving finger scrolls the page; a tap arrives as a click.
    if (event.pointerType !== "touch") point(event);
  });
  svg.addEventListener("click", point);

  // A drag over time chooses the window of the page.
  let drag = null;
  const placeOf = (event) =>
    new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  svg.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    const { x, y } = placeOf(event);
    const plot = own.find(({ left, right, top, bottom }) =>
      left <= x && x <= right && top <= y && y <= bottom);
    if (plot === undefined) return;
    const rect = document.createElementNS(SVG, "rect");
    rect.setAttribute("class", "drag");
    drag = { plot, from: x, to: x, rect };
    event.preventDefault();
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (drag === null) return;
    const { plot, from, rect } = drag;
    drag.to = Math.max(plot.left, Math.min(placeOf(event).x, plot.right));
    const measures = { x: Math.min(from, drag.to), y: plot.top, width: Math.abs(drag.to - from),
      height: plot.bottom - plot.top };
    for (const [key, measure] of Object.entries(measures)) rect.setAttribute(key, measure);
    svg.append(rect);
  });
  svg.addEventListener("pointerup", () => {
    if (drag === null) return;
    const { plot, from, to, rect } = drag;
    drag = null;
    rect.remove();
    if (Math.abs(to - from) < 6) return;
    // Without a window, each plot shows its own part of the time.
    const [low, high] = span === whole ? [plot.from, plot.until] : span;
    const second = (x) => low + ((x - plot.left) / (plot.right - plot.left)) * (high - low);
    choose(second(Math.min(from, to)), second(Math.max(from, to)));
  });
  document.addEventListener("window", () => {
    hide();
    current = -1;
    values = inWindow();
  });
  svg.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") hide();
  });

  svg.addEventListener("keydown", (event) => {
    // With a modifier key, these keys belong to the browser: back, forward.
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const last = values.length - 1;
    const steps = new Map([
      ["ArrowLeft", Math.max(current - 1, 0)],
      ["ArrowRight", Math.min(current + 1, last)],
      ["Home", 0],
      ["End", last],
    ]);
    if (!steps.has(event.key) || values.length === 0) return;
    event.preventDefault();
    current = steps.get(event.key);
    const value = values[current];
    show(svg, marks, value.text, (value.left + value.right) / 2, value.top, value);
    // With commas, a screen reader reads the lines as one sentence.
    spoken.textContent = value.text.replaceAll("\n", ", ");
    // On a small screen the chart is wider than its box.
    marks.lastElementChild.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  svg.addEventListener("focus", () => {
    if (!svg.matches(":focus-visible")) return;
    const { x, y, width } = svg.viewBox.baseVal;
    const count = values.length === 1 ? "1 value" : `${values.length} values`;
    const text = `${count}: arrow keys step through`;
    show(svg, marks, text, x + width / 2, y, null);
    spoken.textContent = text;
  });
  svg.addEventListener("blur", hide);
}

document.body.append(tip, spoken);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hide();
});
document.addEventListener("pointerdown", (event) => {
  if (shown !== null && !shown.svg.contains(event.target)) hide();
});
// The tip stays with its value when the page, or the box of the chart, moves below it.
document.addEventListener("scroll", place, { capture: true, passive: true });
window.addEventListener("resize", place);

const asked = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(chosen.get("window") ?? "");
if (whole !== null && asked !== null) choose(Number(asked[1]), Number(asked[2]));
else if (isCut) choose(...usual);
// Paper has no controls to see the rest with.
let wasUsual = false;
window.addEventListener("beforeprint", () => {
  wasUsual = isCut && span.every((second, place) => second === usual[place]);
  if (wasUsual) choose(...whole);
});
window.addEventListener("afterprint", () => {
  if (wasUsual) choose(...usual);
});

// On a phone a chart is as wide as the page. A button shows it at its own width.
for (const figure of document.querySelectorAll("figure.chart")) {
  const picture = figure.querySelector(":scope > svg, :scope > img");
  if (picture === null || figure.querySelector(".enlarge") !== null) continue;
  const button = element("button", { type: "button", className: "enlarge" });
  const show = () => {
    const isWide = figure.classList.contains("wide");
    button.textContent = isWide ? "Fit the chart to the page" : "Enlarge the chart";
    button.setAttribute("aria-pressed", isWide);
  };
  button.addEventListener("click", () => {
    figure.classList.toggle("wide");
    show();
  });
  show();
  figure.prepend(button);
}
