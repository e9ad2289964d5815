// Spans of lanes: which are too narrow to be drawn by themselves, what is under a pointer, what comes next. A span of six
// pixels or more is drawn by itself; narrower ones are summed up by kind in cells of six pixels.
//   lane: {title, indent, height, heading, layers: [layer]}
//   layer: {start, finish: numbers (ps), index: which of them, in order of time and apart from each other (null: all),
//           activity(i), hatched(i), text(i), edge(i), least, words}      of span i; all but activity may lack; least: pixels,
//           no fewer than that, below which a span of the layer is left out; words: the layer writes its texts alone, over others
//   A layer hides what those before it have at the same time.
//   view: {left, width (canvas pixels), from, to}
//   orrery.spans.sumUp(lane, cells, pixel)    the wide spans of a lane; the narrow ones go into cells
//   orrery.spans.hit(lane, time, view)        what is drawn there
//   orrery.spans.neighbour(lane, at, by, view), .spanFrom(lane, time)    from span to span
"use strict";

orrery.spans = (() => {
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

  // ---- what is too narrow to be drawn by itself
  const kCell = 6;  // pixels of the page
  const kKinds = 2 * orrery.activities.length;  // twice the activity, and one more where it is hatched

  const kindsOfLayers = new WeakMap();
  const kindsOf = (layer) => {
    if (!kindsOfLayers.has(layer)) {
      kindsOfLayers.set(layer, Uint8Array.from({ length: size(layer) }, (_, k) => {
        const i = item(layer, k);
        return 2 * layer.activity(i) + (layer.hatched?.(i) ? 1 : 0);
      }));
    }
    return kindsOfLayers.get(layer);
  };

  // Times of kinds in `count` cells of `length` ps each. Per cell: first, last: between which its spans lie; changes: how
  // often a kind follows another one; per cell and kind: sums; begins, when the kind comes first.
  class Cells {
    reset(from, length, count) {
      Object.assign(this, { from, length, count });
      if (!(this.sums?.length >= count * kKinds)) {
        [this.sums, this.begins] = [new Float64Array(count * kKinds), new Float64Array(count * kKinds)];
        [this.first, this.last] = [new Float64Array(count), new Float64Array(count)];
        [this.spans, this.changes] = [new Uint32Array(count), new Uint32Array(count)];
        [this.marked, this.tail] = [new Uint8Array(count), new Uint8Array(count)];
      }
      for (const zero of [this.sums, this.spans, this.changes, this.marked, this.tail]) zero.fill(0);
      this.begins.fill(Infinity);
      this.first.fill(Infinity);
      this.last.fill(-Infinity);
      return this;
    }

    at(time) { return Math.min(Math.max(Math.floor((time - this.from) / this.length), 0), this.count - 1); }

    add(start, finish, kind, marked) {
      const last = this.at(finish);
      for (let c = this.at(start); c <= last; ++c) {
        const begin = Math.max(start, this.from + c * this.length);
        const end = Math.min(finish, this.from + (c + 1) * this.length);
        if (end <= begin) continue;
        this.sums[c * kKinds + kind] += end - begin;
        this.first[c] = Math.min(this.first[c], begin);
        this.last[c] = Math.max(this.last[c], end);
        this.spans[c] += 1;
        this.begins[c * kKinds + kind] = Math.min(this.begins[c * kKinds + kind], begin);
        if (this.spans[c] > 1 && this.tail[c] !== kind) this.changes[c] += 1;
        this.tail[c] = kind;
        if (marked) this.marked[c] = 1;
      }
    }

    total(c) {
      let sum = 0;
      for (let kind = 0; kind < kKinds; ++kind) sum += this.sums[c * kKinds + kind];
      return sum;
    }

    // Its kinds in order of time, where each of them ends before the next begins.
    kindsInTurn(c) {
      const kinds = [];
      for (let kind = 0; kind < kKinds; ++kind) if (this.sums[c * kKinds + kind] > 0) kinds.push(kind);
      if (this.changes[c] + 1 !== kinds.length) return null;
      return kinds.sort((a, b) => this.begins[c * kKinds + a] - this.begins[c * kKinds + b]);
    }

    // A wide span from `start` to `finish` lies over all that was added.
    hide(start, finish) {
      const last = this.at(finish);
      for (let c = this.at(start); c <= last; ++c) {
        if (this.spans[c] === 0) continue;
        const [first, end] = [this.first[c], this.last[c]];
        if (start <= first) this.first[c] = Math.min(end, Math.max(first, finish));
        else if (finish >= end) this.last[c] = Math.max(first, Math.min(end, start));
        this.scale(c, (this.last[c] - this.first[c]) / (end - first));
      }
    }

    scale(c, by) {
      for (let at = c * kKinds; at < (c + 1) * kKinds; ++at) this.sums[at] *= by;
      if (by > 0) return;
      [this.spans[c], this.changes[c], this.first[c], this.last[c]] = [0, 0, Infinity, -Infinity];
      this.begins.fill(Infinity, c * kKinds, (c + 1) * kKinds);
    }

    // Adds those of a layer that lies over all that was added.
    cover(over) {
      for (let c = 0; c < this.count; ++c) {
        if (over.spans[c] === 0) continue;
        const apart = this.spans[c] === 0 || over.first[c] >= this.last[c] || over.last[c] <= this.first[c];
        this.changes[c] = apart ? this.changes[c] + over.changes[c] + (this.spans[c] > 0 ? 1 : 0) : kKinds;
        const [first, last] = [Math.min(this.first[c], over.first[c]), Math.max(this.last[c], over.last[c])];
        const under = this.spans[c] === 0 ? 0 : this.total(c);
        const room = Math.max(0, last - first - over.total(c));
        if (under > room) this.scale(c, room / under);
        [this.first[c], this.last[c]] = [first, last];
        for (let at = c * kKinds; at < (c + 1) * kKinds; ++at) {
          this.sums[at] += over.sums[at];
          this.begins[at] = Math.min(this.begins[at], over.begins[at]);
        }
        this.spans[c] += over.spans[c];
        this.marked[c] |= over.marked[c];
      }
    }
  }
  const [layerCells, cellUnderPointer] = [new Cells(), new Cells()];

  // ps of a pixel of the page, and of a cell
  const pixelOf = (view) => (view.to - view.from) / view.width * devicePixelRatio;

  // Sums up a lane in `cells`; answers the places of its wide spans, by layer.
  const sumUp = (lane, cells, pixel) => {
    const until = cells.from + cells.length * cells.count;
    return lane.layers.map((layer) => {
      const wide = [];
      const kinds = kindsOf(layer);
      const least = Math.max(kCell, layer.least ?? 0) * pixel;
      const own = layerCells.reset(cells.from, cells.length, cells.count);
      const alone = Boolean(layer.words || layer.least);
      const n = size(layer);
      for (let k = firstAfter(layer, cells.from); k < n; ++k) {
        const i = item(layer, k);
        const [start, finish] = [layer.start[i], layer.finish[i]];
        if (start >= until) break;
        if (finish - start >= least) {
          wide.push(k);
          if (!layer.words) cells.hide(start, finish);
        } else if (!alone) {
          own.add(start, finish, kinds[k], layer.edge?.(i));
        }
      }
      cells.cover(own);
      return wide;
    });
  };

  // ---- what is under a pointer
  // Spans of which the pointer or the cursor may be told: all but those that are drawn for their looks again.
  const isTold = (layer) => !layer.words && !layer.least;

  // The span at a time where it is drawn by itself: {layer, index}. Narrow: whether it is drawn with others.
  const spanAt = (lane, time, pixel) => {
    for (let l = lane.layers.length - 1; l >= 0; --l) {
      const layer = lane.layers[l];
      const k = layer.words ? size(layer) : firstAfter(layer, time);
      if (k >= size(layer)) continue;
      const index = item(layer, k);
      const length = layer.finish[index] - layer.start[index];
      if (layer.start[index] > time || length < (layer.least ?? 0) * pixel) continue;
      return { layer, index, narrow: length < kCell * pixel };
    }
    return null;
  };

  const nearest = (lane, time, slack) => {
    for (const layer of [...lane.layers].reverse().filter(isTold)) {
      const k = firstAfter(layer, time - slack);
      if (k < size(layer) && layer.start[item(layer, k)] <= time + slack) return { layer, index: item(layer, k) };
    }
    return null;
  };

  // Returns the contents of the cell at a time: {from, to, spans, parts: [{activity, hatched, share}]}, the largest first.
  const mixAt = (lane, time, view) => {
    const pixel = pixelOf(view);
    const length = kCell * pixel;
    const from = view.from + Math.floor((time - view.from) / length) * length;
    const cell = cellUnderPointer.reset(from, length, 1);
    sumUp(lane, cell, pixel);
    const parts = [];
    const room = cell.last[0] - cell.first[0];
    for (let kind = 0; kind < kKinds; ++kind) {
      if (cell.sums[kind] > 0) parts.push({ activity: kind >> 1, hatched: kind % 2 === 1, share: cell.sums[kind] / room });
    }
    parts.sort((a, b) => b.share - a.share);
    return { from: cell.first[0], to: cell.last[0], spans: cell.spans[0], parts };
  };

  // Returns the drawing at a time: {layer, index} of a span, or of one of several that are drawn together, with its mix:
  // {layer, index, mix}. Where nothing is, the nearest within 1.5 pixels, or null.
  const hit = (lane, time, view) => {
    const pixel = pixelOf(view);
    const found = spanAt(lane, time, pixel);
    if (found && !found.narrow) return found;
    const mix = mixAt(lane, time, view);
    const one = found ?? nearest(lane, time, mix.spans > 0 ? kCell * pixel : 1.5 * pixel);
    return one && mix.spans > 1 ? { ...one, mix } : one;
  };

  // ---- from span to span
  // The first place from whose span on all begin at `time` or later.
  const firstFrom = (layer, time) => {
    let [low, high] = [0, size(layer)];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (layer.start[item(layer, middle)] >= time) high = middle;
      else low = middle + 1;
    }
    return low;
  };

  // The span that begins next (by = 1) or before (-1), of all layers. Of those that begin at once layers come in their order.
  const besides = (lane, at, by) => {
    const startAt = (l, place) => lane.layers[l].start[item(lane.layers[l], place)];
    const time = startAt(at.layer, at.place);
    let found = null;
    lane.layers.forEach((layer, l) => {
      if (layer.words) return;
      let next = l === at.layer ? at.place + 1 : firstFrom(layer, time);
      while (l < at.layer && next < size(layer) && startAt(l, next) <= time) ++next;
      const place = by > 0 ? next : next - (l === at.layer ? 2 : 1);
      if (place < 0 || place >= size(layer)) return;
      const nearer = found === null ? 1 : (startAt(found.layer, found.place) - startAt(l, place)) * by;
      if (nearer > 0 || (nearer === 0 && by < 0)) found = { layer: l, place };
    });
    return found;
  };

  // Returns true if a span is drawn, alone or with others: no later layer hides it.
  const isSeen = (lane, at, pixel) => {
    const layer = lane.layers[at.layer];
    const i = item(layer, at.place);
    if (layer.finish[i] - layer.start[i] < (layer.least ?? 0) * pixel) return false;
    return !lane.layers.slice(at.layer + 1).filter(isTold).some((over) => {
      const k = firstAfter(over, layer.start[i]);
      return k < size(over) && over.start[item(over, k)] <= layer.start[i] && over.finish[item(over, k)] >= layer.finish[i];
    });
  };

  // The next span that is drawn; at: {layer, place}, numbers. Null where there is none.
  const neighbour = (lane, at, by, view) => {
    const pixel = pixelOf(view);
    let next = besides(lane, at, by);
    while (next && !isSeen(lane, next, pixel)) next = besides(lane, next, by);
    return next;
  };

  // The span at a time, else the first after it, else the last: {layer, place}, numbers; null of a lane without spans.
  const spanFrom = (lane, time) => {
    let found = null;
    let first = Infinity;
    let last = null;
    lane.layers.forEach((layer, l) => {
      if (!isTold(layer) || size(layer) === 0) return;
      const place = firstAfter(layer, time);
      if (place === size(layer)) {
        last = { layer: l, place: place - 1 };
        return;
      }
      const start = Math.max(layer.start[item(layer, place)], time);
      if (start > first) return;
      [found, first] = [{ layer: l, place }, start];
    });
    return found ?? last;
  };

  return { kCell, kKinds, Cells, size, item, firstAfter, kindsOf, pixelOf, sumUp, hit, neighbour, spanFrom };
})();
