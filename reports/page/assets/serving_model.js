// Holds the parts that the scripts of a serving page share.
//   orrery.serving        the facts of the run, null where nothing was served
//   orrery.gutter         pixels of names at the left of all that shares the range of time
//   orrery.servingModel   {activity(name), at(ps), iteration, request, phases, laneOf, lanes, states}
//     iteration, request: columns by name; phases: what requests went through, {start, finish, kind, request} as columns
//     lanes: of requests that lie side by side, a list of phases each; laneOf[request], -1 where there was no lane
//     states: by replica {at, bytes, running, waiting}
"use strict";

orrery.serving = orrery.data.serving;
orrery.gutter = 148;

orrery.servingModel = orrery.serving && (() => {
  const { column, serving, format, activities } = orrery;
  const kMostLanes = 256;
  const columns = (prefix, names) => Object.fromEntries(names.map((name) => [name, column(`${prefix}.${name}`)]));
  const activity = (name) => activities.findIndex((one) => one.name === name);
  const at = (ps) => format.spanned(ps * 1e-12, serving.duration_ps * 1e-12, serving.duration_ps * 1e-18);

  const iteration = columns("iteration", ["replica", "kind", "count", "promptTokens", "decodeRequests"]);
  iteration.start = Array.from({ length: serving.stages }, (_, s) => column(`iteration.start.${s}`));
  iteration.finish = Array.from({ length: serving.stages }, (_, s) => column(`iteration.finish.${s}`));
  const request = columns("request", ["arrival", "start", "first", "sent", "received", "end", "promptTokens", "outputTokens",
    "replica", "decodeReplica", "preemptions"]);

  // Each request on the first lane that is free when it arrives.
  const laneOf = new Int32Array(request.arrival.length).fill(-1);
  const free = [];
  request.arrival.forEach((arrival, r) => {
    let lane = free.findIndex((end) => end <= arrival);
    if (lane < 0 && free.length < kMostLanes) lane = free.length;
    if (lane < 0) return;
    free[lane] = request.end[r];
    laneOf[r] = lane;
  });

  const phases = { start: [], finish: [], kind: [], request: [] };
  const lanes = free.map(() => []);
  const add = (r, kind, start, finish) => {
    if (finish <= start || laneOf[r] < 0) return;
    lanes[laneOf[r]].push(phases.start.length);
    phases.start.push(start);
    phases.finish.push(finish);
    phases.kind.push(kind);
    phases.request.push(r);
  };
  for (let r = 0; r < laneOf.length; ++r) {
    const travelled = request.received[r] >= 0;
    add(r, "queued", request.arrival[r], request.start[r]);
    add(r, "prompt", request.start[r], request.first[r]);
    if (travelled) {
      add(r, "queued", request.first[r], request.sent[r]);
      add(r, "transfer", request.sent[r], request.received[r]);
    }
    add(r, "output", travelled ? request.received[r] : request.first[r], request.end[r]);
  }

  const state = columns("state", ["replica", "at", "bytes", "running", "waiting"]);
  const states = serving.replicas.map(() => ({ at: [], bytes: [], running: [], waiting: [] }));
  state.at.forEach((time, i) => {
    const of = states[state.replica[i]];
    of.at.push(time);
    for (const name of ["bytes", "running", "waiting"]) of[name].push(state[name][i]);
  });
  for (const of of states) {
    of.at.push(serving.duration_ps);
    for (const name of ["bytes", "running", "waiting"]) of[name].push(of[name][of[name].length - 1] ?? 0);
  }

  return { activity, at, iteration, request, phases, laneOf, lanes, states };
})();
