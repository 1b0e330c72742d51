"use strict";
// Tables sort by column and filter; without scripting they are read as they are.
for (const table of document.querySelectorAll("table.data")) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  if (rows.length < 2) continue;
  const headers = Array.from(table.tHead.rows[0].cells);
  const value = (row, column) => {
    const cell = row.cells[column];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
  };
  const compare = (one, other) => {
    if (typeof one === "number" && typeof other === "number") return one - other;
    // What is no number comes after what is one.
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return one.localeCompare(other, "en", { numeric: true });
  };
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    header.textContent = "";
    header.append(button);
    header.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      // Numbers from the largest first, names from the first.
      const isNumber = rows.some((row) => typeof value(row, column) === "number");
      const before = header.getAttribute("aria-sort");
      const first = isNumber ? "descending" : "ascending";
      const second = isNumber ? "ascending" : "descending";
      const order = before === first ? second : first;
      headers.forEach((other) => other.setAttribute("aria-sort", "none"));
      header.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      rows.sort((one, other) => sign * compare(value(one, column), value(other, column)));
      body.append(...rows);
    });
  });
  if (rows.length > 12) {
    const label = document.createElement("label");
    label.className = "filter";
    label.textContent = "Show rows with ";
    const input = document.createElement("input");
    input.type = "search";
    const count = document.createElement("span");
    count.setAttribute("role", "status");
    label.append(input, " ", count);
    table.parentElement.before(label);
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
