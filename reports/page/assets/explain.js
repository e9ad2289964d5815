// The page of an explanation: where a measured step takes longer than the simulated one, and both timelines.
"use strict";

(() => {
  const { data, el, format, section, figure, figures, table, legend } = orrery;
  const seconds = (value) => (value === null ? format.none : format.duration(value));
  const kLane = 22;   // height of a timeline, in pixels
  const kLabel = 130; // room for names of ranks

  const activity = (name) => orrery.activities.findIndex((one) => one.name === name);
  const kinds = [
    ["kernels", activity("forward")], ["optimizer", activity("optimizer")],
    ["exposed communication", activity("tensor communication")], ["stragglers", activity("gradients and parameters")],
    ["host", activity("host")], ["data loading", activity("messages between stages")], ["bubble", activity("bubble")],
    ["contention", activity("recomputation")],
  ];
  const kindOf = (term) => {
    if (term.startsWith("exposed_")) return 2;
    const at = ["optimizer", "stragglers", "host", "data_loading", "bubble", "contention"].indexOf(term);
    return at < 0 ? 0 : [1, 3, 4, 5, 6, 7][at];
  };

  const termTable = () => table({
    rows: data.terms, sort: null, limit: 40, columns: [
      { title: "term", get: (row) => row.term },
      { title: "simulated", get: (row) => row.simulated_s, show: seconds },
      { title: "measured", get: (row) => row.measured_s, show: seconds },
      { title: "more", get: (row) => row.difference_s, show: (v) => (v > 0 ? `+${seconds(v)}` : seconds(v)) },
      { title: "most on rank", get: (row) => row.ranks[0]?.rank ?? null, show: (v) => (v === null ? format.none : String(v)) },
    ],
  });

  // Two lines a rank, measured above simulated, on one scale of time.
  const timelines = () => {
    const lanes = data.lanes;
    const end = Math.max(...lanes.map((lane) => lane.finish_s.at(-1) ?? 0));
    const element = el("canvas", { class: "drawing", role: "img", "aria-label": "timelines of measured and simulated ranks" });
    let width = 0;
    const draw = () => {
      width = Math.max(320, element.parentElement?.clientWidth ?? 900);
      element.width = width * devicePixelRatio;
      element.height = lanes.length * kLane * devicePixelRatio;
      element.style.width = `${width}px`;
      const context = element.getContext("2d");
      context.scale(devicePixelRatio, devicePixelRatio);
      lanes.forEach((lane, i) => {
        const y = i * kLane;
        context.fillStyle = orrery.style("ink");
        context.font = "12px sans-serif";
        context.fillText(`${lane.rank} ${lane.side}`, 2, y + kLane - 8);
        lane.term.forEach((term, k) => {
          const x = kLabel + (width - kLabel) * lane.start_s[k] / end;
          context.fillStyle = orrery.colour(kinds[kindOf(data.names[term])][1]);
          context.fillRect(x, y + 2, Math.max(0.5, (width - kLabel) * (lane.finish_s[k] - lane.start_s[k]) / end), kLane - 5);
        });
      });
    };
    element.addEventListener("mousemove", (event) => {
      const box = element.getBoundingClientRect();
      const lane = lanes[Math.min(lanes.length - 1, Math.max(0, Math.floor((event.clientY - box.top) / kLane)))];
      const at = (event.clientX - box.left - kLabel) / (width - kLabel) * end;
      const k = lane.start_s.findIndex((start, i) => start <= at && at < lane.finish_s[i]);
      if (k < 0) return orrery.tooltip.hide();
      return orrery.tooltip.show(event.clientX, event.clientY, [`rank ${lane.rank}, ${lane.side}`,
        [data.names[lane.term[k]], seconds(lane.finish_s[k] - lane.start_s[k])], ["from", seconds(lane.start_s[k])]]);
    });
    element.addEventListener("mouseleave", () => orrery.tooltip.hide());
    orrery.onTheme(draw);
    addEventListener("resize", draw);
    requestAnimationFrame(draw);
    return [legend(kinds.map(([name, a]) => ({ name, colour: () => orrery.colour(a) }))), el("div", {}, element)];
  };

  const sentences = (list) => el("ul", {}, list.map((text) => el("li", {}, text)));

  orrery.start({
    title: data.name || "Explanation",
    lines: ["A measured run beside the simulated one. Terms add up to the difference."],
    build: (main) => {
      main.append(figures(
        figure(`measured ${data.of}`, seconds(data.measured_s)), figure(`simulated ${data.of}`, seconds(data.simulated_s)),
        figure("more", seconds(data.difference_s))));
      if (data.findings.length > 0)
        main.append(section("causes", "What stands behind it", "Gains are simulated.", sentences(data.findings.map((one) =>
          `${one.sentence}${one.gain_s === null ? "" : `; mended, the step changes by ${seconds(-one.gain_s)}`}`))));
      if (data.terms.length > 0) main.append(section("terms", "Where the time goes", `Mean ${data.of}.`, termTable()));
      if (data.lanes.length > 0) main.append(section("timelines", "Both timelines", "Ranks measured, and simulated below; one step each.", ...timelines()));
      main.append(section("basis", "What this rests on", data.confidence, sentences([...data.read, ...data.not_lined_up.map((text) => `not lined up: ${text}`)])));
    },
  });
})();
