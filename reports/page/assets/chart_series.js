// Series of a chart (chart.js) on uPlot's canvas, one at a time. u: the plot; one: the series.
//   orrery.chartSeries.drawBand(u, one, colour), .drawLine(u, one), .drawPoints(u, one, ratio): in the style that is set
//   orrery.chartSeries.tracer(u, one): {at(i), height(v)}, where its points lie on the canvas
//   orrery.chartSeries.drawnAs(one): what its swatch looks like: dot, hollow, line, dashed, dotted
"use strict";

orrery.chartSeries = (() => {
  const tracer = (u, one) => {
    const at = (i) => u.valToPos(one.x[i], "x", true);
    const height = (v) => u.valToPos(v, "y", true);
    return { at, height };
  };
  const visible = (u, one) => {
    if (one.kind === "points") return [0, one.x.length];
    const { min, max } = u.scales.x;
    let first = 0;
    let last = one.x.length;
    while (first + 1 < last && one.x[first + 1] < min) ++first;
    while (last - 2 > first && one.x[last - 2] > max) --last;
    return [first, last];
  };

  const drawBand = (u, one, colour) => {
    const { at, height } = tracer(u, one);
    const [first, last] = visible(u, one);
    const { ctx } = u;
    ctx.beginPath();
    for (let i = first; i < last; ++i) ctx.lineTo(at(i), height(one.high[i]));
    for (let i = last - 1; i >= first; --i) ctx.lineTo(at(i), height(one.low[i]));
    ctx.closePath();
    ctx.globalAlpha = 0.16;
    ctx.fillStyle = colour;
    ctx.fill();
    ctx.globalAlpha = 1;
  };
  const drawLine = (u, one) => {
    const { at, height } = tracer(u, one);
    const [first, last] = visible(u, one);
    const { ctx } = u;
    ctx.beginPath();
    let before = null;
    if (last - first === 1) return drawPoints(u, one, devicePixelRatio);  // a line needs two
    for (let i = first; i < last; ++i) {
      if (!Number.isFinite(one.y[i])) {
        before = null;
        continue;
      }
      const y = height(one.y[i]);
      if (before === null) ctx.moveTo(at(i), y);
      else if (one.kind === "step") ctx.lineTo(at(i), before);
      ctx.lineTo(at(i), y);
      before = y;
    }
    ctx.stroke();
  };
  const drawPoints = (u, one, ratio) => {
    const { at, height } = tracer(u, one);
    const { ctx } = u;
    const radius = (one.size ?? 3.5) * ratio;
    for (let i = 0; i < one.x.length; ++i) {
      const [x, y] = [at(i), height(one.y[i])];
      if (one.low) {
        ctx.beginPath();
        ctx.moveTo(x, height(one.low[i]));
        ctx.lineTo(x, height(one.high[i]));
        ctx.stroke();
      }
      ctx.beginPath();
      ctx.arc(x, y, radius, 0, 2 * Math.PI);
      if (one.hollow) ctx.stroke();
      else ctx.fill();
    }
  };

  const drawnAs = ({ kind, hollow, dash }) => {
    if (kind === "points") return hollow ? "hollow" : "dot";
    if (!dash || dash.length === 0) return "line";
    return dash[0] > 4 ? "dashed" : "dotted";
  };

  return { tracer, drawBand, drawLine, drawPoints, drawnAs };
})();
