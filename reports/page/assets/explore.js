// The page of orrery explore: an experiment whose knobs turn, and what it gives.
"use strict";

(() => {
  const { data, el, section, format, table, ask, askLines, exploreViews } = orrery;
  const kStart = "model: llama3.1-8b\ncluster: { base: dgx-h100, nodes: 2 }\nplan: { tensor_parallel: 4, global_batch_size: 64, zero_stage: 1 }\n";
  const kMostPins = 8;
  const kWait = 60;  // ms after the last turn of a knob

  // The address holds the whole state, so that it can be sent.
  const packed = (state) => btoa(unescape(encodeURIComponent(JSON.stringify(state)))).replaceAll("+", "-").replaceAll("/", "_");
  const unpacked = (text) => {
    try {
      const state = JSON.parse(decodeURIComponent(escape(atob(text.replaceAll("-", "+").replaceAll("_", "/")))));
      return typeof state.text === "string" && Array.isArray(state.changes) ? state : null;
    } catch { return null; }
  };
  let state = unpacked(location.hash.slice(1)) ?? { text: data.setup || kStart, changes: [] };
  const pins = [];
  let pinned = null;
  const undone = [];
  const done = [];
  let last = null;

  const parts = {};
  for (const part of ["headline", "errors", "terms", "memory", "trust", "pins", "neighbours", "best"]) parts[part] = el("div", { class: part });
  parts.picture = el("img", { alt: "Timeline of the step, a row for each stage" });
  parts.connection = el("p", { class: "verdict bad", role: "status", hidden: true }, "The server does not answer; what you see is its last answer.");
  const editor = el("textarea", { rows: "16", spellcheck: "false", "aria-label": "The experiment as YAML", on: { change: () => go({ text: editor.value, changes: [] }) } });

  const setup = () => ({ text: state.text, changes: state.changes });
  const question = (more = {}) => ({ setup: setup(), pinned: pinned ? pinned.setup : null, ...more });

  const errorLine = (error) => el("li", {}, `${error.line > 0 ? `line ${error.line}: ` : ""}${error.pointer ? `${error.pointer.slice(1).replaceAll("/", ".")}: ` : ""}${error.message}`);
  const showErrors = (errors) => {
    parts.errors.replaceChildren(errors.length === 0 ? "" : el("div", { class: "notice warning", role: "alert" }, el("h3", {}, "Not possible"), el("ul", {}, errors.map(errorLine))));
    document.body.classList.toggle("old", errors.length > 0);  // the last good answer stays, greyed
    const line = errors.find((error) => error.line > 0)?.line;
    if (line && document.activeElement === editor) {
      const lines = editor.value.split("\n");
      const from = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
      editor.setSelectionRange(from, from + (lines[line - 1]?.length ?? 0));
    }
  };

  const redraw = (answer) => {
    last = answer;
    document.body.dataset.turn = String(Number(document.body.dataset.turn ?? 0) + 1);
    parts.headline.replaceChildren(exploreViews.headline(answer));
    parts.terms.replaceChildren(exploreViews.terms(answer) ?? "");
    const memory = exploreViews.memory(answer);
    parts.memory.replaceChildren(memory ?? "");
    parts.memory.closest("section").hidden = !memory;
    parts.trust.replaceChildren(...exploreViews.trust(answer).filter(Boolean));
    if (document.activeElement !== editor) editor.value = answer.experiment;
    knobs.show(answer);
    parts.picture.classList.add("waits");
  };
  const drawPicture = async () => {
    const answer = await ask("picture", question());
    if (!answer) return;
    parts.picture.classList.remove("waits");
    parts.picture.hidden = !answer.svg;
    if (answer.svg) parts.picture.src = `data:image/svg+xml,${encodeURIComponent(answer.svg)}`;
  };

  // The values of every knob, one key after the other, until the experiment changes.
  const tryNeighbours = async (of) => {
    const rows = [];
    for (const key of knobs.first()) {
      const answer = await ask("variants", question({ key }));
      if (of !== state) return;
      if (!answer || answer.errors) continue;
      knobs.variants(key, answer.values);
      if (key.startsWith("model.")) continue;  // another task, not another way to do this one
      const now = last.result.tokens_per_s / last.result.gpus;
      for (const one of answer.values) {
        const share = one.tokens_per_s_per_gpu / now - 1;
        if (one.feasible && Math.abs(share) > 5e-4) rows.push({ key, ...one, share });
      }
      rows.sort((a, b) => b.share - a.share);
      parts.neighbours.replaceChildren(rows.length === 0 ? "" : table({
        caption: "One change away, best first", rows, limit: 8, onRow: (row) => change(row.key, row.value),
        columns: [
          { title: "key", get: (row) => row.key }, { title: "value", get: (row) => row.value },
          { title: last.serves ? "time per token" : "step time", get: (row) => row.time_s, show: format.duration },
          { title: "tokens/s per GPU", get: (row) => row.share, show: (v) => `${v > 0 ? "+" : "\u2212"}${(100 * Math.abs(v)).toFixed(1)} %` },
        ],
      }));
    }
  };

  const refresh = async () => {
    const of = state;
    history.replaceState(null, "", `${location.search}#${packed(state)}`);
    try {
      const answer = await ask("figures", question());
      if (!answer || of !== state) return;
      showErrors(answer.errors ?? []);
      if (answer.errors) return;
      redraw(answer);
      await drawPicture();
      await tryNeighbours(of);
    } catch { /* the line about the connection says it */ }
  };
  let timer = 0;
  const soon = () => { clearTimeout(timer); timer = setTimeout(refresh, kWait); };

  const go = (next) => {
    done.push(state);
    undone.length = 0;
    state = next;
    soon();
  };
  const change = (key, value) => {
    const changes = state.changes.filter((one) => !one.startsWith(`${key}=`) && !(key === "model" && one.startsWith("model.")));
    go({ text: state.text, changes: [...changes, `${key}=${value === null ? "null" : value}`] });
  };
  const step = (from, to) => {
    if (from.length === 0) return;
    to.push(state);
    state = from.pop();
    refresh();
  };
  const undo = () => step(done, undone);
  const redo = () => step(undone, done);
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target === editor) return;
    event.preventDefault();
    (event.shiftKey ? redo : undo)();
  });
  addEventListener("hashchange", () => { const sent = unpacked(location.hash.slice(1)); if (sent) go(sent); });

  const showPins = () => parts.pins.replaceChildren(pins.length === 0 ? "" : table({
    caption: "Pinned runs; differences are to the chosen one", rows: pins, onRow: (pin) => { pinned = pin; go(pin.setup); },
    columns: [
      { title: "", get: (pin) => (pin === pinned ? "\u25cf" : "") },
      { title: "changes", get: (pin) => pin.setup.changes.join(" ") || "the experiment" },
      { title: "step time", get: (pin) => pin.result.step_time_s ?? pin.result.tpot_s, show: format.duration },
      { title: "tokens/s", get: (pin) => pin.result.tokens_per_s, show: (v) => format.scaled(v) },
      { title: "MFU", get: (pin) => pin.result.mfu ?? NaN, show: (v) => format.percent(v) },
      { title: "memory", get: (pin) => pin.result.memory?.peak_gb ?? NaN, show: (v) => `${format.digits(v, 4)} GB` },
    ],
  }));
  const pin = () => {
    if (!last) return;
    pinned = { setup: setup(), result: last.result };
    pins.unshift(pinned);
    pins.length = Math.min(pins.length, kMostPins);
    showPins();
    refresh();
  };
  const unpin = () => {
    pinned = null;
    pins.length = 0;
    showPins();
    refresh();
  };

  const findBest = async () => {
    const of = state;
    parts.best.replaceChildren(el("p", { role: "status" }, "Searching\u2026"));
    const answer = await askLines("best", question(), ({ done: simulated, total }) => {
      parts.best.replaceChildren(el("p", { role: "status" }, `${format.count(simulated)} of ${format.count(total)}`));
    });
    if (!answer || of !== state) return parts.best.replaceChildren("");
    if (answer.errors) return parts.best.replaceChildren(el("ul", {}, answer.errors.map(errorLine)));
    const claim = answer.optimal ? "The first is optimal: no plan of the usual space is better." : "The search ended before it could prove that no plan is better.";
    return parts.best.replaceChildren(el("p", { class: "note" }, `${claim} ${format.count(answer.points)} plans, ${format.count(answer.simulated)} simulated.`), table({
      caption: "Best plans; choose one to take it", rows: answer.plans, onRow: (plan) => go({ text: state.text, changes: [...state.changes.filter((one) => !one.startsWith("plan.")), ...plan.changes] }),
      columns: [
        { title: "plan", get: (plan) => plan.changes.map((one) => one.replace("plan.", "")).join(" ") },
        { title: answer.objective.replaceAll("_", " "), get: (plan) => plan.result[answer.objective], show: (v) => format.digits(v, 4) },
        { title: "memory", get: (plan) => plan.result.memory?.peak_gb ?? NaN, show: (v) => `${format.digits(v, 4)} GB` },
      ],
    }));
  };

  const takeAway = async (form) => {
    const answer = await ask("take", question({ form }));
    if (!answer) return;
    if (answer.errors) { showErrors(answer.errors); return; }
    const url = URL.createObjectURL(new Blob([answer.text], { type: answer.type }));
    el("a", { href: url, download: answer.name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  };
  const button = (text, on) => el("button", { type: "button", on: { click: on } }, text);
  const command = () => `orrery simulate experiment.yaml${state.changes.map((one) => ` '${one.replaceAll("'", "'\\''")}'`).join("")}`;
  const line = el("code", {});
  const showCommand = () => { line.textContent = command(); };

  const knobs = orrery.knobs({ catalog: data.catalog, change });
  orrery.connection.onChange((now) => {
    parts.connection.hidden = now;
    document.body.classList.toggle("old", !now);
    if (!now) setTimeout(refresh, 1000);
  });

  orrery.start({
    title: "Orrery explore",
    lines: [`orrery ${data.catalog.version}; every figure is simulated on this machine, as orrery simulate does`],
    build: (main) => {
      main.append(el("div", { class: "explore" }, knobs.element, el("div", {},
        el("div", { class: "controls" }, button("Undo", undo), button("Redo", redo), button("Pin", pin), button("Unpin all", unpin), button("Find the best plan", findBest)),
        parts.connection, parts.errors,
        section("figures", "Figures", null, parts.headline, parts.trust, parts.pins),
        section("step", "The step", null, parts.picture, parts.terms),
        section("neighbours", "What else", null, parts.neighbours, parts.best),
        section("memory", "Memory", null, parts.memory),
        section("experiment", "Experiment", "Edit it and leave the field, or press a knob; the address of this page holds it whole.", editor),
        section("take", "Take away", null, el("div", { class: "controls" },
          [["experiment", "Experiment"], ["json", "JSON"], ["csv", "CSV"], ["svg", "Picture"], ["trace", "Chrome trace"], ["page", "Page of the run"], ...data.catalog.frameworks.map((one) => [one, `Flags: ${one}`])]
            .map(([form, text]) => button(text, () => takeAway(form)))),
        el("details", { on: { toggle: showCommand } }, el("summary", {}, "Command line"), line)))));
    },
  });
  refresh();
})();
