// Views of plans (plans.js) that the pages of comparisons, searches and sweeps share.
//   orrery.stacks({plans, rows, list, title, limit, onRow})   bars of what makes up each plan's time or memory;
//                                          list "breakdown", "critical_path" or "memory"
//   orrery.why({plans, candidates, first, second})  chooses two plans and attributes their difference term by term
//   orrery.scatter({plans, rows, x, y, colour, front, best, onPlan, better})  any two axes of the plans
//                                          plans that do not fit are hollow, and on no line
//   orrery.planDetail(plans, i)            all of one plan, with the overrides that make it
"use strict";

Object.assign(orrery, (() => {
  const { el, format, tooltip, painted } = orrery;

  const { choice, check } = orrery;

  // Parts of time by the activity that they are; groups of memory.
  const kActivityOf = {
    compute: "forward", optimizer: "optimizer", bubble: "bubble", host: "host", wait: "recomputation",
    tensor: "tensor communication", pipeline: "messages between stages", data: "gradients and parameters",
    context: "context communication", expert: "expert communication", offload: "copies to and from the host",
    prefill: "forward", decode: "backward", mixed: "recomputation", idle: "bubble", weights: "forward", cache: "optimizer",
    parameters: "forward", gradients: "backward", "optimizer states": "optimizer",
    activations: "tensor communication", workspace: "copies to and from the host",
  };
  const kMemoryGroup = {
    weights: "weights", cache: "cache",
    parameters: "parameters", gradients: "gradients", main_weights: "optimizer states", optimizer_states: "optimizer states",
    residual: "activations", attention: "activations", mlp: "activations", experts: "activations",
    vocabulary: "activations", for_weight_gradients: "activations",
  };
  const colourOf = (name) => {
    const activity = kActivityOf[name.replace(/^exposed_/, "")] ?? "host";
    const number = orrery.activities.findIndex((one) => one.name === activity);
    return () => (activity === "bubble" ? orrery.style("muted") : orrery.colour(number));
  };
  const isHatched = (name) => name === "bubble";
  const words = (name) => name.replaceAll("_", " ");
  const amount = (list, value) => (list === "memory" ? format.bytes(value) : format.picoseconds(value));

  const grouped = (list, parts) => {
    if (list !== "memory") return parts;
    const groups = new Map();
    for (const part of parts) {
      const name = kMemoryGroup[part.name] ?? "workspace";
      groups.set(name, (groups.get(name) ?? 0) + part.value);
    }
    return [...groups].map(([name, value]) => ({ name, value }));
  };

  const stacks = ({ plans, rows, list, title, limit = 24, onRow }) => {
    const bars = rows.map((i) => ({ i, parts: grouped(list, plans[list](i)) }));
    const labels = plans.labels(rows);
    const labelOf = (i) => (plans.state(i) === 0 ? labels(i) : `${labels(i)} (does not fit)`);
    const total = (bar) => bar.parts.reduce((sum, part) => sum + part.value, 0);
    const most = Math.max(...bars.map(total), 1);
    const usable = list === "memory" ? 1e9 * (plans.figure("memory.usable_gb")?.[rows[0]] ?? NaN) : NaN;
    const whole = Math.max(most, Number.isFinite(usable) && usable < 2 * most ? usable : 0);
    const names = [];
    for (const bar of bars) for (const part of bar.parts) if (!names.includes(part.name)) names.push(part.name);
    const segment = (bar, part) => {
      const share = part.value / whole;
      const element = painted(el("span", { class: isHatched(part.name) ? "part hatched" : "part" }), (span) => {
        span.style.setProperty("--swatch", colourOf(part.name)());
        span.style.width = `${(100 * share).toFixed(3)}%`;
      });
      element.addEventListener("mousemove", (event) => tooltip.show(event.clientX, event.clientY, [
        labelOf(bar.i), [words(part.name), amount(list, part.value)], ["of the whole", format.percent(part.value / total(bar))]]));
      element.addEventListener("mouseleave", () => tooltip.hide());
      return element;
    };
    const line = (bar) => {
      const open = onRow && (() => onRow(bar.i));
      const said = bar.parts.map((part) => `${words(part.name)} ${amount(list, part.value)}`).join(", ");
      return el("div", {
        class: open ? "stack opens" : "stack", role: open ? "button" : "group", tabindex: open ? 0 : null,
        "aria-label": `${labelOf(bar.i)}: ${amount(list, total(bar))}; ${said}`,
        on: open ? { click: open, keydown: (event) => { if (event.key === "Enter") open(); } } : {},
      }, el("span", { class: "stack-label", dir: "auto" }, labelOf(bar.i)),
      el("span", { class: "stack-bar" }, bar.parts.map((part) => segment(bar, part)), limitMark()),
      el("span", { class: "stack-total" }, bar.parts.length ? amount(list, total(bar)) : format.none));
    };
    const limitMark = () => {
      if (!(usable <= whole)) return null;
      const mark = el("span", { class: "stack-limit" });
      mark.style.left = `${(100 * usable / whole).toFixed(3)}%`;
      return mark;
    };
    const body = el("div", { class: "stacks" });
    const fill = (n) => body.replaceChildren(...bars.slice(0, n).map(line));
    fill(limit);
    const more = el("button", { type: "button", class: "more", on: { click: () => { fill(bars.length); more.hidden = true; } } },
      `Show all ${format.count(bars.length)}`);
    more.hidden = bars.length <= limit;
    const key = names.map((name) => ({ name: words(name), colour: colourOf(name), hatched: isHatched(name) }));
    if (usable <= whole) key.push({ name: `usable: ${amount(list, usable)}`, colour: () => orrery.style("bad") });
    return el("div", { class: "view" }, title ? el("h3", {}, title) : null, orrery.legend(key), body, more);
  };

  // Running totals from one plan's figure to the other's.
  const timeTitle = (plans) => (plans.figures.includes("ttft_s") ? "GPU time per output token" : "step time, mean over GPUs");
  const memoryTitle = (plans) => (plans.figures.includes("ttft_s") ? "memory of a GPU" : "memory of the stage that holds most");
  const waterfall = ({ plans, labels, list, first, second, title }) => {
    const of = (i) => new Map(plans[list](i).map((part) => [part.name, part.value]));
    const [a, b] = [of(first), of(second)];
    if (a.size === 0 || b.size === 0) return null;
    const terms = [...new Set([...a.keys(), ...b.keys()])]
      .map((name) => ({ name, difference: (b.get(name) ?? 0) - (a.get(name) ?? 0), first: a.get(name) ?? 0, second: b.get(name) ?? 0 }))
      .sort((x, y) => Math.abs(y.difference) - Math.abs(x.difference));
    const sum = (map) => [...map.values()].reduce((all, value) => all + value, 0);
    const [from, to] = [sum(a), sum(b)];
    const changed = terms.filter((term) => term.difference !== 0);
    let running = from;
    const steps = changed.map((term) => {
      const begin = running;
      running += term.difference;
      return { ...term, begin, end: running };
    });
    const ends = [from, to, ...steps.flatMap((step) => [step.begin, step.end])];
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const margin = (high - low) * 0.15 || high * 0.05;
    const start = low - margin < 0.35 * high ? 0 : low - margin;
    const at = (value) => 100 * (value - start) / (high + (high - low) * 0.02 - start || 1);
    const exact = (value) => (list === "memory" ? `${(value / 1e9).toFixed(3)} GB` : `${(value / 1e9).toFixed(3)} ms`);
    const bar = (begin, end, kind) => {
      const element = el("span", { class: `fall ${kind}` });
      element.style.left = `${at(Math.min(begin, end)).toFixed(3)}%`;
      element.style.width = `${Math.max(0.15, Math.abs(at(end) - at(begin))).toFixed(3)}%`;
      return element;
    };
    const whole = (i, value, name) => el("tr", { class: "whole" },
      el("th", { scope: "row", dir: "auto" }, `${name}: ${labels(i)}`), el("td", { class: "fall-track" }, bar(start, value, start > 0 ? "cut" : "sum")),
      el("td", { class: "number" }, exact(value)));
    const rows = steps.map((step) => el("tr", { "data-term": step.name, "data-difference": step.difference },
      el("th", { scope: "row" }, words(step.name)),
      el("td", { class: "fall-track" }, bar(step.begin, step.end, step.difference > 0 ? "more" : "less")),
      el("td", { class: "number" }, `${step.difference > 0 ? "+" : "\u2212"}${exact(Math.abs(step.difference))}`)));
    return el("div", { class: "view falls", "data-list": list },
      el("table", {}, el("caption", {}, title), el("tbody", {}, whole(first, from, "first"), rows, whole(second, to, "second"))),
      changed.length ? null : el("p", { class: "note" }, "All terms are equal."),
      start > 0 && changed.length ? el("p", { class: "note" }, `The axis begins at ${exact(start)}.`) : null);
  };

  const why = ({ plans, candidates, first, second }) => {
    const chosen = { first, second };
    const body = el("div");
    const labels = plans.labels(candidates);
    const options = candidates.map((i) => [i, labels(i)]);
    const fill = () => {
      const view = (list, title) => waterfall({ plans, labels: plans.labels([chosen.first, chosen.second]), list, ...chosen, title });
      body.replaceChildren(...[
        view("breakdown", timeTitle(plans)), view("critical_path", "step time, along the critical path"),
        view("memory", memoryTitle(plans))].filter(Boolean));
    };
    const select = (name, label) => choice(label, options, chosen[name], (i) => { chosen[name] = Number(i); fill(); });
    fill();
    const element = el("div", { class: "view" },
      el("div", { class: "controls" }, select("first", "First"), select("second", "Second")), body);
    element.show = (i) => {
      chosen.second = i;
      element.querySelectorAll("select")[1].value = String(i);
      fill();
    };
    return element;
  };

  // Points than which none is better in both; `sign` 1 where less is better, -1 where more is.
  const frontOf = (rows, x, y, signX, signY) => {
    const order = rows.filter((i) => Number.isFinite(x[i]) && Number.isFinite(y[i]))
      .sort((i, j) => signX * (x[i] - x[j]) || signY * (y[i] - y[j]));
    const front = [];
    let best = Infinity;
    for (const i of order) {
      if (signY * y[i] >= best) continue;
      best = signY * y[i];
      front.push(i);
    }
    return front;
  };

  const kMostColours = 8;
  const spans = (values) => {
    let [low, high] = [Infinity, -Infinity];
    for (const v of values) {
      if (!Number.isFinite(v)) continue;
      if (v <= 0) return false;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
    return high > 20 * low;
  };

  const scatter = ({ plans, rows, x, y, colour = "", front = false, best = false, onPlan, better = {}, name }) => {
    const state = { x, y, colour, front, best };
    const host = el("div");
    const labels = plans.labels(rows);
    const fits = (i) => plans.state(i) === 0;
    const coloured = plans.keys.filter((key) => key.several && key.values.length <= kMostColours);
    const groupsOf = () => {
      const k = plans.keys.findIndex((key) => key.key === state.colour);
      if (k < 0) return [{ name: "plans", rows }];
      return plans.keys[k].values.map((text) => ({
        name: `${plans.keys[k].short} ${text || format.none}`, rows: rows.filter((i) => plans.value(k, i) === text),
      })).filter((group) => group.rows.length > 0);
    };
    const numbers = (axis, of) => Float64Array.from(of, (i) => axis.at[i]);
    const sign = (of) => (better[of] === "most" ? -1 : 1);
    const fill = () => {
      const [ax, ay] = [plans.axis(state.x), plans.axis(state.y)];
      const known = (i) => Number.isFinite(ax.at[i]) && Number.isFinite(ay.at[i]);
      const groups = groupsOf().map((group) => ({ ...group, rows: group.rows.filter((i) => known(i) && fits(i)) })).filter((group) => group.rows.length > 0);
      const unfit = rows.filter((i) => known(i) && !fits(i));
      const kept = groups.map((group) => group.rows);
      const series = groups.map((group, g) => ({
        name: group.name, kind: "points", x: numbers(ax, group.rows), y: numbers(ay, group.rows),
        size: group.rows.length > 2000 ? 2 : 3.5, colour: () => orrery.series(g),
      }));
      if (state.best) {
        groups.forEach((group, g) => {
          const least = new Map();
          for (const i of group.rows) {
            const old = least.get(ax.at[i]);
            if (old === undefined || sign(state.y) * (ay.at[i] - ay.at[old]) < 0) least.set(ax.at[i], i);
          }
          const line = [...least.values()].sort((i, j) => ax.at[i] - ax.at[j]);
          kept.push(line);
          series.push({ name: `best of ${group.name}`, x: numbers(ax, line), y: numbers(ay, line), colour: () => orrery.series(g) });
        });
      }
      if (unfit.length > 0) {
        kept.push(unfit);
        series.push({ name: "out of memory", kind: "points", x: numbers(ax, unfit), y: numbers(ay, unfit), hollow: true, colour: () => orrery.style("muted") });
      }
      if (state.front) {
        const line = frontOf(rows.filter(fits), ax.at, ay.at, sign(state.x), sign(state.y));
        kept.push(line);
        series.push({ name: "Pareto front", kind: "points", x: numbers(ax, line), y: numbers(ay, line), size: 6, hollow: true, colour: () => orrery.style("ink") });
      }
      const logX = !ax.ordinal && spans(numbers(ax, rows));
      const logY = !ay.ordinal && spans(numbers(ay, rows));
      const total = rows.filter(known).length;
      if (total === 0) {
        host.replaceChildren(el("p", { class: "note" }, "No plan has both figures."));
        return;
      }
      host.replaceChildren(orrery.chart({
        label: `${ay.label} against ${ax.label} of ${format.count(total)} plans`, height: 380,
        x: { label: ax.label, log: logX, format: (v) => ax.tick(v) },
        y: { label: ay.label, log: logY, format: (v) => ay.tick(v) },
        series, onClick: onPlan && (({ series: s, point }) => onPlan(kept[s][point])),
        describe: (s, point) => {
          const i = kept[s][point];
          return [labels(i), [ax.label, ax.format(ax.at[i])], [ay.label, ay.format(ay.at[i])],
            ...(fits(i) ? [] : [["not feasible", plans.reason(i)]])];
        },
      }), el("p", { class: "note" }, `${format.plural(total, "plan")}${unfit.length ? `; hollow, as they do not fit into memory: ${format.count(unfit.length)}` : ""}; without such a figure: ${format.count(rows.length - total)}.${onPlan ? " A click, or Enter at the arrow keys, opens a plan." : ""}`));
    };
    const options = plans.axes.map((axis) => [axis, plans.keys.find((key) => key.key === axis)?.short ?? axis]);
    const set = (key) => (value) => { state[key] = value; fill(); };
    fill();
    return el("div", { class: "view", id: name }, el("div", { class: "controls" },
      choice("Across", options, state.x, set("x")), choice("Up", options, state.y, set("y")),
      coloured.length ? choice("Colour", [["", "none"], ...coloured.map((key) => [key.key, key.short])], state.colour, set("colour")) : null,
      check("Pareto front", state.front, set("front")), check("best at each", state.best, set("best"))), host);
  };

  const copyLine = (text) => {
    const input = el("input", { class: "line mono", readonly: true, value: text, "aria-label": "overrides", size: Math.min(100, Math.max(20, text.length)) });
    const button = el("button", { type: "button", on: { click: () => {
      input.select();
      const done = () => { button.textContent = "Copied"; };
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => { if (document.execCommand("copy")) done(); });
      else if (document.execCommand("copy")) done();
    } } }, "Copy");
    return el("div", { class: "controls" }, input, button);
  };

  const planDetail = (plans, i) => {
    const overrides = plans.overrides(i);
    const keys = plans.keys.map((key, k) => ({ key: key.key, value: plans.value(k, i) })).filter((row) => row.value !== "");
    const numbers = plans.figures.map((name) => ({ name, value: plans.figure(name)[i] })).filter((row) => Number.isFinite(row.value));
    const parts = (list, title) => {
      const rows = plans[list](i).sort((a, b) => b.value - a.value);
      const sum = rows.reduce((all, row) => all + row.value, 0);
      return rows.length === 0 ? null : orrery.table({
        caption: title, rows, columns: [
          { title: "part", get: (row) => words(row.name) },
          { title: list === "memory" ? "bytes" : "time", get: (row) => row.value, show: (v) => amount(list, v) },
          { title: "share", get: (row) => row.value / sum, show: (v) => format.percent(v) }],
      });
    };
    return el("div", { class: "view detail" },
      el("h3", { dir: "auto" }, plans.label(i)),
      plans.reason(i) ? orrery.notice("warning", "Not feasible", [plans.reason(i)]) : null,
      overrides ? copyLine(overrides) : null,
      el("div", { class: "columns" },
        orrery.table({ caption: "keys", rows: keys, columns: [
          { title: "key", get: (row) => row.key }, { title: "value", get: (row) => row.value, numeric: false }] }),
        parts("breakdown", timeTitle(plans)), parts("critical_path", "along the critical path"),
        parts("memory", memoryTitle(plans)),
        orrery.table({ caption: "figures", rows: numbers, limit: 16, columns: [
          { title: "figure", get: (row) => row.name },
          { title: "value", get: (row) => row.value, show: (v, row) => orrery.figureFormat(row.name)(v) }] })));
  };

  return { stacks, why, scatter, planDetail };
})());
