// Lanes of spans on a canvas, and which of them is under a pointer. A lane costs as many steps as it has pixels,
// however many spans it has.
//   lane: {title, indent, height, heading, layers: [layer]}
//   layer: {start, finish: numbers (ps), index: which of them, in order of time and apart from each other (null: all),
//           activity(i), hatched(i), text(i), edge(i), least, words}      of span i; all but activity may lack; least: pixels
//           below which a span of the layer is left out; words: the layer writes its texts alone, over others
"use strict";

orrery.lanes = (() => {
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

  const size = (layer) => (layer.index ? layer.index.length : layer.start.length);
  const item = (layer, k) => (layer.index ? layer.index[k] : k);

  // The first place whose span ends after `time`, from `k` on.
  const firstAfter = (layer, time, k = 0) => {
    let low = k;
    let high = size(layer);
    for (let step = 1; low + step < high; step *= 2) {
      if (layer.finish[item(layer, low + step)] > time) high = low + step + 1;
      else low += step;
    }
    while (low < high) {
      const middle = (low + high) >> 1;
      if (layer.finish[item(layer, middle)] > time) high = middle;
      else low = middle + 1;
    }
    return low;
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

  // Paints rectangles from left to right; neighbours of one kind that are narrower than a pixel become one.
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

    // kind: twice the activity, and one more where it is hatched.
    finish() {
      if (this.kind < 0) return;
      const activity = this.kind >> 1;
      if (this.kind % 2 === 0) this.ctx.fillStyle = orrery.colour(activity);
      else this.ctx.fillStyle = this.to - this.from < 4 * devicePixelRatio ? tint(activity) : hatch(this.ctx, activity);
      this.ctx.fillRect(this.from, this.top, this.to - this.from, this.height);
      this.kind = -1;
    }
  }

  // What is seen of a wide span only: its border, its text.
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

  // view: {left, width (canvas pixels), from, to}
  const drawLayer = (ctx, layer, top, height, view) => {
    const ratio = devicePixelRatio;
    const scale = view.width / (view.to - view.from);
    const smallest = ratio / scale;
    const least = (layer.least ?? 0) * smallest;
    const brush = new Brush(ctx, layer, top, height);
    for (let k = firstAfter(layer, view.from); k < size(layer);) {
      const i = item(layer, k);
      const [start, finish] = [layer.start[i], layer.finish[i]];
      if (start >= view.to) break;
      if (finish - start < least) {
        ++k;
        continue;
      }
      const x = Math.max(view.left, view.left + (start - view.from) * scale);
      const width = Math.max(Math.min(view.left + view.width, view.left + (finish - view.from) * scale) - x, ratio);
      const hatched = Boolean(layer.hatched?.(i));
      if (!layer.words) brush.paint(x, x + width, 2 * layer.activity(i) + (hatched ? 1 : 0));
      const wide = width > 6 * ratio;
      const marked = layer.edge?.(i);
      if (wide || marked) brush.finish();
      if (marked) underline(ctx, x, width, top, height);
      if (wide) drawDetails(ctx, layer, i, { x, width, top, height }, hatched);
      // What ends within the pixel that is drawn is not seen any more.
      const end = Math.max(start, view.from) + smallest;
      k = finish < end ? firstAfter(layer, end, k + 1) : k + 1;
    }
    brush.finish();
  };

  const drawLane = (ctx, lane, top, view) => {
    const height = lane.height * devicePixelRatio;
    for (const layer of lane.layers) drawLayer(ctx, layer, top + devicePixelRatio, height - 2 * devicePixelRatio, view);
  };

  // The span at a time, or the nearest within `slack`: {layer, index}; null where there is none.
  const hit = (lane, time, slack) => {
    for (let l = lane.layers.length - 1; l >= 0; --l) {
      const layer = lane.layers[l];
      if (layer.words) continue;
      const k = firstAfter(layer, time - slack);
      if (k >= size(layer)) continue;
      const index = item(layer, k);
      if (layer.start[index] <= time + slack) return { layer, index };
    }
    return null;
  };

  return { drawLane, hit, hatch, firstAfter, size, item };
})();
