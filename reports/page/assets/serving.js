// The page of requests that were served.
"use strict";

(() => {
  const { data, serving, servingFigures, runFigures, section, el, start, format } = orrery;
  const { result } = data;

  const size = () => {
    const parts = [`${format.count(result.gpus)} GPUs`];
    if (result.parameters > 0) parts.push(`${format.scaled(result.parameters)} parameters`);
    if (result.model) parts.push(result.model);
    if (result.cluster) parts.push(`on ${result.cluster}`);
    return parts.join(", ");
  };
  const served = () => `${format.count(serving.requests)} requests in ${format.duration(serving.duration_ps * 1e-12)}, `
    + `${format.scaled(result.serving.prompt_tokens)} tokens read and ${format.scaled(result.serving.output_tokens)} made`;

  start({
    title: result.name || "unnamed experiment",
    verdict: { good: result.feasible, text: result.feasible ? "feasible" : "infeasible" },
    lines: [size(), data.plan.join("; "), ...(serving ? [served()] : [])],
    build: (main) => {
      const range = serving && orrery.timeRange(0, serving.duration_ps);
      main.append(...[
        serving ? servingFigures.headline() : null,
        runFigures.trust(),
        ...(serving ? [servingFigures.breakdown(), servingFigures.latencies(), ...orrery.servingTimelines(range)]
          : [section("timeline", "Timeline", null, el("p", {}, "Nothing was served, so that there is no timeline."))]),
        runFigures.experiment(),
      ].filter(Boolean));
    },
  });
})();
