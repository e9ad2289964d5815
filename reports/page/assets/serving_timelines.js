// Shows a serving run over time; all sections share a range of time.
//   orrery.servingTimelines(range)   sections: iterations of replicas, requests, cache and queue
"use strict";

orrery.servingTimelines = (range) => {
  const { el, section, format, serving, servingModel: model } = orrery;
  const { iteration, request, phases } = model;
  const kMostSeries = 8;
  const kinds = ["prefill", "decode", "prefill and decode"];
  const kindActivity = kinds.map(model.activity);
  const phaseActivity = Object.fromEntries([["queued", "bubble"], ["prompt", "prefill"], ["transfer", "messages between stages"],
    ["output", "decode"]].map(([phase, name]) => [phase, model.activity(name)]));
  const colour = (a) => () => orrery.colour(a);

  // ---- iterations
  const ofReplica = serving.replicas.map(() => []);
  iteration.replica.forEach((replica, i) => ofReplica[replica].push(i));
  const textOf = (i) => {
    const [prompts, outputs] = [iteration.promptTokens[i], iteration.decodeRequests[i]];
    const text = [prompts > 0 ? `prefill ${prompts}` : null, outputs > 0 ? `decode ${outputs}` : null].filter(Boolean).join(" + ");
    return iteration.count[i] > 1 ? `${iteration.count[i]} \u00d7` : text;
  };
  const stageLane = (replica, stage) => ({
    title: serving.stages > 1 ? `${serving.replicas[replica]}, stage ${stage}` : serving.replicas[replica],
    height: 24, stage,
    layers: [{ start: iteration.start[stage], finish: iteration.finish[stage], index: Uint32Array.from(ofReplica[replica]),
      activity: (i) => kindActivity[iteration.kind[i]], text: textOf }],
  });
  const describeIteration = (lane, layer, i) => {
    const several = iteration.count[i] > 1;
    const [start, finish] = [layer.start[i], layer.finish[i]];
    const lines = [several ? `${format.count(iteration.count[i])} iterations with ${kinds[iteration.kind[i]]}` : textOf(i), [lane.title, ""]];
    if (iteration.promptTokens[i] > 0) lines.push(["tokens of prompts", format.count(iteration.promptTokens[i])]);
    if (iteration.decodeRequests[i] > 0) lines.push([several ? "requests with outputs, at most" : "requests with outputs", format.count(iteration.decodeRequests[i])]);
    lines.push(["from", model.at(start)], ["take", format.picoseconds(finish - start)]);
    return lines;
  };
  const replicas = orrery.timeline({
    label: "Iterations of all replicas and stages over time", range, gutter: orrery.gutter, describe: describeIteration, things: "spans",
    lanes: serving.replicas.flatMap((_, r) => Array.from({ length: serving.stages }, (__, s) => stageLane(r, s))),
  });
  const used = [...new Set(iteration.kind)].sort();
  const merged = serving.merged > 1 ? ` Up to ${format.count(serving.merged)} iterations of one kind that follow each other are one span.` : "";
  const cut = serving.left_out > 0 ? ` Recorded up to ${model.at(serving.recorded_until_ps)}: ${format.count(serving.left_out)} later iterations are left out.` : "";
  const all = el("button", { type: "button", on: { click: () => range.all() } }, "All of it");

  // ---- requests
  const describeRequest = (lane, layer, i) => {
    const r = phases.request[i];
    const travelled = request.received[r] >= 0;
    const lines = [`request ${r}: ${phases.kind[i]}`, ["takes", format.picoseconds(phases.finish[i] - phases.start[i])],
      ["arrived", model.at(request.arrival[r])], ["prompt", `${format.count(request.promptTokens[r])} tokens`],
      ["output", `${format.count(request.outputTokens[r])} tokens`],
      ["to its first token", format.picoseconds(request.first[r] - request.arrival[r])],
      ["to its end", format.picoseconds(request.end[r] - request.arrival[r])],
      ["on", serving.replicas[request.replica[r]]]];
    if (travelled) lines.push(["then on", serving.replicas[request.decodeReplica[r]]]);
    if (request.preemptions[r] > 0) lines.push(["lost its place", `${request.preemptions[r]} times`]);
    return lines;
  };
  const requestLane = (list, l) => ({
    title: `lane ${l}`, height: 16,
    layers: [{ start: phases.start, finish: phases.finish, index: Uint32Array.from(list),
      activity: (i) => phaseActivity[phases.kind[i]], hatched: (i) => phases.kind[i] === "queued",
      text: (i) => (phases.kind[i] === "output" ? String(phases.request[i]) : null) }],
  });
  const phaseNames = { [phaseActivity.prompt]: "prefill", [phaseActivity.transfer]: "keys and values travel", [phaseActivity.output]: "decode" };
  const requests = orrery.timeline({
    label: "Requests from arrival to end", range, gutter: orrery.gutter, describe: describeRequest, height: 380,
    things: "spans", kindName: (a, hatched) => (hatched ? "waits" : phaseNames[a]),
    lanes: model.lanes.map(requestLane),
  });
  const shownRequests = model.laneOf.reduce((sum, lane) => sum + (lane >= 0 ? 1 : 0), 0);
  const someRequests = shownRequests < serving.requests
    ? ` Shown are ${format.count(shownRequests)} of ${format.count(serving.requests)}: no more fit on the lanes.` : "";
  const phaseKinds = [...new Set(phases.kind)];
  const phaseLegend = orrery.legend([["queued", "waits"], ["prompt", "prefill"], ["transfer", "keys and values travel"], ["output", "decode"]]
    .filter(([phase]) => phaseKinds.includes(phase))
    .map(([phase, name]) => ({ name, hatched: phase === "queued",
      colour: phase === "queued" ? () => orrery.style("muted") : colour(phaseActivity[phase]) })));

  // ---- cache and queue
  const time = { format: (ps, span, step = span / 20) => format.spanned(ps * 1e-12, serving.duration_ps * 1e-12, step * 1e-12) };
  const shown = model.states.slice(0, kMostSeries);
  const caches = shown.map((of, r) => ({ name: serving.replicas[r], kind: "step", x: of.at, y: of.bytes.map((bytes) => bytes / 1e9), width: 1.4 }));
  let peak = { y: -1 };
  caches.forEach((one) => one.y.forEach((y, i) => { if (y > peak.y) peak = { x: one.x[i], y }; }));
  const limit = serving.cache_bytes / 1e9;
  const cache = orrery.chart({
    label: "What requests hold of the cache of each replica over time, GB on a GPU of the fullest stage", height: 240, range, gutter: orrery.gutter,
    series: caches, x: time, y: { label: "GB", min: 0 },
    levels: limit > 0 ? [{ y: limit, name: `room: ${format.digits(limit, 4)} GB`, colour: () => orrery.style("ink") }] : [],
    marks: peak.y > 0 ? [{ ...peak, name: `peak ${format.digits(peak.y, 4)} GB` }] : [],
    describe: (s, i) => [caches[s].name, ["from", model.at(caches[s].x[i])], ["holds", `${caches[s].y[i].toFixed(3)} GB`],
      ...(limit > 0 ? [["of its room", format.percent(caches[s].y[i] / limit)]] : [])],
  });
  const counts = shown.flatMap((of, r) => [["running", "running"], ["waiting", "waiting"]].map(([name, word]) => ({
    name: shown.length > 1 ? `${word}, ${serving.replicas[r]}` : word, kind: "step", x: of.at, y: of[name], width: 1.4,
    dash: name === "waiting" ? [5, 3] : undefined, colour: () => orrery.series(shown.length > 1 ? r : name === "waiting" ? 1 : 0),
  })));
  const queue = orrery.chart({
    label: "Requests that run and that wait on each replica over time", height: 220, range, gutter: orrery.gutter,
    series: counts, x: time, y: { label: "requests", min: 0 },
    describe: (s, i) => [counts[s].name, ["from", model.at(counts[s].x[i])], ["requests", format.count(counts[s].y[i])]],
  });
  const someReplicas = model.states.length > kMostSeries ? ` Shown are the first ${kMostSeries} of ${model.states.length} replicas.` : "";

  return [
    section("replicas", "Replicas", `Iterations of each replica and pipeline stage. Drag zooms, Shift and drag moves, a double click shows all.${merged}${cut}`,
      el("div", { class: "controls" }, all), orrery.legend(used.map((kind) => ({ name: kinds[kind], colour: colour(kindActivity[kind]) }))), replicas),
    section("requests", "Requests", `Each from its arrival to its end, on the first lane that is free.${someRequests}`, phaseLegend, requests),
    section("cache", "Cache and queue", `Pages of requests on a GPU of the stage that holds most, and requests with and without a place in a batch.${someReplicas}`, cache, queue),
  ];
};
