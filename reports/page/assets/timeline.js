// A timeline: lanes on a canvas under an axis of time, with names at the left.
//   orrery.timeRange(from, to)   a range that timelines and charts share: {from, to, set(from, to), all(), on(draw)}
//   orrery.timeline({label, range, lanes, height, describe, onClick, gutter, origin, things, kindName})
//     range: a timeRange in ps; lanes: as in timeline_spans.js, with heading: {open, toggle()} where they fold
//     height: pixels before it scrolls; describe(lane, layer, index): lines of the tooltip
//     onClick(lane, layer, index); origin(): the time that the axis counts from, by default 0
//     things: what the spans are, by default "operations"; kindName(activity, hatched): what a kind of them is called
// Wheel with Ctrl, drag and + zoom in, - zooms out, Shift and drag or the arrow keys move, double click or 0 shows all.
// n and p go from span to span, up and down to other lanes, Enter is a click; a line below tells what is there.
// Answers the element; element.setLanes(lanes), element.redraw(), element.reveal(lane).
"use strict";

orrery.timeRange = (from, to) => {
  const listeners = [];
  const range = {
    from, to, first: from, last: to,
    on: (draw) => { listeners.push(draw); },
    set(a, b) {
      const least = (this.last - this.first) * 1e-7 + 1;
      const width = Math.min(Math.max(b - a, least), this.last - this.first);
      const start = Math.min(Math.max((a + b - width) / 2, this.first), this.last - width);
      [this.from, this.to] = [start, start + width];
      listeners.forEach((draw) => draw());
    },
    bounds(a, b) {
      [this.first, this.last] = [a, b];
      this.set(a, b);
    },
    all() { this.set(this.first, this.last); },
    zoom(factor, at = (this.from + this.to) / 2) { this.set(at - (at - this.from) * factor, at + (this.to - at) * factor); },
    move(share) {
      const by = (this.to - this.from) * share;
      const start = Math.min(Math.max(this.from + by, this.first), this.last - (this.to - this.from));
      this.set(start, start + this.to - this.from);
    },
  };
  return range;
};

orrery.Timeline = class {
  static axisHeight = 22;

  static kindName(activity, hatched) {
    const { name } = orrery.activities[activity];
    return hatched && name !== "bubble" ? `waits for ${name}` : name;
  }

  constructor({ label, range, lanes, height = 420, describe, onClick, gutter = 150, origin = () => 0,
    things = "operations", kindName = orrery.Timeline.kindName }) {
    const { el } = orrery;
    Object.assign(this, { range, describe, onClick, height, origin, things, kindName, wantedGutter: gutter,
      chosen: null, drag: null, cursor: null });
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.spacer = el("div", { class: "spacer" });
    this.names = el("div", { class: "names" });
    this.spacer.append(this.canvas, this.names);
    this.box = el("div", { class: "lanes", tabindex: 0, role: "application", "aria-label": label,
      "aria-description": "n and p go from one to the next, arrows up and down to other rows, Enter opens, + and - zoom" }, this.spacer);
    this.told = el("figcaption", { "aria-live": "polite" });
    this.told.style.marginTop = "8px";
    this.element = el("figure", { class: "timeline" }, this.box, this.told);
    this.setLanes(lanes);
    this.listen();
    range.on(() => this.redraw());
    orrery.onTheme(() => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(this.box);
  }

  setLanes(lanes) {
    this.lanes = lanes;
    this.tops = [];
    let top = orrery.Timeline.axisHeight;
    for (const lane of lanes) {
      this.tops.push(top);
      top += lane.height;
    }
    this.total = top;
    this.spacer.style.height = `${top}px`;
    this.box.style.height = `${Math.min(top, this.height) + 2}px`;
    this.named = null;
    this.leave();
    this.redraw();
  }

  get gutter() { return Math.round(Math.min(this.wantedGutter, this.box.clientWidth * 0.3)); }
  get width() { return Math.max(50, this.box.clientWidth - this.gutter); }
  get view() {
    const ratio = devicePixelRatio;
    return { left: this.gutter * ratio, width: this.width * ratio, from: this.range.from, to: this.range.to };
  }

  redraw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = null;
      this.draw();
    });
  }

  // The lanes in sight: [first, last).
  visible() {
    const top = this.box.scrollTop;
    let first = 0;
    while (first + 1 < this.lanes.length && this.tops[first + 1] <= top) ++first;
    let last = first;
    while (last < this.lanes.length && this.tops[last] < top + this.box.clientHeight) ++last;
    return [first, last];
  }

  draw() {
    if (this.box.clientWidth === 0) return;
    const ratio = devicePixelRatio;
    const { canvas, box } = this;
    canvas.width = box.clientWidth * ratio;
    canvas.height = box.clientHeight * ratio;
    canvas.style.width = `${box.clientWidth}px`;
    canvas.style.height = `${box.clientHeight}px`;
    const ctx = canvas.getContext("2d");
    const { view } = this;
    const [first, last] = this.visible();
    this.drawAxis(ctx, view);
    ctx.save();
    ctx.beginPath();
    ctx.rect(view.left, orrery.Timeline.axisHeight * ratio, view.width, canvas.height);
    ctx.clip();
    for (let l = first; l < last; ++l) {
      orrery.lanes.drawLane(ctx, this.lanes[l], (this.tops[l] - box.scrollTop) * ratio, view);
    }
    if (this.chosen) this.drawFrame(ctx, view, this.chosen, "ink", 2);
    if (this.cursor && this.cursor.start !== null) {
      this.drawFrame(ctx, view, this.cursor, "paper", 5);
      this.drawFrame(ctx, view, this.cursor, "ink", 2);
    }
    ctx.restore();
    this.drawSelection(ctx);
    this.writeNames(first, last);
  }

  drawAxis(ctx, view) {
    const ratio = devicePixelRatio;
    const span = (view.to - view.from) * 1e-12;
    const wanted = span / Math.max(2, this.width / 110);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = power * [1, 2, 5, 10].find((n) => n * power >= wanted);
    Object.assign(ctx, { font: `${11.5 * ratio}px ${orrery.style("font")}`, textAlign: "left", textBaseline: "middle" });
    const origin = this.origin() * 1e-12;
    for (let n = Math.ceil((view.from * 1e-12 - origin) / step); n * step + origin < view.to * 1e-12; ++n) {
      const x = view.left + ((n * step + origin) * 1e12 - view.from) / (view.to - view.from) * view.width;
      ctx.fillStyle = orrery.style("grid");
      ctx.fillRect(x, 0, ratio, ctx.canvas.height);
      ctx.fillStyle = orrery.style("muted");
      const text = orrery.format.spanned(n * step, span, step);
      if (x + ctx.measureText(text).width < view.left + view.width) ctx.fillText(text, x + 4 * ratio, 11 * ratio);
    }
  }

  drawFrame(ctx, view, { lane, start, finish }, colour, width) {
    const ratio = devicePixelRatio;
    const at = (time) => view.left + (time - view.from) / (view.to - view.from) * view.width;
    ctx.strokeStyle = orrery.style(colour);
    ctx.lineWidth = width * ratio;
    ctx.strokeRect(at(start), (this.tops[lane] - this.box.scrollTop) * ratio + ratio,
      Math.max(3 * ratio, at(finish) - at(start)), (this.lanes[lane].height - 2) * ratio);
  }

  drawSelection(ctx) {
    if (!this.drag || this.drag.moves) return;
    const ratio = devicePixelRatio;
    ctx.globalAlpha = 0.15;
    ctx.fillStyle = orrery.style("accent");
    ctx.fillRect(this.drag.x * ratio, 0, (this.drag.at - this.drag.x) * ratio, ctx.canvas.height);
    ctx.globalAlpha = 1;
  }

  writeNames(first, last) {
    if (this.named === `${first} ${last} ${this.gutter}`) return;
    this.named = `${first} ${last} ${this.gutter}`;
    this.names.style.width = `${this.gutter}px`;
    this.names.replaceChildren(...this.lanes.slice(first, last).map((lane, k) => this.nameOf(lane, first + k)));
  }

  nameOf(lane, l) {
    const { el } = orrery;
    const name = lane.heading
      ? el("button", { type: "button", "aria-expanded": String(lane.heading.open), on: { click: lane.heading.toggle } },
        `${lane.heading.open ? "\u25be" : "\u25b8"} ${lane.title}`)
      : el("span", {}, lane.title);
    const row = el("div", { class: lane.strong ? "name strong" : "name", title: lane.title }, name);
    row.style.top = `${this.tops[l]}px`;
    row.style.height = `${lane.height}px`;
    row.style.paddingLeft = `${(lane.indent ?? 0) * 12}px`;
    return row;
  }

  timeAt(x) { return this.range.from + (x - this.gutter) / this.width * (this.range.to - this.range.from); }

  // Returns the item under a point of the box: {lane, number, layer, index, mix}, as orrery.spans.hit() says.
  under(x, y) {
    if (x < this.gutter || y < orrery.Timeline.axisHeight) return null;
    const top = y + this.box.scrollTop;
    const l = this.tops.findLastIndex((begin) => begin <= top);
    if (l < 0 || top >= this.tops[l] + this.lanes[l].height) return null;
    const found = orrery.spans.hit(this.lanes[l], this.timeAt(x), this.view);
    return found && { lane: this.lanes[l], number: l, ...found };
  }

  // Describes spans that are too narrow to be drawn by themselves.
  describeMix({ spans, from, to, parts }) {
    const { format } = orrery;
    return [`${format.count(spans)} ${this.things} within ${format.picoseconds(to - from)}`,
      ...parts.map(({ activity, hatched, share }) => [this.kindName(activity, hatched), format.percent(share)]),
      ["", "zoom in to tell them apart"]];
  }

  choose(number, start, finish) {
    this.chosen = number === null ? null : { lane: number, start, finish };
    this.redraw();
  }

  reveal(number) {
    const top = this.tops[number];
    if (top < this.box.scrollTop + 30 || top + 30 > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top - 60;
  }

  listen() {
    const { box } = this;
    const place = (event) => {
      const bounds = box.getBoundingClientRect();
      return [event.clientX - bounds.left, event.clientY - bounds.top];
    };
    box.addEventListener("scroll", () => this.redraw());
    box.addEventListener("wheel", (event) => this.onWheel(event, place(event)), { passive: false });
    box.addEventListener("pointerdown", (event) => this.onDown(event, place(event)));
    box.addEventListener("pointermove", (event) => this.onMove(event, place(event)));
    box.addEventListener("pointerup", (event) => this.onUp(event, place(event)));
    for (const end of ["pointercancel", "lostpointercapture"]) box.addEventListener(end, () => this.dropDrag());
    box.addEventListener("pointerleave", () => orrery.tooltip.hide());
    box.addEventListener("dblclick", () => this.range.all());
    box.addEventListener("keydown", (event) => this.onKey(event));
  }

  onWheel(event, [x]) {
    if (event.ctrlKey || event.metaKey || event.altKey) this.range.zoom(Math.exp(Math.sign(event.deltaY) * 0.25), this.timeAt(x));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.range.move((event.deltaX || event.deltaY) / this.width);
    else return;
    event.preventDefault();
  }

  onDown(event, [x]) {
    if (event.button !== 0 || x < this.gutter || x > this.gutter + this.width) return;
    this.drag = { x, at: x, moves: event.shiftKey, from: this.range.from, to: this.range.to };
    this.box.setPointerCapture(event.pointerId);
  }

  onMove(event, [x, y]) {
    if (!this.drag) return this.hover(event, x, y);
    this.drag.at = Math.min(Math.max(x, this.gutter), this.gutter + this.width);
    orrery.tooltip.hide();
    if (!this.drag.moves) return this.redraw();
    const by = (this.drag.x - x) / this.width * (this.drag.to - this.drag.from);
    this.range.set(this.drag.from + by, this.drag.to + by);
  }

  onUp(event, [x, y]) {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    if (Math.abs(drag.at - drag.x) < 4) {
      const found = this.under(x, y);
      if (found && this.onClick) this.onClick(found.number, found.layer, found.index);
    } else if (!drag.moves) {
      const [a, b] = [this.timeAt(drag.x), this.timeAt(drag.at)];
      this.range.set(Math.min(a, b), Math.max(a, b));
    }
    this.redraw();
  }

  // A drag that the browser ends, as it scrolls or takes the pointer away, changes nothing.
  dropDrag() {
    if (!this.drag) return;
    this.drag = null;
    this.redraw();
  }

  hover(event, x, y) {
    const found = this.under(x, y);
    this.box.classList.toggle("clickable", Boolean(found && this.onClick));
    if (!found) return orrery.tooltip.hide();
    orrery.tooltip.show(event.clientX, event.clientY,
      found.mix ? this.describeMix(found.mix) : this.describe(found.lane, found.layer, found.index));
  }

  // ---- the cursor: {lane, layer, place: numbers, start, finish, time}; start is null on a lane without spans; time: at
  // which it goes across lanes
  put(number, at, time) {
    const lane = this.lanes[number];
    if (at === null) {
      this.cursor = { lane: number, start: null, time };
      this.told.textContent = lane.heading ? `${lane.title}. Enter ${lane.heading.open ? "folds" : "unfolds"} it.` : lane.title;
    } else {
      const layer = lane.layers[at.layer];
      const index = orrery.spans.item(layer, at.place);
      const [start, finish] = [layer.start[index], layer.finish[index]];
      this.cursor = { lane: number, ...at, index, start, finish, time: time ?? start };
      this.show(start, finish);
      const lines = this.describe(lane, layer, index).filter((line) => !Array.isArray(line) || line[0] !== "");
      this.told.textContent = `${lane.title}: ${lines.map((line) => (Array.isArray(line) ? line.join(" ").trim() : line)).join("; ")}.`;
    }
    orrery.tooltip.hide();
    this.reveal(number);
    this.redraw();
  }

  leave() {
    this.cursor = null;
    this.told.textContent = "";
    this.redraw();
  }

  // Moves the range so that what happens then is in it.
  show(start, finish) {
    const { from, to } = this.range;
    if (finish > from && start < to) return;
    const width = to - from;
    const begin = start >= to ? start - 0.2 * width : start - 0.8 * width;
    const first = Math.min(Math.max(begin, this.range.first), this.range.last - width);
    this.range.set(first, first + width);
  }

  inSight({ start, finish }) { return start !== null && finish >= this.range.from && start <= this.range.to; }

  // The first key puts the cursor on what the range begins with.
  goAlong(by) {
    const { cursor } = this;
    const number = cursor?.lane ?? this.visible()[0];
    const lane = this.lanes[number];
    if (!lane) return;
    if (!cursor || !this.inSight(cursor)) return this.put(number, orrery.spans.spanFrom(lane, this.range.from));
    const next = orrery.spans.neighbour(lane, cursor, by, this.view);
    if (next) this.put(number, next);
  }

  goAcross(by) {
    const { cursor } = this;
    if (!cursor) return this.goAlong(1);
    const number = Math.min(Math.max(cursor.lane + by, 0), this.lanes.length - 1);
    const moved = cursor.start !== null && !this.inSight(cursor);
    const time = moved ? this.range.from : cursor.time ?? this.range.from;
    this.put(number, orrery.spans.spanFrom(this.lanes[number], time), time);
  }

  open() {
    const { cursor } = this;
    if (!cursor) return;
    const { heading, layers } = this.lanes[cursor.lane];
    if (heading) {
      heading.toggle();
      const time = cursor.time ?? this.range.from;
      this.put(cursor.lane, orrery.spans.spanFrom(this.lanes[cursor.lane], time), time);
    } else if (cursor.start !== null && this.onClick) {
      this.onClick(cursor.lane, layers[cursor.layer], cursor.index);
    }
  }

  zoom(factor) {
    const { cursor } = this;
    this.range.zoom(factor, cursor && this.inSight(cursor) ? Math.max(cursor.start, this.range.from) : undefined);
  }

  onKey(event) {
    const actions = {
      "+": () => this.zoom(0.6), "=": () => this.zoom(0.6), "-": () => this.zoom(1 / 0.6),
      w: () => this.zoom(0.6), s: () => this.zoom(1 / 0.6), a: () => this.range.move(-0.2), d: () => this.range.move(0.2),
      ArrowLeft: () => this.range.move(-0.2), ArrowRight: () => this.range.move(0.2), 0: () => this.range.all(),
      n: () => this.goAlong(1), p: () => this.goAlong(-1), ArrowDown: () => this.goAcross(1), ArrowUp: () => this.goAcross(-1),
      Enter: () => this.open(), Escape: () => this.leave(),
    };
    if (event.ctrlKey || event.metaKey || event.target !== this.box || !actions[event.key]) return;
    actions[event.key]();
    event.preventDefault();
  }
};

orrery.timeline = (options) => {
  const timeline = new orrery.Timeline(options);
  return Object.assign(timeline.element, { timeline });
};
