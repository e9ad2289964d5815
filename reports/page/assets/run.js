// The page of a run.
"use strict";

(() => {
  const { data, run, runFigures, section, el, start, format, figure, figures } = orrery;
  const { result } = data;

  const size = () => {
    const parts = [`${format.count(result.gpus)} GPUs`];
    if (result.parameters > 0) parts.push(`${format.scaled(result.parameters)} parameters`);
    if (result.model) parts.push(result.model);
    if (result.cluster) parts.push(`on ${result.cluster}`);
    return parts.join(", ");
  };
  const meetings = () => {
    const { asynchrony } = result;
    if (!asynchrony) return null;
    return figures(
      figure("local steps", `${format.count(asynchrony.local_steps_min)} to ${format.count(asynchrony.local_steps_max)}`, "of the slowest and the fastest worker"),
      figure("meetings", format.count(asynchrony.meetings)),
      figure("staleness", format.digits(asynchrony.staleness_mean, 3), `updates by others in between, on average; at most ${format.count(asynchrony.staleness_max)}`));
  };
  const noTimeline = () => {
    if (run) return null;
    const why = runFigures.timed ? "Its workers keep no step with each other, so that there is no one timeline of all ranks: figures are those of their meetings."
      : "Nothing was simulated, so that there is no timeline.";
    return section("timeline", "Timeline", null, el("p", {}, why), meetings());
  };

  start({
    title: result.name || "unnamed experiment",
    verdict: { good: result.feasible, text: result.feasible ? "feasible" : "infeasible" },
    lines: [size(), data.plan.join("; ")],
    build: (main) => {
      const range = run && orrery.timeRange(0, run.makespan_ps);
      const timelines = run ? orrery.timelines(range) : [];
      main.classList.toggle("unfit", !result.feasible);
      main.append(...[
        runFigures.headline(),
        runFigures.trust(),
        ...timelines.slice(0, 1),
        runFigures.timed ? section("time", "Where the time goes", null,
          el("div", { class: "columns" }, runFigures.breakdown(), runFigures.pathShares()), run ? orrery.course(range) : null, run ? runFigures.path(range) : null) : null,
        noTimeline(), ...timelines.slice(1),
        result.memory?.per_stage?.length > 0 ? orrery.memory(range) : null,
        orrery.network(), runFigures.experiment(),
      ].filter(Boolean));
    },
  });
})();
