// The page of gossip graphs: what each is worth, its mixing matrix as a heat map, and who sends to whom.
"use strict";

(() => {
  const { data, el, format, section, figure, figures, table, choice } = orrery;
  const name = (row) => `${row.topology}, ${format.plural(row.workers, "worker")}`;
  const good = data.filter((row) => !row.problem);
  const drawn = good.filter((row) => row.matrices);
  const kSide = 420;  // of a drawing, in pixels
  const kMostNamed = 64;  // workers whose numbers have room

  const canvas = (label, draw) => {
    const element = el("canvas", { class: "drawing", role: "img", "aria-label": label });
    orrery.painted(element, () => {
      element.width = kSide * devicePixelRatio;
      element.height = kSide * devicePixelRatio;
      element.style.width = `${kSide}px`;
      const context = element.getContext("2d");
      context.scale(devicePixelRatio, devicePixelRatio);
      draw(context);
    });
    return element;
  };

  const entries = (mixing, use) => {
    for (let i = 0; i < mixing.self.length; ++i) {
      if (mixing.self[i] !== 0) use(i, i, mixing.self[i]);
      for (let at = mixing.begin[i]; at < mixing.begin[i + 1]; ++at) use(i, mixing.from[at], mixing.weight[at]);
    }
  };
  const weightAt = (mixing, i, j) => {
    if (i === j) return mixing.self[i];
    for (let at = mixing.begin[i]; at < mixing.begin[i + 1]; ++at) if (mixing.from[at] === j) return mixing.weight[at];
    return 0;
  };

  // Row i: what worker i takes of the others' models. Stronger is more.
  const heat = (row, round) => {
    const mixing = row.matrices[round];
    const n = row.workers;
    const most = Math.max(...mixing.self, ...mixing.weight);
    const cell = kSide / n;
    const element = canvas(`mixing matrix of ${name(row)}, round ${round + 1}`, (context) => {
      context.fillStyle = orrery.style("raised");
      context.fillRect(0, 0, kSide, kSide);
      context.fillStyle = orrery.style("accent");
      const gap = cell > 8 ? 1 : 0;
      entries(mixing, (i, j, weight) => {
        context.globalAlpha = 0.15 + 0.85 * weight / most;
        context.fillRect(j * cell, i * cell, Math.max(0.5, cell - gap), Math.max(0.5, cell - gap));
      });
      context.globalAlpha = 1;
    });
    element.addEventListener("mousemove", (event) => {
      const box = element.getBoundingClientRect();
      const [j, i] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map((v) => Math.min(n - 1, Math.max(0, Math.floor(v * n))));
      orrery.tooltip.show(event.clientX, event.clientY, [`worker ${i} takes from worker ${j}`, ["weight", format.digits(weightAt(mixing, i, j), 4)]]);
    });
    element.addEventListener("mouseleave", () => orrery.tooltip.hide());
    return el("figure", {}, element, el("figcaption", { class: "note" },
      `Row: who takes, column: from whom. Strongest: ${format.digits(most, 4)}; nothing: 0.`));
  };

  // Workers on a circle, from the top clockwise.
  const graph = (row, round) => {
    const mixing = row.matrices[round];
    const n = row.workers;
    const radius = kSide / 2 - 26;
    const at = (i, r = radius) => [kSide / 2 + r * Math.sin(2 * Math.PI * i / n), kSide / 2 - r * Math.cos(2 * Math.PI * i / n)];
    const element = canvas(`graph of ${name(row)}, round ${round + 1}`, (context) => {
      context.strokeStyle = orrery.style("accent");
      let edges = 0;
      entries(mixing, (i, j) => { if (i !== j) edges += 1; });
      context.globalAlpha = Math.min(0.9, Math.max(0.08, 60 / edges));
      context.lineWidth = 1.2;
      entries(mixing, (i, j) => {
        if (i === j) return;
        const [x0, y0] = at(j);
        const [x1, y1] = at(i);
        const bend = weightAt(mixing, j, i) > 0 ? 0 : 0.12;  // one-way edges bend, so that a pair of them shows
        context.beginPath();
        context.moveTo(x0, y0);
        context.quadraticCurveTo((x0 + x1) / 2 + bend * (y1 - y0), (y0 + y1) / 2 - bend * (x1 - x0), x1, y1);
        context.stroke();
      });
      context.globalAlpha = 1;
      context.fillStyle = orrery.style("ink");
      context.font = `11px ${orrery.style("font")}`;
      context.textAlign = "center";
      context.textBaseline = "middle";
      for (let i = 0; i < n; ++i) {
        const [x, y] = at(i);
        context.beginPath();
        context.arc(x, y, n <= kMostNamed ? 4 : 1.5, 0, 2 * Math.PI);
        context.fill();
        if (n <= kMostNamed) context.fillText(String(i), ...at(i, radius + 14));
      }
    });
    return el("figure", {}, element, el("figcaption", { class: "note" }, "Straight: both ways with the same pair; bent: one way."));
  };

  const view = () => {
    const state = { row: 0, round: 0 };
    const host = el("div");
    const rounds = el("div", { class: "controls" });
    const fill = () => {
      const row = drawn[state.row];
      host.replaceChildren(figures(
        figure("spectral gap", format.digits(row.spectral_gap, 4), "per step; 1 averages at once"),
        figure("neighbours", format.count(row.degree)),
        figure("messages per step", format.digits(row.messages_per_step, 4)),
        figure("exact average after", row.exact_after_rounds === null ? format.none : format.plural(row.exact_after_rounds, "round"), row.exact_after_rounds === null ? "never within a period" : null)),
      el("div", { class: "columns" }, heat(row, state.round), graph(row, state.round)));
    };
    const chooseRow = (r) => {
      Object.assign(state, { row: Number(r), round: 0 });
      const { matrices } = drawn[state.row];
      rounds.replaceChildren(...(matrices.length < 2 ? [] : [choice("Round", matrices.map((_, i) => [i, `${i + 1} of ${matrices.length}`]), 0,
        (i) => { state.round = Number(i); fill(); })]));
      fill();
    };
    const select = choice("Graph", drawn.map((row, r) => [r, name(row)]), 0, chooseRow);
    chooseRow(0);
    const element = el("div", { class: "view" }, el("div", { class: "controls" }, select, rounds), host);
    element.show = (row) => {
      if (!drawn.includes(row)) return;
      select.querySelector("select").value = String(drawn.indexOf(row));
      chooseRow(drawn.indexOf(row));
    };
    return element;
  };

  const gaps = () => {
    const topologies = [...new Set(good.map((row) => row.topology))];
    return orrery.chart({
      label: "spectral gap against workers", x: { label: "workers", log: true, ticks: [...new Set(good.map((row) => row.workers))] }, y: { label: "spectral gap", log: true, format: (v) => format.digits(v, 2) },
      series: topologies.map((topology, t) => {
        const rows = good.filter((row) => row.topology === topology && row.spectral_gap > 0).sort((a, b) => a.workers - b.workers);
        return { name: topology, x: rows.map((row) => row.workers), y: rows.map((row) => row.spectral_gap), dash: orrery.seriesDash(t), colour: () => orrery.series(t) };
      }),
    });
  };

  orrery.start({
    title: "Graphs of gossip",
    lines: ["Who averages with whom, with which weights, and how fast that spreads."],
    build: (main) => {
      const shown = drawn.length ? view() : null;
      main.append(section("table", "Graphs", shown ? "A row shows its matrix and graph below." : null, table({
        rows: data, onRow: (row) => shown?.show(row), columns: [
          { title: "topology", get: (row) => row.topology }, { title: "workers", get: (row) => row.workers },
          { title: "neighbours", get: (row) => row.degree ?? null }, { title: "messages per step", get: (row) => row.messages_per_step ?? null },
          { title: "spectral gap", get: (row) => row.spectral_gap ?? null, show: (v) => (v === null ? format.none : format.digits(v, 4)) },
          { title: "exact after", get: (row) => row.exact_after_rounds ?? null },
          { title: "weights", get: (row) => row.largest_weight ?? null, show: (v, row) => (v === null ? format.none
            : row.largest_weight - row.smallest_weight < 1e-12 ? format.digits(v, 4) : `${format.digits(row.smallest_weight, 3)} to ${format.digits(v, 3)}`) },
          ...(data.some((row) => row.problem) ? [{ title: "why there is none", get: (row) => row.problem ?? "" }] : [])],
      })));
      if (shown) main.append(section("matrix", "Mixing matrix and graph", null, shown));
      if (good.length > drawn.length) main.append(orrery.notice("note", "Too large to draw", good.filter((row) => !row.matrices).map(name)));
      if (new Set(good.map((row) => row.workers)).size > 1) main.append(section("gaps", "Spectral gap against the number of workers", null, gaps()));
    },
  });
})();
