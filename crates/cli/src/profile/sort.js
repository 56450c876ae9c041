// Sorts the rows of a table by the column whose title is pressed: numbers from the largest, code and lines from
// the first; once more turns that round. Cells without a value stay last.
"use strict";
for (const table of document.querySelectorAll("table.profile")) {
  const titles = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const sort = (column, up) => {
    const value = (row) => {
      const text = row.cells[column].dataset.by;
      return text === undefined ? undefined : Number(text);
    };
    const rows = [...body.rows].map((row) => [value(row), row]);
    rows.sort(([a], [b]) => a === undefined || b === undefined
      ? (a === undefined) - (b === undefined)
      : up ? a - b : b - a);
    body.append(...rows.map(([, row]) => row));
    titles.forEach((title, i) => {
      title.setAttribute("aria-sort", i !== column ? "none" : up ? "ascending" : "descending");
    });
  };
  titles.forEach((title, column) => title.querySelector("button").addEventListener("click", () => {
    const first = title.classList.contains("code");
    const now = title.getAttribute("aria-sort");
    sort(column, now === "none" ? first : now === "descending");
  }));
}
