// The network of a run's page: from the fabric down to the GPUs of a node, what is alike drawn once, with the load of
// links as colour.
//   orrery.network()   its section, null where the run has no links
"use strict";

orrery.network = () => {
  const { el, section, format, table, run } = orrery;
  if (!run || run.links.length === 0) return null;
  const svg = (tag, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  // From the paper's grey to the colour of messages, by the busiest link.
  const paint = (line, share) => orrery.painted(line, () => {
    const part = Math.round(100 * Math.min(1, Math.max(0.06, Math.sqrt(share))));
    line.style.stroke = `color-mix(in oklab, ${orrery.colour(orrery.activities.findIndex((one) => one.name === "messages between stages"))} ${part}%, ${orrery.style("rule")})`;
  });
  const width = 760;
  const text = (x, y, words, kind = "") => svg("text", { x, y, class: kind }, words);
  const box = (x, y, w, h, kind) => svg("rect", { x, y, width: w, height: h, rx: 4, class: kind });

  const names = { nvlink: "links within the node", pcie: "PCIe of the node", nic: "NICs", fabric: "links of the fabric", graph: "links of the graph", wan: "links between sites" };
  const of = (...kinds) => run.links.filter((link) => kinds.includes(link.kind));
  const words = (link) => `${names[link.kind]}: ${format.count(link.links)} of ${format.scaled(link.bytes_per_s, "B/s")}`;
  const load = (link) => `busiest ${format.percent(link.peak)}, mean ${format.percent(link.mean)}`;

  const picture = () => {
    const drawing = [];
    let y = 8;
    const level = (links) => {
      for (const link of links) {
        const middle = 120;
        drawing.push(paint(svg("line", { x1: middle, x2: middle, y1: y, y2: y + 46, "stroke-width": 7 }), link.peak),
          text(middle + 22, y + 20, words(link)), text(middle + 22, y + 37, load(link), "muted"));
        y += 46;
      }
    };
    const bar = (title, note) => {
      drawing.push(box(0, y, 240, 30, "vertex"), text(12, y + 20, title), text(256, y + 20, note, "muted"));
      y += 30;
    };
    const nodes = Math.ceil(run.ranks / run.gpus_per_node);
    const wide = of("wan");
    const core = of("fabric", "graph");
    const local = of("nvlink", "pcie");
    const entry = of("nic");
    if (wide.length > 0) { bar("between sites", "wide-area network"); level(wide); }
    if (core.length > 0) { bar(core[0].kind === "graph" ? "graph of GPUs" : "fabric", "switches between the nodes"); level(core); }
    if (entry.length > 0) { if (core.length === 0) bar("switch", ""); level(entry); }
    bar(nodes > 1 ? `node, ${format.count(nodes)} alike` : "node", `${format.count(run.gpus_per_node)} GPUs each`);
    level(local);
    const shown = Math.min(run.gpus_per_node, 8);
    for (let g = 0; g < shown; ++g) drawing.push(box(g * 62, y + 6, 52, 26, "vertex"), text(g * 62 + 9, y + 23, `GPU ${g}`));
    if (run.gpus_per_node > shown) drawing.push(text(shown * 62 + 6, y + 23, `and ${format.count(run.gpus_per_node - shown)} more`, "muted"));
    return svg("svg", { viewBox: `0 0 ${width} ${y + 40}`, class: "network", role: "img", "aria-label": "The network from the fabric to the GPUs of a node; the table below has the same figures" }, ...drawing);
  };

  return section("network", "Network", "What is alike is drawn once, with how many there are; the darker a link, the busier the busiest of its kind.",
    picture(), table({
      rows: run.links,
      columns: [
        { title: "links", get: (row) => names[row.kind] },
        { title: "how many", get: (row) => row.links, show: (v) => format.count(v) },
        { title: "each carries up to", get: (row) => row.bytes_per_s, show: (v) => format.scaled(v, "B/s") },
        { title: "bytes in all", get: (row) => row.bytes, show: (v) => format.bytes(v) },
        { title: "mean load", get: (row) => row.mean, show: (v) => format.percent(v, 2) },
        { title: "busiest", get: (row) => row.peak, show: (v) => format.percent(v, 2) },
      ],
    }));
};
