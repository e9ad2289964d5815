// Holds the parts that the pages of studies share.
//   orrery.figureFormat(name)   how a figure of the result is shown, by the unit at the end of its name: (value) => text
//   orrery.tickFormat(name)     the same on an axis
//   orrery.choice(label, options, chosen, onChange)   a labelled select; options [[value, text]]
//   orrery.check(label, checked, onChange)            a labelled box
"use strict";

Object.assign(orrery, (() => {
  const { el, format } = orrery;

  const kShares = ["mfu", "hfu", "pipeline_bubble_fraction", "utilization.gpu_mean", "utilization.gpu_min", "scaling_efficiency"];
  const figureFormat = (name) => {
    const known = (show) => (v) => (v === null || !Number.isFinite(v) ? format.none : show(v));
    if (kShares.includes(name)) return known((v) => format.percent(v));
    if (/_gb(_p\d+)?$/.test(name)) return known((v) => `${format.digits(v, 4)} GB`);
    if (/_per_s(_per_gpu)?$/.test(name)) return known((v) => `${format.scaled(v)}/s`);
    if (/(_s|_s_p\d+|_s\.[a-z_]+)$/.test(name)) return known((v) => format.duration(v));
    if (/_usd$/.test(name)) return known((v) => `${format.digits(v, 4)} USD`);
    if (/_kwh$/.test(name)) return known((v) => `${format.digits(v, 4)} kWh`);
    if (/_days$/.test(name)) return known((v) => `${format.digits(v, 4)} days`);
    if (/bytes/.test(name)) return known((v) => format.bytes(v));
    return known((v) => (Number.isInteger(v) && Math.abs(v) < 1e6 ? String(v) : format.scaled(v)));
  };

  const choice = (label, options, chosen, onChange) => {
    const select = el("select", { on: { change: () => onChange(select.value) } },
      options.map(([value, text]) => el("option", { value, selected: String(value) === String(chosen) }, text)));
    return el("label", { class: "choice" }, `${label} `, select);
  };
  const check = (label, checked, onChange) => {
    const box = el("input", { type: "checkbox", checked, on: { change: () => onChange(box.checked) } });
    return el("label", { class: "choice" }, box, ` ${label}`);
  };

  // Formats ticks without insignificant zeros.
  const tickFormat = (name) => {
    const shown = figureFormat(name);
    return (v) => shown(v).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
  };

  return { figureFormat, tickFormat, choice, check };
})());
