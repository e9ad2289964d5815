// The knobs of orrery explore: a control for each key, with what its values would give.
//   orrery.knobs({catalog, change(key, value)})   {element, show(answer), variants(key, values), first(): keys to try}
"use strict";

orrery.knobs = ({ catalog, change }) => {
  const { el, format } = orrery;
  const valueAt = (object, key) => key.split(".").reduce((at, name) => at?.[name], object);
  const shown = (value) => (value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));
  const controls = new Map();
  let current = null;

  const difference = (variant) => {
    const now = current?.result.tokens_per_s / current?.result.gpus;
    if (!Number.isFinite(variant.tokens_per_s_per_gpu) || !(now > 0)) return "";
    const share = variant.tokens_per_s_per_gpu / now - 1;
    return Math.abs(share) < 5e-4 ? "" : ` (${share > 0 ? "+" : "\u2212"}${(100 * Math.abs(share)).toFixed(1)} %)`;
  };
  const said = (variant) => (variant.time_s === null || !variant.feasible ? variant.reason || "not possible" : `${format.duration(variant.time_s)}${difference(variant).replace(" %)", " % tokens/s per GPU)")}`);

  // Menus hold all values, those that are impossible greyed out with the reason.
  const menu = (knob) => {
    const select = el("select", { id: `knob-${knob.key}`, on: { change: () => change(knob.key, select.value) } });
    const options = (values) => {
      const now = select.dataset.now ?? "";
      const list = values.some((one) => one.value === now) || now === "" ? values : [{ value: now }, ...values];
      select.replaceChildren(...list.map((one) => {
        const dead = one.time_s === null;
        const text = one.feasible === undefined || one.value === now ? one.value : `${one.value} \u2014 ${said(one)}`;
        return el("option", { value: one.value, selected: one.value === now, disabled: dead && one.value !== now, title: one.reason }, text.length > 90 ? `${text.slice(0, 88)}\u2026` : text);
      }));
      select.value = now;
    };
    return {
      element: select,
      set: (value) => { select.dataset.now = value; options(knob.values.map((one) => ({ value: one }))); },
      variants: options,
    };
  };
  const flag = (knob) => {
    const box = el("input", { type: "checkbox", id: `knob-${knob.key}`, on: { change: () => change(knob.key, String(box.checked)) } });
    const hint = el("span", { class: "hint" });
    return {
      element: el("span", {}, box, hint),
      set: (value) => { box.checked = value === "true"; hint.textContent = ""; },
      variants: (values) => {
        const other = values.find((one) => one.value === String(!box.checked));
        hint.textContent = other ? `${other.value === "true" ? "on" : "off"}: ${said(other)}` : "";
        box.disabled = other ? other.time_s === null : false;
      },
    };
  };
  // A slider over the values that are allowed; a number beside it where they are too many to list.
  const slider = (knob) => {
    const output = el("output", { for: `knob-${knob.key}` });
    const range = el("input", { type: "range", id: `knob-${knob.key}`, min: "0", step: "1", hidden: true });
    const number = el("input", { type: "text", inputmode: "decimal", size: "9", "aria-label": knob.key });
    let values = [];
    const tell = () => {
      const one = values[Number(range.value)];
      output.textContent = !one || one.value === number.value ? "" : `${one.value} \u2014 ${said(one)}`;
      range.setAttribute("aria-valuetext", output.textContent);
    };
    range.addEventListener("input", tell);
    range.addEventListener("change", () => {
      const one = values[Number(range.value)];
      if (one && one.time_s !== null) change(knob.key, one.value);
      else tell();
    });
    number.addEventListener("change", () => change(knob.key, number.value));
    return {
      element: el("span", { class: "slider" }, range, number, output),
      set: (value) => {
        number.value = value;
        if (!values.some((one) => one.value === value)) { range.hidden = true; output.textContent = ""; }
      },
      variants: (list) => {
        values = list;
        const at = values.findIndex((one) => one.value === number.value);
        range.hidden = at < 0 || values.length < 2;
        range.max = String(values.length - 1);
        range.value = String(at);
        tell();
      },
    };
  };
  const words = (knob) => {
    const input = el("input", { type: "text", size: "14", id: `knob-${knob.key}`, on: { change: () => change(knob.key, input.value) } });
    return { element: input, set: (value) => { input.value = value; }, variants: () => {} };
  };

  const kinds = { choice: menu, flag, number: slider, text: words };
  const rowOf = (knob) => {
    const control = kinds[knob.kind](knob);
    const reset = el("button", { type: "button", class: "reset", title: "Take the default again", on: { click: () => change(knob.key, null) } }, "\u00d7");
    const row = el("div", { class: "knob" },
      el("label", { for: `knob-${knob.key}`, title: knob.words }, knob.key.split(".").slice(1).join(" ").replaceAll("_", " ") || knob.key), control.element, reset);
    controls.set(knob.key, { ...control, row, reset });
    return row;
  };
  const catalogMenu = (key, names) => rowOf({ key, kind: "choice", values: names, words: `an entry of the catalog (orrery list ${key}s)` });

  const groups = new Map();
  for (const knob of catalog.knobs) {
    if (knob.group === "") continue;
    if (!groups.has(knob.group)) groups.set(knob.group, []);
    groups.get(knob.group).push(knob);
  }
  const found = el("div", {});
  const list = el("datalist", { id: "keys" }, catalog.knobs.map((knob) => el("option", { value: knob.key })));
  const search = el("input", {
    type: "search", list: "keys", placeholder: "any key of an experiment", "aria-label": "Find a key", on: {
      change: () => {
        const knob = catalog.knobs.find((one) => one.key === search.value);
        if (!knob || controls.has(knob.key)) return;
        found.append(rowOf(knob));
        if (current) place(knob.key);
        search.value = "";
      },
    },
  });
  const element = el("aside", { class: "knobs", "aria-label": "Knobs" },
    catalogMenu("model", catalog.models), catalogMenu("cluster", catalog.clusters),
    [...groups].map(([name, knobs]) => el("fieldset", {}, el("legend", {}, name), knobs.map(rowOf))),
    el("fieldset", {}, el("legend", {}, "More keys"), search, list, found));

  const place = (key) => {
    const control = controls.get(key);
    const part = key === "model" || key === "cluster";
    const given = valueAt(current.given, key);
    const value = part ? (typeof given === "string" ? given : given?.base ?? "") : valueAt(current.resolved, key) ?? given;
    control.set(shown(value));
    control.row.classList.toggle("given", given !== undefined);
    control.reset.hidden = part || given === undefined;
  };
  // Knobs that do nothing beside the rest are not shown: of a part that the experiment does not have, or where
  // every other value is refused because of the kind of run or of model.
  const kIdle = /beside inference|does nothing|allowed only (for kind|beside)/;
  const hide = (control, hidden) => {
    control.row.hidden = hidden;
    const group = control.row.closest("fieldset");
    if (group) group.hidden = [...group.querySelectorAll(".knob")].every((row) => row.hidden) && !group.contains(search);
  };
  const show = (answer) => {
    current = answer;
    for (const [key, control] of controls) {
      const known = !key.includes(".") || valueAt(answer.resolved, key) !== undefined || valueAt(answer.given, key) !== undefined || found.contains(control.row);
      hide(control, !known);
      place(key);
    }
  };
  const variants = (key, values) => {
    const control = controls.get(key);
    const others = values.filter((one) => one.value !== shown(valueAt(current.resolved, key)));
    if (others.length > 0 && others.every((one) => one.time_s === null && kIdle.test(one.reason)) && valueAt(current.given, key) === undefined) hide(control, true);
    control.variants(values);
  };
  return {
    element,
    show,
    variants,
    first: () => [...controls].filter(([key, control]) => !control.row.hidden && key.includes(".")).map(([key]) => key),
  };
};
