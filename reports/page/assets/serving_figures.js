// Figures of a page of served requests.
//   orrery.servingFigures   {headline(), breakdown(), latencies()}: sections
"use strict";

orrery.servingFigures = (() => {
  const { el, section, figure, figures, format, bar, table, data, column } = orrery;
  const { result } = data;
  const { serving } = result;
  const activity = (name) => orrery.activities.findIndex((one) => one.name === name);
  const ms = (key) => format.duration(result[key]);

  // Where measured runs lie that no fit of the stack saw; nothing where none are known.
  const range = (key, show = format.duration) => {
    const found = serving.ranges?.[key];
    return found ? `${show(found.low)} to ${show(found.high)}, where 8 of 10 measured runs lie; ` : "";
  };
  const percentiles = (key) => `${range(key)}p50 ${ms(`${key}_p50`)}, p99 ${ms(`${key}_p99`)}`;
  const arrivals = () => {
    if (!Number.isFinite(serving.arrivals_per_s)) return "as many as there is room for at all times";
    const grows = serving.unstable === null ? "; too few to tell whether the queue grows"
      : serving.unstable ? `; unstable: the queue grows by ${format.digits(serving.queue_growth_per_s, 3)} requests/s` : "";
    return `${format.digits(serving.arrivals_per_s, 3)} arrive per second${grows}`;
  };
  const goodput = () => (serving.good_requests < serving.requests
    ? figure("goodput", `${format.digits(result.goodput_requests_per_s, 3)} requests/s`, `${format.percent(serving.good_requests / serving.requests)} kept their targets`) : null);
  const cost = () => (Number.isFinite(result.usd_per_million_output_tokens)
    ? figure("cost", `$${format.digits(result.usd_per_million_output_tokens, 3)}`, "per million output tokens") : null);
  const preempted = () => (serving.preemptions > 0
    ? figure("lost places", format.count(serving.preemptions), `${format.count(serving.recomputed_tokens)} tokens computed again`) : null);
  const headline = () => section("figures", "Summary", null, figures(
    figure("throughput", `${format.digits(result.requests_per_s, 3)} requests/s`, arrivals()),
    figure("output", `${format.scaled(result.output_tokens_per_s)} tokens/s`, `${range("output_tokens_per_s", (v) => `${format.scaled(v)} tokens/s`)}${format.scaled(result.output_tokens_per_s_per_gpu)} tokens/s per GPU`),
    figure("time to first token", ms("ttft_s"), percentiles("ttft_s")),
    Number.isFinite(result.tpot_s) ? figure("time per output token", ms("tpot_s"), percentiles("tpot_s")) : null,
    figure("end to end", ms("end_to_end_s"), percentiles("end_to_end_s")),
    figure("in the queue", ms("queue_s"), percentiles("queue_s")),
    figure("batch", format.digits(serving.batch_mean, 3), `requests of an iteration on average, at most ${format.count(serving.batch_max)}`),
    figure("cache", format.percent(serving.cache_mean), `held on average, at most ${format.percent(serving.cache_peak)} of ${format.digits(serving.cache_gb, 4)} GB`),
    goodput(), preempted(), cost()));

  // ---- where the time goes: [key, words, activity]
  const byWork = [["products", "products of matrices", "prefill"], ["attention", "attention", "decode"], ["other_kernels", "other kernels", "recomputation"],
    ["drafts", "drafts", "prefill and decode"], ["launches", "launches", "copies to and from the host"],
    ["tensor", "exposed tensor communication", "tensor communication"], ["context", "exposed context communication", "context communication"],
    ["expert", "exposed expert communication", "expert communication"], ["pipeline", "exposed messages between stages", "messages between stages"],
    ["host", "host, between iterations", "host"], ["bubble", "pipeline bubble", "bubble"], ["idle", "idle", "bubble"]];
  const byBatch = [["prefill", "prefill", "prefill"], ["decode", "decode", "decode"], ["mixed", "prefill and decode", "prefill and decode"],
    ["host", "host, between iterations", "host"], ["bubble", "pipeline bubble", "bubble"], ["idle", "idle", "bubble"]];
  const shares = (list, of, caption) => table({
    caption, rows: list.map(([key, name, kind]) => ({ name, share: of[key], activity: activity(kind) })).filter((row) => row.share > 0),
    sort: { column: 2, descending: true },
    columns: [
      { title: "", get: (row) => row.name },
      { title: "time", get: (row) => row.share * serving.duration_s, show: (v) => format.spanned(v, serving.duration_s, serving.duration_s / 20000) },
      { title: "share", get: (row) => row.share, show: (v) => format.percent(v) },
      { title: "", sort: false, numeric: false, get: (row) => row.share, show: (v, row) => el("span", { class: "track" }, bar(v, row.activity)) },
    ],
  });
  const breakdown = () => section("time", "Where the time goes", `Mean over the GPUs, of the ${format.duration(serving.duration_s)} that the run takes; each list adds up to all of it.`,
    el("div", { class: "columns" }, shares(byWork, serving.work_share, "By what GPUs do"), shares(byBatch, serving.time_share, "By what iterations hold")));

  // ---- latencies
  const curve = (name, words) => {
    const y = column(`latency.${name}`);
    if (!y || y.length === 0) return null;
    return { name: words, kind: "step", x: Array.from(y, (_, i) => 100 * i / (y.length - 1)), y };
  };
  const curves = (label, caption, list) => {
    const series = list.filter(Boolean);
    if (series.length === 0) return null;
    const positive = series.every(({ y }) => y[0] > 0);
    return orrery.chart({
      label, caption, height: 260, series, x: { label: "% of the requests", min: 0, max: 100 },
      y: { label: "at most", log: positive, min: positive ? undefined : 0, format: (v) => format.duration(v).replace(/\.?0+(?= )/, "") },
      describe: (s, i) => [series[s].name, ["of the requests", format.percent(series[s].x[i] / 100)], ["at most", format.duration(series[s].y[i])]],
    });
  };
  const row = (name, key) => ({ name, ...Object.fromEntries(["", "_p50", "_p90", "_p99"].map((part) => [part, result[key + part]])) });
  const latencyTable = () => table({
    caption: "Latencies over requests", rows: [row("time to first token", "ttft_s"), row("time per output token", "tpot_s"), row("end to end", "end_to_end_s"), row("in the queue", "queue_s")].filter((one) => Number.isFinite(one[""])),
    columns: [{ title: "", get: (of) => of.name },
      ...[["mean", ""], ["p50", "_p50"], ["p90", "_p90"], ["p99", "_p99"]].map(([title, part]) => ({ title, get: (of) => of[part], show: (v) => format.duration(v) }))],
  });
  const latencies = () => section("latency", "Latency", "How many percent of the requests had to wait no longer than that, from their arrival.",
    curves("Times to the first token and to the end, by percentiles of requests", "Time to the first token, and to the end of the request",
      [curve("ttft", "time to first token"), curve("endToEnd", "end to end")]),
    curves("Time per output token by percentiles of requests", "Time per output token", [curve("tpot", "time per output token")]), latencyTable());

  return { headline, breakdown, latencies };
})();
