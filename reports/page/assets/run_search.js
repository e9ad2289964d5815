// The controls of a run's timelines: zoom, the critical path, and a search of operations.
//   orrery.runControls({range, markPath(on), mark(match), show(span)})   their element
//     mark(match): match(span) says which operations are found, null: none are looked for; show(span): brings one in sight
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
    if (number !== undefined && key === "rank") return of.rank === Number(number);
    if (number !== undefined && columns[key]) return columns[key][op] === Number(number);
    return run.labels[model.ops.label[op]].toLowerCase().includes(word);
  };
  const matcher = (text) => {
    const words = text.toLowerCase().replace(/(layer|micro-?batch|mb|rank|chunk)\s+(\d+)/g, "$1:$2").split(/\s+/).filter(Boolean);
    if (words.length === 0) return null;
    return (span) => {
      const of = run.classes[model.classOf(span)];
      return words.every((word) => fits(word, span, of));
    };
  };

  const search = { text: "", matches: [], at: -1 };
  const found = el("span", { class: "found", "aria-live": "polite" });
  const input = el("input", { type: "search", placeholder: "attention layer 3 micro-batch 7", "aria-label": "Search operations", size: 28 });
  const find = () => {
    if (search.text === input.value) return;
    const match = matcher(input.value);
    Object.assign(search, { text: input.value, matches: [], at: -1 });
    for (let span = 0; match && span < model.start.length; ++span) if (match(span)) search.matches.push(span);
    search.matches.sort((a, b) => model.start[a] - model.start[b]);
    found.textContent = match ? `${format.count(search.matches.length)} found` : "";
    const marked = new Set(search.matches);
    mark(match && ((span) => marked.has(span)));
  };
  const next = (by) => {
    find();
    const { matches } = search;
    if (matches.length === 0) return;
    search.at = (search.at + by + matches.length) % matches.length;
    show(matches[search.at]);
    found.textContent = `${search.at + 1} of ${format.count(matches.length)}: ${model.label(matches[search.at])}`;
  };
  input.addEventListener("change", find);
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") next(event.shiftKey ? -1 : 1); });

  return el("div", { class: "controls" }, moves(), pathButton, input, button("Next", "Next operation found", () => next(1)), found);
};
