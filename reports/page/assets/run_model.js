// Reads the columns of a run's page by span: a span is an operation of a class of ranks that are simulated as one.
//   orrery.run            the facts of the run, null where it has no timeline
//   orrery.gutter         pixels of names at the left of all that shares the range of time
//   orrery.model.classOf(span), .opOf(span), .rankName(rank), .describe(span, rank), .label(span)
//   orrery.model.causes   activity and words of waits, by their number
//   orrery.model.at(ps, length)   a moment of the run in words, as exact as format.picoseconds(length) is; without a
//                         length to a millionth of the run
//   orrery.model.onPath(span), .ranksOf(class), .classOfRank(rank) (-1: not on the page), .ops (columns of operations), .start, .finish, .before
"use strict";

orrery.run = orrery.data.run;
orrery.gutter = 148;

orrery.model = orrery.run && (() => {
  const { run, column, format } = orrery;
  const kNone = 0xffffffff;
  const ops = Object.fromEntries(["activity", "pass", "label", "stream", "slot", "layer", "microBatch", "chunk", "step", "message"]
    .map((name) => [name, column(`op.${name}`)]));
  const [start, finish, before] = ["start", "finish", "before"].map((name) => column(`span.${name}`));
  const activity = (name) => orrery.activities.findIndex((one) => one.name === name);

  const units = [[1e12, "s"], [1e9, "ms"], [1e6, "us"], [1e3, "ns"], [1, "ps"]];
  const unitOf = (ps) => units.find(([unit]) => ps >= unit) ?? units[units.length - 1];
  // All moments are in the unit that suits the run, so that they can be compared; long decimals stand in groups.
  const at = (ps, length) => {
    if (!length) return format.spanned(ps * 1e-12, run.makespan_ps * 1e-12, run.makespan_ps * 1e-18);
    const [unit, name] = unitOf(run.makespan_ps);
    const decimals = Math.max(0, Math.round(Math.log10(unit / Math.max(1, unitOf(length)[0] / 1000))));
    const [whole, part] = (ps / unit).toFixed(decimals).split(".");
    return `${whole}${part ? `.${part.replace(/(\d{3})(?=\d)/g, "$1\u202f")}` : ""} ${name}`;
  };

  const causes = ["tensor communication", "messages between stages", "gradients and parameters", "context communication",
    "expert communication", "copies to and from the host", "host", "bubble"]
    .map((name) => ({ name, activity: activity(name) }));

  const classOf = (span) => {
    let low = 0;
    let high = run.classes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (run.classes[middle].first_span <= span) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const opOf = (span, of = run.classes[classOf(span)]) => of.first_op + span - of.first_span;

  const rankName = (rank) => {
    const places = run.axes.map(({ name, size, stride }) => `${name} ${Math.floor(rank / stride) % size}`);
    return `rank ${rank}${places.length > 0 ? ` (${places.join(", ")})` : ""}`;
  };
  const placeOf = (rank) => `node ${Math.floor(rank / run.gpus_per_node)}, GPU ${rank % run.gpus_per_node}`;
  const ranksOf = (of) => of.ranks.split(", ").filter((part) => part !== "").flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, k) => first + k);
  });
  let classes = null;
  const classOfRank = (rank) => {
    classes ??= new Map(run.classes.flatMap((of, c) => [of.rank, ...ranksOf(of)].map((one) => [one, c])));
    return classes.get(rank) ?? -1;
  };

  const path = column("path.span");
  const pathSpans = new Set(path.filter((span) => span !== kNone));

  const label = (span) => run.labels[ops.label[opOf(span)]];
  const phases = ["forward pass", "recomputation", "backward pass", "synchronization", "optimizer", "weight gradients"];

  const communication = (of, op, span, rank) => {
    const [bytes, times] = run.messages[ops.message[op]];
    const [number, members, ranks] = run.groups[of][ops.slot[op]] ?? [null, 1, ""];
    const seconds = (finish[span] - start[span]) * 1e-12;
    const lines = [["bytes", times > 1 ? `${times} times ${format.bytes(bytes)}` : format.bytes(bytes)]];
    if (seconds > 0) lines.push(["rate", `${format.scaled(bytes * times / seconds, "B/s")}`]);
    const own = rank === run.classes[of].rank;
    if (number !== null) {
      lines.push(["communicator", own ? `${number}, of ${members} ranks` : `of ${members} ranks`]);
      const list = ranks.length > 70 ? `${ranks.slice(0, 70)}\u2026` : ranks;
      lines.push([own ? "its ranks" : `ranks of rank ${run.classes[of].rank}'s`, list]);
    }
    return lines;
  };
  const released = (span) => {
    const last = before[span];
    if (last === kNone) return [];
    const of = run.classes[classOf(last)];
    const gap = start[span] - finish[last];
    return [["released by", `${label(last)} of rank ${of.rank}${gap > 0 ? `, ${format.picoseconds(gap)} before` : ""}`]];
  };

  const describe = (span, rank) => {
    const c = classOf(span);
    const op = opOf(span, run.classes[c]);
    const shown = rank ?? run.classes[c].rank;
    const lines = [label(span), [rankName(shown), placeOf(shown)]];
    const add = (name, value) => { if (value >= 0) lines.push([name, String(value)]); };
    add("layer", ops.layer[op]);
    add("micro-batch", ops.microBatch[op]);
    if (ops.chunk[op] > 0) add("chunk", ops.chunk[op]);
    if (run.steps > 1) add("step", ops.step[op]);
    lines.push(["stream", run.streams[ops.stream[op]]], ["from", at(start[span], finish[span] - start[span])],
      ["takes", format.picoseconds(finish[span] - start[span])]);
    if (ops.message[op] >= 0) lines.push(...communication(c, op, span, shown));
    lines.push(...released(span));
    if (pathSpans.has(span)) lines.push(["", "on the critical path"]);
    return lines;
  };

  return {
    kNone, ops, at, start, finish, before, causes, phases, classOf, opOf, rankName, ranksOf, classOfRank, label, describe, activity,
    onPath: (span) => pathSpans.has(span),
  };
})();
