// The page of a search: the plans found, the front, why the first wins, what became of all others, the way there.
"use strict";

(() => {
  const { data, el, format, section, figure, figures, table } = orrery;
  const plans = orrery.plans(data.plans);
  const { key, most } = data.objective;
  const served = plans.figures.includes("ttft_s");
  const shown = orrery.figureFormat(key);

  const proof = () => {
    if (data.best.length === 0) return { text: data.limits.length ? "no plan fits into memory and keeps the limits" : "no plan fits into memory", good: false };
    if (data.optimal) return { text: "proven optimal", good: true };
    if (data.gap !== null) return { text: `not proven optimal: a point might be better by ${format.percent(data.gap)}`, good: false };
    return { text: "nothing is proven about points that were not simulated", good: false };
  };

  // The plan itself, not only what tells it from the next.
  const wholePlan = (i) => plans.keys.flatMap((one, k) => (one.of_experiment && !["", "null"].includes(plans.value(k, i))
    ? [`${one.short} ${plans.value(k, i)}`] : [])).join(", ");
  const headline = () => figures(
    data.best.length ? figure(`best ${key.replace(/_s$/, "").replaceAll("_", " ")}`, shown(plans.figure(key)[data.best[0]]), wholePlan(data.best[0])) : null,
    figure("points", data.points === null ? "continuous" : format.count(data.points), `${format.count(data.distinct)} that differ and are valid`),
    figure("simulated", format.count(data.simulated), `${format.count(data.bounded)} bounded by a run without contention`),
    figure("do not fit into memory", format.count(data.infeasible)));

  const planTable = (list, caption, onRow) => {
    const figureColumn = (name, title = name) => ({ title, get: (i) => plans.figure(name)?.[i] ?? null, show: (v) => orrery.figureFormat(name)(v) });
    const names = [...new Set([key, ...data.weighed_by.map((one) => one.key), ...(served ? ["ttft_s_p99", "tpot_s_p99"] : []), "memory.peak_gb", "mfu"])].filter((name) => plans.figures.includes(name));
    return table({
      caption, rows: list, onRow, columns: [
        { title: "rank", get: (i) => list.indexOf(i) + 1 },
        ...names.map((name) => figureColumn(name)),
        ...plans.keys.flatMap((one, k) => (one.several || plans.count === 1 ? [{
          title: one.short, show: (value) => (value === "" ? format.none : String(value)),
          get: (i) => { const text = plans.value(k, i); return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text; },
        }] : [])),
      ],
    });
  };

  // Where every point of the space went.
  const others = () => {
    const removed = Object.entries(data.removed).map(([by, points]) => ({ points, what: `removed by ${by}` }));
    const valid = data.evaluated - removed.reduce((sum, row) => sum + row.points, 0);
    const rows = [
      ...removed,
      { points: valid - data.distinct, what: "equal to a plan that was met before" },
      ...Object.entries(data.losers).map(([what, points]) => ({ points, what })),
    ].filter((row) => row.points > 0);
    const most_ = Math.max(...rows.map((row) => row.points), 1);
    return table({
      rows, sort: { column: 0, descending: true }, columns: [
        { title: "points", get: (row) => row.points, show: (v) => format.count(v) },
        { title: "share", sort: false, get: (row) => row.points, show: (v) => el("span", { class: "share" }, orrery.bar(v / most_, 0)) , numeric: false },
        { title: "what became of them", get: (row) => row.what },
      ],
    });
  };

  const improvements = () => {
    const x = data.improvements.map((one) => one.simulated);
    const y = data.improvements.map((one) => one.value);
    if (x.length && data.simulated > x[x.length - 1]) {
      x.push(data.simulated);
      y.push(y[y.length - 1]);
    }
    return orrery.chart({
      label: `best ${key} after so many simulations`, x: { label: "simulations" },
      y: { label: key, format: (v) => shown(v) }, series: [{ name: key, x, y, kind: "step", colour: () => orrery.series(0) }],
    });
  };

  orrery.start({
    title: data.name,
    verdict: proof(),
    lines: [`Search by ${data.method} for the ${most ? "most" : "least"} ${key}${data.weighed_by.length ? `, weighed against ${data.weighed_by.map((one) => one.key).join(", ")}` : ""}${data.limits.length ? `, with ${data.limits.join(" and ")}` : ""}.`],
    build: (main) => {
      main.append(headline());
      const note = orrery.notice("note", "Notes on the search", data.notes);
      if (note) main.append(note);
      const detail = el("div");
      const all = Array.from({ length: plans.count }, (_, i) => i);
      // Two plans that are equally good explain nothing: the first that is worse, if there is one.
      const values = plans.figure(key);
      const ranked = [...data.best, ...all.filter((i) => !data.best.includes(i))];
      const behind = ranked.find((i) => i !== ranked[0] && values?.[i] !== values?.[ranked[0]]) ?? ranked[1];
      const why = plans.count > 1 && data.best.length > 0 ? orrery.why({ plans, candidates: all, first: ranked[0], second: behind }) : null;
      const show = (i) => detail.replaceChildren(orrery.planDetail(plans, i));
      const open = (i) => {
        show(i);
        orrery.reveal(detail);
        if (why && i !== data.best[0]) why.show(i);
      };
      if (data.best.length) {
        main.append(section("best", "The best plans", "A row opens below with all of its figures and the overrides that make it.",
          planTable(data.best, null, open), detail));
        main.append(section("time", "Where their time goes", served ? "Of a GPU, per output token." : "Mean over GPUs, per step.",
          orrery.stacks({ plans, rows: data.best, list: "breakdown", limit: 12, onRow: open })));
        main.append(section("memory", served ? "Memory of a GPU" : "Memory of the stage that holds most", null,
          orrery.stacks({ plans, rows: data.best, list: "memory", limit: 12, onRow: open })));
        show(data.best[0]);
      }
      if (why) main.append(section("why", "Why the first wins",
        values[behind] === values[ranked[0]] ? "All of these plans are equally good." : "The terms add up to the difference exactly.", why));
      if (data.pareto.length) {
        const better = Object.fromEntries([data.objective, ...data.weighed_by].filter((one) => one.most).map((one) => [one.key, "most"]));
        main.append(section("front", "The front", "None of these plans is better in all of what is weighed.",
          orrery.scatter({ plans, rows: data.pareto, x: data.weighed_by[0].key, y: key, front: true, better, onPlan: open, name: "front-chart" }),
          planTable(data.pareto, null, open)));
      }
      main.append(section("others", "Rejected plans", null, others()));
      if (data.improvements.length > 1) main.append(section("way", "Search progress", "The best value after so many simulations.", improvements()));
    },
  });
})();
