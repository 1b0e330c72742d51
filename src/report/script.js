"use strict";
// Without scripting everything is read as it is; with it, tables sort by column and filter, and
// charts show values under the pointer.
for (const table of document.querySelectorAll("table.data")) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const headers = Array.from(table.tHead.rows[0].cells);
  const value = (row, column) => {
    const cell = row.cells[column];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
  };
  const compare = (one, other, sign) => {
    // What is no number comes after what is one, in either order.
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    if (typeof one === "number") return sign * (one - other);
    return sign * one.localeCompare(other, "en", { numeric: true });
  };
  const caption = table.caption ? table.caption.textContent : "";
  headers.forEach((header, column) => {
    const isNumber = rows.some((row) => typeof value(row, column) === "number");
    // Above its numbers, which stand to the right.
    header.classList.toggle("number", isNumber);
    if (rows.length < 2) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    header.textContent = "";
    header.append(button);
    header.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      // Numbers from the largest first, names from the first.
      const before = header.getAttribute("aria-sort");
      const first = isNumber ? "descending" : "ascending";
      const second = isNumber ? "ascending" : "descending";
      const order = before === first ? second : first;
      headers.forEach((other) => other.setAttribute("aria-sort", "none"));
      header.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      rows.sort((one, other) => compare(value(one, column), value(other, column), sign));
      body.append(...rows);
    });
  });
  if (rows.length > 12) {
    const filter = document.createElement("div");
    filter.className = "filter";
    const label = document.createElement("label");
    label.textContent = "Show rows with ";
    const input = document.createElement("input");
    input.type = "search";
    // A page may have several: heard alone, each says which table it is for.
    input.setAttribute("aria-label", `Show rows with, in the table: ${caption}`);
    const count = document.createElement("span");
    count.setAttribute("role", "status");
    label.append(input);
    filter.append(label, " ", count);
    table.parentElement.before(filter);
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const places = new Map(rows.map((row, place) => [row, place]));
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = !texts[places.get(row)].includes(wanted);
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = wanted === "" ? "" : `${shown} of ${rows.length}`;
    });
  }
}

// A box that scrolls is a stop of the tab key, so that arrow keys reach what it hides; a box that
// shows all of its table is none.
const sizes = new ResizeObserver((entries) => {
  for (const box of new Set(entries.map((entry) => entry.target.closest(".table")))) {
    const hides = box.clientWidth < box.scrollWidth || box.clientHeight < box.scrollHeight;
    const caption = box.querySelector("caption");
    const said = { tabindex: "0", role: "region", "aria-label": caption ? caption.textContent : "Table" };
    for (const [name, text] of Object.entries(said)) {
      if (hides) box.setAttribute(name, text);
      else box.removeAttribute(name);
    }
  }
});
for (const box of document.querySelectorAll(".table")) {
  sizes.observe(box);
  sizes.observe(box.firstElementChild);
}

// Values of a chart: `g.values` holds a circle or a rectangle for each, in the order in which the
// arrow keys go. Lengths are in units of the drawing.
const CIRCLE_REACH = 40;
const BAR_REACH = 12;
// Values in the same place that are all named.
const TOGETHER_MAX = 6;

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
// What is shown is said by the region beside it, and only to who steps through by keys.
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
  // A dark line on a wider light one is seen on every colour.
  const names = value === null ? [] : ["halo", "ring"];
  marks.replaceChildren(...names.map((name) => ring(svg, value, name)));
  tip.textContent = text;
  tip.hidden = false;
  place();
};

// Curves that run one on the other are all named, above what they have in common.
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
  // Otherwise the browser shows it as well, a second later.
  if (title !== null) title.remove();
  const of = (name) => Number(shape.getAttribute(name));
  const isCircle = shape.localName === "circle";
  const [left, top] = isCircle ? [of("cx"), of("cy")] : [of("x"), of("y")];
  const [right, bottom] = isCircle ? [left, top] : [left + of("width"), top + of("height")];
  return { text: shape.dataset.text, isCircle, left, top, right, bottom };
};

for (const svg of document.querySelectorAll("figure svg")) {
  const values = Array.from(svg.querySelectorAll("g.values > circle, g.values > rect"), read);
  if (values.length === 0) continue;
  const marks = document.createElementNS(svg.namespaceURI, "g");
  marks.setAttribute("class", "marks");
  svg.append(marks);
  svg.setAttribute("tabindex", "0");
  // The value that the arrow keys go on from.
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
      // Of two at the same distance the later is drawn above the other.
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
    // A finger that moves scrolls the page; a tap ends as a click.
    if (event.pointerType !== "touch") point(event);
  });
  svg.addEventListener("click", point);
  svg.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") hide();
  });

  svg.addEventListener("keydown", (event) => {
    // With another key held they are the browser's: back, forward.
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const last = values.length - 1;
    const steps = new Map([
      ["ArrowLeft", Math.max(current - 1, 0)],
      ["ArrowRight", Math.min(current + 1, last)],
      ["Home", 0],
      ["End", last],
    ]);
    if (!steps.has(event.key)) return;
    event.preventDefault();
    current = steps.get(event.key);
    const value = values[current];
    show(svg, marks, value.text, (value.left + value.right) / 2, value.top, value);
    // Lines are heard as parts of a sentence.
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
