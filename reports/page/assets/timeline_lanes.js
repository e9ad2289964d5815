// Lanes of spans on a canvas. Spans that are too narrow to be drawn by themselves are drawn cell by cell, each kind of them
// as high as its share of the cell. Lanes, layers and views are those of timeline_spans.js.
//   orrery.lanes.drawLane(ctx, lane, top, view), .hatch(ctx, activity)
"use strict";

orrery.lanes = (() => {
  const { kCell, kKinds, Cells, item, kindsOf, pixelOf, sumUp } = orrery.spans;
  const luminance = (colour) => {
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
    return 0.3 * r + 0.6 * g + 0.1 * b;
  };

  let patterns = [];
  let tints = [];
  orrery.onTheme(() => {
    patterns = [];
    tints = [];
  });
  const hatch = (ctx, activity) => {
    if (patterns.ratio !== devicePixelRatio) patterns = Object.assign([], { ratio: devicePixelRatio });
    if (!patterns[activity]) {
      const size = 6 * devicePixelRatio;
      const tile = new OffscreenCanvas(size, size);
      const t = tile.getContext("2d");
      t.fillStyle = orrery.style("paper");
      t.fillRect(0, 0, size, size);
      // The bubble's own colour is that of the paper.
      t.strokeStyle = orrery.activities[activity].name === "bubble" ? orrery.style("rule") : orrery.colour(activity);
      t.lineWidth = 1.8 * devicePixelRatio;
      t.beginPath();
      for (const at of [-size, 0, size]) {
        t.moveTo(at - 1, size + 1);
        t.lineTo(at + size + 1, -1);
      }
      t.stroke();
      patterns[activity] = ctx.createPattern(tile, "repeat");
    }
    return patterns[activity];
  };

  // Where lines would not fit: half way to the paper.
  const tint = (activity) => {
    const of = orrery.activities[activity].name === "bubble" ? orrery.style("rule") : orrery.colour(activity);
    const part = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
    tints[activity] ??= `rgb(${[1, 3, 5].map((at) => (part(of, at) + part(orrery.style("paper"), at)) / 2).join(" ")})`;
    return tints[activity];
  };

  const drawText = (ctx, text, { x, width, top, height, fill, plate }) => {
    const ratio = devicePixelRatio;
    ctx.font = `${Math.min(11, height / ratio - 3) * ratio}px ${orrery.style("font")}`;
    const needed = ctx.measureText(text).width;
    if (needed > width - 4 * ratio) return;
    if (plate) {
      ctx.fillStyle = fill;
      ctx.fillRect(x + width / 2 - needed / 2 - 2 * ratio, top, needed + 4 * ratio, height);
    }
    ctx.fillStyle = fill && luminance(fill) < 0.5 ? "#ffffff" : "#1c1e22";
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillText(text, x + width / 2, top + height / 2 + ratio * 0.5);
  };

  // ---- what is narrow
  const kLonely = 16;  // pixels without others to both sides: what is there is as high as the lane
  const laneCells = new Cells();

  const fillOf = (ctx, kind) => (kind % 2 === 0 ? orrery.colour(kind >> 1) : hatch(ctx, kind >> 1));

  // Where what a cell holds is drawn: within it, and a pixel wide at least.
  const placeOf = (cells, c, view) => {
    const ratio = devicePixelRatio;
    const scale = view.width / (view.to - view.from);
    const [begin, end] = [cells.from + c * cells.length, cells.from + (c + 1) * cells.length];
    const at = (time) => {
      const x = view.left + (time - view.from) * scale;
      return time <= begin || time >= end ? Math.round(x) : x;
    };
    const x = Math.min(at(cells.first[c]), at(end) - ratio);
    return [x, Math.max(at(cells.last[c]) - x, ratio)];
  };

  // Work at the bottom, waits above it.
  const stackOrder = Array.from({ length: kKinds }, (_, k) => (k < kKinds / 2 ? 2 * k : 2 * k - kKinds + 1));

  // Returns true if no other cells are filled around it, but for the next one, where the same span may go on.
  const isLonely = (filled, f) => {
    const far = kLonely / kCell;
    let [first, last] = [f, f];
    while (first > 0 && filled[first].c - filled[first - 1].c <= far && f - first < 2) --first;
    while (last + 1 < filled.length && filled[last + 1].c - filled[last].c <= far && last - f < 2) ++last;
    return last - first < 2 && filled[last].c - filled[first].c <= 1;
  };

  // A cell in which one kind goes over into another, between cells of one kind, shows where it does.
  const drawInTurn = (ctx, cells, filled, f, { top, height, view }) => {
    const { c, x, right } = filled[f];
    const isPlain = (other, by) => !other || other.c !== c + by || cells.changes[other.c] === 0;
    if (cells.changes[c] === 0 || !isPlain(filled[f - 1], -1) || !isPlain(filled[f + 1], 1)) return false;
    const kinds = cells.kindsInTurn(c);
    if (!kinds) return false;
    const scale = view.width / (view.to - view.from);
    for (const kind of kinds) {
      const from = Math.max(x, view.left + (cells.begins[c * kKinds + kind] - view.from) * scale);
      ctx.fillStyle = fillOf(ctx, kind);
      ctx.fillRect(from, top, Math.min(right - from, cells.sums[c * kKinds + kind] * scale), height);
    }
    return true;
  };

  const drawCells = (ctx, cells, top, height, view) => {
    const ratio = devicePixelRatio;
    const scale = view.width / (view.to - view.from);
    const filled = [];
    for (let c = 0; c < cells.count; ++c) {
      if (cells.spans[c] === 0) continue;
      const [x, width] = placeOf(cells, c, view);
      const total = cells.total(c) * scale;
      if (total > 0) filled.push({ c, x, right: x + width, bottom: top + height, width, total });
    }
    filled.forEach((cell, f) => {
      // Every span is at least a pixel high.
      const least = isLonely(filled, f) ? cell.width : cell.width * ratio / height;
      cell.scale = scale * height / cell.width * Math.max(1, least / cell.total);
    });
    const stacked = filled.filter((cell, f) => !drawInTurn(ctx, cells, filled, f, { top, height, view }));
    for (const kind of stackOrder) {
      let [x, right, y, bottom] = [0, 0, 0, 0];
      const paint = () => { if (right > x) ctx.fillRect(x, y, right - x, bottom - y); };
      for (const cell of stacked) {
        const sum = cells.sums[cell.c * kKinds + kind];
        if (sum === 0) continue;
        if (right === 0) ctx.fillStyle = fillOf(ctx, kind);
        const upper = Math.max(top, cell.bottom - sum * cell.scale);
        if (cell.x !== right || Math.abs(upper - y) > 0.05 || Math.abs(cell.bottom - bottom) > 0.05) {
          paint();
          [x, y, bottom] = [cell.x, upper, cell.bottom];
        }
        right = cell.right;
        cell.bottom = upper;
      }
      paint();
    }
    for (const { c, x, right } of filled) if (cells.marked[c]) underline(ctx, x, Math.max(right - x, 2 * ratio), top, height);
  };

  // ---- what is wide
  // Paints rectangles from left to right; neighbours of one kind become one.
  class Brush {
    constructor(ctx, layer, top, height) {
      Object.assign(this, { ctx, layer, top, height, from: 0, to: 0, kind: -1 });
    }

    paint(x, right, kind) {
      if (kind === this.kind && x <= this.to + 0.01) {
        this.to = Math.max(this.to, right);
        return;
      }
      this.finish();
      Object.assign(this, { from: x, to: right, kind });
    }

    finish() {
      if (this.kind < 0) return;
      const narrow = this.kind % 2 === 1 && this.to - this.from < 4 * devicePixelRatio;
      this.ctx.fillStyle = narrow ? tint(this.kind >> 1) : fillOf(this.ctx, this.kind);
      this.ctx.fillRect(this.from, this.top, this.to - this.from, this.height);
      this.kind = -1;
    }
  }

  // Draws the parts of wide spans only: border and text.
  const drawDetails = (ctx, layer, i, place, hatched) => {
    const { x, width, top, height } = place;
    const ratio = devicePixelRatio;
    if (!hatched && !layer.words) {
      ctx.fillStyle = orrery.style("paper");
      ctx.fillRect(x + width - 0.6 * ratio, top, 0.6 * ratio, height);
    }
    const text = width > 11 * ratio && layer.text?.(i);
    if (text) drawText(ctx, text, { ...place, fill: hatched ? null : orrery.colour(layer.activity(i)), plate: layer.words });
  };
  const underline = (ctx, x, width, top, height) => {
    ctx.fillStyle = orrery.style("ink");
    ctx.fillRect(x, top + height - 3 * devicePixelRatio, width, 2.5 * devicePixelRatio);
  };

  const drawWide = (ctx, layer, places, top, height, view) => {
    const ratio = devicePixelRatio;
    const scale = view.width / (view.to - view.from);
    const kinds = kindsOf(layer);
    const brush = new Brush(ctx, layer, top, height);
    for (const k of places) {
      const i = item(layer, k);
      const x = Math.max(view.left, view.left + (layer.start[i] - view.from) * scale);
      const width = Math.min(view.left + view.width, view.left + (layer.finish[i] - view.from) * scale) - x;
      if (!layer.words) brush.paint(x, x + width, kinds[k]);
      const wide = width > 6 * ratio;
      const marked = layer.edge?.(i);
      if (wide || marked) brush.finish();
      if (marked) underline(ctx, x, width, top, height);
      if (wide) drawDetails(ctx, layer, i, { x, width, top, height }, kinds[k] % 2 === 1);
    }
    brush.finish();
  };

  const drawLane = (ctx, lane, laneTop, view) => {
    const ratio = devicePixelRatio;
    const [top, height] = [laneTop + ratio, (lane.height - 2) * ratio];
    const pixel = pixelOf(view);
    const cells = laneCells.reset(view.from, kCell * pixel, Math.ceil(view.width / ratio / kCell));
    const wide = sumUp(lane, cells, pixel);
    drawCells(ctx, cells, top, height, view);
    lane.layers.forEach((layer, l) => drawWide(ctx, layer, wide[l], top, height, view));
  };

  return { drawLane, hatch };
})();
