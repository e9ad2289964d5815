// Elements of a page. All text goes in as text.
//   el(tag, {class, ...attributes, on: {event: handler}}, ...children)   children: elements, texts, lists, null
//   section(id, title, note, ...children)     a part of the page; its title also stands in the contents
//   figure(label, value, note)                a headline figure; figures(...) a row of them
//   legend([{name, colour() , hatched}])      colours with words; follows light and dark
//   notice(kind, title, sentences)            kind "note" or "warning"
//   reveal(element)                           scrolls to where its beginning can be read, if it cannot be yet
//   bar(share, activity)                      a horizontal bar for a share of 0..1
//   tooltip.show(x, y, lines), .hide()        one for the page; lines: texts or [label, value]
//   start({title, lines, verdict, build})     the frame of the page; build(main) fills it
"use strict";

Object.assign(orrery, (() => {
  // Characters that turn the direction of what follows them would turn our own words too: their names instead.
  const plain = (text) => text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16)}`);
  const append = (parent, child) => {
    if (child === null || child === undefined || child === false) return;
    if (Array.isArray(child)) child.forEach((one) => append(parent, one));
    else parent.append(child instanceof Node ? child : plain(String(child)));
  };

  const el = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "on") {
        for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
      } else {
        element.setAttribute(name, value === true ? "" : value);
      }
    }
    children.forEach((child) => append(element, child));
    return element;
  };

  const section = (id, title, note, ...children) =>
    el("section", { id, "aria-labelledby": `${id}-title` },
      el("h2", { id: `${id}-title` }, title), note ? el("p", { class: "note" }, note) : null, children);

  const figure = (label, value, note) =>
    el("div", { class: "figure" }, el("dt", {}, label), el("dd", {}, value),
      note ? el("dd", { class: "note" }, note) : null);
  const figures = (...list) => el("dl", { class: "figures" }, list);

  const painted = (element, paint) => {
    paint(element);
    orrery.onTheme(() => paint(element));
    return element;
  };

  const legend = (entries) =>
    el("ul", { class: "legend" }, entries.map(({ name, colour, hatched }) =>
      el("li", {}, painted(el("span", { class: hatched ? "swatch hatched" : "swatch" }),
        (swatch) => { swatch.style.setProperty("--swatch", colour()); }), name)));

  const bar = (share, activity) =>
    painted(el("span", { class: "bar", "aria-hidden": "true" }), (element) => {
      element.style.width = `${(100 * Math.min(1, Math.max(0, share))).toFixed(2)}%`;
      // The bubble's own colour is that of the paper.
      const empty = orrery.activities[activity]?.name === "bubble";
      element.style.background = empty
        ? `repeating-linear-gradient(135deg, ${orrery.style("muted")} 0 1px, transparent 1px 4px)` : orrery.colour(activity);
    });

  // A long list would push the rest of the page far down.
  const isLong = (sentences) => sentences.length > 24 || sentences.reduce((sum, sentence) => sum + sentence.length, 0) > 8000;
  const notice = (kind, title, sentences) =>
    (sentences.length === 0 ? null : el("div", { class: `notice ${kind}` }, el("h3", {}, title),
      el("ul", { class: isLong(sentences) ? "scrolls" : null }, sentences.map((sentence) => el("li", {}, sentence)))));

  const reveal = (element) => {
    const { top } = element.getBoundingClientRect();
    if (top < 56 || top > innerHeight * 0.6) scrollBy(0, top - 56);
  };

  const box = el("div", { class: "tooltip", role: "status", "aria-live": "polite", hidden: true });
  const lineOf = (line) => (Array.isArray(line)
    ? el("div", {}, el("span", { class: "label" }, line[0]), el("span", { class: "value" }, line[1]))
    : el("div", { class: "head" }, line));
  const tooltip = {
    show(x, y, lines) {
      box.replaceChildren(...lines.map(lineOf));
      box.hidden = false;
      const { width, height } = box.getBoundingClientRect();
      const left = x + 14 + width > innerWidth ? Math.max(4, x - 14 - width) : x + 14;
      const top = y + 14 + height > innerHeight ? Math.max(4, y - 14 - height) : y + 14;
      box.style.left = `${left}px`;
      box.style.top = `${top}px`;
    },
    hide() { box.hidden = true; },
  };

  const themeButton = () => {
    const button = el("button", { type: "button", class: "theme", on: { click: orrery.toggleTheme } });
    return painted(button, () => { button.textContent = orrery.dark() ? "Light" : "Dark"; });
  };

  const contents = (main) => {
    const links = [...main.querySelectorAll("section[id] > h2")].map((title) =>
      el("a", { href: `#${title.parentElement.id}` }, title.textContent));
    return links.length < 2 ? null : el("nav", { class: "contents", "aria-label": "Contents" }, links);
  };

  const start = ({ title, verdict, lines = [], build }) => {
    const main = el("main");
    const header = el("header", {},
      el("div", { class: "top" }, el("h1", { dir: "auto" }, title),
        verdict ? el("span", { class: `verdict ${verdict.good ? "good" : "bad"}` }, verdict.text) : null,
        themeButton()),
      lines.map((line) => el("p", { dir: "auto" }, line)));
    document.body.append(header, main, box);
    build(main);
    const list = contents(main);
    if (list) header.after(list);
    const origin = ["generator", "orrery-command"].map((name) => document.querySelector(`meta[name=${name}]`)?.content).filter(Boolean);
    if (origin.length) document.body.append(el("footer", {}, origin[0], origin[1] ? [": ", el("code", {}, origin[1])] : null));
  };

  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tooltip.hide(); });
  addEventListener("scroll", () => tooltip.hide(), { passive: true });

  return { el, section, figure, figures, legend, bar, notice, reveal, tooltip, painted, start };
})());
