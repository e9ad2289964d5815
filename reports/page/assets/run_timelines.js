// The three timelines of a run's page, which share a range of time: passes of all stages, ranks by streams, and the
// operations of one pass.
//   orrery.timelines(range)   their sections
"use strict";

orrery.timelines = (range) => {
  const { el, section, format, run, model, column } = orrery;
  const pass = Object.fromEntries(["stage", "phase", "microBatch", "chunk", "step", "firstOp", "lastOp", "start", "finish"]
    .map((name) => [name, column(`pass.${name}`)]));
  const wait = Object.fromEntries(["class", "cause", "start", "finish"].map((name) => [name, column(`wait.${name}`)]));
  const passActivity = ["forward", "recomputation", "backward", "gradients and parameters", "optimizer", "weight gradients"]
    .map(model.activity);
  const state = { showPath: false, match: null, pass: null };

  const grouped = (keys, count) => {
    const lists = Array.from({ length: count }, () => []);
    for (let i = 0; i < keys.length; ++i) lists[keys[i]].push(i);
    return lists.map((list) => Uint32Array.from(list));
  };
  const passesOf = grouped(pass.stage, run.stage_classes.length);
  const waitsOf = grouped(wait.class, run.classes.length);
  // The time from which on the page has nothing: {kind: "rest"}, under all else; none where it has all.
  const restLayers = (from, what) => (from >= run.makespan_ps ? [] : [{
    kind: "rest", start: [from], finish: [run.makespan_ps], index: null, what,
    activity: () => model.activity("bubble"), text: () => "not on this page",
  }]);
  const describeRest = ({ start, what }) => [`${what} from ${model.at(start[0])} on are not on this page`];
  const operationsRest = restLayers(run.operations_until_ps, "operations");
  const scheduleRest = restLayers(run.schedule_until_ps, "passes and waits");
  // Where operations end, waits between them end too.
  const until = (list, from) => (from >= run.makespan_ps ? list : list.filter((i) => wait.start[i] < from));
  const shownWaits = waitsOf.map((list) => until(list, run.operations_until_ps));
  const waitLayer = (c, more = {}) => ({
    kind: "wait", class: c, start: wait.start, finish: wait.finish, index: waitsOf[c], ...more,
    activity: (i) => model.causes[wait.cause[i]].activity,
    hatched: () => true,
  });

  // Finds the operation of the compute stream that begins as a wait ends.
  const streamSpans = new Map();
  const spansOf = (c) => {
    if (!streamSpans.has(c)) {
      const of = run.classes[c];
      const lists = run.streams.map(() => []);
      for (let k = 0; k < of.ops; ++k) lists[model.ops.stream[of.first_op + k]].push(of.first_span + k);
      streamSpans.set(c, lists.map((list) => Uint32Array.from(list)));
    }
    return streamSpans.get(c);
  };
  const describeWait = (i, rank) => {
    const cause = model.causes[wait.cause[i]];
    const lines = [cause.name === "bubble" ? "bubble: nothing in flight" : `waits for ${cause.name}`,
      [model.rankName(rank), ""], ["from", model.at(wait.start[i], wait.finish[i] - wait.start[i])],
      ["takes", format.picoseconds(wait.finish[i] - wait.start[i])]];
    const c = wait.class[i];
    const compute = spansOf(c)[0];
    const next = compute[orrery.spans.firstAfter({ start: model.start, finish: model.finish, index: compute }, wait.start[i])];
    if (next === undefined) return lines;
    lines.push(["until", model.label(next)]);
    const last = model.before[next];
    if (last !== model.kNone) lines.push(["which waits for", `${model.label(last)} of rank ${run.classes[model.classOf(last)].rank}`]);
    return lines;
  };

  // What belongs to no micro-batch is no pass: long waits may lie in it, between pieces of work too short to be seen.
  const kNoPass = 4;
  const piecesOf = (s) => {
    const c = run.stage_classes[s];
    const waits = c === model.kNone ? [] : waitsOf[c];
    const pieces = { start: [], finish: [], of: [] };
    const add = (i, start, finish) => {
      if (finish <= start) return;
      pieces.start.push(start);
      pieces.finish.push(finish);
      pieces.of.push(i);
    };
    for (const i of passesOf[s]) {
      if (pass.phase[i] !== kNoPass) continue;
      let from = pass.start[i];
      let k = orrery.spans.firstAfter({ start: wait.start, finish: wait.finish, index: waits }, from);
      for (; k < waits.length && wait.start[waits[k]] < pass.finish[i]; ++k) {
        add(i, from, wait.start[waits[k]]);
        from = Math.max(from, wait.finish[waits[k]]);
      }
      add(i, from, pass.finish[i]);
    }
    return pieces;
  };
  const describeOther = (layer, i) => (layer.kind === "rest" ? describeRest(layer) : describeWait(i, run.classes[layer.class].rank));

  const describePass = (i) => {
    const lines = [pass.phase[i] === 4 ? "optimizer and what belongs to no micro-batch" : model.phases[pass.phase[i]],
      ["stage", String(pass.stage[i])]];
    if (pass.microBatch[i] >= 0) lines.push(["micro-batch", String(pass.microBatch[i])]);
    if (pass.chunk[i] > 0) lines.push(["chunk", String(pass.chunk[i])]);
    if (run.steps > 1) lines.push(["step", String(pass.step[i])]);
    lines.push(["from", model.at(pass.start[i], pass.finish[i] - pass.start[i])],
      ["takes", format.picoseconds(pass.finish[i] - pass.start[i])], ["", "click: its layers"]);
    return lines;
  };

  const describePiece = (layer, k) => [...describePass(layer.of[k]).slice(0, -3), ["from", model.at(layer.start[k], layer.finish[k] - layer.start[k])],
    ["takes", format.picoseconds(layer.finish[k] - layer.start[k])], ["", "click: its operations"]];

  // ---- passes of all stages
  const passesOnPath = () => {
    const [rank, start] = [column("path.rank"), column("path.start")];
    const stages = run.axes.find(({ name }) => name === "pp") ?? { size: 1, stride: 1 };
    const marked = new Set();
    rank.forEach((one, i) => {
      const s = one === model.kNone ? -1 : Math.floor(one / stages.stride) % stages.size;
      if (s < 0) return;
      const at = orrery.spans.firstAfter({ start: pass.start, finish: pass.finish, index: passesOf[s] }, start[i]);
      if (at < passesOf[s].length && pass.start[passesOf[s][at]] <= start[i]) marked.add(passesOf[s][at]);
    });
    return marked;
  };
  let onPath = null;
  const passLayer = (s) => ({
    edge: (i) => state.showPath && (onPath ??= passesOnPath()).has(i),
    kind: "pass", start: pass.start, finish: pass.finish, index: realPasses[s],
    activity: (i) => passActivity[pass.phase[i]],
    text: (i) => (pass.microBatch[i] >= 0 ? String(pass.microBatch[i]) : null),
  });
  // Only passes of micro-batches, and pieces of what is none.
  const realPasses = passesOf.map((list) => list.filter((i) => pass.phase[i] !== kNoPass));
  const pieces = passesOf.map((_, s) => piecesOf(s));
  const pieceLayer = (s) => ({
    kind: "piece", start: pieces[s].start, finish: pieces[s].finish, index: null, of: pieces[s].of,
    activity: () => passActivity[kNoPass], text: () => null,
    edge: (k) => state.showPath && (onPath ??= passesOnPath()).has(pieces[s].of[k]),
  });
  const stageLanes = () => run.stage_classes.map((c, s) => ({
    title: run.stage_classes.length > 1 ? `stage ${s}` : "rank 0", height: run.stage_classes.length > 24 ? 16 : 24, stage: s,
    // Waits inside a pass are drawn over it where there is room for them.
    layers: [...scheduleRest, ...(c === model.kNone ? [passLayer(s), pieceLayer(s)]
      : [waitLayer(c), pieceLayer(s), passLayer(s), waitLayer(c, { least: 3 }), { ...passLayer(s), words: true, edge: null }])],
  }));
  const schedule = orrery.timeline({
    label: "Passes of all pipeline stages over time", range, lanes: stageLanes(), gutter: orrery.gutter,
    things: "passes and waits",
    describe: (lane, layer, i) => (layer.kind === "pass" ? describePass(i) : layer.kind === "piece" ? describePiece(layer, i) : describeOther(layer, i)),
    onClick: (number, layer, i) => {
      const at = layer.kind === "pass" ? i : layer.kind === "piece" ? layer.of[i] : passesOf[number].find((k) => pass.finish[k] > layer.start[i]);
      if (at !== undefined) choosePass(at);
    },
  });

  // ---- ranks by streams
  const open = new Set(run.classes.length <= 4 ? run.classes.keys() : []);
  const unfolded = new Set();
  const spanLayer = (c, spans, rank) => {
    const { first_op: firstOp, first_span: firstSpan } = run.classes[c];
    const op = (i) => i - firstSpan + firstOp;
    return {
      kind: "span", rank, op, start: model.start, finish: model.finish, index: spans,
      activity: (i) => model.ops.activity[op(i)],
      text: (i) => { const mb = model.ops.microBatch[op(i)]; return mb >= 0 ? String(mb) : null; },
      edge: (i) => (state.showPath && model.onPath(i)) || (state.match !== null && state.match(i, rank)),
    };
  };
  const streamLanes = (c, rank, indent) => spansOf(c).flatMap((spans, s) => (spans.length === 0 ? [] : [{
    title: run.streams[s], indent, height: 18,
    layers: [...operationsRest, ...(s === 0 ? [waitLayer(c, { index: shownWaits[c] })] : []), spanLayer(c, spans, rank)],
  }]));
  const flip = (set, key) => () => {
    if (!set.delete(key)) set.add(key);
    ranks.timeline.choose(null);
    ranks.timeline.setLanes(rankLanes());
  };
  const rankLane = (c, rank, key, indent) => {
    const lane = {
      title: rankTitle(c, rank, key), indent, height: 20, strong: true,
      heading: { open: open.has(key), toggle: flip(open, key) },
      layers: [...operationsRest, waitLayer(c, { index: shownWaits[c] }), spanLayer(c, spansOf(c)[0], rank)],
    };
    return open.has(key) ? [{ ...lane, layers: [] }, ...streamLanes(c, rank, indent + 1)] : [lane];
  };
  const rankTitle = (c, rank, key) => {
    const alike = run.classes[c].count;
    return typeof key === "number" && alike > 1 ? `rank ${rank}, ${alike} alike` : `rank ${rank}`;
  };
  const alikeLane = (c) => ({
    title: `the other ${run.classes[c].count - 1}`, indent: 1, height: 18,
    heading: { open: unfolded.has(c), toggle: flip(unfolded, c) }, layers: [],
  });
  const rankLanes = () => run.classes.flatMap((of, c) => {
    const lanes = rankLane(c, of.rank, c, 0);
    if (of.count < 2 || of.ranks === "" || !open.has(c)) return lanes;
    const others = unfolded.has(c) ? model.ranksOf(of).filter((rank) => rank !== of.rank) : [];
    return [...lanes, alikeLane(c), ...others.flatMap((rank) => rankLane(c, rank, `${c} ${rank}`, 1))];
  });
  const describeSpan = (lane, layer, i) => (layer.kind === "span" ? model.describe(i, layer.rank) : describeOther(layer, i));
  const ranks = orrery.timeline({
    label: "Ranks and their streams over time", range, lanes: rankLanes(), gutter: orrery.gutter, describe: describeSpan, height: 460,
    things: "operations and waits",
  });

  // ---- one pass
  const passRange = orrery.timeRange(0, 1);
  const layersLane = (title, c, spans, waits) => ({
    title, height: 26,
    layers: [...(waits ? [waits] : []), {
      ...spanLayer(c, spans, run.classes[c].rank),
      text: (i) => {
        const layer = model.ops.layer[model.opOf(i)];
        return layer >= 0 ? `${layer} ${model.label(i).split(" ").slice(1).join(" ")}` : model.label(i);
      },
    }],
  });
  const within = (i, c) => {
    const of = run.classes[c];
    const first = of.first_op + pass.firstOp[i];
    const same = (op) => ["pass", "microBatch", "chunk", "step"].every((name) => model.ops[name][op] === model.ops[name][first]);
    return spansOf(c).map((spans) => spans.filter((span) => same(model.opOf(span, of))));
  };
  const layers = orrery.timeline({
    label: "Operations of the chosen pass", range: passRange, lanes: [], gutter: orrery.gutter, describe: describeSpan,
    things: "operations and waits",
    origin: () => (state.pass === null ? 0 : pass.start[state.pass]),
  });
  const passTitle = el("p", { class: "note", "aria-live": "polite" });
  const nameOfPass = (i) => `${model.phases[pass.phase[i]]} of ${pass.microBatch[i] >= 0 ? `micro-batch ${pass.microBatch[i]}` : "no single micro-batch"} `
    + `on stage ${pass.stage[i]}`;
  const choosePass = (i) => {
    const c = run.stage_classes[pass.stage[i]];
    schedule.timeline.choose(pass.stage[i], pass.start[i], pass.finish[i]);
    if (c === model.kNone || pass.firstOp[i] >= run.classes[c].ops) {
      passTitle.textContent = `${nameOfPass(i)}: its operations are not on this page.`;
      layers.timeline.setLanes([]);
      return;
    }
    state.pass = i;
    const streams = within(i, c);
    const all = streams.flatMap((list) => [...list]);
    const margin = (pass.finish[i] - pass.start[i]) * 0.01;
    const from = all.reduce((least, span) => Math.min(least, model.start[span]), pass.start[i]);
    const to = all.reduce((most, span) => Math.max(most, model.finish[span]), pass.finish[i]);
    passRange.bounds(Math.max(from, pass.start[i] - 40 * margin) - margin, Math.min(to, pass.finish[i] + 40 * margin) + margin);
    const rank = run.classes[c].rank;
    layers.timeline.setLanes(streams.flatMap((spans, s) => (spans.length === 0 ? []
      : [layersLane(run.streams[s], c, spans, s === 0 ? waitLayer(c) : null)])));
    passTitle.textContent = `${nameOfPass(i)}, ${model.rankName(rank)}: ${format.picoseconds(pass.finish[i] - pass.start[i])}. Time counts from the beginning of the pass.`;
  };

  // ---- controls
  const redraw = () => { for (const one of [schedule, ranks, layers]) one.timeline.redraw(); };
  const controls = orrery.runControls({
    range,
    markPath: (on) => { state.showPath = on; redraw(); },
    mark: (match) => { state.match = match; redraw(); },
    show: (span, wanted) => {
      const c = model.classOf(span);
      const rank = wanted ?? run.classes[c].rank;
      open.add(c);
      if (rank !== run.classes[c].rank) {
        unfolded.add(c);
        open.add(`${c} ${rank}`);
      }
      ranks.timeline.setLanes(rankLanes());
      const length = model.finish[span] - model.start[span];
      range.set(model.start[span] - 8 * length, model.finish[span] + 8 * length);
      const number = ranks.timeline.lanes.findIndex((lane) => lane.layers.some((layer) => layer.kind === "span"
        && layer.rank === rank && layer.index.includes(span)));
      ranks.timeline.choose(number, model.start[span], model.finish[span]);
      ranks.timeline.reveal(number);
    },
  });

  const used = (list) => [...new Set(list)].sort((a, b) => a - b);
  const colour = (a) => () => orrery.colour(a);
  const legend = orrery.legend([
    ...used(model.ops.activity).map((a) => ({ name: orrery.activities[a].name, colour: colour(a) })),
    ...used(wait.cause).map((cause) => model.causes[cause]).map(({ name, activity }) => ({
      name: name === "bubble" ? "bubble" : name === "host" ? "waits for the host" : `exposed: ${name}`, hatched: true,
      colour: () => (name === "bubble" ? orrery.style("muted") : orrery.colour(activity)),
    })),
  ]);

  const shownRanks = run.classes.reduce((sum, of) => sum + of.count, 0);
  const folded = run.all_classes < run.ranks ? `; of ${format.count(run.ranks)} ranks, ${format.plural(run.all_classes, "differs", "differ")}, and the others are folded into them` : "";
  const cutAt = (what, ps) => (ps < run.makespan_ps ? `${what} up to ${model.at(ps)}` : null);
  const limited = (what, ...cuts) => {
    const list = cuts.filter(Boolean);
    return list.length === 0 ? "" : ` A page holds ${format.count(run.max_spans)} ${what} at most; shown are ${list.join(", ")}.`;
  };
  const limitOfOperations = limited("operations", shownRanks < run.ranks ? `${format.count(shownRanks)} of ${format.count(run.ranks)} ranks` : null,
    cutAt("operations", run.operations_until_ps), cutAt("the critical path", run.path_until_ps));
  const limitOfPasses = limited("passes", cutAt("passes and waits", run.schedule_until_ps));
  const first = passesOf.flatMap((list) => [...list.slice(0, 200)]).find((i) => pass.microBatch[i] >= 0);
  if (first !== undefined) choosePass(first);
  return [
    section("schedule", "Schedule", "Passes of each pipeline stage with their micro-batch. Drag zooms, Shift and drag moves, a click on a pass shows its layers. "
      + `From the keyboard: N and P, the arrow keys, Enter.${limitOfPasses}`,
      controls,
      legend, schedule),
    section("pass", "Layers of one pass", null, passTitle, layers),
    section("ranks", "Ranks and streams", `${format.count(model.start.length)} operations${folded}.${limitOfOperations}`, ranks),
  ];
};
