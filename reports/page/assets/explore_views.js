// What orrery explore draws of an answer.
//   orrery.exploreViews   {headline(answer), terms(answer), memory(answer), trust(answer)}: elements
"use strict";

orrery.exploreViews = (() => {
  const { el, format, figure, figures, table, notice, bar } = orrery;
  const activity = (name) => orrery.activities.findIndex((one) => one.name === name);
  const kActivities = {
    compute: "forward", optimizer: "optimizer", host: "host", bubble: "bubble", exposed_tensor: "tensor communication",
    exposed_pipeline: "messages between stages", exposed_data: "gradients and parameters", exposed_context: "context communication",
    exposed_expert: "expert communication", exposed_offload: "copies to and from the host",
  };
  const signed = (share) => `${share > 0 ? "+" : share < 0 ? "\u2212" : "\u00b1"}${(100 * Math.abs(share)).toFixed(1)} %`;

  // A figure with its difference to the pinned run.
  const against = (answer, key, show, note = null) => {
    const now = answer.result[key];
    const before = answer.difference?.result[key];
    const change = Number.isFinite(before) && before !== 0 && Number.isFinite(now) ? `${signed(now / before - 1)} against pinned ${show(before)}` : null;
    return Number.isFinite(now) ? [show(now), [change, note].filter(Boolean).join("; ") || null] : null;
  };
  const row = (label, of) => (of ? figure(label, of[0], of[1]) : null);
  const range = (result) => (Number.isFinite(result.step_time_s_p10)
    ? `${format.duration(result.step_time_s_p10)} to ${format.duration(result.step_time_s_p90)} in 8 of 10 measured runs` : null);
  const memory = ({ result }) => (Number.isFinite(result.memory?.peak_gb)
    ? figure("memory of the fullest GPU", `${format.digits(result.memory.reserved_gb ?? result.memory.peak_gb, 4)} GB`, `of ${format.digits(result.memory.usable_gb, 4)} GB that can be used`) : null);
  const headline = (answer) => figures(
    answer.serves ? row("time to first token", against(answer, "ttft_s", format.duration)) : row("step time", against(answer, "step_time_s", format.duration, range(answer.result))),
    answer.serves ? row("time per output token", against(answer, "tpot_s", format.duration)) : null,
    row("throughput", against(answer, "tokens_per_s", (v) => `${format.scaled(v)} tokens/s`)),
    row("MFU", against(answer, "mfu", format.percent)),
    memory(answer),
    row("cost of a million tokens", against(answer, "usd_per_million_tokens", (v) => `$${format.digits(v, 3)}`)));

  const name = (term) => term.replaceAll("_", " ");
  const terms = (answer) => {
    const breakdown = answer.result.breakdown_s;
    if (!breakdown) return null;
    const pinned = new Map((answer.difference?.breakdown_s ?? []).map((term) => [term.term, term.pinned]));
    const rows = Object.entries(breakdown).filter(([term, seconds]) => seconds > 0 || pinned.get(term) > 0);
    if (rows.length === 0) return null;
    const total = rows.reduce((sum, [, seconds]) => sum + seconds, 0);
    return table({
      caption: "Where the time goes, mean over GPUs", rows,
      columns: [
        { title: "", get: ([term]) => name(term) },
        { title: "time", get: ([, seconds]) => seconds, show: (v) => format.spanned(v, total, total / 20000) },
        { title: "share", get: ([, seconds]) => seconds / total, show: (v) => format.percent(v) },
        ...(pinned.size > 0 ? [{ title: "against pinned", get: ([term, seconds]) => seconds - (pinned.get(term) ?? 0), show: (v) => `${v > 0 ? "+" : ""}${format.spanned(v, total, total / 20000)}` }] : []),
        { title: "", sort: false, numeric: false, get: ([, seconds]) => seconds, show: (v, [term]) => el("span", { class: "track" }, bar(v / total, activity(kActivities[term]))) },
      ],
    });
  };
  const stages = ({ result }) => {
    const list = result.memory?.per_stage;
    if (!Array.isArray(list) || list.length === 0) return null;
    const keys = Object.keys(list[0]).filter((key) => key.endsWith("_gb") && list.some((stage) => stage[key] > 0));
    const peaks = list.map((stage) => stage.peak_gb / result.memory.usable_gb);
    return table({
      caption: `Memory by stage, GB of ${format.digits(result.memory.usable_gb, 4)} that can be used`, rows: list.map((stage, i) => [i, stage]), limit: 16,
      columns: [{ title: "stage", get: ([i]) => i }, ...keys.map((key) => ({ title: name(key.slice(0, -3)), get: ([, stage]) => stage[key], show: (v) => format.digits(v, 3) })),
        { title: "of the card", sort: false, numeric: false, get: ([i]) => peaks[i], show: (v) => el("span", { class: "track" }, bar(v, activity(v > 1 ? "recompute" : "forward"))) }],
    });
  };
  const trust = (answer) => [
    notice("warning", "Does not fit", answer.result.reasons ?? []),
    notice("warning", "Warnings", answer.warnings),
    el("details", {}, el("summary", {}, "What was assumed"), notice("note", "", answer.result.assumptions ?? [])),
  ];
  return { headline, terms, memory: stages, trust };
})();
