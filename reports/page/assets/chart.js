// Charts: axes, zoom and size by uPlot; lines, points and bands on its canvas by this script.
//   orrery.chart({label, caption, height, x, y, series, levels, marks, onClick, describe})
//     label: what is to be seen, for screen readers; caption: the same for all, above the chart
//     height in pixels, by default 260
//     x, y: {label, log, format(value, span), min, max}      min, max: shown at least
//     ticks: values that have a tick, by default round ones
//     y: {names}                      of 0, 1, 2 and so on, instead of numbers
//     series: [{name, x: numbers, y: numbers, low, high, kind, dash, width, size, hollow, colour()}]
//        kind "line" (default), "step" (y holds until the next x) or "points"; x ascending but for points
//        low, high: of a band around a line, of error bars around points
//     levels: [{y, name, colour()}]   horizontal lines; marks: [{x, y, name}]   single points with words
//     onClick({series, point})        of the point under the pointer, or with Enter of the one at the keys
//     describe(series, point)         lines of the tooltip, by default name, x and y
//     gutter: pixels at the left of the plot, so that it stands under others
//     group: charts of one group share their x range; range: a timeRange (timeline.js) to share, x in its units
// Drag zooms, double click or Escape shows all, the arrow keys go from point to point of those in view, of which no two
// lie on one pixel.
// Answers the element, with a legend where there are several series.
"use strict";

orrery.chart = (() => {
  const { el, format, tooltip } = orrery;
  const { tracer, drawBand, drawLine, drawPoints, drawnAs } = orrery.chartSeries;
  const kNear = 24;  // pixels within which a point is meant
  const groups = new Map();

  // Decimals that show a number whole, as the steps of an axis are.
  const decimalsOf = (step) => {
    let decimals = 0;
    while (decimals < 9 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) ++decimals;
    return decimals;
  };
  const axisFormat = (axis, log) => axis.format ?? ((value, span, step = span) =>
    (log || Math.abs(step) < 1e-4 ? format.digits(value, 2) : value.toFixed(decimalsOf(step))));

  const extent = (series, values, from, to, log) => {
    let low = Infinity;
    let high = -Infinity;
    const take = (v) => {
      if (!Number.isFinite(v) || (log && v <= 0)) return;
      low = Math.min(low, v);
      high = Math.max(high, v);
    };
    for (const one of series) {
      for (let i = 0; i < one.x.length; ++i) {
        if (one.x[i] > to || (one.x[i] < from && !(one.kind === "step" && one.x[i + 1] > from))) continue;
        for (const name of values) if (one[name]) take(one[name][i]);
      }
    }
    return [low, high];
  };
  const padded = ([low, high], axis, share) => {
    let from = Math.min(low, axis.min ?? Infinity);
    let to = Math.max(high, axis.max ?? -Infinity);
    if (!(from <= to)) return axis.log ? [1, 10] : [0, 1];
    if (axis.log) {
      const more = Math.max((to / from) ** share, from === to ? 2 : 1.01);
      return [from / more, to * more];
    }
    const more = from === to ? Math.abs(from) * 0.05 || 1 : (to - from) * share;
    if (from !== axis.min && !(from === 0)) from -= more;
    if (to !== axis.max) to += more;
    return [from, to];
  };

  // 1, 2 and 5 times powers of ten, or those powers alone over many of them.
  const logTicks = (u, index, from, to) => {
    const decades = Math.log10(to / from);
    const steps = decades < 1 ? [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9] : decades < 4 ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil(decades / 8));
    const ticks = [];
    for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); ++power) {
      if (power % every !== 0) continue;
      for (const step of steps) {
        const tick = Number((step * 10 ** power).toPrecision(3));
        if (tick >= from && tick <= to) ticks.push(tick);
      }
    }
    return ticks;
  };

  return ({ label, caption, height = 260, x = {}, y = {}, series, levels = [], marks = [], onClick, describe, group, range, gutter }) => {
    const shown = series.map(() => true);
    const colours = series.map((one, i) => one.colour ?? (() => orrery.series(i)));
    const active = () => series.filter((_, i) => shown[i]);
    const formatX = axisFormat(x, x.log);
    const formatY = axisFormat(y, y.log);
    const host = el("div", { class: "plot", tabindex: 0, role: "img", "aria-label": label });
    const cursor = { series: -1, point: -1 };
    let plot = null;

    const wholeX = () => padded(extent(series, ["x"], -Infinity, Infinity, x.log), x,
      series.some((one) => one.kind === "points") ? 0.04 : 0);
    const rangeY = (from, to) => {
      const [low, high] = extent(active(), ["y", "low", "high"], from, to, y.log);
      return padded([Math.min(low, ...levels.map((l) => l.y)), Math.max(high, ...levels.map((l) => l.y))], y, 0.06);
    };

    // Above `bottom`, on a plate of paper, so that no line runs through them.
    const words = (u, text, left, bottom, align) => {
      if (!text) return;
      Object.assign(u.ctx, { font: `${12 * devicePixelRatio}px ${orrery.style("font")}`, textAlign: align, textBaseline: "bottom" });
      const [wide, high, room] = [u.ctx.measureText(text).width, 14 * devicePixelRatio, 3 * devicePixelRatio];
      Object.assign(u.ctx, { fillStyle: orrery.style("paper"), globalAlpha: 0.85 });
      u.ctx.fillRect(left - (align === "right" ? wide : 0) - room, bottom - high, wide + 2 * room, high);
      Object.assign(u.ctx, { fillStyle: orrery.style("muted"), globalAlpha: 1 });
      u.ctx.fillText(text, left, bottom);
    };
    const drawLevels = (u) => {
      for (const level of levels) {
        const at = u.valToPos(level.y, "y", true);
        u.ctx.strokeStyle = level.colour ? level.colour() : orrery.style("muted");
        u.ctx.lineWidth = 1.25 * devicePixelRatio;
        u.ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
        u.ctx.beginPath();
        u.ctx.moveTo(u.bbox.left, at);
        u.ctx.lineTo(u.bbox.left + u.bbox.width, at);
        u.ctx.stroke();
        u.ctx.setLineDash([]);
        const above = at - 18 * devicePixelRatio > u.bbox.top;
        words(u, level.name, u.bbox.left + u.bbox.width - 4 * devicePixelRatio, at + (above ? -3 : 18) * devicePixelRatio, "right");
      }
    };
    const drawMarks = (u) => {
      for (const mark of marks) {
        const [left, top] = [u.valToPos(mark.x, "x", true), u.valToPos(mark.y, "y", true)];
        u.ctx.fillStyle = orrery.style("ink");
        u.ctx.beginPath();
        u.ctx.arc(left, top, 3.5 * devicePixelRatio, 0, 2 * Math.PI);
        u.ctx.fill();
        const right = left > u.bbox.left + u.bbox.width * 0.7;
        words(u, mark.name, left + (right ? -8 : 8) * devicePixelRatio, top - 6 * devicePixelRatio,
          right ? "right" : "left");
      }
    };
    const draw = (u) => {
      const ratio = devicePixelRatio;
      u.ctx.save();
      u.ctx.beginPath();
      u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
      u.ctx.clip();
      series.forEach((one, i) => {
        if (!shown[i]) return;
        const colour = colours[i]();
        Object.assign(u.ctx, { strokeStyle: colour, fillStyle: colour, lineWidth: (one.width ?? 1.75) * ratio, lineJoin: "round" });
        if (one.kind === "points") return drawPoints(u, one, ratio);
        if (one.low && one.high) drawBand(u, one, colour);
        u.ctx.setLineDash((one.dash ?? []).map((length) => length * ratio));
        drawLine(u, one);
        u.ctx.setLineDash([]);
      });
      drawLevels(u);
      drawMarks(u);
      if (cursor.series >= 0) ring(u);
      u.ctx.restore();
    };
    const ring = (u) => {
      const { at, height: top } = tracer(u, series[cursor.series]);
      Object.assign(u.ctx, { strokeStyle: orrery.style("ink"), lineWidth: 1.5 * devicePixelRatio });
      u.ctx.beginPath();
      u.ctx.arc(Math.max(u.bbox.left, at(cursor.point)), top(series[cursor.series].y[cursor.point]), 6 * devicePixelRatio, 0, 2 * Math.PI);
      u.ctx.stroke();
    };

    const nearest = (left, top) => {
      let best = { series: -1, point: -1, distance: kNear ** 2 };
      series.forEach((one, s) => {
        if (!shown[s]) return;
        for (let i = 0; i < one.x.length; ++i) {
          const dx = plot.valToPos(one.x[i], "x") - left;
          if (Math.abs(dx) > kNear || !Number.isFinite(one.y[i])) continue;
          const dy = plot.valToPos(one.y[i], "y") - top;
          if (dx * dx + dy * dy < best.distance) best = { series: s, point: i, distance: dx * dx + dy * dy };
        }
      });
      return best;
    };
    const describePoint = (s, i) => (describe ? describe(s, i) : [
      ...(series[s].name ? [series[s].name] : []),
      [x.label ?? "x", formatX(series[s].x[i], plot.scales.x.max - plot.scales.x.min)],
      [y.label ?? "y", formatY(series[s].y[i], plot.scales.y.max - plot.scales.y.min)],
    ]);
    const select = (s, i) => {
      if (cursor.series === s && cursor.point === i) return;
      Object.assign(cursor, { series: s, point: i });
      plot.redraw(false);
      if (s < 0) return tooltip.hide();
      const box = plot.over.getBoundingClientRect();
      tooltip.show(box.left + Math.max(0, plot.valToPos(series[s].x[i], "x")), box.top + plot.valToPos(series[s].y[i], "y"),
        describePoint(s, i));
    };
    const click = () => { if (cursor.series >= 0 && onClick) onClick({ series: cursor.series, point: cursor.point }); };

    const showX = (from, to) => plot.setScale("x", { min: from, max: to });
    const showAll = () => (range ? range.all() : showX(...wholeX()));
    // Points of a series in view, from left to right. Of those of a line on one pixel the highest stands for all.
    const stops = (s) => {
      const one = series[s];
      const { min, max } = plot.scales.x;
      const list = [];
      for (let i = 0; i < one.x.length; ++i) {
        const holds = one.kind === "step" && one.x[i] < min && one.x[i + 1] > min;
        if (!Number.isFinite(one.y[i]) || one.x[i] > max || (one.x[i] < min && !holds)) continue;
        list.push({ i, x: Math.max(0, Math.round(plot.valToPos(one.x[i], "x"))), y: Math.round(plot.valToPos(one.y[i], "y")) });
      }
      const scattered = one.kind === "points";
      list.sort((a, b) => a.x - b.x || (scattered ? b.y - a.y : a.y - b.y) || a.i - b.i);
      return list.filter((stop, at) => at === 0 || stop.x !== list[at - 1].x || (scattered && stop.y !== list[at - 1].y));
    };
    const leftOf = (s, i) => Math.round(plot.valToPos(series[s].x[i], "x"));
    // The stop that lies nearest to where the reader was, if that is in view.
    const nearestStop = (list, left) => list.reduce((best, stop, at) =>
      (best < 0 || Math.abs(stop.x - left) < Math.abs(list[best].x - left) ? at : best), -1);
    const step = (by) => {
      const s = cursor.series >= 0 ? cursor.series : shown.indexOf(true);
      const list = s < 0 ? [] : stops(s);
      if (list.length === 0) return;
      const last = list.length - 1;
      let at = list.findIndex((stop) => stop.i === cursor.point);
      if (at < 0 && cursor.series >= 0) {
        const left = leftOf(s, cursor.point);
        if (left >= list[0].x && left <= list[last].x) at = nearestStop(list, left);
      }
      const next = at < 0 ? (by > 0 ? 0 : last) : Math.min(last, Math.max(0, at + by));
      select(s, list[next].i);
    };
    const onKey = (event) => {
      if (event.key === "ArrowRight") step(1);
      else if (event.key === "ArrowLeft") step(-1);
      else if (event.key === "ArrowUp" || event.key === "ArrowDown") otherSeries(event.key === "ArrowUp" ? -1 : 1);
      else if (event.key === "Enter") click();
      else if (event.key === "Escape") { select(-1, -1); showAll(); }
      else return;
      event.preventDefault();
    };
    const otherSeries = (by) => {
      const list = shown.flatMap((on, s) => (on && stops(s).length > 0 ? [s] : []));
      const next = list[(list.indexOf(cursor.series) + by + list.length) % list.length];
      if (next === undefined) return;
      const places = stops(next);
      const left = cursor.series >= 0 ? leftOf(cursor.series, cursor.point) : 0;
      select(next, places[nearestStop(places, left)].i);
    };

    const right = gutter ? 1 : 22;  // pixels beside the plot
    const gutterOf = () => Math.min(gutter, host.clientWidth * 0.3);
    // Returns the width of the axis at the left.
    const widthOf = (of) => {
      const label = of.label ? 20 : 0;
      if (of.names) return Math.min(8 + 7 * Math.max(...of.names.map((name) => name.length)), host.clientWidth * 0.45);
      return gutter ? gutterOf() - label : 62;
    };
    // A label at the right end that has no room would be cut: none then.
    const fitting = (u, texts, splits) => {
      const { min, max } = u.scales.x;
      const part = (v) => (x.log ? Math.log(v / min) / Math.log(max / min) : (v - min) / (max - min));
      const plotWidth = u.width - widthOf(y) - (y.label ? 20 : 0) - right;
      u.ctx.font = `12px ${orrery.style("font")}`;
      return texts.map((text, i) => {
        const room = (1 - part(splits[i])) * plotWidth + right;
        return splits[i] !== null && u.ctx.measureText(text).width / 2 > room ? "" : text;
      });
    };
    const ticked = (side, formatted) => (u, splits) => {
      const texts = splits.map((v) => (v === null ? "" : formatted(v, splits[splits.length - 1] - splits[0], splits[1] - splits[0])));
      return side === 2 ? fitting(u, texts, splits) : texts;
    };
    const named = (of) => ({
      splits: () => of.names.map((_, i) => i),
      filter: (u, ticks) => ticks,
      values: () => of.names.map((name) => {
        const most = Math.floor((widthOf(of) - 8) / 7);
        return name.length > most ? `${name.slice(0, most - 1)}\u2026` : name;
      }),
    });
    const axis = (side, of, formatted) => ({
      side,
      stroke: () => orrery.style("muted"),
      grid: { stroke: () => orrery.style("grid"), width: 1 },
      ticks: { show: false },
      font: `12px ${orrery.style("font")}`,
      labelFont: `12px ${orrery.style("font")}`,
      label: of.label,
      labelSize: of.label ? 20 : 0,
      size: side === 3 ? () => widthOf(of) : 32,
      values: ticked(side, formatted),
      ...(of.log ? { splits: logTicks, filter: (u, ticks) => ticks } : {}),
      ...(of.names ? named(of) : {}),
      ...(of.ticks ? { splits: () => of.ticks, filter: (u, ticks) => ticks } : {}),
    });
    const make = () => {
      const [from, to] = wholeX();
      const [bottom, top] = rangeY(from, to);
      plot = new uPlot({
        width: Math.max(200, host.clientWidth),
        height,
        legend: { show: false },
        padding: [10, right, 0, 0],
        cursor: { points: { show: false }, y: false, drag: { x: true, y: false, uni: 4 }, bind: { dblclick: () => () => { showAll(); return null; } } },
        scales: {
          x: { time: false, distr: x.log ? 3 : 1, auto: false, range: (u, low, high) => [low ?? from, high ?? to] },
          y: { distr: y.log ? 3 : 1, auto: false, range: (u, low, high) => [low ?? bottom, high ?? top] },
        },
        axes: [axis(2, x, formatX), axis(3, y, formatY)],
        series: [{}, { paths: () => null, points: { show: false } }],
        hooks: {
          draw: [draw],
          setScale: [(u, key) => {
            if (key !== "x") return;
            const [low, high] = rangeY(u.scales.x.min, u.scales.x.max);
            u.setScale("y", { min: low, max: high });
            shareRange(u.scales.x.min, u.scales.x.max);
          }],
        },
      }, [[from, to], [bottom, top]], host);
      showX(...(range ? [range.from, range.to] : wholeX()));
      listen();
    };
    const members = group ? groups.get(group) ?? groups.set(group, []).get(group) : [];
    const shareRange = (from, to) => {
      if (range && (from !== range.from || to !== range.to)) range.set(from, to);
      for (const other of members) if (other.host !== host) other.follow(from, to);
    };
    const follow = (from, to) => {
      if (plot && (plot.scales.x.min !== from || plot.scales.x.max !== to)) showX(from, to);
    };
    members.push({ host, follow });
    range?.on(() => follow(range.from, range.to));
    const listen = () => {
      let down = 0;
      plot.over.addEventListener("mousemove", (event) => {
        const best = nearest(event.offsetX, event.offsetY);
        plot.over.style.cursor = best.series >= 0 && onClick ? "pointer" : "";
        select(best.series, best.point);
      });
      plot.over.addEventListener("mouseleave", () => select(-1, -1));
      plot.over.addEventListener("mousedown", (event) => { down = event.clientX; });
      plot.over.addEventListener("click", (event) => { if (Math.abs(event.clientX - down) < 4) click(); });
      host.addEventListener("keydown", onKey);
      host.addEventListener("blur", () => select(-1, -1));
    };

    new ResizeObserver(() => {
      if (host.clientWidth === 0) return;
      if (!plot) make();
      else if (plot.width !== host.clientWidth) plot.setSize({ width: host.clientWidth, height });
    }).observe(host);
    orrery.onTheme(() => plot?.redraw(false, true));

    const toggle = (i) => el("button", {
      type: "button", "aria-pressed": "true",
      on: { click: (event) => {
        shown[i] = !shown[i];
        event.currentTarget.setAttribute("aria-pressed", String(shown[i]));
        if (plot) showX(plot.scales.x.min, plot.scales.x.max);
      } },
    }, orrery.painted(el("span", { class: `swatch ${drawnAs(series[i])}` }), (s) => s.style.setProperty("--swatch", colours[i]())), series[i].name);
    return el("figure", { class: "chart" }, caption ? el("figcaption", {}, caption) : null,
      series.length > 1 ? el("div", { class: "legend toggles" }, series.map((_, i) => toggle(i))) : null, host);
  };
})();
