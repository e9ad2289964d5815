// The page of a sweep: any two figures of its points, along a key, the points as a table, each of them whole.
"use strict";

(() => {
  const { data, el, format, section, figure, figures, table } = orrery;
  const plans = orrery.plans(data.plans);
  const all = Array.from({ length: plans.count }, (_, i) => i);
  const feasible = all.filter((i) => plans.state(i) === 0);
  const usual = ["step_time_s", "tokens_per_s_per_gpu"].find((name) => plans.figures.includes(name));
  const main_ = usual ?? plans.axes.find((name) => plans.figures.includes(name) && name !== "point") ?? plans.axes[0];
  const better = data.better;
  const sign = better[main_] === "most" ? -1 : 1;

  const best = () => {
    const of = plans.figure(main_);
    return feasible.reduce((least, i) => (Number.isFinite(of[i]) && (least < 0 || sign * of[i] < sign * of[least]) ? i : least), -1);
  };
  const headline = () => {
    const first = plans.figures.includes(main_) ? best() : -1;
    return figures(
      first < 0 ? null : figure(`best ${main_.replace(/_s$/, "").replaceAll("_", " ")}`, orrery.figureFormat(main_)(plans.figure(main_)[first]), plans.label(first)),
      figure("points", format.count(data.points), `${format.count(data.distinct)} differ and were simulated`),
      figure("feasible", format.count(data.feasible)),
      figure("do not fit into memory", format.count(data.infeasible)),
      data.failed ? figure("cannot be simulated", format.count(data.failed)) : null);
  };

  const points = (onRow) => {
    const names = ["step_time_s", "tokens_per_s_per_gpu", "ttft_s_p99", "tpot_s_p99", "tokens_per_s", "mfu", "memory.peak_gb", "cost_usd"].filter((name) => plans.axes.includes(name));
    if (names.length === 0) names.push(...plans.axes.filter((name) => plans.figures.includes(name) && name !== "point").slice(0, 4));
    const keys = plans.keys.flatMap((key, k) => (key.several ? [{
      title: key.short, show: (value) => (value === "" ? format.none : String(value)),
      get: (i) => { const text = plans.value(k, i); return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text; },
    }] : []));
    return table({
      rows: feasible, onRow, limit: 25, sort: names[0] ? { column: keys.length, descending: better[names[0]] === "most" } : null,
      columns: [...keys, ...names.map((name) => ({
        title: name, get: (i) => plans.figure(name)[i], show: (v) => orrery.figureFormat(name)(v) })),
      { title: "point", get: (i) => plans.figure("point")[i] }],
    });
  };

  const removed = () => table({
    rows: data.removed, sort: { column: 0, descending: true }, columns: [
      { title: "points", get: (row) => row.points, show: (v) => format.count(v) },
      { title: "removed by", get: (row) => row.by }, { title: "such as", get: (row) => row.message, show: (v) => v || format.none }],
  });

  // Reasons that differ in numbers alone are one, with a point as an example.
  const reasons = (unfit) => {
    const groups = new Map();
    for (const i of unfit) {
      const kind = plans.reason(i).replace(/\d+(\.\d+)?/g, "N");
      if (!groups.has(kind)) groups.set(kind, { points: 0, first: i });
      groups.get(kind).points += 1;
    }
    return table({
      rows: [...groups.values()], limit: 15, sort: { column: 0, descending: true }, columns: [
        { title: "points", get: (row) => row.points, show: (v) => format.count(v) },
        { title: "why, such as", get: (row) => plans.reason(row.first) }, { title: "at", get: (row) => plans.label(row.first) }],
    });
  };

  orrery.start({
    title: data.file,
    lines: [`Sweep ${data.sweep} over ${plans.keys.map((key) => key.key).join(", ")}.`,
      ...(plans.count < data.feasible + data.infeasible + data.failed ? [`This page has the ${format.count(plans.count)} best points; the file has all.`] : [])],
    build: (main) => {
      main.append(headline());
      const detail = el("div");
      const show = (i) => detail.replaceChildren(orrery.planDetail(plans, i));
      const open = (i) => {
        show(i);
        orrery.reveal(detail);
      };
      const across = main_ === "tokens_per_s_per_gpu" && plans.axes.includes("tpot_s") ? "tpot_s" : plans.axes.includes("memory.peak_gb") ? "memory.peak_gb" : plans.axes.find((name) => name !== main_);
      const colours = plans.keys.filter((key) => key.several && key.values.length <= 8);
      const numeric = plans.keys.find((key) => key.several && key.values.every((v) => v === "" || Number.isFinite(Number(v))));
      if (feasible.length && plans.axes.length > 1) {
        main.append(section("figures", "Any two figures", null, orrery.scatter({
          plans, rows: feasible, x: across, y: main_, colour: colours[0]?.key ?? "", front: true, better, onPlan: open, name: "figures-chart" })));
        show(plans.figures.includes(main_) ? Math.max(0, best()) : feasible[0]);
        main.append(section("plan", "A plan", "A point of a chart or a row of a table opens here; at first the best one.", detail));
        if (numeric) main.append(section("along", "Along a key", null, orrery.scatter({
          plans, rows: feasible, x: numeric.key, y: main_, colour: colours.find((key) => key !== numeric)?.key ?? "", best: true, better, onPlan: open, name: "along-chart" })));
        main.append(section("points", "The feasible points", null, points(open)));
      }
      const unfit = all.filter((i) => plans.state(i) !== 0);
      if (unfit.length) main.append(section("infeasible", "Points that are not feasible", null, reasons(unfit)));
      if (data.removed.length) main.append(section("removed", "Combinations that are no experiments", null, removed()));
    },
  });
})();
