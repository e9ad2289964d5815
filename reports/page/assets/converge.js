// The page of convergence: loss against simulated time and against steps, and how far the workers are apart.
"use strict";

(() => {
  const { data, el, format, section, figure, figures, table, check } = orrery;
  const runs = data.runs;
  const last = (run) => run.points[run.points.length - 1];
  const aboveLeast = runs.every((run) => run.least_loss !== null);
  const loss = (run, point) => (aboveLeast ? point.loss - run.least_loss : point.loss);
  const target = runs[0]?.target;

  const headline = () => {
    const finite = runs.filter((run) => !run.diverged && Number.isFinite(last(run).loss));
    const lowest = finite.reduce((best, run) => (!best || last(run).loss < last(best).loss ? run : best), null);
    const reached = runs.filter((run) => Number.isFinite(run.time_to_target_s));
    const soonest = reached.reduce((best, run) => (!best || run.time_to_target_s < best.time_to_target_s ? run : best), null);
    return figures(
      figure("runs", format.count(runs.length), `${runs.filter((run) => run.diverged).length} diverged`),
      lowest ? figure("lowest loss at the end", format.digits(last(lowest).loss, 5), lowest.name) : null,
      target === undefined ? null : figure(`loss ${format.digits(target, 4)} first reached`,
        soonest ? format.duration(soonest.time_to_target_s) : "by none", soonest?.name));
  };

  const curves = ({ label, x, y, xLabel, yLabel, xFormat, group }) => {
    const state = { logX: false, logY: true };
    const host = el("div");
    const isLoss = y === loss;
    // The least possible loss is that of the problem, the same for all runs unless they solve several.
    const targets = () => {
      const heights = [...new Set(runs.map((run) => (aboveLeast ? target - run.least_loss : target)))];
      return heights.length === 1 && (!state.logY || heights[0] > 0) ? [{ y: heights[0], name: "target" }] : [];
    };
    // Below what a double tells from the largest value, there is rounding alone.
    const most = Math.max(...runs.flatMap((run) => run.points.map((point) => y(run, point))).filter(Number.isFinite), 0);
    const fill = () => {
      const kept = runs.map((run) => run.points.filter((point) =>
        Number.isFinite(y(run, point)) && (!state.logY || y(run, point) > most * 2 ** -52) && (!state.logX || x(run, point) > 0)));
      host.replaceChildren(orrery.chart({
        label, height: 340, group: state.logX ? undefined : group,
        x: { label: xLabel, log: state.logX, ...(xFormat ? { format: xFormat } : {}) },
        y: { label: yLabel, log: state.logY, format: (v) => format.digits(v, 2) },
        series: runs.map((run, r) => ({
          name: run.name, x: kept[r].map((point) => x(run, point)), y: kept[r].map((point) => y(run, point)),
          dash: orrery.seriesDash(r), colour: () => orrery.series(r) })),
        levels: isLoss && target !== undefined ? targets() : [],
        describe: (r, i) => {
          const point = kept[r][i];
          return [runs[r].name, ["iteration", format.count(point.iteration)], ["time", format.duration(point.time_s)],
            ["loss", format.digits(point.loss, 6)], ["gradient norm", format.digits(point.gradient_norm, 4)],
            ["consensus error", format.digits(point.consensus_error, 4)]];
        },
      }));
    };
    fill();
    return el("div", { class: "view" }, el("div", { class: "controls" },
      check(`logarithmic ${yLabel}`, state.logY, (on) => { state.logY = on; fill(); }),
      check(`logarithmic ${xLabel}`, state.logX, (on) => { state.logX = on; fill(); })), host);
  };
  const lossLabel = aboveLeast ? "loss above the least possible" : "loss of the mean model";

  orrery.start({
    title: document.title,
    lines: ["The learning problem is really run; times are iterations by the simulated step time."],
    build: (main) => {
      const unfit = runs.filter((run) => !run.feasible).map((run) => run.name);
      main.append(headline());
      if (unfit.length) main.append(orrery.notice("warning", "The simulated plan does not fit into memory", unfit));
      main.append(section("time", "Loss against simulated time", null, curves({
        label: "loss against simulated time", x: (run, point) => point.time_s, y: loss, xLabel: "time", yLabel: lossLabel,
        xFormat: (v) => format.spanned(v, Math.max(...runs.map((run) => last(run).time_s)), Math.max(...runs.map((run) => last(run).time_s)) / 50), group: "" })));
      main.append(section("steps", "Loss against steps", null, curves({
        label: "loss against steps", x: (run, point) => point.iteration, y: loss, xLabel: "steps", yLabel: lossLabel, group: "loss" })));
      if (runs.some((run) => run.workers > 1)) {
        main.append(section("consensus", "How far workers are apart", "Mean of the squared distances of their models from the mean model.", curves({
          label: "consensus error against steps", x: (run, point) => point.iteration, y: (run, point) => point.consensus_error,
          xLabel: "steps", yLabel: "consensus error", group: "consensus" })));
      }
      main.append(section("runs", "Runs", null, table({
        rows: runs, columns: [
          { title: "run", get: (run) => run.name }, { title: "method", get: (run) => run.method },
          { title: "topology", get: (run) => run.topology }, { title: "workers", get: (run) => run.workers },
          { title: "step", get: (run) => run.step_time_s, show: (v) => format.duration(v) },
          { title: "steps", get: (run) => last(run).iteration }, { title: "time", get: (run) => last(run).time_s, show: (v) => format.duration(v) },
          { title: "loss", get: (run) => (run.diverged ? null : last(run).loss), show: (v, run) => (run.diverged ? "diverged" : format.digits(v, 6)) },
          { title: "above least", get: (run) => (run.least_loss === null || run.diverged ? null : last(run).loss - run.least_loss), show: (v) => (v === null ? format.none : format.digits(v, 4)) },
          { title: "consensus error", get: (run) => last(run).consensus_error, show: (v) => (Number.isFinite(v) ? format.digits(v, 4) : format.none) },
          ...(target === undefined ? [] : [{ title: "target at", get: (run) => run.time_to_target_s, show: (v) => (v === null ? "not reached" : format.duration(v)) }])],
      })));
    },
  });
})();
