// The controls of a run's timelines: zoom, the critical path, and a search of operations.
//   orrery.runControls({range, markPath(on), mark(match), show(span)})   their element
//     mark(match): match(span, rank) says which operations of a rank's row are found, null: none are looked for
//     show(span, rank): brings one in sight, of that rank, or where it is null of the rank that stands for those alike
"use strict";

orrery.runControls = ({ range, markPath, mark, show }) => {
  const { el, format, run, model } = orrery;
  const button = (text, label, action) => el("button", { type: "button", "aria-label": label, on: { click: action } }, text);
  const moves = () => [button("+", "Zoom in", () => range.zoom(0.5)), button("\u2212", "Zoom out", () => range.zoom(2)),
    button("\u2190", "Earlier", () => range.move(-0.3)), button("\u2192", "Later", () => range.move(0.3)),
    button("All", "Show all", () => range.all())];

  const pathButton = el("button", { type: "button", "aria-pressed": "false" }, "Mark the critical path");
  pathButton.addEventListener("click", () => {
    const on = pathButton.getAttribute("aria-pressed") === "false";
    pathButton.setAttribute("aria-pressed", String(on));
    markPath(on);
  });

  // All words have to occur: in the name, or as layer 3, micro-batch 7, rank 12, chunk 1.
  const columns = { layer: model.ops.layer, microbatch: model.ops.microBatch, "micro-batch": model.ops.microBatch,
    mb: model.ops.microBatch, chunk: model.ops.chunk };
  const fits = (word, span, of) => {
    const op = model.opOf(span, of);
    const [key, number] = word.split(":");
    if (number !== undefined && columns[key]) return columns[key][op] === Number(number);
    return run.labels[model.ops.label[op]].toLowerCase().includes(word);
  };
  // {words, rank}: of which rank, null: of all. A rank has the operations of those that it is simulated as one with.
  const queryOf = (text) => {
    const all = text.toLowerCase().replace(/(layer|micro-?batch|mb|rank|chunk)\s+(\d+)/g, "$1:$2").split(/\s+/).filter(Boolean);
    const rank = all.find((word) => /^rank:\d+$/.test(word));
    return { words: all.filter((word) => word !== rank), rank: rank ? Number(rank.split(":")[1]) : null };
  };
  const matches = ({ words, rank }) => {
    const found = [];
    const only = rank === null ? -1 : model.classOfRank(rank);
    if ((words.length === 0 && rank === null) || (rank !== null && only < 0)) return found;
    run.classes.forEach((of, c) => {
      if (rank !== null && c !== only) return;
      for (let k = 0; k < of.ops; ++k) {
        const span = of.first_span + k;
        if (words.every((word) => fits(word, span, of))) found.push(span);
      }
    });
    return found.sort((a, b) => model.start[a] - model.start[b]);
  };
  const missing = (rank) => {
    if (rank === null || model.classOfRank(rank) >= 0) return "";
    return rank < run.ranks ? `: rank ${rank} is not on this page` : `: ranks are 0 to ${run.ranks - 1}`;
  };

  const search = { text: "", rank: null, matches: [], at: -1 };
  const found = el("span", { class: "found", "aria-live": "polite" });
  const input = el("input", { type: "search", placeholder: "attention layer 3 micro-batch 7", "aria-label": "Search operations", size: 28 });
  const find = () => {
    if (search.text === input.value) return;
    const query = queryOf(input.value);
    const empty = query.words.length === 0 && query.rank === null;
    Object.assign(search, { text: input.value, rank: query.rank, matches: matches(query), at: -1 });
    found.textContent = empty ? "" : `${format.count(search.matches.length)} found${missing(query.rank)}`;
    const marked = new Set(search.matches);
    // The row of those alike stands for each of them.
    const isOf = (span, rank) => query.rank === null || rank === query.rank || rank === run.classes[model.classOf(span)].rank;
    mark(empty ? null : (span, rank) => marked.has(span) && isOf(span, rank));
  };
  const next = (by) => {
    find();
    const { matches: list, rank } = search;
    if (list.length === 0) return;
    search.at = search.at < 0 && by < 0 ? list.length - 1 : (search.at + by + list.length) % list.length;
    show(list[search.at], rank);
    found.textContent = `${search.at + 1} of ${format.count(list.length)}: ${model.label(list[search.at])}${rank === null ? "" : ` of rank ${rank}`}`;
  };
  input.addEventListener("change", find);
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") next(event.shiftKey ? -1 : 1); });

  return el("div", { class: "controls" }, moves(), pathButton, input, button("Next", "Next operation found", () => next(1)), found);
};
