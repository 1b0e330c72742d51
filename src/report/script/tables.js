"use strict";
// Pages are complete without this script. With it, tables can be sorted, filtered and downloaded,
// charts show values under the pointer, one window of time applies to all charts of a page, and a
// kill rule can be chosen by its price. Choices are kept in the address, so that a link includes
// them.
const chosen = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
const remember = (key, text) => {
  if (text === "") chosen.delete(key);
  else chosen.set(key, text);
  history.replaceState(null, "", `#${chosen}`);
};
// The address was edited, or changed by going back.
window.addEventListener("hashchange", () => {
  if (location.hash.includes("=") && location.hash.slice(1) !== `${chosen}`) location.reload();
});

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
// Six digits, and large amounts to the whole number, as in the tables.
const amount = (value) =>
  value.toLocaleString(
    "en",
    Math.abs(value) < 1e6 ? { maximumSignificantDigits: 6 } : { maximumFractionDigits: 0 },
  );

// Downloads the shown rows of a table as CSV: unit and bounds of a value are columns of their own.
const download = (table, name) => {
  const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = Array.from(table.tBodies[0].rows).filter((row) => !row.hidden);
  const columns = Array.from(table.tHead.rows[0].cells).flatMap((header, place) => {
    const own = (key) => rows.some((row) => key in row.cells[place].dataset);
    const named = header.dataset.column ?? header.textContent;
    const beside = ["unit", "low", "high"].filter(own).map((key) => ({ place, key, named: `${named}_${key}` }));
    return [{ place, key: "value", named }, ...beside];
  });
  const cell = (row, { place, key }) => {
    const { dataset, textContent } = row.cells[place];
    return quoted(dataset[key] ?? (key === "value" ? dataset.name ?? textContent : ""));
  };
  const lines = [columns.map(({ named }) => quoted(named)), ...rows.map((row) => columns.map((column) => cell(row, column)))];
  const text = lines.map((line) => line.join(",") + "\n").join("");
  const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  element("a", { href, download: `${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
};

Array.from(document.querySelectorAll("table.data")).forEach((table, number) => {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  // Other scripts read the rows in the order of the page.
  rows.forEach((row, place) => { row.dataset.place = place; });
  const headers = Array.from(table.tHead.rows[0].cells);
  const value = (row, column) => {
    const cell = row.cells[column];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
  };
  const compare = (one, other, sign) => {
    // Texts come after numbers, in either direction.
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    if (typeof one === "number") return sign * (one - other);
    return sign * one.localeCompare(other, "en", { numeric: true });
  };
  const caption = table.caption ? table.caption.textContent : "";
  headers.forEach((header, column) => {
    const isNumber = rows.some((row) => typeof value(row, column) === "number");
    // Aligned to the right, like its numbers.
    header.classList.toggle("number", isNumber);
    if (rows.length < 2 || table.classList.contains("measures")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    header.textContent = "";
    header.append(button);
    header.setAttribute("aria-sort", "none");
    const sort = (direction) => {
      headers.forEach((other) => other.setAttribute("aria-sort", "none"));
      header.setAttribute("aria-sort", direction);
      const sign = direction === "ascending" ? 1 : -1;
      // Sorting starts from the order of the page, so an address always gives the same order.
      const order = [...rows];
      order.sort((one, other) => compare(value(one, column), value(other, column), sign));
      body.append(...order);
    };
    const key = `sort${number}`;
    button.addEventListener("click", () => {
      // The first click sorts numbers from the largest, names from the first.
      const before = header.getAttribute("aria-sort");
      const first = isNumber ? "descending" : "ascending";
      const second = isNumber ? "ascending" : "descending";
      const order = before === first ? second : first;
      sort(order);
      remember(key, `${column}-${order}`);
    });
    const before = /^(\d+)-((?:as|des)cending)$/.exec(chosen.get(key) ?? "");
    if (before !== null && Number(before[1]) === column) sort(before[2]);
  });
  if (rows.length < 2) return;
  const tools = element("div", { className: "filter" });
  table.parentElement.before(tools);
  if (rows.length > 12) {
    const input = element("input", { type: "search" });
    // A page may have several filters: for screen readers the label names the table.
    input.setAttribute("aria-label", `Show rows with, in the table: ${caption}`);
    const count = element("span");
    count.setAttribute("role", "status");
    tools.append(element("label", {}, "Show rows with ", input), " ", count, " ");
    // A text is found in one cell, or in the whole name that a short one stands for.
    const whole = (cell) => `${cell.dataset.name ?? ""}\n${cell.textContent}`;
    const texts = new Map(rows.map((row) => [row, [...row.cells].map(whole).join("\n").toLowerCase()]));
    const filter = () => {
      const wanted = input.value.toLowerCase();
      for (const row of rows) row.hidden = !texts.get(row).includes(wanted);
      // A search also finds the folded rows.
      table.closest(".idles")?.classList.toggle("searched", wanted !== "");
      const shown = rows.filter((row) => !row.hidden).length;
      count.textContent = wanted === "" ? "" : `${shown} of ${rows.length}`;
    };
    const key = `rows${number}`;
    input.addEventListener("input", () => {
      filter();
      remember(key, input.value);
    });
    input.value = chosen.get(key) ?? "";
    filter();
  }
  const save = element("button", { type: "button", textContent: "Download these rows" });
  save.setAttribute("aria-label", `Download these rows as CSV: ${caption}`);
  const name = caption.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
  save.addEventListener("click", () => download(table, name || "table"));
  tools.append(save);
});

// A box that scrolls can be reached with the tab key, so that arrow keys show what it hides. A box
// that shows its whole table cannot.
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
