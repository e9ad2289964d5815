// Shows a run over time: how all GPUs spend each moment, and the memory of each stage.
//   orrery.course(range)   the figure of GPU time; orrery.memory(range) the section of memory
"use strict";

orrery.course = (range) => {
  const { el, run, column, format, activities } = orrery;
  const sums = column("course");
  const kinds = activities.length;
  const moments = sums.length / kinds;
  // Work at the bottom, waits above it, the bubble on top.
  const order = ["forward", "recomputation", "backward", "weight gradients", "optimizer", "host", "tensor communication",
    "context communication", "expert communication", "messages between stages", "gradients and parameters",
    "copies to and from the host", "bubble"].map((name) => activities.findIndex((one) => one.name === name));
  const work = 5;  // of them
  const length = run.makespan_ps / moments;
  const canvas = el("canvas", { role: "img", "aria-label": "Share of all GPUs by what they do, over time; the table Where the time goes has the sums" });
  const total = (a) => { let sum = 0; for (let at = a; at < sums.length; at += kinds) sum += sums[at]; return sum; };
  const key = order.filter((a) => total(a) > 0).map((a) => ({
    name: activities[a].name, hatched: order.indexOf(a) > work,
    colour: () => (activities[a].name === "bubble" ? orrery.style("muted") : orrery.colour(a)),
  }));
  const box = el("figure", { class: "course" }, el("figcaption", {}, "All GPUs, from moment to moment; what is hatched waits"),
    orrery.legend(key), canvas);

  const draw = () => {
    if (box.clientWidth === 0) return;
    const ratio = devicePixelRatio;
    const height = 150;
    canvas.width = box.clientWidth * ratio;
    canvas.height = height * ratio;
    canvas.style.height = `${height}px`;
    const ctx = canvas.getContext("2d");
    const left = Math.min(orrery.gutter, box.clientWidth * 0.3) * ratio;
    const scale = (canvas.width - left) / (range.to - range.from);
    for (let m = Math.floor(range.from / length); m < Math.min(moments, range.to / length); ++m) {
      const x = Math.max(left, left + (m * length - range.from) * scale);
      const right = left + ((m + 1) * length - range.from) * scale;
      let bottom = canvas.height;
      order.forEach((a, place) => {
        const part = sums[m * kinds + a] / (length * run.ranks) * canvas.height;
        if (part <= 0) return;
        ctx.fillStyle = place > work ? orrery.lanes.hatch(ctx, a) : orrery.colour(a);
        ctx.fillRect(Math.floor(x), bottom - part, Math.ceil(right) - Math.floor(x), part);
        bottom -= part;
      });
    }
    Object.assign(ctx, { fillStyle: orrery.style("muted"), font: `${11.5 * ratio}px ${orrery.style("font")}`, textAlign: "right" });
    for (const [share, at] of [[1, 10], [0.5, height / 2 + 4], [0, height - 2]]) ctx.fillText(`${100 * share} %`, left - 8 * ratio, at * ratio);
  };
  canvas.addEventListener("mousemove", (event) => {
    const left = Math.min(orrery.gutter, box.clientWidth * 0.3);
    const time = range.from + (event.offsetX - left) / (box.clientWidth - left) * (range.to - range.from);
    const m = Math.floor(time / length);
    if (event.offsetX < left || m < 0 || m >= moments) return orrery.tooltip.hide();
    const rows = order.map((a) => [activities[a].name, sums[m * kinds + a] / (length * run.ranks)]).filter(([, share]) => share > 0.0005);
    orrery.tooltip.show(event.clientX, event.clientY, [`around ${orrery.model.at(time)}`,
      ...rows.map(([name, share]) => [name, format.percent(share)])]);
  });
  canvas.addEventListener("mouseleave", () => orrery.tooltip.hide());
  range.on(draw);
  orrery.onTheme(draw);
  new ResizeObserver(draw).observe(box);
  return box;
};

orrery.memory = (range) => {
  const { el, section, run, column, format, chart, data, table } = orrery;
  const { memory } = data.result;
  const stages = memory.per_stage.map((of) => ({ name: `stage ${of.stage}`, ...of }));
  const byStage = table({
    caption: "At the peak of each stage, GB", rows: stages,
    columns: [{ title: "stage", get: (row) => row.stage },
      ...[["parameters", "parameters_gb"], ["gradients", "gradients_gb"], ["optimizer", "optimizer_gb"], ["activations", "activations_gb"],
        ["workspace", "workspace_gb"], ["peak", "peak_gb"], ["reserved", "reserved_gb"]]
        .map(([title, key]) => ({ title, get: (row) => row[key], show: (v) => (Number.isFinite(v) ? v.toFixed(2) : format.none) }))],
  });
  const parts = [];
  if (run) {
    const [stage, at, bytes] = ["stage", "at", "bytes"].map((name) => column(`memory.${name}`));
    const series = [];
    for (let i = 0; i < stage.length; ++i) {
      series[stage[i]] ??= { name: `stage ${stage[i]}`, kind: "step", x: [], y: [], width: 1.4 };
      series[stage[i]].x.push(at[i]);
      series[stage[i]].y.push(bytes[i] / 1e9);
    }
    for (const one of series) {
      one.x.push(run.makespan_ps);
      one.y.push(one.y[one.y.length - 1]);
    }
    const limit = Number.isFinite(memory.usable_gb) ? [{ y: memory.usable_gb, name: `usable: ${format.digits(memory.usable_gb, 4)} GB`, colour: () => orrery.style("ink") }] : [];
    const marks = run.peak_memory_ps === null ? [] : [{ x: run.peak_memory_ps, y: memory.peak_gb, name: `peak ${format.digits(memory.peak_gb, 4)} GB` }];
    parts.push(chart({
      label: "Memory of each stage over time in GB", height: 280, range, gutter: orrery.gutter, series, levels: limit, marks,
      x: { format: (ps, span, step = span / 20) => format.spanned(ps * 1e-12, run.makespan_ps * 1e-12, step * 1e-12) },
      y: { label: "GB", min: 0 },
      describe: (s, i) => [series[s].name, ["from", orrery.model.at(series[s].x[i])], ["holds", `${series[s].y[i].toFixed(3)} GB`]],
    }));
  }
  return section("memory", "Memory", run ? "What tensors take on a GPU of each stage; the allocator reserves more than that." : null, parts, byStage);
};
