// Tables whose columns sort by a click or a key.
//   orrery.table({columns, rows, caption, sort, limit, onRow})
//     columns: [{title, unit, get(row), show(value, row), numeric, sort}]
//              get: the value, by which the column sorts; show: its text or element, by default format.value, and
//              as many decimals for all numbers of a column;
//              numeric: to the right, by default where all values are numbers or null; sort: false switches it off
//     sort: {column: index, descending}       the order at first; none keeps that of the rows
//     limit: rows shown before "Show all"     default 50
//     onRow(row): makes rows open something by a click or Enter
// Answers the element; element.setRows(rows) replaces the rows.
"use strict";

orrery.table = ({ columns, rows, caption, sort = null, limit = 50, onRow }) => {
  const { el, format } = orrery;
  let all = rows;
  let order = sort;
  let open = false;

  const isNumeric = (column) => column.numeric
    ?? all.every((row) => { const v = column.get(row); return v === null || v === undefined || typeof v === "number"; });
  const compare = (a, b) => {
    const none = (v) => v === null || v === undefined || Number.isNaN(v);
    if (none(a) || none(b)) return none(a) - none(b) || 0;
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
  };
  const sorted = () => {
    if (!order) return all;
    const { get } = columns[order.column];
    const none = (v) => v === null || v === undefined || Number.isNaN(v);
    return [...all].sort((a, b) => {
      const result = compare(get(a), get(b));
      return order.descending && !none(get(a)) && !none(get(b)) ? -result : result;
    });
  };

  // Decimals with which the largest number of a column has five digits; none for whole numbers.
  const decimalsOf = (column) => {
    const numbers = all.map(column.get).filter((v) => Number.isFinite(v));
    if (numbers.every(Number.isInteger)) return 0;
    const largest = numbers.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
    return Math.min(9, Math.max(0, 4 - Math.floor(Math.log10(largest))));
  };
  const shown = (value, row, column, decimals) => {
    if (column.show) return column.show(value, row);
    return typeof value === "number" ? value.toFixed(decimals) : format.value(value);
  };
  const cell = (row, column, { numeric, decimals }) => {
    const value = column.get(row);
    const content = shown(value, row, column, decimals);
    const long = typeof content === "string" && content.length > 80;
    return el("td", { class: numeric ? "number" : null, dir: numeric ? null : "auto" },
      long ? el("div", { class: "long" }, content) : content);
  };
  const line = (row, layout) => {
    const open = onRow && (() => onRow(row));
    return el("tr", {
      class: onRow ? "opens" : null,
      tabindex: onRow ? 0 : null,
      on: onRow ? { click: open, keydown: (event) => { if (event.key === "Enter") open(); } } : {},
    }, columns.map((column, c) => cell(row, column, layout[c])));
  };

  const head = el("tr");
  const body = el("tbody");
  const more = el("button", { type: "button", class: "more", on: { click: () => { open = true; fill(); } } });
  const sortBy = (c) => {
    const numeric = isNumeric(columns[c]);
    order = { column: c, descending: order?.column === c ? !order.descending : numeric };
    fill();
    head.children[c].querySelector("button").focus();
  };
  const heading = (column, c, numeric) => {
    const chosen = order?.column === c;
    const title = column.unit ? [column.title, el("span", { class: "unit" }, ` ${column.unit}`)] : column.title;
    const mark = chosen ? (order.descending ? " \u25be" : " \u25b4") : "";
    return el("th", {
      scope: "col", class: numeric ? "number" : null,
      "aria-sort": chosen ? (order.descending ? "descending" : "ascending") : null,
    }, column.sort === false || !column.title ? title
      : el("button", { type: "button", on: { click: () => sortBy(c) } }, title, mark));
  };
  const fill = () => {
    const layout = columns.map((column) => {
      const numeric = isNumeric(column);
      return { numeric, decimals: numeric && !column.show ? decimalsOf(column) : 0 };
    });
    const listed = open ? sorted() : sorted().slice(0, limit);
    head.replaceChildren(...columns.map((column, c) => heading(column, c, layout[c].numeric)));
    body.replaceChildren(...listed.map((row) => line(row, layout)));
    more.hidden = listed.length === all.length;
    more.textContent = `Show all ${format.count(all.length)}`;
  };
  fill();

  const element = el("div", { class: "table" },
    el("table", {}, caption ? el("caption", {}, caption) : null, el("thead", {}, head), body), more);
  element.setRows = (next) => { all = next; fill(); };
  return element;
};
