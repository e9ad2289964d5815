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

  const inForce = (key) => orrery.runFigures.resolved(key)?.value;
  const nodes = Math.ceil(run.ranks / run.gpus_per_node);
  const kind = inForce("cluster.fabric.kind") ?? "";
  // Names the devices between the nodes: [name, words]; the lower ones have no switch.
  const fabrics = {
    switch: ["switch", "joins all nodes"], "fat-tree": ["fat tree", "leaf switches under spines"],
    "rail-optimized": ["rails", "NIC i of every node on rail i, spines above"], dragonfly: ["dragonfly", "groups of routers"],
  };
  const wired = { ring: "ring", grid: "grid", torus: "torus", star: "star", "full-mesh": "full mesh" };

  // ---- vertices and edges of what is small: {names, places [x, y] in 0..1, edges [{from, to, link}]}, else null
  const kMostVertices = 64;
  const kMostEdges = 400;
  const circle = (n) => Array.from({ length: n }, (_, i) => [0.5 + 0.5 * Math.sin(2 * Math.PI * i / n), 0.5 - 0.5 * Math.cos(2 * Math.PI * i / n)]);
  const shapeOf = () => {
    try {
      const shape = JSON.parse(inForce("cluster.fabric.shape") ?? "[]");
      if (shape.length > 0 && shape.reduce((product, extent) => product * extent, 1) === nodes) return shape;
    } catch { /* not a list: as square as can be */ }
    let side = Math.floor(Math.sqrt(nodes));
    while (nodes % side !== 0) --side;
    return side === 1 ? [nodes] : [nodes / side, side];
  };
  const digitsOf = (i, shape) => shape.map((extent) => { const digit = i % extent; i = Math.floor(i / extent); return digit; });
  // Edges [from, to, bow]: those that would run through other vertices bend.
  const gridEdges = (shape, closed) => {
    const edges = [];
    let stride = 1;
    for (const [d, extent] of shape.entries()) {
      for (let i = 0; i < nodes; ++i) {
        const digit = Math.floor(i / stride) % extent;
        if (digit + 1 < extent) edges.push([i, i + stride, d < 2 ? 0 : -0.1]);
        else if (closed && extent > 2) edges.push([i, i - digit * stride, 0.16]);
      }
      stride *= extent;
    }
    return edges;
  };
  // Planes of the third direction beside each other, of the fourth below each other.
  const gridPlaces = (shape) => {
    const apart = shape.map((extent, d) => (d < 2 ? 1 : shape[d - 2] + 0.7));
    return fitted(Array.from({ length: nodes }, (_, i) => digitsOf(i, shape).reduce(([x, y], digit, d) =>
      (d % 2 === 0 ? [x + digit * apart[d], y] : [x, y + digit * apart[d]]), [0, 0])));
  };
  const fitted = (raw) => {
    const [xs, ys] = [raw.map(([x]) => x), raw.map(([, y]) => y)];
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    const [wide, high] = [Math.max(...xs) - left || 1, Math.max(...ys) - top || 1];
    return raw.map(([x, y]) => [(x - left) / wide, (y - top) / high]);
  };
  // Vertices push each other away and edges draw them together, from a circle, in so many rounds.
  const drawnApart = (n, edges) => {
    const places = circle(n);
    const wanted = 0.8 / Math.sqrt(n);
    for (let round = 0; round < 300; ++round) {
      const moves = places.map(() => [0, 0]);
      const pull = (i, j, force) => {
        const [dx, dy] = [places[j][0] - places[i][0], places[j][1] - places[i][1]];
        const far = Math.hypot(dx, dy) || 1e-3;
        const by = force(far) / far;
        moves[i][0] += dx * by; moves[i][1] += dy * by;
        moves[j][0] -= dx * by; moves[j][1] -= dy * by;
      };
      for (let i = 0; i < n; ++i) for (let j = i + 1; j < n; ++j) pull(i, j, (far) => -(wanted ** 2) / far);
      for (const { from, to } of edges) pull(from, to, (far) => far ** 2 / wanted);
      const most = 0.1 * (1 - round / 300);
      moves.forEach(([x, y], i) => {
        const far = Math.hypot(x, y) || 1;
        places[i][0] += x / far * Math.min(far, most);
        places[i][1] += y / far * Math.min(far, most);
      });
    }
    return fitted(places);
  };
  const explicitGraph = () => {
    let vertices, wires;
    try {
      [vertices, wires] = ["vertices", "links"].map((key) => JSON.parse(inForce(`cluster.graph.${key}`)));
    } catch {
      return null;
    }
    if (vertices.length > kMostVertices || wires.length > kMostEdges) return null;
    const links = of("graph");
    const edges = wires.map((wire) => ({
      from: vertices.indexOf(wire.from), to: vertices.indexOf(wire.to),
      link: links.find((link) => Math.abs(link.bytes_per_s / (wire.gb_per_s * 1e9) - 1) < 1e-6),
    })).filter(({ from, to, link }) => from >= 0 && to >= 0 && link);
    return { names: vertices, places: drawnApart(vertices.length, edges), edges };
  };
  const wiredNodes = () => {
    const [link] = of("nic", "fabric");
    if (!(kind in wired) || nodes < 2 || nodes > kMostVertices || !link) return null;
    const pairs = [];
    const shape = shapeOf();
    const extents = [...shape].reverse();  // neighbours in the last direction have neighbouring numbers
    if (kind === "grid" || kind === "torus") pairs.push(...gridEdges(extents, kind === "torus"));
    else if (kind === "ring") for (let i = 0; i < (nodes > 2 ? nodes : 1); ++i) pairs.push([i, (i + 1) % nodes]);
    else if (kind === "star") for (let i = 1; i < nodes; ++i) pairs.push([0, i]);
    else for (let i = 0; i < nodes; ++i) for (let j = i + 1; j < nodes; ++j) pairs.push([i, j]);
    const latticed = (kind === "grid" || kind === "torus") && shape.length > 1;
    const places = latticed ? gridPlaces(extents) : kind === "star" ? [[0.5, 0.5], ...circle(nodes - 1)] : circle(nodes);
    const what = run.gpus_per_node === 1 ? "GPU" : "node";
    return { names: places.map((_, i) => `${what} ${i}`), places, edges: pairs.map(([from, to, bow = 0]) => ({ from, to, bow, link })) };
  };

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
    const title = (said, note) => {
      drawing.push(text(0, y + 14, said), text(256, y + 14, note, "muted"));
      y += 24;
    };
    const key = (links) => {
      for (const link of links) {
        drawing.push(paint(svg("line", { x1: 0, x2: 26, y1: y + 15, y2: y + 15, "stroke-width": 7 }), link.peak),
          text(36, y + 20, words(link)), text(400, y + 20, load(link), "muted"));
        y += 24;
      }
    };
    const drawGraph = ({ names: named, places, edges }) => {
      const [left, wide, top] = [60, width - 120, y + 36];
      const side = Math.min(440, 120 + 40 * Math.ceil(Math.sqrt(named.length)));
      const at = (i) => [left + places[i][0] * wide, top + places[i][1] * side];
      for (const { from, to, bow = 0, link } of edges) {
        const [[x0, y0], [x1, y1]] = [at(from), at(to)];
        drawing.push(paint(svg("path", {
          d: `M${x0} ${y0}Q${(x0 + x1) / 2 + bow * (y1 - y0)} ${(y0 + y1) / 2 - bow * (x1 - x0)} ${x1} ${y1}`, fill: "none", class: "edge",
          "stroke-width": edges.length > 150 ? 1.5 : 4 }, svg("title", {}, `${named[from]} to ${named[to]}: ${format.scaled(link.bytes_per_s, "B/s")}, ${load(link)} of its kind`)), link.peak));
      }
      const short = named.length > 16;
      named.forEach((name, i) => {
        const [x, ly] = at(i);
        const said = short ? name.replace(/^(GPU|node) /, "") : name.length > 12 ? `${name.slice(0, 11)}\u2026` : name;
        const w = Math.max(short ? 22 : 40, 12 + 7.2 * said.length);
        drawing.push(box(x - w / 2, ly - 12, w, 24, "vertex"), svg("text", { x, y: ly + 4.5, "text-anchor": "middle" }, said));
      });
      y = top + side + (edges.some(({ bow }) => bow) ? 76 : 30);
    };

    const wide = of("wan");
    const explicit = of("graph");
    const core = of("fabric");
    const entry = of("nic");
    const local = of("nvlink", "pcie");
    if (wide.length > 0) { bar("between sites", "wide-area network"); level(wide); }
    if (explicit.length > 0) {
      const small = explicitGraph();
      title("graph of GPUs and switches", "link by link, as the experiment gives it");
      if (small) drawGraph(small);
      key(explicit);
      return finished(drawing, y);
    }
    if (kind in wired) {
      const shape = shapeOf();
      const size = kind === "grid" || kind === "torus" ? `${shape.join(" \u00d7 ")} ` : "";
      const small = wiredNodes();
      if (nodes > 1) title(`${size}${wired[kind]} of ${format.plural(nodes, "node")}`, "links from node to node, no switches");
      if (small) drawGraph(small);
      if (nodes > 1) key([...core, ...entry]);
      y += 10;
    } else {
      const [name, note] = fabrics[kind] ?? ["fabric", "between the nodes"];
      if (core.length > 0 || entry.length > 0) bar(name, note);
      level([...core, ...entry]);
    }
    if (kind in wired && run.gpus_per_node === 1 && local.length === 0) return finished(drawing, y);
    bar(nodes > 1 ? `node, ${format.count(nodes)} alike` : "node", `${format.plural(run.gpus_per_node, "GPU")}${nodes > 1 ? " each" : ""}`);
    level(local);
    const shown = Math.min(run.gpus_per_node, 8);
    for (let g = 0; g < shown; ++g) drawing.push(box(g * 62, y + 6, 52, 26, "vertex"), text(g * 62 + 9, y + 23, `GPU ${g}`));
    if (run.gpus_per_node > shown) drawing.push(text(shown * 62 + 6, y + 23, `and ${format.count(run.gpus_per_node - shown)} more`, "muted"));
    return finished(drawing, y + 40);
  };
  const finished = (drawing, height) => svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "network", role: "img",
    "aria-label": "The network from the fabric to the GPUs of a node; the table below has the same figures" }, ...drawing);

  return section("network", "Network", "What is alike is drawn once, with how many there are; the darker a link, the busier the busiest of its kind.",
    el("div", { class: "table" }, picture()), table({
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
