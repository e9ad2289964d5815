// Plans side by side, as PlanTable writes them:
//   const plans = orrery.plans(orrery.data.plans)
//     count, keys [{key, short, of_experiment, values, several}], figures, parts
//     value(k, i)          text of key number k of plan i; "" where the key does nothing
//     figure(name)         typed array, NaN where a plan has none; undefined for what is no figure
//     state(i), reason(i)  0 feasible, 1 does not fit into memory, 2 cannot be simulated
//     label(i)             what tells it from the others
//     labels(rows)         the same among these rows alone, as a function of i
//     overrides(i)         the arguments of the command line that make it
//     breakdown(i), critical_path(i), memory(i)   [{name, value}] in picoseconds and bytes, without zeros
//     axis(name)           of a figure or key: {name, label, at: numbers, format, tick, ordinal}
//     axes                 names that axis() takes and that differ, keys first
"use strict";

(() => {
  const { format } = orrery;

  const quoted = (text) => (/^[\w.,:=/+@%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

  // The ends of dotted keys that tell them apart.
  const shortNames = (keys) => keys.map((key) => {
    const parts = key.split(".");
    for (let n = 1; n < parts.length; ++n) {
      const end = parts.slice(-n).join(".");
      if (keys.every((other) => other === key || (other !== end && !other.endsWith(`.${end}`)))) return end;
    }
    return key;
  });

  orrery.plans = (data) => {
    const { count, figures, parts, reasons } = data;
    const names = shortNames(data.keys.map((key) => key.key));
    const numbers = data.keys.map((_, k) => orrery.column(`key.${k}`));
    const keys = data.keys.map((key, k) => ({ ...key, short: names[k], several: key.values.length > 1 }));
    const states = orrery.column("state");
    const reasonNumbers = orrery.column("reason");

    const value = (k, i) => keys[k].values[numbers[k][i]];
    const telling = keys.flatMap((key, k) => (key.several ? [k] : []));
    const said = (chosen, i) => {
      const own = chosen.filter((k) => keys[k].of_experiment || keys[k].key === "experiment");
      return (own.length ? own : chosen).flatMap((k) => (value(k, i) === "" ? []
        : [keys[k].of_experiment ? `${keys[k].short} ${value(k, i)}` : value(k, i)])).join(", ");
    };
    const label = (i) => said(telling, i) || (count > 1 ? `row ${i + 1}` : value(0, i));
    const labels = (rows) => {
      const differing = telling.filter((k) => rows.some((i) => numbers[k][i] !== numbers[k][rows[0]]));
      return (i) => said(differing, i) || label(i);
    };
    const overrides = (i) => keys.flatMap((key, k) =>
      (key.of_experiment && value(k, i) !== "" ? [quoted(`${key.key}=${value(k, i)}`)] : [])).join(" ");
    const figure = (name) => orrery.column(`figure.${name}`);
    const partsOf = (list, i) => {
      if (parts[list].length > 0) {
        return parts[list].map((name) => ({ name, value: orrery.column(`${list}.${name}`)[i] }))
          .filter((part) => part.value > 0);
      }
      // A file of results has figures alone, in seconds.
      const start = list === "memory" ? null : `${list}_s.`;
      return figures.filter((name) => start && name.startsWith(start))
        .map((name) => ({ name: name.slice(start.length), value: figure(name)[i] * 1e12 }))
        .filter((part) => part.value > 0);
    };

    const ofKey = (k) => {
      const own = keys[k].values;
      const numeric = own.every((text) => text === "" || (text.trim() !== "" && Number.isFinite(Number(text))));
      if (numeric) {
        const at = Float64Array.from(numbers[k], (n) => (own[n] === "" ? NaN : Number(own[n])));
        return { name: keys[k].key, label: keys[k].short, at, ordinal: false, format: (v) => String(Number(v.toPrecision(6))), tick: (v) => String(Number(v.toPrecision(6))) };
      }
      const named = (v) => (Number.isInteger(v) && v >= 0 && v < own.length ? own[v] || "\u2013" : "");
      return { name: keys[k].key, label: keys[k].short, at: Float64Array.from(numbers[k]), ordinal: true, format: named, tick: named };
    };
    const axis = (name) => {
      const k = keys.findIndex((key) => key.key === name);
      if (k >= 0) return ofKey(k);
      return { name, label: name, at: figure(name), ordinal: false, format: orrery.figureFormat(name), tick: orrery.tickFormat(name) };
    };
    const differs = (array) => {
      let first = NaN;
      for (const v of array) {
        if (Number.isNaN(v)) continue;
        if (Number.isNaN(first)) first = v;
        else if (v !== first) return true;
      }
      return false;
    };
    const axes = [...telling.map((k) => keys[k].key), ...figures.filter((name) => differs(figure(name)))];

    return {
      count, keys, figures, parts, value, figure, label, labels, overrides, axis, axes,
      state: (i) => states[i],
      reason: (i) => reasons[reasonNumbers[i]],
      breakdown: (i) => partsOf("breakdown", i),
      critical_path: (i) => partsOf("critical_path", i),
      memory: (i) => partsOf("memory", i),
    };
  };
})();
