// The page of a comparison: rows side by side, where their time and memory go, along a key, and why two differ.
"use strict";

(() => {
  const { data, el, format, section, figure, figures, table } = orrery;
  const plans = orrery.plans(data.plans);
  const rows = Array.from({ length: plans.count }, (_, i) => i);
  const step = plans.figure(data.serves ? "tpot_s" : "step_time_s") ?? new Float64Array(plans.count).fill(NaN);
  const timed = rows.filter((i) => Number.isFinite(step[i]));
  const feasible = timed.filter((i) => plans.state(i) === 0);
  const speed = plans.figure("speed_up");

  const best = (list, of, sign) => list.reduce((least, i) =>
    (Number.isFinite(of?.[i]) && (least < 0 || sign * of[i] < sign * of[least]) ? i : least), -1);

  const headline = () => {
    const fastest = best(feasible, step, 1);
    const most = best(feasible, speed, -1);
    return figures(
      figure("rows", format.count(plans.count), `${format.count(feasible.length)} feasible`),
      fastest < 0 ? null : figure(data.serves ? "least time per output token" : "shortest step", format.duration(step[fastest]), plans.label(fastest)),
      most < 0 ? null : figure("highest speed-up", format.digits(speed[most], 4), plans.label(most)),
      data.sweet_spot === null ? null : figure("least time to the target",
        format.duration(plans.figure("time_to_target_s")[data.sweet_spot]), plans.label(data.sweet_spot)));
  };

  // Keys and columns that say nothing here are left out: the same in all rows, or in none.
  const rowTable = (onRow) => {
    const keys = plans.keys.flatMap((key, k) => (key.several || plans.count === 1 ? [{
      title: key.short, get: (i) => { const text = plans.value(k, i); return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text; },
      show: (value) => (value === "" ? format.none : String(value)),
    }] : []));
    const column = (title, name, show) => (plans.figure(name) ? [{ title, get: (i) => plans.figure(name)[i], show: show ?? ((v) => orrery.figureFormat(name)(v)) }] : []);
    return table({
      rows, onRow, limit: 50, columns: [
        ...keys,
        ...column("GPUs", "gpus", (v) => (Number.isFinite(v) ? format.count(v) : format.none)),
        ...column("step time", "step_time_s"),
        ...column("TTFT", "ttft_s"),
        ...column("TTFT p99", "ttft_s_p99"),
        ...column("TPOT", "tpot_s"),
        ...column("TPOT p99", "tpot_s_p99"),
        ...column("tokens/s per GPU", "tokens_per_s_per_gpu"),
        ...column("speed-up", "speed_up", (v) => (Number.isFinite(v) ? v.toFixed(3) : format.none)),
        ...column("scaling", "scaling_efficiency"),
        ...column("exposed data comm.", "communication_s"),
        ...column("MFU", "mfu"),
        ...column("memory", "memory.peak_gb"),
        ...column("to target", "time_to_target_s"),
        { title: "feasible", get: (i) => (plans.state(i) === 0 ? "yes" : "no"), show: (v, i) => (v === "yes" ? "yes" : `no: ${plans.reason(i)}`) },
      ],
    });
  };

  // The first key with three numbers or more, and throughput where the number of GPUs changes along it.
  const along = () => {
    const numeric = plans.keys.find((key) => key.of_experiment && new Set(key.values.filter((v) => v !== "" && Number.isFinite(Number(v)))).size >= 2);
    const other = plans.keys.find((key) => key.several && key !== numeric && key.values.length <= 8);
    const gpus = plans.figure("gpus");
    const grows = gpus && new Set(timed.map((i) => gpus[i])).size > 1;
    if (data.serves) return { x: "tpot_s", y: "tokens_per_s_per_gpu", colour: other?.key ?? "", front: true };
    return {
      x: numeric?.key ?? plans.axes[0], colour: other?.key ?? "",
      y: grows && plans.axes.includes("samples_per_s") ? "samples_per_s" : "step_time_s",
    };
  };

  orrery.start({
    title: data.several ? "Comparison of experiments" : data.title,
    lines: [`Comparison of ${format.count(plans.count)} rows${plans.keys.some((key) => key.of_experiment) ? ` over ${plans.keys.filter((key) => key.of_experiment).map((key) => key.key).join(", ")}` : ""}; ratios are to ${data.reference === null ? "none" : plans.label(data.reference)}.`],
    build: (main) => {
      const detail = el("div");
      const difference = timed.length > 1 ? orrery.why({
        plans, candidates: timed, first: data.reference, second: timed.find((i) => i !== data.reference && step[i] !== step[data.reference]) ?? timed.find((i) => i !== data.reference),
      }) : null;
      const open = (i) => {
        detail.replaceChildren(orrery.planDetail(plans, i));
        orrery.reveal(detail);
        if (difference && timed.includes(i) && i !== data.reference) difference.show(i);
      };
      main.append(headline());
      if (data.left_out.length) main.append(orrery.notice("warning", "Left out of the figures", data.left_out));
      main.append(section("rows", "Rows", "A row opens below with all of its figures.", rowTable(open), detail));
      if (timed.length) {
        main.append(section("time", "Where the time goes", data.serves ? "Of a GPU, per output token." : "Mean over GPUs, per step.",
          orrery.stacks({ plans, rows: timed, list: "breakdown", onRow: open })));
        main.append(section("memory", data.serves ? "Memory of a GPU" : "Memory of the stage that holds most", null,
          orrery.stacks({ plans, rows: timed, list: "memory", onRow: open })));
      }
      if (difference) main.append(section("why", "Why two rows differ", "The terms add up to the difference exactly.", difference));
      if (timed.length > 1 && plans.axes.includes(data.serves ? "tokens_per_s_per_gpu" : "step_time_s"))
        main.append(section("along", "One figure against another", null, orrery.scatter({
          plans, rows: timed, ...along(), best: true, onPlan: open, name: "along-chart",
          better: { samples_per_s: "most", tokens_per_s: "most", mfu: "most", tokens_per_s_per_gpu: "most", output_tokens_per_s_per_gpu: "most", output_tokens_per_s: "most", requests_per_s: "most", speed_up: "most", scaling_efficiency: "most" } })));
    },
  });
})();
