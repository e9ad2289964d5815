// Figures of a run's page: headline, what to know before trusting it, breakdown, critical path, resolved experiment.
//   orrery.runFigures   {headline(), trust(), breakdown(), path(), experiment()}: sections, null where there is nothing;
//                       path() also has what would make the step faster, where --what-if was given
//                       resolved(key): value and origin of a key in force, undefined where there is none
"use strict";

orrery.runFigures = (() => {
  const { el, section, figure, figures, format, notice, bar, table, data } = orrery;
  const { result } = data;
  const timed = result.step_time_s !== null && result.step_time_s > 0;
  const activity = (name) => orrery.activities.findIndex((one) => one.name === name);

  const range = () => {
    const spread = result.step_time_s_p10;
    if (!Number.isFinite(spread)) return "no measured runs to tell a range";
    return `${format.duration(spread)} to ${format.duration(result.step_time_s_p90)}, where 8 of 10 measured runs lie`;
  };
  const tokens = () => (Number.isFinite(result.tokens_per_s) && result.tokens_per_s > result.samples_per_s * 1.01
    ? `${format.scaled(result.tokens_per_s)} tokens/s` : null);
  const headline = () => section("figures", "Summary", null, figures(
    figure("step time", timed ? format.duration(result.step_time_s) : "not simulated", timed ? range() : null),
    timed ? figure("throughput", `${format.scaled(result.samples_per_s)} samples/s`, tokens()) : null,
    Number.isFinite(result.mfu) ? figure("MFU", format.percent(result.mfu), `${format.digits(result.model_tflops_per_gpu, 4)} TFLOP/s per GPU; ${format.percent(result.hfu)} with recomputation (HFU)`) : null,
    timed && Number.isFinite(result.utilization?.gpu_mean) ? figure("GPUs busy", format.percent(result.utilization.gpu_mean), `least busy ${format.percent(result.utilization.gpu_min)}; bubble ${format.percent(result.pipeline_bubble_fraction)} of the passes`) : null,
    memoryFigure()));
  const memoryFigure = () => {
    const { peak_gb: peak, reserved_gb: reserved, usable_gb: usable } = result.memory ?? {};
    if (!Number.isFinite(peak)) return null;
    const most = Number.isFinite(usable) ? `; ${format.digits(reserved, 4)} GB reserved of ${format.digits(usable, 4)} GB usable` : "";
    return figure("memory", `${format.digits(peak, 4)} GB`, `at the peak of the fullest GPU${most}`);
  };

  // One came for the timeline: they open.
  const assumptions = () => (!result.assumptions?.length ? null : el("details", { class: "assumptions" },
    el("summary", {}, format.plural(result.assumptions.length, "assumption")), notice("note", "What was assumed", result.assumptions)));
  const trust = () => {
    const parts = [
      notice("warning", "Why it is infeasible", result.reasons),
      notice("warning", "Warnings", result.warnings),
      assumptions(),
    ].filter(Boolean);
    if (parts.length === 0) return null;
    const outside = result.range?.outside ?? [];
    return section("trust", "Assumptions", null,
      outside.length > 0 ? notice("warning", "Outside what was measured", outside.map(format.value)) : null, parts);
  };

  const shares = [
    ["compute", "compute", "forward"], ["optimizer", "optimizer", "optimizer"], ["host", "host", "host"],
    ["exposed_tensor", "exposed tensor communication", "tensor communication"],
    ["exposed_pipeline", "exposed messages between stages", "messages between stages"],
    ["exposed_data", "exposed gradients and parameters", "gradients and parameters"],
    ["exposed_context", "exposed context communication", "context communication"],
    ["exposed_expert", "exposed expert communication", "expert communication"],
    ["exposed_offload", "exposed copies to and from the host", "copies to and from the host"],
    ["bubble", "pipeline bubble", "bubble"],
  ];
  const shareTable = (rows, total, caption) => table({
    caption, rows, sort: { column: 1, descending: true },
    columns: [
      { title: "", get: (row) => row.name },
      { title: "time", get: (row) => row.seconds, show: (v) => format.spanned(v, total, total / 20000) },
      { title: "share", get: (row) => row.seconds / total, show: (v) => format.percent(v) },
      { title: "", sort: false, numeric: false, get: (row) => row.seconds, show: (v, row) => el("span", { class: "track" }, bar(v / total, row.activity)) },
    ],
  });
  const breakdown = () => {
    if (!timed || !result.breakdown_s) return null;
    const rows = shares.map(([key, name, of]) => ({ name, seconds: result.breakdown_s[key], activity: activity(of) }))
      .filter((row) => row.seconds > 0);
    const whole = el("div", { class: "stack-bar", "aria-hidden": "true" }, [...rows].sort((a, b) => b.seconds - a.seconds)
      .map((row) => Object.assign(bar(row.seconds / result.step_time_s, row.activity), { title: `${row.name} ${format.percent(row.seconds / result.step_time_s)}` })));
    return el("div", { id: "breakdown" }, whole, shareTable(rows, result.step_time_s, "Mean over GPUs, per step"));
  };

  const pathParts = [["compute", "compute", "forward"], ["tensor", "tensor communication", "tensor communication"],
    ["pipeline", "messages between stages", "messages between stages"], ["data", "gradients and parameters", "gradients and parameters"],
    ["context", "context communication", "context communication"], ["expert", "expert communication", "expert communication"],
    ["offload", "copies to and from the host", "copies to and from the host"], ["host", "host", "host"], ["wait", "waits, as links are shared", "bubble"]];
  const pathShares = () => {
    const path = result.critical_path_s;
    if (!timed || !path) return null;
    const rows = pathParts.map(([key, name, of]) => ({ name, seconds: path[key], activity: activity(of) })).filter((row) => row.seconds > 0);
    return rows.length === 0 ? null : shareTable(rows, result.step_time_s, "Along the chain of operations that ends last, per step");
  };

  // Neighbours on the path with the same rank, micro-batch and kind are one row.
  const pathRows = () => {
    const { column, run } = orrery;
    const [start, finish, rank, label, kind, microBatch] = ["start", "finish", "rank", "label", "activity", "microBatch"]
      .map((name) => column(`path.${name}`));
    const rows = [];
    for (let i = 0; i < start.length; ++i) {
      const last = rows[rows.length - 1];
      if (last && last.rank === rank[i] && last.microBatch === microBatch[i] && last.activity === kind[i]) {
        last.finish = finish[i];
        last.count += 1;
        last.labels.add(run.labels[label[i]]);
      } else {
        rows.push({ start: start[i], finish: finish[i], rank: rank[i], microBatch: microBatch[i], activity: kind[i], count: 1, labels: new Set([run.labels[label[i]]]) });
      }
    }
    return rows;
  };
  const labelsOf = ({ labels }) => {
    const list = [...labels];
    return list.length > 3 ? `${list.slice(0, 3).join(", ")}, \u2026` : list.join(", ");
  };
  // Lists how the step time depends on each bandwidth, latency, peak and host time, as `--what-if` does.
  const valued = (value, unit) => `${Number(value.toPrecision(4))}${unit ? ` ${unit}` : ""}`;
  const whatIf = () => {
    const rows = result.what_if ?? [];
    if (rows.length === 0) return null;
    return section("what-if", "What would make the step faster",
      "Share: of the step time, what the critical path owes to the key, so that a value better by 1 % saves a hundredth of it. Holds to: the value up to which that stays so; beyond it another chain of operations is longer.",
      table({
        rows, limit: 25, columns: [
          { title: "key", get: (row) => row.key, show: (v) => el("code", {}, v) },
          { title: "is", get: (row) => row.value, show: (v, row) => valued(v, row.unit) },
          { title: "share", get: (row) => row.share, show: (v) => format.percent(v) },
          { title: "", sort: false, numeric: false, get: (row) => row.share, show: (v) => el("span", { class: "track" }, bar(v, activity("forward"))) },
          { title: "twice as good", get: (row) => row.better, show: (v, row) => valued(v, row.unit) },
          { title: "step time there", get: (row) => row.better_step_time_s, show: (v) => format.duration(v) },
          { title: "less by", get: (row) => 1 - row.better_step_time_s / result.step_time_s, show: (v) => format.percent(v) },
          { title: "holds to", get: (row) => row.holds_until ?? Infinity, show: (v, row) => (row.holds_until === null ? "any value" : valued(v, row.unit)) },
        ],
      }));
  };

  const operations = (range) => el("details", {}, el("summary", {}, "Operation by operation"), table({
    rows: pathRows(), limit: 25,
    onRow: (row) => { range.set(row.start - (row.finish - row.start), row.finish + (row.finish - row.start)); document.getElementById("schedule").scrollIntoView(); },
    columns: [
      { title: "from", get: (row) => row.start, show: (v) => orrery.model.at(v) },
      { title: "takes", get: (row) => row.finish - row.start, show: (v) => format.picoseconds(v) },
      { title: "rank", get: (row) => (row.rank === 0xffffffff ? null : row.rank) },
      { title: "micro-batch", get: (row) => (row.microBatch < 0 ? null : row.microBatch) },
      { title: "kind", get: (row) => orrery.activities[row.activity].name },
      { title: "operations", get: (row) => row.count },
      { title: "", get: labelsOf },
    ],
  }));
  const path = (range) => (orrery.run ? [operations(range), whatIf()] : null);

  // The lines of `simulate --resolved`: a key, its value, and after two slashes where it came from.
  const line = /^\s*(?:"((?:[^"\\]|\\.)*)":\s*)?("(?:[^"\\]|\\.)*"|\[.*\]|[^"/]*?)?(,?)(?:\s+\/\/\s?(.*))?$/;
  const resolvedRows = () => {
    const rows = [];
    const keys = [];
    for (const text of data.resolved.split("\n")) {
      const match = line.exec(text);
      if (!match) { if (text.trim()) rows.push({ key: keys.join("."), value: text.trim(), origin: "" }); continue; }
      const [, key, value = "", , origin = ""] = match;
      if (value === "{" || value === "[") keys.push(key ?? "");
      else if (/^[}\]]$/.test(value)) keys.pop();
      else if (value !== "") rows.push({ key: [...keys.slice(1), key].filter(Boolean).join("."), value: value.startsWith("\"") ? JSON.parse(value) : value, origin });
    }
    return rows;
  };
  // The name of a part of the experiment says from where the part comes: as its other keys do, unless it has an origin.
  const nameOrigin = (row, rows) => {
    if (row.key === "name") return "";
    const inside = row.key.slice(0, -"name".length);
    const ending = ` ${row.value}`;
    const from = rows.find((other) => other.key.startsWith(inside) && other.origin.startsWith("catalog ") && other.origin.endsWith(ending));
    return from ? from.origin : "catalog";
  };
  const resolvedOnce = () => {
    const rows = resolvedRows();
    for (const row of rows) if (!row.origin && /(^|\.)name$/.test(row.key)) row.origin = nameOrigin(row, rows);
    return rows;
  };
  let rowsOfKeys = null;
  const resolved = (key) => {
    rowsOfKeys ??= new Map((data.resolved ? resolvedOnce() : []).map((row) => [row.key, row]));
    return rowsOfKeys.get(key);
  };
  const experiment = () => {
    if (!data.resolved) return null;
    const rows = resolvedOnce();
    const list = table({
      rows, limit: 30,
      columns: [
        { title: "key", get: (row) => row.key, show: (v) => el("code", {}, v) },
        { title: "value", get: (row) => row.value },
        { title: "from", get: (row) => row.origin, show: (v) => v || el("span", { class: "note" }, "default") },
      ],
    });
    const input = el("input", { type: "search", placeholder: "plan, default, calibration\u2026", "aria-label": "Search keys, values and origins", size: 28 });
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      list.setRows(rows.filter((row) => {
        const text = `${row.key} ${row.value} ${row.origin || "default"}`.toLowerCase();
        return words.every((word) => text.includes(word));
      }));
    });
    return section("experiment", "Experiment", "Every key in force, and where its value came from.", el("div", { class: "controls" }, input), list);
  };

  return { headline, trust, breakdown, pathShares, path, experiment, resolved, timed };
})();
