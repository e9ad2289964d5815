// The page of validation: predicted against measured, errors by table and by row, coverage of the ranges.
"use strict";

(() => {
  const { data, el, format, section, figure, figures, table, choice } = orrery;
  const tables = data.tables;
  const percent = (v) => (v === null || v === undefined ? format.none : `${v > 0 ? "+" : ""}${format.percent(v)}`);
  const share = (v) => (v === null || v === undefined ? format.none : format.percent(v));
  const all = tables.flatMap((one) => one.rows.map((row) => ({ ...row, table: one.table, fitted: one.fitted })));
  const keys = [...new Set(all.map((row) => row.key))];
  const ways = [...new Set(all.flatMap((row) => Object.keys(row.left_out ?? {})))];
  const mean = (list, of) => (list.length ? list.reduce((sum, row) => sum + of(row), 0) / list.length : null);
  const isMain = (row) => tables.find((one) => one.table === row.table).key === row.key;
  const ranged = all.filter((row) => row.p10 !== undefined && row.p90 !== undefined && isMain(row));
  const inside = ranged.filter((row) => row.p10 <= row.measured && row.measured <= row.p90);

  const headline = () => {
    const of = (fitted) => all.filter((row) => isMain(row) && row.fitted === fitted);
    const errors = (list) => mean(list, (row) => Math.abs(row.error));
    return figures(
      figure("rows", format.count(all.filter(isMain).length), `of ${format.count(tables.length)} tables`),
      figure("mean error, fitted", share(errors(of(true))), `${of(true).length} rows of tables that constants were fitted to`),
      figure("mean error, not fitted", share(errors(of(false))), `${of(false).length} rows of other tables`),
      ranged.length ? figure("inside p10 to p90", share(inside.length / ranged.length), `${ranged.length} rows with a range; 80 % are meant to be`) : null,
      ...ways.map((way) => {
        const rows = all.filter((row) => isMain(row) && row.left_out?.[way] !== undefined);
        return figure(`mean error, ${way} left out`, share(mean(rows, (row) => Math.abs(row.left_out[way] / row.measured - 1))), `${rows.length} rows`);
      }));
  };

  // Series of points: fitted ones filled, others hollow, so that they differ without colour too.
  const scatter = () => {
    const state = { key: keys.includes("step_time_s") ? "step_time_s" : keys[0], table: "", way: "" };
    const host = el("div");
    const predicted = (row) => (state.way ? row.left_out?.[state.way] ?? NaN : row.predicted);
    const fill = () => {
      const rows = all.filter((row) => row.key === state.key && (!state.table || row.table === state.table) && Number.isFinite(predicted(row)) && predicted(row) > 0);
      const groups = [
        { name: state.way ? `predicted by fits without their ${state.way}` : "constants were fitted to the table", rows: rows.filter((row) => row.fitted), colour: () => orrery.series(0), hollow: false },
        { name: "held out: no constant was fitted to the table", rows: rows.filter((row) => !row.fitted), colour: () => orrery.series(1), hollow: true },
      ].filter((group) => group.rows.length);
      const values = rows.flatMap((row) => [row.measured, predicted(row)]);
      if (values.length === 0) return host.replaceChildren(el("p", { class: "note" }, "No row of the table has this figure."));
      const [low, high] = [Math.min(...values) / 1.3, Math.max(...values) * 1.3];
      const unit = orrery.figureFormat(state.key);
      const tick = orrery.tickFormat(state.key);
      return host.replaceChildren(orrery.chart({
        label: `${state.key}, predicted against measured, ${rows.length} rows`, height: 520,
        x: { label: `measured ${state.key}`, log: true, min: low, max: high, format: tick },
        y: { label: `predicted ${state.key}`, log: true, min: low, max: high, format: tick },
        series: [
          { name: "predicted = measured", x: [low, high], y: [low, high], dash: [6, 4], width: 1, colour: () => orrery.style("muted") },
          ...groups.map((group) => ({
            name: group.name, kind: "points", hollow: group.hollow, colour: group.colour, size: 3.5,
            x: group.rows.map((row) => row.measured), y: group.rows.map(predicted),
          }))],
        describe: (s, i) => {
          if (s === 0) return ["predicted = measured"];
          const row = groups[s - 1].rows[i];
          return [row.name, row.table, ["measured", unit(row.measured)], ["predicted", unit(predicted(row))],
            ["error", percent(predicted(row) / row.measured - 1)],
            ...(row.p10 === undefined ? [] : [["range", `${unit(row.p10)} to ${unit(row.p90)}`]]),
            ["GPUs", format.count(row.gpus)]];
        },
      }));
    };
    const set = (name) => (value) => { state[name] = value; fill(); };
    fill();
    return el("div", { class: "view" }, el("div", { class: "controls" },
      choice("Figure", keys.map((key) => [key, key]), state.key, set("key")),
      choice("Table", [["", "all"], ...tables.map((one) => [one.table, one.table])], "", set("table")),
      ways.length ? choice("Prediction", [["", "with all rows"], ...ways.map((way) => [way, `${way} left out`])], "", set("way")) : null), host);
  };

  const tableTable = (onRow) => table({
    rows: tables, onRow, limit: 60, columns: [
      { title: "table", get: (one) => one.table },
      { title: "fitted", get: (one) => (one.fitted ? "yes" : "no") },
      { title: "figure", get: (one) => one.key },
      { title: "rows", get: (one) => one.rows_compared },
      { title: "mean error", get: (one) => one.mean_abs_error, show: share },
      { title: "p90", get: (one) => one.p90_abs_error, show: share },
      { title: "max", get: (one) => one.max_abs_error, show: share },
      { title: "bias", get: (one) => one.bias, show: percent },
      { title: "rank correlation", get: (one) => one.rank_correlation, show: (v) => (v === null ? format.none : v.toFixed(3)) },
      { title: "inside p10 to p90", get: (one) => one.inside_p10_p90, show: share },
      ...ways.map((way) => ({ title: `${way} left out`, get: (one) => one.left_out?.[way]?.mean_abs_error ?? null, show: share })),
      { title: "skipped", get: (one) => one.skipped.length },
    ],
  });

  const rowTable = (rows) => table({
    rows, limit: 25, columns: [
      { title: "row", get: (row) => row.name }, { title: "table", get: (row) => row.table },
      { title: "figure", get: (row) => row.key }, { title: "GPUs", get: (row) => row.gpus },
      { title: "predicted", get: (row) => row.predicted, show: (v, row) => orrery.figureFormat(row.key)(v) },
      { title: "measured", get: (row) => row.measured, show: (v, row) => orrery.figureFormat(row.key)(v) },
      { title: "error", get: (row) => row.error, show: percent },
      ...ways.map((way) => ({ title: `${way} left out`, get: (row) => (row.left_out?.[way] === undefined ? null : row.left_out[way] / row.measured - 1), show: percent })),
      { title: "in range", get: (row) => (row.p10 === undefined ? format.none : row.p10 <= row.measured && row.measured <= row.p90 ? "yes" : "no") },
      { title: "fits memory", get: (row) => (row.feasible ? "yes" : "no") },
    ],
  });

  // Errors of the rows of each table, a line of them by its name; the first table on top.
  const errors = () => {
    const named = tables.filter((one) => one.rows.some((row) => row.key === one.key));
    const line = (t) => named.length - 1 - t;
    const ends = [-0.5, named.length - 0.5];
    const groups = [true, false].map((fitted) => {
      const rows = named.flatMap((one, t) => one.rows.filter((row) => row.key === one.key && one.fitted === fitted).map((row) => ({ ...row, t })));
      return { name: fitted ? "fitted" : "held out", rows, fitted };
    }).filter((group) => group.rows.length);
    return orrery.chart({
      label: "errors of rows, by table", height: 80 + 19 * named.length,
      x: { label: "error", format: (v) => percent(v) },
      y: { names: named.map((one) => one.table).reverse(), min: ends[0], max: ends[1] },
      series: [...groups.map((group, g) => ({
        name: group.name, kind: "points", hollow: !group.fitted, size: 3, colour: () => orrery.series(g),
        x: group.rows.map((row) => row.error), y: group.rows.map((row) => line(row.t)) })),
      { name: "predicted = measured", x: [0, 0], y: ends, dash: [6, 4], width: 1, colour: () => orrery.style("muted") }],
      describe: (s, i) => {
        if (s === groups.length) return ["predicted = measured"];
        const row = groups[s].rows[i];
        return [row.name, named[row.t].table, ["error", percent(row.error)]];
      },
    });
  };

  orrery.start({
    title: "Predictions beside measured runs",
    lines: [`${format.count(tables.length)} tables of published runs, ${format.count(all.length)} measured figures.`],
    build: (main) => {
      const skipped = tables.flatMap((one) => one.skipped.map((row) => ({ ...row, table: one.table })));
      const host = el("div", {}, rowTable(all));
      main.append(headline());
      main.append(section("scatter", "Predicted against measured", null, scatter()));
      main.append(section("errors", "Errors by row", null, errors()));
      main.append(section("tables", "Errors by table", "A row shows the table's rows below.", tableTable((one) => {
        host.replaceChildren(rowTable(all.filter((row) => row.table === one.table)));
        orrery.reveal(host);
      })));
      main.append(section("rows", "Rows", null, host));
      if (skipped.length) main.append(section("skipped", "Rows left out", null, table({
        rows: skipped, limit: 15, columns: [{ title: "row", get: (row) => row.name }, { title: "table", get: (row) => row.table }, { title: "why", get: (row) => row.reason }] })));
    },
  });
})();
